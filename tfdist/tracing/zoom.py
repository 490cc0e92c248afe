"""A task stream with the steps that were traced meanwhile: there it is as fine as their nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from tfdist.tracing.device_names import plain_task
from tfdist.tracing.intervals import COMPUTING, IDLE, MOVING, STATES, WAITING, Interval
from tfdist.tracing.steps.device_activity import (
    COMPUTES,
    QUEUES,
    RECEIVES,
    WAITS,
    status_at,
    statuses,
)
from tfdist.tracing.steps.node_row import NodeRow

_STATES = {COMPUTES: COMPUTING, RECEIVES: MOVING, QUEUES: WAITING, WAITS: WAITING}
_LEAST = 1e-9  # seconds
_MARGIN = 0.1  # of a step, before and after it


class TracedStep(NamedTuple):
    """A step that was traced while tasks were watched.

    Attributes:
      begin: seconds since the watch began.
      rows: its nodes and transfers.
    """

    begin: float
    rows: Sequence[NodeRow]

    @property
    def end(self) -> float:
        """Return when it ended."""
        return self.begin + max((row.end_us for row in self.rows), default=0.0) / 1e6


def zoom_span(
    steps: Sequence[TracedStep], seconds: float, begin: float | None, end: float | None
) -> tuple[float, float]:
    """Return from when to when a zoom shows, in seconds since the watch began.

    Args:
      steps: that were traced.
      seconds: for which tasks were watched.
      begin: that was asked for; else a little before the step that was traced last.
      end: that was asked for; else the end of the watch if there is a `begin`, or a little after
        the step.

    Raises:
      ValueError: no step was traced that could be meant, or the times are wrong.
    """
    last = max(steps, default=None)
    margin = _MARGIN * (last.end - last.begin) if last else 0.0
    if begin is not None:
        since, until = begin, seconds
    elif last is not None:
        since, until = max(last.begin - margin, 0.0), last.end + margin
    else:
        raise ValueError(
            "no step was traced while this was watched: %trace one, or say from when to when"
        )
    until = until if end is None else end
    if not 0 <= since < until <= seconds + margin:
        raise ValueError(f"from {since} to {until} s: it was watched from 0 to {seconds:.1f} s")
    return since, until


def refined(found: Sequence[Interval], task: str, steps: Sequence[TracedStep]) -> list[Interval]:
    """Return intervals of a task with what traced steps tell in the place of what was counted.

    Args:
      found: the intervals, in order.
      task: its name.
      steps: that were traced; of two at the same time the first counts.
    """
    parts = [part for step in sorted(steps) for part in _parts(step, task)]
    return [piece for each in found for piece in _cut(each, parts)]


def _parts(step: TracedStep, task: str) -> Iterator[Interval]:
    """Yield what a task did in a step, each part with one state."""
    told = statuses(step.rows)
    ours = [each for name, each in told.items() if plain_task(name) == plain_task(task)]
    times = sorted({status.start_us for each in ours for status in each})
    for begin, end in pairwise(times):
        states = [_STATES.get(status_at(each, begin).state, IDLE) for each in ours]
        state = min(states, key=STATES.index)
        yield Interval(step.begin + begin / 1e6, step.begin + end / 1e6, _pure(state), 0.0)


def _pure(state: str) -> tuple[float, float, float, float]:
    found = [float(each == state) for each in STATES]
    return found[0], found[1], found[2], found[3]


def _cut(whole: Interval, parts: Sequence[Interval]) -> Iterator[Interval]:
    """Yield an interval with those parts that lie in it; what is left over is told of the rest."""
    inside: list[Interval] = []
    now = whole.begin
    for part in parts:
        begin, end = max(part.begin, now), min(part.end, whole.end)
        if end - begin > _LEAST:
            inside.append(part._replace(begin=begin, end=end, processors=whole.processors))
            now = end
    rest = whole._replace(shares=_left_over(whole, inside))
    now = whole.begin
    for part in inside:
        if part.begin - now > _LEAST:
            yield rest._replace(begin=now, end=part.begin)
        yield part
        now = part.end
    if whole.end - now > _LEAST:
        yield rest._replace(begin=now)


def _left_over(whole: Interval, parts: Sequence[Interval]) -> tuple[float, float, float, float]:
    """Return what was done outside of the parts, as shares of the time that they leave."""
    if not parts:
        return whole.shares
    span = whole.end - whole.begin
    left = max(span - sum(each.end - each.begin for each in parts), _LEAST)
    room, shares = 1.0, []
    for i, share in enumerate(whole.shares[:-1]):
        known = sum(each.shares[i] * (each.end - each.begin) for each in parts)
        shares.append(min(max(share * span - known, 0.0) / left, room))
        room -= shares[-1]
    return shares[0], shares[1], shares[2], max(room, 0.0)
