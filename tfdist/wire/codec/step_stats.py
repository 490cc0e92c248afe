"""A step's trace as TensorFlow's StepStats, entry by entry.

First one entry for each device that received tensors, with its `RecvTensor`s; then one for each
device that ran nodes, `_SOURCE` first. `_Send` and `_Recv` themselves are not listed in the end.

A node is `scheduled` when all that it takes is there, as in TensorFlow. A receiver knows when it
asked for a tensor (`scheduled`), when that came (`op_end`), and when its task took it (`all_end`).
A transfer lasts from when the tensor was there, as TensorFlow's entries and the rates in their
labels have it, and its `op_start` is when it had left its sender; both are known when the
statistics of all tasks are together (`merged`). Till then each has an entry for `_Send`s, too.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Literal

from tfdist.base import dtypes
from tfdist.graph.op_def import lookup
from tfdist.graph.records import COPY, RECEIVES, SENDS, SWITCHES, Node
from tfdist.graph.tensor_proto import shape_to_proto
from tfdist.protos import pb
from tfdist.runtime.step.descriptions import Description
from tfdist.runtime.step.trace import NodeTrace
from tfdist.tracing.clocks import SAME_CLOCK, ClockOffset
from tfdist.tracing.disturbances import label_of
from tfdist.tracing.entries import (
    RECEIVED,
    SENT,
    SOURCE,
    Transfer,
    arrived_nanos,
    duration_nanos,
    fed_tensor,
    output_bytes,
    parse_label,
    parse_transfer,
    rounds_of,
    scheduled_nanos,
    start_nanos,
)
from tfdist.tracing.loop_iterations import given_to, with_rounds

_CROSSING = (*RECEIVES, COPY)
_MEBIBYTE = 1 << 20
_GIGABIT = 1e9
_TICK = 1000  # nanoseconds: the least that counts for a rate

# The outputs of these lie in memory that was there before the step and stays.
_KEEPING = frozenset({"Const", "VarHandleOp", "Variable", "VariableV2"})

# These give on an input's memory, and so does what gives a variable back.
_PASSING = frozenset(
    {
        *("Enter", "Exit", "LoopCond", "Merge", "NextIteration", "RefIdentity", "Switch"),
        *("ExpandDims", "Identity", "PlaceholderWithDefault", "PreventGradient"),
        *("ReadVariableOp", "Reshape", "Squeeze", "StopGradient"),
    }
)


def step_stats(trace: Iterable[NodeTrace]) -> pb.StepStats:
    """Return the StepStats message of what one process traced of a step."""
    received: dict[str, list[Any]] = {}
    ran: dict[str, list[Any]] = {}
    sent: dict[str, list[Any]] = {}
    known: dict[Hashable, pb.NodeExecStats] = {}
    for entry in trace:
        if entry.node is None:
            ran.setdefault(entry.device, []).append(_source_stats(entry))
        elif entry.node.op in _CROSSING:
            received.setdefault(entry.device, []).append(_transfer_stats(entry, entry.node))
        elif entry.node.op in SENDS:
            sent.setdefault(entry.device, []).append(_send_stats(entry, entry.node))
        else:
            ran.setdefault(entry.device, []).append(_node_stats(entry, entry.node, known))
    return pb.StepStats(
        dev_stats=[
            pb.DeviceStepStats(device=device, node_stats=stats)
            for part in (received, ran, sent)
            for device, stats in part.items()
        ]
    )


def merged(parts: Iterable[pb.StepStats]) -> pb.StepStats:
    """Return the StepStats of a whole step: what was received, then what ran.

    Args:
      parts: StepStats of the step's processes, their times by one clock.
    """
    by_kind: dict[str, list[pb.DeviceStepStats]] = {RECEIVED: [], SENT: [], "": []}
    for part in parts:
        for entry in part.dev_stats:
            by_kind.get(_first_name(entry), by_kind[""]).append(entry)
    whole = pb.StepStats(dev_stats=[*by_kind[RECEIVED], *by_kind[""]])
    _begin_when_made(whole, _departures(by_kind[SENT]))
    return whole


def shift(stats: pb.StepStats, clock: ClockOffset) -> None:
    """Put the times of another host's StepStats on our clock, and say so where it starts."""
    if clock == SAME_CLOCK:
        return
    for node in (node for device in stats.dev_stats for node in device.node_stats):
        scheduled = scheduled_nanos(node)
        node.all_start_nanos = start_nanos(node) - clock.nanos
        node.all_start_micros = node.all_start_nanos // 1000
        if scheduled:  # TensorFlow leaves it open for transfers
            node.scheduled_nanos = scheduled - clock.nanos
            node.scheduled_micros = node.scheduled_nanos // 1000
        if node.node_name == SOURCE:
            node.timeline_label += f" [{clock}]"


def _first_name(entry: pb.DeviceStepStats) -> str:
    return entry.node_stats[0].node_name if entry.node_stats else ""


def _departures(of_sends: Iterable[pb.DeviceStepStats]) -> dict[str, int]:
    """Return when each tensor had left its sender, in nanoseconds, by the label of its `_Send`."""
    return {
        node.timeline_label: _end_nanos(node) for entry in of_sends for node in entry.node_stats
    }


def _begin_when_made(stats: pb.StepStats, left: Mapping[str, int]) -> None:
    """Let each transfer start when its tensor was there, if that was after it was asked for.

    A fed tensor is there when its task begins, a dead one when it comes: nobody made it. By
    uncertain clocks a tensor may seem to come before it was made.

    Args:
      stats: of the whole step.
      left: when each tensor had left its sender, from `_departures`.
    """
    transfers = [
        (node, sent)
        for entry in stats.dev_stats
        if _first_name(entry) == RECEIVED
        for node in entry.node_stats
        if scheduled_nanos(node) and (sent := parse_transfer(node))
    ]
    if not transfers:
        return
    made = _ends(stats, {(sent.source, sent.tensor) for _, sent in transfers})
    for node, sent in transfers:
        asked, arrived, end = start_nanos(node), arrived_nanos(node), _end_nanos(node)
        rounds = rounds_of(node)
        is_dead = not output_bytes(node) and not fed_tensor(sent.tensor)
        otherwise = end if is_dead else made.get((sent.source, SOURCE, ()), asked)
        ready = _ready(made, sent, rounds.numbers) or otherwise
        start = max(asked, min(ready, end))
        _set_times(node, start, end)
        arrived = max(start, min(arrived, end))
        gone = left.get(with_rounds(sent.route, rounds), start)
        _set_inner_times(node, min(gone, arrived), arrived)
        label = _transfer_label(output_bytes(node), end - start, sent.route)
        node.timeline_label = with_rounds(label, rounds)


_Ends = dict[tuple[str, str, tuple[int, ...]], int]


def _ends(stats: pb.StepStats, wanted: set[tuple[str, str]]) -> _Ends:
    """Return when the `wanted` (device, node) and all beginnings ended, in nanoseconds.

    A node in a loop ended once for each round that takes what it made.
    """
    return {
        (entry.device, node.node_name, given_to(parse_label(node)[0], rounds_of(node))): (
            _end_nanos(node)
        )
        for entry in stats.dev_stats
        for node in entry.node_stats
        if node.node_name == SOURCE or (entry.device, node.node_name) in wanted
    }


def _ready(made: _Ends, sent: Transfer, numbers: tuple[int, ...]) -> int:
    """Return when a tensor was there that crossed in rounds of these numbers; 0 if nobody knows."""
    found = made.get((sent.source, sent.tensor, numbers), 0)
    return found or made.get((sent.source, sent.tensor, numbers[:-1]), 0)


def _set_times(stats: pb.NodeExecStats, start: int, end: int) -> None:
    """Set the fields of an interval in nanoseconds since the epoch.

    Both ends are cut to whole microseconds, not the length: so what follows starts no earlier.
    """
    micros = start // 1000
    stats.all_start_micros, stats.all_start_nanos = micros, start
    stats.op_end_rel_micros = stats.all_end_rel_micros = end // 1000 - micros
    stats.op_end_rel_nanos = stats.all_end_rel_nanos = end - start


def _set_inner_times(stats: pb.NodeExecStats, left: int, arrived: int) -> None:
    """Set when a tensor had left its sender and when it came, in nanoseconds since the epoch."""
    start = stats.all_start_nanos
    stats.op_start_rel_nanos, stats.op_end_rel_nanos = max(left - start, 0), arrived - start
    stats.op_start_rel_micros = max(left // 1000 - stats.all_start_micros, 0)
    stats.op_end_rel_micros = arrived // 1000 - stats.all_start_micros


def _end_nanos(stats: pb.NodeExecStats) -> int:
    return start_nanos(stats) + duration_nanos(stats)


def _timed(entry: NodeTrace, known: pb.NodeExecStats) -> pb.NodeExecStats:
    """Return what is `known` of a node, with the times of one run."""
    stats = pb.NodeExecStats()
    stats.CopyFrom(known)
    stats.scheduled_nanos = entry.ready or entry.start
    stats.scheduled_micros = stats.scheduled_nanos // 1000
    _set_times(stats, entry.start, entry.end)
    if entry.rounds.numbers:
        stats.timeline_label = with_rounds(stats.timeline_label, entry.rounds)
    return stats


def _source_stats(entry: NodeTrace) -> pb.NodeExecStats:
    label = f"{SOURCE} = NoOp(){label_of(entry.result or ())}"
    return _timed(entry, pb.NodeExecStats(node_name=SOURCE, timeline_label=label))


def _node_stats(
    entry: NodeTrace, node: Node, known: dict[Hashable, pb.NodeExecStats]
) -> pb.NodeExecStats:
    """Return the statistics of one run; `known` keeps what runs of a node have in common."""
    results = [entry.result] if node.op_def.has_one_output else entry.result or ()
    key = id(node), *results
    if key not in known:
        known[key] = _known_stats(node, results)
    return _timed(entry, known[key])


def _known_stats(node: Node, results: Sequence[Description | None]) -> pb.NodeExecStats:
    taken = [name if not port else f"{name}:{port}" for name, port in node.inputs]
    taken += [f"^{name}" for name in node.control]
    memory = _memory(node.op)
    size = sum(each.nbytes for each in results if each is not None) if memory else 0
    return pb.NodeExecStats(
        node_name=node.name,
        timeline_label=f"{node.name} = {node.op}({', '.join(taken)})",
        output=[
            pb.NodeOutput(slot=slot, tensor_description=_description(each, memory == "new"))
            for slot, each in enumerate(results)
            if each is not None or node.op not in SWITCHES  # the other side is dead
        ],
        **(_held(memory, size) if size else {}),
    )


@cache
def _memory(op: str) -> Literal["", "kept", "new"]:
    """Return which memory the outputs of an op lie in that is its own, as far as that is known."""
    if op in _KEEPING:
        return "kept"
    gives_back = any(output.is_ref for output in lookup(op).signature.outputs)
    return "" if op in _PASSING or gives_back else "new"


def _held(memory: str, size: int) -> dict[str, pb.Message | list[pb.Message]]:
    """Return the fields of what a node holds: profilers and TensorBoard add these up."""
    if memory == "kept":
        return {"memory_stats": pb.MemoryStats(persistent_memory_size=size)}
    used = {"total_bytes": size, "peak_bytes": size, "live_bytes": size}
    return {"memory": [pb.AllocatorMemoryUsed(allocator_name="cpu", **used)]}


def _description(output: Description | None, is_new: bool) -> pb.TensorDescription:
    if output is None:
        return pb.TensorDescription()
    return pb.TensorDescription(
        dtype=dtypes.as_dtype(output.dtype).as_datatype_enum,
        shape=shape_to_proto(output.shape),
        allocation_description=pb.AllocationDescription(
            requested_bytes=output.nbytes,
            allocated_bytes=output.nbytes if is_new else 0,
            allocator_name="cpu",
        ),
    )


def _transfer_stats(entry: NodeTrace, node: Node) -> pb.NodeExecStats:
    size = 0 if entry.result is None else entry.result.nbytes + entry.result.text_bytes
    route = _route(node)
    described = pb.TensorDescription(
        allocation_description=pb.AllocationDescription(requested_bytes=size)
    )
    known = pb.NodeExecStats(
        node_name=RECEIVED,
        timeline_label=_transfer_label(size, entry.end - entry.start, route),
        output=[pb.NodeOutput(tensor_description=described)],
    )
    stats = _timed(entry, known)
    stats.scheduled_micros, stats.scheduled_nanos = entry.start // 1000, entry.start
    if entry.came:
        _set_inner_times(stats, entry.start, entry.came)
    return stats


def _send_stats(entry: NodeTrace, node: Node) -> pb.NodeExecStats:
    return _timed(entry, pb.NodeExecStats(node_name=SENT, timeline_label=_route(node)))


def _route(node: Node) -> str:
    """Return "edge_4_a from A to B" for a `_Send` or a `_Recv`."""
    name, source, target = (
        node.attrs[key].decode() for key in ("tensor_name", "send_device", "recv_device")
    )
    return f"{name} from {source} to {target}"


def _transfer_label(size: int, nanos: int, route: str) -> str:
    """Return "[4B] [0.320000Mb/s] edge_4_a from A to B", numbers written as TensorFlow does."""
    is_large = size >= 0.1 * _MEBIBYTE
    told_size = f"{size / _MEBIBYTE:.1f}MB" if is_large else f"{size}B"
    bits = size * 8 / (max(nanos, _TICK) / 1e9)  # a second
    is_quick = bits >= _GIGABIT
    rate = f"{bits / _GIGABIT:.1f}Gb/s" if is_quick else f"{bits / 1e6:.6f}Mb/s"
    return f"[{told_size}] [{rate}] {route}"
