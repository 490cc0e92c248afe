"""What a task did with its time, read off its counters when somebody asks.

What runs now is counted when it has ended; until then it is seen in the frame that will count it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from types import CodeType
from typing import Any, NamedTuple

from tfdist.runtime.step.continuation import Continuation
from tfdist.runtime.step.counters import MOVES, Counters
from tfdist.runtime.step.parallel import execute
from tfdist.runtime.step.run import Run
from tfdist.runtime.step.step import Step
from tfdist.runtime.step.thread_frames import thread_frames
from tfdist.runtime.step.token_executor import Iteration
from tfdist.runtime.task.peers import local_tasks

_Locals = Mapping[str, Any]

# The functions that count, and how their local variables tell for which run, and since when.
_COUNTING: dict[CodeType, tuple[Callable[[_Locals], Run], str]] = {
    execute.__code__: (lambda found: found["run"], "start"),
    Step._pass.__code__: (lambda found: found["run"], "began"),
    Continuation._computed.__code__: (lambda found: found["self"].run, "began"),
    Iteration.complete.__code__: (lambda found: found["self"], "start"),
}


class Activity(NamedTuple):
    """What a task did so far.

    Attributes:
      computed: seconds in which its units ran, threads added up.
      moved: seconds in which threads moved values between processes; 0 if the process has several
        tasks, for then nobody knows whose they were.
      waited: seconds in which a node or more waited and no unit ran.
    """

    computed: float
    moved: float
    waited: float


def activity_of(counters: Counters) -> Activity:
    """Return what the task of `counters` did so far."""
    now, waited = time.monotonic(), counters.waited
    running = sum(_running(counters))
    if counters.waits:
        waited += max(now - counters.since, 0.0) - 1e-9 * running
    computed = counters.computed + running
    moved = MOVES.nanoseconds if len(local_tasks()) < 2 else 0
    return Activity(computed / 1e9, moved / 1e9, waited)


def _running(counters: Counters) -> Iterator[int]:
    """Yield for how many nanoseconds threads are at units that will be counted there."""
    now = time.perf_counter_ns()
    for top in thread_frames().values():
        frame = top
        while frame is not None and frame.f_code not in _COUNTING:
            frame = frame.f_back  # type: ignore[assignment]
        if frame is not None:
            run_of, since = _COUNTING[frame.f_code]
            found = frame.f_locals
            if since in found and run_of(found).task.counters is counters:
                yield max(now - found[since], 0)
