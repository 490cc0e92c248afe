"""Sorted tables of byte strings in files, in LevelDB's format: what checkpoints' indexes are.

A block is entries (varints: bytes of the key that are those of the key before, other bytes of the
key, bytes of the value; then these bytes), the places of the entries that share nothing, and their
number, as uint32. Behind each block stand a byte, 0 if it is not compressed, and the masked crc32c
of both. The last block but one is empty; the last one tells by a key that is not below those of a
block where that block lies. The 48 bytes at the end say where these two lie, and close with a
number that marks the format.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from typing import Protocol

from tfdist.base.varints import read_varint, varint, varints
from tfdist.errors import DataLossError, UnimplementedError
from tfdist.formats.tfrecord import masked_crc32c

_MAGIC = struct.pack("<Q", 0xDB4775248B80FB57)
_FOOTER = 48
_TRAILER = struct.Struct("<BI")
_BLOCK = 1 << 18  # bytes after which a block ends
_RESTART = 16  # entries after which a key is written whole

Handle = tuple[int, int]  # place and size of a block


class Source(Protocol):
    """A file to be read at any place."""

    name: str
    size: int

    def read_at(self, offset: int, size: int) -> bytes:
        """Return `size` bytes; DataLossError if the file ends before them."""


class Sink(Protocol):
    """A file to be written."""

    def write(self, data: bytes) -> object:
        """Write bytes at the end."""


# reading


class Table:
    """The table in a file, whose blocks are read when they are asked for.

    Raises:
      DataLossError: the file is none, or it is damaged.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._index = [(key, _handle(value)) for key, value in self._block(self._footer())]
        self._last_keys = [key for key, _ in self._index]

    def _footer(self) -> Handle:
        """Return where the index lies."""
        source = self._source
        if source.size < _FOOTER:
            raise self._lost(f"file is too short to be an sstable: {source.size} bytes")
        footer = source.read_at(source.size - _FOOTER, _FOOTER)
        if not footer.endswith(_MAGIC):
            raise self._lost("not an sstable (bad magic number)")
        _, at = _read_handle(footer, 0)
        return _read_handle(footer, at)[0]

    def items(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield all keys and values, sorted by key."""
        for _, handle in self._index:
            yield from self._block(handle)

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a key; None if it is not there."""
        at = bisect_left(self._last_keys, key)
        if at == len(self._index):
            return None
        return next((value for each, value in self._block(self._index[at][1]) if each == key), None)

    def _block(self, handle: Handle) -> Iterator[tuple[bytes, bytes]]:
        offset, size = handle
        if offset + size + _TRAILER.size > self._source.size - _FOOTER:
            raise self._lost(f"truncated block read: {size} bytes at {offset}")
        data = self._source.read_at(offset, size + _TRAILER.size)
        kind, crc = _TRAILER.unpack_from(data, size)
        if masked_crc32c(data[: size + 1]) != crc:
            raise self._lost(f"block checksum mismatch at byte {offset}")
        try:
            yield from _entries(_inflated(kind, data[:size], self._source.name))
        except (DataLossError, struct.error, IndexError) as error:
            raise self._lost(f"bad entry in block at byte {offset}: {error}") from None

    def _lost(self, why: str) -> DataLossError:
        return DataLossError(f"{self._source.name}: {why}")


def _inflated(kind: int, block: bytes, name: str) -> bytes:
    """Return what is in a block."""
    if kind == 0:
        return block
    if kind != 1:
        raise DataLossError(f"compression {kind} is not known")
    try:
        snappy = import_module("snappy")  # which nothing else here needs
    except ImportError:
        raise UnimplementedError(
            f"{name} is compressed with Snappy, which tfdist does not read by itself: run "
            "`pip install python-snappy`, or save it once more with TensorFlow, which compresses "
            "no checkpoints of its own"
        ) from None
    try:
        return bytes(snappy.uncompress(block))
    except Exception as error:  # its own classes
        raise DataLossError(f"bad compressed data: {error}") from None


def _entries(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    (count,) = struct.unpack_from("<I", block, len(block) - 4)
    end = len(block) - 4 - 4 * count
    if end < 0:
        raise DataLossError(f"{count} restarts in {len(block)} bytes")
    key, at = b"", 0
    while at < end:
        shared, at = _read_number(block, at)
        other, at = _read_number(block, at)
        length, at = _read_number(block, at)
        middle = at + other
        if shared > len(key) or middle + length > end:
            raise DataLossError(f"an entry of {other} and {length} bytes at {at}")
        key = key[:shared] + block[at:middle]
        at = middle + length
        yield key, block[middle:at]


def _read_handle(data: bytes, at: int) -> tuple[Handle, int]:
    offset, at = _read_number(data, at)
    size, at = _read_number(data, at)
    return (offset, size), at


def _read_number(data: bytes, at: int) -> tuple[int, int]:
    try:
        return read_varint(data, at)
    except (IndexError, ValueError):
        raise DataLossError(f"no number at byte {at} of {len(data)}") from None


def _handle(value: bytes) -> Handle:
    return _read_handle(value, 0)[0]


# writing


class TableWriter:
    """Writes a table; keys must come sorted. What TensorFlow writes, byte by byte.

    Args:
      file: that is written to; it is empty.
    """

    def __init__(self, file: Sink) -> None:
        self._file = file
        self._at = 0
        self._block = _Block()
        self._index = _Block(restart=1)
        self._last: tuple[bytes, Handle] | None = None  # key and place of the block before

    def add(self, key: bytes, value: bytes) -> None:
        """Add an entry; keys come in rising order."""
        if self._last is not None:
            self._point(_between(self._last[0], key))
        self._block.add(key, value)
        if self._block.size >= _BLOCK:
            self._end_block()

    def finish(self) -> None:
        """Write what is left; the file is the caller's to close."""
        if self._block.size or not self._at:
            self._end_block()
        self._point(_after(self._last[0] if self._last else b""))
        ends = self._write(_Block().data), self._write(self._index.data)
        footer = b"".join(varints(handle) for handle in ends)
        self._file.write(footer.ljust(_FOOTER - len(_MAGIC), b"\0") + _MAGIC)

    def _end_block(self) -> None:
        self._last = self._block.last_key, self._write(self._block.data)
        self._block = _Block()

    def _point(self, key: bytes) -> None:
        if self._last is not None:
            self._index.add(key, varints(self._last[1]))
            self._last = None

    def _write(self, block: bytes) -> Handle:
        crc = masked_crc32c(block + b"\0")
        handle = self._at, len(block)
        self._file.write(block)
        self._file.write(_TRAILER.pack(0, crc))
        self._at += len(block) + _TRAILER.size
        return handle


class _Block:
    """A block that is being made."""

    def __init__(self, restart: int = _RESTART) -> None:
        self._parts: list[bytes] = []
        self._restarts = [0]
        self._restart = restart
        self._since = 0  # entries since the last that shares nothing
        self.size = 0
        self.last_key = b""

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self._since == self._restart:
            self._restarts.append(self.size)
            self._since = 0
        elif self._since:
            shared = _shared(self.last_key, key)
        head = varint(shared) + varint(len(key) - shared) + varint(len(value))
        self._parts += (head, key[shared:], value)
        self.size += len(head) + len(key) - shared + len(value)
        self._since += 1
        self.last_key = key

    @cached_property
    def data(self) -> bytes:
        places = struct.pack(f"<{len(self._restarts) + 1}I", *self._restarts, len(self._restarts))
        return b"".join((*self._parts, places))


def _shared(first: bytes, second: bytes) -> int:
    """Return how many bytes two keys have in common at their beginning."""
    limit = min(len(first), len(second))
    return next((i for i in range(limit) if first[i] != second[i]), limit)


def _between(last: bytes, following: bytes) -> bytes:
    """Return a short key that is not below `last`, and below `following`."""
    at = _shared(last, following)
    if at < min(len(last), len(following)) and last[at] < 255 and last[at] + 1 < following[at]:
        return last[:at] + bytes((last[at] + 1,))
    return last


def _after(last: bytes) -> bytes:
    """Return a short key that is not below `last`."""
    at = next((i for i, byte in enumerate(last) if byte != 255), None)
    return last if at is None else last[:at] + bytes((last[at] + 1,))
