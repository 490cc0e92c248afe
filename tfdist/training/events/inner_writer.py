"""pywrap_tensorflow.EventsWriter, by which programs write events without a FileWriter."""

from __future__ import annotations

import os
from typing import Any

from tfdist.formats.events import EventFile

__all__ = ["EventsWriter"]


class EventsWriter:
    """Writes Event messages to a new file, each at once; there is no file before it is asked for.

    Args:
      file_prefix: path of the file without its end, which tells second and host; bytes.

    Raises:
      TypeError: it is no bytes.

    Example:
      >>> import tempfile
      >>> writer = EventsWriter(tempfile.mkdtemp().encode() + b"/rates")
      >>> writer.FileName().decode().split("/")[-1].startswith("rates.out.tfevents.")
      True
      >>> writer.Close()
    """

    def __init__(self, file_prefix: bytes) -> None:
        if not isinstance(file_prefix, bytes):
            raise TypeError(f"a path is bytes here, as compat.as_bytes gives it: {file_prefix!r}")
        self._folder, self._first = os.path.split(os.fsdecode(file_prefix))
        self._suffix = ""
        self._file: EventFile | None = None
        self._is_closed = False

    def InitWithSuffix(self, suffix: bytes) -> None:
        """Make the file, with an end of its name."""
        self._suffix = os.fsdecode(suffix)
        self._opened()

    def _opened(self) -> EventFile:
        if self._file is None:
            self._file = EventFile(self._folder, self._suffix, self._first)
        return self._file

    def FileName(self) -> bytes:
        """Return the path of the file."""
        return os.fsencode(self._opened().path)

    def WriteEvent(self, event: Any) -> None:
        """Add an Event.

        Raises:
          ValueError: the writer is closed.
        """
        if self._is_closed:
            raise ValueError(f"{os.fsdecode(self.FileName())} was closed before this event")
        self._opened().append([event.SerializeToString()])

    def Flush(self) -> None:
        """Do nothing: what was added is with the operating system."""

    def Close(self) -> None:
        """Close the file; nothing happens the second time."""
        if not self._is_closed:
            self._is_closed = True
            self._opened().close()
