"""How many threads NumPy's matrix products take in a step: all processors, or one.

All is right on an idle machine. Where other programs, or other tasks of this process, keep the
processors busy, the threads of one product wait for each other, and one thread is many times
faster. So both are tried, per kind of step, and the faster one is kept and tried again later.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_UNTUNED_RUNS = 2  # the first is interpreted, the second compiles
_TRIALS = 3  # of each way before there is a choice
_PROBE_EVERY = 50  # runs, times how much slower the other way was last seen
_SHORT = 100e-6  # seconds: below, NumPy uses one thread anyway


class ThreadTuner:
    """Chooses, for one kind of step, between all threads (False) and a single one (True)."""

    def __init__(self) -> None:
        self._seconds = {False: math.inf, True: math.inf}
        self._runs = 0
        self._next_probe = _PROBE_EVERY

    def choose(self) -> bool:
        """Return whether the next run should take a single thread."""
        trial = self._runs - _UNTUNED_RUNS
        if trial < _TRIALS:
            return False
        if trial < 2 * _TRIALS:
            return self._seconds[False] > _SHORT
        single = self._seconds[True] < self._seconds[False]
        return single ^ (self._runs >= self._next_probe)

    def record(self, single: bool, seconds: float) -> None:
        """Take note of how long a run took; a stray long one counts little."""
        self._runs += 1
        if self._runs <= _UNTUNED_RUNS:
            return
        before = self._seconds[single]
        if before < math.inf:
            seconds = 0.75 * before + 0.25 * min(seconds, 4 * before)
        self._seconds[single] = seconds
        if self._runs > self._next_probe:
            slower, faster = max(self._seconds.values()), min(self._seconds.values())
            ratio = min(slower / faster, 100) if slower < math.inf else 1
            self._next_probe = self._runs + int(_PROBE_EVERY * ratio)


@contextmanager
def threads(single: bool) -> Iterator[None]:
    """Let NumPy's products take a single thread while the context lasts, if `single`."""
    libraries = _libraries() if single else ()
    before = [library.num_threads for library in libraries]
    for library in libraries:
        library.set_num_threads(1)
    try:
        yield
    finally:
        for library, number in zip(libraries, before, strict=True):
            library.set_num_threads(number)


@cache
def _libraries() -> tuple[Any, ...]:
    from threadpoolctl import ThreadpoolController

    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)
