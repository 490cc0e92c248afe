"""switch_case: what one of several functions gives, chosen by a number.

Source: TF 1.15 API documentation, tf.switch_case.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tfdist.base import nest
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import build, scopes
from tfdist.graph.function_graph import Built, FunctionGraph, Shown, function_of
from tfdist.graph.functions import Function, NameAttrList
from tfdist.graph.graph import Graph
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.control_flow.identity_group import identity
from tfdist.ops.functions.calls import CASE, copy_function, result_of
from tfdist.ops.functions.traced_functions import ordered

__all__ = ["switch_case"]

_NUMBERS = itertools.count()


def switch_case(
    branch_index: Any, branch_fns: Any, default: Any = None, name: str = "switch_case"
) -> Any:
    """Return what function number `branch_index` builds, and run nothing of the others.

    Args:
      branch_index: int32 scalar tensor.
      branch_fns: the functions, which take nothing: a list, a list of (number, function), or a
        dict from numbers, which begin with 0 and leave none out.
      default: the function for all other numbers; by default the one with the highest number.
      name: of the scope.

    Returns:
      Tensors in the structure that the functions return; a shape is what all of them share.

    Raises:
      TypeError: an argument is of another kind, or results differ in type.
      ValueError: there are no functions, their numbers have gaps, or results differ in structure.

    Example:
      >>> x = constant(3.0)
      >>> Session().run(switch_case(constant(1), [lambda: x, lambda: x * 2.0, lambda: -x]))
      np.float32(6.0)
    """
    functions = _in_order(branch_index, branch_fns, default)
    graph = scopes.get_default_graph()
    with scopes.name_scope(name), scopes.name_scope("indexed_case") as scope:
        stem = scope.strip("/").replace("/", "_")
        branches = [_traced(f, f"{stem}_branch{i}", graph) for i, f in enumerate(functions)]
        _check_alike(branches)
        return _node(graph, scope, branch_index, branches)


def _in_order(index: Any, branch_fns: Any, default: Any) -> list[Callable[[], Any]]:
    """Return the functions in the order of their numbers, the default one at the end."""
    if not isinstance(index, Tensor):
        raise TypeError(f"branch_index must a Tensor, got {type(index)}")
    if not index.dtype.is_integer:
        raise TypeError(f"branch_index must an integer Tensor, got {index.dtype}")
    pairs = _numbered(branch_fns)
    numbers = sorted(number for number, _ in pairs)
    if numbers != list(range(len(pairs))):
        found = ",".join(map(str, numbers))
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(pairs)}) but found "
            f"{{{found}}}"
        )
    functions = [function for _, function in sorted(pairs, key=lambda pair: pair[0])]
    for number, function in enumerate([*functions, default or functions[-1]]):
        if not callable(function):
            raise TypeError(f"fn for key {number} must be callable.")
    return [*functions, default] if default is not None else functions


def _numbered(branch_fns: Any) -> list[tuple[int, Any]]:
    if isinstance(branch_fns, Mapping):
        branch_fns = list(branch_fns.items())
    if not isinstance(branch_fns, list | tuple):
        raise TypeError("branch_fns must be a list, tuple, or dict")
    if not branch_fns:
        raise ValueError("Must provide at least one item in branch_fns")
    if all(map(callable, branch_fns)):
        return list(enumerate(branch_fns))
    for each in branch_fns:
        if not isinstance(each, tuple) or len(each) != 2 or not isinstance(each[0], int):
            raise TypeError(f"Each entry in branch_fns must be (int, function), got {each!r}")
    return list(branch_fns)


class _Branch(NamedTuple):
    """A function whose body is built: its graph, its results, and the structure they came in."""

    graph: FunctionGraph
    outputs: list[Tensor]
    structure: Any


def _traced(function: Callable[[], Any], label: str, outer: Graph) -> _Branch:
    graph = FunctionGraph(f"{label}_{next(_NUMBERS)}", outer, named_by_tensor=True)
    with graph.as_default():
        returned = function()
        tensors = [result_of(graph, each) for each in nest.flatten(returned)]
        with graph.control_dependencies(ordered(graph, tensors)):
            outputs = [raw.Identity(each) for each in tensors]
    return _Branch(graph, outputs, returned)


def _check_alike(branches: Sequence[_Branch]) -> None:
    """Raise TypeError or ValueError unless all functions give the same kinds of results."""
    first = [each.dtype for each in branches[0].outputs]
    for number, branch in enumerate(branches):
        nest.check_same(branches[0].structure, branch.structure)
        found = [each.dtype for each in branch.outputs]
        if found != first:
            raise TypeError(
                f"the functions of switch_case give different types: number 0 gives {first}, "
                f"number {number} gives {found}"
            )


def _node(graph: Graph, scope: str, index: Tensor, branches: Sequence[_Branch]) -> Any:
    """Return the results of a Case of these branches, in their structure."""
    captures = list(dict.fromkeys(each for branch in branches for each in branch.graph.captures))
    records = [_recorded(branch, captures) for branch in branches]
    for record, branch in zip(records, branches, strict=True):
        copy_function(record, branch.graph, graph)
    attrs = {attr.name: attr.default for attr in CASE.signature.attrs.values()}
    attrs["Tin"] = [each.dtype.base_dtype for each in captures]
    attrs["Tout"] = [each.dtype.base_dtype for each in branches[0].outputs]
    attrs["branches"] = [NameAttrList(record.name) for record in records]
    results = zip(*(branch.outputs for branch in branches), strict=True)
    attrs["output_shapes"] = [_shared(each) for each in results]
    awaited = [op for branch in branches for op in branch.graph.control_captures]
    index = index if index.dtype.name == "int32" else raw.Cast(index, DstT="int32")
    with graph.control_dependencies(awaited):
        op = build.add_node(graph, CASE, scope.removesuffix("/"), (index, *captures), attrs)
    if not op.outputs:
        return op
    return nest.pack_as(branches[0].structure, [identity(each) for each in op.outputs])


def _recorded(branch: _Branch, captures: Sequence[Tensor]) -> Function:
    """Return the function of a branch, whose arguments are what any of them captures."""
    graph = branch.graph
    inputs = [graph.inside("", each) for each in captures]
    built = Built(graph, inputs, branch.outputs, tuple(captures))
    record = function_of(graph.get_operations(), inputs, branch.outputs, Shown(graph.name))
    graph._bodies[record.name] = built
    return record


def _shared(tensors: Sequence[Tensor]) -> TensorShape:
    """Return what is known of all the shapes."""
    found = tensors[0].shape
    for each in tensors[1:]:
        if found.ndims is None or found.ndims != each.shape.ndims:
            return TensorShape(None)
        pairs = zip(found.as_list(), each.shape.as_list(), strict=True)
        found = TensorShape([one if one == other else None for one, other in pairs])
    return found
