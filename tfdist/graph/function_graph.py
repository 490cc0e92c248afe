"""FunctionGraph: a graph of its own in which the body of a function is built.

What a node takes from a graph outside becomes one more argument: it is captured. Functions that
are defined inside are known to the graphs around, too. `function_of` makes the record of such a
graph, with the names that TensorFlow 1.15 gives in its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from tfdist.base.aliases import TensorLike
from tfdist.graph.functions import WHOLE, CallOp, Endpoint, Function
from tfdist.graph.graph import Graph
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.records import Node
from tfdist.graph.signatures import Arg, Signature


class FunctionGraph(Graph):
    """The graph of a function's body while it is built.

    Attributes:
      name: of the function, for messages.
      outer: the graph in which it is defined.
      captures: tensors from outside, and what stands for each inside.
      control_captures: operations outside that nodes inside were to wait for; a call waits.

    Args:
      name: of the function.
      outer: the graph in which it is defined.
      named_by_tensor: whether what stands for a captured tensor takes its name, as in a
        tf.function, or is just called a placeholder, as in a Defun.
    """

    def __init__(self, name: str, outer: Graph, named_by_tensor: bool = False) -> None:
        super().__init__()
        self.name = name
        self.outer = outer
        self._outermost = outer.outermost
        self.captures: dict[Tensor, Tensor] = {}
        self.control_captures: dict[Operation, None] = {}
        self.seed = outer.seed
        self._named_by_tensor = named_by_tensor
        self._functions, self._function_gradients = outer._functions, outer._function_gradients
        self._bodies = outer._bodies
        self._collections = {key: list(values) for key, values in outer._collections.items()}
        self.capture: Callable[[str, Tensor], Tensor] = self.captured_as_argument

    def captured(self, name: str, op_def: OpDef, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Return the inputs of a new node, with what is inside for those from outside.

        Args:
          name: of the node.
          op_def: of the node.
          inputs: of the node.

        Raises:
          TypeError: the node wants a variable itself, but only its value can be captured.
        """
        if all([tensor.graph is self for tensor in inputs]):
            return inputs
        if any(arg.is_ref for arg in op_def.signature.inputs):
            raise TypeError(
                f"{name!r} ({op_def.name}) must have the variable itself, but function "
                f"{self.name!r} gets only its value: functions do not change reference variables"
            )
        scope = "" if isinstance(op_def, CallOp) else name
        return tuple([self.inside(scope, tensor) for tensor in inputs])

    def inside(self, name: str, tensor: Tensor) -> Tensor:
        """Return what stands for a tensor of a graph outside, in the name scope `name`.

        Raises:
          ValueError: it is of none of the graphs around.
        """
        if tensor.graph is self:
            return tensor
        if tensor not in self.captures:
            self.check_is_around(tensor)
            plain = self._set(_context=None, _control_scopes=(), _device_scopes=(),
                              _colocation=(), _name_stack=name)  # fmt: skip
            with self.as_default(), plain:
                self.captures[tensor] = self.capture(name, tensor)
        return self.captures[tensor]

    def check_is_around(self, tensor: Tensor) -> None:
        """Raise ValueError if `tensor` is of none of the graphs around this function."""
        if self.outermost is not tensor.graph.outermost:
            raise ValueError(
                f"{tensor!r} is of another graph than those around function {self.name!r}"
            )

    def captured_as_argument(self, name: str, tensor: Tensor) -> Tensor:
        """Return a new placeholder for `tensor`, which becomes one more argument."""
        made: Tensor = raw.Placeholder(
            dtype=tensor.dtype.base_dtype,
            shape=tensor.shape,
            name=tensor.op.name if self._named_by_tensor else None,
        )
        return made

    @property
    def outermost(self) -> Graph:
        """Return the graph around all functions."""
        return self._outermost

    def control_dependencies(
        self, control_inputs: Iterable[TensorLike] | None
    ) -> AbstractContextManager[None]:
        """See `Graph.control_dependencies`: the call waits for what is outside."""
        if control_inputs is None:
            return super().control_dependencies(None)
        operations = [each.op if hasattr(each, "op") else each for each in control_inputs]
        outside = [op for op in operations if getattr(op, "graph", self) is not self]
        self.control_captures.update(dict.fromkeys(outside))
        return super().control_dependencies([op for op in operations if op not in outside])

    def colocate_with(
        self, op: TensorLike, ignore_existing: bool = False
    ) -> AbstractContextManager[None]:
        """See `Graph.colocate_with`: what is outside is no place here."""
        if getattr(op, "graph", self) is not self:
            kept = () if ignore_existing else self._colocation
            return self._set(_colocation=kept, _device_scopes=())
        return super().colocate_with(op, ignore_existing)


class Shown(NamedTuple):
    """How a function shows itself.

    Attributes:
      name: of the function.
      output_names: of its results; made from their nodes' names if empty.
      control_outputs: operations that always run.
      attrs: of the function.
      argument_attrs: attributes of arguments, by their index.
      not_awaited: operations that nodes do not wait for here, though they do in the graph.
    """

    name: str
    output_names: Sequence[str] = ()
    control_outputs: Sequence[Operation] = ()
    attrs: Mapping[str, Any] = {}
    argument_attrs: Mapping[int, Mapping[str, Any]] = {}
    not_awaited: Collection[Operation] = ()


def function_of(
    operations: Sequence[Operation], inputs: Sequence[Tensor], outputs: Sequence[Tensor],
    shown: Shown,
) -> Function:  # fmt: skip
    """Return the function from `inputs` to `outputs`.

    Args:
      operations: its body, in which those that make the inputs do not count.
      inputs: tensors that the arguments stand for.
      outputs: its results.
      shown: its name and the like.
    """
    return _Exporter(operations, inputs, outputs, shown).function()


class _Exporter:
    """Makes the record of a function; names stand for each other as in TensorFlow 1.15."""

    def __init__(
        self, operations: Sequence[Operation], inputs: Sequence[Tensor],
        outputs: Sequence[Tensor], shown: Shown,
    ) -> None:  # fmt: skip
        self._inputs, self._outputs, self._shown = inputs, outputs, shown
        makers = {tensor.op for tensor in inputs}
        self._operations = [op for op in operations if op not in makers]
        self._taken: set[str] = set()
        # results come first, arguments next: what is inside gives way
        self._output_names = list(shown.output_names) or [
            self._unique(_normal(tensor.op.name)) for tensor in outputs
        ]
        self._taken.update(self._output_names)
        self._arguments = {tensor: self._unique(_normal(tensor.op.name)) for tensor in inputs}
        self._argument_of = {tensor.op.name: name for tensor, name in self._arguments.items()}
        self._names = {op.name: self._unique(op.name) for op in self._operations}

    def function(self) -> Function:
        """Return the function."""
        signature = Signature(
            self._shown.name,
            tuple([Arg(name, t.dtype.base_dtype) for t, name in self._arguments.items()]),
            tuple(
                [Arg(name, tensor.dtype.base_dtype)
                 for name, tensor in zip(self._output_names, self._outputs, strict=True)]
            ),
            {},
            any(op.op_def.is_stateful for op in self._operations),
        )  # fmt: skip
        ends = zip(self._output_names, map(self._endpoint, self._outputs), strict=True)
        controls = [self._names[op.name] for op in self._shown.control_outputs]
        return Function(
            signature,
            tuple(map(self._node, self._operations)),
            dict(ends),
            dict(zip(controls, controls, strict=True)),
            self._shown.attrs,
            self._shown.argument_attrs,
        )

    def _unique(self, name: str) -> str:
        found, number = name, 0
        while found in self._taken:
            found = f"{name}_{number}"
            number += 1
        self._taken.add(found)
        return found

    def _endpoint(self, tensor: Tensor) -> Endpoint:
        if tensor in self._arguments:
            return self._arguments[tensor], WHOLE
        op, position = tensor.op, 0
        for arg in op.op_def.signature.outputs:
            count = arg.count(op._attrs)
            if tensor.value_index < position + count:
                return f"{self._names[op.name]}:{arg.name}", tensor.value_index - position
            position += count
        raise AssertionError(f"{tensor!r} is no output of its op")

    def _node(self, op: Operation) -> Node:
        attrs = dict(op._attrs)
        if "_class" in attrs:
            attrs["_class"] = [self._group(group) for group in attrs["_class"]]
        awaited = [each for each in op._control_inputs if each not in self._shown.not_awaited]
        control = [self._name(each.name) for each in awaited]
        inputs = tuple(map(self._endpoint, op.inputs))
        return Node(self._name(op.name), op.type, inputs, tuple(control), op.device, attrs)

    def _group(self, group: bytes) -> bytes:
        return f"loc:@{self._name(group.decode().removeprefix('loc:@'))}".encode()

    def _name(self, name: str) -> str:
        return self._names.get(name) or self._argument_of.get(name, name)


def _normal(name: str) -> str:
    """Return a node's name as that of an argument or a result: a letter, then [a-z0-9_]."""
    text = re.sub("[^a-z0-9]", "_", name.lower())
    return re.sub("^[^a-z]+", "", text) or "unknown"


class Built(NamedTuple):
    """A function while its graph is at hand.

    Attributes:
      graph: of its body.
      inputs: what stands for its arguments there.
      outputs: its results there.
      captures: what it takes from outside, for the last of the inputs.
    """

    graph: FunctionGraph
    inputs: list[Tensor]
    outputs: list[Tensor]
    captures: tuple[Tensor, ...] = ()
