"""Whether a causal profile is right: everything else is really slowed, and the step run.

A part that is twice as fast is one that stays as it is while all others are twice as slow, on
another scale. So the step is run with all tasks and links twice as slow, and with all but that
part: half of what lies between is what the part would save. What the runtime itself takes is not
slowed, and is the same in both.

The idea is that of Curtsinger and Berger, "Coz: finding code that counts with causal profiling"
(SOSP 2015).
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from statistics import median
from typing import NamedTuple, Protocol

from tfdist.tracing.device_names import short_name, task_of
from tfdist.tracing.disturbances import DELAY, SLOW, Disturbance
from tfdist.tracing.steps.node_row import TRANSFER, NodeRow
from tfdist.tracing.steps.replay import LINK, NODE, Saving
from tfdist.tracing.steps.significance import Shift, shift

FACTOR = 2.0
LEAST_WAY_US = 100.0  # what is quicker cannot be delayed by as much
TURN = 3  # runs in a row: setting disturbances takes a while
MICRO = 1e-6

Part = tuple[str, str]  # ("ps:0", "") for a task, ("ps:0", "worker:1") for a link


class CheckedSaving(NamedTuple):
    """What was predicted of a part that is twice as fast, and what slowing all others showed.

    Attributes:
      saving: predicted by `tracing.steps.replay`.
      measured: microseconds saved, with the interval in which that lies.
    """

    saving: Saving
    measured: Shift


class CanBeDisturbed(Protocol):
    """A cluster (`launch.disturbable.Disturbable`)."""

    disturbances: tuple[Disturbance, ...]

    def disturbed(self, *texts: str) -> AbstractContextManager[None]:
        """Let something be wrong within a `with`."""


def checked_savings(
    cluster: CanBeDisturbed,
    run: Callable[[], object],
    steps: Sequence[Sequence[NodeRow]],
    savings: Sequence[Saving],
    runs: int = 12,
    most: int = 4,
    clock: Callable[[], float] = time.perf_counter,
) -> list[CheckedSaving]:
    """Return the largest savings of tasks and links, each with what really slowing others showed.

    Single nodes are not checked: what slows a task slows all of it.

    Args:
      cluster: on which the step runs.
      run: runs the step.
      steps: rows of traced runs: they tell of links how long tensors are on their way.
      savings: predicted, the largest first.
      runs: of each of `most` + 1 states of the cluster, some in a row, in turn.
      most: savings to check.
      clock: seconds.

    Raises:
      UnimplementedError: the cluster was not started by tfdist.
    """
    slowed = _slowing(cluster.disturbances, steps)
    chosen = [each for each in savings if each.kind != NODE and _part(each) in slowed][:most]
    states: list[Part | None] = [None, *map(_part, chosen)]
    times: dict[Part | None, list[float]] = defaultdict(list)
    for _ in range(-(-runs // TURN)):
        for part in states:
            with cluster.disturbed(*(text for other, text in slowed.items() if other != part)):
                run()  # what units take is known by what they took lately
                times[part] += [_timed_us(run, clock) for _ in range(TURN)]
    found = []
    for each in chosen:
        saved = shift(times[_part(each)], times[None])
        found.append(CheckedSaving(each, Shift(*(us / FACTOR for us in saved))))
    return found


def _slowing(there: Sequence[Disturbance], steps: Sequence[Sequence[NodeRow]]) -> dict[Part, str]:
    """Return what makes each task and link of a step take twice as long, over what is there."""
    now = {(each.verb, each.source, each.target): each.amount for each in there}
    tasks = {short_name(row.device) for step in steps for row in step if row.kind != TRANSFER}
    found = {
        (task, ""): f"{SLOW} {task} {FACTOR * now.get((SLOW, task, ''), 1.0):g}" for task in tasks
    }
    ways: dict[Part, list[float]] = defaultdict(list)
    for row in (row for step in steps for row in step if row.kind == TRANSFER):
        if task_of(row.source) != task_of(row.device):
            link = short_name(row.source), short_name(row.device)
            ways[link].append(row.arrived_us - row.start_us)
    for (source, target), each in ways.items():
        way_us = median(each)
        if way_us >= LEAST_WAY_US:
            late_s = now.get((DELAY, source, target), 0.0) + (FACTOR - 1) * way_us * MICRO
            found[source, target] = f"{DELAY} {source} {target} {late_s * 1e3:.3f}ms"
    return found


def _part(saving: Saving) -> Part:
    if saving.kind == LINK:
        return short_name(saving.source), short_name(saving.device)
    return short_name(saving.device), ""


def _timed_us(run: Callable[[], object], clock: Callable[[], float]) -> float:
    began = clock()
    run()
    return (clock() - began) / MICRO
