"""Calls to other processes by gRPC.

A call waits on its caller's thread; what begins in the background is answered on a thread that
gRPC has while something is under way. A call goes out once: it is not known of one that failed on
its way whether it was carried out, unless it never left, and the error says which.
"""

from __future__ import annotations

import ipaddress
import re
import threading
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

from tfdist.errors import (
    CANCELLED,
    DEADLINE_EXCEEDED,
    RESOURCE_EXHAUSTED,
    UNAVAILABLE,
    CancelledError,
    DeadlineExceededError,
    OpError,
    UnavailableError,
)
from tfdist.runtime.resources.exhausted import message_too_large
from tfdist.wire.codec.codec import check_size
from tfdist.wire.common.calls import Done, Pieces, joined
from tfdist.wire.common.connection_diagnosis import advice_on, in_words
from tfdist.wire.common.identity import Identity
from tfdist.wire.common.security import LOOPBACK, LOOPBACK_NAMES, WILDCARDS, HostPort, split_address
from tfdist.wire.common.status import DETAILS_KEY, from_status, unpack_payloads
from tfdist.wire.common.tls import own_identity
from tfdist.wire.common.tls_probe import PROBLEMS, tls_problem
from tfdist.wire.grpc.credentials import channel_credentials
from tfdist.wire.grpc.options import FROM_A_SERVER, Options, client_options, grpc

# What the C library says of calls that it ended itself, perhaps as "Stream removed (TEXT)".
_TIME_IS_UP = "Deadline Exceeded"
_ENDED_HERE = ("Channel closed", "Locally cancelled", "Stream removed")
_ENDED_THERE = {"CANCELLED", "Received RST_STREAM with error code 8"}  # as it stopped
_NOT_SENT = ("failed to connect", "errors resolving", "DNS resolution failed", "empty address")
_MAY_BE_TLS = re.compile("Socket closed|reset by peer|handshake|Verification|HTTP/2", re.IGNORECASE)
_TOO_LARGE = re.compile(r"message larger than max \((\d+) vs\. (\d+)\)")
_A_MASTER_TELLS = "From /job:"

_LOOPBACK = ("ipv4:127.", "ipv6:[::1]")
_PROBE = "/grpc.health.v1.Health/Check"  # whoever does not know it answers that
_PROBE_SECONDS = 0.2


class Attempt(NamedTuple):
    """What is tried: for `call`'s arguments; `began` by the monotonic clock, in seconds."""

    path: str
    timeout: float | None
    wait_for_ready: bool
    began: float

    @property
    def seconds(self) -> float:
        """Return how long it has taken so far."""
        return time.monotonic() - self.began


class GrpcCaller:
    """The way to the process at an address (a `Caller`).

    Args:
      address: "HOST:PORT".
      peer: what runs there: "tfdist", or "tensorflow", which is not asked for signs of life.

    Raises:
      InvalidArgumentError: `address` has no port.
    """

    def __init__(self, address: str, peer: str = "tfdist") -> None:
        self.address = address
        self.way = _way(address, client_options(peer))
        self._lock = threading.Lock()
        self._is_closed = False
        self._channel: grpc.Channel | None = None  # made when it is first used
        self._methods: dict[str, Any] = {}

    def call(
        self,
        path: str,
        request: Pieces,
        timeout: float | None = None,
        wait_for_ready: bool = False,
    ) -> memoryview:
        """Return the answer; see `Caller.call`.

        Args:
          path: "/SERVICE/METHOD".
          request: the message.
          timeout: seconds, None for no limit.
          wait_for_ready: whether to wait for a server that is not there yet, within `timeout`.

        Raises:
          OpError: as `Caller.call` says; InvalidArgumentError if the message is too long.
        """
        check_size(request, f"a message to {self.address}")
        message = bytes(joined(request))
        attempt = Attempt(path, timeout, wait_for_ready, time.monotonic())
        try:
            answer = self._method(path)(message, timeout=timeout, wait_for_ready=wait_for_ready)
        except grpc.RpcError as failed:
            error = self.error_of(failed, attempt)
        except ValueError:  # gRPC's way to say that the channel is closed
            error = self.closed_error()
        else:
            return memoryview(answer)
        try:
            raise error
        finally:
            del error, message, request  # else the error would keep them, and itself

    def begin(
        self,
        path: str,
        request: Pieces,
        done: Done,
        timeout: float | None = None,
        wait_for_ready: bool = False,
    ) -> Callable[[], None]:
        """Begin a call whose outcome goes to `done`; see `Caller.begin`, and `call`."""
        attempt = Attempt(path, timeout, wait_for_ready, time.monotonic())
        call_under_way = _AsyncCall(done, lambda failed: self.error_of(failed, attempt))
        try:
            check_size(request, f"a message to {self.address}")
            future = self._method(path).future
            call_under_way.follow(
                future(bytes(joined(request)), timeout=timeout, wait_for_ready=wait_for_ready)
            )
        except OpError as error:
            call_under_way.fail(error)
        except ValueError:
            call_under_way.fail(self.closed_error())
        return call_under_way.cancel

    def probe(self, done: Done) -> Callable[[], None]:
        """Ask whether the server can be reached now, soon answered; see `begin`."""
        return self.begin(_PROBE, [b""], done, _PROBE_SECONDS)

    def notify(self, path: str, request: Pieces) -> None:
        """Send what needs no answer; see `Caller.notify`."""
        self.begin(path, request, _ignore)

    @property
    def is_outdated(self) -> bool:
        """Return whether there is another identity to show than when this was made."""
        try:
            return _identity(self.address) != self.way.identity
        except OpError:  # there is none of use
            return False

    def close(self) -> None:
        """End all calls with CancelledError, and the connection."""
        with self._lock:
            self._is_closed = True
            channel = self._channel
        if channel is not None:
            channel.close()

    def _method(self, path: str) -> grpc.UnaryUnaryMultiCallable:
        method = self._methods.get(path)
        if method is None:
            method = self._methods[path] = self._open_channel().unary_unary(path)
        return method

    def _open_channel(self) -> grpc.Channel:
        """Return the connection; ValueError, as gRPC says it, if it was closed."""
        with self._lock:
            if self._is_closed:
                raise ValueError("closed")
            if self._channel is None:
                self._channel = self.way.open(grpc)
            return self._channel

    def error_of(self, failed: grpc.RpcError, attempt: Attempt) -> OpError:
        """Return what a call that failed raises; it may take a moment to find out."""
        code, text = failed.code().value[0], failed.details() or ""
        metadata = dict(failed.trailing_metadata() or ())
        if FROM_A_SERVER[0] not in metadata:
            found = self._transport_error(code, text, attempt)
            if found is not None:
                return found
        return from_status(code, text, unpack_payloads(metadata.get(DETAILS_KEY, b"")))

    def _transport_error(self, code: int, text: str, attempt: Attempt) -> OpError | None:
        """Return the error, or None if it comes from a server (one of TensorFlow)."""
        if code == UNAVAILABLE and not text.startswith(_A_MASTER_TELLS):
            return self._unavailable(text, attempt)
        if code == DEADLINE_EXCEEDED and _TIME_IS_UP in text and attempt.timeout is not None:
            return self._time_is_up(attempt)
        if code == CANCELLED and text.startswith(_ENDED_HERE):
            return self.closed_error()
        if code == RESOURCE_EXHAUSTED and (sizes := _TOO_LARGE.search(text)):
            return message_too_large(self.address, *map(int, sizes.groups()))
        if code == CANCELLED and text in _ENDED_THERE:
            return self._unavailable(text, attempt)
        return None

    def _unavailable(self, text: str, attempt: Attempt) -> OpError:
        if text.startswith(_NOT_SENT):
            return self._unreachable(self._reason(text), attempt)
        return UnavailableError(
            f"the connection to {self.address} was lost after {attempt.seconds:.1f} s ({text}): "
            f"the process there has ended, is frozen or out of reach. Whether {attempt.path} took "
            "effect there is not known. When a server runs there again, use a new session"
        )

    def _reason(self, text: str) -> str:
        """Return why there is no connection, from what the library says."""
        about_tls = tls_problem(self.address) if _MAY_BE_TLS.search(text) else ""
        return about_tls or text.rpartition(": ")[2].rstrip("]")

    def _unreachable(self, reason: str, attempt: Attempt) -> OpError:
        if "HTTP/2" in reason:
            reason = "what listens there is no server of this protocol"
        reason = in_words(reason)
        remedy = " Start the server there, or correct the address"
        if reason.startswith(PROBLEMS):
            remedy = advice_on([reason])
        error = UnavailableError(
            f"no server answers at {self.address} ({reason}); tried for {attempt.seconds:.1f} s, "
            f"nothing was sent.{remedy}"
        )
        error.reason = reason
        return error

    def _time_is_up(self, attempt: Attempt) -> OpError:
        """Return the error of a call that took too long: of waiting, or of connecting."""
        is_answering, reason = self.look()
        if is_answering or not (reason or attempt.wait_for_ready):
            return DeadlineExceededError(
                f"{self.address} did not answer {attempt.path} within {attempt.timeout:g} s. "
                "Whether it took effect there is not known"
            )
        return self._unreachable(reason or "it takes connections and is silent", attempt)

    def look(self) -> tuple[bool, str]:
        """Return at once whether the server answers now, and if it cannot be reached, why."""
        try:
            self._method(_PROBE)(b"", timeout=_PROBE_SECONDS)
        except grpc.RpcError as failed:
            text = failed.details() or ""
            if failed.code() is grpc.StatusCode.UNAVAILABLE and text.startswith(_NOT_SENT):
                return False, self._reason(text)
            return failed.code() is not grpc.StatusCode.DEADLINE_EXCEEDED, ""
        except ValueError:
            return False, "the connection was closed here"
        return True, ""

    def closed_error(self) -> OpError:
        """Return the error of a call that was cancelled, or is on a closed connection."""
        return CancelledError(f"the call to {self.address} was cancelled, or its session closed")


def _ignore(outcome: memoryview | OpError) -> None:
    """Take an outcome that nobody waits for."""


def _target(address: str) -> str:
    """Return an address as gRPC has it; what needs no look-up of a name gets none."""
    host, port = split_address(address)
    if host in LOOPBACK_NAMES | WILDCARDS:
        host = LOOPBACK
    try:
        version = ipaddress.ip_address(host).version
    except ValueError:
        return f"dns:///{host}:{port}"
    return f"ipv{version}:{HostPort(host, port)}"


class Way(NamedTuple):
    """How a server is reached.

    Attributes:
      target: its address, as gRPC has it.
      identity: what is shown to it; None: it is reached without encryption.
      options: of the connection.
    """

    target: str
    identity: Identity | None
    options: Options

    def open(self, module: ModuleType) -> grpc.Channel | grpc.aio.Channel:
        """Return a channel.

        Args:
          module: whose: `grpc`, or `grpc.aio` on the loop.
        """
        if self.identity is None:
            return module.insecure_channel(self.target, options=self.options)
        credentials = channel_credentials(self.identity)
        return module.secure_channel(self.target, credentials, options=self.options)


def _way(address: str, options: Options) -> Way:
    """Return the way to an address: encrypted to another host, if we have a certificate."""
    return Way(_target(address), _identity(address), options)


def _identity(address: str) -> Identity | None:
    return None if _target(address).startswith(_LOOPBACK) else own_identity(address)


class _AsyncCall:
    """A call in the background; its outcome is told once, never on the thread that began it."""

    def __init__(self, done: Done, error_of: Callable[[grpc.RpcError], OpError]) -> None:
        self._done, self._error_of = done, error_of
        self._future: Any = None
        self._beginner: int | None = None

    def follow(self, future: grpc.Future) -> None:
        """Tell the outcome of `future` when it has one."""
        self._future = future
        self._beginner = threading.get_ident()
        future.add_done_callback(self._ended)
        self._beginner = None

    def fail(self, error: OpError) -> None:
        """Tell an error: the call did not begin."""
        elsewhere(lambda: self._done(error))

    def cancel(self) -> None:
        """Cancel the call, if it is under way."""
        future = self._future
        if future is not None:
            future.cancel()

    def _ended(self, future: grpc.Future) -> None:
        self._future = None  # whoever keeps `cancel` does not keep the answer
        code = future.code()
        if code is grpc.StatusCode.OK and self._beginner != threading.get_ident():
            self._tell(future)
        else:  # to find out about an error may take a moment, and others wait for this thread
            elsewhere(lambda: self._tell(future))

    def _tell(self, future: grpc.Future) -> None:
        is_answered = future.code() is grpc.StatusCode.OK
        self._done(memoryview(future.result()) if is_answered else self._error_of(future))


def elsewhere(tell: Callable[[], None]) -> None:
    """Tell an outcome on a thread of its own."""
    threading.Thread(target=tell, name="tfdist-call", daemon=True).start()
