"""Messages over files of a folder that all hosts see: for batch systems, which have nothing else.

Each task has two files, one for each direction, and each has one writer, which adds lines at its
end: "worker-1.from" and "worker-1.to". A reader opens the file anew for each look, since a network
file system promises to show what was written before the writer closed only to who opens later.
Only the user may enter the folder. A run has a folder of its own, so that no message of an earlier
one is read.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tfdist.errors import InvalidArgumentError, PermissionDeniedError
from tfdist.launch.exchange.messages import LARGEST, Message, decode, encode

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

    def say(self, message: Message) -> None:
        """Add a message; OSError where the file cannot be written."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(self._written, flags, 0o600), "ab") as file:
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
            descriptor = os.open(self._read, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return []
        with open(descriptor, "rb") as file:
            if os.fstat(descriptor).st_uid != os.geteuid():
                raise PermissionDeniedError(f"{self._read} is refused: it is not of this user")
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
    """Return the end of the task "/job:J/task:I"."""
    stem = _stem(task)
    return FolderChannel(folder / (stem + TO), folder / (stem + FROM))


def of_starter(folder: Path, task: str) -> FolderChannel:
    """Return the other end of the task's."""
    stem = _stem(task)
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


def _stem(task: str) -> str:
    return task.removeprefix("/job:").replace("/task:", "-")
