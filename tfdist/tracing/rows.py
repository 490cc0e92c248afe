"""Step statistics as plain rows: one per node or transfer, for tables and pictures.

TensorFlow keeps a step's statistics device by device, with a second entry of the same device for
what it received, and says only in the text of a label what a node computed from what. Here the
entries of one device are merged, a transfer is a row of its own kind that knows its sender, and
all times count from the step's beginning: its first start, or when a tensor was first asked for.

Who made what a row took is known by identity, never by time: device and name of a node; sending
device, name of the tensor and number of the cut edge of a transfer.

Messages are duck-typed: whatever has the fields of TensorFlow's `StepStats` will do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tfdist.tracing.clocks import SAME_CLOCK, ClockOffset, offset_in
from tfdist.tracing.entries import (
    RECEIVED,
    SOURCE,
    before_transfer,
    duration_nanos,
    output_bytes,
    parse_label,
    parse_transfer,
    scheduled_nanos,
    start_nanos,
    transfer_number,
)

COMPUTE, QUEUE, TRANSFER = KINDS = ("compute", "queue", "transfer")

# Ops that may wait for an element: their time is mostly waiting.
_QUEUE_OP = re.compile(r"Queue(En|De)queue|BarrierTake|ReaderRead|(Un)?Stage$|Take(Grad|Indexed)")


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One run of one node, or one transfer.

    Attributes:
      device: full name of the device that ran or received it.
      name: the node, or the tensor that was transferred.
      op: type of the op; "RecvTensor" for a transfer.
      kind: "compute", "queue" (may have waited for an element) or "transfer".
      start_us: microseconds since the step's beginning; of a transfer, when its tensor was there.
      duration_us: microseconds.
      bytes: size of the outputs.
      lane: rows of one device and lane do not overlap; transfers have lanes of their own.
      source: device that sent a transfer, "" for a node.
      inputs: names of the nodes whose outputs it took.
      waited_us: microseconds before the start in which a transfer's tensor was not there yet.
      edge: number of the cut edge that a transfer crossed, -1 if it is not known.
      clock: how far the device's clock was ahead of ours; the times here are by ours.
    """

    device: str
    name: str
    op: str
    kind: str
    start_us: float
    duration_us: float
    bytes: int = 0
    lane: int = 0
    source: str = ""
    inputs: tuple[str, ...] = ()
    waited_us: float = 0.0
    edge: int = -1
    clock: ClockOffset = SAME_CLOCK

    @property
    def end_us(self) -> float:
        """Return the end, in microseconds since the step's beginning."""
        return self.start_us + self.duration_us


@dataclass(frozen=True, slots=True)
class DeviceTotal:
    """What one device did in a step.

    Attributes:
      device: full name.
      nodes: how many nodes ran there.
      transfers: how many tensors it received.
      received_bytes: their size.
      compute_us: microseconds in nodes that do not wait.
      queue_us: microseconds in queue operations, waiting included.
      transfer_us: microseconds in which tensors were on their way to it; they may overlap.
    """

    device: str
    nodes: int
    transfers: int
    received_bytes: int
    compute_us: float
    queue_us: float
    transfer_us: float


def rows(step_stats: Any) -> list[NodeRow]:
    """Return the rows of a step, by device and start; the start marks `_SOURCE` are left out.

    Args:
      step_stats: a `StepStats` message.
    """
    first = _first_nanos(step_stats)
    of_device = clocks(step_stats)
    found = [
        _row(device, stats, first, of_device.get(device, SAME_CLOCK))
        for device, stats in _observed(step_stats)
        if stats.node_name != SOURCE
    ]
    return _with_lanes(_straightened(sorted(found, key=_row_order)))


def first_start_us(step_stats: Any) -> float:
    """Return when the step begins, in microseconds since the epoch."""
    return _first_nanos(step_stats) / 1000


def beginnings(step_stats: Any) -> dict[str, float]:
    """Return when each device began its part, in microseconds since the step's beginning."""
    first = _first_nanos(step_stats)
    return {
        device: (start_nanos(stats) - first) / 1000
        for device, stats in _observed(step_stats)
        if stats.node_name == SOURCE
    }


def clocks(step_stats: Any) -> dict[str, ClockOffset]:
    """Return how far the clock of each device was ahead, where it was not ours.

    The times of the statistics are by our clock already: `_SOURCE` tells that in its label.
    """
    told = {
        device: offset_in(stats.timeline_label)
        for device, stats in _observed(step_stats)
        if stats.node_name == SOURCE
    }
    return {device: clock for device, clock in told.items() if clock != SAME_CLOCK}


def totals(step_rows: Iterable[NodeRow]) -> list[DeviceTotal]:
    """Return one total per device, in the rows' order."""
    by_device: dict[str, list[NodeRow]] = {}
    for row in step_rows:
        by_device.setdefault(row.device, []).append(row)
    return [_total(device, members) for device, members in by_device.items()]


def devices(step_rows: Iterable[NodeRow]) -> list[str]:
    """Return the devices that ran, received or sent something, in natural order."""
    names = {name for row in step_rows for name in (row.device, row.source) if name}
    return sorted(names, key=device_order)


def device_order(device: str) -> list[Any]:
    """Return a sort key: by job, then by task as a number, CPUs before GPUs."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", device)]


def short_device(device: str) -> str:
    """Return the name as one types it: "/job:ps/task:0", or "/job:ps/task:0/gpu:1"."""
    short = device.replace("/replica:0", "").replace("/device:CPU:0", "")
    return re.sub(r"/device:(\w+):", lambda part: f"/{part[1].lower()}:", short) or device


def makers(step_rows: Sequence[NodeRow]) -> list[tuple[int, ...]]:
    """Return for each row the positions of the rows that made what it took.

    The maker of a transfer is the node that sent it; a node's input that was transferred was made
    by the transfer. What left no trace, such as a fed value, has no maker. Where something ran
    several times, the second run takes what the second one made.
    """
    runs: _Runs = {}
    for i, row in enumerate(step_rows):
        runs.setdefault((row.device, row.name, row.kind == TRANSFER), []).append(i)
    received = _received(step_rows, runs)
    turns: Counter[tuple[str, str, bool, int]] = Counter()
    found = []
    for row in step_rows:
        identity = (row.device, row.name, row.kind == TRANSFER, row.edge)
        made_by = _made_by(row, runs, received)
        found.append(tuple(each[min(turns[identity], len(each) - 1)] for each in made_by))
        turns[identity] += 1
    return found


def depths(step_rows: Sequence[NodeRow]) -> list[int]:
    """Return for each row how many rows must end before it, along the longest way to it.

    Unlike times these are the same in every run of a step: an order for what is compared. Rows of
    a loop, which wait for each other, come last.
    """
    made_by = makers(step_rows)
    waiting = [len(set(each)) for each in made_by]
    taken_by: list[list[int]] = [[] for _ in step_rows]
    for i, each in enumerate(made_by):
        for maker in set(each):
            taken_by[maker].append(i)
    depth = [0] * len(step_rows)
    ready = [i for i, count in enumerate(waiting) if not count]
    for i in ready:  # grows while it is walked
        for taker in taken_by[i]:
            depth[taker] = max(depth[taker], depth[i] + 1)
            waiting[taker] -= 1
            if not waiting[taker]:
                ready.append(taker)
    last = max(depth, default=0) + 1
    return [last if count else d for count, d in zip(waiting, depth, strict=True)]


def free_lanes(intervals: Iterable[tuple[float, float]]) -> list[int]:
    """Return a lane for each (start, end), in order of start: the lowest that is free."""
    busy_until: list[float] = []
    lanes = []
    for start, end in intervals:
        lane = next((i for i, until in enumerate(busy_until) if until <= start), len(busy_until))
        busy_until[lane : lane + 1] = [end]
        lanes.append(lane)
    return lanes


_Runs = dict[tuple[str, str, bool], list[int]]  # (device, name, is a transfer) -> positions


def _made_by(
    row: NodeRow, runs: _Runs, received: Mapping[tuple[str, str], list[int]]
) -> list[list[int]]:
    """Return the runs of each maker of what a row took."""
    if row.kind == TRANSFER:
        candidates = [runs.get((row.source, row.name, False))]
    else:
        candidates = [
            runs.get((row.device, name, False)) or received.get((row.device, name))
            for name in row.inputs
        ]
    return [each for each in candidates if each]


def _received(step_rows: Sequence[NodeRow], runs: _Runs) -> dict[tuple[str, str], list[int]]:
    """Return the transfers by (device, name under which nodes take what was received).

    Several outputs of one node are transfers of one name. Their edges and the names under which
    they are taken are numbered in the same order.
    """
    names: dict[tuple[str, str], set[str]] = {}
    for row in step_rows:
        for name in row.inputs:
            tensor = before_transfer(name)
            if (row.device, tensor, True) in runs and (row.device, name, False) not in runs:
                names.setdefault((row.device, tensor), set()).add(name)
    found = {}
    for (device, sent), taken in names.items():
        positions = runs[device, sent, True]
        edges = sorted({step_rows[i].edge for i in positions})
        for rank, name in enumerate(sorted(taken, key=transfer_number)):
            edge = edges[min(rank, len(edges) - 1)]
            found[device, name] = [i for i in positions if step_rows[i].edge == edge]
    return found


def _straightened(step_rows: Sequence[NodeRow]) -> list[NodeRow]:
    """Return the rows, no transfer ending before it was made if clocks may be wrong by that much.

    Such a transfer ends when it was made.
    """
    found = list(step_rows)
    if all(row.clock == SAME_CLOCK for row in found):
        return found
    for i, made_by in enumerate(makers(step_rows)):
        row = found[i]
        if row.kind == TRANSFER and made_by:
            maker = found[made_by[0]]
            if 0 < maker.end_us - row.end_us <= _uncertainty_us(row.clock, maker.clock):
                found[i] = replace(row, duration_us=maker.end_us - row.start_us)
    return found


def _uncertainty_us(*of_both: ClockOffset) -> float:
    """Return the microseconds by which two clocks may be apart; labels tell whole ones."""
    return sum(clock.uncertainty / 1000 + 1 for clock in of_both if clock != SAME_CLOCK)


def _first_nanos(step_stats: Any) -> int:
    """Return when the step begins, in nanoseconds since the epoch."""
    starts = (
        _asked_nanos(stats) for _, stats in _observed(step_stats) if stats.node_name != SOURCE
    )
    return min(starts, default=0)


def _asked_nanos(stats: Any) -> int:
    """Return when a node started or, where that is known, a transfer was asked for."""
    start = start_nanos(stats)
    if stats.node_name != RECEIVED:  # TensorFlow's `scheduled` of nodes may be by another clock
        return start
    return min(scheduled_nanos(stats) or start, start)


def _observed(step_stats: Any) -> Iterator[tuple[str, Any]]:
    for entry in step_stats.dev_stats:
        if not entry.device.startswith("/host:"):  # a profiler's second view of the same nodes
            for stats in entry.node_stats:
                yield entry.device, stats


def _row(device: str, stats: Any, first: int, clock: ClockOffset) -> NodeRow:
    nanos = start_nanos(stats)
    start, duration = (nanos - first) / 1000, duration_nanos(stats) / 1000
    size = output_bytes(stats)
    transfer = parse_transfer(stats)
    if transfer:
        row = NodeRow(device, transfer.tensor, RECEIVED, TRANSFER, start, duration, size)
        waited = (nanos - _asked_nanos(stats)) / 1000
        return replace(
            row, source=transfer.source, waited_us=waited, edge=transfer.edge, clock=clock
        )
    op, inputs = parse_label(stats)
    kind = QUEUE if _QUEUE_OP.match(op) else COMPUTE
    return NodeRow(
        device, stats.node_name, op, kind, start, duration, size, inputs=inputs, clock=clock
    )


def _row_order(row: NodeRow) -> tuple[Any, ...]:
    return device_order(row.device), row.start_us, row.end_us, row.name


def _with_lanes(ordered: list[NodeRow]) -> list[NodeRow]:
    lane_of: dict[int, int] = {}
    for device in dict.fromkeys(row.device for row in ordered):
        first_lane = 0
        for transfers in (False, True):
            members = [
                i
                for i, row in enumerate(ordered)
                if row.device == device and (row.kind == TRANSFER) is transfers
            ]
            lanes = free_lanes((ordered[i].start_us, ordered[i].end_us) for i in members)
            lane_of.update((i, first_lane + lane) for i, lane in zip(members, lanes, strict=True))
            first_lane += max(lanes, default=-1) + 1
    return [replace(row, lane=lane_of[i]) for i, row in enumerate(ordered)]


def _total(device: str, members: Sequence[NodeRow]) -> DeviceTotal:
    def spent(kind: str) -> float:
        return sum(row.duration_us for row in members if row.kind == kind)

    transfers = [row for row in members if row.kind == TRANSFER]
    return DeviceTotal(
        device,
        nodes=len(members) - len(transfers),
        transfers=len(transfers),
        received_bytes=sum(row.bytes for row in transfers),
        compute_us=spent(COMPUTE),
        queue_us=spent(QUEUE),
        transfer_us=spent(TRANSFER),
    )
