"""Gradients as the walk backwards makes and adds them: rules, sums, zeros, shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.graph.graph import Graph
from tfdist.graph.handles import value_behind
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.autodiff.gradient_utils import shape_of
from tfdist.ops.framework.indexed_slices import IndexedSlices, joined
from tfdist.ops.math.add_n import ADD_N


def total(parts: list[Any], graph: Graph) -> Any:
    """Return the sum of gradients that arrived at one tensor."""
    if len(parts) == 1:
        return parts[0]
    with graph.colocate_with(parts[0].op, ignore_existing=True):
        if all(isinstance(part, IndexedSlices) for part in parts):
            return joined(parts)
        return ADD_N([part._as_tensor(False) for part in parts])


def zeros_for(tensor: Tensor) -> Tensor:
    """Return zeros of the shape of `tensor`, which is looked at only if that is not known."""
    zeros: Tensor
    dtype, shape = value_behind(tensor)
    is_known = shape is not None and None not in shape
    if dtype is dtypes.variant or not (is_known or tensor.dtype is dtypes.resource):
        zeros = raw.ZerosLike(tensor)
    else:
        zeros = raw.Const(value=np.zeros((), dtype.as_numpy_dtype), dtype=dtype, name="zeros")
        if shape != ():
            zeros = raw.Fill(shape_of(tensor), zeros, name="zeros")
    return zeros


def of_shape(gradient: Tensor, tensor: Tensor, what: str) -> Tensor:
    """Return `gradient`, known to have the shape of `tensor`; ValueError if it has another."""
    shape = value_behind(tensor).shape
    if gradient._shape != shape:
        try:
            gradient.set_shape(shape)
        except ValueError as error:
            raise ValueError(
                f"{what} {gradient!r} of {tensor!r}: Incompatible shapes between op input and "
                f"calculated input gradient: {error}"
            ) from None
    return gradient


def apply_rule(
    rule: Callable[..., Any] | None, op: Operation, totals: list[Any], needed: tuple[bool, ...]
) -> list[Any]:
    """Return the gradients of the inputs of `op` by its rule, checked."""
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
            of_shape(part, tensor, f"op {op.name!r} ({op.type}) made the gradient")
    return parts


def together(parts: list[Any], graph: Graph) -> list[Any]:
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
