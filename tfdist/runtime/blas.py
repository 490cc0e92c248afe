"""How many threads NumPy's matrix products take in a step: all processors, or one.

All is right on an idle machine. Where other programs, or other tasks of this process, keep the
processors busy, the threads of one product wait for each other, and one thread is many times
faster. So both are tried, per kind of step, and the faster one is kept and tried again later.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
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


def tuner_for(ops: Iterable[Any]) -> ThreadTuner | None:
    """Return a tuner for a step of these ops; None if none of them takes several threads."""
    return ThreadTuner() if any(op_def.takes_threads for op_def in ops) else None


class Tuned:
    """One run of a tuned step that computes now and then: a context each time."""

    def __init__(self, tuner: ThreadTuner) -> None:
        self._tuner = tuner
        self._single = tuner.choose()
        self._seconds = 0.0

    def __enter__(self) -> None:
        self._threads = threads(self._single)
        self._threads.__enter__()
        self._start = time.perf_counter()

    def __exit__(self, *error: Any) -> None:
        self._seconds += time.perf_counter() - self._start
        self._threads.__exit__(*error)

    def record(self) -> None:
        """Tell the tuner how long the run computed."""
        self._tuner.record(self._single, self._seconds)


class _Threads:
    """NumPy's thread numbers: one while some step asks for it, then what they were before.

    The numbers belong to the process. Steps overlap, so only the first that asks takes note of
    what they were, and only the last puts it back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._askers = 0
        self._before: list[int] = []

    @contextmanager
    def single(self) -> Iterator[None]:
        """Let products take a single thread while the context lasts."""
        with self._lock:
            if not self._askers:
                self._before = [library.num_threads for library in _libraries()]
                self._set([1] * len(self._before))
            self._askers += 1
        try:
            yield
        finally:
            with self._lock:
                self._askers -= 1
                if not self._askers:
                    self._set(self._before)

    def _set(self, numbers: list[int]) -> None:
        for library, number in zip(_libraries(), numbers, strict=True):
            library.set_num_threads(number)


_THREADS = _Threads()


def threads(single: bool) -> AbstractContextManager[None]:
    """Let NumPy's products take a single thread while the context lasts, if `single`."""
    return _THREADS.single() if single else nullcontext()


@cache
def _libraries() -> tuple[Any, ...]:
    from threadpoolctl import ThreadpoolController

    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)
