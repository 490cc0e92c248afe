"""Connection: one unix socket between two tfdist processes, with its frames and its segments.

It turns messages into frames and back, whichever way they go; large ones lie in segments
(`shared_memory_leases`). Any thread writes (`send_buffer`), but only one at a time reads: the loop,
or the thread that waits for an answer.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import socket
import struct
import threading
import weakref
from collections.abc import Callable
from functools import partial
from typing import Protocol

from tfdist.errors import DataLossError, UnavailableError
from tfdist.wire.codec import frames
from tfdist.wire.codec.frames import Frame, Kind
from tfdist.wire.common.calls import Pieces, size
from tfdist.wire.common.loop import LOOP
from tfdist.wire.common.security import trusted_peer
from tfdist.wire.local import shared_memory
from tfdist.wire.local.send_buffer import SendBuffer
from tfdist.wire.local.shared_memory_leases import ANCILLARY, SharedMemoryLeases

_CHUNK = 1 << 16  # bytes that are read at once
_BUFFER = 1 << 19  # bytes that the system keeps on the way
_LONG_COPY = 8 << 20  # bytes; copying more would keep the loop too long
_MOST_PATHS = 4096  # methods that a connection may name
_FLAGS = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
_FLAGS_NOW = _FLAGS | socket.MSG_DONTWAIT


class Connection:
    """A connected socket; it belongs to this object from now on.

    Args:
      sock: the socket.
      is_caller: whether this side calls the other one.

    Attributes:
      peer: the process at the other end.
      send_buffer: takes what is written.

    Raises:
      PermissionDeniedError: the other end is another user's; the socket is closed.
      OSError: the socket is of no use, and closed.
    """

    def __init__(self, sock: socket.socket, is_caller: bool) -> None:
        self._socket = sock
        try:
            self.peer = trusted_peer(sock, is_caller)
            sock.setblocking(True)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
        except BaseException:
            sock.close()
            raise
        self.send_buffer = SendBuffer(sock, self.peer)
        self._leases = SharedMemoryLeases(self.send_buffer, self.peer.user)
        self._patience = 0.0  # seconds; at first there is no limit
        self._is_on_loop = False
        self._parser, self._assembly = frames.Parser(), frames.Assembly()
        self._methods: dict[str, int] = {}  # ours, as the other side was told
        self._paths: dict[int, str] = {}  # theirs
        self._method_numbers = itertools.count(1)
        LOOP.hold()
        abandon_in_child(self)

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
            self.send_buffer.write(frames.path_frame(method, path))
            self._methods[path] = method  # only now may others leave the path out
        self.send(Kind.REQUEST, number, message, method)

    def send(self, kind: int, number: int, message: Pieces = (), method: int = 0) -> None:
        """Send a message: see `request`."""
        length = size(message)
        if length < shared_memory.LARGE:
            start = frames.header(kind, number, length, method)
            self.send_buffer.write(b"".join((start, *message)) if length else start)
        elif length >= _LONG_COPY and LOOP.is_current:
            self.send_buffer.check_open()
            work = partial(self._send_large_on_thread, kind, number, message, method)
            threading.Thread(target=work, name="tfdist-copy", daemon=True).start()
        else:
            self._send_large(kind, number, message, method)

    def _send_large_on_thread(self, kind: int, number: int, message: Pieces, method: int) -> None:
        try:
            self._send_large(kind, number, message, method)
        except UnavailableError:
            pass  # whoever reads the connection finds that out too
        except BaseException:
            self.shut()  # nobody else would
            raise

    def _send_large(self, kind: int, number: int, message: Pieces, method: int) -> None:
        if not self._leases.send(kind, number, message, method):
            self.send_buffer.write_later(frames.in_parts(kind, number, message, method))

    def notify(self, path: str, message: Pieces) -> None:
        """Send a short request without answer together with what is sent next, or soon after."""
        method = self._methods.get(path)
        if method is None:
            self.request(0, path, message)
            return
        start = frames.header(Kind.REQUEST, 0, size(message), method)
        self.send_buffer.write_with_next(b"".join((start, *message)))

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
                _CHUNK, ANCILLARY, _FLAGS if wait else _FLAGS_NOW
            )
            if ancillary or flags & socket.MSG_CTRUNC:
                self._leases.take_descriptors(ancillary, flags)
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
        return frame._replace(body=self._leases.message(frame.body))

    def _take_path(self, frame: Frame) -> None:
        if len(self._paths) >= _MOST_PATHS:
            raise DataLossError(f"more than {_MOST_PATHS} methods")
        self._paths[frame.method] = frames.path_of(frame.body)

    # on the loop, and the end

    def read_with(self, readable: Callable[[], None]) -> None:
        """Have `readable` called when something arrives; call this on the loop."""
        self._is_on_loop = True
        asyncio.get_running_loop().add_reader(self._socket, readable)

    def shut(self) -> None:
        """End the connection: whoever reads it is woken and has to close it."""
        self.send_buffer.shut()

    def close(self) -> None:
        """Give everything back; only whoever reads the connection may do this."""
        if not self.send_buffer.close():
            return
        self._leases.close()
        self._is_on_loop |= self.send_buffer.is_on_loop
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
        self.send_buffer.abandon()
        self._leases.abandon()
        self._socket.close()


_HANDLERS: dict[int, Callable[[Connection, Frame], None]] = {
    Kind.METHOD: Connection._take_path,
    Kind.SEGMENT: lambda connection, frame: connection._leases.take_segment(frame),
    Kind.RELEASE: lambda connection, frame: connection._leases.take_release(frame),
    Kind.FORGET: lambda connection, frame: connection._leases.take_forget(frame),
}


class Inherited(Protocol):
    """What a forked child finds and must not use: its parent does."""

    def abandon(self) -> None:
        """Let go of it, in the child."""


_inherited: weakref.WeakSet[Inherited] = weakref.WeakSet()


def abandon_in_child(owner: Inherited) -> None:
    """Have `owner` abandoned in each process that is forked from this one."""
    _inherited.add(owner)


def _abandon_all() -> None:
    for owner in list(_inherited):
        owner.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)
