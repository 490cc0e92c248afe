"""`gradients`: walks backwards from ys to xs and adds the nodes that compute d ys / d xs.

The walk itself is in `backward`, and what it makes of conds and loops in `cond_gradients` and
`loop_gradients`. The nodes for an op's gradient are named inside of the scope "OP_grad".
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfdist.graph.contexts import Context
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import REGISTRY, raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.autodiff.backward import Call, Level
from tfdist.ops.autodiff.backward_steps import Block
from tfdist.ops.autodiff.backward_sums import total
from tfdist.ops.autodiff.cond_gradients import Cond
from tfdist.ops.autodiff.gradient_utils import shape_of
from tfdist.ops.autodiff.loop_gradients import Pushed, While, hide_rounds
from tfdist.ops.control_flow.cond import Branch
from tfdist.ops.control_flow.loop_context import Loop
from tfdist.ops.framework.indexed_slices import IndexedSlices

__all__ = [
    "AggregationMethod", "IndexedSlices", "NoGradient", "NotDifferentiable", "RegisterGradient",
    "UnconnectedGradients", "gradients", "no_gradient",
]  # fmt: skip


class UnconnectedGradients(enum.Enum):
    """What `gradients` gives for an x that no y depends on."""

    NONE = "none"
    ZERO = "zero"


class AggregationMethod:
    """How gradients of several consumers are summed: names of old programs; all use AddN."""

    ADD_N = DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


# Gradients of op types that only a graph knows, chosen by `graph.gradient_override_map`.
_OVERRIDES: dict[str, Callable[..., Any] | None] = {}


class RegisterGradient:
    """Decorator that gives an op, or a name for `gradient_override_map`, its gradient.

    Args:
      op_type: name of the op.

    Raises:
      KeyError: it has a gradient already.
      TypeError: `op_type` is no string.

    Example:
      >>> @RegisterGradient("SignAsIdentity")
      ... def _sign_gradient(op, d_output):
      ...     return d_output
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError(f"op_type must be a string, not {op_type!r}")
        self._op_type = op_type

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        _override(self._op_type, function)
        return function


def _override(op_type: str, rule: Callable[..., Any] | None) -> None:
    op_def = REGISTRY.get(op_type)
    if (op_def is not None and op_def.gradient_rule) or op_type in _OVERRIDES:
        raise KeyError(f"{op_type!r} has a gradient already")
    _OVERRIDES[op_type] = rule


def no_gradient(op_type: str) -> None:
    """State that no gradient flows through ops of this type.

    Raises:
      KeyError: they have a gradient already.

    Example:
      >>> no_gradient("MyRounding")
    """
    _override(op_type, None)


NoGradient = NotDifferentiable = no_gradient


class _Call(Call):
    """One call of `gradients`: which rules hold, and what becomes of conds and loops."""

    def rule(self, op: Operation) -> Callable[..., Any] | None:
        """See `Call.rule`."""
        return _rule(op)

    def blocks(self, op: Operation) -> bool:
        """See `Call.blocks`."""
        if "_gradient_op_type" in op._attrs or op.type in _OVERRIDES:
            return False
        return not op.op_def.differentiable

    def block_of(self, context: Context) -> Block:
        """See `Call.block_of`."""
        if isinstance(context, Loop):
            return While(self, context)
        assert isinstance(context, Branch)
        return Cond(self, context)

    def pushed(self, handle: Tensor, push: Operation) -> Block:
        """See `Call.pushed`."""
        return Pushed(self, push)


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """Return the sum of d y / d x over all ys, for each x.

    A gradient passes through conds and loops. Where this is called in a branch or in the body of a
    loop, the gradients are computed there, and lead to what is inside, or was taken from outside.

    Args:
      ys: a float tensor, or a list of them.
      xs: a tensor or a Variable, or a nested list of them.
      grad_ys: what the gradients start with, of the shapes of ys; ones for None.
      name: of the scope of the nodes.
      colocate_gradients_with_ops: whether the gradient of an op stands on the op's device.
      gate_gradients: whether gradients of an op's inputs leave together, when all are there.
      aggregation_method: one of `AggregationMethod`; taken and not needed.
      stop_gradients: tensors that count as constants.
      unconnected_gradients: NONE or ZERO, what an x gets that no y depends on.

    Returns:
      For each x a tensor of its shape, IndexedSlices (of a gather), or None if no y depends
      on it through floats.

    Raises:
      LookupError: an op on the way has no gradient, or belongs to an imported cond or loop.
      TypeError: a y is complex and has no grad_ys, or a grad_ys has another type.
      ValueError: ys or xs are None, or of several graphs; a gradient has not the shape of what it
        is the gradient of; a y or an x is inside of a loop, and this is called outside; or this
        is called inside of a loop, and the way leads
        through a loop outside, or through the first value of a loop variable.

    Example:
      >>> x = constant([1.0, 2.0, 3.0])
      >>> Session().run(gradients(x * x, x))
      [array([2., 4., 6.], dtype=float32)]
    """
    if ys is None or xs is None:
        raise ValueError(f"gradients needs tensors, got ys={ys!r} and xs={xs!r}")
    targets = [_target(x) for x in _flat(xs)]
    sources = [convert_to_tensor(y, name="y") for y in _flat(ys)]
    blank = UnconnectedGradients(unconnected_gradients)
    if not sources or not targets:
        return [None] * len(targets)
    graph = _one_graph([*sources, *targets])
    stops = {_target(each).op for each in _flat(stop_gradients)}
    call = _Call(graph, targets, stops, colocate_gradients_with_ops, bool(gate_gradients))
    before = graph.version
    with graph.as_default(), graph.name_scope(name or "gradients"):
        starts = _starts(sources, _flat(grad_ys, len(sources)), call)
        found = _walk(sources, starts, targets, call)
    hide_rounds(graph, before)
    if blank is UnconnectedGradients.ZERO:
        return [raw.ZerosLike(x, name="zeros_like") if g is None else g
                for x, g in zip(targets, found, strict=True)]  # fmt: skip
    return found


def _one_graph(tensors: Sequence[Tensor]) -> Any:
    """Return the graph of tensors, of which those of a function's body may see what is outside."""
    graph = tensors[0].graph
    for each in tensors:
        if each.graph.outermost is not graph.outermost:
            raise ValueError(f"{each!r} must be from the same graph as {tensors[0]!r}.")
    return graph


def _walk(
    ys: Sequence[Tensor], starts: Sequence[Any], xs: Sequence[Tensor], call: Call
) -> list[Any]:
    """Return the gradient of each x, None for those that no y depends on."""
    level = Level(call)
    arrived = level.walk(level.ways(level.above(ys), xs), list(zip(ys, starts, strict=True)))
    parts = [[*arrived.parts.get(x, ()), *call.inner.get(x, ())] for x in xs]
    return [total(each, call.graph) if each else None for each in parts]


def _flat(value: Any, count: int | None = None) -> list[Any]:
    """Return the elements of a nested list; `count` Nones for None, if given."""
    if value is None:
        return [None] * (count or 0)
    if not isinstance(value, list | tuple):
        return [value]
    flat = [part for each in value for part in (_flat(each) if each is not None else [None])]
    if count is not None and len(flat) != count:
        raise ValueError(f"Passed {len(flat)} grad_ys for {count} ys")
    return flat


def _target(x: Any) -> Tensor:
    """Return the tensor at which gradients of `x` arrive: for a Variable, the variable itself."""
    handle = getattr(x, "handle", None)
    if isinstance(handle, Tensor):
        return handle
    if isinstance(x, IndexedSlices):
        return x.values
    return convert_to_tensor(x, name="x", as_ref=True)


def _starts(ys: Sequence[Tensor], given: Sequence[Any], call: Call) -> list[Any]:
    """Return the gradient with which each y starts; None for those of integers."""
    starts = []
    for position, (y, start) in enumerate(zip(ys, given, strict=True)):
        with call.beside(y.op):
            starts.append(_start(y, start, f"grad_ys_{position}"))
    return starts


def _start(y: Tensor, given: Any, name: str) -> Any:
    if isinstance(given, IndexedSlices):
        return given
    dtype = y.dtype.base_dtype
    if given is not None:
        return _given_start(y, given, name)
    if dtype.is_complex:
        raise TypeError(
            f"Gradients of complex tensors must set grad_ys (y.dtype = {y.dtype!r}): {y!r}"
        )
    if not dtype.is_floating:
        return None
    shape = shape_of(y)
    one = raw.Const(value=np.ones((), dtype.as_numpy_dtype), dtype=dtype, name=name)
    return raw.Fill(shape, one)


def _given_start(y: Tensor, given: Any, name: str) -> Tensor:
    dtype = y.dtype.base_dtype
    given = convert_to_tensor(given, None if hasattr(given, "_as_tensor") else dtype, name)
    if given.dtype.base_dtype is not dtype:
        raise TypeError(f"the grad_ys of {y!r} must be of {dtype.name} too, got {given!r}")
    return raw.Identity(given, name=name)


def _rule(op: Operation) -> Callable[..., Any] | None:
    """Return the gradient rule of `op`, None if no gradient flows through it."""
    chosen = op._attrs.get("_gradient_op_type")
    key = op.type if chosen is None else chosen.decode()
    if key in _OVERRIDES:
        return _OVERRIDES[key]
    op_def = REGISTRY.get(key)
    if op_def is None and (chosen is None or "PartitionedCall" in op.type):
        op_def = op.op_def  # of a function, or named by the graph that it was made in
    if op_def is not None and op_def.gradient_rule is not None:
        return op_def.gradient_rule
    if op_def is not None and not op_def.differentiable:
        return None
    raise LookupError(
        f"no gradient is defined for op {op.name!r} (type {key}), which lies between xs and ys; "
        f"tf.stop_gradient around it makes it a constant, @tf.RegisterGradient({key!r}) defines one"
    )
