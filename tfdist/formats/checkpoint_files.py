"""Files of a checkpoint: read at any place; and written so that they are there whole or not at all.

What is written has a temporary name, NAME.tempstate..., until all of it is on the disk. Whoever
writes holds a lock on it: a file of such a name without a lock was left by a process that died,
and is removed when the next file is written to its folder.
"""

from __future__ import annotations

import fcntl
import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, Self, cast

import numpy as np

from tfdist.errors import DataLossError, NotFoundError
from tfdist.formats.files import BUFFER, file_errors, local_path

_TEMPORARY = re.compile(r"\.tempstate-[0-9a-f]{32}$")  # TensorFlow's have no hyphen, and no locks


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


class PendingFile:
    """A file that is written under a temporary name; `commit` gives it its own.

    Args:
      name: that it is to have.

    Raises:
      NotFoundError: its folder does not exist.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._path = local_path(name)
        _remove_left_behind(os.path.dirname(self._path))
        with file_errors(name):
            self.file, temporary = _locked(self._path)
        self._temporary: str | None = temporary

    def write(self, data: Any) -> None:
        """Write bytes, or an array of uint8."""
        with file_errors(self.name):
            self.file.write(data)

    def settle(self) -> None:
        """Bring what was written to the disk."""
        with file_errors(self.name):
            self.file.flush()
            os.fsync(self.file.fileno())

    def commit(self) -> None:
        """Give the file its name; it must have been settled."""
        with file_errors(self.name):
            os.replace(cast(str, self._temporary), self._path)
        self._temporary = None
        self.file.close()

    def abandon(self) -> None:
        """Remove the file, unless it has its name."""
        temporary, self._temporary = self._temporary, None
        if temporary is not None:
            with suppress(OSError):
                os.unlink(temporary)
            with suppress(OSError):  # the disk may be full
                self.file.close()


@contextmanager
def pending_files(*names: str) -> Iterator[list[PendingFile]]:
    """Open files to be written; at the end they get their names, in this order, or none of them."""
    files: list[PendingFile] = []
    try:
        for name in names:
            files.append(PendingFile(name))
        yield files
        for file in files:
            file.settle()
        for file in files:
            file.commit()
        sync_folder(names[-1])
    finally:
        for file in files:
            file.abandon()


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


def _locked(path: str) -> tuple[BinaryIO, str]:
    """Return a new file that is written for `path`, with a lock on it, and its temporary name."""
    while True:
        temporary = f"{path}.tempstate-{uuid.uuid4().hex}"
        file = open(temporary, "xb", BUFFER)
        with suppress(OSError):  # no locks in this file system: then nothing is removed either
            fcntl.flock(file, fcntl.LOCK_EX)
        if os.path.exists(temporary):
            return file, temporary
        file.close()  # somebody took it for one that was left behind, before it had its lock


def _remove_left_behind(folder: str) -> None:
    """Remove temporary files that nobody writes any more."""
    with suppress(OSError), os.scandir(folder or ".") as entries:
        for path in [each.path for each in entries if _TEMPORARY.search(each.name)]:
            with suppress(OSError), open(path, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(path)


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
