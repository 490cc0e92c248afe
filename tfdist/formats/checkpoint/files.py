"""Files of a checkpoint: their names, and how they are read at any place."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any, Self

import numpy as np

from tfdist.errors import DataLossError, NotFoundError
from tfdist.formats.files import file_errors, local_path


def index_name(prefix: str) -> str:
    """Return the name of a checkpoint's index."""
    return f"{prefix}.index"


def data_name(prefix: str, shard: int, shards: int) -> str:
    """Return the name of one of a checkpoint's files of data."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


class FileSource:
    """A file to be read at any place. It is not mapped: a map of a file that shrinks kills.

    Raises:
      NotFoundError: there is none.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        with file_errors(name):
            self._file = os.open(local_path(name), os.O_RDONLY | os.O_CLOEXEC)
            self.size = os.fstat(self._file).st_size

    def read_at(self, offset: int, size: int) -> bytes:
        """Return `size` bytes; DataLossError if the file ends before them."""
        self.require(offset, size)
        data = np.empty(size, np.uint8)
        self.read_into(offset, data)
        return data.tobytes()

    def read_into(self, offset: int, flat: Any) -> None:
        """Fill an array of uint8; DataLossError if the file ends before it is full."""
        self.require(offset, len(flat))
        view = memoryview(flat)
        while len(view):
            with file_errors(self.name):
                count = os.preadv(self._file, [view], offset)
            if not count:
                self.require(offset, len(view), os.fstat(self._file).st_size)
            view = view[count:]
            offset += count

    def require(self, offset: int, size: int, file_size: int | None = None) -> None:
        """Raise DataLossError if the file ends before `size` bytes at `offset`."""
        file_size = self.size if file_size is None else file_size
        if offset < 0 or size < 0 or offset + size > file_size:
            raise DataLossError(
                f"{self.name} is truncated: {size} bytes at {offset} are wanted, and it has "
                f"{file_size}"
            )

    def close(self) -> None:
        """Close the file."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def make_folder(name: str) -> None:
    """Make the folder of a file, unless it is there; NotFoundError if the one above is not."""
    folder = os.path.dirname(local_path(name))
    if folder:
        with file_errors(folder), suppress(FileExistsError):
            os.mkdir(folder)


def sync_folder(name: str) -> None:
    """Bring the names in the folder of a file to the disk."""
    with suppress(OSError):  # a courtesy that not all file systems know
        folder = os.open(os.path.dirname(local_path(name)) or ".", os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def missing(prefix: str) -> NotFoundError:
    """Return the error of a checkpoint that is not there; it tells which there are."""
    text = (
        "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
        f"{prefix}"
    )
    folder = os.path.dirname(local_path(prefix)) or "."
    try:
        names = sorted(
            each.removesuffix(".index") for each in os.listdir(folder) if each.endswith(".index")
        )
    except OSError as error:
        return NotFoundError(f"{text}: {folder}; {error.strerror}")
    there = f"checkpoints there: {', '.join(names[-8:])}" if names else "no checkpoints there"
    return NotFoundError(f"{text}; {there}")
