"""Step statistics as plain rows: one per node or transfer, for tables and pictures.

TensorFlow keeps a step's statistics device by device, with a second entry of the same device for
what it received, and says only in the text of a label what a node computed from what. Here the
entries of one device are merged, a transfer is a row of its own kind that knows its sender, and
all times count from the first start of the step.

Messages are duck-typed: whatever has the fields of TensorFlow's `StepStats` will do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

COMPUTE, QUEUE, TRANSFER = KINDS = ("compute", "queue", "transfer")

# Ops that may wait for an element: their time is mostly waiting.
_QUEUE_OP = re.compile(r"Queue(En|De)queue|BarrierTake|ReaderRead|(Un)?Stage$|Take(Grad|Indexed)")
_NODE_LABEL = re.compile(r"\S+ = (?P<op>\w+)\((?P<inputs>.*)\)", re.DOTALL)
_TRANSFER_LABEL = re.compile(
    r"(?:\[[^]]*\] )*(?:edge_\d+_)?(?P<tensor>\S+) from (?P<source>\S+) to (?P<target>\S+)"
)
_RENAMED_BY_TRANSFER = re.compile(r"(?:_S\d+|/_\d+)$")  # "a/read_S1" is "a/read", received


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One run of one node, or one transfer.

    Attributes:
      device: full name of the device that ran or received it.
      name: the node, or the tensor that was transferred.
      op: type of the op; "RecvTensor" for a transfer.
      kind: "compute", "queue" (may have waited for an element) or "transfer".
      start_us: microseconds since the first start in the step.
      duration_us: microseconds.
      bytes: size of the outputs.
      lane: rows of one device and lane do not overlap; transfers have lanes of their own.
      source: device that sent a transfer, "" for a node.
      inputs: names of the nodes whose outputs it took.
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

    @property
    def end_us(self) -> float:
        """Return the end, in microseconds since the first start in the step."""
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
      transfer_us: microseconds from asking for tensors to having them; they may overlap.
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
    first = first_start_us(step_stats)
    found = [_row(device, stats, first) for device, stats in _observed(step_stats)]
    return _with_lanes(sorted(found, key=_row_order))


def first_start_us(step_stats: Any) -> float:
    """Return when the first row of the step starts, in microseconds since the epoch."""
    starts = (start_nanos(stats) for _, stats in _observed(step_stats))
    return min(starts, default=0) / 1000


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
    by the transfer. What left no trace, such as a fed value, has no maker.
    """
    at: dict[tuple[str, str, bool], int] = {}
    for i, row in enumerate(step_rows):
        at.setdefault((row.device, row.name, row.kind == TRANSFER), i)

    def found(row: NodeRow) -> list[int | None]:
        if row.kind == TRANSFER:
            return [at.get((row.source, row.name, False))]
        return [
            at.get((row.device, name, False), at.get((row.device, before_transfer(name), True)))
            for name in row.inputs
        ]

    return [tuple(i for i in found(row) if i is not None) for row in step_rows]


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


def start_nanos(stats: Any) -> int:
    """Return when a node started, in nanoseconds since the epoch."""
    return stats.all_start_nanos or stats.all_start_micros * 1000


def duration_nanos(stats: Any) -> int:
    """Return how long a node took from its start until nothing of it was left, in nanoseconds."""
    return stats.all_end_rel_nanos or stats.all_end_rel_micros * 1000


def output_bytes(stats: Any) -> int:
    """Return the size of a node's outputs, in bytes."""
    return sum(
        output.tensor_description.allocation_description.requested_bytes for output in stats.output
    )


def parse_label(stats: Any) -> tuple[str, tuple[str, ...]]:
    """Return (op, names of inputs) from the label of a node that is no transfer."""
    label = _NODE_LABEL.fullmatch(stats.timeline_label)
    if label is None:  # a profiler's "name:Op"
        return stats.node_name.rpartition(":")[2], ()
    inputs = (each.strip().lstrip("^") for each in label["inputs"].split(","))
    return label["op"], tuple(each.partition(":")[0] for each in inputs if each)


def parse_transfer(stats: Any) -> tuple[str, str] | None:
    """Return (tensor, device that sent it), or None for a node that is no transfer."""
    if stats.node_name != "RecvTensor":
        return None
    label = _TRANSFER_LABEL.fullmatch(stats.timeline_label)
    return (label["tensor"], label["source"]) if label else (stats.node_name, "")


def before_transfer(name: str) -> str:
    """Return the name a tensor had before it was received: "a/read" for "a/read_S1"."""
    return _RENAMED_BY_TRANSFER.sub("", name)


def _observed(step_stats: Any) -> Iterator[tuple[str, Any]]:
    for entry in step_stats.dev_stats:
        if not entry.device.startswith("/host:"):  # a profiler's second view of the same nodes
            for stats in entry.node_stats:
                if stats.node_name != "_SOURCE":
                    yield entry.device, stats


def _row(device: str, stats: Any, first_us: float) -> NodeRow:
    start, duration = start_nanos(stats) / 1000 - first_us, duration_nanos(stats) / 1000
    size = output_bytes(stats)
    transfer = parse_transfer(stats)
    if transfer:
        tensor, source = transfer
        return NodeRow(device, tensor, "RecvTensor", TRANSFER, start, duration, size, source=source)
    op, inputs = parse_label(stats)
    kind = QUEUE if _QUEUE_OP.match(op) else COMPUTE
    return NodeRow(device, stats.node_name, op, kind, start, duration, size, inputs=inputs)


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
