"""TFRecord files: records of any bytes, each with checksums of its length and of its data.

A record is its length as uint64, the masked crc32c of these 8 bytes, the data, the masked crc32c
of the data; all numbers are little-endian. A compressed file is compressed as a whole.
"""

from __future__ import annotations

import io
import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import closing
from typing import Any, BinaryIO, Self

import google_crc32c

from tfdist.errors import DataLossError, FailedPreconditionError
from tfdist.formats.compression import WINDOW_BITS, Inflated
from tfdist.formats.files import BUFFER, file_errors, local_path, open_file
from tfdist.formats.record_options import TFRecordOptions, compression_of

_MASK = 0xFFFFFFFF
_DELTA = 0xA282EAD8
_LENGTH, _CRC, _HEAD = struct.Struct("<Q"), struct.Struct("<I"), struct.Struct("<QI")
HEAD, FOOT = _HEAD.size, _CRC.size
_MOST = 10_000  # heads that are remembered

_crc32c = google_crc32c.value


def masked_crc32c(data: bytes) -> int:
    """Return the checksum of `data` as it stands in files: rotated by 15 bits, plus a constant."""
    return masked(_crc32c(data))


def masked(crc: int) -> int:
    """Return a crc32c as it stands in files."""
    return ((crc >> 15 | crc << 17) + _DELTA) & _MASK


def framed(record: bytes) -> bytes:
    """Return the bytes of a file that hold `record`.

    Example:
      >>> framed(b"abc")[:12].hex(" ", 4)
      '03000000 00000000 b099490e'
    """
    length = _LENGTH.pack(len(record))
    return b"".join(
        (length, _CRC.pack(masked_crc32c(length)), record, _CRC.pack(masked_crc32c(record)))
    )


def read_records(name: str | bytes, compression: str = "") -> Iterator[tuple[int, bytes]]:
    """Yield (position, data) of each record in a file; the position is that of the inflated file.

    Args:
      name: of the file.
      compression: "", "ZLIB" or "GZIP".

    Raises:
      NotFoundError: there is no such file.
      DataLossError: it is damaged, at the position that is told; what stands before it was
        yielded. An end within a record's first 12 bytes is taken for the end of the file.
    """
    with closing(open_file(name)) as file:
        stream = io.BufferedReader(Inflated(file, compression), BUFFER) if compression else file
        yield from _records(stream, os.fsdecode(name))


def _records(stream: io.BufferedReader[Any], name: str) -> Iterator[tuple[int, bytes]]:
    lengths = _Lengths()  # of the heads that were seen: many files have records of few lengths
    data, at, begin = b"", 0, 0  # a piece of the file, a place in it, its own place in the file
    while True:
        head = data[at : at + HEAD]
        length = lengths.get(head)
        if length is None:
            if len(head) < HEAD:
                more = stream.read1(BUFFER)
                if not more:
                    return
                data, begin, at = data[at:] + more, begin + at, 0
                continue
            length = lengths.learn(head)
            if length is None:
                raise _lost("corrupted", begin + at, name, "its length has another checksum")
        start, end = at + HEAD, at + HEAD + length
        record = data[start:end]
        foot = data[end : end + FOOT]
        if len(foot) < FOOT:
            data, begin, at = data[at:], begin + at, 0
            data += stream.read(max(HEAD + length + FOOT - len(data), BUFFER))
            if len(data) < HEAD + length + FOOT:
                why = f"of {length} bytes, the file ends before it"
                raise _lost("truncated", begin, name, why)
            continue
        crc = _crc32c(record)
        if foot != _CRC.pack(((crc >> 15 | crc << 17) + _DELTA) & _MASK):
            raise _lost("corrupted", begin + start, name, "its data have another checksum")
        yield begin + at, record
        at = end + FOOT


class _Lengths(dict[bytes, int]):
    """The lengths of records by their heads, whose checksums were right."""

    def learn(self, head: bytes) -> int | None:
        """Return the length in a new head; None if its checksum is another."""
        length, crc = _HEAD.unpack(head)
        if crc != masked_crc32c(head[:8]):
            return None
        if len(self) > _MOST:
            self.clear()
        self[head] = length
        return int(length)


def _lost(how: str, position: int, name: str, why: str) -> DataLossError:
    return DataLossError(f"{how} record at {position} in {name}: {why}")


def tf_record_iterator(path: str | bytes, options: Any = None) -> Iterator[bytes]:
    """Yield the records of a TFRecord file.

    Args:
      path: of the file.
      options: a `TFRecordOptions`, or a compression ("", "ZLIB", "GZIP"), if it is compressed.

    Raises:
      NotFoundError: there is no such file.
      DataLossError: it is damaged; see `read_records`.
    """
    for _, data in read_records(path, compression_of(options)):
        yield data


class TFRecordWriter:
    """Writes records to a file, which is emptied first; a context manager that closes it.

    Args:
      path: of the file.
      options: a `TFRecordOptions`, or a compression ("", "ZLIB", "GZIP").

    Raises:
      NotFoundError: the folder does not exist.

    Example:
      >>> import tempfile
      >>> path = tempfile.mkstemp()[1]
      >>> with TFRecordWriter(path) as writer:
      ...     writer.write(b"one")
      ...     writer.write(b"two")
      >>> list(tf_record_iterator(path))
      [b'one', b'two']
    """

    def __init__(self, path: str | bytes, options: Any = None) -> None:
        self._path = path
        self._deflate: Any = _deflater(options)
        with file_errors(path):
            self._file: BinaryIO | None = open(local_path(path), "wb", BUFFER)

    def write(self, record: bytes) -> None:
        """Write one record.

        Raises:
          TypeError: it is not bytes.
          FailedPreconditionError: the writer was closed.
        """
        if not isinstance(record, bytes):
            raise TypeError(f"expected bytes, {type(record).__name__} found")
        self._put(framed(record))

    def _put(self, data: bytes) -> None:
        file = self._opened()
        with file_errors(self._path):
            file.write(self._deflate.compress(data) if self._deflate else data)

    def flush(self) -> None:
        """Hand all records on to the operating system."""
        file = self._opened()
        with file_errors(self._path):
            if self._deflate:
                file.write(self._deflate.flush(zlib.Z_SYNC_FLUSH))
            file.flush()

    def close(self) -> None:
        """Write what is left and close the file; nothing if that was done before."""
        file, self._file = self._file, None
        if file is None:
            return
        with file_errors(self._path), file:
            if self._deflate:
                file.write(self._deflate.flush())

    def _opened(self) -> BinaryIO:
        if self._file is None:
            raise FailedPreconditionError("Writer not initialized or previously closed")
        return self._file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            self.close()


def _deflater(options: Any) -> Any:
    """Return what compresses a file as `options` say; None if it is not compressed."""
    compression = compression_of(options)
    if not compression:
        return None
    chosen = options if isinstance(options, TFRecordOptions) else TFRecordOptions(compression)
    bits = chosen.window_bits or WINDOW_BITS["ZLIB"]
    return zlib.compressobj(
        level=_or(chosen.compression_level, zlib.Z_DEFAULT_COMPRESSION),
        method=_or(chosen.compression_method, zlib.DEFLATED),
        wbits=bits + WINDOW_BITS[compression] - WINDOW_BITS["ZLIB"],
        memLevel=_or(chosen.mem_level, zlib.DEF_MEM_LEVEL),
        strategy=_or(chosen.compression_strategy, zlib.Z_DEFAULT_STRATEGY),
    )


def _or(value: int | None, default: int) -> int:
    return default if value is None else value
