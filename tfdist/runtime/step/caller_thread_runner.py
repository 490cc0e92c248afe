"""`CallerThreadRunner`: threads that wait for a step run what is to be done for it.

A partial run goes on in the calls that feed and fetch it; between them it has no thread.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from tfdist.runtime.step.interrupts import LOOK_UP


class CallerThreadRunner:
    """Resumes a step, as an `async_driver.Runner`, on the threads that are in `run_until`."""

    def __init__(self) -> None:
        self._due: deque[Callable[[], None]] = deque()
        self._later: list[tuple[float, Callable[[], None]]] = []
        # reentrant: handlers of signals submit, too
        self._changed = threading.Condition(threading.RLock())

    def submit(self, function: Callable[[], None], is_light: bool = True) -> None:
        """See `Runner.submit`."""
        with self._changed:
            self._due.append(function)
            self._changed.notify_all()

    def later(self, seconds: float, function: Callable[[], None]) -> Callable[[], None]:
        """See `Runner.later`."""
        entry = (time.monotonic() + seconds, function)
        with self._changed:
            self._later.append(entry)

        def call_off() -> None:
            with self._changed:
                if entry in self._later:
                    self._later.remove(entry)

        return call_off

    def run_until(self, is_over: Callable[[], bool], seconds: float | None = None) -> bool:
        """Run what is submitted until `is_over()`, and what is there then.

        Args:
          is_over: asked after everything that ran.
          seconds: to wait at most.

        Returns:
          Whether it was over in time.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            function = self._next(is_over, deadline)
            if function is not None:
                function()
            elif is_over():
                return True
            elif deadline is not None and time.monotonic() >= deadline:
                return False

    def _next(
        self, is_over: Callable[[], bool], deadline: float | None
    ) -> Callable[[], None] | None:
        """Return what is to run now; waits a little if there is nothing."""
        with self._changed:
            if not self._due and not is_over():
                left = LOOK_UP if deadline is None else deadline - time.monotonic()
                self._changed.wait(max(0.0, min(LOOK_UP, left)))
            now = time.monotonic()
            self._due += [function for when, function in self._later if when <= now]
            self._later = [entry for entry in self._later if entry[0] > now]
            return self._due.popleft() if self._due else None
