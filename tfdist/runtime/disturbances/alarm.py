"""Alarm: calls that are made after a while, on one thread that lives as long as there are any."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Callable


class _Entry:
    """A call that is due; of two at the same time the first one that was asked for is first."""

    __slots__ = ("function", "number", "when")

    def __init__(self, when: float, number: int, function: Callable[[], None]) -> None:
        self.when, self.number = when, number
        self.function: Callable[[], None] | None = function

    def __lt__(self, other: _Entry) -> bool:
        return (self.when, self.number) < (other.when, other.number)


class Alarm:
    """Makes calls when their time has come."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: list[_Entry] = []
        self._numbers = itertools.count()
        self._is_running = False

    def at(self, when: float, function: Callable[[], None]) -> Callable[[], None]:
        """Call `function` at `when` (`time.monotonic`), on the alarm's thread.

        Returns:
          A function that calls that off; it may be called late, and more than once.
        """
        entry = _Entry(when, next(self._numbers), function)
        with self._changed:
            heapq.heappush(self._due, entry)
            self._changed.notify()
            is_new, self._is_running = not self._is_running, True
        if is_new:
            threading.Thread(target=self._run, name="tfdist-alarm", daemon=True).start()

        def call_off() -> None:
            with self._changed:
                entry.function = None
                self._changed.notify()

        return call_off

    def _run(self) -> None:
        while (function := self._next()) is not None:
            function()

    def _next(self) -> Callable[[], None] | None:
        """Return the next call when it is due; None if there is none left."""
        with self._changed:
            while self._due:
                first = self._due[0]
                left = first.when - time.monotonic()
                if first.function is None or left <= 0:
                    heapq.heappop(self._due)
                    if first.function is not None:
                        return first.function
                else:
                    self._changed.wait(left)
            self._is_running = False
            return None


ALARM = Alarm()
