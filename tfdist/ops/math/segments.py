"""Parts that belong together: sums, means and extremes by segment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import convert, scopes
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.repeated_indices import change_rows
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape

__all__ = [
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "unsorted_segment_max",
    "unsorted_segment_mean",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sqrt_n",
    "unsorted_segment_sum",
]


class Reduction(NamedTuple):
    """How the elements of a segment become one."""

    ufunc: Any
    start: Callable[[Any], Any]  # what it starts from, by type: that of an unsorted empty segment
    empty: Callable[[Any], Any]  # what an empty segment gives where ids are sorted


def _least(dtype: Any) -> Any:
    return dtypes.as_dtype(dtype).min


def _greatest(dtype: Any) -> Any:
    return dtypes.as_dtype(dtype).max


def _zero(dtype: Any) -> Any:
    return dtype.type(0)


def _one(dtype: Any) -> Any:
    return dtype.type(1)


_REDUCTIONS = {
    "Sum": Reduction(np.add, _zero, _zero),
    "Prod": Reduction(np.multiply, _one, _one),
    "Max": Reduction(np.maximum, _least, _zero),
    "Min": Reduction(np.minimum, _greatest, _zero),
}


def _reduced(reduction: Reduction, data: Any, ids: Any, count: int) -> Any:
    """Return the reduction of the slices of `data` for each of `count` segments.

    Args:
      reduction: which one.
      data: ids.shape + the shape of a slice.
      ids: the segment of each slice; those below 0 are left out.
      count: how many segments.
    """
    data, ids = np.asarray(data), np.asarray(ids)
    start = reduction.start(data.dtype)
    if ids.shape == (count,) == data.shape[:1] and (ids == np.arange(count)).all():
        # one each, as the rows of a sparse gradient whose indices all differ
        return reduction.ufunc(data, data.dtype.type(start))
    check_room((count, *data.shape[ids.ndim :]), data.dtype)
    output = np.full((count, *data.shape[ids.ndim :]), start, data.dtype)
    kept = ids >= 0
    if kept.all() and ids.ndim == 1 and data.ndim > 1:
        change_rows(reduction.ufunc, output, ids, data)
    elif kept.all():
        reduction.ufunc.at(output, ids, data)
    else:
        reduction.ufunc.at(output, ids[kept], data[kept])
    return output


# sorted ids: as many segments as the last id says


def _sorted_shape(data: Shape, segment_ids: Shape) -> Shape:
    shapes.require_rank(segment_ids, "segment_ids", 1)
    return None if data is None else (None, *data[1:])


def _sorted_count(ids: Any, data: Any) -> int:
    if ids.ndim != 1:
        raise InvalidArgumentError("segment_ids should be a vector.")
    if len(ids) != len(data):
        raise InvalidArgumentError(
            f"segment_ids should be the same size as dimension 0 of input. {len(ids)} segment_ids "
            f"for {len(data)} rows"
        )
    if len(ids) and (np.diff(ids) < 0).any():
        raise InvalidArgumentError(f"segment ids are not increasing: {ids.tolist()}")
    count = int(ids[-1]) + 1 if len(ids) else 0
    if len(ids) and ids[0] < 0:
        raise InvalidArgumentError(
            f"Segment id {ids[0]} out of range [0, {count}), possibly because 'segment_ids' input "
            "is not sorted."
        )
    return count


def _sorted_kernel(reduction: Reduction) -> Callable[..., Any]:
    def kernel(data: Any, segment_ids: Any) -> Any:
        count = _sorted_count(segment_ids, data)
        output = _reduced(reduction, data, segment_ids, count)
        if reduction.empty is not reduction.start:
            output[np.bincount(segment_ids, minlength=count) == 0] = reduction.empty(data.dtype)
        return output

    return kernel


def _segments(kind: str, types: str) -> OpDef:
    """Return the op that reduces segments with sorted ids, without gradient."""
    op_def = OpDef(
        f"Segment{kind}(data: T, segment_ids: Tindices) -> output: T "
        f"[T: type {{{types}}}; Tindices: type {{index}}]"
    )
    op_def.shape(_sorted_shape)
    if kind in _REDUCTIONS:
        op_def.kernel(_sorted_kernel(_REDUCTIONS[kind]))
    return op_def


SEGMENT_SUM = _segments("Sum", "numeric")
SEGMENT_MEAN = _segments("Mean", "numeric")
SEGMENT_MAX = _segments("Max", "real")
SEGMENT_MIN = _segments("Min", "real")
SEGMENT_PROD = _segments("Prod", "numeric").not_differentiable()


@SEGMENT_SUM.gradient
def segment_sum_gradient(op: Any, d_output: Any) -> Any:
    return raw.GatherV2(d_output, op.inputs[1], 0), None


@SEGMENT_MEAN.kernel
def segment_mean_kernel(data: Any, segment_ids: Any) -> Any:
    count = _sorted_count(segment_ids, data)
    sums = _reduced(_REDUCTIONS["Sum"], data, segment_ids, count)
    sizes = np.maximum(np.bincount(segment_ids, minlength=count), 1).astype(data.dtype)
    means = sums / sizes.reshape(-1, *[1] * (sums.ndim - 1))
    return means.astype(data.dtype)


@SEGMENT_MEAN.gradient
def segment_mean_gradient(op: Any, d_output: Any) -> Any:
    data, ids = op.inputs
    ones = raw.OnesLike(raw.Cast(ids, DstT=data.dtype))
    sizes = raw.SegmentSum(ones, ids)
    column = raw.ConcatV2([shape(sizes), raw.OnesLike(raw.StridedSlice(
        raw.Shape(d_output), [1], [0], [1], end_mask=1))], 0)  # fmt: skip
    return raw.GatherV2(raw.RealDiv(d_output, reshape(sizes, column)), ids, 0), None


def _extreme_gradient(sums: Callable[..., Any]) -> Callable[..., Any]:
    """Return the rule that shares the gradient of an extreme among the elements that equal it.

    Args:
      sums: adds up the rows of each segment.
    """

    def gradient(op: Any, d_output: Any) -> Any:
        data, ids, *count = op.inputs
        chosen = raw.Equal(data, _taken(op.outputs[0], ids))
        hits = sums(raw.Cast(chosen, DstT=data.dtype), ids, *count)
        share = _taken(raw.RealDiv(d_output, raw.Maximum(hits, raw.OnesLike(hits))), ids)
        return raw.Select(chosen, share, raw.ZerosLike(share)), None, *[None] * len(count)

    return gradient


def _taken(values: Any, ids: Any) -> Tensor:
    """Return the slice of `values` for each id, zeros for ids below 0."""
    zeros = raw.ZerosLike(ids)
    found = raw.GatherV2(values, raw.Maximum(ids, zeros), 0)
    ones = raw.OnesLike(raw.StridedSlice(shape(values), [1], [0], [1], end_mask=1))
    column = raw.Reshape(raw.GreaterEqual(ids, zeros), raw.ConcatV2([shape(ids), ones], 0))
    kept = raw.BroadcastTo(column, shape(found))
    result: Tensor = raw.Select(kept, found, raw.ZerosLike(found))
    return result


SEGMENT_MAX.gradient(_extreme_gradient(raw.SegmentSum))
SEGMENT_MIN.gradient(_extreme_gradient(raw.SegmentSum))


def _public_segments(op_def: OpDef, public: str, what: str, result: str) -> Callable[..., Tensor]:
    def function(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
        tensor: Tensor = op_def(data, segment_ids, name=name)
        return tensor

    function.__name__ = function.__qualname__ = public
    function.__doc__ = f"""Return {what} of the rows of each segment.

    Args:
      data: [rows, ...].
      segment_ids: integers [rows], ascending from 0.
      name: of the node.

    Returns:
      [last id + 1, ...].

    Raises:
      InvalidArgumentError: the ids are not ascending (when it runs).

    Example:
      >>> Session().run({public}([[1, 2], [3, 4], [5, 6]], [0, 0, 1]))
      {result}
    """
    return function


segment_sum = _public_segments(
    SEGMENT_SUM, "segment_sum", "the sum",
    "array([[4, 6],\n             [5, 6]], dtype=int32)",
)  # fmt: skip
segment_mean = _public_segments(
    SEGMENT_MEAN, "segment_mean", "the mean",
    "array([[2, 3],\n             [5, 6]], dtype=int32)",
)  # fmt: skip
segment_max = _public_segments(
    SEGMENT_MAX, "segment_max", "the greatest element",
    "array([[3, 4],\n             [5, 6]], dtype=int32)",
)  # fmt: skip
segment_min = _public_segments(
    SEGMENT_MIN, "segment_min", "the least element",
    "array([[1, 2],\n             [5, 6]], dtype=int32)",
)  # fmt: skip
segment_prod = _public_segments(
    SEGMENT_PROD, "segment_prod", "the product",
    "array([[3, 8],\n             [5, 6]], dtype=int32)",
)  # fmt: skip

# ids in any order: an input says how many segments there are


def _unsorted_shape(
    data: Shape, segment_ids: Shape, num_segments: Shape, *, num_segments_value: Any
) -> Shape:
    if data is None or segment_ids is None:
        return None
    shapes.merge_dims(
        data[: len(segment_ids)], segment_ids, "the first axes of data and segment_ids"
    )
    count = None if num_segments_value is None else int(num_segments_value)
    return (count, *data[len(segment_ids) :])


def _unsorted_kernel(reduction: Reduction) -> Callable[..., Any]:
    def kernel(data: Any, segment_ids: Any, num_segments: Any) -> Any:
        count = int(num_segments)
        if np.size(segment_ids) and segment_ids.max() >= count:
            raise InvalidArgumentError(
                f"segment_ids must be below num_segments {count}, but one is {segment_ids.max()}"
            )
        return _reduced(reduction, data, segment_ids, count)

    return kernel


def _unsorted(kind: str, types: str) -> OpDef:
    """Return the op that reduces segments with ids in any order, without gradient."""
    op_def = OpDef(
        f"UnsortedSegment{kind}(data: T, segment_ids: Tindices, num_segments: Tnumsegments) "
        f"-> output: T [T: type {{{types}}}; Tindices: type {{index}}; "
        "Tnumsegments: type = int32 {index}]"
    )
    op_def.shape(_unsorted_shape)
    op_def.kernel(_unsorted_kernel(_REDUCTIONS[kind]))
    return op_def


UNSORTED_SEGMENT_SUM = _unsorted("Sum", "numeric")
UNSORTED_SEGMENT_MAX = _unsorted("Max", "real")
UNSORTED_SEGMENT_MIN = _unsorted("Min", "real")
UNSORTED_SEGMENT_PROD = _unsorted("Prod", "numeric").not_differentiable()


@UNSORTED_SEGMENT_SUM.gradient
def unsorted_segment_sum_gradient(op: Any, d_output: Any) -> Any:
    return _taken(d_output, op.inputs[1]), None, None


UNSORTED_SEGMENT_MAX.gradient(_extreme_gradient(raw.UnsortedSegmentSum))
UNSORTED_SEGMENT_MIN.gradient(_extreme_gradient(raw.UnsortedSegmentSum))


def _public_unsorted(op_def: OpDef, public: str, what: str, result: str) -> Callable[..., Tensor]:
    def function(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
        tensor: Tensor = op_def(data, segment_ids, num_segments, name=name)
        return tensor

    function.__name__ = function.__qualname__ = public
    function.__doc__ = f"""Return {what} of the slices of each segment.

    Args:
      data: segment_ids.shape + the shape of a slice.
      segment_ids: integers below `num_segments`, in any order; slices with an id below 0 are left
        out.
      num_segments: how many segments there are.
      name: of the node.

    Returns:
      [num_segments] + the shape of a slice.

    Raises:
      InvalidArgumentError: an id is not below `num_segments` (when it runs).

    Example:
      >>> Session().run({public}([1, 2, 3], [1, 0, 1], 2))
      {result}
    """
    return function


unsorted_segment_sum = _public_unsorted(
    UNSORTED_SEGMENT_SUM, "unsorted_segment_sum", "the sum", "array([2, 4], dtype=int32)"
)
unsorted_segment_max = _public_unsorted(
    UNSORTED_SEGMENT_MAX, "unsorted_segment_max", "the greatest", "array([2, 3], dtype=int32)"
)
unsorted_segment_min = _public_unsorted(
    UNSORTED_SEGMENT_MIN, "unsorted_segment_min", "the least", "array([2, 1], dtype=int32)"
)
unsorted_segment_prod = _public_unsorted(
    UNSORTED_SEGMENT_PROD, "unsorted_segment_prod", "the product", "array([2, 3], dtype=int32)"
)


def unsorted_segment_mean(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """Return the mean of the slices of each segment, 0 for an empty one.

    Args:
      data: floats, segment_ids.shape + the shape of a slice.
      segment_ids: integers below `num_segments`, in any order.
      num_segments: how many segments there are.
      name: prefix for the nodes.

    Example:
      >>> Session().run(unsorted_segment_mean([1.0, 2.0, 4.0], [1, 0, 1], 2))
      array([2. , 2.5], dtype=float32)
    """
    with scopes.name_scope(name, "UnsortedSegmentMean", [data]):
        data, ids = convert.convert_to_tensor(data), convert.convert_to_tensor(segment_ids)
        sizes = raw.UnsortedSegmentSum(raw.OnesLike(data), ids, num_segments)
        sums = raw.UnsortedSegmentSum(data, ids, num_segments)
        return raw.RealDiv(sums, raw.Maximum(sizes, raw.OnesLike(sizes)), name="truediv")


def unsorted_segment_sqrt_n(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """Return the sum of the slices of each segment, divided by the root of their number.

    Args:
      data: floats, segment_ids.shape + the shape of a slice.
      segment_ids: integers below `num_segments`, in any order.
      num_segments: how many segments there are.
      name: prefix for the nodes.

    Example:
      >>> Session().run(unsorted_segment_sqrt_n([1.0] * 4, [1, 1, 1, 1], 2))
      array([0., 2.], dtype=float32)
    """
    with scopes.name_scope(name, "UnsortedSegmentSqrtN", [data]):
        data, ids = convert.convert_to_tensor(data), convert.convert_to_tensor(segment_ids)
        sizes = raw.UnsortedSegmentSum(raw.OnesLike(data), ids, num_segments)
        roots = raw.Sqrt(raw.Maximum(sizes, raw.OnesLike(sizes)))
        return raw.RealDiv(raw.UnsortedSegmentSum(data, ids, num_segments), roots, name="truediv")
