"""Zero-copy messages: they cross in pieces (scatter-gather), large tensors as their memory.

A message goes out as pieces: what protobuf made of its other fields, then the tensors, a large one
as the array's own memory. On the way in the tensors' fields are cut out and become arrays over the
message's memory; protobuf reads the rest. (`tensors` has what a single tensor becomes.)

Layout: NamedTensorProto is name=1, tensor=2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain, count
from typing import Any, TypeVar

import numpy as np

from tfdist.base.aliases import TensorValue
from tfdist.base.varints import varint
from tfdist.errors import InvalidArgumentError
from tfdist.protos import pb
from tfdist.wire.codec.fields import broken, delimited, fields, tag_of
from tfdist.wire.codec.tensors import LARGE, decoded, encoded
from tfdist.wire.common import calls
from tfdist.wire.common.calls import Piece, Pieces

T = TypeVar("T")
M = TypeVar("M")  # a message
Reader = Callable[[memoryview, int, int], T]

LARGEST_MESSAGE = 2**31 - 1  # bytes; protobuf's limit, and so TensorFlow's
_ALIGNMENT = 16  # bytes; no element type needs more
_NAME, _TENSOR = 0x0A, 0x12  # tags in NamedTensorProto


# out


class MessagePieces(list[Piece]):
    """The pieces of a message.

    Attributes:
      largest: name and array of its largest tensor, if that is a large one.
      node: that made this tensor, "" if that is not known.
    """

    largest: tuple[str, Any] | None = None
    node = ""


class Writer:
    """Collects the pieces of a message; what is small goes into one piece with its neighbours.

    Args:
      start: its first fields.
    """

    def __init__(self, start: bytes) -> None:
        self._pieces = MessagePieces()
        self._small = [start]
        self._size = len(start)
        self._largest = 0

    def add(self, name: str, array: TensorValue, opening: Callable[[int], bytes]) -> None:
        """Add a tensor; `opening` gives what stands before a TensorProto of so many bytes."""
        front, back, content = encoded(array)
        rest = len(back) + len(content)
        head = opening(len(front) + rest) + front + back
        if len(content) < LARGE:
            self._small += head, bytes(content)
        else:
            padding = _padding(self._size + len(head))
            if padding:
                head = opening(len(front) + len(padding) + rest) + front + padding + back
            self._large(name, array, head, content)
        self._size += len(head) + len(content)

    def _large(self, name: str, array: TensorValue, head: bytes, content: Piece) -> None:
        self._small.append(head)
        self._pieces += b"".join(self._small), content
        self._small = []
        if len(content) > self._largest:
            self._largest, self._pieces.largest = len(content), (name, array)

    def add_bytes(self, part: bytes) -> None:
        """Add other fields."""
        self._small.append(part)
        self._size += len(part)

    def finish(self) -> MessagePieces:
        """Return the message."""
        if self._small:
            self._pieces.append(b"".join(self._small))
        return self._pieces


def _padding(offset: int) -> bytes:
    """Return bytes without meaning after which `offset` is a multiple of the alignment.

    An array can then share the memory of a received message. They repeat `version_number`, which
    is always 0; an odd number of bytes takes one zero of two bytes.
    """
    missing = -offset % _ALIGNMENT
    if missing == 1:
        missing += _ALIGNMENT
    odd = missing % 2
    return b"\x18\x80\x00" * odd + b"\x18\x00" * ((missing - 3 * odd) // 2)


def message_pieces(
    message: pb.Message, number: int, tensors: Iterable[tuple[str, TensorValue]]
) -> MessagePieces:
    """Return a message with tensors in a field of NamedTensorProtos.

    Args:
      message: a protobuf message without these tensors.
      number: of the field.
      tensors: (name, array), see `tensors.encoded`.

    Raises:
      InvalidArgumentError: an array is of a type that does not cross; it is named.
    """
    tag, writer = varint(tag_of(number)), Writer(message.SerializeToString())
    for name, array in tensors:
        label = delimited(_NAME, name.encode()) + b"\x12"
        try:
            writer.add(name, array, partial(_named_opening, tag, label))
        except InvalidArgumentError as error:
            raise _named_error(name, error) from None
    return writer.finish()


def _named_opening(tag: bytes, label: bytes, size: int) -> bytes:
    inner = label + varint(size)
    return tag + varint(len(inner) + size) + inner


def bare_message_pieces(
    message: pb.Message, number: int, arrays: Iterable[TensorValue], names: Iterable[str] = ()
) -> MessagePieces:
    """Return a message with tensors in a field of TensorProtos.

    Args:
      message: a protobuf message without these tensors.
      number: of the field.
      arrays: see `tensors.encoded`.
      names: of the tensors, for `check_size`; numbers by default.

    Raises:
      InvalidArgumentError: an array is of a type that does not cross.
    """
    tag, writer = varint(tag_of(number)), Writer(message.SerializeToString())
    for array, name in zip(arrays, chain(names, map("number {}".format, count())), strict=False):
        writer.add(name, array, lambda size: tag + varint(size))
    return writer.finish()


def check_size(pieces: Pieces, what: str, limit: int = LARGEST_MESSAGE) -> None:
    """Refuse a message that is too long for its way, before any of it is sent.

    What helps: cut the tensor and send the parts in several steps, or put the ops that use it on
    the task that has it, so that it need not travel.

    Args:
      pieces: the message; its largest tensor can be named if it comes from this module.
      what: what the message is, as text for the error.
      limit: in bytes.

    Raises:
      InvalidArgumentError: it is longer.
    """
    total = calls.size(pieces)
    if total <= limit:
        return
    raise InvalidArgumentError(
        f"{what} takes {total} bytes, but one message can have {limit}{_largest(pieces)}. Cut it "
        "and send the parts in several steps, or run the ops that use it on the task that has it"
    ).at_node(getattr(pieces, "node", ""), "")


def _largest(pieces: Pieces) -> str:
    largest = getattr(pieces, "largest", None)
    if largest is None:
        return ""
    name, array = largest
    described = f"{getattr(array, 'dtype', 'bytes')}{list(np.shape(array))}"
    held = max(map(len, pieces))
    return f"; its largest tensor is {name}, {described}, of {held} bytes"


# in


def split_message(
    message_class: type[M], view: memoryview, number: int
) -> tuple[M, list[tuple[str, TensorValue]]]:
    """Return a message without its field of NamedTensorProtos, and what was there.

    Args:
      message_class: of the message.
      view: the message.
      number: of the field.

    Returns:
      The message, and (name, array) of each tensor; see `tensors.decoded`.

    Raises:
      InvalidArgumentError: the message is malformed, or a tensor cannot be read; it is named.
    """
    return _split(message_class, view, number, _named)


def split_bare_message(
    message_class: type[M], view: memoryview, number: int
) -> tuple[M, list[TensorValue]]:
    """Return a message without its field of TensorProtos, and the tensors that were there."""
    return _split(message_class, view, number, decoded)


def _split(
    message_class: type[M], view: memoryview, number: int, read: Reader[T]
) -> tuple[M, list[T]]:
    data, wanted = flat(view), tag_of(number)
    found, rest, kept, last = [], [], 0, 0
    for tag, begin, end in fields(data, 0, len(data)):
        if tag == wanted:
            found.append(read(data, begin, end))
            rest.append(data[kept:last])
            kept = end
        last = end
    rest.append(data[kept:])
    return parse_message(message_class, b"".join(rest)), found


def flat(view: memoryview) -> memoryview:
    """Return a message as single bytes."""
    view = memoryview(view)
    return view if view.format == "B" and view.ndim == 1 else view.cast("B")


def _named(data: memoryview, at: int, end: int) -> tuple[str, TensorValue]:
    name, place = "", (0, 0)
    for tag, begin, stop in fields(data, at, end):
        if tag == _NAME:
            name = _text(data[begin:stop])
        elif tag == _TENSOR:
            place = begin, stop
    try:
        return name, decoded(data, *place)
    except InvalidArgumentError as error:
        raise _named_error(name, error) from None


def _named_error(name: str, error: InvalidArgumentError) -> InvalidArgumentError:
    return InvalidArgumentError(f"tensor {name!r}: {error.message}")


def _text(raw: memoryview) -> str:
    try:
        return str(raw, "utf-8")
    except UnicodeDecodeError:
        raise broken(f"{bytes(raw[:40])!r} is no name in UTF-8") from None


def parse_message(message_class: type[M], data: bytes | memoryview) -> M:
    """Return the message in `data`.

    Raises:
      InvalidArgumentError: there is none.
    """
    try:
        return pb.parse(message_class, data)
    except ValueError as error:
        raise broken(str(error)) from None


def writable(value: TensorValue) -> TensorValue:
    """Return a value that its owner may write to; what gRPC gave shares its bytes."""
    if type(value) is np.ndarray and not value.flags.writeable:
        return value.copy()
    return value
