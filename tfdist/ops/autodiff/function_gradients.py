"""Gradients through calls of functions: functions that walk backwards.

The gradient function of f takes the arguments of f, results of f that help, and the gradients of
f's results; it computes again what it needs of f, and gives the gradients of the arguments. What
is not the same when it is computed again, a random number say, it must take as a result of f: a
tf.function gives such values as further results.

The gradient function of a `Defun`, or of a branch, takes nothing but the arguments and the
gradients of all results, and gives a tensor for each argument, as TensorFlow 1.15's
SymbolicGradient wants it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from tfdist.base.dtypes import DType, resource, variant
from tfdist.base.tensor_shape import TensorShape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import graph_def, graph_import
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.function_graph import Built, FunctionGraph, Shown, function_of
from tfdist.graph.functions import (
    ARGUMENT,
    Body,
    CallOp,
    Library,
    NameAttrList,
    body_of,
)
from tfdist.graph.graph import Graph
from tfdist.graph.handles import value_behind
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.records import MERGES, NEXT_ITERATIONS, SWITCHES, Node
from tfdist.ops.autodiff.backward_sums import zeros_for
from tfdist.ops.autodiff.gradients import gradients
from tfdist.ops.framework.shared_values import or_zeros
from tfdist.ops.functions import calls


def has_gradient(dtype: DType) -> bool:
    """Return whether gradients flow through tensors of this type; lists of tensors are variants."""
    base = dtype.base_dtype
    return base.is_floating or base.is_complex or base is variant


# bodies


def built(graph: Graph, function: NameAttrList) -> Built:
    """Return the graph of a function's body; one is made for those that came in a message."""
    known: Built | None = graph._bodies.get(function.name)
    if known is None:
        library = graph.library
        body = body_of(library.find(function.name), function.attrs, library)
        known = _rebuilt(FunctionGraph(function.name, graph), body)
        if not function.attrs:
            graph._bodies[function.name] = known
    return known


def _rebuilt(graph: FunctionGraph, body: Body) -> Built:
    prefix = "arguments"
    while any(node.name.startswith(prefix) for node in body.nodes):
        prefix += "_"
    names = [f"{prefix}/{i}" for i in range(len(body.inputs))]
    unknown = TensorShape(None)
    nodes = [
        Node(name, "Placeholder", attrs={"dtype": dtype, "shape": unknown})
        for name, dtype in zip(names, body.inputs, strict=True)
    ]
    nodes += [_with_arguments(node, names) for node in body.nodes]
    with graph.as_default():
        graph_import.import_graph_def(graph_def.records_to_proto(nodes), name="")
    inputs = [graph.get_operation_by_name(name).outputs[0] for name in names]
    ends = [_end(endpoint, names) for endpoint in body.results]
    outputs = [graph.get_operation_by_name(name).outputs[port] for name, port in ends]
    return Built(graph, inputs, outputs)


def _end(endpoint: tuple[str, int], names: Sequence[str]) -> tuple[str, int]:
    name, port = endpoint
    return (names[port], 0) if name == ARGUMENT else endpoint


def _with_arguments(node: Node, names: Sequence[str]) -> Node:
    """Return a node of a body with the placeholders `names` for its arguments."""
    control = [names[int(name[1:])] if name[0] == ":" else name for name in node.control]
    attrs = {key: value for key, value in node.attrs.items() if key != "_class"}
    inputs = tuple([_end(endpoint, names) for endpoint in node.inputs])
    return node._replace(inputs=inputs, control=tuple(control), attrs=attrs)


# walking backwards


class _Walk(NamedTuple):
    """A way back through a body.

    Attributes:
      body: where its nodes are, beside those of the body.
      starts: what stands for the gradients of results, by their index.
      found: the gradient of each argument, None where there is none.
      captures: what it takes from outside besides, and what stands for that.
      before: how many operations the body had.
    """

    body: Built
    starts: dict[int, Tensor]
    found: list[Tensor | None]
    captures: dict[Tensor, Tensor]
    before: int


def _walk(body: Built, results: Iterable[int]) -> _Walk:
    """Walk back from those results whose gradients are given."""
    graph, before, known = body.graph, body.graph.version, set(body.graph.captures)
    plain = graph._set(
        _name_stack="", _context=None, _control_scopes=(), _device_scopes=(), _colocation=()
    )
    with graph.as_default(), plain:
        starts: dict[int, Tensor] = {}
        for i in results:
            output = body.outputs[i]
            starts[i] = raw.Placeholder(dtype=output.dtype.base_dtype, shape=output.shape)
        xs = [t for t in body.inputs if has_gradient(t.dtype) or t.dtype is resource]
        ys = [body.outputs[i] for i in starts]
        parts = dict(zip(xs, gradients(ys, xs, list(starts.values())), strict=True))
        found = [_tensor(parts.get(tensor)) for tensor in body.inputs]
    new = {outer: inner for outer, inner in graph.captures.items() if outer not in known}
    return _Walk(body, starts, found, new, before)


def _tensor(gradient: Any) -> Tensor | None:
    return None if gradient is None else convert_to_tensor(gradient)


class _Cut:
    """Finds what a gradient function needs of a body, and what it must not do again."""

    def __init__(self, walk: _Walk, given: Collection[Tensor]) -> None:
        self._given = given
        self._acting: set[Operation] = set()  # what does something to state, or waits for that
        for op in walk.body.graph.get_operations()[: walk.before]:
            above = [*op._control_inputs, *(t.op for t in op.inputs if t not in given)]
            if op.op_def.is_stateful or not self._acting.isdisjoint(above):
                self._acting.add(op)
        self.not_awaited: set[Operation] = set()

    def operations(self, outputs: Iterable[Tensor]) -> list[Operation]:
        """Return what `outputs` need, inputs first but for what comes round loops."""
        order: list[Operation] = []
        seen: set[Operation] = set()
        stack = [(tensor.op, False) for tensor in outputs if tensor not in self._given]
        while stack:
            op, is_done = stack.pop()
            if is_done:
                order.append(op)
            elif op not in seen:
                seen.add(op)
                stack.append((op, True))
                stack += [(t.op, False) for t in op.inputs if t not in self._given]
                stack += [(each, False) for each in op._control_inputs if self._awaits(each)]
        return order

    def _awaits(self, op: Operation) -> bool:
        """Return whether to wait for `op`: not if it did something to state in the call itself."""
        if op not in self._acting or _is_pivot(op):
            return True
        self.not_awaited.add(op)
        return False


def _is_pivot(op: Operation) -> bool:
    """Return whether `op` tells what is in a branch or loop that it runs."""
    makers = [tensor.op.type for tensor in op.inputs]
    if op.type in MERGES:
        return any(maker in NEXT_ITERATIONS for maker in makers)
    return op.type == "Identity" and makers[0] in SWITCHES


# gradient functions with arguments and results of the call as they are needed


class Backward(NamedTuple):
    """A gradient function, and what a call of it takes, in this order.

    Attributes:
      name: of the function.
      arguments: which arguments of the function.
      results: which of its results.
      starts: of which results the gradients.
      captures: tensors from outside.
      gives: the arguments whose gradients it gives.
      acts: whether it has stateful nodes.
    """

    name: str
    arguments: tuple[int, ...]
    results: tuple[int, ...]
    starts: tuple[int, ...]
    captures: tuple[Tensor, ...]
    gives: tuple[int, ...]
    acts: bool


def backward(graph: Graph, function: NameAttrList, starts: tuple[int, ...]) -> Backward:
    """Return a gradient function for calls of `function` in `graph`.

    Args:
      graph: with the function in its library.
      function: which one.
      starts: results of the call whose gradients are given.
    """
    body = built(graph, function)
    with calls.building(("gradient", function.name), function.name):
        walk = _walk(body, starts)
    gives = [i for i, gradient in enumerate(walk.found) if gradient is not None]
    ends = [tensor for tensor in walk.found if tensor is not None]
    results = {tensor: i for i, tensor in reversed([*enumerate(body.outputs)])
               if tensor not in body.inputs and not tensor.dtype.is_ref}  # fmt: skip
    fixed = [*walk.starts.values(), *walk.captures.values()]
    cut = _Cut(walk, {*body.inputs, *results, *fixed})
    operations = cut.operations(ends)
    taken = {tensor for op in operations for tensor in op.inputs} | set(ends)
    arguments = [i for i, tensor in enumerate(body.inputs) if tensor in taken]
    helping = {tensor: i for tensor, i in results.items() if tensor in taken}
    inputs = [*(body.inputs[i] for i in arguments), *helping, *fixed]
    name = _new_name(graph, f"__backward_{function.name}")
    shown = Shown(name, not_awaited=cut.not_awaited)
    record = function_of(operations, inputs, ends, shown)
    graph.add_function(record)
    graph._bodies[name] = Built(body.graph, inputs, ends)
    return Backward(
        name, tuple(arguments), tuple(helping.values()), tuple(walk.starts),
        tuple(walk.captures), tuple(gives), record.signature.stateful,
    )  # fmt: skip


def _new_name(graph: Graph, name: str) -> str:
    number = 0
    while f"{name}_{number}" in graph._functions:
        number += 1
    return f"{name}_{number}"


def call_gradient(op: Operation, *d_outputs: Any) -> list[Any]:
    """Return the gradients of a call's inputs, by a call of the gradient function."""
    starts = tuple([i for i, d in enumerate(d_outputs) if d is not None])
    made = backward(op.graph, op.get_attr("f"), starts)
    found: list[Any] = [None] * len(op.inputs)
    if made.gives:
        inputs = [op.inputs[i] for i in made.arguments]
        inputs += [op.outputs[i] for i in made.results]
        inputs += [convert_to_tensor(d_outputs[i]) for i in made.starts]
        inputs += made.captures
        types = [value_behind(op.inputs[i]).dtype for i in made.gives]
        call = calls.STATEFUL_CALL if made.acts else calls.CALL
        results = call(inputs, Tout=types, f=NameAttrList(made.name))
        for i, tensor in zip(made.gives, results, strict=True):
            found[i] = tensor
    return found


# gradient functions that take all arguments


def whole_gradient(graph: Graph, function: NameAttrList) -> str:
    """Return the name of the gradient function of `function` that takes all arguments.

    It is noted in the library of `graph` as the function's gradient.
    """
    known = graph._function_gradients.get(function.name)
    if known is not None:
        return known
    body = built(graph, function)
    name = _new_name(graph, f"{function.name}_grad")
    with calls.building(("gradient", function.name), function.name):
        walk = _walk(body, [i for i, t in enumerate(body.outputs) if has_gradient(t.dtype)])
    with body.graph.as_default():
        starts = [
            walk.starts[i] if i in walk.starts
            else raw.Placeholder(dtype=tensor.dtype.base_dtype, shape=tensor.shape)
            for i, tensor in enumerate(body.outputs)
        ]  # fmt: skip
        ends = [_blank(tensor) if gradient is None else gradient
                for tensor, gradient in zip(body.inputs, walk.found, strict=True)]  # fmt: skip
    if walk.captures:
        raise ValueError(
            f"the gradient of function {function.name!r} takes {list(walk.captures)} from outside"
        )
    inputs = [*body.inputs, *starts]
    cut = _Cut(walk, set(inputs))
    operations = cut.operations(ends)
    graph.add_function(
        function_of(operations, inputs, ends, Shown(name, not_awaited=cut.not_awaited))
    )
    graph._function_gradients[function.name] = name
    graph._bodies[name] = Built(body.graph, inputs, ends)
    return name


def _blank(tensor: Tensor) -> Tensor:
    """Return what stands for the gradient of an argument that has none."""
    if value_behind(tensor).dtype is resource:
        return tensor  # there is no zero of these
    return zeros_for(tensor) if tensor.dtype is resource else raw.ZerosLike(tensor)


def symbolic_gradient(op: Operation, *d_outputs: Any) -> list[Any]:
    """Return the gradients of the inputs of a Defun's call, by a SymbolicGradient."""
    attrs = {key: value for key, value in op._attrs.items() if key.startswith("_disable")}
    return _by_symbol(op, NameAttrList(op.type, attrs), d_outputs)


CallOp.gradient_rule = staticmethod(symbolic_gradient)


def second_gradient(op: Operation, *d_outputs: Any) -> list[Any]:
    """Return the gradients of the inputs of a SymbolicGradient, by another one."""
    return _by_symbol(op, NameAttrList(whole_gradient(op.graph, op.get_attr("f"))), d_outputs)


def _by_symbol(op: Operation, function: NameAttrList, d_outputs: Sequence[Any]) -> list[Any]:
    whole_gradient(op.graph, function)  # which branches and loops of the body cannot come without
    starts = [convert_to_tensor(d) for d in or_zeros(op, d_outputs)]
    types = [value_behind(tensor).dtype for tensor in op.inputs]
    results = calls.SYMBOLIC_GRADIENT([*op.inputs, *starts], Tout=types, f=function)
    return _for_inputs(op.inputs, results)


def _for_inputs(inputs: Sequence[Tensor], results: Sequence[Tensor]) -> list[Any]:
    pairs = zip(inputs, results, strict=True)
    return [d if has_gradient(value_behind(tensor).dtype) else None for tensor, d in pairs]


def if_gradient(op: Operation, *d_outputs: Any) -> list[Any]:
    """Return the gradients of the inputs of an `If`, by an `If` of gradient functions."""
    branches = {key: _branch_gradient(op, op.get_attr(key)) for key in _BRANCHES}
    return _chosen_gradient(op, d_outputs, **branches)


_BRANCHES = ("then_branch", "else_branch")


def case_gradient(op: Operation, *d_outputs: Any) -> list[Any]:
    """Return the gradients of the inputs of a `Case`."""
    branches = [_branch_gradient(op, each) for each in op.get_attr("branches")]
    return _chosen_gradient(op, d_outputs, branches=branches)


def _branch_gradient(op: Operation, function: NameAttrList) -> NameAttrList:
    name = whole_gradient(op.graph, function)
    if op.graph._functions[name].signature.stateful:
        raise LookupError(
            f"no gradient goes through {op.name!r} ({op.type}): its branch {function.name!r} is "
            "not the same when it runs again; tf.cond has gradients for such branches"
        )
    return NameAttrList(name)


def _chosen_gradient(op: Operation, d_outputs: Sequence[Any], **branches: Any) -> list[Any]:
    chosen, *inputs = op.inputs
    types = [value_behind(tensor).dtype for tensor in inputs]
    starts = [convert_to_tensor(d) for d in or_zeros(op, d_outputs)]
    results = op.op_def(chosen, [*inputs, *starts], Tout=types, **branches)
    return [None, *_for_inputs(inputs, results)]


def while_gradient(op: Operation, *d_outputs: Any) -> list[Any]:
    """Raise LookupError: what its rounds computed is not kept."""
    raise LookupError(
        f"no gradient goes through {op.name!r} ({op.type}); tf.while_loop makes loops that have one"
    )


def make_gradient(function: NameAttrList, library: Library) -> tuple[str, Library]:
    """Return the gradient function of one of `library`, and what it needs."""
    graph = Graph()
    graph._functions.update(library.functions)
    graph._function_gradients.update(library.gradients)
    try:
        return whole_gradient(graph, function), graph.library
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise InvalidArgumentError(f"function {function.name!r} has no gradient: {error}") from None
