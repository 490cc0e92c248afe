"""Norms, and tensors held within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import colocate_with, name_scope
from tfdist.ops.array.constants import constant
from tfdist.ops.array.fill import ones_like
from tfdist.ops.autodiff.gradients import IndexedSlices
from tfdist.ops.math import reductions

__all__ = [
    "clip_by_average_norm", "clip_by_global_norm", "clip_by_norm", "clip_by_value", "global_norm",
]  # fmt: skip

CLIP_BY_VALUE = OpDef(
    "ClipByValue(t: T, clip_value_min: T, clip_value_max: T) -> output: T [T: type {numeric}]"
)


@CLIP_BY_VALUE.shape
def clip_by_value_shape(t: Shape, clip_value_min: Shape, clip_value_max: Shape) -> Shape:
    return t


@CLIP_BY_VALUE.kernel
def clip_by_value_kernel(t: Any, clip_value_min: Any, clip_value_max: Any) -> Any:
    return np.maximum(np.minimum(t, clip_value_max), clip_value_min)


@CLIP_BY_VALUE.gradient
def clip_by_value_gradient(op: Any, d_output: Any) -> Any:
    t, low, high = op.inputs
    below, above = raw.Less(t, low), raw.Greater(t, high)
    d_t = raw.SelectV2(raw.LogicalOr(below, above), 0.0, d_output)
    d_low, d_high = raw.SelectV2(below, d_output, 0.0), raw.SelectV2(above, d_output, 0.0)
    return d_t, _like(low, d_low), _like(high, d_high)


def _like(bound: Tensor, gradient: Tensor) -> Tensor:
    """Return the gradient of a bound, which is one number or as many as there are elements."""
    if bound.plain_shape == ():
        return reductions.reduce_sum(gradient)
    return gradient


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """Return `t` with values beyond two bounds set to the bounds.

    Args:
      t: a tensor, IndexedSlices, or anything that converts to a tensor.
      clip_value_min: lower bound, of the same type; broadcasts to the shape of t.
      clip_value_max: upper bound, in the same form.
      name: of the node.

    Raises:
      ValueError: a bound has more elements than `t`.

    Example:
      >>> Session().run(clip_by_value([-5.0, 0.5, 5.0], -1.0, 1.0))
      array([-1. ,  0.5,  1. ], dtype=float32)
    """
    with name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as scope:
        values = t.values if isinstance(t, IndexedSlices) else convert_to_tensor(t, name="t")
        low = raw.Minimum(values, clip_value_max)
        clipped = raw.Maximum(low, clip_value_min, name=scope)
        if not shapes.compatible(values.plain_shape, clipped.plain_shape):
            raise ValueError(f"the bounds of clip_by_value have more elements than {values!r}")
        return _rewrapped(t, clipped)


def _rewrapped(original: Any, values: Tensor) -> Any:
    """Return `values` as what `original` was: a tensor or IndexedSlices."""
    if isinstance(original, IndexedSlices):
        return IndexedSlices(values, original.indices, original.dense_shape)
    return values


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """Return `t`, scaled down so that its norm (root of the sum of squares) is at most `clip_norm`.

    Args:
      t: float tensor, IndexedSlices, or anything that converts to a tensor.
      clip_norm: the greatest norm, positive.
      axes: along which the norm is taken; None for all.
      name: of the node.

    Example:
      >>> Session().run(clip_by_norm([6.0, 8.0], 5.0))
      array([3., 4.], dtype=float32)
    """
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as scope:
        values = t.values if isinstance(t, IndexedSlices) else convert_to_tensor(t, name="t")
        squares = raw.Mul(values, values, name="mul")
        total = reductions.reduce_sum(squares, axes, keepdims=True)
        # the root is taken of 1 where the sum is 0: its gradient there is not finite
        positive = raw.Greater(total, 0.0)
        safe = raw.Select(positive, total, ones_like(total))
        length = raw.Select(positive, raw.Sqrt(safe), total)
        scaled = raw.Mul(values, clip_norm, name="mul")
        clipped = raw.RealDiv(scaled, raw.Maximum(length, clip_norm), name="truediv")
        return _rewrapped(t, raw.Identity(clipped, name=scope))


def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Tensor:
    """Return `t`, scaled down so that its norm divided by its size is at most `clip_norm`.

    Args:
      t: float tensor, or anything that converts to one.
      clip_norm: the greatest average norm, positive.
      name: of the node.

    Example:
      >>> Session().run(clip_by_average_norm([6.0, 8.0], 2.5))
      array([3., 4.], dtype=float32)
    """
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as scope:
        t = convert_to_tensor(t, name="t")
        count = raw.Cast(raw.Size(t), DstT=t.dtype.base_dtype)
        inverse = raw.Rsqrt(reductions.reduce_sum(raw.Mul(t, t, name="mul")))
        inverse = raw.Mul(inverse, count, name="mul")
        factor = raw.Mul(raw.Minimum(inverse, raw.RealDiv(1.0, clip_norm)), clip_norm, name="mul")
        return raw.Identity(raw.Mul(t, factor, name="mul"), name=scope)  # type: ignore[no-any-return]


def global_norm(t_list: Sequence[Any], name: str | None = None) -> Tensor | None:
    """Return the norm of several tensors as if they were one: the root of all their squares.

    Args:
      t_list: tensors, IndexedSlices or None (left out).
      name: of the nodes' scope.

    Returns:
      A number; None if the list holds nothing but None.

    Raises:
      TypeError: `t_list` is not a list.

    Example:
      >>> Session().run(global_norm([[3.0], None, [4.0]]))
      np.float32(5.0)
    """
    t_list = _listed(t_list)
    with name_scope(name, "global_norm", [t for t in t_list if t is not None]):
        halves = []
        for t in t_list:
            if t is not None:
                values = t.values if isinstance(t, IndexedSlices) else convert_to_tensor(t)
                with colocate_with(values):
                    halves.append(raw.L2Loss(values))
        if not halves:
            return None
        half = reductions.reduce_sum(raw.Pack(halves, axis=0, name="stack"))
        two = convert_to_tensor(2.0, half.dtype)
        tensor: Tensor = raw.Sqrt(raw.Mul(half, two, name="mul"), name="global_norm")
        return tensor


def _listed(t_list: Any) -> list[Any]:
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError(f"expected a list of tensors, got {t_list!r}")
    return list(t_list)


def clip_by_global_norm(
    t_list: Sequence[Any], clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Any]:
    """Return tensors scaled down together so that their `global_norm` is at most `clip_norm`.

    Args:
      t_list: tensors, IndexedSlices or None (which stays).
      clip_norm: the greatest norm, positive.
      use_norm: the norm, where it is known already.
      name: of the nodes' scope.

    Returns:
      The scaled tensors and the norm that they had; all NaN if the norm is not finite.

    Raises:
      TypeError: `t_list` is not a list.

    Example:
      >>> Session().run(clip_by_global_norm([[6.0], [8.0]], 5.0)[0])
      [array([3.], dtype=float32), array([4.], dtype=float32)]
    """
    t_list = _listed(t_list)
    use_norm = global_norm(t_list, name) if use_norm is None else convert_to_tensor(use_norm)
    if use_norm is None:
        return t_list, None
    with name_scope(name, "clip_by_global_norm", [use_norm]) as scope:
        dtype = use_norm.dtype.base_dtype
        inverse = raw.RealDiv(1.0, use_norm, name="truediv")
        least = raw.RealDiv(constant(1.0, dtype), clip_norm, name="truediv")
        scale = raw.Mul(clip_norm, raw.Minimum(inverse, least), name="mul")
        # a norm that is not finite must show, and not leave what was finite as it was
        scale = raw.Select(raw.IsFinite(use_norm), scale, constant(np.nan, dtype))
        return [_scaled(t, scale, f"{scope}_{i}") for i, t in enumerate(t_list)], use_norm


def _scaled(t: Any, scale: Tensor, name: str) -> Any:
    if t is None:
        return None
    values = t.values if isinstance(t, IndexedSlices) else convert_to_tensor(t)
    with colocate_with(values):
        product = raw.Mul(values, scale, name="mul")
        return _rewrapped(t, raw.Identity(product, name=name.removesuffix("/")))
