"""The local path's listening half: a socket, and the calls that arrive there.

The local path carries calls between tfdist processes of one user on one host, through a unix
socket: the same calls and the same bytes as gRPC, in about a tenth of the time. Who listens says so
by gRPC (`Hello`), since a socket's name is not to be guessed; its folder is closed to other users,
and both ends ask the system who is at the other one.

All calls are taken, and all answers given up, on the loop. The folder goes with its process; one
that was killed cannot remove its own: the next listener of the user does that.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import shutil
import socket
import stat
import tempfile
import threading
import weakref
from collections.abc import Callable
from pathlib import Path

from tfdist.errors import OpError, PermissionDeniedError, UnavailableError, UnimplementedError
from tfdist.wire.codec import frames
from tfdist.wire.codec.frames import Frame, Kind
from tfdist.wire.common import calls
from tfdist.wire.common.calls import Call, Method, Methods, Pieces, as_op_error, dispatch
from tfdist.wire.common.loop import LOOP, guarded
from tfdist.wire.common.status import to_status
from tfdist.wire.local.connection import Connection, abandon_in_child

_BACKLOG = 4096  # the system may allow less
_PAUSE = 0.1  # seconds without new connections when there are no descriptors left
_PREFIX, _SOCKET = "tfdist-side-", "socket"  # names of folder and socket
_LONGEST_PLACE = 75  # bytes; a socket's whole path may have 103 on some systems


class LocalListener:
    """A socket at which other processes of this user call.

    Attributes:
      path: of the socket.

    Raises:
      OSError: no socket can be made.
    """

    def __init__(self) -> None:
        folder = _make_folder()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._remove = weakref.finalize(self, _remove_folder, folder, self._socket)
        try:
            self.path = _listen_in(folder, self._socket)
            self._socket.setblocking(False)
        except BaseException:
            self._remove()
            raise
        self._methods: Methods = {}
        self._clients: set[_Client] = set()
        self._lock = threading.Lock()
        self._is_started = False
        abandon_in_child(self)

    def start(self, methods: Methods) -> None:
        """Answer calls of `methods`.

        Raises:
          UnavailableError: it was stopped.
        """
        with self._lock:
            if not self._remove.alive:
                raise UnavailableError(f"{self.path} was stopped; make a new listener")
            self._methods = methods
            if not self._is_started:
                self._is_started = True
                LOOP.hold()
                LOOP.soon(self._listen)

    def stop(self) -> None:
        """End all connections; their calls are cancelled. The socket is gone when it returns."""
        with self._lock:
            was_started, self._is_started = self._is_started, False
        if was_started and LOOP.is_current:
            self._end()
        elif was_started:
            LOOP.run(self._end_on_loop())
        self._remove()
        if was_started:
            LOOP.release()

    def abandon(self) -> None:
        """Let go of a socket that belongs to the parent of this forked process."""
        self._remove.detach()
        self._is_started = False
        self._socket.close()

    def clients(self) -> set[calls.Client]:
        """Return who is connected."""
        return {each.client for each in list(self._clients)}

    def _listen(self) -> None:
        if self._is_started:
            with contextlib.suppress(ValueError):  # closed, perhaps just now: the process ends
                asyncio.get_running_loop().add_reader(self._socket, self._accept)

    def _accept(self) -> None:
        try:
            while True:
                self._take(self._socket.accept()[0])
        except BlockingIOError:
            pass
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS):
                loop = asyncio.get_running_loop()  # the socket stays readable meanwhile
                loop.remove_reader(self._socket)
                loop.call_later(_PAUSE, self._listen)

    def _take(self, accepted: socket.socket) -> None:
        try:
            connection = Connection(accepted, is_caller=False)
        except PermissionDeniedError:
            return
        self._clients.add(_Client(connection, self._methods, self._clients))

    async def _end_on_loop(self) -> None:
        self._end()

    def _end(self) -> None:
        if self._remove.alive:
            asyncio.get_running_loop().remove_reader(self._socket)
        for client in list(self._clients):
            client.end()


class _Client:
    """A connection as the listener sees it; everything happens on the loop."""

    def __init__(self, connection: Connection, methods: Methods, among: set[_Client]) -> None:
        self.connection, self._methods, self._among = connection, methods, among
        self.client = calls.Client(str(connection.peer), connection.peer.process)
        self.calls: dict[int, _LocalCall] = {}
        connection.read_with(self._readable)

    def _readable(self) -> None:
        try:
            arrived = self.connection.receive()
            self.connection.send_buffer.hold()
            try:
                for frame in arrived:
                    self._take(frame)
            finally:
                self.connection.send_buffer.flush()
        except BlockingIOError:
            pass
        except UnavailableError:
            self.end()

    def _take(self, frame: Frame) -> None:
        if frame.kind == Kind.REQUEST:
            if frame.number in self.calls:
                raise UnavailableError(f"call {frame.number} was begun twice")
            path = self.connection.path(frame.method)
            call = _LocalCall(self, frame.number)
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


class _LocalCall:
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


def _make_folder() -> str:
    """Return a new folder that only this user can enter, with a short path.

    Raises:
      OSError: there is no place for one.
    """
    places = [os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir(), "/tmp"]
    for place in places:
        if os.path.isabs(place) and len(os.fsencode(place)) < _LONGEST_PLACE:
            _remove_dead(Path(place))
            try:
                return tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=place)
            except OSError:
                continue
    raise OSError(errno.ENOENT, f"no folder for a socket can be made in any of {places}")


def _listen_in(folder: str, listening: socket.socket) -> str:
    """Let a socket listen in `folder` and return its path.

    It gets its name when it listens: one that does not is taken for dead.

    Raises:
      OSError: that is not possible.
    """
    before, path = os.path.join(folder, "new"), os.path.join(folder, _SOCKET)
    listening.bind(before)
    listening.listen(_BACKLOG)
    os.rename(before, path)
    return path


def _remove_dead(place: Path) -> None:
    """Remove what processes that were killed have left.

    Nobody calls a socket whose process is seen to live: a hundred that start would call each other.
    """
    for folder in place.glob(f"{_PREFIX}*"):
        if _is_alive(folder.name.removeprefix(_PREFIX).partition("-")[0]):
            continue
        try:
            is_ours = folder.lstat().st_uid == os.geteuid()
            if is_ours and stat.S_ISSOCK((folder / _SOCKET).lstat().st_mode):
                _remove_if_dead(folder)
        except OSError:
            pass  # gone, or none of a socket


def _is_alive(pid: str) -> bool:
    """Return whether a process of that number is seen here; another container's is not."""
    try:
        os.kill(int(pid), 0)
    except (ValueError, OSError):
        return False
    return True


def _remove_if_dead(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(os.fspath(folder / _SOCKET))
        except ConnectionRefusedError:
            shutil.rmtree(folder, ignore_errors=True)


def _remove_folder(folder: str, listening: socket.socket) -> None:
    """Close a socket and remove its folder; nobody is told if that fails."""
    listening.close()
    shutil.rmtree(folder, ignore_errors=True)
