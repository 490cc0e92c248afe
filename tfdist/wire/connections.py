"""Connection: one unix socket between two tfdist processes, with its frames and its segments.

It turns messages into frames and back, whichever way they go, and looks after the segments in
which large ones lie. One thread at a time reads it (the loop, or the thread that waits for an
answer); any thread writes. Nobody waits to write: what the socket does not take at once is queued,
and the loop writes it. Ctrl-C in the middle of a call must not leave half a frame on a socket that
others use too.
"""

from __future__ import annotations

import array
import asyncio
import itertools
import os
import socket
import struct
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from tfdist.errors import DataLossError, PermissionDeniedError, UnavailableError
from tfdist.wire import frames, segments
from tfdist.wire.calls import Piece, Pieces, size
from tfdist.wire.frames import Frame, Kind
from tfdist.wire.loop import LOOP
from tfdist.wire.releases import RELEASES
from tfdist.wire.segments import POOL, Mapping, Segment

_CHUNK = 1 << 16  # bytes that are read at once
_BUFFER = 1 << 19  # bytes that the system keeps on the way
_LONG_COPY = 8 << 20  # bytes; copying more would keep the loop too long
_MOST_PATHS = 4096  # methods that a connection may name
_MOST_SEGMENTS = 1024  # that it may lend at once
_MOST_BUFFERS = 64  # in one system call
_DESCRIPTOR = array.array("i").itemsize
_ANCILLARY = socket.CMSG_SPACE(4 * _DESCRIPTOR)
_NOW = socket.MSG_DONTWAIT
_SEND = _NOW | getattr(socket, "MSG_NOSIGNAL", 0)
_RECEIVE = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
_HELD_SECONDS = 0.05  # that a message without answer may wait for company
_MOST_HELD = 64  # frames


class Peer(NamedTuple):
    """The process at the other end.

    Attributes:
      process: its id.
      user: id of its user.
    """

    process: int
    user: int

    def __str__(self) -> str:
        return f"process {self.process} on this host"


class Connection:
    """A connected socket; it belongs to this object from now on.

    Args:
      sock: the socket.
      is_caller: whether this side calls the other one.

    Attributes:
      peer: the process at the other end.

    Raises:
      PermissionDeniedError: the other end is another user's; the socket is closed.
      OSError: the socket is of no use, and closed.
    """

    def __init__(self, sock: socket.socket, is_caller: bool) -> None:
        self._socket = sock
        try:
            self.peer = _trusted_peer(sock, is_caller)
            sock.setblocking(True)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
        except BaseException:
            sock.close()
            raise
        self._patience = 0.0  # seconds; at first there is no limit
        self._lock = threading.Lock()
        self._queue: deque[tuple[Piece, Sequence[int]]] = deque()
        self._is_on_loop = self._is_shut = self._is_closed = False
        self._parser, self._assembly = frames.Parser(), frames.Assembly()
        self._methods: dict[str, int] = {}  # ours, as the other side was told
        self._paths: dict[int, str] = {}  # theirs
        self._method_numbers = itertools.count(1)
        self._descriptors: deque[int] = deque()  # arrived, and not claimed yet
        self._mappings: dict[int, Mapping] = {}
        self._known: dict[int, Segment] = {}  # ours, whose descriptors the other side has
        self._under_way: dict[int, Segment] = {}  # ours, that the other side may refer to
        self._has_segments = False
        self._held: list[Piece] = []  # frames that are sent with the next one
        self._is_holding = self._is_due = False
        LOOP.hold()
        _open.add(self)

    # out

    def request(self, number: int, path: str, message: Pieces) -> None:
        """Send a request.

        Args:
          number: of the call, chosen by its caller.
          path: of the method.
          message: the message; its memory must not change before the answer.

        Raises:
          UnavailableError: the connection is broken or closed.
        """
        method = self._methods.get(path)
        if method is None:
            method = next(self._method_numbers)
            self._write(frames.path_frame(method, path))
            self._methods[path] = method  # only now may others leave the path out
        self.send(Kind.REQUEST, number, message, method)

    def send(self, kind: int, number: int, message: Pieces = (), method: int = 0) -> None:
        """Send a message: see `request`."""
        length = size(message)
        if length < segments.LARGE:
            start = frames.header(kind, number, length, method)
            self._write(b"".join((start, *message)) if length else start)
        elif length >= _LONG_COPY and LOOP.is_current:
            self._check_open()
            work = partial(self._send_large_aside, kind, number, message, method)
            threading.Thread(target=work, name="tfdist-copy", daemon=True).start()
        else:
            self._send_large(kind, number, message, method)

    def _send_large_aside(self, *message: int | Pieces) -> None:
        try:
            self._send_large(*message)  # type: ignore[arg-type]
        except UnavailableError:
            pass  # whoever reads the connection finds that out too
        except BaseException:
            self.shut()  # nobody else would
            raise

    def _send_large(self, kind: int, number: int, message: Pieces, method: int) -> None:
        segment = POOL.take(size(message), self.peer.user)
        if segment is None or not self._send_placed(segment, kind, number, message, method):
            self._write_later(frames.in_parts(kind, number, message, method))

    def _send_placed(
        self, segment: Segment, kind: int, number: int, message: Pieces, method: int
    ) -> bool:
        """Send a message in `segment`; return whether there was memory for it."""
        try:
            place = segment.fill(message)
        except OSError:
            segment.close()
            return False
        except BaseException:
            segment.close()
            raise
        frame = frames.placed_frame(kind, place, number, method)
        is_known = segment.number in self._known
        if not self._lend(segment):
            segment.close()
            raise self._gone()
        if is_known:
            self._write(frame)
        else:
            announcement = frames.header(Kind.SEGMENT, segment.number)
            self._write_later([announcement + frame], [segment.descriptor])
        return True

    def _lend(self, segment: Segment) -> bool:
        """Note that the other side will refer to `segment`; False if the connection is closed."""
        with self._lock:
            if not self._is_closed:
                self._under_way[segment.number] = self._known[segment.number] = segment
                segment.known_to[self] = self._forget
            return not self._is_closed

    def _gone(self) -> UnavailableError:
        return UnavailableError(f"{self.peer} closed the connection; it has probably ended")

    def _forget(self, number: int) -> None:
        """Tell the other side that a segment of ours is no more."""
        self._known.pop(number, None)
        try:
            self._write(frames.header(Kind.FORGET, number))
        except UnavailableError:
            pass  # then it forgets everything

    def _release(self, number: int, is_spoiled: bool) -> None:
        """Have the other side told that we do not refer to its segment any more."""
        RELEASES.note(partial(self._send_release, number, is_spoiled))

    def _send_release(self, number: int, is_spoiled: bool) -> None:
        flags = frames.SPOILED if is_spoiled else 0
        try:
            self._write(frames.header(Kind.RELEASE, number, flags=flags))
        except UnavailableError:
            pass  # the other side knows that nobody is here

    def _write(self, buffer: Piece) -> None:
        """Send a frame; what the socket does not take the loop writes later.

        Ctrl-C may come at any step, but what was sent is noted in the same step as it is sent.
        """
        sent: list[int] = []
        try:
            with self._lock:
                self._check_open()
                if self._is_holding and LOOP.is_current and len(self._held) < _MOST_HELD:
                    self._held.append(buffer)
                    return
                if self._held:
                    held, self._held = self._held, []
                    buffer = b"".join((*held, buffer))
                try:
                    if not self._queue:
                        sent.extend(map(self._socket.send, (buffer,), (_SEND,)))
                    else:
                        sent.append(0)  # the loop is at it
                except BlockingIOError:
                    sent.append(0)
                finally:
                    if sent and sent[0] < len(buffer):
                        self._queue.append((memoryview(buffer)[sent[0] :], ()))
        except OSError:
            self.shut()
            raise self._gone() from None
        finally:
            if self._queue:
                LOOP.soon(self._go_on)

    def _write_later(self, buffers: Iterable[Piece], descriptors: Sequence[int] = ()) -> None:
        """Have the loop write buffers one after the other, with descriptors beside the first."""
        entries: list[tuple[Piece, Sequence[int]]] = [(buffer, ()) for buffer in buffers]
        entries[0] = entries[0][0], descriptors
        with self._lock:
            self._check_open()
            self._queue.extend(entries)
        LOOP.soon(self._go_on)

    def tell(self, path: str, message: Pieces) -> None:
        """Send a short request without answer together with what is sent next, or soon after."""
        method = self._methods.get(path)
        if method is None:
            self.request(0, path, message)
            return
        frame = b"".join((frames.header(Kind.REQUEST, 0, size(message), method), *message))
        with self._lock:
            self._check_open()
            self._held.append(frame)
            is_due, self._is_due = self._is_due, True
        if not is_due:
            LOOP.soon(self._flush_soon)

    def _flush_soon(self) -> None:
        asyncio.get_running_loop().call_later(_HELD_SECONDS, self.flush)

    def hold(self) -> None:
        """Keep what the loop's thread sends from now on until `flush`: one system call for all."""
        self._is_holding = True

    def flush(self) -> None:
        """Send what was kept."""
        self._is_holding = self._is_due = False
        if self._held and not self._is_shut:
            try:
                self._write(b"")
            except UnavailableError:
                pass  # whoever reads the connection finds out

    def _check_open(self) -> None:
        if self._is_shut:
            raise self._gone()

    def _push(self) -> None:
        """Write what the socket takes; the lock is held."""
        try:
            while self._queue:
                self._send_some()
        except BlockingIOError:
            pass
        except OSError:
            self._shut()

    def _send_some(self) -> None:
        buffer, descriptors = self._queue[0]
        if descriptors:
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))
            self._was_sent(self._socket.sendmsg([buffer], [rights], _SEND))
        else:
            self._was_sent(self._socket.sendmsg(self._plain_buffers(), (), _SEND))

    def _plain_buffers(self) -> list[Piece]:
        first = itertools.islice(self._queue, _MOST_BUFFERS)
        return [buffer for buffer, _ in itertools.takewhile(lambda each: not each[1], first)]

    def _was_sent(self, count: int) -> None:
        """Take `count` bytes off the queue; descriptors went with the first of them."""
        while self._queue and count >= len(self._queue[0][0]):
            count -= len(self._queue.popleft()[0])
        if count:
            self._queue[0] = memoryview(self._queue[0][0])[count:], ()

    def _go_on(self) -> None:
        """Write what is queued, as the socket takes it; runs on the loop."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._is_closed:
                return
            self._push()
            if self._queue and not self._is_shut:
                self._is_on_loop = True
                loop.add_writer(self._socket, self._go_on)
            else:
                loop.remove_writer(self._socket)

    # in

    def receive(self, wait: bool = False) -> list[Frame]:
        """Return the frames that have arrived and concern calls, with their whole messages.

        Args:
          wait: whether to wait for some bytes, as long as `set_patience` allows.

        Raises:
          BlockingIOError: nothing has arrived.
          UnavailableError: the other side is gone, or sent nonsense.
        """
        try:
            data, ancillary, flags, _ = self._socket.recvmsg(
                _CHUNK, _ANCILLARY, _RECEIVE if wait else _RECEIVE | _NOW
            )
            if ancillary or flags & socket.MSG_CTRUNC:
                self._take_descriptors(ancillary, flags)
            if not data:
                raise ConnectionResetError("it was closed there; that process has probably ended")
            return [f for f in map(self._mine, self._parser.feed(data)) if f is not None]
        except BlockingIOError:
            raise
        except (OSError, DataLossError, MemoryError, ValueError, OverflowError) as error:
            raise UnavailableError(f"the connection to {self.peer} broke: {error}") from None

    def set_patience(self, seconds: float) -> None:
        """Set how long `receive` waits."""
        if seconds != self._patience:
            micros = max(1, int(seconds * 1e6))  # none at all would be for ever
            duration = struct.pack("ll", *divmod(micros, 1_000_000))
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, duration)
            self._patience = seconds

    def path(self, method: int) -> str:
        """Return the path of a method that the other side named.

        Raises:
          UnavailableError: it did not name it.
        """
        found = self._paths.get(method)
        if found is None:
            raise UnavailableError(f"{self.peer} calls a method without a name")
        return found

    def _mine(self, frame: Frame) -> Frame | None:
        """Return the frame with its message, or None if it was about segments and names only."""
        handle = _HANDLERS.get(frame.kind)
        if handle is not None:
            handle(self, frame)
            return None
        if not frame.flags & frames.PLACED:
            return self._assembly.add(frame)
        place = frames.place_of(frame.body)
        mapping = self._mappings.get(place.segment)
        if mapping is None:
            raise DataLossError(f"segment {place.segment} is not known")
        return frame._replace(body=mapping.message(place, partial(self._release, place.segment)))

    def _take_path(self, frame: Frame) -> None:
        if len(self._paths) >= _MOST_PATHS:
            raise DataLossError(f"more than {_MOST_PATHS} methods")
        self._paths[frame.method] = frames.path_of(frame.body)

    def _take_segment(self, frame: Frame) -> None:
        if not self._descriptors:
            raise DataLossError("a segment came without its descriptor")
        descriptor = self._descriptors.popleft()
        if len(self._mappings) >= _MOST_SEGMENTS:
            os.close(descriptor)
            raise DataLossError(f"more than {_MOST_SEGMENTS} segments")
        if not self._has_segments:
            self._has_segments = True
            RELEASES.hold()
        try:
            self._mappings[frame.number] = segments.open_mapping(descriptor)
        finally:
            os.close(descriptor)

    def _take_release(self, frame: Frame) -> None:
        segment = self._under_way.pop(frame.number, None)
        if segment is None:
            raise DataLossError(f"segment {frame.number} was released, but is not lent")
        if frame.flags & frames.SPOILED:
            segment.close()
        else:
            POOL.give(segment)

    def _take_forget(self, frame: Frame) -> None:
        self._mappings.pop(frame.number, None)

    def _take_descriptors(self, ancillary: Iterable[tuple[int, int, bytes]], flags: int) -> None:
        for level, kind, data in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                whole = len(data) // _DESCRIPTOR * _DESCRIPTOR
                self._descriptors.extend(array.array("i", data[:whole]))
        if flags & socket.MSG_CTRUNC or len(self._descriptors) > 4:
            raise DataLossError(
                "descriptors of segments were lost: this process has too many files open "
                "(ulimit -n), or the other side sends nonsense"
            )

    # on the loop, and the end

    def read_with(self, readable: Callable[[], None]) -> None:
        """Have `readable` called when something arrives; call this on the loop."""
        self._is_on_loop = True
        asyncio.get_running_loop().add_reader(self._socket, readable)

    def shut(self) -> None:
        """End the connection: whoever reads it is woken and has to close it."""
        with self._lock:
            self._shut()

    def _shut(self) -> None:
        self._is_shut = True
        self._queue.clear()
        try:
            self._socket.shutdown(socket.SHUT_RDWR)  # a forked child may hold it open too
        except OSError:
            pass

    def close(self) -> None:
        """Give everything back; only whoever reads the connection may do this."""
        with self._lock:
            if self._is_closed:
                return
            self._shut()
            self._is_closed = True
            lent, known = self._under_way, self._known
            self._under_way, self._known = {}, {}
        for segment in known.values():
            segment.known_to.pop(self, None)
        for segment in lent.values():
            segment.close()  # the other side may refer to it still
        POOL.prune()
        self._mappings.clear()
        if self._has_segments:
            RELEASES.release()
        while self._descriptors:
            os.close(self._descriptors.popleft())
        if self._is_on_loop and not LOOP.is_current:
            LOOP.soon(self._close_socket)
        else:
            self._close_socket()

    def _close_socket(self) -> None:
        if self._is_on_loop:
            loop = asyncio.get_running_loop()
            loop.remove_reader(self._socket)
            loop.remove_writer(self._socket)
        self._socket.close()
        LOOP.release()

    def abandon(self) -> None:
        """Let go of a connection that belongs to the parent of this forked process."""
        self._is_shut = self._is_closed = True
        self._lock = threading.Lock()
        for segment in [*self._under_way.values(), *self._known.values()]:
            segment.known_to.clear()
            segment.close()
        self._mappings.clear()
        self._socket.close()


_HANDLERS: dict[int, Callable[[Connection, Frame], None]] = {
    Kind.METHOD: Connection._take_path,
    Kind.SEGMENT: Connection._take_segment,
    Kind.RELEASE: Connection._take_release,
    Kind.FORGET: Connection._take_forget,
}
_open: weakref.WeakSet[Connection] = weakref.WeakSet()


def _abandon_all() -> None:
    for connection in list(_open):
        connection.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)


def _trusted_peer(sock: socket.socket, is_caller: bool) -> Peer:
    """Return who is at the other end.

    Raises:
      PermissionDeniedError: another user, who is not the administrator; who is that may call
        anybody.
    """
    peer, own = _peer(sock), os.geteuid()
    if peer.user not in (own, 0) and not (is_caller and own == 0):
        raise PermissionDeniedError(
            f"process {peer.process} belongs to user {peer.user}, this one to user {own}: only "
            "processes of one user share memory"
        )
    return peer


def _peer(sock: socket.socket) -> Peer:
    if hasattr(socket, "SO_PEERCRED"):
        found = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        process, user, _ = struct.unpack("=iII", found)
        return Peer(process, user)
    if sys.platform == "darwin":  # LOCAL_PEERCRED (a struct xucred) and LOCAL_PEERPID of sys/un.h
        _, user = struct.unpack_from("2I", sock.getsockopt(0, 1, 76))
        return Peer(sock.getsockopt(0, 2), user)
    raise PermissionDeniedError("this system does not say whose process is at the other end")
