"""Mean and variance, and tensors scaled by them or by their norm: compositions of other ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.fill import zeros_like
from tfdist.ops.math import reductions

__all__ = [
    "batch_norm_with_global_normalization", "batch_normalization", "l2_normalize", "moments",
    "normalize_moments", "sufficient_statistics", "weighted_moments",
]  # fmt: skip


def l2_normalize(
    x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None
) -> Tensor:
    """Return `x` divided by the root of its sum of squares along axes.

    Args:
      x: float tensor, or anything that converts to one.
      axis: an integer or several; None for all axes.
      epsilon: the least sum of squares that is divided by.
      name: of the node.
      dim: the old spelling of axis.

    Example:
      >>> Session().run(nn.l2_normalize([3.0, 4.0]))
      array([0.6, 0.8], dtype=float32)
    """
    axis = dim if axis is None else axis
    with name_scope(name, "l2_normalize", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        total = reductions.reduce_sum(raw.Square(x), axis, keepdims=True)
        inverse = raw.Rsqrt(raw.Maximum(total, epsilon))
        tensor: Tensor = raw.Mul(x, inverse, name=scope)
        return tensor


def moments(
    x: Any,
    axes: Any,
    shift: Any = None,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Return mean and variance of `x` along axes.

    Args:
      x: float tensor, or anything that converts to one.
      axes: the axes to average over.
      shift: taken and not needed.
      name: of the nodes' scope.
      keep_dims: whether the axes stay, with size 1.
      keepdims: the new spelling of keep_dims.

    Example:
      >>> Session().run(nn.moments([1.0, 2.0, 3.0, 6.0], [0]))
      (np.float32(3.0), np.float32(3.5))
    """
    kept = bool(keep_dims if keepdims is None else keepdims)
    with name_scope(name, "moments", [x, axes]):
        given = convert_to_tensor(x, name="x")
        narrow = given.dtype == dtypes.float16  # sums of which lose too much
        x = raw.Cast(given, DstT=dtypes.float32) if narrow else given
        mean = reductions.reduce_mean(x, axes, keepdims=True, name="mean")
        distance = raw.SquaredDifference(x, raw.StopGradient(mean))
        variance = reductions.reduce_mean(distance, axes, keepdims=True, name="variance")
        both = mean, variance
        if not kept:
            both = tuple(raw.Squeeze(each, squeeze_dims=np.ravel(axes).tolist()) for each in both)
        return tuple(raw.Cast(each, DstT=dtypes.float16) for each in both) if narrow else both  # type: ignore[return-value]


def weighted_moments(
    x: Any,
    axes: Any,
    frequency_weights: Any,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Return mean and variance of `x` along axes, each element counted by its weight.

    Args:
      x: float tensor, or anything that converts to one.
      axes: the axes to average over.
      frequency_weights: that broadcast to the shape of x.
      name: of the nodes' scope.
      keep_dims: whether the axes stay, with size 1.
      keepdims: the new spelling of keep_dims.

    Example:
      >>> Session().run(nn.weighted_moments([1.0, 4.0], [0], [2.0, 1.0]))
      (np.float32(2.0), np.float32(2.0))
    """
    kept = bool(keep_dims if keepdims is None else keepdims)
    with name_scope(name, "weighted_moments", [x, axes, frequency_weights]):
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(frequency_weights, x.dtype.base_dtype, name="weights")
        sums = _sum_over(raw.Mul(weights, x, name="mul"), axes, "weighted_input_sum")
        total = _sum_over(raw.AddV2(weights, zeros_like(x), name="add"), axes, "sum_of_weights")
        inverse = raw.Reciprocal(total, name="inv_weight_sum")
        mean = raw.Mul(sums, inverse)
        distance = raw.Mul(weights, raw.SquaredDifference(x, mean), name="mul")
        variance = raw.Mul(_sum_over(distance, axes, "weighted_distsq"), inverse)
        if kept:
            return mean, variance
        return tuple(
            raw.Squeeze(each, squeeze_dims=np.ravel(axes).tolist()) for each in (mean, variance)
        )  # type: ignore[return-value]


def _sum_over(tensor: Tensor, axes: Any, name: str) -> Tensor:
    return reductions.reduce_sum(tensor, axes, keepdims=True, name=name)


def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: float,
    name: str | None = None,
) -> Tensor:
    """Return (x - mean) / sqrt(variance) * scale + offset.

    Args:
      x: float tensor.
      mean: broadcasts to x.
      variance: broadcasts to x.
      offset: broadcasts to x; None for 0.
      scale: broadcasts to x; None for 1.
      variance_epsilon: added to the variance, so that it is not 0.
      name: of the nodes' scope.

    Example:
      >>> Session().run(nn.batch_normalization([5.0], 1.0, 4.0, 10.0, 3.0, 0.0))
      array([16.], dtype=float32)
    """
    with name_scope(name, "batchnorm", [x, mean, variance, offset, scale]):
        x, mean = convert_to_tensor(x), convert_to_tensor(mean)
        factor = raw.Rsqrt(raw.AddV2(variance, variance_epsilon, name="add"))
        if scale is not None:
            factor = raw.Mul(factor, scale, name="mul")
        scaled = raw.Mul(x, factor, name="mul")
        if offset is None:
            rest = raw.Mul(raw.Neg(mean), factor, name="mul")
        else:
            rest = raw.Sub(offset, raw.Mul(mean, factor, name="mul"), name="sub")
        tensor: Tensor = raw.AddV2(scaled, rest, name="add")
        return tensor


def batch_norm_with_global_normalization(
    t: Any = None,
    m: Any = None,
    v: Any = None,
    beta: Any = None,
    gamma: Any = None,
    variance_epsilon: Any = None,
    scale_after_normalization: bool | None = None,
    name: str | None = None,
    input: Any = None,
    mean: Any = None,
    variance: Any = None,
) -> Tensor:
    """Return `batch_normalization` as the first releases spelled it.

    Args:
      t: [batch, height, width, channels].
      m: [channels], the mean.
      v: [channels], the variance.
      beta: [channels], added at the end.
      gamma: [channels], factor of what is normalized.
      variance_epsilon: added to the variance.
      scale_after_normalization: whether gamma counts.
      name: of the nodes' scope.
      input: the later spelling of t.
      mean: the later spelling of m.
      variance: the later spelling of v.

    Example:
      >>> one = [1.0]
      >>> Session().run(
      ...     nn.batch_norm_with_global_normalization([[[[5.0]]]], one, [4.0], one, one, 0.0, False)
      ... )
      array([[[[3.]]]], dtype=float32)
    """
    t, m = (t if input is None else input), (m if mean is None else mean)
    spread = v if variance is None else variance
    scale = gamma if scale_after_normalization else None
    return batch_normalization(t, m, spread, beta, scale, variance_epsilon, name)


def sufficient_statistics(
    x: Any,
    axes: Any,
    shift: Any = None,
    keep_dims: bool | None = None,
    name: str | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor, Tensor, Any]:
    """Return what mean and variance can be made of: how many elements, their sum, their squares'.

    Args:
      x: float tensor, or anything that converts to one.
      axes: the axes to sum over.
      shift: near the mean, taken off before the sums, for the sake of accuracy; or None.
      keep_dims: whether the axes stay, with size 1.
      name: of the nodes' scope.
      keepdims: the later spelling of keep_dims.

    Returns:
      Count, sum, sum of squares, and the shift, which may be None.

    Example:
      >>> Session().run(list(nn.sufficient_statistics([1.0, 2.0, 3.0], [0])[:3]))
      [np.float32(3.0), np.float32(6.0), np.float32(14.0)]
    """
    kept = bool(keep_dims if keepdims is None else keepdims)
    axes = list(axes)
    with name_scope(name, "sufficient_statistics", [x, shift]):
        x = convert_to_tensor(x, name="x")
        counts = _count(x, axes)
        if shift is None:
            sums, squares = x, raw.Square(x)
        else:
            shift = convert_to_tensor(shift, x.dtype.base_dtype, name="shift")
            sums, squares = raw.Sub(x, shift), raw.SquaredDifference(x, shift)
        mean_ss = reductions.reduce_sum(sums, axes, keepdims=kept, name="mean_ss")
        var_ss = reductions.reduce_sum(squares, axes, keepdims=kept, name="var_ss")
        return counts, mean_ss, var_ss, shift


def _count(x: Tensor, axes: list[int]) -> Tensor:
    """Return how many elements there are along axes, of the type of x."""
    shape, dtype = x.plain_shape, x.dtype.base_dtype
    if shape is not None and all(shape[axis] is not None for axis in axes):
        number = np.prod([shape[axis] or 0 for axis in axes])
        return raw.Const(value=np.asarray(number, dtype.as_numpy_dtype), dtype=dtype)  # type: ignore[no-any-return]
    sizes = raw.GatherV2(raw.Cast(raw.Shape(x), DstT=dtype), axes, 0)
    return reductions.reduce_prod(sizes, name="count")


def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Return mean and variance, made of what `sufficient_statistics` gives.

    Args:
      counts: how many elements.
      mean_ss: their sum.
      variance_ss: the sum of their squares.
      shift: what was taken off, or None.
      name: of the nodes' scope.

    Example:
      >>> Session().run(nn.normalize_moments(4.0, 8.0, 20.0, None))
      (np.float32(2.0), np.float32(1.0))
    """
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        inverse = raw.Reciprocal(counts, name="divisor")
        if shift is None:
            mean = away = raw.Mul(mean_ss, inverse, name="mean")
        else:
            away = raw.Mul(mean_ss, inverse, name="shifted_mean")
            mean = raw.Add(away, shift, name="mean")
        variance = raw.Sub(raw.Mul(variance_ss, inverse), raw.Square(away), name="variance")
        return mean, variance
