"""Shared work: what waits for memory most of the time, on several threads.

One thread cannot ask for as much as a machine can bring. Threads are started for each piece of
work, which takes a hundredth of it: they treat denormal numbers as the one that starts them, and a
fork or an end of the process never meets one that waits.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from itertools import pairwise

import numpy as np

_FEWEST = 500_000  # numbers for a thread; starting one takes as long as a tenth of that
_MOST_THREADS = 4  # more wait for each other's memory


def share(work: Callable[[int, int], object], size: int, each: int = 1) -> None:
    """Call `work(start, end)`, for all of `size` elements once, on one or several threads.

    All are done when this returns, or raises what one of them raised. Ctrl-C does not come between
    where something could be lost: steps that change variables put it off.

    Args:
      work: does a part.
      size: elements.
      each: numbers of an element.
    """
    if size * each < 2 * _FEWEST:
        work(0, size)
        return
    count = max(1, min(_MOST_THREADS, _processors(), size * each // _FEWEST))
    ends = [size * i // count for i in range(count + 1)]
    others = [_Share(work, start, end) for start, end in pairwise(ends[1:])]
    try:
        work(0, ends[1])
    finally:
        for other in others:
            other.join()
    for other in others:
        if other.error is not None:
            raise other.error


class _Share(threading.Thread):
    """A thread that does a part of some work."""

    def __init__(self, work: Callable[[int, int], object], start: int, end: int) -> None:
        super().__init__(name="tfdist-share", daemon=True)
        self.error: BaseException | None = None
        self._work, self._part = work, (start, end)
        self.start()

    def run(self) -> None:
        try:
            with np.errstate(all="ignore"):
                self._work(*self._part)
        except BaseException as error:
            self.error = error


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
