"""What a traced step would take if one of its parts were faster: the trace, replayed.

A node starts when the last of its inputs is there and its task has ended the node before; a tensor
that has come is taken when its task has ended the node that it runs. How long each lagged behind
that in the trace is kept, since it is the runtime's own time. With all speeds as they were, the
replay is the trace. So one traced run answers for each node, link and task how much
shorter the step would get: the question of Curtsinger and Berger, "Coz: finding code that counts
with causal profiling" (SOSP 2015), by the means of Zhu et al., "Daydream: accurately estimating the
efficacy of optimizations for DNN training" (USENIX ATC 2020).

What the replay does not know: a node that would run earlier might be taken before another one, and
nodes that run at the same time share the processors of their host.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from statistics import median

from tfdist.tracing.device_names import task_of
from tfdist.tracing.steps.critical_path import end_order, latest, predecessors
from tfdist.tracing.steps.node_row import TRANSFER, NodeRow

NODE, LINK, TASK = SAVING_KINDS = ("node", "link", "task")
MOST_NODES = 40  # longest ones that are tried

Scale = Callable[[NodeRow], float]


@dataclass(frozen=True, slots=True)
class Saving:
    """How much shorter a step would be.

    Attributes:
      kind: "node", "link" or "task".
      name: of the node, or "" for all that crossed a link or ran on a task.
      device: that ran the node or received over the link; a task's name of kind "task".
      source: device that sent over the link, "" otherwise.
      saved_us: microseconds; negative if the step would be longer.
    """

    kind: str
    name: str
    device: str
    source: str
    saved_us: float


@dataclass(frozen=True, slots=True)
class _Part:
    """A row to replay: how long after which others it starts, how long it runs, and then waits.

    Attributes:
      row: the row.
      after: the positions of those that it starts after.
      lag_us: after the last of them.
      duration_us: of its own; of a transfer, until its tensor has come.
      held_by: the position of what its task still ran when its tensor had come, one or none.
      held_us: until it was taken, after its coming and the end of `held_by`.
    """

    row: NodeRow
    after: tuple[int, ...]
    lag_us: float
    duration_us: float
    held_by: tuple[int, ...] = ()
    held_us: float = 0.0


class Replay:
    """A traced step that can be run again with other speeds.

    Args:
      step_rows: of one step, from `tfdist.tracing.steps.rows.rows`.

    Example:
      >>> rows = [
      ...     NodeRow("/job:ps/task:0", "w", "Variable", "compute", 0.0, 10.0),
      ...     NodeRow("/job:ps/task:0", "y", "Neg", "compute", 12.0, 30.0, inputs=("w",)),
      ... ]
      >>> Replay(rows).span_us(), Replay(rows).span_us(lambda row: 0.5)
      (42.0, 22.0)
    """

    def __init__(self, step_rows: Sequence[NodeRow]) -> None:
        self._order = sorted(range(len(step_rows)), key=lambda i: end_order(step_rows[i]))
        self._parts = list(_parts(step_rows))

    def span_us(self, scale: Scale = lambda row: 1.0) -> float:
        """Return how long the step takes if each row takes `scale(row)` times as long."""
        ends = [0.0] * len(self._parts)
        for i in self._order:
            part = self._parts[i]
            start = max([ends[each] for each in part.after], default=0.0) + part.lag_us
            done = start + part.duration_us * scale(part.row)
            ends[i] = max([done, *(ends[each] for each in part.held_by)]) + part.held_us
        return max(ends, default=0.0)

    def savings(self, scale: float = 0.5) -> list[Saving]:
        """Return how much shorter the step is if each part alone takes `scale` of its time.

        The largest saving comes first. Tried are the 40 longest nodes, all links and all tasks.
        """
        whole = self.span_us()
        found = []
        for kind, name, device, source in self._candidates():
            chosen = _chooser(kind, name, device, source)
            span = self.span_us(lambda row, chosen=chosen: scale if chosen(row) else 1.0)  # type: ignore[misc]
            found.append(Saving(kind, name, device, source, whole - span))
        return sorted(found, key=_saving_order)

    def _candidates(self) -> Iterator[tuple[str, str, str, str]]:
        rows = [part.row for part in self._parts]
        nodes = sorted((r for r in rows if r.kind != TRANSFER), key=lambda r: -r.duration_us)
        for device, name in dict.fromkeys([(row.device, row.name) for row in nodes[:MOST_NODES]]):
            yield NODE, name, device, ""
        for source, device in sorted({(r.source, r.device) for r in rows if r.kind == TRANSFER}):
            yield LINK, "", device, source
        for task in sorted({task_of(row.device) for row in nodes}):
            yield TASK, "", task, ""


def median_savings(steps: Sequence[Sequence[NodeRow]], most: int = 20) -> list[Saving]:
    """Return the median, over several runs of a step, of what each part twice as fast would save.

    Args:
      steps: rows of each run, one or more.
      most: runs that are replayed, spread over all.
    """
    found: dict[Saving, list[float]] = defaultdict(list)
    chosen = steps[:: -(-len(steps) // most)]
    for step in chosen:
        for each in Replay(step).savings():
            found[replace(each, saved_us=0.0)].append(each.saved_us)
    medians = [
        replace(each, saved_us=median([*saved, *[0.0] * (len(chosen) - len(saved))]))
        for each, saved in found.items()
    ]
    return sorted(medians, key=_saving_order)


def _saving_order(each: Saving) -> tuple[float, str, str, str]:
    return -each.saved_us, each.kind, each.name, each.device


def _chooser(kind: str, name: str, device: str, source: str) -> Callable[[NodeRow], bool]:
    """Return which rows are those of a node, a link or a task."""

    def chosen(row: NodeRow) -> bool:
        if kind == TASK:
            return row.kind != TRANSFER and task_of(row.device) == device
        if kind == LINK:
            return row.kind == TRANSFER and (row.source, row.device) == (source, device)
        return row.kind != TRANSFER and (row.name, row.device) == (name, device)

    return chosen


def _parts(step_rows: Sequence[NodeRow]) -> Iterator[_Part]:
    """Yield a part for each row: what it starts after, and what of its time is its own."""
    for row, found in zip(step_rows, predecessors(step_rows), strict=True):
        is_transfer = row.kind == TRANSFER
        after = found.makers if is_transfer else found.all
        last = latest(step_rows, after, inf)
        ready = 0.0 if last is None else step_rows[last].end_us
        began = min(max(row.start_us, ready), row.end_us)
        came = max(row.arrived_us, began)
        held_by = found.on_task if is_transfer else ()
        free = max([came, *(step_rows[each].end_us for each in held_by)])
        yield _Part(row, after, began - ready, came - began, held_by, row.end_us - free)
