"""Nodes as plain records: what plans, masters and workers see of a graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tfdist.base.aliases import Array
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.graph.op_def import OpDef, lookup
from tfdist.graph.operation import Operation

# Ops that move a tensor between tasks. TensorFlow's masters use the second name of each for what
# lies in a host's memory.
SENDS = ("_Send", "_HostSend")
RECEIVES = ("_Recv", "_HostRecv")

COPY = "_DeviceCopy"  # moves a tensor between devices of one task: a `_Send` and a `_Recv` in one

FUSED = "_Fused"  # stands for a chain of nodes that run as one loop over elements

# The nodes of branches and loops; the second name of each is for variables themselves.
SWITCHES = ("Switch", "RefSwitch")
MERGES = ("Merge", "RefMerge")
ENTERS = ("Enter", "RefEnter")
EXITS = ("Exit", "RefExit")
NEXT_ITERATIONS = ("NextIteration", "RefNextIteration")
CONTROL_FLOW = frozenset({*SWITCHES, *MERGES, *ENTERS, *EXITS, *NEXT_ITERATIONS, "LoopCond"})


class Node(NamedTuple):
    """One node. Two records are the same node if their names are equal within one graph.

    Attributes:
      name: unique in its graph.
      op: name of the op.
      inputs: (node name, output index) of each input tensor.
      control: names of the nodes that run before it.
      device: the request ("" for none); once placed, a full device name.
      attrs: plain values, complete with defaults.
      shapes: what is known of the shape of each output; empty if nothing is.
    """

    name: str
    op: str
    inputs: tuple[tuple[str, int], ...] = ()
    control: tuple[str, ...] = ()
    device: str = ""
    attrs: Mapping[str, Any] = {}
    shapes: tuple[Shape, ...] = ()

    @property
    def op_def(self) -> OpDef:
        """Return the op's definition."""
        return lookup(self.op)

    def taking(self, instead: Mapping[tuple[str, int], tuple[str, int]]) -> Node:
        """Return the node with other tensors in the place of some that it takes."""
        if instead.keys().isdisjoint(self.inputs):
            return self
        return self._replace(inputs=tuple([instead.get(each, each) for each in self.inputs]))


def constant_node(
    name: str, value: Array, dtype: DType, device: str, control: tuple[str, ...] = ()
) -> Node:
    """Return the record of a constant that no operation of a graph stands for."""
    attrs = {"value": value, "dtype": dtype}
    return Node(name, "Const", (), control, device, attrs, (value.shape,))


def is_back_edge(node: Node, input_node: Node | None) -> bool:
    """Return whether an input of `node` brings the value of the round before."""
    return input_node is not None and node.op in MERGES and input_node.op in NEXT_ITERATIONS


def record(op: Operation) -> Node:
    """Return the record of an operation."""
    return Node(
        op.name,
        op.type,
        tuple([(tensor.op.name, tensor.value_index) for tensor in op.inputs]),
        tuple([control.name for control in op._control_inputs]),
        op._device,
        op._attrs,
        tuple([tensor._shape for tensor in op.outputs]),
    )


def records(operations: Iterable[Operation]) -> tuple[Node, ...]:
    """Return the records of operations, in their order."""
    return tuple(map(record, operations))
