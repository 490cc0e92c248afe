"""Event files: records of `Event` messages, which TensorBoard reads while they grow.

A file is named events.out.tfevents.SECONDS.HOST with the second of its first event; two writers
of one second and folder have different seconds all the same. Its first record tells the version.

Source: the TFRecord format, and the files that TF 1.15 writes.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from io import FileIO
from itertools import count
from typing import Any

from tfdist.errors import DataLossError, NotFoundError
from tfdist.formats.files import file_errors, local_path
from tfdist.formats.tfrecord import framed, read_records
from tfdist.protos import pb

_VERSION = "brain.Event:2"


def make_folder(name: str | bytes) -> None:
    """Make the folder that is to have event files, and those above it, if they are not there.

    Raises:
      OpError: it cannot be made, or is no folder.
    """
    with file_errors(name):
        os.makedirs(local_path(name), exist_ok=True)


class EventFile:
    """A new event file, to which events are added.

    Whatever was added is with the operating system. An addition that fails leaves no half record.

    Args:
      folder: that it lies in.
      suffix: of its name.
      first: the name's first word.

    Attributes:
      path: of the file.

    Raises:
      NotFoundError: there is no such folder.
    """

    def __init__(self, folder: str | bytes, suffix: str = "", first: str = "events") -> None:
        now = time.time()
        with file_errors(folder):
            self._file = _new_file(local_path(folder), int(now), suffix, first)
        self.path = str(self._file.name)
        self._end = 0
        try:
            self.append([pb.Event(wall_time=now, file_version=_VERSION).SerializeToString()])
        except BaseException:
            self._file.close()
            raise

    def append(self, events: Iterable[bytes]) -> None:
        """Add serialized events.

        Raises:
          NotFoundError: somebody has removed the file.
          OpError: they cannot be written, because the disk is full for example.
        """
        data = b"".join(map(framed, events))
        with file_errors(self.path):
            try:
                self._write(data)
            except OSError:
                with suppress(OSError):
                    self._file.truncate(self._end)
                raise
        self._end += len(data)
        if not os.fstat(self._file.fileno()).st_nlink:
            raise NotFoundError(f"{self.path}; somebody has removed it")

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) :]

    def close(self) -> None:
        """Close the file."""
        with file_errors(self.path):
            self._file.close()


def _new_file(folder: str, second: int, suffix: str, first: str) -> FileIO:
    host = socket.gethostname()
    for free in count(second):
        path = os.path.join(folder, f"{first}.out.tfevents.{free:010}.{host}{suffix}")
        with suppress(FileExistsError):
            return FileIO(path, "x")
    raise AssertionError  # there are more seconds than files


def summary_iterator(path: str | bytes) -> Iterator[Any]:
    """Yield the Event messages of an event file.

    Args:
      path: of the file.

    Raises:
      NotFoundError: there is no such file.
      DataLossError: it is damaged, or no event file; what stands before that was yielded.

    Example:
      >>> import tempfile
      >>> file = EventFile(tempfile.mkdtemp())
      >>> file.append([pb.Event(step=7).SerializeToString()])
      >>> file.close()
      >>> [(event.step, event.file_version) for event in summary_iterator(file.path)]
      [(0, 'brain.Event:2'), (7, '')]
    """
    for position, record in read_records(path):
        try:
            yield pb.parse(pb.Event, record)
        except ValueError as error:
            raise DataLossError(f"no event at {position} in {os.fsdecode(path)}: {error}") from None
