"""What each device does at every moment of a step: computes, receives, waits for something, idles.

Tensors are asked for when a step begins, so nearly always something is outstanding. A device waits
only while it computes nothing, and what ends that is a tensor that arrives: then it is said to wait
for that tensor, and otherwise to be between two nodes.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tfdist.tracing.device_names import short_device
from tfdist.tracing.steps.node_row import QUEUE, TRANSFER, NodeRow, devices

COMPUTES, QUEUES, RECEIVES, WAITS, PAUSES, TO_COME, DONE = STATES = (
    "computes", "queues", "receives", "waits", "pauses", "to come", "done",
)  # fmt: skip

# What is said of a device; in the order in which a caption tells it.
PHRASES = {
    COMPUTES: "computes {name}",
    QUEUES: "is at a queue in {name} since {since}",
    RECEIVES: "receives {name} from {source}",
    WAITS: "waits for {name} from {source} since {since}",
    PAUSES: "is between nodes",
    TO_COME: "has not begun",
    DONE: "is done",
}
_TASK = re.compile(r"^/job:([^/]+)/task:(\d+)")


class Status(NamedTuple):
    """What a device does from a moment on, until its next status.

    Attributes:
      start_us: microseconds since the step's beginning.
      state: one of `STATES`.
      row: position of the row that it is about, -1 for none.
      others: how many more rows it is about.
    """

    start_us: float
    state: str
    row: int = -1
    others: int = 0


def statuses(rows: Sequence[NodeRow]) -> dict[str, list[Status]]:
    """Return what each device does, in order of time; the first one begins with the step."""
    return {device: _statuses(device, rows) for device in devices(rows)}


def status_at(found: Sequence[Status], moment: float) -> Status:
    """Return the one of a device's statuses that holds at a moment."""
    i = bisect_right([status.start_us for status in found], moment) - 1
    return found[max(i, 0)]


def boundaries(rows: Iterable[NodeRow]) -> list[float]:
    """Return the times at which something starts or ends, each once, in order."""
    times = {time for row in rows for time in (row.start_us, row.end_us)}
    return sorted({0.0, *times})


def spoken_device(device: str) -> str:
    """Return what people call a device: "worker:1", "worker:1/gpu:0 (simulated)"."""
    return _TASK.sub(r"\1:\2", short_device(device)) or "no device"


def asked_us(row: NodeRow) -> float:
    """Return when a row's wait began: when its tensor was asked for, or its queue."""
    return row.start_us - row.waited_us


def _statuses(device: str, rows: Sequence[NodeRow]) -> list[Status]:
    here = [i for i, row in enumerate(rows) if row.device == device]
    arriving = sorted((i for i in here if rows[i].kind == TRANSFER), key=lambda i: rows[i].end_us)
    running = _running([i for i in here if rows[i].kind != TRANSFER], rows)
    found = [Status(0.0, TO_COME)]
    free_since = 0.0
    for until, busy in running:
        if free_since < until:
            found += _gap(free_since, until, arriving, rows)
        found += busy
        free_since = busy[-1].start_us
        found.pop()  # it only tells the end
    found += _gap(free_since, float("inf"), arriving, rows)
    last = max((rows[i].end_us for i in here), default=0.0)
    found.append(Status(last, DONE))
    return _without_repeats(found)


def _running(members: Sequence[int], rows: Sequence[NodeRow]) -> list[tuple[float, list[Status]]]:
    """Return stretches in which nodes run without a pause: (start, statuses); the last one ends it.

    Of several that run at the same time the one that runs longest so far is told.
    """
    edges = sorted(
        [(rows[i].start_us, 1, i) for i in members] + [(rows[i].end_us, 0, i) for i in members],
        key=lambda edge: (edge[0], edge[1] if rows[edge[2]].duration_us else 2),
    )
    stretches: list[tuple[float, list[Status]]] = []
    active: dict[int, None] = {}
    for time, _, i in edges:
        if not active and (not stretches or stretches[-1][1][-1].start_us < time):
            stretches.append((time, []))
        elif not active:
            stretches[-1][1].pop()
        if i in active:
            del active[i]
        else:
            active[i] = None
        first = next(iter(active), -1)
        state = QUEUES if first >= 0 and rows[first].kind == QUEUE else COMPUTES
        stretches[-1][1].append(Status(time, state, first, max(len(active) - 1, 0)))
    return stretches


def _gap(
    start: float, end: float, arriving: Sequence[int], rows: Sequence[NodeRow]
) -> list[Status]:
    """Return the statuses of a device that runs nothing from `start` to `end`."""
    ends = [rows[i].end_us for i in arriving]
    here = arriving[bisect_right(ends, start) if start else 0 : bisect_left(ends, end)]
    found: list[Status] = [Status(start, PAUSES)] if start else []
    now = start
    for k, i in enumerate(here):
        row, others = rows[i], len(here) - k - 1
        since = max(now, asked_us(row))
        if since < row.start_us:
            found.append(Status(since, WAITS, i, others))
        found.append(Status(max(now, row.start_us), RECEIVES, i, others))
        now = max(now, row.end_us)
        found.append(Status(now, PAUSES))
    return found


def _without_repeats(found: Sequence[Status]) -> list[Status]:
    """Return the statuses without those that last no time and those that say nothing new."""
    kept: list[Status] = []
    for status in found:
        while kept and kept[-1].start_us >= status.start_us:
            kept.pop()
        if not kept or kept[-1][1:] != status[1:]:
            kept.append(status)
    return kept
