"""`gradients`: walks backwards from ys to xs and adds the nodes that compute d ys / d xs.

An op takes part if it lies on a way from some x to some y on which every tensor is of floats or
complex numbers. Ops are visited from ys on, each when all its consumers on such ways were; then
the gradients that arrived at each output are summed, and the op's gradient rule makes from them
those of its inputs, inside the name scope "OP_grad".
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.graph import Graph
from tfdist.graph.op_def import REGISTRY, raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.differentials import shape_of
from tfdist.ops.sums import ADD_N

__all__ = [
    "AggregationMethod", "IndexedSlices", "NoGradient", "NotDifferentiable", "RegisterGradient",
    "UnconnectedGradients", "gradients", "no_gradient",
]  # fmt: skip


class IndexedSlices:
    """Rows of a tensor that is 0 elsewhere: what the gradient of a gather is.

    Attributes:
      values: [n, ...], the rows.
      indices: [n], where they stand; rows of equal index add up.
      dense_shape: of the whole tensor, or None.
    """

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self.values: Tensor = convert_to_tensor(values)
        self.indices: Tensor = convert_to_tensor(indices)
        self.dense_shape: Tensor | None = (
            None if dense_shape is None else convert_to_tensor(dense_shape)
        )

    @property
    def dtype(self) -> DType:
        """Return the type of the values."""
        return self.values.dtype

    @property
    def name(self) -> str:
        """Return the name of the values."""
        return self.values.name

    @property
    def op(self) -> Operation:
        """Return the operation that makes the values."""
        return self.values.op

    @property
    def graph(self) -> Graph:
        """Return the graph that holds the values."""
        return self.values.graph

    @property
    def device(self) -> str:
        """Return the device that was asked for; "" if none was."""
        return self.values.device

    def _as_tensor(self, as_ref: bool) -> Tensor:
        """Return the whole tensor; ValueError if its shape is not known."""
        if self.dense_shape is None:
            raise ValueError(f"{self!r} has no dense_shape and cannot become a whole tensor")
        rows = raw.Squeeze(raw.Slice(self.dense_shape, [0], [1]), squeeze_dims=[0])
        dense: Tensor = raw.UnsortedSegmentSum(self.values, self.indices, rows)
        return dense

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(raw.Neg(self.values), self.indices, self.dense_shape)

    def __repr__(self) -> str:
        return f"IndexedSlices(values={self.values!r}, indices={self.indices!r})"


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

    Example:
      >>> @RegisterGradient("SignAsIdentity")
      ... def _sign_gradient(op, d_output):
      ...     return d_output
    """

    def __init__(self, op_type: str) -> None:
        self._op_type = op_type

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        op_def = REGISTRY.get(self._op_type)
        if (op_def is not None and op_def.gradient_rule) or self._op_type in _OVERRIDES:
            raise KeyError(f"{self._op_type!r} has a gradient already")
        _OVERRIDES[self._op_type] = function
        return function


def no_gradient(op_type: str) -> None:
    """State that no gradient flows through ops of this type.

    Example:
      >>> no_gradient("MyRounding")
    """
    _OVERRIDES[op_type] = None


NoGradient = NotDifferentiable = no_gradient


class _Options(NamedTuple):
    """What holds for one call of `gradients`."""

    graph: Graph
    colocate: bool
    gate: bool

    def beside(self, op: Operation) -> AbstractContextManager[None]:
        """Return the scope in which nodes stand on the device of `op`, if that was asked for."""
        return (
            self.graph.colocate_with(op, ignore_existing=True) if self.colocate else nullcontext()
        )


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
      LookupError: an op on the way has no gradient.
      TypeError: a y is complex and has no grad_ys, or a grad_ys has another type.
      ValueError: a gradient has not the shape of what it is the gradient of.

    Example:
      >>> x = constant([1.0, 2.0, 3.0])
      >>> Session().run(gradients(x * x, x))
      [array([2., 4., 6.], dtype=float32)]
    """
    targets = [_target(x) for x in _flat(xs)]
    sources = [convert_to_tensor(y, name="y") for y in _flat(ys)]
    blank = UnconnectedGradients(unconnected_gradients)
    if not sources or not targets:
        return [None] * len(targets)
    options = _Options(sources[0].graph, colocate_gradients_with_ops, bool(gate_gradients))
    with options.graph.as_default(), options.graph.name_scope(name or "gradients"):
        starts = _starts(sources, _flat(grad_ys, len(sources)), options)
        stops = {_target(each).op for each in _flat(stop_gradients)}
        found = _walk(sources, starts, targets, stops, options)
    if blank is UnconnectedGradients.ZERO:
        return [raw.ZerosLike(x, name="zeros_like") if g is None else g
                for x, g in zip(targets, found, strict=True)]  # fmt: skip
    return found


def _flat(value: Any, count: int | None = None) -> list[Any]:
    """Return the elements of a nested list; `count` Nones for None, if given."""
    if value is None:
        return [None] * (count or 0)
    if not isinstance(value, list | tuple):
        return [value]
    flat = [part for each in value for part in (_flat(each) if each is not None else [None])]
    if count is not None and len(flat) != count:
        raise ValueError(f"there are {count} ys, but {len(flat)} grad_ys")
    return flat


def _target(x: Any) -> Tensor:
    """Return the tensor at which gradients of `x` arrive: for a Variable, the variable itself."""
    handle = getattr(x, "handle", None)
    if isinstance(handle, Tensor):
        return handle
    if isinstance(x, IndexedSlices):
        return x.values
    return convert_to_tensor(x, name="x", as_ref=True)


def _starts(ys: Sequence[Tensor], given: Sequence[Any], options: _Options) -> list[Any]:
    """Return the gradient with which each y starts; None for those of integers."""
    starts = []
    for position, (y, start) in enumerate(zip(ys, given, strict=True)):
        with options.beside(y.op):
            starts.append(_start(y, start, f"grad_ys_{position}"))
    return starts


def _start(y: Tensor, given: Any, name: str) -> Any:
    if isinstance(given, IndexedSlices):
        return given
    dtype = y.dtype.base_dtype
    if given is not None:
        return _given_start(y, given, name)
    if dtype.is_complex:
        raise TypeError(f"{y!r} is complex: its gradient needs a start, grad_ys")
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
    return _of_shape(raw.Identity(given, name=name), y, "grad_ys")


def _of_shape(gradient: Tensor, tensor: Tensor, what: str) -> Tensor:
    """Return `gradient`, known to have the shape of `tensor`; ValueError if it has another."""
    if gradient._shape != tensor._shape:
        try:
            gradient.set_shape(tensor._shape)
        except ValueError as error:
            raise ValueError(f"{what} {gradient!r} of {tensor!r}: {error}") from None
    return gradient


_CARRIERS = (dtypes.resource, dtypes.variant)


def _carries(dtype: DType) -> bool:
    """Return whether tensors of this type have gradients, or hand on what has."""
    base = dtype.base_dtype
    return base.is_floating or base.is_complex or base in _CARRIERS


def _walk(
    ys: Sequence[Tensor],
    starts: Sequence[Any],
    xs: Sequence[Tensor],
    stops: set[Operation],
    options: _Options,
) -> list[Any]:
    """Return the gradient of each x."""
    arrived: dict[Tensor, list[Any]] = {}
    for y, start in zip(ys, starts, strict=True):
        if start is not None:
            arrived.setdefault(y, []).append(start)
    wanted = set(xs)
    ways = _ways([y.op for y in ys], wanted, stops)
    pending = _pending(ways)
    ready = deque(dict.fromkeys(y.op for y in ys if y.op in ways and not pending[y.op]))
    while ready:
        op = ready.popleft()
        _visit(op, ways[op], arrived, options)
        for tensor in _distinct_inputs(op, ways[op]):
            above = tensor.op
            if above in ways:
                pending[above] -= 1
                if not pending[above]:
                    ready.append(above)
    return [_total(arrived.get(x), options) for x in xs]


def _ways(
    ends: Iterable[Operation], wanted: set[Tensor], stops: set[Operation]
) -> dict[Operation, tuple[bool, ...]]:
    """Return the ops above `ends` on ways from `wanted`, and which inputs of each lie on one.

    An op that makes a wanted tensor is among them too, with no input on a way if it ends there.
    """
    ways: dict[Operation, tuple[bool, ...]] = {}
    makers = {tensor.op for tensor in wanted}
    for op in _above(ends, stops):
        needed = tuple([_carries(t.dtype) and (t in wanted or t.op in ways) for t in op.inputs])
        if op in stops or _blocks(op):
            needed = (False,) * len(needed)
        if op in makers or True in needed:
            ways[op] = needed
    return ways


def _blocks(op: Operation) -> bool:
    """Return whether it is known of this op that no gradient flows through it."""
    if "_gradient_op_type" in op._attrs or op.type in _OVERRIDES:
        return False
    return not op.op_def.differentiable


def _above(ends: Iterable[Operation], stops: set[Operation]) -> list[Operation]:
    """Return `ends` and all ops above them, each after those that feed it (but for loops)."""
    order: list[Operation] = []
    seen: set[Operation] = set()
    stack: list[tuple[Operation, bool]] = [(op, False) for op in ends]
    while stack:
        op, inputs_done = stack.pop()
        if inputs_done:
            order.append(op)
        elif op not in seen:
            seen.add(op)
            stack.append((op, True))
            if op not in stops:
                stack += [(tensor.op, False) for tensor in op.inputs if tensor.op not in seen]
    return order


def _pending(ways: dict[Operation, tuple[bool, ...]]) -> dict[Operation, int]:
    """Return how many ops each op on a way must wait for: those that take its outputs."""
    pending = dict.fromkeys(ways, 0)
    for op, needed in ways.items():
        for tensor in _distinct_inputs(op, needed):
            if tensor.op in pending:
                pending[tensor.op] += 1
    return pending


def _distinct_inputs(op: Operation, needed: tuple[bool, ...]) -> Iterable[Tensor]:
    return dict.fromkeys([t for t, wanted in zip(op.inputs, needed, strict=True) if wanted])


def _visit(
    op: Operation, needed: tuple[bool, ...], arrived: dict[Tensor, list[Any]], options: _Options
) -> None:
    """Sum the gradients at the outputs of `op` and hand those of its inputs on."""
    totals = []
    for tensor in op.outputs:
        total = _total(arrived.get(tensor), options)
        if total is not None:
            arrived[tensor] = [total]
        totals.append(total)
    if True not in needed or all(total is None for total in totals):
        return
    with options.beside(op), options.graph.name_scope(f"{op.name}_grad"):
        parts = _apply_rule(op, totals, needed)
        if options.gate and sum(part is not None for part in parts) > 1:
            parts = _together(parts, options.graph)
    for tensor, part, wanted in zip(op.inputs, parts, needed, strict=True):
        if wanted and part is not None:
            arrived.setdefault(tensor, []).append(part)


def _apply_rule(op: Operation, totals: list[Any], needed: tuple[bool, ...]) -> list[Any]:
    """Return the gradients of the inputs of `op` by its rule, checked."""
    rule = _rule(op)
    if rule is None:
        return [None] * len(op.inputs)
    if "needed" in (getattr(rule, "__kwdefaults__", None) or ()):
        parts = rule(op, *totals, needed=needed)
    else:
        parts = rule(op, *totals)
    parts = list(parts) if isinstance(parts, list | tuple) else [parts]
    if len(parts) != len(op.inputs):
        raise ValueError(
            f"the gradient of {op.name!r} ({op.type}) gave {len(parts)} gradients for "
            f"{len(op.inputs)} inputs"
        )
    for tensor, part in zip(op.inputs, parts, strict=True):
        if isinstance(part, Tensor) and part.dtype is tensor.dtype.base_dtype:
            _of_shape(part, tensor, f"op {op.name!r} ({op.type}) made the gradient")
    return parts


def _rule(op: Operation) -> Callable[..., Any] | None:
    """Return the gradient rule of `op`, None if no gradient flows through it."""
    chosen = op._attrs.get("_gradient_op_type")
    key = op.type if chosen is None else chosen.decode()
    if key in _OVERRIDES:
        return _OVERRIDES[key]
    op_def = REGISTRY.get(key)
    if op_def is not None and op_def.gradient_rule is not None:
        return op_def.gradient_rule
    if op_def is not None and not op_def.differentiable:
        return None
    raise LookupError(
        f"no gradient is defined for op {op.name!r} (type {key}), which lies between xs and ys; "
        f"tf.stop_gradient around it makes it a constant, @tf.RegisterGradient({key!r}) defines one"
    )


def _together(parts: list[Any], graph: Graph) -> list[Any]:
    """Return the gradients as they are, but none before all are there."""
    with (
        graph.name_scope("tuple"),
        graph.control_dependencies([part.op for part in parts if part is not None]),
    ):
        gate = raw.NoOp(name="group_deps")
    with graph.name_scope(f"{graph.get_name_scope()}/tuple/"), graph.control_dependencies([gate]):
        return [part if part is None else _gated(part, graph) for part in parts]


def _gated(part: Any, graph: Graph) -> Any:
    if isinstance(part, IndexedSlices):
        values = _gated(part.values, graph)
        return IndexedSlices(values, part.indices, part.dense_shape)
    with graph.colocate_with(part.op):
        return raw.Identity(part, name="control_dependency")


def _total(parts: list[Any] | None, options: _Options) -> Any:
    """Return the sum of gradients that arrived at one tensor, None if there are none."""
    if not parts:
        return None
    if len(parts) == 1:
        return parts[0]
    with options.graph.colocate_with(parts[0].op, ignore_existing=True):
        if all(isinstance(part, IndexedSlices) for part in parts):
            return _joined(parts)
        return ADD_N([part._as_tensor(False) for part in parts])


def _joined(parts: list[IndexedSlices]) -> IndexedSlices:
    """Return slices one after the other; equal indices add up when they are used."""
    wide = any(part.indices.dtype.base_dtype is dtypes.int64 for part in parts)
    index_type = dtypes.int64 if wide else dtypes.int32
    indices = [
        part.indices
        if part.indices.dtype.base_dtype is index_type
        else raw.Cast(part.indices, DstT=index_type)
        for part in parts
    ]
    shape = next((part.dense_shape for part in parts if part.dense_shape is not None), None)
    values = raw.ConcatV2([part.values for part in parts], 0, name="concat")
    return IndexedSlices(values, raw.ConcatV2(indices, 0, name="concat"), shape)
