"""`while_loop`: a subgraph that runs again and again, until its condition is false.

x ─ Enter ─ Merge ──┬── Switch ─ Exit ─        One frame for the loop, one iteration of it after
              │     │      └ Identity ─ body   the other; `NextIteration` carries the results
              │  LoopCond                │     of the body to the next iteration.
              └───── NextIteration ──────┘

Source: TF 1.15 API documentation, tf.while_loop.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tfdist.base import nest
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.control_flow import loop_composites
from tfdist.ops.control_flow.loop_context import Loop, Variable
from tfdist.ops.control_flow.loop_invariants import check_next, invariant_shapes
from tfdist.ops.tensor_array.tensor_array import TensorArray, with_flow

__all__ = ["while_loop"]


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:
    """Repeat `body` while `cond` is true.

    Args:
      cond: takes the loop variables, returns a scalar bool tensor.
      body: takes the loop variables, returns their next values in the same structure.
      loop_vars: first values: a list, tuple or dict, nested perhaps, of tensors, TensorArrays,
        SparseTensors, IndexedSlices and what converts to tensors.
      shape_invariants: a TensorShape for each, in the same structure: what stays true of its shape
        in all iterations; [rank] for a SparseTensor, the shape of the values for IndexedSlices.
        None stands for the shape of the first value.
      parallel_iterations: iterations that may overlap while one waits.
      back_prop: whether gradients flow through.
      swap_memory: taken and not needed: intermediate values are in the host's memory anyhow.
      name: of the scope.
      maximum_iterations: scalar number after which the loop ends whatever `cond` says; None
        for no end.
      return_same_structure: whether a single variable comes back in its list.

    Returns:
      The last values, in the structure that `body` returns; a single one by itself. Each has the
      dtype of its first value, and of its shape what stays true in all iterations.

    Raises:
      TypeError: `cond` or `body` cannot be called, `cond` gives no bool, `parallel_iterations` is
        less than 1, or a value changes its type.
      ValueError: there are no variables, structures differ, `cond` gives no scalar, or a shape
        changes that no invariant lets change.

    Example:
      >>> double = while_loop(lambda x: x < 100, lambda x: x * 2, [constant(3)])
      >>> int(Session().run(double))
      192
    """
    for what, function in (("cond", cond), ("body", body)):
        if not callable(function):
            raise TypeError(f"{what} must be callable.")
    if loop_vars is None or not nest.flatten(loop_vars):
        raise ValueError("No loop variables provided")
    _check_parallel(parallel_iterations)
    if nest.is_nested(loop_vars) and not isinstance(loop_vars, list | tuple | Mapping):
        loop_vars = list(loop_vars)
    if not nest.is_nested(loop_vars):
        loop_vars, shape_invariants = [loop_vars], _listed(shape_invariants)
    options = (parallel_iterations, back_prop)
    with scopes.name_scope(name, "while", nest.flatten(loop_vars)):
        if loop_composites.has_composites(loop_vars):
            parts = loop_composites.in_parts(cond, body, loop_vars, shape_invariants)
            ends = parts.whole(_scoped(*parts[:4], maximum_iterations, options))
        else:
            ends = _scoped(cond, body, loop_vars, shape_invariants, maximum_iterations, options)
    return ends if return_same_structure else _alone(ends)


def _scoped(
    cond: Any, body: Any, loop_vars: Any, invariants: Any, most: Any, options: tuple[int, bool]
) -> Any:
    if most is None:
        return _build(cond, body, loop_vars, invariants, options)
    return _bounded(cond, body, loop_vars, invariants, most, options)


def _check_parallel(iterations: Any) -> None:
    if not isinstance(iterations, numbers.Real) or iterations < 1:
        raise TypeError("parallel_iterations must be a positive integer.")
    if not isinstance(iterations, int):
        raise ValueError(f"`parallel_iterations` must be a positive integer: {iterations}")


def _listed(given: Any) -> Any:
    """Return the invariant of a single variable in a list."""
    return given if given is None or nest.is_nested(given) else [given]


def _alone(ends: Any) -> Any:
    if isinstance(ends, list | tuple) and len(nest.flatten(ends)) == 1:
        return ends[0]
    return ends


def _bounded(
    cond: Any, body: Any, loop_vars: Any, invariants: Any, most: Any, options: tuple[int, bool]
) -> Any:
    """Build a loop with a counter beside its variables."""
    most, zero = _limit(most)

    def bounded_cond(count: Tensor, values: Any) -> Tensor:
        return raw.LogicalAnd(raw.Less(count, most), _called(cond, values))  # type: ignore[no-any-return]

    def bounded_body(count: Tensor, values: Any) -> tuple[Tensor, Any]:
        raised = raw.AddV2(count, 1, name="add")
        following = _as_given(loop_vars, _called(body, values))
        if type(loop_vars) in (list, tuple) and type(following) in (list, tuple):
            following = type(loop_vars)(following)
        return raised, following

    if invariants is not None:
        invariants = (TensorShape(()), invariants)
    _, ends = _build(bounded_cond, bounded_body, (zero, loop_vars), invariants, options)
    return ends


def _limit(most: Any) -> tuple[Tensor, Tensor]:
    """Return the greatest number of iterations, and a zero of its type."""
    most = convert_to_tensor(most, name="maximum_iterations")
    dtype = most.dtype.base_dtype
    if most.plain_shape != ():
        raise ValueError(f"maximum_iterations must be a scalar, saw shape: {most.shape}")
    if not (dtype.is_integer or dtype.is_floating):
        raise TypeError(f"maximum_iterations must be a number, but is of type {dtype.name}")
    return most, raw.Const(value=dtype.as_numpy_dtype(0), dtype=dtype, name="iteration_counter")


def _called(function: Callable[..., Any], values: Any) -> Any:
    """Return what a user's function gives: it takes variables one by one, a dict whole."""
    return function(*values) if isinstance(values, list | tuple) else function(values)


def _as_given(loop_vars: Any, result: Any) -> Any:
    """Return what a body gave, in a list if it is the only variable's value by itself."""
    if isinstance(loop_vars, list | tuple):
        is_alone = not isinstance(result, list | tuple)
        if len(loop_vars) == 1 and nest.is_nested(loop_vars[0]):
            is_alone = is_alone or len(result) != 1
        return [result] if is_alone else result
    return result


# how a loop is built


class _Start(NamedTuple):
    """The variables before the first iteration: in their structure, and flat."""

    structure: Any
    models: list[Any]  # each a tensor, or what carries one (a TensorArray)
    tensors: list[Tensor]  # what goes round for each
    shapes: list[Shape]  # what stays true of the shape of each

    def values(self, tensors: list[Tensor]) -> Any:
        """Return `tensors` as a user's function takes them for the variables."""
        return _rebuilt(self.structure, self.models, tensors)


def _build(cond: Any, body: Any, loop_vars: Any, invariants: Any, options: tuple[int, bool]) -> Any:
    """Build a loop; returns the last values in the structure that `body` gives."""
    graph = scopes.get_default_graph()
    start = _start(loop_vars, invariants)
    loop = Loop(graph, graph.get_name_scope(), graph.unique_name("while_context"), *options)
    before = graph.version
    merges = _begin(loop, start)
    with loop.entered():
        switched = _ask(loop, cond, start, merges)
        inner = [raw.Identity(taken) for _, taken in switched]
        loop.pivot = inner[0].op
        result = _advance(body, start, inner)
        following = _carry(nest.flatten(result), merges, start.shapes)
    exits = _end(loop, merges, switched, inner, following)
    _hide(graph, before, exits)
    return _rebuilt(result, nest.flatten(result), exits)


def _start(loop_vars: Any, invariants: Any) -> _Start:
    models = [_leaf(value) for value in nest.flatten(loop_vars)]
    tensors = [_flow_of(model) for model in models]
    return _Start(loop_vars, models, tensors, invariant_shapes(loop_vars, tensors, invariants))


def _leaf(value: Any) -> Any:
    """Return a loop variable's first value: a tensor, or what carries one (a TensorArray)."""
    return value if isinstance(value, TensorArray) else convert_to_tensor(value)


def _flow_of(value: Any) -> Tensor:
    """Return the tensor that goes round for a variable."""
    return value.flow if isinstance(value, TensorArray) else value  # type: ignore[no-any-return]


def _rebuilt(structure: Any, models: list[Any], tensors: list[Tensor]) -> Any:
    """Return `tensors` as the user's variables, of the kinds of `models`."""
    made = [
        with_flow(model, tensor) if isinstance(model, TensorArray) else tensor
        for model, tensor in zip(models, tensors, strict=True)
    ]
    return nest.pack_as(structure, made)


def _begin(loop: Loop, start: _Start) -> list[Tensor]:
    """Make Enter and Merge of each variable; the second input of the Merge comes later."""
    enters = [loop.enter(tensor, False) for tensor in start.tensors]
    for enter, shape in zip(enters, start.shapes, strict=True):
        enter._shape = shape
    with loop.entered():
        return [raw.Merge([enter, enter])[0] for enter in enters]


def _ask(loop: Loop, cond: Any, start: _Start, merges: list[Tensor]) -> list[list[Tensor]]:
    """Make the condition and, for each variable, the Switch that it decides."""
    loop.pivot = merges[0].op
    loop.condition = raw.LoopCond(_called(cond, start.values(merges)))
    return [_switched(merge, loop.condition) for merge in merges]


def _switched(merge: Tensor, condition: Tensor) -> list[Tensor]:
    with merge.graph.colocate_with(merge.op, ignore_existing=True):
        return raw.Switch(merge, condition)  # type: ignore[no-any-return]


def _advance(body: Any, start: _Start, inner: list[Tensor]) -> Any:
    """Return what the body makes of the values, which has the structure of the variables."""
    result = _as_given(start.structure, _called(body, start.values(inner)))
    nest.check_same(_list_form(start.structure), _list_form(result))
    return result


def _list_form(structure: Any) -> Any:
    """Return `structure` with a list for its outermost tuple or list, which may differ."""
    return list(structure) if isinstance(structure, list | tuple) else structure


def _carry(values: list[Any], merges: list[Tensor], shapes: list[Shape]) -> list[Tensor]:
    """Make the NextIterations that carry what an iteration gave to the next one."""
    return [_next(*each) for each in zip(values, merges, shapes, strict=True)]


def _next(value: Any, merge: Tensor, kept: Shape) -> Tensor:
    """Make the NextIteration that carries `value` to `merge`."""
    if value is None:
        raise ValueError("None values not supported: the body must return every loop variable")
    tensor = _flow_of(_leaf_like(value, merge))
    check_next(tensor, merge.op.inputs[0].op.inputs[0], kept)  # what the Enter takes
    following: Tensor = raw.NextIteration(tensor)
    merge.op._update_input(1, following)
    return following


def _leaf_like(value: Any, merge: Tensor) -> Any:
    if isinstance(value, TensorArray):
        return value
    dtype = None if hasattr(value, "_as_tensor") else merge.dtype.base_dtype
    try:
        return convert_to_tensor(value, dtype)
    except (TypeError, ValueError):
        return convert_to_tensor(value)


def _end(
    loop: Loop, merges: list[Tensor], switched: list[list[Tensor]], inner: list[Tensor],
    following: list[Tensor],
) -> list[Tensor]:  # fmt: skip
    """Make the Exits, and note the loop's nodes."""
    with loop.around():
        exits = [raw.Exit(leaves) for leaves, _ in switched]
    enters = [merge.op.inputs[0] for merge in merges]
    leaves = [each for each, _ in switched]
    loop.variables = list(map(Variable, enters, merges, leaves, inner, following, exits))
    return exits


def _hide(graph: Any, before: int, exits: list[Tensor]) -> None:
    """Let nobody feed or fetch what is inside: it has many values, or none."""
    shown = {tensor.op for tensor in exits}
    for op in graph.operations_since(before):
        if op not in shown and op._context is not None:
            graph.prevent_fetching(op)
            for output in op.outputs:
                graph.prevent_feeding(output)
