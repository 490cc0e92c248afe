"""`cond`: one of two subgraphs runs.

p ──┬────────────┐            The branch that is not taken is dead; `Merge` hands on
x ─ Switch ─ f ─ Merge        the result of the other one.
        └─── t ──┘

Source: TF 1.15 API documentation, tf.cond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tfdist.base import lazy, nest
from tfdist.base.dtypes import int32, int64
from tfdist.graph import scopes
from tfdist.graph.contexts import Context
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.control_flow.identity_group import with_dependencies
from tfdist.ops.framework.composites import FIELDS, like, parts_of
from tfdist.ops.framework.indexed_slices import IndexedSlices

__all__ = ["cond"]

_branch_of = lazy.function("tfdist.ops.control_flow.context_defs", "branch_of")


class Branch(Context):
    """One side of a `cond`.

    Attributes:
      pred: the predicate, a scalar bool outside of the branch.
      taken_if: the value of the predicate with which this side runs.
      results: what it gives, flat, set when it is built.
      merges: what stands for each result after the cond, set when both sides are built.
      other: the other side.
    """

    def __init__(self, graph: Any, name: str, pred: Tensor, pivot: Tensor, taken_if: bool) -> None:
        super().__init__(graph, name)
        self.pred, self.taken_if = pred, taken_if
        self.pivot = pivot.op
        self.brought[pivot] = pivot
        self.results: list[Tensor] = []
        self.merges: list[Tensor] = []
        self.other: Branch | None = None

    @property
    def branch(self) -> int:
        """Return 1 if this side runs where the predicate is true, else 0."""
        return int(self.taken_if)

    @staticmethod
    def from_proto(context_def: Any, import_scope: str | None = None) -> Branch:
        """Return the side that a CondContextDef tells, of nodes of the default graph."""
        branch: Branch = _branch_of(context_def, import_scope)
        return branch

    def bring(self, tensor: Tensor) -> Tensor:
        """See `Context.bring`."""
        if self.outer is not None:
            tensor = self.outer.inside(tensor)
        with self.graph.colocate_with(tensor.op, ignore_existing=True):
            switch = raw.RefSwitch if tensor.dtype.is_ref else raw.Switch
            outputs: list[Tensor] = switch(tensor, self.pred, name="Switch")
            return outputs[self.taken_if]

    def inside_control(self, op: Operation) -> Operation:
        """See `Context.inside_control`: a branch is in the frame that surrounds it."""
        if self.holds(op) or self.outer is None:
            return op
        return self.outer.inside_control(op)

    def is_gated(self, inputs: Iterable[Tensor]) -> bool:
        """See `Context.is_gated`."""
        return any(True for _ in inputs)


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Callable[[], Any] | None = None,
    fn2: Callable[[], Any] | None = None,
) -> Any:
    """Return what `true_fn` builds if `pred` is true in a step, else what `false_fn` builds.

    Only nodes that a function makes run conditionally; what it takes from outside always runs.

    Args:
      pred: scalar bool tensor.
      true_fn: makes and returns tensors, sparse ones, IndexedSlices, operations or a nested
        structure of them.
      false_fn: the same for the other case; structure and types must agree.
      strict: whether a list of one tensor stays a list.
      name: of the scope.
      fn1: `true_fn` in the spelling of TensorFlow 0.x.
      fn2: `false_fn` in the spelling of TensorFlow 0.x.

    Returns:
      Tensors in the structure that the functions return, of the same dtypes; a shape is what both
      sides share. An operation becomes the predicate's value, which is there once it has run.

    Raises:
      TypeError: `pred` is a Python bool or no bool tensor, a function cannot be called, or their
        results are of different kinds (a list and a tuple, say).
      ValueError: `pred` is no scalar, a function returns nothing, or the results differ in number
        or type.

    Example:
      >>> x = constant(3.0)
      >>> float(Session().run(cond(x > 2.0, lambda: x * 10.0, lambda: x)))
      30.0
    """
    true_fn = _given("true_fn", true_fn, "fn1", fn1)
    false_fn = _given("false_fn", false_fn, "fn2", fn2)
    for what, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(function):
            raise TypeError(f"{what} must be callable.")
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool: Python's own `if` decides such a case")
    with scopes.name_scope(name, "cond", [pred]):
        return _cond(pred, (false_fn, true_fn), strict)


def _given(name: str, function: Any, old_name: str, old: Any) -> Any:
    """Return the function of one side, which has two spellings."""
    if function is not None and old is not None:
        raise TypeError(f"cond(): {name} and {old_name} may not be set simultaneously.")
    if function is None and old is None:
        raise TypeError(f"cond(): {name} argument required")
    return old if function is None else function


def _cond(pred: Any, functions: tuple[Any, Any], strict: bool) -> Any:
    sides = _sides(pred)
    built = [_build(side, functions[side.taken_if], strict) for side in reversed(sides)][::-1]
    _check_kinds(built)
    _widen_indices(sides, built[1])
    _check_agree(sides)
    merges = [_merged(f, t) for f, t in zip(sides[0].results, sides[1].results, strict=True)]
    for side in sides:
        side.merges = merges
    left = iter(merges)
    packed = nest.pack_as(built[1], [like(each, left) for each in nest.flatten(built[1])])
    return packed if strict else _alone(packed)


def _sides(pred: Any) -> list[Branch]:
    """Return the branches for false and true, in the scope that is open."""
    graph = scopes.get_default_graph()
    pivots = raw.Switch(pred, pred)
    true_pivot = raw.Identity(pivots[1], name="switch_t")
    false_pivot = raw.Identity(pivots[0], name="switch_f")
    held = raw.Identity(pred, name="pred_id")
    for hidden in (*pivots, true_pivot, false_pivot, held):
        graph.prevent_fetching(hidden.op)
    scope = graph.get_name_scope()
    f = Branch(graph, scope, held, false_pivot, False)
    t = Branch(graph, scope, held, true_pivot, True)
    f.other, t.other = t, f
    return [f, t]


def _merged(f: Tensor, t: Tensor) -> Tensor:
    merge = raw.RefMerge if f.dtype.is_ref and t.dtype.is_ref else raw.Merge
    return merge([f, t], name="Merge")[0]  # type: ignore[no-any-return]


def _alone(packed: Any) -> Any:
    """Return the only element of a list of one, as TensorFlow does if not strict."""
    if isinstance(packed, list | tuple) and len(packed) == 1:
        return packed[0]
    return packed


def _build(side: Branch, function: Callable[[], Any], strict: bool) -> Any:
    """Build one side; returns what `function` gave, fills the side's results."""
    before = side.graph.version
    with side.entered():
        given = function()
        if given is None:
            raise ValueError(f"{'true' if side.taken_if else 'false'}_fn must have a return value.")
        given = given if strict else _alone(given)
        side.results = [
            _result(side, part) for each in nest.flatten(given) for part in parts_of(each)
        ]
    for op in side.graph.operations_since(before):
        if side.holds(op):
            side.graph.prevent_fetching(op)
    return given


def _result(side: Branch, value: Any) -> Tensor:
    """Return a result of a side as a tensor inside of it."""
    if isinstance(value, Operation):
        assert side.pivot is not None
        return with_dependencies([value], side.pivot.outputs[0])
    return side.inside(convert_to_tensor(value, name="Const"))


def _kind(value: Any) -> Any:
    """Return what results of both sides must share: which composite, and of how many parts."""
    return (type(value), len(parts_of(value))) if type(value) in FIELDS else None


def _widen_indices(sides: list[Branch], built: Any) -> None:
    """Let IndexedSlices of both sides have indices of one type, the wider one."""
    position = 0
    for value in nest.flatten(built):
        if isinstance(value, IndexedSlices):
            place = position + FIELDS[IndexedSlices].index("indices")
            types = {side.results[place].dtype.base_dtype for side in sides}
            for side in sides if types == {int32, int64} else ():
                with side.entered():
                    side.results[place] = raw.Cast(side.results[place], DstT=int64)
        position += len(parts_of(value))


def _check_kinds(built: list[Any]) -> None:
    nest.check_same(built[1], built[0])
    f_kinds, t_kinds = [list(map(_kind, nest.flatten(given))) for given in built]
    if f_kinds != t_kinds:
        raise ValueError(
            "Incompatible return values of true_fn and false_fn: The two structures don't have the "
            f"same nested structure.\n\nFirst structure: {built[1]!r}\n\n"
            f"Second structure: {built[0]!r}"
        )


def _check_agree(sides: list[Branch]) -> None:
    if not sides[1].results:
        raise ValueError("true_fn and false_fn must return at least one result.")
    for f, t in zip(sides[0].results, sides[1].results, strict=True):
        if f.dtype.base_dtype is not t.dtype.base_dtype:
            raise ValueError(
                "Outputs of true_fn and false_fn must have the same type: "
                f"{t.dtype.base_dtype.name}, {f.dtype.base_dtype.name}"
            )
