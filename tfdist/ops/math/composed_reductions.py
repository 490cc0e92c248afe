"""Reductions composed of others: logarithm of sums, variance, deviation, counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.fill import zeros_like
from tfdist.ops.autodiff.gradient_utils import shape_of
from tfdist.ops.math.reductions import SUM, add_reduction, reduce_max, reduce_mean, reduce_sum

__all__ = ["count_nonzero", "reduce_logsumexp", "reduce_std", "reduce_variance"]


def reduce_logsumexp(
    input_tensor: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """Return log(sum(exp(x))) of the elements along axes; large ones do not overflow.

    Args:
      input_tensor: float tensor, or anything that converts to one.
      axis: an integer or several; None for all axes.
      keepdims: whether the reduced axes stay, with size 1.
      name: of the node.
      reduction_indices: the old spelling of axis.
      keep_dims: the old spelling of keepdims.

    Example:
      >>> Session().run(reduce_logsumexp([1000.0, 1000.0]))
      np.float32(1000.6932)
    """
    axis = reduction_indices if axis is None else axis
    kept = bool(keep_dims if keepdims is None else keepdims)
    with name_scope(name, "ReduceLogSumExp", [input_tensor]):
        x = convert_to_tensor(input_tensor, name="input")
        top = reduce_max(x, axis, keepdims=True)
        finite = raw.Select(raw.IsFinite(top), top, zeros_like(top))
        shift = raw.StopGradient(finite)
        total = reduce_sum(raw.Exp(raw.Sub(x, shift)), axis, keepdims=kept)
        logarithm = raw.Log(total)
        shift = shift if kept else raw.Reshape(shift, shape_of(logarithm))
        tensor: Tensor = raw.Add(logarithm, shift)
        return tensor


def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None
) -> Tensor:
    """Return the mean squared distance from the mean of the elements along axes.

    Args:
      input_tensor: float tensor, or anything that converts to one.
      axis: an integer or several; None for all axes.
      keepdims: whether the reduced axes stay, with size 1.
      name: of the nodes' scope.

    Example:
      >>> Session().run(reduce_variance([1.0, 2.0, 3.0, 6.0]))
      np.float32(3.5)
    """
    with name_scope(name, "reduce_variance", [input_tensor]):
        x = convert_to_tensor(input_tensor)
        distance = raw.Sub(x, reduce_mean(x, axis, keepdims=True), name="sub")
        return reduce_mean(raw.Square(distance), axis, keepdims=keepdims)


def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None
) -> Tensor:
    """Return the standard deviation of the elements along axes: the root of the variance.

    Args:
      input_tensor: float tensor, or anything that converts to one.
      axis: an integer or several; None for all axes.
      keepdims: whether the reduced axes stay, with size 1.
      name: of the nodes' scope.

    Example:
      >>> Session().run(reduce_std([1.0, 3.0]))
      np.float32(1.0)
    """
    with name_scope(name, "reduce_std", [input_tensor]):
        tensor: Tensor = raw.Sqrt(reduce_variance(input_tensor, axis, keepdims))
        return tensor


def count_nonzero(
    input_tensor: Any = None,
    axis: Any = None,
    keepdims: bool | None = None,
    dtype: Any = dtypes.int64,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
    input: Any = None,
) -> Tensor:
    """Return how many elements along axes are not 0 (not empty, for strings).

    Args:
      input_tensor: a tensor, or anything that converts to one.
      axis: an integer or several; None for all axes.
      keepdims: whether the reduced axes stay, with size 1.
      dtype: of the count.
      name: of the nodes' scope.
      reduction_indices: the old spelling of axis.
      keep_dims: the old spelling of keepdims.
      input: the new spelling of input_tensor.

    Example:
      >>> Session().run(count_nonzero([[0, 1, 2], [3, 0, 0]], axis=1))
      array([2, 1])
    """
    old = {"reduction_indices": reduction_indices, "keep_dims": keep_dims}
    input_tensor = input if input_tensor is None else input_tensor
    with name_scope(name, "count_nonzero", [input_tensor]):
        x = convert_to_tensor(input_tensor, name="input")
        blank = b"" if x.dtype == dtypes.string else 0
        zero = convert_to_tensor(np.asarray(blank).astype(x.dtype.as_numpy_dtype), name="zeros")
        counted = raw.Cast(raw.NotEqual(x, zero), DstT=dtypes.int64)
        total = add_reduction(SUM, counted, axis, keepdims, None, **old)
        wanted = dtypes.as_dtype(dtype)
        return total if wanted is dtypes.int64 else raw.Cast(total, DstT=wanted)
