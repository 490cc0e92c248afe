"""Sums of sparse tensors with each other and with dense ones: tf.sparse.add."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.sparse.components import (
    brackets,
    check_same_shape,
    checked,
    places,
    rank_of,
    require_ranks,
)
from tfdist.ops.sparse.sparse_tensor import (
    SparseTensor,
    SparseTensorValue,
    as_sparse,
    with_known_shape,
)

__all__ = ["sparse_add"]

SPARSE_ADD = OpDef(
    "SparseAdd(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, "
    "b_shape: int64, thresh: Treal) -> sum_indices: int64, sum_values: T, sum_shape: int64 "
    "[T: type {numeric}; Treal: type {real}]"
)


@SPARSE_ADD.shape
def sparse_add_shape(
    a_indices: Shape, a_values: Shape, a_shape: Shape,
    b_indices: Shape, b_values: Shape, b_shape: Shape, thresh: Shape,
) -> list[Shape]:  # fmt: skip
    require_ranks(a_indices, a_values, a_shape)
    require_ranks(b_indices, b_values, b_shape)
    rank = rank_of(a_indices, a_shape)
    return [(None, rank), (None,), (rank,)]


@SPARSE_ADD.kernel
def sparse_add_kernel(
    a_indices: Any, a_values: Any, a_shape: Any,
    b_indices: Any, b_values: Any, b_shape: Any, thresh: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    checked(a_indices, a_values, a_shape)
    checked(b_indices, b_values, b_shape)
    check_same_shape(a_shape, b_shape)
    indices = np.concatenate([a_indices, b_indices])
    order, starts = runs(places(indices, a_shape))
    values = np.concatenate([a_values, b_values])[order]
    sums = np.add.reduceat(values, starts, dtype=values.dtype) if len(starts) else values
    alone = np.diff(np.append(starts, len(order))) == 1
    kept = alone | (np.abs(sums) >= thresh)  # what stands in one of them only stays
    first = order[starts]
    if not kept.all():
        first, sums = first[kept], sums[kept]
    return indices.take(first, 0), sums, a_shape


def runs(numbers: Any) -> tuple[Any, Any]:
    """Return the stable order of numbers, and where in it each number stands for the first time."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    changes = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=changes[1:])
    return order, np.flatnonzero(changes)


@SPARSE_ADD.gradient
def sparse_add_gradient(op: Operation, _: Any, d_values: Any, __: Any) -> list[Any]:
    d_a, d_b = raw.SparseAddGrad(d_values, op.inputs[0], op.inputs[3], op.outputs[0])
    return [None, d_a, None, None, d_b, None, None]


SPARSE_ADD_GRAD = OpDef(
    "SparseAddGrad(backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64) "
    "-> a_val_grad: T, b_val_grad: T [T: type {numeric}]"
).not_differentiable()


@SPARSE_ADD_GRAD.shape
def sparse_add_grad_shape(
    backprop_val_grad: Shape, a_indices: Shape, b_indices: Shape, sum_indices: Shape
) -> list[Shape]:
    shapes.require_rank(a_indices, "a_indices", 2)
    shapes.require_rank(b_indices, "b_indices", 2)
    return [None if each is None else each[:1] for each in (a_indices, b_indices)]


@SPARSE_ADD_GRAD.kernel
def sparse_add_grad_kernel(
    backprop_val_grad: Any, a_indices: Any, b_indices: Any, sum_indices: Any
) -> list[Any]:
    if not a_indices.shape[1] == b_indices.shape[1] == sum_indices.shape[1]:
        raise InvalidArgumentError(
            "the indices of a, b and their sum have different ranks: "
            f"{[each.shape[1] for each in (a_indices, b_indices, sum_indices)]}"
        )
    return [values_at(each, sum_indices, backprop_val_grad) for each in (a_indices, b_indices)]


def values_at(wanted: Any, indices: Any, values: Any) -> Any:
    """Return for each row of `wanted` the value of the equal row of `indices`; 0 if none is equal.

    Args:
      wanted: [m, rank].
      indices: [n, rank], in order, of the same rank.
      values: [n].
    """
    if len(indices) != len(values):
        raise InvalidArgumentError(f"{len(values)} values do not fit {len(indices)} indices")
    if not len(indices):
        return np.zeros(len(wanted), values.dtype)
    both = np.concatenate([indices, wanted])
    numbers = places(both - both.min(0), both.max(0) - both.min(0) + 1)
    own, sought = numbers[: len(indices)], numbers[len(indices) :]
    found = np.minimum(np.searchsorted(own, sought), len(own) - 1)
    return np.where(own[found] == sought, values[found], values.dtype.type(0))


DENSE_ADD = OpDef(
    "SparseTensorDenseAdd(a_indices: Tindices, a_values: T, a_shape: Tindices, b: T) -> output: T "
    "[T: type {numeric}; Tindices: type {index}]"
)


@DENSE_ADD.shape
def dense_add_shape(a_indices: Shape, a_values: Shape, a_shape: Shape, b: Shape) -> Shape:
    require_ranks(a_indices, a_values, a_shape)
    return b


@DENSE_ADD.kernel
def dense_add_kernel(a_indices: Any, a_values: Any, a_shape: Any, b: Any) -> Any:
    checked(a_indices, a_values, a_shape)
    if tuple(a_shape) != b.shape:
        raise InvalidArgumentError(
            f"a sparse tensor of shape {brackets(a_shape)} and a dense one of shape "
            f"{brackets(b.shape)} have no sum: the shapes must be equal"
        )
    total = np.array(b, order="C")
    np.add.at(total.reshape(-1), places(a_indices, a_shape), a_values)
    return total


@DENSE_ADD.gradient
def dense_add_gradient(op: Operation, d_output: Any) -> list[Any]:
    return [None, raw.GatherNd(d_output, op.inputs[0]), None, d_output]


def sparse_add(a: Any, b: Any, threshold: Any = None, thresh: Any = None) -> Any:
    """Return the sum of two tensors of which at least one is sparse: `tf.sparse.add`.

    Args:
      a: a SparseTensor, SparseTensorValue or tensor.
      b: another one, of the same shape and type.
      threshold: of two sparse ones, sums of a lesser magnitude are left out where both have an
        element; 0 by default.
      thresh: its name in earlier versions.

    Returns:
      A SparseTensor if both are sparse, else a tensor.

    Raises:
      TypeError: neither is sparse.
      InvalidArgumentError: the shapes differ (when it runs).

    Example:
      >>> x = SparseTensor([[0, 1], [1, 2]], [5, 6], [2, 3])
      >>> Session().run(sparse_add(x, ones([2, 3], "int32")))
      array([[1, 6, 1],
             [1, 1, 7]], dtype=int32)
      >>> Session().run(sparse_add(x, x, threshold=11).values)
      array([12], dtype=int32)
    """
    threshold = threshold if thresh is None else thresh
    kinds = (SparseTensor, SparseTensorValue)
    if isinstance(a, kinds) and isinstance(b, kinds):
        return _sum(as_sparse(a), as_sparse(b), 0 if threshold is None else threshold)
    if isinstance(b, kinds):
        a, b = b, a
    if not isinstance(a, kinds):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    a = as_sparse(a)
    total: Tensor = raw.SparseTensorDenseAdd(a.indices, a.values, a.dense_shape, b)
    return total


def _sum(a: SparseTensor, b: SparseTensor, threshold: Any) -> SparseTensor:
    limit = convert_to_tensor(threshold, a.dtype.real_dtype.base_dtype, name="threshold")
    indices, values, shape = raw.SparseAdd(
        a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, limit
    )
    known = a.shape.merge_with(b.shape) if a.shape.ndims == b.shape.ndims else a.shape
    return with_known_shape(indices, values, shape, known)
