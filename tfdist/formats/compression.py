"""Streams compressed as a whole, ZLIB or GZIP."""

from __future__ import annotations

import io
import zlib
from typing import Any, BinaryIO

from tfdist.errors import DataLossError
from tfdist.formats.files import BUFFER

# What zlib calls the form of the stream's head.
WINDOW_BITS = {"ZLIB": 15, "GZIP": 31}


class Inflated(io.RawIOBase):
    """What a compressed file holds, to be wrapped in a BufferedReader.

    A file that was cut off gives what can be had of it, without an error: the records in it say
    whether something is missing.
    """

    def __init__(self, file: BinaryIO, compression: str) -> None:
        self._file = file
        self._bits = WINDOW_BITS[compression]
        self._inflate = zlib.decompressobj(self._bits)
        self._input = b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` with what comes next; returns how much, 0 at the end."""
        while True:
            data = self._more(len(buffer))
            if data or not self._input:
                buffer[: len(data)] = data
                return len(data)

    def _more(self, size: int) -> bytes:
        """Return up to `size` bytes; maybe none, though more can be had."""
        self._input = self._input or self._file.read(BUFFER)
        if self._inflate.eof and self._input:  # GZIP files may follow each other
            self._inflate = zlib.decompressobj(self._bits)
        try:
            data = self._inflate.decompress(self._input, size)
        except zlib.error as error:
            raise DataLossError(_told(error)) from None
        self._input = self._inflate.unconsumed_tail or self._inflate.unused_data
        return data or (self._inflate.decompress(b"", size) if not self._input else b"")

    def close(self) -> None:
        """Close the file too."""
        self._file.close()
        super().close()


def _told(error: zlib.error) -> str:
    """Return zlib's "Error -3 while decompressing data: REASON" in TensorFlow's words."""
    number, _, reason = str(error).removeprefix("Error ").partition(" while decompressing data")
    return f"inflate() failed with error {number}{reason}"
