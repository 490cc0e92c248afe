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
from functools import lru_cache
from typing import Any

from tfdist.tracing.clocks import SAME_CLOCK, ClockOffset, offset_in
from tfdist.tracing.disturbances import concerning, disturbances_in
from tfdist.tracing.entries import (
    RECEIVED,
    SOURCE,
    NodeStats,
    arrived_nanos,
    before_transfer,
    duration_nanos,
    output_bytes,
    parse_label,
    parse_transfer,
    rounds_of,
    scheduled_nanos,
    sent_nanos,
    start_nanos,
    transfer_number,
)
from tfdist.tracing.loop_iterations import ENTERS, MERGES, OUTSIDE, Rounds, given_to
from tfdist.tracing.simulated import marked

COMPUTE, QUEUE, TRANSFER = KINDS = ("compute", "queue", "transfer")

# Ops that may wait for an element: their time is mostly waiting.
_QUEUE_OP = re.compile(r"Queue(En|De)queue|BarrierTake|ReaderRead|(Un)?Stage$|Take(Grad|Indexed)")


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One run of one node, or one transfer.

    Attributes:
      device: full name of the device that ran or received it.
      name: the node, or the tensor that was transferred.
      op: type of the op; of a transfer "RecvTensor", or what a profiler calls a copy to or from a
        GPU of the same task: "MEMCPYHtoD", "MEMCPYDtoH" or "MEMCPYDtoD".
      kind: "compute", "queue" (may have waited for an element) or "transfer".
      start_us: microseconds since the step's beginning; of a transfer, when its tensor was there.
      duration_us: microseconds.
      bytes: size of the outputs.
      lane: rows of one device and lane do not overlap; transfers have lanes of their own.
      source: device that sent a transfer, "" for a node.
      inputs: names of the nodes whose outputs it took.
      waited_us: microseconds before the start in which a transfer's tensor was not there yet.
      delay_us: microseconds for which its task was at something else: before the start of a node
        whose inputs were all there; at the end of a transfer, whose tensor had come.
      send_us: microseconds from a transfer's start until it had left its sender.
      edge: number of the cut edge that a transfer crossed, -1 if it is not known.
      clock: how far the device's clock was ahead of ours; the times here are by ours.
      rounds: in which round of which loops it ran.
      disturbed: the words of what was wrong on purpose with its task, or with its way.
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
    delay_us: float = 0.0
    send_us: float = 0.0
    edge: int = -1
    clock: ClockOffset = SAME_CLOCK
    rounds: Rounds = OUTSIDE
    disturbed: str = ""

    @property
    def end_us(self) -> float:
        """Return the end, in microseconds since the step's beginning."""
        return self.start_us + self.duration_us

    @property
    def arrived_us(self) -> float:
        """Return when a transfer's tensor came; of a node, its end."""
        return self.end_us - (self.delay_us if self.kind == TRANSFER else 0.0)


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
    beginnings = (stats for _, stats in _observed(step_stats) if stats.node_name == SOURCE)
    wrong = disturbances_in(stats.timeline_label for stats in beginnings)
    if wrong:
        found = [replace(row, disturbed=concerning(wrong, row.device, row.source)) for row in found]
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


def devices(step_rows: Iterable[NodeRow]) -> list[str]:
    """Return the devices that ran, received or sent something, in natural order."""
    names = {name for row in step_rows for name in (row.device, row.source) if name}
    return sorted(names, key=device_order)


@lru_cache(maxsize=1024)
def device_order(device: str) -> tuple[Any, ...]:
    """Return a sort key: by job, then by task as a number, CPUs before GPUs."""
    return tuple([int(part) if part.isdigit() else part for part in re.split(r"(\d+)", device)])


def short_device(device: str) -> str:
    """Return the name as one types it: "/job:ps/task:0", "/job:ps/task:0/gpu:1 (simulated)"."""
    short = device.replace("/replica:0", "").replace("/device:CPU:0", "")
    short = re.sub(r"/device:(\w+):", lambda part: f"/{part[1].lower()}:", short) or device
    return marked(device, short)


def makers(step_rows: Sequence[NodeRow]) -> list[tuple[int, ...]]:
    """Return for each row the positions of the rows that made what it took.

    The maker of a transfer is the node that sent it; a node's input that was transferred was made
    by the transfer. What left no trace, such as a fed value, has no maker. What a loop made is
    taken in the round in which it was there (`given_to`). Where something ran several times and
    nothing tells in which round, the second run takes what the second one made.
    """
    runs: _Runs = {}
    for i, row in enumerate(step_rows):
        by_round = runs.setdefault((row.device, row.name, row.kind == TRANSFER), {})
        by_round.setdefault(given_to(row.op, row.rounds), []).append(i)
    received = _received(step_rows, runs)
    turns: Counter[tuple[Any, ...]] = Counter()
    found = []
    for row in step_rows:
        identity = (row.device, row.name, row.kind == TRANSFER, row.edge, row.rounds.numbers)
        made_by = [
            each
            for source in _sources(row, runs, received)
            if (each := source.get(row.rounds.numbers) or _entered(row, source, step_rows))
        ]
        found.append(tuple([each[min(turns[identity], len(each) - 1)] for each in made_by]))
        turns[identity] += 1
    return found


def depths(step_rows: Sequence[NodeRow]) -> list[int]:
    """Return for each row how many rows must end before it, along the longest way to it.

    Unlike times these are the same in every run of a step: an order for what is compared. Rows of
    a loop that wait for each other, since nothing tells their rounds, come last.
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


_ByRound = dict[tuple[int, ...], list[int]]  # numbers of rounds -> positions
_Runs = dict[tuple[str, str, bool], _ByRound]  # by (device, name, is a transfer)


def _entered(row: NodeRow, source: _ByRound, step_rows: Sequence[NodeRow]) -> list[int]:
    """Return the runs of an Enter: a loop's first round takes it, and every one a constant."""
    numbers = row.rounds.numbers
    found = source.get(numbers[:-1], []) if numbers else []
    is_entry = bool(found) and step_rows[found[0]].op in ENTERS
    return found if is_entry and not (row.op in MERGES and numbers[-1]) else []


def _sources(
    row: NodeRow, runs: _Runs, received: Mapping[tuple[str, str], _ByRound]
) -> list[_ByRound]:
    """Return the runs of each maker of what a row took."""
    if row.kind == TRANSFER:
        candidates = [runs.get((row.source, row.name, False))]
    else:
        candidates = [
            runs.get((row.device, name, False)) or received.get((row.device, name))
            for name in row.inputs
        ]
    return [each for each in candidates if each]


def _received(step_rows: Sequence[NodeRow], runs: _Runs) -> dict[tuple[str, str], _ByRound]:
    """Return the transfers by (device, name under which nodes take what was received).

    Several outputs of one node are transfers of one name. Their edges and the names under which
    they are taken are numbered in the same order.
    """
    names: dict[tuple[str, str], set[str]] = {}
    for device, name in {(row.device, name) for row in step_rows for name in row.inputs}:
        tensor = before_transfer(name)
        if (device, tensor, True) in runs and (device, name, False) not in runs:
            names.setdefault((device, tensor), set()).add(name)
    found: dict[tuple[str, str], _ByRound] = {}
    for (device, sent), taken in names.items():
        by_edge: dict[int, _ByRound] = {}
        for numbers, positions in runs[device, sent, True].items():
            for i in positions:
                of_edge = by_edge.setdefault(step_rows[i].edge, {})
                of_edge.setdefault(numbers, []).append(i)
        edges = sorted(by_edge)
        for rank, name in enumerate(sorted(taken, key=transfer_number)):
            found[device, name] = by_edge[edges[min(rank, len(edges) - 1)]]
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
    transfer = parse_transfer(stats)
    common: dict[str, Any] = {
        "device": device,
        "start_us": (nanos - first) / 1000,
        "duration_us": duration_nanos(stats) / 1000,
        "bytes": output_bytes(stats),
        "clock": clock,
        "rounds": rounds_of(stats),
    }
    if transfer:
        return NodeRow(
            name=transfer.tensor,
            op=_copy_name(transfer.source, device),
            kind=TRANSFER,
            source=transfer.source,
            waited_us=(nanos - _asked_nanos(stats)) / 1000,
            delay_us=max(nanos + duration_nanos(stats) - arrived_nanos(stats), 0) / 1000,
            send_us=(sent_nanos(stats) - nanos) / 1000,
            edge=transfer.edge,
            **common,
        )
    op, inputs = parse_label(stats)
    return NodeRow(
        name=stats.node_name,
        op=op,
        kind=_kind(op),
        inputs=inputs,
        delay_us=_delay_nanos(stats, nanos, first) / 1000,
        **common,
    )


def _delay_nanos(stats: NodeStats, start: int, first: int) -> int:
    """Return how long a node was ready and did not run; 0 if its statistics do not tell."""
    ready = scheduled_nanos(stats)
    return start - ready if first <= ready < start else 0


@lru_cache(maxsize=1024)
def _copy_name(source: str, target: str) -> str:
    """Return what a transfer is called: "RecvTensor", or a copy between the memories of a task."""
    (task, _, sender), (other, _, receiver) = (
        device.partition("/device:") for device in (source, target)
    )
    sides = ["D" if device.startswith("GPU") else "H" for device in (sender, receiver)]
    return f"MEMCPY{sides[0]}to{sides[1]}" if task == other and "D" in sides else RECEIVED


@lru_cache(maxsize=1024)
def _kind(op: str) -> str:
    return QUEUE if _QUEUE_OP.match(op) else COMPUTE


def _row_order(row: NodeRow) -> tuple[Any, ...]:
    return device_order(row.device), row.start_us, row.end_us, row.name


def _with_lanes(ordered: list[NodeRow]) -> list[NodeRow]:
    found = lanes(ordered, [(row.start_us, row.end_us) for row in ordered])
    return [
        replace(row, lane=lane) if lane else row for row, lane in zip(ordered, found, strict=True)
    ]
