"""Files that are written so that they are there whole or not at all.

What is written has a temporary name, NAME.tempstate-MARK, until all of it is on the disk. Whoever
writes holds a lock on it: a file of such a name without a lock was left by a process that died;
`leftovers` sees to it when the next file is written to its folder.
"""

from __future__ import annotations

import fcntl
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, cast

from tfdist.formats.checkpoint.files import sync_folder
from tfdist.formats.checkpoint.leftovers import tidy
from tfdist.formats.files import BUFFER, file_errors, local_path

_WRITEBACK = 8 << 20  # bytes that are brought to the disk while more are made


class PendingFile:
    """A file that is written under a temporary name; `commit` gives it its own.

    Args:
      name: that it is to have.
      ending: of its temporary name.

    Raises:
      NotFoundError: its folder does not exist.
    """

    def __init__(self, name: str, ending: str) -> None:
        self.name, self.ending = name, ending
        self._path = local_path(name)
        with file_errors(name):
            self.file = _locked(self._path + ending)
        self._temporary: str | None = self._path + ending
        self._begun = 0  # bytes whose writeback has begun

    def write(self, data: Any) -> None:
        """Write bytes, or an array of uint8."""
        with file_errors(self.name):
            self.file.write(data)
            if self.file.tell() - self._begun > _WRITEBACK:
                self._begin_writeback()

    def _begin_writeback(self) -> None:
        """Let the disk begin with what was written, while the rest is made."""
        self.file.flush()
        if hasattr(os, "posix_fadvise"):
            start, self._begun = self._begun, self.file.tell()
            # Linux writes what it is told to be able to do without, and waits for nothing.
            with suppress(OSError):
                os.posix_fadvise(
                    self.file.fileno(), start, self._begun - start, os.POSIX_FADV_DONTNEED
                )

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
    tidy(os.path.dirname(local_path(names[-1])))
    ending = f".tempstate-{uuid.uuid4().hex}"
    try:
        for name in names:
            files.append(PendingFile(name, ending))
        yield files
        for file in files:
            file.settle()
        for file in files:
            file.commit()
        sync_folder(names[-1])
    finally:
        for file in reversed(files):  # an index without data would seem to be about to be there
            file.abandon()


def _locked(path: str) -> BinaryIO:
    """Return a new file, with a lock on it."""
    while True:
        file = open(path, "xb", BUFFER)
        with suppress(OSError):  # no locks in this file system: then nothing is removed either
            fcntl.flock(file, fcntl.LOCK_EX)
        if os.path.exists(path):
            return file
        file.close()  # somebody took it for one that was left behind, before it had its lock
