"""Event files that nodes write, not the program itself: tf.contrib.summary."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tfdist.base.aliases import TaskResource
from tfdist.errors import NotFoundError


class SummaryWriter:
    """An event file of a task, None until it is opened and after it is closed.

    Args:
      name: for messages.
      container: in which it is found.
    """

    def __init__(self, name: str, container: str = "") -> None:
        self.name, self._container = name, container or "localhost"
        self._file: Any = None
        self._waiting: list[bytes] = []
        self._most = 0
        self._lock = threading.Lock()

    def open(self, make: Callable[[], TaskResource], most: int) -> None:
        """Open the file, if none is open.

        Args:
          make: returns the file, with `append` and `close`.
          most: how many events wait for company before they are written.
        """
        with self._lock:
            if self._file is None:
                self._file, self._most = make(), most

    def add(self, event: bytes) -> None:
        """Add an event.

        Raises:
          NotFoundError: no file is open.
        """
        with self._lock:
            self._check()
            self._waiting.append(event)
            if len(self._waiting) > self._most:
                self._write()

    def flush(self) -> None:
        """Write what waits; NotFoundError if no file is open."""
        with self._lock:
            self._check()
            self._write()

    def close(self) -> None:
        """Write what waits, and close the file."""
        with self._lock:
            if self._file is not None:
                self._write()
                self._file.close()
            self._file = None

    def __del__(self) -> None:
        self.close()

    def _check(self) -> None:
        if self._file is None:
            raise NotFoundError(
                f"Resource {self._container}/{self.name}/N10tensorflow22SummaryWriterInterfaceE "
                "does not exist; the operation that create_file_writer makes opens it: "
                "tf.contrib.summary.initialize() runs it"
            )

    def _write(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._file.append(waiting)
