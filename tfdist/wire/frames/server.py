"""The frames' listening half: a socket, and the calls that arrive there.

All calls are taken, and all answers given up, on the loop. Who may call, and what else a connection
needs before its first frame, is up to the place where the socket listens (`unix_sockets`, `tcp`).
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import threading
from collections.abc import Callable
from socket import socket as Socket
from typing import Protocol

from tfdist.errors import OpError, UnavailableError, UnimplementedError
from tfdist.runtime.resources.exhausted import no_room
from tfdist.wire.codec import frames
from tfdist.wire.codec.frames import Frame, Kind
from tfdist.wire.common import calls
from tfdist.wire.common.calls import Call, Method, Methods, Pieces, as_op_error, dispatch
from tfdist.wire.common.loop import LOOP, guarded
from tfdist.wire.common.status import to_status
from tfdist.wire.common.tls import own_identity
from tfdist.wire.frames.connection import Connection, abandon_in_child
from tfdist.wire.frames.signs_of_life import ClientsWatch
from tfdist.wire.frames.streams import Stream
from tfdist.wire.roles import refusal

_GREETING = 10.0  # seconds in which whoever connects from elsewhere has to say something
_PAUSE = 0.1  # seconds without new connections when there are no descriptors left


class Place(Protocol):
    """Where a listener is called.

    Attributes:
      socket: which listens.
    """

    socket: Socket

    def admit(self, accepted: Socket, ready: Callable[[Stream], None]) -> None:
        """Have `ready` called, on the loop, with a connection of somebody who may call."""

    def end(self) -> None:
        """End the connections that are not ready yet; called on the loop."""

    def close(self) -> None:
        """Close the socket, and remove what belongs to it; the second time, do nothing."""

    def abandon(self) -> None:
        """Let go of what belongs to the parent of this forked process."""


class FramesListener:
    """Takes the calls of other processes at a place.

    Args:
      place: where; it belongs to this object from now on.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self._methods: Methods = {}
        self._clients: set[_Client] = set()
        self._lock = threading.Lock()
        self._is_started = self._is_stopped = False
        self._watch = ClientsWatch(self._heard, self._end_clients)
        abandon_in_child(self)

    def start(self, methods: Methods) -> None:
        """Answer calls of `methods`.

        Raises:
          UnavailableError: it was stopped.
        """
        with self._lock:
            if self._is_stopped:
                raise UnavailableError(f"{self.place} was stopped; make a new listener")
            self._methods = methods
            if not self._is_started:
                self._is_started = True
                LOOP.hold()
                LOOP.soon(self._listen)

    def stop(self) -> None:
        """End all connections; their calls are cancelled. The socket is gone when it returns."""
        with self._lock:
            was_started, self._is_started = self._is_started, False
            was_stopped, self._is_stopped = self._is_stopped, True
        if was_started and LOOP.is_current:
            self._end()
        elif was_started:
            LOOP.run(self._end_on_loop())
        if not was_stopped:
            self.place.close()
        if was_started:
            LOOP.release()

    def abandon(self) -> None:
        """Let go of a socket that belongs to the parent of this forked process."""
        self._is_started = False
        self.place.abandon()

    def clients(self) -> set[calls.Client]:
        """Return who is connected."""
        return {each.client for each in list(self._clients)}

    def _listen(self) -> None:
        if self._is_started:
            with contextlib.suppress(ValueError):  # closed, perhaps just now: the process ends
                asyncio.get_running_loop().add_reader(self.place.socket, self._accept)

    def _accept(self) -> None:
        try:
            while True:
                self.place.admit(self.place.socket.accept()[0], self._take)
        except BlockingIOError:
            pass
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS):
                loop = asyncio.get_running_loop()  # the socket stays readable meanwhile
                loop.remove_reader(self.place.socket)
                loop.call_later(_PAUSE, self._listen)

    def _take(self, stream: Stream) -> None:
        if not self._is_started:
            stream.close()
            return
        self._clients.add(_Client(Connection(stream), self._methods, self._clients))
        if stream.peer.process:
            self._watch.begin()

    def _heard(self) -> dict[int, float]:
        """Return when each process of this host was heard last, on any of its connections."""
        found: dict[int, float] = {}
        for each in self._clients:
            process = each.connection.peer.process
            if process:
                found[process] = max(found.get(process, 0.0), each.heard)
        return found

    def _end_clients(self, process: int) -> None:
        for each in [each for each in self._clients if each.connection.peer.process == process]:
            each.end()

    async def _end_on_loop(self) -> None:
        self._end()

    def _end(self) -> None:
        with contextlib.suppress(ValueError):
            asyncio.get_running_loop().remove_reader(self.place.socket)
        self._watch.stop()
        self.place.end()
        for client in list(self._clients):
            client.end()


class _Client:
    """A connection as the listener sees it; everything happens on the loop."""

    def __init__(self, connection: Connection, methods: Methods, among: set[_Client]) -> None:
        self.connection, self._methods, self._among = connection, methods, among
        self.client = calls.Client(str(connection.peer), connection.peer.process, is_watched=True)
        self.calls: dict[int, _FramesCall] = {}
        self._refused: dict[str, OpError | None] = {}  # by path
        connection.send_buffer.is_shared = True
        self._silent: asyncio.TimerHandle | None = None
        if not connection.peer.process:
            self._silent = asyncio.get_running_loop().call_later(_GREETING, self.end)
        connection.read_with(self._readable)

    def _readable(self) -> None:
        try:
            self._receive()
            while self.connection.has_more:
                self._receive()
        except BlockingIOError:
            pass
        except UnavailableError:
            self.end()

    def _receive(self) -> None:
        arrived = self.connection.receive()
        if arrived and self._silent is not None:
            self._silent.cancel()
        self.connection.send_buffer.hold()
        try:
            for frame in arrived:
                self._take(frame)
        finally:
            self.connection.send_buffer.flush()

    def _take(self, frame: Frame) -> None:
        if frame.kind == Kind.REQUEST:
            if frame.number in self.calls:
                raise UnavailableError(f"call {frame.number} was begun twice")
            path = self.connection.path(frame.method)
            call = _FramesCall(self, frame.number)
            if frame.number:  # else nobody waits for an answer
                self.calls[frame.number] = call
            refused = self._refusal(path)
            if refused is not None:
                call.fail(refused)
            elif frame.flags & frames.DROPPED:
                call.fail(no_room(frames.dropped_length(frame.body)))
            else:
                dispatch(self._methods.get(path) or _unknown(path), frame.body, call)
        elif frame.kind == Kind.ALIVE:
            with contextlib.suppress(UnavailableError):  # the loop finds that out too
                self.connection.send(Kind.ALIVE, 0)
        elif frame.kind == Kind.CANCEL:
            cancelled = self.calls.pop(frame.number, None)
            if cancelled is not None:
                cancelled.cancel()
        else:
            raise UnavailableError(f"a caller sends no frames of kind {frame.kind}")

    def _refusal(self, path: str) -> OpError | None:
        """Return why the client may not call a method: what its certificate says is looked at."""
        certificate = self.connection.certificate
        if certificate is None:
            return None
        if path not in self._refused:
            try:
                self._refused[path] = refusal(certificate, path, own_identity())
            except OpError as error:  # the own certificate is of no use any more
                return error
        return self._refused[path]

    @property
    def heard(self) -> float:
        """Return when the client showed that it lives (`time.monotonic`)."""
        return max(self.connection.heard, self.connection.send_buffer.moved)

    def belong(self, name: str) -> None:
        """Note whose the connection is: that of another host's process, by its name."""
        if not self.client.process:
            self.client = self.client._replace(name=f"{name} at {self.connection.peer}")

    def end(self) -> None:
        """Close the connection and cancel its calls."""
        self._among.discard(self)
        if self._silent is not None:
            self._silent.cancel()
        self.connection.close()
        while self.calls:
            _, call = self.calls.popitem()
            call.cancel()


def _unknown(path: str) -> Method:
    def handle(request: memoryview, call: Call) -> None:
        raise UnimplementedError(f"there is no method {path} here")

    return Method(handle)


class _FramesCall:
    """A call that arrived (`tfdist.wire.common.calls.Call`)."""

    def __init__(self, client: _Client, number: int) -> None:
        self._client, self._number = client, number
        self._told: list[Callable[[], object]] = []
        self._is_cancelled = False

    @property
    def client(self) -> calls.Client:
        """Return who calls: a process."""
        return self._client.client

    @property
    def caller(self) -> str:
        """Return who calls, as text for messages."""
        return str(self._client.connection.peer)

    def respond(self, reply: Pieces) -> None:
        """Answer with a message; see `Call.respond`."""
        self._answer(Kind.ANSWER, reply)

    def send(self, message: Pieces) -> None:
        """Send a message before the answer; see `Call.send`."""
        if self._client.calls.get(self._number) is self:
            try:
                self._client.connection.send(Kind.INTERIM, self._number, message)
            except UnavailableError:
                pass  # the loop finds that out too

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

    def connection(self) -> _Client:
        """Return the connection that it came by; see `Call.connection`."""
        return self._client

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
