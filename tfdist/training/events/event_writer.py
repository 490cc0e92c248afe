"""EventWriter: a thread that writes events to a file, while the program goes on.

The caller's threads and the writing one share a `_Line` of events. It is bounded: who adds to a
full one waits until there is room. The thread writes at first at once, then when the line is
half full, when the last time is so many seconds ago, and when somebody flushes. An error is raised
in the next call; one that no call is left to raise goes to the log.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import closing

from tfdist.errors import FailedPreconditionError, OpError, UnknownError
from tfdist.formats.events import EventFile

_LOG = logging.getLogger("tensorflow")


class EventWriter:
    """Writes events to a new file of a folder; ends with `close`, or with its process.

    There is no file and no thread before the first event.

    Args:
      folder: that the file lies in.
      max_queue: so many events may wait; 0 for any number.
      flush_secs: the longest time between an event and its writing, in seconds.
      suffix: of the file's name.
    """

    def __init__(
        self, folder: str | bytes, max_queue: int = 10, flush_secs: float = 120, suffix: str = ""
    ) -> None:
        self._line = _Line(lambda: EventFile(folder, suffix), max_queue, flush_secs)
        self._end = weakref.finalize(self, _Line.end, self._line)

    @property
    def is_closed(self) -> bool:
        """Return whether nothing more is written: it was closed, or has failed and said so."""
        return self._line.is_closing

    def add(self, event: bytes) -> None:
        """Add a serialized Event, which waits until there is room; none if the writer is closed.

        Raises:
          OpError: what was added before could not be written; the writer is closed now.
        """
        self._line.add(event)

    def flush(self) -> None:
        """Return when all events are in the file.

        Raises:
          OpError: they could not be written.
        """
        self._line.flush()

    def close(self) -> None:
        """Write what is left and end; nothing if that was done before.

        Raises:
          OpError: it could not be written.
        """
        self._line.close()
        self._end.detach()


class _Line:
    """The events that wait, and the thread that writes them."""

    def __init__(self, open_file: Callable[[], EventFile], most: int, patience: float) -> None:
        self._open_file, self._patience = open_file, patience
        self._most, self._enough = (most, (most + 1) // 2) if most > 0 else (sys.maxsize, 64)
        self._changed = threading.Condition()  # guards what follows
        self._events: list[bytes] = []
        self._due = 0.0  # when what waits is to be written
        self._added = self._done = self._wanted = 0  # written or, after an error, lost
        self._error: OpError | None = None
        self._thread: threading.Thread | None = None
        self.is_closing = False

    # in the callers' threads

    def add(self, event: bytes) -> None:
        """Append an event, as soon as there is room."""
        with self._changed:
            self._wait_until(lambda: len(self._events) < self._most or self.is_closing)
            if self.is_closing:
                _LOG.warning("the FileWriter is closed, and writes nothing before reopen()")
                return
            self._events.append(event)
            self._added += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="FileWriter", daemon=True)
                self._thread.start()
            elif len(self._events) == 1 or len(self._events) >= self._enough:
                self._changed.notify_all()

    def flush(self) -> None:
        """Wait until all that was added is written."""
        with self._changed:
            self._wanted = wanted = self._added
            self._changed.notify_all()
            self._wait_until(lambda: self._done >= wanted)

    def close(self) -> None:
        """Let the thread end, and wait for it."""
        with self._changed:
            self.is_closing = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
        with self._changed:
            self._raise_error()

    def end(self) -> None:
        """Close, and tell the log of an error: for who is dropped, or ends with the process."""
        try:
            if threading.current_thread() is not self._thread:  # which collects garbage too
                self.close()
        except OpError as error:
            _LOG.error("what a FileWriter had to write is lost: %s", error)
        self.is_closing = True

    def _wait_until(self, holds: Callable[[], bool]) -> None:
        self._raise_error()
        while not holds():
            if self._thread is None or not self._thread.is_alive():
                raise FailedPreconditionError(
                    "a FileWriter's thread is gone: after os.fork() a process needs its own writer"
                )
            self._changed.wait()
            self._raise_error()

    def _raise_error(self) -> None:
        """Raise what went wrong, once."""
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    # in its own thread

    def _run(self) -> None:
        try:
            with closing(self._open_file()) as file:
                while events := self._next():
                    file.append(events)
                    with self._changed:
                        self._done += len(events)
                        self._due = time.monotonic() + self._patience
                        self._changed.notify_all()
        except Exception as error:
            self._fail(error if isinstance(error, OpError) else UnknownError(repr(error)))

    def _next(self) -> list[bytes]:
        """Wait for events that are to be written now; none at the end."""
        with self._changed:
            while not (self.is_closing or self._is_time()):
                self._changed.wait(self._due - time.monotonic() if self._events else None)
            events, self._events = self._events, []
            self._changed.notify_all()  # there is room
            return events

    def _is_time(self) -> bool:
        waiting = len(self._events)
        if not waiting:
            return False
        is_wanted = self._wanted > self._done or waiting >= self._enough
        return is_wanted or time.monotonic() >= self._due

    def _fail(self, error: OpError) -> None:
        with self._changed:
            lost, self._done = self._added - self._done, self._added
            self._error = type(error)(f"{error.message} (events that are not written: {lost})")
            self.is_closing = True
            self._changed.notify_all()
