"""Calls that arrive by the side path: the connection of a caller, and its calls."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

from tfdist.errors import OpError, UnavailableError, UnimplementedError
from tfdist.wire import frames
from tfdist.wire.calls import Call, Method, Methods, Pieces, as_op_error, dispatch
from tfdist.wire.connections import Connection
from tfdist.wire.frames import Frame, Kind
from tfdist.wire.status import to_status


class Client:
    """A connection as the listener sees it; everything happens on the loop."""

    def __init__(self, connection: Connection, methods: Methods, among: set[Client]) -> None:
        self.connection, self._methods, self._among = connection, methods, among
        self.calls: dict[int, SideCall] = {}
        connection.read_with(self._readable)

    def _readable(self) -> None:
        try:
            arrived = self.connection.receive()
            self.connection.hold()
            try:
                for frame in arrived:
                    self._take(frame)
            finally:
                self.connection.flush()
        except BlockingIOError:
            pass
        except UnavailableError:
            self.end()

    def _take(self, frame: Frame) -> None:
        if frame.kind == Kind.REQUEST:
            if frame.number in self.calls:
                raise UnavailableError(f"call {frame.number} was begun twice")
            path = self.connection.path(frame.method)
            call = SideCall(self, frame.number)
            if frame.number:  # else nobody waits for an answer
                self.calls[frame.number] = call
            dispatch(self._methods.get(path) or _unknown(path), frame.body, call)
        elif frame.kind == Kind.CANCEL:
            cancelled = self.calls.pop(frame.number, None)
            if cancelled is not None:
                cancelled.cancel()
        else:
            raise UnavailableError(f"a caller sends no frames of kind {frame.kind}")

    def end(self) -> None:
        """Close the connection and cancel its calls."""
        self._among.discard(self)
        self.connection.close()
        while self.calls:
            _, call = self.calls.popitem()
            call.cancel()


def _unknown(path: str) -> Method:
    def handle(request: memoryview, call: Call) -> None:
        raise UnimplementedError(f"there is no method {path} here")

    return Method(handle)


class SideCall:
    """A call that arrived (`tfdist.wire.calls.Call`)."""

    def __init__(self, client: Client, number: int) -> None:
        self._client, self._number = client, number
        self._told: list[Callable[[], object]] = []
        self._is_cancelled = False

    @property
    def caller(self) -> str:
        """Return who calls, as text for messages."""
        return str(self._client.connection.peer)

    def respond(self, reply: Pieces) -> None:
        """Answer with a message; see `Call.respond`."""
        self._answer(Kind.ANSWER, reply)

    def fail(self, error: OpError) -> None:
        """Answer with an error; see `Call.fail`."""
        self._answer(Kind.ERROR, frames.status_pieces(*to_status(error)))

    def _answer(self, kind: Kind, message: Pieces) -> None:
        if self._client.calls.pop(self._number, None) is not self:
            return  # answered, or nobody waits any more
        self._told.clear()
        try:
            self._client.connection.send(kind, self._number, message)
        except UnavailableError:
            pass  # the loop finds that out too
        except Exception as error:  # the message cannot be sent; somebody waits for an answer
            self._client.calls[self._number] = self
            self.fail(as_op_error(error))

    def on_cancel(self, told: Callable[[], object]) -> None:
        """Have `told` called; see `Call.on_cancel`."""
        self._told.append(told)
        if self._is_cancelled:
            self._tell()

    def cancel(self) -> None:
        """Tell whoever works on the call that nobody waits for it."""
        self._is_cancelled = True
        self._tell()

    def _tell(self) -> None:
        while self._told:
            try:
                told = self._told.pop()
            except IndexError:
                return  # another thread was quicker
            guarded(told)


def guarded(function: Callable[[], object]) -> None:
    """Call a function that is not ours; the loop goes on whatever it raises."""
    try:
        function()
    except Exception:
        thread = threading.current_thread()
        threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), thread)))
