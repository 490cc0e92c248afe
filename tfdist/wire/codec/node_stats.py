"""What TensorFlow's NodeExecStats say of one node, transfer or send."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Literal, NamedTuple, cast

from tfdist.base import dtypes
from tfdist.graph.op_def import lookup
from tfdist.graph.records import COPY, RECEIVES, SENDS, SWITCHES, Node
from tfdist.graph.tensor_proto import shape_to_proto
from tfdist.protos import pb
from tfdist.runtime.step.descriptions import Described, Description
from tfdist.tracing.disturbances import Disturbance, label_of
from tfdist.tracing.steps.entries import RECEIVED, SENT, SOURCE
from tfdist.tracing.steps.loop_iterations import Rounds, with_rounds

RECEIVING = frozenset({*RECEIVES, COPY})
SENDING = frozenset(SENDS)

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


class Crossing(NamedTuple):
    """A tensor that was received or sent; times in nanoseconds since the epoch.

    Attributes:
      node: `_Recv`, `_Send` or what is like them.
      start: when it was asked for, or there to be sent.
      end: when its task took it, or it was sent.
      result: what it is.
      came: when it came; 0 if nobody waited for it.
      rounds: of which loops it crossed in.
      ready: when all that the node takes was there.
    """

    node: Node
    start: int
    end: int
    result: Description | None
    came: int
    rounds: Rounds
    ready: int


def source_stats(disturbances: Iterable[Disturbance] | None) -> pb.NodeExecStats:
    """Return what is said of the beginning of a task's part, but for its times."""
    label = f"{SOURCE} = NoOp(){label_of(disturbances or ())}"
    return pb.NodeExecStats(node_name=SOURCE, timeline_label=label)


def node_stats(node: Node, result: Described, rounds: Rounds) -> pb.NodeExecStats:
    """Return what is said of a node that gave `result`, but for its times."""
    results = _outputs(node, result)
    taken = [name if not port else f"{name}:{port}" for name, port in node.inputs]
    taken += [f"^{name}" for name in node.control]
    label = f"{node.name} = {node.op}({', '.join(taken)})"
    memory = _memory(node.op)
    size = sum(each.nbytes for each in results if each is not None) if memory else 0
    return pb.NodeExecStats(
        node_name=node.name,
        timeline_label=with_rounds(label, rounds) if rounds.numbers else label,
        output=[
            pb.NodeOutput(slot=slot, tensor_description=_description(each, memory == "new"))
            for slot, each in enumerate(results)
            if each is not None or node.op not in SWITCHES  # the other side is dead
        ],
        **(_held(memory, size) if size else {}),
    )


def transfer_stats(entry: Crossing) -> pb.NodeExecStats:
    """Return the statistics of a tensor that was received."""
    size = 0 if entry.result is None else entry.result.nbytes + entry.result.text_bytes
    described = pb.TensorDescription(
        allocation_description=pb.AllocationDescription(requested_bytes=size)
    )
    stats = pb.NodeExecStats(
        node_name=RECEIVED,
        timeline_label=transfer_label(size, entry.end - entry.start, _route(entry)),
        output=[pb.NodeOutput(tensor_description=described)],
    )
    _set_run(stats, entry, entry.start)
    if entry.came:
        set_inner_times(stats, entry.start, entry.came)
    return stats


def send_stats(entry: Crossing) -> pb.NodeExecStats:
    """Return the statistics of a tensor that was sent, which no whole step lists."""
    stats = pb.NodeExecStats(node_name=SENT, timeline_label=_route(entry))
    _set_run(stats, entry, entry.ready or entry.start)
    return stats


def set_times(stats: pb.NodeExecStats, start: int, end: int) -> None:
    """Set the fields of an interval in nanoseconds since the epoch.

    Both ends are cut to whole microseconds, not the length: so what follows starts no earlier.
    """
    micros = start // 1000
    stats.all_start_micros, stats.all_start_nanos = micros, start
    stats.op_end_rel_micros = stats.all_end_rel_micros = end // 1000 - micros
    stats.op_end_rel_nanos = stats.all_end_rel_nanos = end - start


def set_inner_times(stats: pb.NodeExecStats, left: int, arrived: int) -> None:
    """Set when a tensor had left its sender and when it came, in nanoseconds since the epoch."""
    start = stats.all_start_nanos
    stats.op_start_rel_nanos, stats.op_end_rel_nanos = max(left - start, 0), arrived - start
    stats.op_start_rel_micros = max(left // 1000 - stats.all_start_micros, 0)
    stats.op_end_rel_micros = arrived // 1000 - stats.all_start_micros


def transfer_label(size: int, nanos: int, route: str) -> str:
    """Return "[4B] [0.320000Mb/s] edge_4_a from A to B", numbers written as TensorFlow does."""
    is_large = size >= 0.1 * _MEBIBYTE
    told_size = f"{size / _MEBIBYTE:.1f}MB" if is_large else f"{size}B"
    bits = size * 8 / (max(nanos, _TICK) / 1e9)  # a second
    is_quick = bits >= _GIGABIT
    rate = f"{bits / _GIGABIT:.1f}Gb/s" if is_quick else f"{bits / 1e6:.6f}Mb/s"
    return f"[{told_size}] [{rate}] {route}"


def _set_run(stats: pb.NodeExecStats, entry: Crossing, scheduled: int) -> None:
    stats.scheduled_micros, stats.scheduled_nanos = scheduled // 1000, scheduled
    set_times(stats, entry.start, entry.end)
    if entry.rounds.numbers:
        stats.timeline_label = with_rounds(stats.timeline_label, entry.rounds)


def _outputs(node: Node, result: Described) -> Sequence[Description | None]:
    """Return what is known of each output: a kernel gives those of several as a list."""
    found = [result] if node.op_def.has_one_output else result or ()
    return cast("Sequence[Description | None]", found)


def _route(entry: Crossing) -> str:
    """Return "edge_4_a from A to B" for a `_Send` or a `_Recv`."""
    keys = ("tensor_name", "send_device", "recv_device")
    name, source, target = (entry.node.attrs[key].decode() for key in keys)
    return f"{name} from {source} to {target}"


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
