"""Coordinator: threads that stop together, and whose first error reaches the one that joins them.

Source: TF 1.15 API documentation, tf.train.Coordinator.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from tfdist.errors import OutOfRangeError

__all__ = ["Coordinator"]

# Seconds that a wait takes at most. A signal that comes just before a thread falls asleep does not
# wake it: its handler runs only when Python code runs again.
LOOK_UP = 0.25

# Seconds that threads get to stop after Ctrl-C.
AFTER_INTERRUPT = 0.7

_LOG = logging.getLogger("tensorflow")


class Coordinator:
    """Lets threads stop together.

    Any of them may ask for the stop, with an error or without; all are to look at `should_stop`,
    or to wait in `wait_for_stop`. Who started them calls `join`.

    Args:
      clean_stop_exception_types: errors that are no failure but an end, such as that of the
        data; OutOfRangeError by default.

    Example:
      >>> coordinator = Coordinator()
      >>> def work():
      ...     with coordinator.stop_on_exception():
      ...         raise ValueError("no more paper")
      >>> thread = threading.Thread(target=work)
      >>> thread.start()
      >>> coordinator.join([thread])
      Traceback (most recent call last):
      ValueError: no more paper
    """

    def __init__(self, clean_stop_exception_types: Any = None) -> None:
        if clean_stop_exception_types is None:
            clean_stop_exception_types = (OutOfRangeError,)
        self._clean_types = tuple(clean_stop_exception_types)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._traceback: Any = None
        self._joined = False
        self._threads: set[threading.Thread] = set()

    def request_stop(self, ex: Any = None) -> None:
        """Ask all threads to stop; the first call counts.

        Args:
          ex: why: an exception, or what `sys.exc_info()` returns; `join` raises it.

        Raises:
          TypeError: `ex` is neither.
          Exception: `ex`, if `join` has returned already and would not tell it any more.
        """
        error = _exception(ex)
        if isinstance(error, self._clean_types):
            error = None
        with self._lock:
            if error is not None and self._joined:
                raise error
            self._note(error)

    def _note(self, error: BaseException | None) -> None:
        if error is not None and not self._stop.is_set():
            _LOG.info("Error reported to Coordinator: %s, %s", type(error), error)
            self._error, self._traceback = error, error.__traceback__
        self._stop.set()

    def clear_stop(self) -> None:
        """Begin anew: no stop was asked for, no error told, nothing joined."""
        with self._lock:
            self._joined = False
            self._error = self._traceback = None
            self._stop.clear()

    def should_stop(self) -> bool:
        """Return whether a stop was asked for."""
        return self._stop.is_set()

    @contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """Turn an error in the block into a stop, which `join` tells of."""
        try:
            yield
        except BaseException as error:
            self.request_stop(error)

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Wait until a stop is asked for; returns whether it was.

        Args:
          timeout: seconds; None waits for ever.
        """
        until = None if timeout is None else time.monotonic() + timeout
        while not self._stop.wait(_slice(until)):
            if until is not None and time.monotonic() >= until:
                return self._stop.is_set()
        return True

    def register_thread(self, thread: threading.Thread) -> None:
        """Let `join` wait for a thread that is not named there."""
        with self._lock:
            self._threads.add(thread)

    def unregister_threads(self, threads: Iterable[threading.Thread]) -> None:
        """Let `join` no longer wait for threads that somebody else ends."""
        with self._lock:
            self._threads -= set(threads)

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Wait until all threads have ended; after a stop was asked for, not for ever.

        Ctrl-C asks for the stop.

        Args:
          threads: to wait for, besides those that are registered.
          stop_grace_period_secs: that they have between the stop and their end.
          ignore_live_threads: whether it is no error if some live on then.

        Raises:
          Exception: the first that a thread reported.
          RuntimeError: threads live on after the grace period.
          KeyboardInterrupt: Ctrl-C; the threads have stopped, those that could within a moment.
        """
        with self._lock:
            found = self._threads | set(threads or ())
        try:
            self._wait(found, stop_grace_period_secs)
        except KeyboardInterrupt:
            self.request_stop()
            join_threads(found, time.monotonic() + AFTER_INTERRUPT)
            raise
        with self._lock:
            self._joined = True
            self._threads = set()
        self.raise_requested_exception()
        _tell_of(found, ignore_live_threads)

    def _wait(self, threads: set[threading.Thread], grace: float) -> None:
        """Wait until all threads have ended, or `grace` seconds after the stop."""
        while _living(threads) and not self._stop.is_set():
            join_threads(threads, time.monotonic() + LOOK_UP)
        join_threads(threads, time.monotonic() + grace)

    @property
    def joined(self) -> bool:
        """Return whether `join` has returned."""
        return self._joined

    def raise_requested_exception(self) -> None:
        """Raise the error that was reported with the stop, if there was one."""
        with self._lock:
            error, traceback = self._error, self._traceback
        if error is not None:
            raise error.with_traceback(traceback)  # else each raising would make it longer


def _exception(ex: Any) -> BaseException | None:
    """Return the exception in what `request_stop` was given."""
    if isinstance(ex, tuple) and len(ex) == 3:
        _, ex, traceback = ex
        if isinstance(ex, BaseException):
            return ex.with_traceback(traceback)
    if ex is None or isinstance(ex, BaseException):
        return ex
    raise TypeError(
        f"a stop is requested with an exception, sys.exc_info() or nothing, not with {ex!r}"
    )


def _slice(until: float | None) -> float:
    return LOOK_UP if until is None else max(0.0, min(LOOK_UP, until - time.monotonic()))


def _living(threads: Iterable[threading.Thread]) -> list[threading.Thread]:
    return [thread for thread in threads if thread.is_alive()]


def join_threads(threads: Iterable[threading.Thread], until: float) -> None:
    """Wait for threads until a time (`time.monotonic`)."""
    for thread in _living(threads):
        while thread.is_alive() and time.monotonic() < until:
            thread.join(_slice(until))


def _tell_of(threads: Iterable[threading.Thread], is_ignored: bool) -> None:
    """Complain of threads that live on."""
    names = " ".join(sorted(thread.name for thread in _living(threads)))
    if names and not is_ignored:
        raise RuntimeError(f"Coordinator stopped with threads still running: {names}")
    if names:
        _LOG.info("Coordinator stopped with threads still running: %s", names)
