"""How many threads matrix products and convolutions take in a step: all processors, or one.

On an idle machine all are faster, if the products are large. Where other programs, or other tasks
of this process, keep the processors busy, the threads of one product wait for each other, and one
thread is many times faster. So both are tried, per kind of step, and tried again later.

Threads that wait for each other keep processors busy, and go on asking for work for a while after
each product, which slows down others more than themselves. So there have to be good reasons for
more than one: it is clearly faster, and the thread of the step hardly ever has to wait for a
processor, or for Python's lock, which says the same: others compute.

oneDNN, where it computes convolutions and large products of float32, has threads of its own, and
they would meet those of NumPy's library, which ask for work long after each small product: such a
step takes up to four times as long. So a step with something for oneDNN leaves all that NumPy
computes in it to one thread.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Protocol

from tfdist.base import onednn
from tfdist.base.dtypes import float32
from tfdist.graph.records import Node

_FOR_ONEDNN = {("products", float32), ("convolutions", float32)}
_UNTUNED_RUNS = 2  # the first is interpreted, the second compiles
_TRIALS = 3  # of each way before there is a choice, and of the other one later
_PROBE_EVERY = 0.5  # seconds of computing, times how much slower the other way was last seen
_SHORT = 30e-6  # seconds: below, kernels take one thread anyway
_GAIN = 1.05  # how much faster all threads have to be than one
_CROWDED = 0.1  # part of their time that steps wait for a processor where there are too few


class ThreadTuner:
    """Chooses, for one kind of step, between all threads (False) and a single one (True)."""

    def __init__(self, tuned: Iterable[OneThread] = (), always: Iterable[OneThread] = ()) -> None:
        """Choose for the kernels of some libraries.

        Args:
          tuned: what limits these to one thread.
          always: what every run limits.
        """
        self._tuned, self._always = tuple(tuned), tuple(always)
        self._seconds = {False: math.inf, True: math.inf}
        self._runs = 0
        self._computed = 0.0  # seconds, in all runs
        self._next_probe = _PROBE_EVERY
        self._probed: list[float] = []
        self._singles = 0
        self._waits = 0.0  # the part of its time that a run on one thread waits for a processor

    def limits(self, single: bool) -> list[OneThread]:
        """Return what a run has to enter that takes a single thread, or all."""
        return [*(self._tuned if single else ()), *self._always]

    def choose(self) -> bool:
        """Return whether the next run should take a single thread."""
        trial = self._runs - _UNTUNED_RUNS
        if trial < 1:
            return False
        if trial < 1 + _TRIALS:
            return self._seconds[False] > _SHORT
        if self._waits > _CROWDED:
            return True
        if trial < 2 * _TRIALS:
            return False
        single = self._seconds[True] < _GAIN * self._seconds[False]
        return single ^ (self._computed >= self._next_probe)

    def record(self, single: bool, seconds: float, waited: float = 0.0) -> None:
        """Take note of how long a run took; a stray long one counts little.

        Args:
          single: what was chosen for it.
          seconds: how long it computed.
          waited: seconds of that in which it waited for a processor.
        """
        if single and seconds > 0:  # on several, a run waits for its own threads as well
            self._learn_waiting(min(max(waited / seconds, 0.0), 1.0))
        is_probe = self._computed >= self._next_probe
        self._runs += 1
        self._computed += seconds
        if is_probe:
            self._record_probe(single, seconds)
        elif self._runs > _UNTUNED_RUNS:
            self._learn(single, seconds)

    def _learn_waiting(self, share: float) -> None:
        """Take note of what part of its time a run waited; of the first few the best one counts."""
        self._singles += 1
        if self._singles <= _TRIALS:
            self._waits = share if self._singles == 1 else min(share, self._waits)
        else:
            self._waits += 0.1 * (share - self._waits)

    def _record_probe(self, single: bool, seconds: float) -> None:
        """Take note of a run in the other way: the best of a few counts, for threads may sleep."""
        self._probed.append(seconds)
        if len(self._probed) < _TRIALS:
            return
        self._learn(single, min(self._probed))
        self._probed.clear()
        slower, faster = max(self._seconds.values()), min(self._seconds.values())
        ratio = min(slower / faster, 100) if slower < math.inf else 1
        self._next_probe = self._computed + _PROBE_EVERY * ratio

    def _learn(self, single: bool, seconds: float) -> None:
        before = self._seconds[single]
        if before < math.inf:
            weight = 0.5 if seconds < before else 0.1  # what was slow may have been held up
            seconds = before + weight * (min(seconds, 2 * before) - before)
        self._seconds[single] = seconds


def tuner_for(nodes: Iterable[Node]) -> ThreadTuner | None:
    """Return a tuner for a step of these nodes; None if none of them takes several threads."""
    heavy = [node for node in nodes if node.op_def.takes_threads]
    if not heavy:
        return None
    if onednn.is_available() and any(map(_is_for_onednn, heavy)):
        return ThreadTuner([ONE_FOR_ONEDNN], always=[ONE_FOR_BLAS])
    return ThreadTuner([ONE_FOR_BLAS])


def _is_for_onednn(node: Node) -> bool:
    return (node.op_def.takes_threads, node.attrs.get("T")) in _FOR_ONEDNN


class Tuned:
    """One run of a tuned step that computes now and then: a context each time."""

    __slots__ = ("_limits", "_seconds", "_single", "_start", "_tuner", "_waited")

    def __init__(self, tuner: ThreadTuner) -> None:
        self._tuner = tuner
        self._single = tuner.choose()
        self._limits = tuner.limits(self._single)
        self._seconds = self._waited = 0.0
        if self._limits:
            find_libraries()

    def __enter__(self) -> None:
        self._start = time.perf_counter()
        self._waited += time.thread_time()
        for limit in self._limits:
            limit.__enter__()

    def __exit__(self, *error: object) -> None:
        for limit in self._limits:
            limit.__exit__()
        self._seconds += time.perf_counter() - self._start
        self._waited -= time.thread_time()

    def record(self, idle: float = 0.0) -> None:
        """Tell the tuner how long the run computed, and waited for a processor meanwhile.

        Args:
          idle: seconds in which it only waited for others, which says nothing about threads.
        """
        seconds = self._seconds - idle
        self._tuner.record(self._single, seconds, seconds + self._waited)


# the two ways


class OneThread:
    """A context in which the kernels of a library take one thread; then as many as before.

    The numbers belong to the process. Steps overlap, so only the first that enters changes them,
    and only the last that leaves puts them back.
    """

    def __init__(self, limit: Callable[[], Callable[[], None]]) -> None:
        """Take what sets the number, and returns what puts it back."""
        self._lock = threading.Lock()
        self._inside = 0
        self._limit = limit
        self._put_back: Callable[[], None] | None = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._put_back = self._limit()
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside and self._put_back:
                self._put_back()


def _limit_blas() -> Callable[[], None]:
    before = [get() for get, _ in _numbers()]
    for _, set_number in _numbers():
        set_number(1)
    return partial(_set_threads, before)


def _set_threads(numbers: list[int]) -> None:
    for (_, set_number), number in zip(_numbers(), numbers, strict=True):
        set_number(number)


def find_libraries() -> None:
    """Look for the libraries whose threads are limited; once, for it takes longer than many a run.

    A process that forks others looks before, for them.
    """
    _numbers()


@cache
def _numbers() -> tuple[tuple[Callable[[], int], Callable[[int], object]], ...]:
    """Return what gets and what sets the number of threads of each library."""
    return tuple(map(_number_of, _libraries()))


def _number_of(library: _Library) -> tuple[Callable[[], int], Callable[[int], object]]:
    """Return OpenBLAS's own functions, which threadpoolctl looks up anew at each call."""
    look_up = getattr(library, "_get_symbol", None)
    if look_up is not None and getattr(library, "internal_api", "") == "openblas":
        found = look_up("openblas_get_num_threads"), look_up("openblas_set_num_threads")
        if None not in found:
            return found
    # From 3.7 on threadpoolctl obeys one thread only, the first that asks, as long as that lives,
    # so that threads do not fight over numbers; `OneThread` sees to that here.
    set_number = getattr(library, "_real_set_num_threads", library.set_num_threads)
    return lambda: library.num_threads, set_number


def _limit_onednn() -> Callable[[], None]:
    onednn.limit_threads(1)
    return partial(onednn.limit_threads, None)


class _Library(Protocol):
    """A library of BLAS, as threadpoolctl has it."""

    @property
    def num_threads(self) -> int:
        """Return how many threads it takes."""

    def set_num_threads(self, num_threads: int) -> None:
        """Let it take so many."""


@cache
def _libraries() -> tuple[_Library, ...]:
    from threadpoolctl import ThreadpoolController

    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)


ONE_FOR_BLAS = OneThread(_limit_blas)
ONE_FOR_ONEDNN = OneThread(_limit_onednn)
