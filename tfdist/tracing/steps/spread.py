"""What each device did in many runs of a step: means, and how far the runs were apart.

A moment of a device counts once: it computes if a node runs there; else it is ready if one could
run, or a tensor that has come be taken, and its task was at something else or had no processor;
else it receives if a tensor is on its way to it; else it waits if something is asked for that is
not there yet, or at a queue; else nothing of the step was there to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tfdist.tracing.steps.node_row import COMPUTE, QUEUE, TRANSFER, NodeRow, devices

BUSY, READY, RECEIVING, WAITING, IDLE = STATES = (
    "computing", "ready", "receiving", "waiting", "idle",
)  # fmt: skip

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Spread:
    """Numbers, one a run.

    Attributes:
      mean: their mean.
      median: half of them are below.
      low: a tenth of them is below.
      high: a tenth is above.
    """

    mean: float
    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class DeviceSpread:
    """What one device did in all runs.

    Attributes:
      device: full name.
      states: microseconds of a run that it spent in each of `STATES`.
    """

    device: str
    states: dict[str, Spread]


def device_spreads(steps: Sequence[Sequence[NodeRow]]) -> list[DeviceSpread]:
    """Return what each device did, one per device in natural order.

    Args:
      steps: rows of each run.
    """
    names = devices([row for step in steps for row in step])
    found = []
    for name in names:
        runs = [device_states(step, name) for step in steps]
        states = {state: spread([run[state] for run in runs]) for state in STATES}
        found.append(DeviceSpread(name, states))
    return found


def device_states(step_rows: Sequence[NodeRow], device: str) -> dict[str, float]:
    """Return how long a device was in each of `STATES` in a run, in microseconds."""
    here = [row for row in step_rows if row.device == device]
    busy = [(row.start_us, row.end_us) for row in here if row.kind == COMPUTE]
    ready = [_held(row) for row in here if row.delay_us]
    comes = [(row.start_us, row.arrived_us) for row in here if row.kind == TRANSFER]
    waits = [(row.start_us - row.waited_us, row.start_us) for row in here if row.waited_us]
    waits += [(row.start_us, row.end_us) for row in here if row.kind == QUEUE]
    some, more = busy + ready, busy + ready + comes
    sums = [_covered(each) for each in (busy, some, more, more + waits)]
    sums.append(step_us(step_rows))
    parts = [sums[0], *(after - before for before, after in pairwise(sums))]
    return dict(zip(STATES, parts, strict=True))


def _held(row: NodeRow) -> Interval:
    """Return when a node could have run and did not, or a tensor have been taken."""
    if row.kind == TRANSFER:
        return row.arrived_us, row.end_us
    return row.start_us - row.delay_us, row.start_us


def step_us(step_rows: Iterable[NodeRow]) -> float:
    """Return how long a run took by its statistics, in microseconds."""
    return max((row.end_us for row in step_rows), default=0.0)


def spread(numbers: Sequence[float]) -> Spread:
    """Return mean, median and tenths of numbers, one or more."""
    ordered = sorted(numbers)
    quantiles = (_quantile(ordered, share) for share in (0.5, 0.1, 0.9))
    return Spread(sum(ordered) / len(ordered), *quantiles)


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Return the number below which `share` of them are, on a line between the two nearest."""
    place = share * (len(ordered) - 1)
    first = int(place)
    after = ordered[min(first + 1, len(ordered) - 1)]
    return ordered[first] + (place - first) * (after - ordered[first])


def _covered(intervals: Iterable[Interval]) -> float:
    """Return how much time intervals cover together."""
    total, until = 0.0, 0.0
    for start, end in sorted(intervals):
        total += max(end - max(start, until), 0.0)
        until = max(until, end)
    return total
