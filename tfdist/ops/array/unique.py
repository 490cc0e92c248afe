"""The different slices of a tensor along an axis: UniqueV2, UniqueWithCountsV2.

Source: TF 1.15 API documentation, tf.raw_ops.UniqueV2.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef
from tfdist.ops.array.dynamic_partition import unique_with_counts_kernel

__all__: list[str] = []

_TYPES = "T: type; Taxis: type = int64 {index}; out_idx: type = int32 {index}"

UNIQUE_V2 = OpDef(f"UniqueV2(x: T, axis: Taxis) -> y: T, idx: out_idx [{_TYPES}]")
UNIQUE_WITH_COUNTS_V2 = OpDef(
    f"UniqueWithCountsV2(x: T, axis: Taxis) -> y: T, idx: out_idx, count: out_idx [{_TYPES}]"
)


@UNIQUE_V2.shape
def unique_v2_shape(x: Shape, axis: Shape, *, axis_value: Any) -> list[Shape]:
    if x is None or axis_value is None:
        return [None if x is None else (None,) * len(x), (None,)]
    along = _axis(axis_value, len(x))
    return [(*x[:along], None, *x[along + 1 :]), (x[along],)]


@UNIQUE_WITH_COUNTS_V2.shape
def unique_with_counts_v2_shape(x: Shape, axis: Shape, *, axis_value: Any) -> list[Shape]:
    return [*unique_v2_shape(x, axis, axis_value=axis_value), (None,)]


def _axis(axis: Any, rank: int) -> int:
    """Return the axis that a vector of one element names; a vector of none means the only one."""
    given = np.ravel(axis).tolist()
    if np.ndim(axis) != 1 or len(given) > 1:
        raise InvalidArgumentError(
            f"axis does not support input tensors larger than 1 elements, got {given}"
        )
    if not given and rank != 1:
        raise InvalidArgumentError(f"unique expects a 1D vector without an axis, got rank {rank}")
    along: int = given[0] if given else 0
    if not -rank <= along < rank:
        raise InvalidArgumentError(f"axis has to be between [0, {rank}), got {along}")
    return along % rank


@UNIQUE_WITH_COUNTS_V2.kernel
def unique_with_counts_v2_kernel(x: Any, axis: Any, *, out_idx: DType) -> Any:
    along = _axis(axis, np.ndim(x))
    if np.ndim(x) == 1:
        return unique_with_counts_kernel(x, out_idx=out_idx)
    rows = np.moveaxis(x, along, 0)
    places, count = unique_with_counts_kernel(_row_numbers(rows), out_idx=out_idx)[1:]
    first = np.zeros(len(count), np.intp)
    first[places[::-1]] = np.arange(len(places))[::-1]
    return [np.moveaxis(rows[first], 0, along), places, count]


@UNIQUE_V2.kernel
def unique_v2_kernel(x: Any, axis: Any, *, out_idx: DType) -> Any:
    return unique_with_counts_v2_kernel(x, axis, out_idx=out_idx)[:2]


def _row_numbers(rows: Any) -> Any:
    """Return a whole number for each row, the same where rows are the same; NaN equals nothing."""
    flat = rows.reshape(len(rows), -1)
    if not flat.size:
        return np.zeros(len(rows), np.int64)
    if flat.dtype.kind not in "iub":
        flat = np.unique(flat, return_inverse=True, equal_nan=False)[1].reshape(flat.shape)
    least, most = flat.min(axis=0), flat.max(axis=0)
    spans = [high - low + 1 for low, high in zip(least.tolist(), most.tolist(), strict=True)]
    if math.prod(spans) >= 1 << 62:  # more rows are possible than there are numbers
        return np.unique(flat, axis=0, return_inverse=True)[1].reshape(-1)
    weights = np.cumprod([1, *spans[:-1]], dtype=np.int64)
    return (flat.astype(np.int64) - least.astype(np.int64)) @ weights
