"""Numbers counted: by their values, or by the interval that they lie in."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.shape import shape
from tfdist.ops.math.clip import clip_by_value
from tfdist.ops.math.reductions import reduce_max, reduce_prod

__all__ = ["bincount", "histogram_fixed_width", "histogram_fixed_width_bins"]

BINCOUNT = OpDef(
    "Bincount(arr: int32, size: int32, weights: T) -> bins: T [T: type {int32,int64,float,double}]"
)


@BINCOUNT.shape
def bincount_shape(arr: Shape, size: Shape, weights: Shape, *, size_value: Any) -> Shape:
    shapes.require_rank(size, "size", 0)
    if size_value is None:
        return (None,)
    if size_value < 0:
        raise InvalidArgumentError(f"size ({int(size_value)}) must be non-negative")
    return (int(size_value),)


@BINCOUNT.kernel
def bincount_kernel(arr: Any, size: Any, weights: Any) -> Any:
    values, count = np.reshape(arr, -1), int(size)
    if count < 0:
        raise InvalidArgumentError(f"size ({count}) must be non-negative")
    if values.size and values.min() < 0:
        raise InvalidArgumentError("Input arr must be non-negative!")
    check_room([count], np.int64)
    is_inside = values < count
    if not weights.size:
        return np.bincount(values[is_inside], minlength=count).astype(weights.dtype)
    if weights.size != values.size:
        raise InvalidArgumentError(
            f"weights must have no element, or one for each of the {values.size} numbers, but has "
            f"{weights.size}"
        )
    bins = np.bincount(values[is_inside], np.reshape(weights, -1)[is_inside], count)
    return bins.astype(weights.dtype)


HISTOGRAM_FIXED_WIDTH = OpDef(
    "HistogramFixedWidth(values: T, value_range: T, nbins: int32) -> out: dtype "
    "[T: type {int32,int64,float,double}; dtype: type = int32 {int32,int64}]"
)


@HISTOGRAM_FIXED_WIDTH.checked_shape
def histogram_fixed_width_shape(
    values: Shape, value_range: Shape, nbins: Shape, *, nbins_value: Any
) -> Shape:
    shapes.require_rank(value_range, "value_range", 1)
    shapes.require_rank(nbins, "nbins", 0)
    if value_range is not None:
        shapes.merge_dim(value_range[0], 2, "elements of value_range, and 2,")
    if nbins_value is None:
        return (None,)
    return (_positive(int(nbins_value)),)


def _positive(nbins: int) -> int:
    if nbins <= 0:
        raise InvalidArgumentError(f"Requires nbins > 0: {nbins}")
    return nbins


@HISTOGRAM_FIXED_WIDTH.kernel
def histogram_fixed_width_kernel(
    values: Any, value_range: Any, nbins: Any, *, dtype: dtypes.DType
) -> Any:
    count = _positive(int(nbins))
    low, high = value_range
    if not low < high:
        raise InvalidArgumentError(
            f"value_range should satisfy value_range[0] < value_range[1], but got '[{low}, {high}]'"
        )
    check_room([count], np.int64)
    width = np.float64(high - low) / count
    places = np.clip(np.floor((np.reshape(values, -1) - low) / width), 0, count - 1)
    return np.bincount(places.astype(np.int64), minlength=count).astype(dtype.as_numpy_dtype)


def histogram_fixed_width(
    values: Any,
    value_range: Any,
    nbins: Any = 100,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Return how many numbers lie in each of some intervals of one width.

    Args:
      values: numbers.
      value_range: [2], where the first interval begins and the last one ends; what is outside
        counts to these.
      nbins: how many intervals.
      dtype: of the result.
      name: of the node.

    Returns:
      [nbins].

    Raises:
      InvalidArgumentError: the range ends before it begins.

    Example:
      >>> Session().run(histogram_fixed_width([-1.0, 0.0, 1.5, 9.0], [0.0, 5.0], 5))
      array([2, 1, 0, 0, 1], dtype=int32)
    """
    with name_scope(name, "histogram_fixed_width", [values, value_range, nbins]) as scope:
        counts: Tensor = HISTOGRAM_FIXED_WIDTH(values, value_range, nbins, dtype=dtype, name=scope)
        return counts


def histogram_fixed_width_bins(
    values: Any,
    value_range: Any,
    nbins: Any = 100,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Return for each number in which interval it lies.

    Args:
      values: floats.
      value_range: [2], where the first interval begins and the last one ends; what is outside
        counts to these.
      nbins: how many intervals.
      dtype: of the result.
      name: of the nodes' scope.

    Returns:
      From 0 to nbins - 1, in the shape of the values.

    Example:
      >>> Session().run(histogram_fixed_width_bins([-1.0, 0.0, 1.5, 9.0], [0.0, 5.0], 5))
      array([0, 0, 1, 4], dtype=int32)
    """
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = convert_to_tensor(values, name="values")
        sizes = shape(values)
        flat = raw.Reshape(values, [-1])
        bounds: Any = convert_to_tensor(value_range, values.dtype.base_dtype, name="value_range")
        count = convert_to_tensor(nbins, "int32", name="nbins")
        wide = raw.Cast(count, DstT=values.dtype.base_dtype)
        above = raw.Sub(flat, bounds[0], name="sub")
        width = raw.Sub(bounds[1], bounds[0], name="sub")
        scaled = raw.RealDiv(above, width, name="scaled_values")
        places = raw.Floor(raw.Mul(wide, scaled, name="mul"), name="indices")
        places = clip_by_value(places, 0, raw.Sub(wide, 1.0, name="sub"))
        bins: Tensor = raw.Reshape(raw.Cast(places, DstT=dtype), sizes)
        return bins


def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
) -> Tensor:
    """Return how often each number from 0 to the greatest one is there.

    Args:
      arr: int32, none negative.
      weights: of the numbers, in the shape of arr: they are summed instead of counted.
      minlength: least length of the result; zeros are added.
      maxlength: greatest length of it; greater numbers are left out.
      dtype: of the result, where there are no weights.

    Returns:
      [numbers].

    Raises:
      InvalidArgumentError: a number is negative.

    Example:
      >>> Session().run(bincount([1, 2, 2, 4]))
      array([0, 1, 2, 0, 1], dtype=int32)
    """
    with name_scope("bincount", "bincount"):
        arr = convert_to_tensor(arr, "int32", name="arr")
        is_filled = raw.Greater(reduce_prod(shape(arr)), 0)
        size = raw.Mul(
            raw.Cast(is_filled, DstT="int32"), raw.AddV2(reduce_max(arr), 1, name="add"), name="mul"
        )
        if minlength is not None:
            size = raw.Maximum(convert_to_tensor(minlength, "int32", name="minlength"), size)
        if maxlength is not None:
            size = raw.Minimum(convert_to_tensor(maxlength, "int32", name="maxlength"), size)
        if weights is not None:
            weights = convert_to_tensor(weights, name="weights")
            counts = raw.UnsortedSegmentSum(weights, arr, size)
        else:
            empty = np.zeros(0, dtypes.as_dtype(dtype).as_numpy_dtype)
            counts = BINCOUNT(arr, size, convert_to_tensor(empty))
        counts.set_shape([_known_length(arr, minlength, maxlength)])
        return counts  # type: ignore[no-any-return]


def _known_length(arr: Tensor, least: Any, greatest: Any) -> int | None:
    """Return the length of the result where it is known before it runs."""
    if arr.op.type != "Const" or any(isinstance(each, Tensor) for each in (least, greatest)):
        return None
    values = np.asarray(arr.op._attrs["value"])
    length = max(int(values.max()) + 1 if values.size else 0, least or 0)
    return length if greatest is None else min(length, greatest)
