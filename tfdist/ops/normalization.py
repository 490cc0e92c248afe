"""Mean and variance, and tensors scaled by them or by their norm: compositions of other ops."""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops import reductions
from tfdist.ops.filling import zeros_like

__all__ = ["batch_normalization", "l2_normalize", "moments", "weighted_moments"]


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
            both = tuple(raw.Squeeze(each, squeeze_dims=list(axes)) for each in both)
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
        weights = raw.AddV2(weights, zeros_like(x), name="add")
        total = reductions.reduce_sum(weights, axes, keepdims=True, name="sum_of_weights")
        mean = _mean_by(raw.Mul(weights, x, name="mul"), total, axes, "weighted_input_sum")
        distance = raw.SquaredDifference(x, mean)
        variance = _mean_by(raw.Mul(weights, distance, name="mul"), total, axes, "weighted_distsq")
        if kept:
            return mean, variance
        return tuple(raw.Squeeze(each, squeeze_dims=list(axes)) for each in (mean, variance))  # type: ignore[return-value]


def _mean_by(weighted: Tensor, total: Tensor, axes: Any, name: str) -> Tensor:
    tensor: Tensor = raw.RealDiv(
        reductions.reduce_sum(weighted, axes, keepdims=True, name=name), total, name="truediv"
    )
    return tensor


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
      mean: that broadcasts to x, as do the others.
      variance: likewise.
      offset: likewise, or None for 0.
      scale: likewise, or None for 1.
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
        scaled, shifted = raw.Mul(x, factor, name="mul"), raw.Mul(mean, factor, name="mul")
        rest = raw.Neg(shifted) if offset is None else raw.Sub(offset, shifted, name="sub")
        tensor: Tensor = raw.AddV2(scaled, rest, name="add")
        return tensor
