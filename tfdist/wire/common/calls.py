"""Remote procedure calls as both sides see them, whatever transport carries them.

A message travels as pieces: joined they are its bytes, and an array's memory can be one of them.
Services are written against `Call`, whoever calls others against `Caller`; a transport (`grpc`,
frames between tfdist processes) implements both and knows nothing of what it carries.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple, Protocol

from tfdist.errors import InternalError, OpError, ResourceExhaustedError
from tfdist.wire.common.thread_pool import Pool

Piece = bytes | bytearray | memoryview
Pieces = Sequence[Piece]
Done = Callable[[memoryview | OpError], None]  # takes what became of a call


class Client(NamedTuple):
    """Who calls, as far as the transport knows.

    Attributes:
      name: tells clients apart: a connection's other end, or a process.
      process: its number, if it is one of this host; else 0.
      is_watched: whether its transport knows at once when it is gone.
    """

    name: str
    process: int = 0
    is_watched: bool = False


class Call(Protocol):
    """One call that arrived; it is answered once, from any thread."""

    @property
    def client(self) -> Client:
        """Return who calls."""

    @property
    def caller(self) -> str:
        """Return who calls, as text for messages."""

    def respond(self, reply: Pieces) -> None:
        """Answer with a message."""

    def send(self, message: Pieces) -> None:
        """Send a message before the answer, as often as one likes.

        Frames carry these, gRPC only if the method `streams`.
        """

    def fail(self, error: OpError) -> None:
        """Answer with an error."""

    def connection(self) -> Hashable:
        """Return what carries this caller's calls only, which `end()` ends on the loop; or None."""

    def on_cancel(self, told: Callable[[], object]) -> None:
        """Have `told` called if the caller gives up or is gone; at once if that happened."""


class Method(NamedTuple):
    """What answers the calls of one method.

    Attributes:
      handle: takes the request and the call; an answer may come later. What it raises is the
        answer too.
      may_block: whether it gets a thread of its own; others run on the transport's thread.
      asks: whether it may wait for other tasks on that thread.
      streams: whether it sends messages before its answer by gRPC, too.
    """

    handle: Callable[[memoryview, Call], None]
    may_block: bool = False
    asks: bool = True
    streams: bool = False


Methods = Mapping[str, Method]  # by full path: "/tensorflow.WorkerService/RunGraph"


class Caller(Protocol):
    """The way to one other process."""

    def call(self, path: str, request: Pieces, timeout: float | None = None) -> memoryview:
        """Return the answer; Ctrl-C ends the wait and cancels the call.

        Args:
          path: "/SERVICE/METHOD".
          request: the message.
          timeout: seconds, None for no limit.

        Raises:
          OpError: what the other side answered; UnavailableError if it cannot be reached or is
            gone, DeadlineExceededError after `timeout`.
        """

    def begin(self, path: str, request: Pieces, done: Done) -> Callable[[], None]:
        """Begin a call whose answer, or error, goes to `done` on some other thread.

        Messages before the answer go there, too: who calls knows which method sends how many.

        Returns:
          A function that cancels the call: the other side is told, and `done` gets a
          CancelledError if it was not called before.

        Raises:
          UnavailableError: the connection was lost before, so that the call has not left
            (`never_left`); `done` is not called.
        """

    def notify(self, path: str, request: Pieces) -> None:
        """Send what needs no answer, within a moment; who cannot be reached is not told."""

    def close(self) -> None:
        """End all calls with CancelledError."""


# Threads of calls that may block; what comes when all are busy has its turn later. Those that wait
# for other tasks are counted alone: two tasks whose threads all wait for the other's would wait on.
_MOST = 256
_THREADS = {asks: Pool(_MOST, "tfdist-call", idle=0.0, computes=False) for asks in (False, True)}


def dispatch(method: Method, request: memoryview, call: Call) -> None:
    """Let `method` answer `call`."""
    if not method.may_block:
        _answer(method, request, call)
        return
    try:
        _THREADS[method.asks].submit(lambda: _answer(method, request, call))
    except RuntimeError as error:  # the system has no more, or the process ends
        call.fail(ResourceExhaustedError(f"the server has no thread for this call: {error}"))


def _answer(method: Method, request: memoryview, call: Call) -> None:
    try:
        method.handle(request, call)
    except Exception as error:
        call.fail(as_op_error(error))


def as_op_error(error: BaseException) -> OpError:
    """Return what a handler raised as an error that can cross."""
    if isinstance(error, OpError):
        return error
    if isinstance(error, MemoryError):
        exhausted = ResourceExhaustedError("the server has not enough memory for this call")
        exhausted.__cause__ = error
        return exhausted
    internal = InternalError(f"the server failed: {type(error).__name__}: {error}")
    internal.__cause__ = error
    return internal


def size(pieces: Pieces) -> int:
    """Return the number of bytes in `pieces`."""
    return sum(piece.nbytes if type(piece) is memoryview else len(piece) for piece in pieces)


def joined(pieces: Pieces) -> Piece:
    """Return `pieces` as one bytes-like object, without a copy if there is one only."""
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
