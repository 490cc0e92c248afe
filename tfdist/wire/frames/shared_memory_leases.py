"""`SharedMemoryLeases`: which segments one connection has lent, and borrowed, both ways.

The sender of a large message lends a segment: the other side gets its descriptor once, and a frame
that says where the message lies. It tells when nothing refers to the message any more. That nothing
does is learned in finalizers, which run on any thread at any moment: inside of whoever holds a
lock, and where Ctrl-C would be swallowed. So they leave a note, which goes with whatever is sent
next; where nothing is, a thread of its own sends it after a while.
"""

from __future__ import annotations

import array
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Iterable
from functools import partial
from queue import SimpleQueue

from tfdist.errors import DataLossError, UnavailableError
from tfdist.wire.codec import frames
from tfdist.wire.codec.frames import Frame, Kind
from tfdist.wire.common.calls import Pieces, size
from tfdist.wire.frames import shared_memory
from tfdist.wire.frames.send_buffer import SendBuffer
from tfdist.wire.frames.shared_memory import POOL, Mapping, Segment
from tfdist.wire.frames.streams import MOST_DESCRIPTORS

_MOST_SEGMENTS = 1024  # that the other side may lend at once
_PATIENCE = 0.005  # seconds that a note waits for something it can go with
_DESCRIPTOR = array.array("i").itemsize


class SharedMemoryLeases:
    """What two processes lend each other over a connection.

    Args:
      send_buffer: of the connection.
      user: id of the user at the other end.
    """

    def __init__(self, send_buffer: SendBuffer, user: int) -> None:
        self._send_buffer, self._user = send_buffer, user
        self._lock = threading.Lock()
        self._is_closed = False
        self._known: dict[int, Segment] = {}  # ours, whose descriptors the other side has
        self._lent: dict[int, Segment] = {}  # ours, that the other side may refer to
        self._mappings: dict[int, Mapping] = {}  # theirs
        self._descriptors: deque[int] = deque()  # arrived, and not claimed yet
        self._holds_thread = False

    # our segments

    def send(self, kind: int, number: int, message: Pieces, method: int) -> bool:
        """Send a message in a segment; return whether there was memory for it.

        Raises:
          UnavailableError: the connection is broken or closed.
        """
        segment = POOL.take(size(message), self._user)
        if segment is None:
            return False
        try:
            place = segment.fill(message)
        except OSError:
            segment.close()
            return False
        except BaseException:
            segment.close()
            raise
        self._lend(segment, frames.placed_frame(kind, place, number, method))
        return True

    def _lend(self, segment: Segment, frame: bytes) -> None:
        """Send the frame of a message that lies in `segment`."""
        is_known = segment.number in self._known
        with self._lock:
            is_closed = self._is_closed
            if not is_closed:
                self._lent[segment.number] = self._known[segment.number] = segment
                segment.known_to[self] = self._forget
        if is_closed:
            segment.close()
            raise self._send_buffer.gone()
        if is_known:
            self._send_buffer.write(frame)
        else:
            announcement = frames.header(Kind.SEGMENT, segment.number)
            self._send_buffer.write_later([announcement + frame], [segment.descriptor])

    def _forget(self, number: int) -> None:
        """Tell the other side that a segment of ours is no more."""
        self._known.pop(number, None)
        self._tell(frames.header(Kind.FORGET, number))

    def _tell(self, frame: bytes) -> None:
        try:
            self._send_buffer.write(frame)
        except UnavailableError:
            pass  # then there is nobody who would have to know

    def take_release(self, frame: Frame) -> None:
        """Take a segment back.

        Raises:
          DataLossError: it is not lent.
        """
        segment = self._lent.pop(frame.number, None)
        if segment is None:
            raise DataLossError(f"segment {frame.number} was released, but is not lent")
        if frame.flags & frames.SPOILED:
            segment.close()
        else:
            POOL.give(segment)

    # segments of the other side

    def take_descriptors(self, ancillary: Iterable[tuple[int, int, bytes]], flags: int) -> None:
        """Take what came beside frames, before these.

        Raises:
          DataLossError: descriptors were lost, or there are too many.
        """
        for level, kind, data in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                whole = len(data) // _DESCRIPTOR * _DESCRIPTOR
                self._descriptors.extend(array.array("i", data[:whole]))
        if flags & socket.MSG_CTRUNC or len(self._descriptors) > MOST_DESCRIPTORS:
            raise DataLossError(
                "descriptors of segments were lost: this process has too many files open "
                "(ulimit -n), or the other side sends nonsense"
            )

    def take_segment(self, frame: Frame) -> None:
        """Map a segment that the other side announces.

        Raises:
          DataLossError: it came without a descriptor, or is one too many, or not to be relied on.
          OSError: it cannot be mapped.
        """
        if not self._descriptors:
            raise DataLossError("a segment came without its descriptor")
        descriptor = self._descriptors.popleft()
        if len(self._mappings) >= _MOST_SEGMENTS:
            os.close(descriptor)
            raise DataLossError(f"more than {_MOST_SEGMENTS} segments")
        if not self._holds_thread:
            self._holds_thread = True
            RELEASES.hold()
        try:
            self._mappings[frame.number] = shared_memory.open_mapping(descriptor)
        finally:
            os.close(descriptor)

    def take_forget(self, frame: Frame) -> None:
        """Let go of a segment that the other side has closed."""
        self._mappings.pop(frame.number, None)

    def message(self, body: memoryview) -> memoryview:
        """Return the message that lies where the body of its frame says.

        Raises:
          DataLossError: there is no such place.
        """
        place = frames.place_of(body)
        mapping = self._mappings.get(place.segment)
        if mapping is None:
            raise DataLossError(f"segment {place.segment} is not known")
        return mapping.message(place, partial(self._release, place.segment))

    def _release(self, number: int, is_spoiled: bool) -> None:
        """Have the other side told that nothing here refers to its segment any more."""
        flags = frames.SPOILED if is_spoiled else 0
        self._send_buffer.note(frames.header(Kind.RELEASE, number, flags=flags))
        RELEASES.note(self._send_buffer)

    # the end

    def close(self) -> None:
        """Give everything back, as the connection was closed."""
        with self._lock:
            self._is_closed = True
            lent, known = self._lent, self._known
            self._lent, self._known = {}, {}
        for segment in known.values():
            segment.known_to.pop(self, None)
        for segment in lent.values():
            segment.close()  # the other side may refer to it still
        POOL.prune()
        self._mappings.clear()
        if self._holds_thread:
            RELEASES.release()
        while self._descriptors:
            os.close(self._descriptors.popleft())

    def abandon(self) -> None:
        """Let go of what belongs to the parent of this forked process."""
        self._lock, self._is_closed = threading.Lock(), True
        for segment in [*self._lent.values(), *self._known.values()]:
            segment.known_to.clear()
            segment.close()
        self._mappings.clear()


class ReleaseThread:
    """A thread that sends what was noted and has not left by itself; runs while somebody holds it.

    Waking a thread for each note would cost more than all the rest of a short message. So it is
    woken for the first one only, and then waits a moment for others.
    """

    def __init__(self) -> None:
        self._lock, self._holders = threading.Lock(), 0
        self._wakes: SimpleQueue[bool] = SimpleQueue()
        self._noted: deque[SendBuffer] = deque()
        self._is_awake = False

    def hold(self) -> None:
        """Have the thread run until `release` was called as often as this."""
        with self._lock:
            self._holders += 1
            if self._holders == 1:
                self._wakes = SimpleQueue()
                self._is_awake = bool(self._noted)  # while nobody held it
                if self._is_awake:
                    self._wakes.put(True)
                threading.Thread(
                    target=self._run, args=(self._wakes,), name="tfdist-release", daemon=True
                ).start()

    def release(self) -> None:
        """Let go of the thread; it ends when nobody holds it."""
        with self._lock:
            self._holders -= 1
            if not self._holders:
                self._wakes.put(False)

    def note(self, send_buffer: SendBuffer) -> None:
        """Have a buffer's notes sent soon; this never waits, nor lets another thread run."""
        self._noted.append(send_buffer)
        if not self._is_awake:
            self._is_awake = True
            self._wakes.put(True)

    def abandon(self) -> None:
        """Let go of the thread of the parent of this forked process: there is none here."""
        self.__init__()  # type: ignore[misc]

    def _run(self, wakes: SimpleQueue[bool]) -> None:
        while wakes.get():
            time.sleep(_PATIENCE)
            self._is_awake = False  # from now on notes wake it again
            while self._noted:
                self._noted.popleft().write_notes()


RELEASES = ReleaseThread()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=RELEASES.abandon)
