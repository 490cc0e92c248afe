"""Row splits: where each row begins in the values of all rows, and the end; what says the same."""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import control_dependencies
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat
from tfdist.ops.array.fill import zeros
from tfdist.ops.array.range import range as range_
from tfdist.ops.array.shape import rank, shape
from tfdist.ops.checks.assertions import assert_equal, assert_non_negative
from tfdist.ops.math.cumulative import cumsum
from tfdist.ops.math.reductions import reduce_any, reduce_max
from tfdist.ops.math.segments import unsorted_segment_sum


def integers(value: Any, name: str) -> Tensor:
    """Return splits, lengths or ids: int64, unless they are a tensor of int32."""
    if isinstance(value, Tensor) and value.dtype.base_dtype is dtypes.int32:
        return value
    return convert_to_tensor(value, dtypes.int64, name)


def length_of(values: Any, dtype: DType) -> Any:
    """Return the length of the first axis of a tensor."""
    sizes: Any = shape(values, out_type=dtype)
    return sizes[0]


def checked(splits: Tensor, count: Any) -> Tensor:
    """Return splits of `count` values, checked when it runs."""
    message = "Arguments do not form a valid RaggedTensor"
    each: Any = splits
    with control_dependencies([
        assert_equal(each[0], cast(0, splits.dtype), message=message),
        assert_equal(each[-1], count, message=message),
        assert_non_negative(each[1:] - each[:-1], message=message),
    ]):  # fmt: skip
        checked: Tensor = raw.Identity(splits)
    return checked


def ids_of(splits: Any) -> Any:
    """Return for each value the row that it stands in."""
    starts: Any = splits[1:-1]
    marks = unsorted_segment_sum(raw.OnesLike(starts), starts, splits[-1] + 1)
    ids: Any = cumsum(cast(marks, splits.dtype))
    return ids[:-1]


def splits_of(ids: Tensor, count: Any = None) -> Tensor:
    """Return the splits of rows whose values tell their rows, `count` of them."""
    if count is None:
        most: Any = reduce_max(concat([cast([-1], ids.dtype), ids], 0))
        count = most + 1
    lengths = unsorted_segment_sum(raw.OnesLike(ids), ids, cast(count, ids.dtype))
    return concat([zeros([1], ids.dtype), cumsum(lengths)], 0)


def lengths_before(dense: Tensor, padding: Any, width: Any) -> Any:
    """Return how long rows are without the padding at their ends."""
    value = convert_to_tensor(padding, dense.dtype.base_dtype, "padding")
    value.shape.assert_is_compatible_with(dense.shape[2:])
    is_kept: Any = raw.NotEqual(dense, value)
    if dense.shape.ndims != 2:
        is_kept = reduce_any(is_kept, raw.Range(2, rank(dense), 1))
    places: Any = range_(width)
    return reduce_max(raw.Mul(cast(is_kept, places.dtype), places + 1), 1)
