"""Errors as a status that crosses: code, message and payloads.

A message says at which node it happened by a last line that TensorFlow's clients look for to find
the op: `[[{{node NAME}}]]`, here with the device inside. What else has to cross goes as payloads,
bytes under a type's URL. gRPC carries them serialized in the trailing metadata
`grpc-status-details-bin`.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from tfdist import errors
from tfdist.errors import OpError, UnknownError
from tfdist.protos import pb

DETAILS_KEY = "grpc-status-details-bin"
LONGEST_MESSAGE = 3000  # bytes; gRPC and TensorFlow's servers cut what is longer than 3072

_TYPES = "type.googleapis.com/tensorflow."
DERIVED = _TYPES + "DerivedStatus"
_OLD_DERIVED = "[_Derived_]"  # TensorFlow 1.x has no payloads
TRACEBACK = "type.googleapis.com/tfdist.Traceback"
RESTARTED = _TYPES + "distributed_runtime.WorkerPossiblyRestarted"

_NAME, _DEVICE = r"[\w.\\/>-]+", r"[\w:/.-]+"
# the last line as we write it, as TensorFlow's servers and as its clients do
_LAST_LINE = re.compile(
    rf"\[\[(?:\{{\{{node (?P<ours>{_NAME})\}}\}}(?: on (?P<device>{_DEVICE}))?"
    rf"|node (?P<theirs>{_NAME})[^\[\]]*)\]\]\s*\Z"
)
_ANY_NODE = re.compile(rf"\{{\{{node (?P<name>{_NAME})\}}\}}")
_FROM_TASK = re.compile(r"From (?P<task>/job:[^/\s]+/replica:\d+/task:\d+):\n")

M = TypeVar("M")  # a message


class Status(NamedTuple):
    """An error on its way.

    Attributes:
      code: 1 to 16, gRPC's own numbers.
      message: at most `LONGEST_MESSAGE` bytes in UTF-8.
      payloads: bytes by the URL of their type.
    """

    code: int
    message: str
    payloads: dict[str, bytes]


def to_status(error: OpError) -> Status:
    """Return `error` as what crosses."""
    known = errors.OK < error.error_code <= errors.UNAUTHENTICATED
    flags = {DERIVED: error.is_derived, RESTARTED: error.is_restart}
    payloads = {url: b"" for url, is_set in flags.items() if is_set}
    if trace := error.remote_traceback or _traceback(error):
        payloads[TRACEBACK] = trace.encode()
    code = error.error_code if known else errors.UNKNOWN
    return Status(code, _message(error), payloads)


def _traceback(error: OpError) -> str:
    """Return the traceback of the Python error behind an error that no user can have expected."""
    cause = error.__cause__
    if cause is None or error.error_code not in (errors.UNKNOWN, errors.INTERNAL):
        return ""
    return shortened("".join(traceback.format_exception(cause)), LONGEST_MESSAGE)


def _message(error: OpError) -> str:
    last_line = ""
    if error.node_name and f"{{{{node {error.node_name}}}}}" not in error.message:
        device = f" on {error.device}" if error.device else ""
        last_line = f"\n\t [[{{{{node {error.node_name}}}}}{device}]]"
    room = LONGEST_MESSAGE - len(last_line.encode(errors="replace"))
    return shortened(error.message, room) + last_line


def shortened(text: str, longest: int) -> str:
    """Return `text` in at most `longest` bytes of UTF-8; what is cut is cut in the middle."""
    encoded = str(text).encode(errors="backslashreplace")
    if len(encoded) <= longest:
        return encoded.decode()
    note = f"\n... [{len(encoded)} bytes, cut in the middle] ...\n"
    half = max(0, longest - len(note)) // 2
    start, end = encoded[:half], encoded[len(encoded) - half :]
    return start.decode(errors="ignore") + note + end.decode(errors="ignore")


def from_status(code: int, message: str, payloads: Mapping[str, bytes]) -> OpError:
    """Return the error that a status tells of.

    Args:
      code: any number; one that no class has gives an UnknownError with that code.
      message: a last line that names the node is taken off.
      payloads: bytes by the URL of their type; of unknown ones nothing is kept.
    """
    text, node_name, device = _parts(message)
    is_derived = DERIVED in payloads or text.startswith(_OLD_DERIVED)
    error = _made(code, text.removeprefix(_OLD_DERIVED))
    error.node_name, error.device = node_name, device
    error.is_derived, error.is_restart = is_derived, RESTARTED in payloads
    if TRACEBACK in payloads:
        error.remote_traceback = payloads[TRACEBACK].decode(errors="replace")
        error.add_note(f"in the other process:\n{error.remote_traceback}")
    return error


def in_body(response_class: type[M], error: OpError) -> M:
    """Return a response that tells of `error` in its body, as the caller asked for."""
    code, message, _ = to_status(error)
    make: Callable[..., M] = response_class
    return make(status_code=code, status_error_message=message)


def from_body(response: pb.Message) -> OpError:
    """Return the error that a response tells of in its body: its `status_code` is not 0."""
    return from_status(response.status_code, response.status_error_message, {})


def _made(code: int, text: str) -> OpError:
    try:
        return errors.exception_type_from_error_code(code)(text)
    except KeyError:
        return UnknownError(text, error_code=code or errors.UNKNOWN)


def _parts(message: str) -> tuple[str, str, str]:
    """Return (text, name of the node, device); the latter two may be empty."""
    task = _FROM_TASK.match(message)
    device = task["task"] if task else ""
    at = max(0, message.rfind("[["))
    last = _LAST_LINE.match(message, at)
    if last:
        text = message[:at].removesuffix("\n\t ")
        return text, last["ours"] or last["theirs"], last["device"] or device
    node = _ANY_NODE.search(message)
    return message, node["name"] if node else "", device


def pack_payloads(payloads: Mapping[str, bytes]) -> bytes:
    """Return payloads as they stand in the trailing metadata; empty if there are none."""
    return pb.GrpcPayloadContainer(payloads=dict(payloads)).SerializeToString()


def unpack_payloads(details: bytes | None) -> dict[str, bytes]:
    """Return the payloads in trailing metadata; none if it is of another kind.

    They only add to an error, which must not be hidden by another one about them.
    """
    try:
        return dict(pb.parse(pb.GrpcPayloadContainer, details).payloads)
    except ValueError:
        return {}
