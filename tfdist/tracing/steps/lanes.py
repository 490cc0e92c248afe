"""Lanes: where rows of one device are drawn, so that those of one lane do not overlap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tfdist.tracing.steps.node_row import TRANSFER, NodeRow


def free_lanes(intervals: Iterable[tuple[float, float]]) -> list[int]:
    """Return a lane for each (start, end), in order of start: the lowest that is free."""
    busy_until: list[float] = []
    lanes = []
    for start, end in intervals:
        lane = next((i for i, until in enumerate(busy_until) if until <= start), len(busy_until))
        busy_until[lane : lane + 1] = [end]
        lanes.append(lane)
    return lanes


def lanes(step_rows: Sequence[NodeRow], intervals: Sequence[tuple[float, float]]) -> list[int]:
    """Return a lane of its device for each row: first those of nodes, then those of transfers.

    Args:
      step_rows: of one step.
      intervals: (start, end) of each row; in one lane they do not overlap.
    """
    found = [0] * len(step_rows)
    members: dict[str, tuple[list[int], list[int]]] = {}
    for i in sorted(range(len(step_rows)), key=lambda i: intervals[i]):
        of_device = members.setdefault(step_rows[i].device, ([], []))
        of_device[step_rows[i].kind == TRANSFER].append(i)
    for nodes, transfers in members.values():
        first = 0
        for each in (nodes, transfers):
            free = free_lanes(intervals[i] for i in each)
            for i, lane in zip(each, free, strict=True):
                found[i] = first + lane
            first += max(free, default=-1) + 1
    return found
