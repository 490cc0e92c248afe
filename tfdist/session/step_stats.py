"""A step's trace as TensorFlow's StepStats, entry by entry.

First one entry for each device that received tensors, with its `RecvTensor`s; then one for each
device that ran nodes, `_SOURCE` first. `_Send` and `_Recv` themselves are not listed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfdist.base import dtypes
from tfdist.graph.records import Node
from tfdist.graph.tensor_proto import shape_to_proto
from tfdist.protos import pb
from tfdist.runtime.descriptions import Description
from tfdist.runtime.master import NodeTrace


def step_stats(trace: Iterable[NodeTrace]) -> Any:
    """Return the StepStats message of a traced step; times in micro- and nanoseconds."""
    received: dict[str, list[Any]] = {}
    ran: dict[str, list[Any]] = {}
    for entry in trace:
        if entry.node is None:
            ran.setdefault(entry.device, []).append(_source_stats(entry))
        elif entry.node.op == "_Recv":
            received.setdefault(entry.device, []).append(_transfer_stats(entry))
        elif entry.node.op != "_Send":
            ran.setdefault(entry.device, []).append(_node_stats(entry, entry.node))
    return pb.StepStats(
        dev_stats=[
            pb.DeviceStepStats(device=device, node_stats=stats)
            for part in (received, ran)
            for device, stats in part.items()
        ]
    )


def _timed(entry: NodeTrace, **fields: Any) -> Any:
    nanos = entry.end - entry.start
    return pb.NodeExecStats(
        all_start_micros=entry.start // 1000,
        all_start_nanos=entry.start,
        scheduled_micros=entry.start // 1000,
        scheduled_nanos=entry.start,
        op_end_rel_micros=nanos // 1000,
        op_end_rel_nanos=nanos,
        all_end_rel_micros=nanos // 1000,
        all_end_rel_nanos=nanos,
        **fields,
    )


def _source_stats(entry: NodeTrace) -> Any:
    return _timed(entry, node_name="_SOURCE", timeline_label="_SOURCE = NoOp()")


def _node_stats(entry: NodeTrace, node: Node) -> Any:
    inputs = ", ".join(name if not port else f"{name}:{port}" for name, port in node.inputs)
    return _timed(
        entry,
        node_name=node.name,
        timeline_label=f"{node.name} = {node.op}({inputs})",
        output=_outputs(node, entry.result),
    )


def _outputs(node: Node, result: Any) -> list[Any]:
    results = [result] if node.op_def.has_one_output else result or ()
    return [
        pb.NodeOutput(slot=slot, tensor_description=_description(each))
        for slot, each in enumerate(results)
    ]


def _description(output: Description | None) -> Any:
    if output is None:
        return pb.TensorDescription()
    return pb.TensorDescription(
        dtype=dtypes.as_dtype(output.dtype).as_datatype_enum,
        shape=shape_to_proto(output.shape),
        allocation_description=pb.AllocationDescription(
            requested_bytes=output.nbytes, allocator_name="cpu"
        ),
    )


def _transfer_stats(entry: NodeTrace) -> Any:
    attrs = entry.node.attrs  # type: ignore[union-attr]
    size = 0 if entry.result is None else entry.result.nbytes
    seconds = max(entry.end - entry.start, 1) / 1e9
    source, target, name = (
        attrs[key].decode() for key in ("send_device", "recv_device", "tensor_name")
    )
    output = pb.NodeOutput(
        tensor_description=pb.TensorDescription(
            allocation_description=pb.AllocationDescription(requested_bytes=size)
        )
    )
    label = f"[{size}B] [{size * 8 / 1e6 / seconds:.6f}Mb/s] {name} from {source} to {target}"
    return _timed(entry, node_name="RecvTensor", timeline_label=label, output=[output])
