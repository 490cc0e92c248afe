"""Frames: what stands on a socket between two tfdist processes, packed and unpacked.

A frame is a header of fixed size and a body:

    REQUEST  call, method | the message      METHOD   method | its path, once before its first use
    ANSWER   call | the message              CANCEL   call |
    ERROR    call | status                   SEGMENT  segment |, and its descriptor beside it
    INTERIM  call | a message before it      RELEASE  segment |
                                             FORGET   segment |

A message follows its header, alone or in parts (`MORE`), or lies in a segment of shared memory
(`PLACED`), and the body says where. Everything here is checked before it is used: what is no frame
is a DataLossError, and the connection that it came from is of no use any more. Numbers are
little-endian; the first field is a mark with the version of all this.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import NamedTuple

from tfdist.errors import DataLossError
from tfdist.wire.common.calls import Piece, Pieces

_MARK = 0x7402  # version 2
_HEADER = struct.Struct("<HBBIQI")  # mark, kind, flags, method, number, bytes of the body
_PLACE = struct.Struct("<QQQ")
_STATUS = struct.Struct("<iII")  # code, bytes of the message, number of payloads
_PAYLOAD = struct.Struct("<II")  # bytes of the key, bytes of the value

LONGEST_BODY = 1 << 20  # bytes; a longer message goes in parts, or in a segment
PART = 1 << 18  # bytes of a part
LONGEST_MESSAGE = 1 << 36  # bytes that the parts of one message may come to
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


MORE = 1  # flag: the message goes on in a further frame of the same kind and number
PLACED = 2  # flag: the body says where in a segment the message lies
SPOILED = 4  # flag of RELEASE: the segment must not be used again

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


def in_parts(kind: int, number: int, pieces: Pieces, method: int = 0) -> Iterator[Piece]:
    """Yield the frames of a long message, as buffers; nothing of it is copied."""
    parts = [
        piece[at : at + PART] for piece in byte_views(pieces) for at in range(0, piece.nbytes, PART)
    ]
    for index, part in enumerate(parts, 1):
        flags = MORE if index < len(parts) else 0
        yield header(kind, number, part.nbytes, method, flags)
        yield part


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


class Parser:
    """Takes bytes as they arrive and gives frames."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []  # the beginning of a frame
        self._have = 0
        self._want = 0

    def feed(self, data: bytes) -> list[Frame]:
        """Return the frames that `data` completes; their bodies are views of it.

        Raises:
          DataLossError: these are no frames.
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
        want = _HEADER.size
        while size - at >= _HEADER.size:
            fields = _HEADER.unpack_from(data, at)
            want = _HEADER.size + _checked_length(*fields)
            if size - at < want:
                break
            _, kind, flags, method, number, _ = fields
            frames.append(Frame(kind, flags, method, number, view[at + _HEADER.size : at + want]))
            at, want = at + want, _HEADER.size
        self._waiting = [data[at:]] if at < size else []
        self._have, self._want = size - at, want
        return frames


def _checked_length(mark: int, kind: int, flags: int, method: int, number: int, length: int) -> int:
    if mark != _MARK:
        raise DataLossError(
            f"frames begin with {_MARK:#x}, not {mark:#x}: the other side is something else, or "
            "another version of tfdist; use one version on both sides"
        )
    if kind not in _KINDS or length > LONGEST_BODY:
        raise DataLossError(f"there is no frame of kind {kind} with {length} bytes")
    return length


class Assembly:
    """Puts messages together that came in parts."""

    def __init__(self) -> None:
        self._parts: dict[tuple[int, int], bytearray] = {}

    def add(self, frame: Frame) -> Frame | None:
        """Return the frame with its whole message in memory of its own, or None if more follows.

        Raises:
          DataLossError: the message is too long, or the frame carries none.
        """
        if frame.kind not in _MESSAGES:
            if frame.flags & MORE:
                raise DataLossError(f"a frame of kind {frame.kind} comes in one part")
            return frame
        key = frame.kind, frame.number
        if frame.flags & MORE or key in self._parts:
            return self._grown(frame, key)
        kind, flags, method, number, body = frame
        return Frame(kind, flags, method, number, memoryview(bytearray(body)))

    def _grown(self, frame: Frame, key: tuple[int, int]) -> Frame | None:
        message = self._parts.setdefault(key, bytearray())
        if len(message) + len(frame.body) > LONGEST_MESSAGE:
            raise DataLossError(f"a message is longer than {LONGEST_MESSAGE} bytes")
        message += frame.body
        if frame.flags & MORE:
            return None
        return frame._replace(body=memoryview(self._parts.pop(key)))
