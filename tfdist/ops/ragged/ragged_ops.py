"""The ops of ragged tensors: to sparse ones, and ranges of different lengths."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation

__all__: list[str] = []

TO_SPARSE = OpDef(
    "RaggedTensorToSparse(rt_nested_splits: RAGGED_RANK*Tsplits, rt_dense_values: T) -> "
    "sparse_indices: int64, sparse_values: T, sparse_dense_shape: int64 "
    "[RAGGED_RANK: int >=1; T: type; Tsplits: type = int64 {index}]"
)


@TO_SPARSE.shape
def to_sparse_shape(rt_nested_splits: list[Shape], rt_dense_values: Shape) -> list[Shape]:
    for splits in rt_nested_splits:
        shapes.require_rank(splits, "rt_nested_splits", 1)
    if rt_dense_values is None:
        return [(None, None), (None,), (None,)]
    rank = len(rt_nested_splits) + len(rt_dense_values)
    count = shapes.num_elements(rt_dense_values)
    return [(count, rank), (count,), (rank,)]


@TO_SPARSE.kernel
def to_sparse_kernel(rt_nested_splits: list[Any], rt_dense_values: Any) -> Any:
    values = np.asarray(rt_dense_values)
    lengths = [len(splits) - 1 for splits in rt_nested_splits[1:]] + [len(values)]
    for splits, length in zip(rt_nested_splits, lengths, strict=True):
        check_splits(splits, length)
    inner = int(np.prod(values.shape[1:], dtype=np.int64))
    rows = np.arange(len(values)).repeat(inner)
    columns = [axis.reshape(-1) for axis in np.indices(values.shape)[1:]]
    dims = list(values.shape[1:])
    for splits in reversed(rt_nested_splits):
        owners = np.searchsorted(splits, rows, side="right") - 1
        columns.insert(0, rows - splits[owners])
        dims.insert(0, int(np.diff(splits).max(initial=0)))
        rows = owners
    dims.insert(0, len(rt_nested_splits[0]) - 1)
    indices = np.stack([rows, *columns], 1).astype(np.int64)
    return indices, values.reshape(-1), np.array(dims, np.int64)


def check_splits(splits: Any, length: int) -> None:
    """Raise InvalidArgumentError unless `splits` cut `length` values into rows."""
    if np.ndim(splits) != 1 or not len(splits):
        raise InvalidArgumentError("splits must be a vector that is not empty")
    if splits[0]:
        raise InvalidArgumentError(f"First value of ragged splits must be 0, got {splits[0]}")
    if (np.diff(splits) < 0).any():
        raise InvalidArgumentError(f"ragged splits must not descend: {splits.tolist()[:20]}")
    if splits[-1] != length:
        raise InvalidArgumentError(
            f"Final value of ragged splits must match the length of the corresponding ragged "
            f"values: {splits[-1]} is not {length}"
        )


@TO_SPARSE.gradient
def to_sparse_gradient(op: Operation, _: Any, d_values: Any, __: Any) -> list[Any]:
    values = op.inputs[-1]
    none: list[Any] = [None] * (len(op.inputs) - 1)
    return [*none, raw.Reshape(d_values, raw.Shape(values))]


RANGE = OpDef(
    "RaggedRange(starts: T, limits: T, deltas: T) -> rt_nested_splits: Tsplits, "
    "rt_dense_values: T [T: type = int32 {bfloat16,float32,float64,int32,int64}; "
    "Tsplits: type = int64 {index}]"
).not_differentiable()


@RANGE.shape
def range_shape(starts: Shape, limits: Shape, deltas: Shape) -> list[Shape]:
    count = None
    for each in (starts, limits, deltas):
        shapes.require_rank(each, "starts, limits and deltas", 0, 1)
        if each:
            count = shapes.merge_dim(count, each[0], "the numbers of ranges")
    if all(each == () for each in (starts, limits, deltas)):
        count = 1
    return [(None if count is None else count + 1,), (None,)]


@RANGE.kernel
def range_kernel(starts: Any, limits: Any, deltas: Any, *, Tsplits: DType) -> Any:
    lengths = {np.shape(each)[0] for each in (starts, limits, deltas) if np.ndim(each)}
    if len(lengths) > 1:
        raise InvalidArgumentError(
            f"starts, limits, and deltas must have the same shape, got lengths {sorted(lengths)}"
        )
    if not np.all(deltas):
        raise InvalidArgumentError("Requires delta != 0")
    ranges = (np.atleast_1d(each) for each in (starts, limits, deltas))
    starts, limits, deltas = np.broadcast_arrays(*ranges)
    counts = np.maximum(np.ceil((limits - starts) / deltas), 0).astype(np.int64)
    splits = np.concatenate([[0], np.cumsum(counts)])
    check_room(splits[-1:], np.int64)
    steps = np.arange(splits[-1]) - np.repeat(splits[:-1], counts)
    values = np.repeat(starts, counts) + steps.astype(starts.dtype) * np.repeat(deltas, counts)
    return splits.astype(Tsplits.as_numpy_dtype), values.astype(starts.dtype)
