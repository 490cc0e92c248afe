"""`tf.reduce_sum`, `tf.math.unsorted_segment_sum` and their like of ragged tensors.

`base.dispatch` calls them instead of those of the same name for tensors, where an argument is a
RaggedTensor.

Source: TF 1.15 API documentation, tf.ragged: "Additional ops that support RaggedTensor".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import name_scope
from tfdist.ops.array import gather as dense_gather
from tfdist.ops.array import shape as array_shape
from tfdist.ops.array.cast import cast
from tfdist.ops.math import reductions, segments
from tfdist.ops.ragged.operators import map_flat_values
from tfdist.ops.ragged.ragged_tensor import RaggedTensor

__all__: list[str] = []  # their public names are those of the functions for tensors

_SEGMENTS = {
    "sum": segments.unsorted_segment_sum,
    "prod": segments.unsorted_segment_prod,
    "max": segments.unsorted_segment_max,
    "min": segments.unsorted_segment_min,
}


def _reduction(kind: str) -> Callable[..., Any]:
    dense = getattr(reductions, f"reduce_{kind}")

    def reduce(
        input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None,
        reduction_indices: Any = None, keep_dims: Any = None,
    ) -> Any:  # fmt: skip
        if keepdims or keep_dims:
            raise ValueError("keepdims=True is not supported for RaggedTensors.")
        axis = reduction_indices if axis is None else axis
        with name_scope(name, f"RaggedReduce{kind.title()}", [input_tensor.flat_values]):
            if axis is None:
                return dense(input_tensor.flat_values)
            return _reduced(kind, input_tensor, axes_of(axis, input_tensor))

    return reduce


def axes_of(axis: Any, ragged: RaggedTensor) -> list[int]:
    """Return axes counted from the front, the last one first."""
    known = axis if isinstance(axis, (int, list, tuple)) else constant_value(axis)
    if known is None:
        raise ValueError("axis must be known when the graph is built.")
    return sorted({axis_of(int(each), ragged) for each in np.ravel(known)}, reverse=True)


def axis_of(axis: int, ragged: RaggedTensor, more: int = 0) -> int:
    """Return an axis counted from the front; ValueError if there is none such."""
    rank = ragged.shape.ndims
    if rank is None:
        if axis < 0:
            raise ValueError("axis may only be negative if ndims is statically known.")
        return axis
    rank += more
    if not -rank <= axis < rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    return axis % rank


def _reduced(kind: str, ragged: Any, axes: Sequence[int]) -> Any:
    if kind == "mean":
        ones = ragged.with_flat_values(raw.OnesLike(ragged.flat_values))
        return _reduced("sum", ragged, axes) / _reduced("sum", ones, axes)
    if kind in ("all", "any"):
        flags = ragged.with_flat_values(cast(ragged.flat_values, dtypes.int32))
        found = _reduced("prod" if kind == "all" else "sum", flags, axes)
        return map_flat_values(cast, found, dtypes.bool_)
    for axis in axes:
        ragged = along(kind, ragged, axis)
    return ragged


def along(kind: str, value: Any, axis: int) -> Any:
    """Return a reduction along one axis, counted from the front."""
    if not isinstance(value, RaggedTensor):
        return getattr(reductions, f"reduce_{kind}")(value, axis)
    if axis > 1:
        return value.with_values(along(kind, value.values, axis - 1))
    if axis == 1:
        return _combined(kind, value.values, value.value_rowids(), value.nrows())
    return _combined(kind, value.values, _columns(value), _longest(value))


def _columns(ragged: RaggedTensor) -> Any:
    """Return for each value its place in its row."""
    starts = dense_gather.gather(ragged.row_starts(), ragged.value_rowids())
    count = cast(array_shape.shape(ragged.value_rowids())[0], starts.dtype)  # type: ignore[index]
    return raw.Sub(raw.Range(count * 0, count, count * 0 + 1), starts)


def _longest(ragged: RaggedTensor) -> Any:
    lengths = ragged.row_lengths()
    return raw.Maximum(reductions.reduce_max(lengths), cast(0, lengths.dtype))


def _combined(kind: str, rows: Any, ids: Any, number: Any) -> Any:
    """Return as many rows as `number` says, each of those of `rows` that have its id."""
    if not isinstance(rows, RaggedTensor):
        return _SEGMENTS[kind](rows, ids, number)
    lengths = segments.unsorted_segment_max(rows.row_lengths(), ids, number)
    lengths = raw.Maximum(lengths, cast(0, lengths.dtype))
    total: Any = reductions.reduce_sum(lengths)
    empty = RaggedTensor.from_row_lengths(raw.Range(total * 0, total, total * 0 + 1), lengths)
    starts = dense_gather.gather(empty.row_starts(), dense_gather.gather(ids, rows.value_rowids()))
    places = raw.AddV2(starts, _columns(rows))
    return empty.with_values(_combined(kind, rows.values, places, total))


def _segment_function(kind: str) -> Callable[..., Any]:
    def segment(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
        with name_scope(name, f"RaggedSegment{kind.title()}", [segment_ids]):
            if isinstance(segment_ids, RaggedTensor):
                return _SEGMENTS[kind](data.flat_values, segment_ids.flat_values, num_segments)
            ids = convert_to_tensor(segment_ids, name="segment_ids")
            return _combined(kind, data, ids, convert_to_tensor(num_segments))

    return segment


unsorted_segment_sum, unsorted_segment_prod, unsorted_segment_max, unsorted_segment_min = map(
    _segment_function, ("sum", "prod", "max", "min")
)
reduce_sum, reduce_prod, reduce_max, reduce_min, reduce_mean, reduce_all, reduce_any = map(
    _reduction, ("sum", "prod", "max", "min", "mean", "all", "any")
)
