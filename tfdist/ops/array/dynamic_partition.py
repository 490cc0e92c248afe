"""Slices dealt out and put together again, and elements that differ: partitions and sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.repeated_indices import all_differ, run_starts
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.framework.shared_values import as_elements, or_zeros

__all__ = [
    "dynamic_partition",
    "dynamic_stitch",
    "listdiff",
    "setdiff1d",
    "unique",
    "unique_with_counts",
]

DYNAMIC_PARTITION = OpDef(
    "DynamicPartition(data: T, partitions: int32) -> outputs: num_partitions*T "
    "[num_partitions: int >=1; T: type]"
)


@DYNAMIC_PARTITION.shape
def dynamic_partition_shape(data: Shape, partitions: Shape, *, num_partitions: int) -> list[Shape]:
    if data is None or partitions is None:
        return [None] * num_partitions
    shapes.merge_dims(data[: len(partitions)], partitions, "the first axes of data and partitions")
    return [(None, *data[len(partitions) :])] * num_partitions


@DYNAMIC_PARTITION.kernel
def dynamic_partition_kernel(data: Any, partitions: Any, *, num_partitions: int) -> Any:
    if np.shape(data)[: np.ndim(partitions)] != np.shape(partitions):
        raise InvalidArgumentError(
            f"data.shape must start with partitions.shape, got data.shape = {list(np.shape(data))}"
            f", partitions.shape = {list(np.shape(partitions))}"
        )
    outside = (partitions < 0) | (partitions >= num_partitions)
    if outside.any():
        where = np.argwhere(outside)[0]
        place = f"[{','.join(map(str, where))}]" if len(where) else ""
        value = partitions[tuple(where)]
        raise InvalidArgumentError(f"partitions{place} = {value} is not in [0, {num_partitions})")
    return [as_elements(data)[partitions == part] for part in np.arange(num_partitions)]


@DYNAMIC_PARTITION.gradient
def dynamic_partition_gradient(op: Any, *d_outputs: Any) -> Any:
    data, partitions = op.inputs
    count = raw.Size(partitions)
    places = raw.Reshape(raw.Range(0, count, 1), shape(partitions))
    parts = raw.DynamicPartition(places, partitions, num_partitions=len(d_outputs))
    joined = raw.DynamicStitch(parts, or_zeros(op, d_outputs))
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


@DYNAMIC_STITCH.checked_shape
def dynamic_stitch_shape(
    indices: list[Shape], data: list[Shape], *, indices_values: list[Any]
) -> Shape:
    rest: Shape = None
    for places, values in zip(indices, data, strict=True):
        if places is not None and values is not None:
            shapes.merge_dims(values[: len(places)], places, "the first axes of data and indices")
            rest = shapes.merge(rest, values[len(places) :], "the shapes of the slices")
    if rest is None:
        return None
    if any(places is None for places in indices_values):
        return (None, *rest)
    return (_greatest(indices_values, 0) + 1, *rest)  # TensorFlow starts at 0, even for no indices


def _greatest(indices: list[Any], least: int) -> int:
    """Return the greatest of some indices, `least` if they are none or below it."""
    return max([least, *(int(np.max(places)) for places in indices if np.size(places))])


def _check_slices(indices: list[Any], data: list[Any]) -> None:
    """Raise InvalidArgumentError unless each index has a slice, and all slices are alike."""
    ranks = [np.ndim(each) for each in indices]
    of_indices, of_data = ([np.shape(each) for each in arrays] for arrays in (indices, data))
    for i, (index, sizes) in enumerate(zip(of_indices, of_data, strict=True)):
        got = f"data[{i}].shape = {shapes.brackets(sizes)}"
        wanted = f"indices[{i}].shape = {shapes.brackets(index)}"
        if sizes[: ranks[i]] != index:
            raise InvalidArgumentError(f"{got} does not start with {wanted}")
        if sizes[ranks[i] :] != of_data[0][ranks[0] :]:
            raise InvalidArgumentError(
                f"Need data[0].shape[{ranks[0]}:] = data[{i}].shape[{ranks[i]}:], got "
                f"data[0].shape = {shapes.brackets(of_data[0])}, {got}, "
                f"indices[0].shape = {shapes.brackets(of_indices[0])}, {wanted}"
            )


@DYNAMIC_STITCH.kernel
def dynamic_stitch_kernel(indices: list[Any], data: list[Any]) -> Any:
    _check_slices(indices, data)
    count = _greatest(indices, -1) + 1
    first = as_elements(data[0])
    merged = np.zeros_like(first, shape=(count, *first.shape[np.ndim(indices[0]) :]))
    for i, (places, values) in enumerate(zip(indices, data, strict=True)):
        if count and np.size(places) and np.min(places) < 0:
            raise InvalidArgumentError(f"indices[{i}] is out of range: {np.min(places)} is below 0")
        if count:
            merged[places] = values
    return merged


PARALLEL_DYNAMIC_STITCH = OpDef(
    "ParallelDynamicStitch(indices: N*int32, data: N*T) -> merged: T [N: int >=1; T: type]"
)
PARALLEL_DYNAMIC_STITCH.checked_shape(dynamic_stitch_shape)
PARALLEL_DYNAMIC_STITCH.kernel(dynamic_stitch_kernel)


@PARALLEL_DYNAMIC_STITCH.gradient
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


UNIQUE = OpDef("Unique(x: T) -> y: T, idx: out_idx [T: type; out_idx: type = int32 {index}]")


@UNIQUE.shape
def unique_shape(x: Shape) -> list[Shape]:
    shapes.require_rank(x, "x", 1)
    return [(None,), (None,) if x is None else x]


@UNIQUE.kernel
def unique_kernel(x: Any, *, out_idx: DType) -> Any:
    _require_vector(x)
    if x.dtype.kind in "iu":
        return _unique_numbers(x, out_idx.as_numpy_dtype)
    return unique_with_counts_kernel(x, out_idx=out_idx)[:2]


def _require_vector(x: Any) -> None:
    if np.ndim(x) != 1:
        raise InvalidArgumentError(f"unique expects a 1D vector, got shape {list(np.shape(x))}")


UNIQUE_WITH_COUNTS = OpDef(
    "UniqueWithCounts(x: T) -> y: T, idx: out_idx, count: out_idx "
    "[T: type; out_idx: type = int32 {index}]"
)


@UNIQUE_WITH_COUNTS.shape
def unique_with_counts_shape(x: Shape) -> list[Shape]:
    return [*unique_shape(x), (None,)]


@UNIQUE_WITH_COUNTS.kernel
def unique_with_counts_kernel(x: Any, *, out_idx: DType) -> Any:
    _require_vector(x)
    numpy_type = out_idx.as_numpy_dtype
    if x.dtype.kind in "iu":
        y, places = _unique_numbers(x, numpy_type)
        return [y, places, np.bincount(places, minlength=len(y)).astype(numpy_type)]
    _, first, place, count = np.unique(x, True, True, True)
    order = np.argsort(first)  # NumPy sorts the elements; here they keep the order they came in
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return [x[first[order]], rank[place].astype(numpy_type), count[order].astype(numpy_type)]


def _unique_numbers(x: Any, numpy_type: Any) -> list[Any]:
    """Return the different ones of whole numbers, and the place of each number among them."""
    if all_differ(x):  # as the rows of most sparse gradients
        return [x, np.arange(len(x), dtype=numpy_type)]
    if int(x.max()) - int(x.min()) < min(_PLACES_OF_EACH * len(x), _MOST_PLACES):
        return _unique_by_table(x, numpy_type)
    order = x.argsort(kind="stable")
    is_first = run_starts(x[order])
    first = order[is_first]
    rank = np.empty(len(first), numpy_type)
    rank[first.argsort()] = np.arange(len(first), dtype=numpy_type)
    places = np.empty(len(x), numpy_type)
    places[order] = rank[is_first.cumsum() - 1]
    first.sort()
    return [x[first], places]


# Of a table, as far as it is quicker than to sort: of what is large much is out of the cache.
_PLACES_OF_EACH, _MOST_PLACES = 100, 1 << 22


def _unique_by_table(x: Any, numpy_type: Any) -> list[Any]:
    """Return the same for numbers that lie close together."""
    at, numbers = (x - x.min()).astype(np.intp), np.arange(len(x))
    table = np.empty(int(at.max()) + 1, np.intp)
    table[at[::-1]] = numbers[::-1]  # of those at one place the last is kept: the first one of x
    first = table[at]
    is_first = first == numbers
    rank = is_first.cumsum(dtype=numpy_type)
    rank -= 1
    return [x[is_first], rank[first]]


def unique(x: Any, out_idx: Any = "int32", name: str | None = None) -> Any:
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
    return raw.Unique(x, out_idx=out_idx, name=name)


def unique_with_counts(x: Any, out_idx: Any = "int32", name: str | None = None) -> Any:
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
    return raw.UniqueWithCounts(x, out_idx=out_idx, name=name)


LIST_DIFF = OpDef(
    "ListDiff(x: T, y: T) -> out: T, idx: out_idx [T: type; out_idx: type = int32 {index}]"
)


@LIST_DIFF.checked_shape
def list_diff_shape(x: Shape, y: Shape) -> list[Shape]:
    shapes.require_rank(x, "x", 1)
    shapes.require_rank(y, "y", 1)
    return [(None,), (None,)]


@LIST_DIFF.kernel
def list_diff_kernel(x: Any, y: Any, *, out_idx: DType) -> Any:
    (places,) = np.nonzero(~np.isin(x, y))
    return [x[places], places.astype(out_idx.as_numpy_dtype)]


def setdiff1d(x: Any, y: Any, index_dtype: Any = "int32", name: str | None = None) -> Any:
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
    return raw.ListDiff(x, y, out_idx=index_dtype, name=name)


listdiff = setdiff1d
