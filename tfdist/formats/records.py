"""What readers give of one file: (key, record) after (key, record).

Each function is a generator that opens its file when the first record is asked for, and closes it
at the end, or when it is closed itself.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from tfdist.formats.compression import WINDOW_BITS, Inflated
from tfdist.formats.files import BUFFER, file_errors, open_file, read_file
from tfdist.formats.tfrecord import read_records

Records = Iterator[tuple[bytes, bytes]]


def text_lines(name: bytes, skip: int = 0) -> Records:
    """Yield the lines of a text file, each with the key `file:number`, counted from 1.

    Args:
      name: of the file.
      skip: how many lines to leave out first.
    """
    number = 0
    with closing(open_file(name)) as file, file_errors(name):
        for _ in zip(range(skip), file, strict=False):
            number += 1
        while data := file.read1(BUFFER):
            if not data.endswith(b"\n"):
                data += file.readline()
            lines = data.removesuffix(b"\n").split(b"\n")
            if b"\r" in data:
                lines = [line.removesuffix(b"\r") for line in lines]
            for place, line in enumerate(lines, number + 1):
                yield b"%b:%d" % (name, place), line
            number += len(lines)


def whole_file(name: bytes) -> Records:
    """Yield all that is in a file, with the file's name as its key."""
    yield name, read_file(name)


def itself(work: bytes) -> Records:
    """Yield what is asked for, as key and as record."""
    yield work, work


def tf_records(name: bytes, compression: str) -> Records:
    """Yield the records of a TFRecord file, each with the key `file:position`."""
    for position, data in read_records(name, compression):
        yield b"%b:%d" % (name, position), data


def fixed_length_records(
    name: bytes, record: int, header: int, footer: int, hop: int, compression: str
) -> Records:
    """Yield the records of a file of equally long ones, each with the key `file:number`, from 0.

    Args:
      name: of the file.
      record: bytes in each of them.
      header: bytes at the beginning of the file that belong to none.
      footer: bytes at its end that belong to none.
      hop: bytes from one to the next.
      compression: "", "ZLIB" or "GZIP".
    """
    with closing(open_file(name)) as file, file_errors(name):
        stream: Any = file
        if compression in WINDOW_BITS:
            stream = io.BufferedReader(Inflated(file, compression), BUFFER)
        stream.read(header)
        for number, data in enumerate(_windows(stream, record, footer, hop)):
            yield b"%b:%d" % (name, number), data


def _windows(stream: Any, record: int, footer: int, hop: int) -> Iterator[bytes]:
    """Yield `record` bytes, and again `hop` bytes further on, as long as `footer` bytes follow."""
    window = stream.read(record + footer)
    while len(window) == record + footer:
        yield window[:record]
        if hop > len(window):
            stream.read(hop - len(window))
        window = window[hop:] + stream.read(min(hop, record + footer))
