"""What tasks did in each interval of a watch: computed, moved values, waited, or nothing.

Tasks count as they go (`census.TaskStatus`); the difference of two counts is what went on between
two looks, by the task's own clock. What is done at the same time on several threads is told in the
order of `STATES`: a task that computes is not said to wait.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from tfdist.tracing.census import TaskStatus
from tfdist.tracing.census_history import CensusHistory

COMPUTING, MOVING, WAITING, IDLE = STATES = ("computing", "moving", "waiting", "idle")
MOST = 120  # intervals of a task that are told apart


class Interval(NamedTuple):
    """What a task did between two looks.

    Attributes:
      begin: seconds since the watch began.
      end: the same.
      shares: of the time, by state, in the order of `STATES`; their sum is 1.
      processors: how many processors its process kept busy; tasks of one process have it in common.
    """

    begin: float
    end: float
    shares: tuple[float, float, float, float]
    processors: float


def intervals(
    history: CensusHistory, task: str, most: int = MOST, begin: float = 0.0, end: float = 1e9
) -> list[Interval]:
    """Return what a task did, in intervals of about the same length; none where it did not tell.

    Args:
      history: of a watch.
      task: its name.
      most: intervals; where there were more looks, some are passed over.
      begin: seconds since the watch began: what ended before is left out.
      end: the same: what began after is left out.
    """
    seen = [(each.seconds, each.tasks.get(task)) for each in history.samples]
    shown = [each for each in seen if begin <= each[0] <= end]
    least = (shown[-1][0] - shown[0][0]) / most if shown else 0.0
    return list(_between(shown, least))


def whole(found: Sequence[Interval]) -> Interval | None:
    """Return what a task did in all of these intervals, as one; None if there are none."""
    total = sum(each.end - each.begin for each in found)
    if not total:
        return None
    weights = [(each.end - each.begin) / total for each in found]

    def mean(i: int) -> float:
        return sum(w * each.shares[i] for w, each in zip(weights, found, strict=True))

    busy = sum(w * each.processors for w, each in zip(weights, found, strict=True))
    shares = mean(0), mean(1), mean(2), mean(3)
    return Interval(found[0].begin, found[-1].end, shares, busy)


def silences(found: Sequence[Interval], until: float = 0.0) -> list[tuple[float, float]]:
    """Return from when to when a task did not tell what it did, between what it told.

    Args:
      found: its intervals, in order.
      until: when it was asked last without an answer; 0 if it answers.
    """
    told = [(each.begin, each.end) for each in found]
    ends = [*told, (until, until)] if told and until > told[-1][1] else told
    return [(last, begin) for (_, last), (begin, _) in pairwise(ends) if begin > last]


def is_first(history: CensusHistory, task: str) -> bool:
    """Return whether a task is the first of those that its process has."""
    told = history.last.tasks
    mine = next((each for each in told if each.task == task), None)
    return mine is not None and next(e for e in told if e.process == mine.process) is mine


def _between(seen: Sequence[tuple[float, TaskStatus | None]], least: float) -> Iterator[Interval]:
    before: tuple[float, TaskStatus] | None = None
    for seconds, status in seen:
        if status is None or (before is not None and before[1].life != status.life):
            before = None
        if status is None:
            continue
        if before is None:
            before = seconds, status
        elif seconds - before[0] >= least and status.seconds > before[1].seconds:
            yield _interval(*before, seconds, status)
            before = seconds, status


def _interval(begin: float, earlier: TaskStatus, end: float, later: TaskStatus) -> Interval:
    span = later.seconds - earlier.seconds
    left, shares = 1.0, []
    computed = _grown(earlier.computed, later.computed, span)
    moved = _grown(earlier.moved, later.moved, span)
    waited = _grown(earlier.waited, later.waited, span)
    for share in (computed, moved, waited):
        shares.append(min(max(share, 0.0), left))
        left -= shares[-1]
    busy = _grown(earlier.processor, later.processor, span)
    return Interval(begin, end, (shares[0], shares[1], shares[2], max(left, 0.0)), busy)


def _grown(earlier: float, later: float, span: float) -> float:
    return max(later - earlier, 0.0) / span
