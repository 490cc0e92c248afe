"""Parts that belong together: sums by segment, partitions, unique elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import convert, scopes
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.shaping import reshape, shape
from tfdist.ops.values import as_elements

__all__ = [
    "dynamic_partition",
    "dynamic_stitch",
    "listdiff",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "setdiff1d",
    "unique",
    "unique_with_counts",
    "unsorted_segment_max",
    "unsorted_segment_mean",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sum",
]


class Reduction(NamedTuple):
    """How the elements of a segment become one."""

    ufunc: Any
    start: Callable[[Any], Any]  # what it starts from, by type: that of an unsorted empty segment
    empty: Callable[[Any], Any]  # what an empty segment gives where ids are sorted


def _least(dtype: Any) -> Any:
    return (np.iinfo if dtype.kind in "iu" else np.finfo)(dtype).min


def _greatest(dtype: Any) -> Any:
    return (np.iinfo if dtype.kind in "iu" else np.finfo)(dtype).max


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
    dims = (count, *data.shape[ids.ndim :])
    output = np.full_like(data, reduction.start(data.dtype), shape=dims)
    kept = ids >= 0
    if kept.all():
        reduction.ufunc.at(output, ids, data)
    else:
        reduction.ufunc.at(output, ids[kept], data[kept])
    return output


# sorted ids: as many segments as the last id says


def _sorted_shape(data: Shape, segment_ids: Shape) -> Shape:
    shapes.require_rank(segment_ids, "segment_ids", 1)
    return None if data is None else (None, *data[1:])


def _sorted_count(ids: Any, data: Any) -> int:
    if len(ids) != len(data):
        raise InvalidArgumentError(f"{len(ids)} segment_ids for {len(data)} rows of data")
    if len(ids) and (ids[0] < 0 or (np.diff(ids) < 0).any()):
        raise InvalidArgumentError(f"segment_ids must be ascending from 0, but are {ids.tolist()}")
    return int(ids[-1]) + 1 if len(ids) else 0


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
    shapes.merge(data[: len(segment_ids)], segment_ids, "the first axes of data and segment_ids")
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


# partitions

DYNAMIC_PARTITION = OpDef(
    "DynamicPartition(data: T, partitions: int32) -> outputs: num_partitions*T "
    "[num_partitions: int >=1; T: type]"
)


@DYNAMIC_PARTITION.shape
def dynamic_partition_shape(data: Shape, partitions: Shape, *, num_partitions: int) -> list[Shape]:
    if data is None or partitions is None:
        return [None] * num_partitions
    shapes.merge(data[: len(partitions)], partitions, "the first axes of data and partitions")
    return [(None, *data[len(partitions) :])] * num_partitions


@DYNAMIC_PARTITION.kernel
def dynamic_partition_kernel(data: Any, partitions: Any, *, num_partitions: int) -> Any:
    outside = (partitions < 0) | (partitions >= num_partitions)
    if outside.any():
        raise InvalidArgumentError(
            f"partitions must be in [0, {num_partitions}), but one is {partitions[outside][0]}"
        )
    return [as_elements(data)[partitions == part] for part in np.arange(num_partitions)]


@DYNAMIC_PARTITION.gradient
def dynamic_partition_gradient(op: Any, *d_outputs: Any) -> Any:
    data, partitions = op.inputs
    count = raw.Size(partitions)
    places = raw.Reshape(raw.Range(0, count, 1), shape(partitions))
    parts = raw.DynamicPartition(places, partitions, num_partitions=len(d_outputs))
    joined = raw.DynamicStitch(parts, [*d_outputs])
    return reshape(joined, shape(data)), None


def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Tensor]:
    """Return the slices of `data` dealt out to several tensors.

    Args:
      data: partitions.shape + the shape of a slice.
      partitions: integers in [0, num_partitions), where each slice goes.
      num_partitions: how many tensors there will be.
      name: of the node.

    Example:
      >>> Session().run(dynamic_partition([1, 2, 3], [0, 1, 0], 2))
      [array([1, 3], dtype=int32), array([2], dtype=int32)]
    """
    found: list[Tensor] = raw.DynamicPartition(
        data, partitions, num_partitions=num_partitions, name=name
    )
    return found


DYNAMIC_STITCH = OpDef(
    "DynamicStitch(indices: N*int32, data: N*T) -> merged: T [N: int >=1; T: type]"
)


@DYNAMIC_STITCH.shape
def dynamic_stitch_shape(indices: list[Shape], data: list[Shape]) -> Shape:
    rest: Shape = None
    for places, values in zip(indices, data, strict=True):
        if places is not None and values is not None:
            shapes.merge(values[: len(places)], places, "the first axes of data and indices")
            rest = shapes.merge(rest, values[len(places) :], "the shapes of the slices")
    return None if rest is None else (None, *rest)


@DYNAMIC_STITCH.kernel
def dynamic_stitch_kernel(indices: list[Any], data: list[Any]) -> Any:
    count = max((int(np.max(places)) for places in indices if np.size(places)), default=-1) + 1
    first = as_elements(data[0])
    merged = np.zeros_like(first, shape=(count, *first.shape[np.ndim(indices[0]) :]))
    for places, values in zip(indices, data, strict=True):
        merged[places] = values
    return merged


@DYNAMIC_STITCH.gradient
def dynamic_stitch_gradient(op: Any, d_merged: Any) -> Any:
    count = op.get_attr("N")
    parts = [raw.GatherV2(d_merged, places, 0) for places in op.inputs[:count]]
    return (*[None] * count, *parts)


def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Tensor:
    """Return the slices of several tensors put in their places in one.

    Args:
      indices: a list of integer tensors, where each slice goes; the last one wins.
      data: a list of tensors, each indices[i].shape + the shape of a slice.
      name: of the node.

    Returns:
      [greatest index + 1] + the shape of a slice.

    Example:
      >>> Session().run(dynamic_stitch([[0, 2], [1]], [[1, 3], [2]]))
      array([1, 2, 3], dtype=int32)
    """
    result: Tensor = raw.DynamicStitch(indices, data, name=name)
    return result


# elements that differ


class Unique(NamedTuple):
    """What `unique` returns."""

    y: Tensor
    idx: Tensor


class UniqueWithCounts(NamedTuple):
    """What `unique_with_counts` returns."""

    y: Tensor
    idx: Tensor
    count: Tensor


class ListDiff(NamedTuple):
    """What `setdiff1d` returns."""

    out: Tensor
    idx: Tensor


UNIQUE = OpDef(
    "Unique(x: T) -> y: T, idx: out_idx [T: type; out_idx: type = int32 {index}]"
).not_differentiable()


@UNIQUE.shape
def unique_shape(x: Shape) -> list[Shape]:
    shapes.require_rank(x, "x", 1)
    return [(None,), (None,) if x is None else x]


@UNIQUE.kernel
def unique_kernel(x: Any, *, out_idx: DType) -> Any:
    return unique_with_counts_kernel(x, out_idx=out_idx)[:2]


UNIQUE_WITH_COUNTS = OpDef(
    "UniqueWithCounts(x: T) -> y: T, idx: out_idx, count: out_idx "
    "[T: type; out_idx: type = int32 {index}]"
).not_differentiable()


@UNIQUE_WITH_COUNTS.shape
def unique_with_counts_shape(x: Shape) -> list[Shape]:
    return [*unique_shape(x), (None,)]


@UNIQUE_WITH_COUNTS.kernel
def unique_with_counts_kernel(x: Any, *, out_idx: DType) -> Any:
    _, first, place, count = np.unique(x, True, True, True)
    order = np.argsort(first)  # NumPy sorts the elements; here they keep the order they came in
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    numpy_type = out_idx.as_numpy_dtype
    return [x[first[order]], rank[place].astype(numpy_type), count[order].astype(numpy_type)]


def unique(x: Any, out_idx: Any = "int32", name: str | None = None) -> Unique:
    """Return the different elements of a vector, in the order in which they first occur.

    Args:
      x: [n].
      out_idx: type of the indices, int32 or int64.
      name: of the node.

    Returns:
      y: [m], the elements.
      idx: [n], the place in `y` of each element of `x`.

    Example:
      >>> Session().run(unique([5, 5, 3]).y)
      array([5, 3], dtype=int32)
    """
    return Unique(*raw.Unique(x, out_idx=out_idx, name=name))


def unique_with_counts(x: Any, out_idx: Any = "int32", name: str | None = None) -> UniqueWithCounts:
    """Return what `unique` does, and how often each element occurs.

    Args:
      x: [n].
      out_idx: type of indices and counts, int32 or int64.
      name: of the node.

    Returns:
      y: [m], the elements.
      idx: [n], the place in `y` of each element of `x`.
      count: [m].

    Example:
      >>> Session().run(unique_with_counts([5, 5, 3]).count)
      array([2, 1], dtype=int32)
    """
    return UniqueWithCounts(*raw.UniqueWithCounts(x, out_idx=out_idx, name=name))


LIST_DIFF = OpDef(
    "ListDiff(x: T, y: T) -> out: T, idx: out_idx [T: type; out_idx: type = int32 {index}]"
).not_differentiable()


@LIST_DIFF.shape
def list_diff_shape(x: Shape, y: Shape) -> list[Shape]:
    shapes.require_rank(x, "x", 1)
    shapes.require_rank(y, "y", 1)
    return [(None,), (None,)]


@LIST_DIFF.kernel
def list_diff_kernel(x: Any, y: Any, *, out_idx: DType) -> Any:
    (places,) = np.nonzero(~np.isin(x, y))
    return [x[places], places.astype(out_idx.as_numpy_dtype)]


def setdiff1d(x: Any, y: Any, index_dtype: Any = "int32", name: str | None = None) -> ListDiff:
    """Return the elements of the vector `x` that the vector `y` does not have.

    Args:
      x: [n].
      y: [m].
      index_dtype: type of the indices, int32 or int64.
      name: of the node.

    Returns:
      out: the elements, in the order of `x`.
      idx: their places in `x`.

    Example:
      >>> Session().run(setdiff1d([1, 2, 3], [2]).out)
      array([1, 3], dtype=int32)
    """
    return ListDiff(*raw.ListDiff(x, y, out_idx=index_dtype, name=name))


listdiff = setdiff1d
