"""Messages over files of a folder that all hosts see: for batch systems, which have nothing else.

Each task has two files, one for each direction, and each has one writer, which adds lines at its
end: "worker-1.from" and "worker-1.to". A reader opens the file anew for each look, since a network
file system promises to show what was written before the writer closed only to who opens later; and
it makes a file that is not there yet, since such a system may remember for half a minute that there
was none. Only the user may enter the folder.

A task begins its files anew: what an earlier run left is not for it, nor of it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from tfdist.errors import InvalidArgumentError, PermissionDeniedError
from tfdist.launch.exchange.messages import LARGEST, Message, decode, encode
from tfdist.launch.task_names import file_stem

POLL = 0.1  # seconds between two looks
FROM, TO = ".from", ".to"


class FolderChannel:
    """One end of an exchange over two files.

    Args:
      read: file that messages come from; it need not exist yet.
      written: file that they go to.
    """

    interval: float | None = POLL
    reader: int | None = None  # it cannot be waited for
    is_open = True

    def __init__(self, read: Path, written: Path) -> None:
        self._read, self._written = read, written
        self._offset = 0

    def begin(self) -> None:
        """Forget what both ends have said so far; OSError where the files cannot be used."""
        os.close(_opened(self._written, os.O_WRONLY | os.O_TRUNC))
        descriptor = _opened(self._read, os.O_RDONLY)
        self._offset = os.fstat(descriptor).st_size
        os.close(descriptor)

    def say(self, message: Message) -> None:
        """Add a message; OSError where the file cannot be written."""
        with open(_opened(self._written, os.O_WRONLY | os.O_APPEND), "ab") as file:
            file.write(encode(message).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def heard(self) -> Sequence[Message]:
        """Return the messages that have come, without waiting.

        Raises:
          InvalidArgumentError: a line is no message.
          PermissionDeniedError: the file is not this user's.
        """
        try:
            descriptor = _opened(self._read, os.O_RDONLY)
        except FileNotFoundError:  # the whole folder is gone
            return []
        with open(descriptor, "rb") as file:
            if os.fstat(descriptor).st_uid != os.geteuid():
                raise PermissionDeniedError(f"{self._read} is refused: it is not of this user")
            if self._offset > os.fstat(descriptor).st_size:  # begun anew
                self._offset = 0
            file.seek(self._offset)
            text = file.read(LARGEST)
        whole = text[: text.rfind(b"\n") + 1]
        if len(text) == LARGEST and not whole:
            raise InvalidArgumentError(f"{self._read}: a message has more than {LARGEST} bytes")
        self._offset += len(whole)
        return [decode(line) for line in whole.splitlines() if line.strip()]

    def close(self) -> None:
        """Nothing to do: no file is kept open."""


def of_member(folder: Path, task: str) -> FolderChannel:
    """Return the end of the task "/job:J/task:I", whose files begin anew."""
    stem = file_stem(task)
    channel = FolderChannel(folder / (stem + TO), folder / (stem + FROM))
    channel.begin()
    return channel


def of_starter(folder: Path, task: str) -> FolderChannel:
    """Return the other end of the task's."""
    stem = file_stem(task)
    return FolderChannel(folder / (stem + FROM), folder / (stem + TO))


def private_folder(path: Path) -> Path:
    """Return a folder, made if need be, that is this user's alone.

    Raises:
      PermissionDeniedError: it is somebody else's, or others may enter it.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = path.lstat()
    if status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise PermissionDeniedError(
            f"{path} has to be a folder of this user alone (mode 0700): tasks of a cluster tell "
            "their addresses there"
        )
    return path


def remove_folder(path: Path) -> None:
    """Remove a folder of messages, though tasks may still look for some there."""
    going = path.with_name(f".{path.name}-{os.getpid()}")
    with contextlib.suppress(OSError):  # who looks makes a file: not any more
        path.rename(going)
    shutil.rmtree(going, ignore_errors=True)


def _opened(path: Path, flags: int) -> int:
    flags |= os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(path, flags, 0o600)
