"""`SendBuffer`: non-blocking writes to a connection; any thread writes, and none of them waits.

What the socket does not take at once is queued, and the loop writes it. Ctrl-C in the middle of a
call must not leave half a frame on a socket that others use too. Frames that are in no hurry are
held back (coalesced): they leave with the next one, in one system call. Long messages take turns,
part by part, and whatever is short goes between; what belongs to one call stays in order.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat, starmap

from tfdist.errors import UnavailableError
from tfdist.runtime.step.counters import MOVES
from tfdist.wire.common.calls import Piece
from tfdist.wire.common.loop import LOOP
from tfdist.wire.frames.streams import SEND_FLAGS, Stream

_MOST_BUFFERS = 64  # in one system call
_MOST_HELD = 64  # frames
_HELD_SECONDS = 0.05  # that a frame waits for the next one
_MOST_AT_ONCE = 1 << 22  # bytes that the loop writes before it does something else

Message = Iterator[list[Piece]]  # the frames of a long message, each as its buffers


class SendBuffer:
    """The outgoing half of a connection.

    Args:
      stream: what is written to; whoever made this closes it, after `close`.

    Attributes:
      is_on_loop: whether the loop knows the socket, which is then closed there; once this is
        closed it does not change any more.
      is_shared: whether several calls use the connection.
      moved: when a part of a long message went last (`time.monotonic`).
    """

    def __init__(self, stream: Stream) -> None:
        self.is_on_loop = self.is_shared = False
        self.moved = 0.0
        self._stream = stream
        self._lock = threading.Lock()
        self._queue: deque[tuple[Piece, Sequence[int]]] = deque()  # buffers, and descriptors
        # by call; the first one has its turn. A call stays here until all of it is queued
        self._long: OrderedDict[int, deque[Message]] = OrderedDict()
        self._held: list[Piece] = []
        self._noted: deque[bytes] = deque()
        self._is_holding = self._is_shut = self._is_closed = False

    def write(self, frame: Piece) -> None:
        """Write a frame, or what the socket takes of it; the loop writes the rest later.

        Raises:
          UnavailableError: the connection is broken or closed.
        """
        try:
            with self._lock:
                if self._is_shut:
                    raise self.gone()
                if self._is_holding and LOOP.is_current and len(self._held) < _MOST_HELD:
                    self._held.append(frame)
                else:
                    self._write_now(frame)
        except OSError:
            self.shut()
            raise self.gone() from None
        finally:
            if self._queue:
                LOOP.soon(self._go_on)

    def _write_now(self, frame: Piece) -> None:
        """Write what was held back, and `frame`; the caller has the lock.

        Ctrl-C may come at any step, but what was sent is noted in the same step as it is sent.
        """
        if self._noted:
            self._held.extend(self._take_notes())
        buffer = b"".join((*self._held, frame)) if self._held else frame
        sent: list[int] = []
        try:
            if self._queue or self._may_be_torn():
                sent.append(0)  # the loop is at it, or has to be
            else:
                sent.extend(map(self._stream.send, (buffer,), (SEND_FLAGS,)))
        except BlockingIOError:
            sent.append(0)
        finally:
            if sent:
                self._held = []
                if sent[0] < len(buffer):
                    self._queue.append((memoryview(buffer)[sent[0] :], ()))

    def _may_be_torn(self) -> bool:
        """Return whether Ctrl-C could leave a write here of which nobody knows how much went."""
        return (
            self.is_shared
            and not self._stream.is_atomic
            and threading.current_thread() is threading.main_thread()
        )

    def write_later(self, buffers: Iterable[Piece], descriptors: Sequence[int] = ()) -> None:
        """Have the loop write buffers one after the other, with descriptors beside the first.

        Raises:
          UnavailableError: the connection is broken or closed.
        """
        entries: list[tuple[Piece, Sequence[int]]] = [(buffer, ()) for buffer in buffers]
        entries[0] = entries[0][0], descriptors
        with self._lock:
            self.check_open()
            self._queue.extend(zip(self._take_notes(), repeat(()), strict=False))
            self._queue.extend(entries)
        LOOP.soon(self._go_on)

    def write_long(self, number: int, message: Message) -> None:
        """Have the loop write a message as others leave it time, after those of the same call.

        Raises:
          UnavailableError: the connection is broken or closed.
        """
        with self._lock:
            self.check_open()
            self._long.setdefault(number, deque()).append(message)
        LOOP.soon(self._go_on)

    def is_long(self, number: int) -> bool:
        """Return whether long messages of a call are not written yet."""
        return number in self._long

    def withdraw(self, number: int) -> None:
        """Write no more of the long messages of a call."""
        with self._lock:
            self._long.pop(number, None)

    def write_with_next(self, frame: Piece) -> None:
        """Hold a frame back until the next one is written, or for a moment.

        Raises:
          UnavailableError: the connection is broken or closed.
        """
        with self._lock:
            self.check_open()
            self._held.append(frame)
        _HELD_BACK.add(self)

    def note(self, frame: bytes) -> None:
        """Hold a frame back until the next one is written, or until `write_notes`.

        This takes no lock: finalizers call it.
        """
        self._noted.append(frame)

    def _take_notes(self) -> Iterator[bytes]:
        """Return what was noted, taken as it is iterated over; the caller has the lock.

        A list takes it in one call of C, so that Ctrl-C comes before all of it, or after.
        """
        return starmap(self._noted.popleft, repeat((), len(self._noted)))

    def write_notes(self) -> None:
        """Write what was noted, if that has not left yet."""
        if self._noted and not self._is_shut:
            try:
                self.write(b"")
            except UnavailableError:
                pass  # then there is nobody who would have to know

    def hold(self) -> None:
        """Hold back what the loop's thread writes, until `flush`."""
        self._is_holding = True

    def flush(self) -> None:
        """Write what was held back, and hold nothing back from now on."""
        self._is_holding = False
        if self._held and not self._is_shut:
            try:
                self.write(b"")
            except UnavailableError:
                pass  # whoever reads the connection finds out

    def check_open(self) -> None:
        """Raise UnavailableError if the connection is broken or closed."""
        if self._is_shut:
            raise self.gone()

    def gone(self) -> UnavailableError:
        """Return the error of a connection that is broken or closed."""
        return UnavailableError(f"{self._stream.peer} closed the connection; it has probably ended")

    # on the loop

    def _go_on(self) -> None:
        """Write what is queued, as the socket takes it."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._is_closed:
                return
            self._push()
            if self._queue or self._long:
                self.is_on_loop = True
                loop.add_writer(self._stream, self._go_on)
            else:
                loop.remove_writer(self._stream)

    def _push(self) -> None:
        """Write what the socket takes; the caller has the lock."""
        left, began = _MOST_AT_ONCE, time.perf_counter_ns()
        try:
            while left > 0 and (self._queue or self._long):
                if not self._queue:
                    self._take_turn()
                    continue
                count = self._send_some()
                if self._long:
                    self.moved = time.monotonic()
                self._was_sent(count)
                left -= count
        except BlockingIOError:
            pass
        except OSError:
            self._shut()
        MOVES.add(began)

    def _take_turn(self) -> None:
        """Queue the next frame of the long message whose turn it is."""
        number, messages = next(iter(self._long.items()))
        frame = next(messages[0], None)
        if frame is None:
            messages.popleft()
        else:
            self._queue.extend((buffer, ()) for buffer in frame)
        if messages:
            self._long.move_to_end(number)
        else:
            del self._long[number]

    def _send_some(self) -> int:
        """Send the first buffers of the queue; return the number of bytes that went."""
        buffer, descriptors = self._queue[0]
        if descriptors:
            return self._stream.send_several([buffer], descriptors)
        first = itertools.islice(self._queue, _MOST_BUFFERS)
        plain = [buffer for buffer, _ in itertools.takewhile(lambda each: not each[1], first)]
        return self._stream.send_several(plain, ())

    def _was_sent(self, count: int) -> None:
        """Take `count` bytes off the queue; descriptors went with the first of them."""
        while self._queue and count >= len(self._queue[0][0]):
            count -= len(self._queue.popleft()[0])
        if count:
            self._queue[0] = memoryview(self._queue[0][0])[count:], ()

    # the end

    def shut(self) -> None:
        """End the connection: both sides read its end, and nothing is written any more."""
        with self._lock:
            self._shut()

    def _shut(self) -> None:
        self._is_shut = True
        self._queue.clear()
        self._long.clear()
        self._stream.shut()

    def close(self) -> bool:
        """End the connection, and leave its socket alone from now on; return whether it was open.

        A connection that was only shut is open still.
        """
        with self._lock:
            was_open, self._is_closed = not self._is_closed, True
            self._shut()
        _HELD_BACK.discard(self)
        return was_open

    def abandon(self) -> None:
        """Let go of a socket that belongs to the parent of this forked process."""
        self._is_shut = self._is_closed = True
        self._lock = threading.Lock()
        self._noted.clear()


class _HeldBack:
    """The buffers that have held back a frame: one timer for all of them, not one for each."""

    def __init__(self) -> None:
        self._buffers: set[SendBuffer] = set()
        self._lock = threading.Lock()

    def add(self, buffer: SendBuffer) -> None:
        """Have a buffer flushed within a moment, unless the process ends."""
        with self._lock:
            is_first = not self._buffers
            self._buffers.add(buffer)
        if is_first:
            LOOP.soon(self._flush_soon)

    def _flush_soon(self) -> None:
        asyncio.get_running_loop().call_later(_HELD_SECONDS, self._flush)

    def _flush(self) -> None:
        with self._lock:
            buffers, self._buffers = self._buffers, set()
        for buffer in buffers:
            buffer.flush()

    def discard(self, buffer: SendBuffer) -> None:
        """Forget a buffer: its connection was closed."""
        with self._lock:
            self._buffers.discard(buffer)

    def abandon(self) -> None:
        """Forget what belongs to the parent of this forked process."""
        self._buffers, self._lock = set(), threading.Lock()


_HELD_BACK = _HeldBack()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_HELD_BACK.abandon)
