"""tf.contrib.graph_editor.SubGraphView: some operations of a graph, with inputs and outputs.

Source: TF 1.15 API documentation, tf.contrib.graph_editor.SubGraphView.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdist.graph.graph import Graph
from tfdist.graph.operation import Operation, Tensor
from tfdist.models.graph_editor.select import (
    compute_boundary_ts,
    get_consuming_ops,
    get_name_scope_ops,
    get_walks_union_ops,
    make_list_of_op,
    make_list_of_t,
    select_ops_and_ts,
)

__all__ = [
    "ControlOutputs",
    "SubGraphView",
    "make_view",
    "make_view_from_scope",
    "sgv",
    "sgv_scope",
]


class SubGraphView:
    """Some operations of a graph, the tensors that they take from outside, and those they give.

    Args:
      inside_ops: the operations.
      passthrough_ts: tensors that are inputs and outputs at once.

    Example:
      >>> x = constant(1.0, name="x")
      >>> view = contrib.graph_editor.SubGraphView([square(x, name="y").op])
      >>> [each.name for each in view.inputs], [each.name for each in view.outputs]
      (['x:0'], ['y:0'])
    """

    def __init__(self, inside_ops: Any = (), passthrough_ts: Any = ()) -> None:
        self._ops = make_list_of_op(inside_ops)
        inputs, outputs, _ = compute_boundary_ts(self._ops)
        passed = make_list_of_t(passthrough_ts)
        self._passthroughs = [each for each in passed if each not in {*inputs, *outputs}]
        self._inputs = inputs + self._passthroughs
        self._outputs = outputs + self._passthroughs

    @property
    def ops(self) -> list[Operation]:
        """Return the operations."""
        return list(self._ops)

    @property
    def inputs(self) -> list[Tensor]:
        """Return the tensors from outside."""
        return list(self._inputs)

    @property
    def outputs(self) -> list[Tensor]:
        """Return the tensors for outside."""
        return list(self._outputs)

    @property
    def passthroughs(self) -> list[Tensor]:
        """Return the tensors that are both."""
        return list(self._passthroughs)

    @property
    def graph(self) -> Graph | None:
        """Return the graph, None of an empty view."""
        found: Sequence[Any] = self._ops or self._passthroughs
        return found[0].graph if found else None

    @property
    def connected_inputs(self) -> list[Tensor]:
        """Return the inputs that operations inside take."""
        return [each for each in self._inputs if not self.is_passthrough(each)]

    @property
    def connected_outputs(self) -> list[Tensor]:
        """Return the outputs that operations inside make."""
        return [each for each in self._outputs if not self.is_passthrough(each)]

    def op(self, op_id: int) -> Operation:
        """Return an operation by its number."""
        return self._ops[op_id]

    def is_passthrough(self, t: Tensor) -> bool:
        """Return whether a tensor is an input and an output."""
        return t in self._passthroughs

    def consumers(self) -> list[Operation]:
        """Return the operations outside that take outputs."""
        return [op for op in get_consuming_ops(self._outputs) if op not in set(self._ops)]

    def find_op_by_name(self, op_name: str) -> Operation:
        """Return the operation of that name; AttributeError if there is none inside."""
        for op in self._ops:
            if op.name == op_name:
                return op
        raise AttributeError(f"{op_name} not found in subgraph.")

    def input_index(self, t: Tensor) -> int:
        """Return the number of an input; ValueError if it is none."""
        return self._inputs.index(t)

    def output_index(self, t: Tensor) -> int:
        """Return the number of an output; ValueError if it is none."""
        return self._outputs.index(t)

    def copy(self) -> SubGraphView:
        """Return another view of the same."""
        made = SubGraphView()
        made._ops, made._passthroughs = self.ops, self.passthroughs
        made._inputs, made._outputs = self.inputs, self.outputs
        return made

    def remap(self, new_input_indices: Any = None, new_output_indices: Any = None) -> SubGraphView:
        """Return a view with inputs and outputs chosen by number, in a new order."""
        made = self.copy()
        if new_input_indices is not None:
            made._inputs = [self._inputs[_number(i, self._inputs)] for i in new_input_indices]
        if new_output_indices is not None:
            made._outputs = [self._outputs[_number(i, self._outputs)] for i in new_output_indices]
        return made

    def remap_inputs(self, new_input_indices: Any) -> SubGraphView:
        """Return a view with inputs chosen by number; see `remap`."""
        return self.remap(new_input_indices)

    def remap_outputs(self, new_output_indices: Any) -> SubGraphView:
        """Return a view with outputs chosen by number; see `remap`."""
        return self.remap(None, new_output_indices)

    def remap_default(self, remove_input_map: bool = True, remove_output_map: bool = True) -> Any:
        """Return a view with the inputs and outputs that a new one has."""
        plain, made = SubGraphView(self._ops, self._passthroughs), self.copy()
        made._inputs = plain.inputs if remove_input_map else made._inputs
        made._outputs = plain.outputs if remove_output_map else made._outputs
        return made

    def remap_outputs_make_unique(self) -> SubGraphView:
        """Return a view that has each output once."""
        made = self.copy()
        made._outputs = list(dict.fromkeys(self._outputs))
        return made

    def remove_unused_ops(self, control_inputs: bool = True) -> SubGraphView:
        """Return a view without operations on which no output depends."""
        used = set(
            get_walks_union_ops(
                self.connected_inputs, self.connected_outputs, within_ops=self._ops,
                control_inputs=control_inputs,
            )
        )  # fmt: skip
        made = self.copy()
        made._ops = [op for op in self._ops if op in used]
        return made

    def __bool__(self) -> bool:
        return self.graph is not None

    def __str__(self) -> str:
        def shown(title: str, found: Sequence[Any]) -> str:
            if not found:
                return f"** {title}: empty\n"
            return f"** {title}[{len(found)}]:\n" + "".join(f"  {each.name}\n" for each in found)

        if not self:
            return "SubGraphView: empty"
        parts = shown("ops", self._ops) + shown("inputs", self._inputs)
        return f"SubGraphView (graphid={id(self.graph)}):\n{parts}{shown('outputs', self._outputs)}"


def _number(index: Any, tensors: list[Tensor]) -> int:
    return tensors.index(index) if isinstance(index, Tensor) else index


def make_view(*args: Any, **kwargs: Any) -> SubGraphView:
    """Return a view of what operations, tensors and patterns stand for; see `select_ops`.

    Example:
      >>> x = square(constant(1.0, name="x"), name="y")
      >>> [each.name for each in contrib.graph_editor.sgv("^y", graph=x.graph).ops]
      ['y']
    """
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        return args[0]
    ops, ts = select_ops_and_ts(*args, **kwargs)
    return SubGraphView(ops, ts)


def make_view_from_scope(scope: str, graph: Graph) -> SubGraphView:
    """Return a view of the operations in a name scope."""
    return SubGraphView(get_name_scope_ops(graph, scope))


sgv, sgv_scope = make_view, make_view_from_scope


class ControlOutputs:
    """Which operations wait for which.

    Args:
      graph: that they are in.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._waiting: dict[Operation, list[Operation]] = {}
        self.update()

    def update(self) -> ControlOutputs:
        """Return this, with the control outputs that the graph has now."""
        self._waiting = {}
        for op in self.graph.get_operations():
            for each in op.control_inputs:
                self._waiting.setdefault(each, []).append(op)
        return self

    def get_all(self) -> dict[Operation, list[Operation]]:
        """Return for each operation those that wait for it."""
        return self._waiting

    def get(self, op: Operation) -> list[Operation]:
        """Return those that wait for an operation."""
        return self._waiting.get(op, [])
