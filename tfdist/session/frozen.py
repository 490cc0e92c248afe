"""Frozen variables: NodeDefs with constants where variables were, and what read their handles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from tfdist.base.aliases import TensorValue
from tfdist.graph.tensor_proto import make_tensor_proto
from tfdist.protos import pb

_INT32, _RESOURCE = 3, 20  # DataType
# Ops whose outputs are their first input, and which then hand on a value instead of a handle.
_HANDS_ON = frozenset({"Enter", "Exit", "Identity", "Merge", "NextIteration", "Switch"})


def constants_for(
    nodes: Iterable[pb.NodeDef], values: Mapping[str, TensorValue]
) -> Iterator[pb.NodeDef]:
    """Yield nodes with constants in the place of variables.

    Args:
      nodes: NodeDefs.
      values: of the variables that become constants, by name.

    Raises:
      ValueError: a node takes the handle of such a variable for more than its value.
    """
    nodes = list(nodes)
    behind = _behind(nodes, values)
    for node in nodes:
        if node.name in values:
            yield _constant(node, values[node.name])
            continue
        given = [text for text in node.input if _name(text) in behind]
        if not given:
            yield node
        else:
            yield from _changed(node, given, behind)


def _name(text: str) -> str:
    """Return the node whose tensor an input is; "" for one that is only waited for."""
    return "" if text.startswith("^") else text.partition(":")[0]


def _behind(
    nodes: Iterable[pb.NodeDef], values: Mapping[str, TensorValue]
) -> dict[str, pb.NodeDef]:
    """Return, for each node that gives the handle of a constant to be, the VarHandleOp."""
    by_name = {node.name: node for node in nodes}

    def source(node: pb.NodeDef | None) -> pb.NodeDef | None:
        while node is not None and node.op in _HANDS_ON and node.attr["T"].type == _RESOURCE:
            node = by_name.get(_name(node.input[0]))
        return node

    found = {name: source(node) for name, node in by_name.items()}
    return {
        name: node
        for name, node in found.items()
        if node is not None and node.op == "VarHandleOp" and node.name in values
    }


def _constant(variable: pb.NodeDef, value: TensorValue) -> pb.NodeDef:
    node = pb.NodeDef(name=variable.name, op="Const")
    node.attr["dtype"].CopyFrom(variable.attr["dtype"])
    node.attr["value"].tensor.CopyFrom(make_tensor_proto(np.asarray(value)))
    return node


def _changed(
    node: pb.NodeDef, given: list[str], behind: Mapping[str, pb.NodeDef]
) -> Iterator[pb.NodeDef]:
    """Yield what does with values what a node did with handles."""
    change = _CHANGES.get(node.op)
    variable = behind[_name(given[0])]
    if change is None:
        raise ValueError(
            f"node {node.name!r} ({node.op}) takes the variable {variable.name!r} itself, which "
            "cannot be a constant then: name other output nodes, which only read it, or leave it "
            f"a variable with variable_names_blacklist=[{variable.name!r}]"
        )
    yield from change(node, variable.attr["dtype"].type)


def _handed_on(node: pb.NodeDef, dtype: int) -> Iterator[pb.NodeDef]:
    copy = pb.NodeDef()
    copy.CopyFrom(node)
    copy.attr["T"].type = dtype
    yield copy


def _read(node: pb.NodeDef, dtype: int) -> Iterator[pb.NodeDef]:
    yield _made(node, "Identity", node.input[:1], T=dtype)


def _shape(node: pb.NodeDef, dtype: int) -> Iterator[pb.NodeDef]:
    made = _made(node, "Shape", node.input[:1], T=dtype)
    made.attr["out_type"].type = node.attr["out_type"].type or _INT32
    yield made


def _gathered(node: pb.NodeDef, dtype: int) -> Iterator[pb.NodeDef]:
    if node.attr["batch_dims"].i:
        raise ValueError("batch_dims != 0 is not supported by freeze_graph.")
    axis = _constant(pb.NodeDef(name=f"{node.name}/axis"), np.int32(0))
    axis.attr["dtype"].type = _INT32
    yield axis
    types = {"Tparams": dtype, "Tindices": node.attr["Tindices"].type, "Taxis": _INT32}
    yield _made(node, "GatherV2", [*node.input[:2], axis.name], **types)


def _gathered_by_rows(node: pb.NodeDef, dtype: int) -> Iterator[pb.NodeDef]:
    types = {"Tparams": dtype, "Tindices": node.attr["Tindices"].type}
    yield _made(node, "GatherNd", node.input[:2], **types)


def _made(node: pb.NodeDef, op: str, inputs: Iterable[str], **types: int) -> pb.NodeDef:
    made = pb.NodeDef(name=node.name, op=op, input=inputs)
    for key, dtype in types.items():
        made.attr[key].type = dtype
    if "_class" in node.attr:
        made.attr["_class"].CopyFrom(node.attr["_class"])
    return made


_CHANGES: dict[str, Callable[[Any, int], Iterator[Any]]] = {
    **dict.fromkeys(_HANDS_ON, _handed_on),
    "ReadVariableOp": _read,
    "VariableShape": _shape,
    "ResourceGather": _gathered,
    "ResourceGatherNd": _gathered_by_rows,
}
