"""Frames: what stands on a socket between two tfdist processes, packed and unpacked.

A frame is a header of fixed size and a body:

    REQUEST  call, method | the message      METHOD   method | its path, once before its first use
    ANSWER   call | the message              CANCEL   call |
    ERROR    call | status                   SEGMENT  segment |, and its descriptor beside it
    INTERIM  call | a message before it      RELEASE  segment |
    LENGTH   call, kind | of a long one      FORGET   segment |
    ALIVE    1 to ask for one, else 0 |

A message follows its header; or it is long, then its length comes first, and the message in parts
(`MORE`), between which there may be others; or it lies in a segment of shared memory (`PLACED`),
and the body says where. Everything here is checked before it is used: what is no frame is a
DataLossError, and the connection that it came from is of no use any more. Numbers are
little-endian; the first field is a mark with the version of all this.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from tfdist.base.room import ROOM
from tfdist.errors import DataLossError
from tfdist.wire.common.calls import Piece, Pieces

_MARK = 0x7404  # version 4
_HEADER = struct.Struct("<HBBIQI")  # mark, kind, flags, method, number, bytes of the body
_PLACE = struct.Struct("<QQQ")
_LENGTH = struct.Struct("<QI")  # bytes of the message, and before its largest piece
_STATUS = struct.Struct("<iII")  # code, bytes of the message, number of payloads
_PAYLOAD = struct.Struct("<II")  # bytes of the key, bytes of the value

LONGEST_BODY = 1 << 20  # bytes; a longer message goes in parts, or in a segment
PART = 1 << 19  # bytes of a part
LONGEST_MESSAGE = 1 << 36  # bytes that the parts of one message may come to
ALIGNMENT = 64  # bytes; where the largest piece of a message begins in memory
HEADER = _HEADER.size  # bytes
_MOST_LONG = 256  # long messages of one connection that have come in part
LONGEST_PATH = 1 << 10  # bytes


class Kind(IntEnum):
    """What a frame says; see the top of this file."""

    METHOD = 1
    REQUEST = 2
    ANSWER = 3
    ERROR = 4
    CANCEL = 5
    SEGMENT = 6
    RELEASE = 7
    FORGET = 8
    INTERIM = 9
    LENGTH = 10
    ALIVE = 11


MORE = 1  # flag: the message goes on in a further frame of the same kind and number
PLACED = 2  # flag: the body says where in a segment the message lies
SPOILED = 4  # flag of RELEASE: the segment must not be used again
LAST = 8  # flag: the last part of a long message
DROPPED = 128  # flag that is never sent: there was no room for the message, the body is its length

_KINDS = frozenset(map(int, Kind))
_MESSAGES = frozenset(map(int, (Kind.REQUEST, Kind.ANSWER, Kind.ERROR, Kind.INTERIM)))


class Frame(NamedTuple):
    """A frame that arrived.

    Attributes:
      kind: see `Kind`.
      flags: of MORE, PLACED and SPOILED.
      method: number of the method in METHOD and REQUEST.
      number: of the call or of the segment.
      body: bytes.
    """

    kind: int
    flags: int
    method: int
    number: int
    body: memoryview


class Place(NamedTuple):
    """Where a message lies: number of the segment, offset and length in bytes."""

    segment: int
    offset: int
    length: int


def header(kind: int, number: int, length: int = 0, method: int = 0, flags: int = 0) -> bytes:
    """Return the header of a frame.

    Args:
      kind: see `Kind`.
      number: of the call or of the segment.
      length: bytes of the body, at most `LONGEST_BODY`.
      method: number of the method.
      flags: of MORE, PLACED and SPOILED.
    """
    return _HEADER.pack(_MARK, kind, flags, method, number, length)


def path_frame(method: int, path: str) -> bytes:
    """Return the frame that gives the method at `path` its number."""
    text = path.encode()
    return header(Kind.METHOD, 0, len(text), method) + text


def placed_frame(kind: int, place: Place, number: int, method: int = 0) -> bytes:
    """Return the frame of a message that lies in a segment."""
    return header(kind, number, _PLACE.size, method, PLACED) + _PLACE.pack(*place)


def in_parts(kind: int, number: int, pieces: Pieces, method: int = 0) -> Iterator[list[Piece]]:
    """Yield the frames of a long message, each as its buffers; nothing of it is copied."""
    views = byte_views(pieces)
    lengths = [view.nbytes for view in views]
    before = sum(lengths[: lengths.index(max(lengths))]) % ALIGNMENT
    body = _LENGTH.pack(sum(lengths), before)
    parts = [view[at : at + PART] for view in views for at in range(0, view.nbytes, PART)]
    start: list[Piece] = [header(Kind.LENGTH, number, len(body), kind), body]
    for index, part in enumerate(parts, 1):
        flags = MORE if index < len(parts) else LAST
        yield [*start, header(kind, number, part.nbytes, method, flags), part]
        start = []


def byte_views(pieces: Pieces) -> list[memoryview]:
    """Return the pieces that are not empty, as views of bytes."""
    views = [memoryview(piece) for piece in pieces]
    return [view.cast("B") for view in views if view.nbytes]


def place_of(body: memoryview) -> Place:
    """Return where a message lies, from the body of its frame.

    Raises:
      DataLossError: the body is something else.
    """
    if len(body) != _PLACE.size:
        raise DataLossError(f"a message's place takes {_PLACE.size} bytes, not {len(body)}")
    return Place(*_PLACE.unpack(body))


def path_of(body: memoryview) -> str:
    """Return a method's path from the body of its frame.

    Raises:
      DataLossError: the body is something else.
    """
    if len(body) > LONGEST_PATH:
        raise DataLossError(f"a path of {len(body)} bytes; {LONGEST_PATH} at most")
    return _text(body)


def status_pieces(code: int, message: str, payloads: Mapping[str, bytes]) -> list[bytes]:
    """Return an error as a message; see `tfdist.wire.common.status` for its parts."""
    text = message.encode(errors="replace")
    pieces = [_STATUS.pack(code, len(text), len(payloads)), text]
    for name, value in payloads.items():
        key = name.encode()
        pieces += [_PAYLOAD.pack(len(key), len(value)), key, value]
    return pieces


def status_of(message: memoryview) -> tuple[int, str, dict[str, bytes]]:
    """Return (code, message, payloads) of an error that arrived.

    Raises:
      DataLossError: it is something else.
    """
    at = _STATUS.size
    code, length, count = _unpacked(_STATUS, message, 0)
    text, at = _text(_cut(message, at, length)), at + length
    payloads: dict[str, bytes] = {}
    for _ in range(count):
        key_length, value_length = _unpacked(_PAYLOAD, message, at)
        at += _PAYLOAD.size
        key = _text(_cut(message, at, key_length))
        payloads[key] = bytes(_cut(message, at + key_length, value_length))
        at += key_length + value_length
    return code, text, payloads


def _unpacked(layout: struct.Struct, data: memoryview, at: int) -> tuple[int, ...]:
    return layout.unpack(_cut(data, at, layout.size))


def _cut(data: memoryview, at: int, length: int) -> memoryview:
    if at + length > len(data):
        raise DataLossError(f"an error's text ends after {len(data)} bytes, before it should")
    return data[at : at + length]


def _text(data: memoryview) -> str:
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError:
        raise DataLossError("a text is not in UTF-8") from None


class _LongMessage:
    """The memory that a long message comes to, part for part; it is taken when it begins.

    Args:
      body: of its LENGTH.
    """

    def __init__(self, body: memoryview) -> None:
        if len(body) != _LENGTH.size:
            raise DataLossError(f"a length takes {_LENGTH.size} bytes, not {len(body)}")
        self.length, before = _LENGTH.unpack(body)
        if not 0 < self.length <= LONGEST_MESSAGE or before >= ALIGNMENT:
            raise DataLossError(f"no message has {self.length} bytes; {LONGEST_MESSAGE} at most")
        self.filled = 0
        self._has_room = ROOM.has(self.length)
        try:
            self.memory = _aligned(self.length if self._has_room else PART, before)
        except MemoryError:
            self._has_room, self.memory = False, _aligned(PART, 0)

    def room(self, length: int) -> memoryview:
        """Return where the next bytes go, at most `length`; without room one over the other."""
        start = self.filled if self._has_room else 0
        return self.memory[start : start + length]

    def frame(self, kind: int, flags: int, method: int, number: int) -> Frame:
        """Return the frame of the whole message.

        Raises:
          DataLossError: it is not whole.
        """
        if self.filled < self.length:
            raise DataLossError(f"a message of {self.length} bytes ended after {self.filled}")
        if self._has_room:
            return Frame(kind, flags & ~LAST, method, number, self.memory)
        return Frame(kind, DROPPED, method, number, memoryview(_LENGTH.pack(self.length, 0)))


def _aligned(length: int, before: int) -> memoryview:
    """Return memory whose byte `before` is aligned; it is not touched yet."""
    memory = np.empty(length + ALIGNMENT, np.uint8)
    start = -(memory.ctypes.data + before) % ALIGNMENT
    return memory[start : start + length].data


def dropped_length(body: memoryview) -> int:
    """Return how many bytes a message had that was dropped."""
    return int(_LENGTH.unpack(body)[0])


class _Part(NamedTuple):
    """A part of a long message that is on its way: its header, without the length."""

    message: _LongMessage
    kind: int
    flags: int
    method: int
    number: int


class Parser:
    """Takes bytes as they arrive and gives frames, with their whole messages.

    Parts of long messages can be received where they belong: see `room`.
    """

    def __init__(self) -> None:
        self._waiting: list[bytes] = []  # the beginning of a frame
        self._have = 0
        self._want = 0
        self._long: dict[tuple[int, int], _LongMessage] = {}  # by kind and number
        self._part: _Part | None = None  # whose body comes next
        self._left = 0  # bytes of it

    @property
    def room(self) -> memoryview | None:
        """Return where the next bytes belong, all of them; tell `filled` how many came."""
        return None if self._part is None else self._part.message.room(self._left)

    def read_size(self, most: int) -> int:
        """Return how many bytes to read: what may be before a part is read without the part."""
        return self._want - self._have if self._long else most

    def filled(self, count: int) -> list[Frame]:
        """Return the frame that the bytes in `room` complete, if they do."""
        assert self._part is not None
        message, kind, flags, method, number = self._part
        message.filled += count
        self._left -= count
        if self._left:
            return []
        self._part = None
        if flags & MORE:
            return []
        del self._long[kind, number]
        return [message.frame(kind, flags, method, number)]

    def feed(self, data: bytes) -> list[Frame]:
        """Return the frames that `data` completes; the bodies of some are views of it.

        Raises:
          DataLossError: these are no frames.
          MemoryError: there is no memory for a message.
        """
        if self._waiting:
            self._waiting.append(data)
            self._have += len(data)
            if self._have < self._want:
                return []
            data = b"".join(self._waiting)
        return self._split(data)

    def _split(self, data: bytes) -> list[Frame]:
        view, at, size = memoryview(data), 0, len(data)
        frames: list[Frame] = []
        want = HEADER
        while at < size:
            if self._part is not None:
                at += self._take_part(view[at:], frames)
                continue
            if size - at < HEADER:
                break
            mark, kind, flags, method, number, length = _HEADER.unpack_from(data, at)
            _check(mark, kind, flags, length)
            begin = at + HEADER
            if flags & (MORE | LAST):
                self._begin_part(kind, flags, method, number, length)
                at = begin
                continue
            want = HEADER + length
            if size - at < want:
                break
            at, want = at + want, HEADER
            body = view[begin:at]
            if kind in _MESSAGES and not flags & PLACED:
                body = memoryview(bytearray(body))
            self._take(Frame(kind, flags, method, number, body), frames)
        self._waiting = [data[at:]] if at < size else []
        self._have, self._want = size - at, want
        return frames

    def _begin_part(self, kind: int, flags: int, method: int, number: int, length: int) -> None:
        message = self._long.get((kind, number))
        if message is None or not 0 < length <= message.length - message.filled:
            raise DataLossError(f"a part of {length} bytes of a message that has not begun")
        self._part, self._left = _Part(message, kind, flags, method, number), length

    def _take_part(self, data: memoryview, frames: list[Frame]) -> int:
        """Take what has come of a part; return how many bytes that are."""
        room = self.room
        assert room is not None
        count = min(len(data), len(room))
        room[:count] = data[:count]
        frames += self.filled(count)
        return count

    def _take(self, frame: Frame, frames: list[Frame]) -> None:
        if frame.kind == Kind.LENGTH:
            key = frame.method, frame.number
            if frame.method not in _MESSAGES or key in self._long or len(self._long) >= _MOST_LONG:
                raise DataLossError(f"a length of something else, or more than {_MOST_LONG}")
            self._long[key] = _LongMessage(frame.body)
            return
        if frame.kind == Kind.CANCEL:
            self._long.pop((Kind.REQUEST, frame.number), None)  # the rest does not come
        frames.append(frame)


def _check(mark: int, kind: int, flags: int, length: int) -> None:
    if mark != _MARK:
        raise DataLossError(
            f"frames begin with {_MARK:#x}, not {mark:#x}: the other side is something else, or "
            "another version of tfdist; use one version on both sides"
        )
    if kind not in _KINDS or length > LONGEST_BODY or flags & DROPPED:
        raise DataLossError(f"there is no frame of kind {kind} with {length} bytes")
    if flags & (MORE | LAST) and kind not in _MESSAGES:
        raise DataLossError(f"a frame of kind {kind} comes in one part")
