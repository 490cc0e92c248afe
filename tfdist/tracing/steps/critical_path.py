"""Which chain of nodes, transfers and waits made a step as long as it was.

A node starts after the last of its inputs and after the node that its task ran before; a tensor is
taken after it has come and after the node that its task ran meanwhile. From what ended last, the
critical path is followed backwards along whichever of them came last, to the step's beginning. What
passed between the two is a wait: other tasks ran nodes meanwhile, which may have held the
processor, or nothing ran at all. So every microsecond of the step belongs to one segment, and the
segments add up to the step.

The idea is that of Yang and Miller, "Critical path analysis for the execution of parallel and
distributed programs" (ICDCS 1988).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf
from statistics import median
from typing import NamedTuple, TypeVar

from tfdist.tracing.device_names import task_of
from tfdist.tracing.steps.makers import makers
from tfdist.tracing.steps.node_row import COMPUTE, QUEUE, TRANSFER, NodeRow

Key = TypeVar("Key", bound=Hashable)

CONTENTION, SCHEDULING = "contention", "scheduling"
SEGMENT_KINDS = (COMPUTE, TRANSFER, QUEUE, CONTENTION, SCHEDULING)


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the critical path, one after the other without gaps.

    Attributes:
      row: the node or transfer that ran, or that was ready and did not run yet.
      kind: "compute", "transfer" or "queue" while it ran; while it was ready and did not run, or
        had come and was not taken, "contention" if a node of another task ran, and "scheduling"
        if none did.
      start_us: microseconds since the step's beginning.
      end_us: microseconds until its end, from the same moment.
      blocker: the node of another task that ran, of kind "contention".
      in_order: whether it was followed only because its task ran what comes next after it, not
        because that took what it made.
    """

    row: NodeRow
    kind: str
    start_us: float
    end_us: float
    blocker: str = ""
    in_order: bool = False

    @property
    def duration_us(self) -> float:
        """Return how long it is, in microseconds."""
        return self.end_us - self.start_us


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """The segments of a step in order of time; they add up to `span_us`."""

    segments: tuple[Segment, ...]

    @property
    def span_us(self) -> float:
        """Return how long the step took, in microseconds."""
        return self.segments[-1].end_us if self.segments else 0.0

    @property
    def rows(self) -> list[NodeRow]:
        """Return what ran on the path, in order of time."""
        return [each.row for each in self.segments if each.kind == each.row.kind]

    def by_kind(self) -> dict[str, float]:
        """Return the microseconds of each kind of segment that there is, longest first."""
        sums = _summed((each.kind, each.duration_us) for each in self.segments)
        return dict(sorted(sums.items(), key=lambda item: -item[1]))


@dataclass(frozen=True, slots=True)
class PathShare:
    """How much of the critical paths of several runs one node or transfer is.

    Attributes:
      row: that of one of the runs.
      runs: in how many of them it is on the path.
      median_us: median of its microseconds on the path, over those runs.
    """

    row: NodeRow
    runs: int
    median_us: float


def critical_path(step_rows: Sequence[NodeRow]) -> CriticalPath:
    """Return the critical path of a step; it is empty if nothing ran.

    Args:
      step_rows: of one step, from `tfdist.tracing.steps.rows.rows`.

    Example:
      >>> rows = [
      ...     NodeRow("/job:ps/task:0", "w", "Variable", COMPUTE, 0.0, 10.0),
      ...     NodeRow("/job:ps/task:0", "y", "Neg", COMPUTE, 12.0, 30.0, inputs=("w",)),
      ... ]
      >>> [(s.row.name, s.kind, s.duration_us) for s in critical_path(rows).segments]
      [('w', 'compute', 10.0), ('y', 'scheduling', 2.0), ('y', 'compute', 30.0)]
    """
    after, between = predecessors(step_rows), _Ran(step_rows).between
    found: list[Segment] = []
    at = latest(step_rows, range(len(step_rows)), inf)
    cursor, in_order = 0.0 if at is None else step_rows[at].end_us, False
    while at is not None:
        row = step_rows[at]
        last = latest(step_rows, after[at].all, cursor)
        ready = 0.0 if last is None else step_rows[last].end_us
        if row.kind == TRANSFER:
            came = min(max(row.arrived_us, ready), cursor)
            found += _waits(row, came, cursor, between)
            cursor = came
        began = min(max(row.start_us, ready), cursor)
        found.append(Segment(row, row.kind, began, cursor, in_order=in_order))
        found += _waits(row, ready, began, between)
        in_order = last not in after[at].makers
        at, cursor = last, ready
    return CriticalPath(tuple(reversed([each for each in found if each.duration_us > 0])))


class Predecessors(NamedTuple):
    """The positions of the rows after which a row starts: all of them ended before.

    Attributes:
      makers: made what it took.
      on_task: what its task ran before, one or none; for a transfer, what its task still ran when
        its tensor had come.
    """

    makers: tuple[int, ...]
    on_task: tuple[int, ...]

    @property
    def all(self) -> tuple[int, ...]:
        """Return both."""
        return self.makers + self.on_task


def predecessors(step_rows: Sequence[NodeRow]) -> list[Predecessors]:
    """Return for each row what it starts after."""
    order = sorted(range(len(step_rows)), key=lambda i: end_order(step_rows[i]))
    rank = {i: place for place, i in enumerate(order)}
    by_task: dict[str, list[int]] = defaultdict(list)
    for i in order:
        if step_rows[i].kind != TRANSFER:
            by_task[task_of(step_rows[i].device)].append(i)
    ends = {task: [step_rows[i].end_us for i in each] for task, each in by_task.items()}
    found = []
    for i, (row, made_by) in enumerate(zip(step_rows, makers(step_rows), strict=True)):
        task, is_transfer = task_of(row.device), row.kind == TRANSFER
        limit = row.end_us if is_transfer else row.start_us
        ended = [j for j in made_by if rank[j] < rank[i] and step_rows[j].end_us <= limit]
        place = bisect_right(ends.get(task, ()), limit)
        before = [j for j in by_task.get(task, [])[:place][-2:] if rank[j] < rank[i]]
        if is_transfer:
            before = [j for j in before if step_rows[j].end_us > row.arrived_us]
        found.append(Predecessors(tuple(ended), tuple(before[-1:])))
    return found


def latest(step_rows: Sequence[NodeRow], candidates: Iterable[int], before: float) -> int | None:
    """Return which of the rows at the positions `candidates` ended last, yet not after `before`."""
    ended = [i for i in candidates if step_rows[i].end_us <= before]
    return max(ended, key=lambda i: step_rows[i].end_us, default=None)


def end_order(row: NodeRow) -> tuple[float, float]:
    """Return a sort key: what ends first comes first."""
    return row.end_us, row.start_us


def path_shares(paths: Sequence[CriticalPath]) -> list[PathShare]:
    """Return what is on the critical paths of several runs, in most of them first."""
    runs: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    sample: dict[tuple[str, str, str], NodeRow] = {}
    for path in paths:
        for key, us in _summed((_identity(s.row), s.duration_us) for s in path.segments).items():
            runs[key].append(us)
        sample.update((_identity(s.row), s.row) for s in path.segments)
    shares = [PathShare(sample[key], len(each), median(each)) for key, each in runs.items()]
    return sorted(shares, key=lambda share: (-share.runs * share.median_us, share.row.name))


class _Ran:
    """The nodes of a step, to be asked for by time."""

    def __init__(self, step_rows: Iterable[NodeRow]) -> None:
        nodes = [row for row in step_rows if row.kind != TRANSFER]
        self._nodes = sorted(nodes, key=lambda row: (row.start_us, row.end_us))
        self._starts = [row.start_us for row in self._nodes]
        self._latest_ends = list(accumulate((row.end_us for row in self._nodes), max))

    def between(self, start: float, end: float) -> Iterator[NodeRow]:
        """Yield what ran between two times, by start, the last first."""
        for i in range(bisect_left(self._starts, end) - 1, -1, -1):
            if self._latest_ends[i] <= start:
                return
            if self._nodes[i].end_us > start:
                yield self._nodes[i]


def _waits(
    row: NodeRow, ready: float, began: float, between: Callable[[float, float], Iterator[NodeRow]]
) -> Iterator[Segment]:
    """Yield what passed between `ready` and `began`, the last first."""
    cursor = began
    for other in between(ready, began) if row.kind != TRANSFER or ready >= row.arrived_us else ():
        start, end = max(other.start_us, ready), min(other.end_us, cursor)
        if task_of(other.device) != task_of(row.device) and start < end:
            yield Segment(row, SCHEDULING, end, cursor)
            yield Segment(row, CONTENTION, start, end, other.name)
            cursor = start
    yield Segment(row, SCHEDULING, ready, cursor)


def _identity(row: NodeRow) -> tuple[str, str, str]:
    return row.device, row.source, row.name


def _summed(pairs: Iterable[tuple[Key, float]]) -> dict[Key, float]:
    sums: dict[Key, float] = defaultdict(float)
    for key, value in pairs:
        sums[key] += value
    return dict(sums)
