"""A pool of shared memory: segments in which large messages cross between local processes.

The sender fills a segment, a file in memory without a name; the receiver gets its descriptor once,
maps it, and makes arrays that share its memory. When nothing refers to the message any more the
receiver says so, and the sender fills the segment anew: memory that both sides have in their page
tables already is four times as fast as fresh memory. Whoever keeps an array keeps the segment.

A receiver insists on a seal against shrinking: touching memory that its owner has cut off would
kill the process. A segment is filled for peers of one user only, and its receivers' arrays are
never written by the sender. After a fork two processes refer to what arrived before, so that such
segments are given up, not used again.
"""

from __future__ import annotations

import fcntl
import itertools
import mmap
import os
import threading
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tfdist.errors import DataLossError
from tfdist.wire.codec.frames import Place, byte_views
from tfdist.wire.common.calls import Pieces, size

LARGE = 1 << 17  # bytes; shorter messages are quicker through the socket
MOST_IDLE = 512 << 20  # bytes that idle segments keep, in all
_MOST_IDLE_SEGMENTS = 32  # each keeps a descriptor, or two, here and with each receiver
_MOST_SEGMENTS = 128  # idle or lent; what comes then goes through the socket
_MOST_LIVE = 32  # messages in segments that this process refers to; later ones are copied
_SMALLEST = 1 << 20  # bytes
_ALIGNMENT = 64  # bytes; where the largest piece of a message begins
_TWO_THREADS = 16 << 20  # bytes; from there on two threads copy in nearly half the time
_MOST_PIECES = 512  # in one system call

_SEAL_SHRINK = getattr(fcntl, "F_SEAL_SHRINK", 0)
IS_AVAILABLE = bool(_SEAL_SHRINK) and hasattr(os, "memfd_create")


class Segment:
    """Memory that this process fills for others.

    Args:
      capacity: bytes; memory is taken for what is written only.
      user: id of the user whose processes may see it.

    Attributes:
      number: of this segment in this process.
      known_to: for each connection over which its descriptor went, what tells the other side
        that the segment is no more.

    Raises:
      OSError: there is no memory, or no descriptor.
    """

    _numbers = itertools.count(1)

    def __init__(self, capacity: int, user: int) -> None:
        self.number = next(self._numbers)
        self.capacity, self.user = capacity, user
        self.known_to: dict[Any, Callable[[int], None]] = {}
        self.touched = 0
        self._mapped: np.ndarray | None = None
        self.descriptor = os.memfd_create("tfdist", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        self._finalizer = weakref.finalize(self, _close, self.descriptor, self.number)
        self._finalizer.atexit = False
        _segments.add(self.number)
        os.ftruncate(self.descriptor, capacity)
        fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, _SEAL_SHRINK | fcntl.F_SEAL_GROW)

    def fill(self, pieces: Pieces) -> Place:
        """Write a message that fits, and return where it lies.

        Fresh memory is written by the system: that is quicker than to map it first, and memory
        that there is not is an error then, not a signal.

        Raises:
          OSError: there is no memory.
        """
        views, length = byte_views(pieces), size(pieces)
        offset = _offset(views)
        if offset + length <= self.touched:
            self._copy(views, offset)
        else:
            self._write(views, offset)
            self.touched = offset + length
        return Place(self.number, offset, length)

    def _write(self, views: list[memoryview], offset: int) -> None:
        for first in range(0, len(views), _MOST_PIECES):
            left = views[first : first + _MOST_PIECES]
            while left:
                written = os.pwritev(self.descriptor, left, offset)
                offset += written
                left = _after(left, written)

    def _copy(self, views: list[memoryview], offset: int) -> None:
        if self._mapped is None:
            self._mapped = np.frombuffer(mmap.mmap(self.descriptor, self.capacity), np.uint8)
        for view in views:
            source = np.frombuffer(view, np.uint8)
            _copy(source, self._mapped[offset : offset + source.size])
            offset += source.size

    def close(self) -> None:
        """Give the memory back, as soon as its receivers do, and tell them."""
        self._mapped = None
        self._finalizer()
        for tell in list(self.known_to.values()):
            tell(self.number)


_segments: set[int] = set()  # that this process has


def _close(descriptor: int, number: int) -> None:
    os.close(descriptor)
    _segments.discard(number)


def _offset(views: list[memoryview]) -> int:
    """Return where a message has to begin so that its largest piece is aligned."""
    lengths = [view.nbytes for view in views]
    before = sum(lengths[: lengths.index(max(lengths))])
    return -before % _ALIGNMENT


def _after(left: list[memoryview], written: int) -> list[memoryview]:
    while left and written >= left[0].nbytes:
        written -= left.pop(0).nbytes
    return [left[0][written:], *left[1:]] if left else []


def _copy(source: np.ndarray, target: np.ndarray) -> None:
    half = source.size // 2
    if source.size < _TWO_THREADS:
        np.copyto(target, source)
        return
    other = threading.Thread(target=np.copyto, args=(target[half:], source[half:]))
    other.start()
    np.copyto(target[:half], source[:half])
    other.join()


class SegmentPool:
    """The segments of this process that nobody refers to now, the longest idle first.

    Args:
      most: bytes that they keep in all.
    """

    def __init__(self, most: int = MOST_IDLE) -> None:
        self.most = most
        self._lock = threading.Lock()
        self._idle: list[Segment] = []

    def abandon(self) -> None:
        """Let go of the segments, which belong to the parent of this forked process."""
        self._lock = threading.Lock()
        idle, self._idle = self._idle, []
        for segment in idle:
            segment.known_to.clear()
            segment.close()

    @property
    def idle_bytes(self) -> int:
        """Return how many bytes the idle segments keep."""
        return sum(segment.touched for segment in list(self._idle))

    def take(self, length: int, user: int) -> Segment | None:
        """Return a segment for a message of `length` bytes, or None if there is no memory.

        Args:
          length: bytes.
          user: id of the user whose process receives it.
        """
        return self._taken(length + _ALIGNMENT, user) or self._made(length + _ALIGNMENT, user)

    def _taken(self, length: int, user: int) -> Segment | None:
        with self._lock:
            fitting = [
                each
                for each in self._idle
                if each.user == user and length <= each.capacity <= max(4 * length, _SMALLEST)
            ]
            if not fitting:
                return None
            best = max(fitting, key=lambda each: (min(each.touched, length), -each.capacity))
            self._idle.remove(best)
            return best

    @staticmethod
    def _made(length: int, user: int) -> Segment | None:
        if not IS_AVAILABLE or len(_segments) >= _MOST_SEGMENTS:
            return None
        try:
            return Segment(max(_SMALLEST, 1 << (length - 1).bit_length()), user)
        except OSError:
            return None

    def has(self, length: int, user: int) -> bool:
        """Return whether an idle segment fits; see `take`."""
        segment = self._taken(length + _ALIGNMENT, user)
        if segment is not None:
            self.give(segment)
        return segment is not None

    def give(self, segment: Segment) -> None:
        """Take a segment back that nobody refers to any more."""
        with self._lock:
            self._idle.append(segment)
            surplus = []
            while self.idle_bytes > self.most or len(self._idle) > _MOST_IDLE_SEGMENTS:
                surplus.append(self._idle.pop(0))
        for each in surplus:
            each.close()

    def prune(self) -> None:
        """Close the segments that no connection knows."""
        with self._lock:
            unknown = [each for each in self._idle if not each.known_to]
            self._idle = [each for each in self._idle if each.known_to]
        for each in unknown:
            each.close()


POOL = SegmentPool()


class Mapping:
    """Memory that another process fills.

    Args:
      descriptor: of the segment; it may be closed afterwards.

    Raises:
      DataLossError: it is no segment that can be relied on.
      OSError: it cannot be mapped.
    """

    def __init__(self, descriptor: int) -> None:
        self._size = _sealed_size(descriptor)
        self._memory = mmap.mmap(descriptor, self._size)

    def message(self, place: Place, released: Callable[[bool], None]) -> memoryview:
        """Return the message at `place`, writable.

        Args:
          place: where it lies.
          released: called once nothing refers to the message or to an array over its memory, on
            any thread at any moment, so that it must not wait for a lock; gets whether the
            segment is spoiled. At once if this process refers to very many messages: then the
            result is a copy.

        Raises:
          DataLossError: there is no such place.
        """
        if not 0 < place.length <= self._size - place.offset:
            raise DataLossError(f"{place} is outside of a segment of {self._size} bytes")
        # the weak reference needs an owner that every view and array keeps alive
        owner = np.frombuffer(self._memory, np.uint8, place.length, place.offset)
        if len(_live) >= _MOST_LIVE:
            owner = _aligned_copy(owner)
            released(False)
        else:
            key = next(_keys)
            _live.add(key)
            weakref.finalize(owner, _let_go, key, _forks, released).atexit = False
        return owner.data


def _aligned_copy(source: np.ndarray) -> np.ndarray:
    """Return a copy that is aligned as `source` is."""
    memory = np.empty(source.size + _ALIGNMENT, np.uint8)
    start = (source.ctypes.data - memory.ctypes.data) % _ALIGNMENT
    copy = memory[start : start + source.size]
    _copy(source, copy)
    return copy


def _sealed_size(descriptor: int) -> int:
    try:
        seals = fcntl.fcntl(descriptor, fcntl.F_GET_SEALS)
    except (OSError, AttributeError):
        seals = 0
    if not seals & _SEAL_SHRINK:
        raise DataLossError("a segment without a seal against shrinking is not used")
    found = os.fstat(descriptor).st_size
    if not found:
        raise DataLossError("a segment of no bytes is not used")
    return found


_keys = itertools.count()
_live: set[int] = set()
_forks = 0
_mappings: weakref.WeakValueDictionary[tuple[int, int], Mapping] = weakref.WeakValueDictionary()


def _let_go(key: int, forks: int, released: Callable[[bool], None]) -> None:
    _live.discard(key)
    released(forks != _forks)


def open_mapping(descriptor: int) -> Mapping:
    """Return the mapping of a segment; there is one, over however many connections it comes.

    Raises:
      DataLossError: it is no segment that can be relied on.
      OSError: it cannot be mapped.
    """
    status = os.fstat(descriptor)
    key = status.st_dev, status.st_ino
    found = _mappings.get(key)
    if found is None:
        found = _mappings[key] = Mapping(descriptor)
    return found


def _forked(is_child: bool) -> None:
    global _forks
    _forks += 1
    if is_child:
        POOL.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        after_in_parent=partial(_forked, False), after_in_child=partial(_forked, True)
    )
