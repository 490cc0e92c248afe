"""Connection: one stream between two tfdist processes, with its frames and its segments.

It turns messages into frames and back, whichever way they go; where memory can be shared, large
ones lie in segments (`shared_memory_leases`), else they are received into memory of their own. Any
thread writes (`send_buffer`), but only one at a time reads: the loop, or the thread that waits for
an answer.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
import time
import weakref
from collections.abc import Callable
from functools import partial
from typing import Protocol

from tfdist.errors import DataLossError, UnavailableError
from tfdist.runtime.step.counters import MOVES
from tfdist.wire.codec import frames
from tfdist.wire.codec.frames import Frame, Kind
from tfdist.wire.common.calls import Pieces, size
from tfdist.wire.common.loop import LOOP
from tfdist.wire.frames import shared_memory
from tfdist.wire.frames.send_buffer import SendBuffer
from tfdist.wire.frames.shared_memory_leases import SharedMemoryLeases
from tfdist.wire.frames.streams import TRUNCATED, Stream

_CHUNK = 1 << 16  # bytes that are read at once
_LONG_COPY = 8 << 20  # bytes; copying more would keep the loop too long
_MOST_PATHS = 4096  # methods that a connection may name


class Connection:
    """A stream; it belongs to this object from now on.

    Args:
      stream: what carries the bytes.

    Attributes:
      peer: the process at the other end.
      certificate: that it showed, None if it needs none.
      send_buffer: takes what is written.
      heard: when something arrived last (`time.monotonic`).
    """

    def __init__(self, stream: Stream) -> None:
        self._stream, self.peer = stream, stream.peer
        self.certificate = stream.certificate
        self.send_buffer = SendBuffer(stream)
        self.heard = time.monotonic()
        self._leases = (
            SharedMemoryLeases(self.send_buffer, self.peer.user) if stream.shares_memory else None
        )
        self._is_on_loop = False
        self._parser = frames.Parser()
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
        if length >= shared_memory.LARGE:
            self._send_large(kind, number, message, method)
            return
        start = frames.header(kind, number, length, method)
        frame = b"".join((start, *message)) if length else start
        if kind == Kind.CANCEL:
            self.send_buffer.withdraw(number)
        if self.send_buffer.is_long(number):
            self.send_buffer.write_long(number, iter([[frame]]))
        else:
            self.send_buffer.write(frame)

    def _send_large(self, kind: int, number: int, message: Pieces, method: int) -> None:
        if self._leases is None:
            self._send_in_parts(kind, number, message, method)
        elif size(message) >= _LONG_COPY and LOOP.is_current:
            self.send_buffer.check_open()
            work = partial(self._lend_on_thread, kind, number, message, method)
            threading.Thread(target=work, name="tfdist-copy", daemon=True).start()
        else:
            self._lend(kind, number, message, method)

    def _send_in_parts(self, kind: int, number: int, message: Pieces, method: int) -> None:
        self.send_buffer.write_long(number, frames.in_parts(kind, number, message, method))

    def _lend_on_thread(self, kind: int, number: int, message: Pieces, method: int) -> None:
        began = time.perf_counter_ns()
        try:
            self._lend(kind, number, message, method)
            MOVES.add(began)
        except UnavailableError:
            pass  # whoever reads the connection finds that out too
        except BaseException:
            self.shut()  # nobody else would
            raise

    def _lend(self, kind: int, number: int, message: Pieces, method: int) -> None:
        assert self._leases is not None
        is_behind = self.send_buffer.is_long(number)  # what belongs to one call stays in order
        if is_behind or not self._leases.send(kind, number, message, method):
            self._send_in_parts(kind, number, message, method)

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
            return [frame for frame in map(self._mine, self._arrived(wait)) if frame is not None]
        except BlockingIOError:
            raise
        except (OSError, DataLossError, MemoryError, ValueError, OverflowError) as error:
            raise UnavailableError(f"the connection to {self.peer} broke: {error}") from None

    def _arrived(self, wait: bool) -> list[Frame]:
        room = self._parser.room
        if room is not None:
            began = time.perf_counter_ns()
            count = self._stream.receive_into(room, wait)
            MOVES.add(began)
        else:
            data, ancillary, flags = self._stream.receive(self._parser.read_size(_CHUNK), wait)
            count = len(data)
            if self._leases is not None and (ancillary or flags & TRUNCATED):
                self._leases.take_descriptors(ancillary, flags)
        if not count:
            raise ConnectionResetError("it was closed there; that process has probably ended")
        self.heard = time.monotonic()
        return self._parser.filled(count) if room is not None else self._parser.feed(data)

    @property
    def has_more(self) -> bool:
        """Return whether more has arrived that nobody is told of."""
        return self._stream.has_more

    def set_patience(self, seconds: float) -> None:
        """Set how long `receive` waits."""
        self._stream.set_patience(seconds)

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
        if frame.kind == Kind.METHOD:
            self._take_path(frame)
            return None
        if frame.kind not in _ABOUT_MEMORY and not frame.flags & frames.PLACED:
            return frame
        if self._leases is None:
            raise DataLossError("processes of different hosts share no memory")
        handle = _ABOUT_MEMORY.get(frame.kind)
        if handle is not None:
            handle(self._leases, frame)
            return None
        return frame._replace(body=self._leases.message(frame.body))

    def _take_path(self, frame: Frame) -> None:
        if len(self._paths) >= _MOST_PATHS:
            raise DataLossError(f"more than {_MOST_PATHS} methods")
        self._paths[frame.method] = frames.path_of(frame.body)

    # on the loop, and the end

    def read_with(self, readable: Callable[[], None]) -> None:
        """Have `readable` called when something arrives; call this on the loop."""
        self._is_on_loop = True
        asyncio.get_running_loop().add_reader(self._stream, readable)

    def shut(self) -> None:
        """End the connection: whoever reads it is woken and has to close it."""
        self.send_buffer.shut()

    def close(self) -> None:
        """Give everything back; only whoever reads the connection may do this."""
        if not self.send_buffer.close():
            return
        if self._leases is not None:
            self._leases.close()
        self._is_on_loop |= self.send_buffer.is_on_loop
        if self._is_on_loop and not LOOP.is_current:
            LOOP.soon(self._close_socket)
        else:
            self._close_socket()

    def _close_socket(self) -> None:
        if self._is_on_loop:
            loop = asyncio.get_running_loop()
            loop.remove_reader(self._stream)
            loop.remove_writer(self._stream)
        self._stream.close()
        LOOP.release()

    def abandon(self) -> None:
        """Let go of a connection that belongs to the parent of this forked process."""
        self.send_buffer.abandon()
        if self._leases is not None:
            self._leases.abandon()
        self._stream.close()


_ABOUT_MEMORY: dict[int, Callable[[SharedMemoryLeases, Frame], None]] = {
    Kind.SEGMENT: SharedMemoryLeases.take_segment,
    Kind.RELEASE: SharedMemoryLeases.take_release,
    Kind.FORGET: SharedMemoryLeases.take_forget,
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
