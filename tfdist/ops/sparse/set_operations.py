"""Sets in the rows of tensors: what both have, what either has, what only one has, how many.

The last axis holds the elements of a set, the others number the sets. A dense tensor has as many
elements in each set; a sparse one has those that are there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import shapes
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.sparse.components import (
    Parts,
    brackets,
    check_fit,
    check_order,
    check_ranks,
    indices_at,
    places,
    rank_of,
    require_ranks,
)
from tfdist.ops.sparse.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor

__all__ = [
    "difference", "intersection", "set_difference", "set_intersection", "set_size", "set_union",
    "size", "union",
]  # fmt: skip

_ATTRS = (
    "[set_operation: string; validate_indices: bool = True; "
    "T: type {int8,int16,int32,int64,uint8,uint16,string}]"
)
_RESULT = "result_indices: int64, result_values: T, result_shape: int64"

DENSE_TO_DENSE = OpDef(
    f"DenseToDenseSetOperation(set1: T, set2: T) -> {_RESULT} {_ATTRS}"
).not_differentiable()
DENSE_TO_SPARSE = OpDef(
    "DenseToSparseSetOperation(set1: T, set2_indices: int64, set2_values: T, set2_shape: int64) "
    f"-> {_RESULT} {_ATTRS}"
).not_differentiable()
SPARSE_TO_SPARSE = OpDef(
    "SparseToSparseSetOperation(set1_indices: int64, set1_values: T, set1_shape: int64, "
    f"set2_indices: int64, set2_values: T, set2_shape: int64) -> {_RESULT} {_ATTRS}"
).not_differentiable()
SET_SIZE = OpDef(
    "SetSize(set_indices: int64, set_values: T, set_shape: int64) -> size: int32 "
    "[validate_indices: bool = True; T: type {int8,int16,int32,int64,uint8,uint16,string}]"
).not_differentiable()

# What is kept of two vectors of different numbers, each in order.
_OPERATIONS: dict[bytes, Callable[[Any, Any], Any]] = {
    b"a-b": lambda a, b: np.setdiff1d(a, b, assume_unique=True),
    b"b-a": lambda a, b: np.setdiff1d(b, a, assume_unique=True),
    b"intersection": lambda a, b: np.intersect1d(a, b, assume_unique=True),
    b"union": np.union1d,
}


class Sets(NamedTuple):
    """Sets of one tensor.

    Attributes:
      lead: lengths of the axes that number the sets.
      owners: for each element, the number of its set.
      elements: of all the sets.
    """

    lead: tuple[int, ...]
    owners: Any
    elements: Any


def _of_dense(tensor: Any) -> Sets:
    tensor = np.asarray(tensor)
    if tensor.ndim < 2:
        raise InvalidArgumentError(f"Shape must be at least rank 2 but is rank {tensor.ndim}")
    lead = tensor.shape[:-1]
    owners = np.arange(int(np.prod(lead, dtype=np.int64)))
    return Sets(lead, np.repeat(owners, tensor.shape[-1]), tensor.reshape(-1))


def _of_sparse(indices: Any, values: Any, dense_shape: Any) -> Sets:
    check_ranks(indices, values, dense_shape)
    check_fit(Parts(indices, values, dense_shape))
    if not len(dense_shape):
        raise InvalidArgumentError("Shape must be at least rank 1 but is rank 0")
    check_order(indices, dense_shape)
    lead = tuple(map(int, dense_shape[:-1]))
    return Sets(lead, places(indices[:, :-1], lead), values)


def _combined(operation: bytes, one: Sets, other: Sets) -> tuple[Any, Any, Any]:
    """Return what is kept of sets of equal number, as a sparse tensor."""
    if operation not in _OPERATIONS:
        raise InvalidArgumentError(
            f"Invalid set_operation {operation.decode()}: give one of "
            f"{', '.join(key.decode() for key in _OPERATIONS)}"
        )
    if one.lead != other.lead:
        raise InvalidArgumentError(
            f"Mismatched shapes {brackets(one.lead)} vs {brackets(other.lead)}"
        )
    # each pair of a set and an element becomes one number, which orders as the pairs do
    elements, codes = np.unique(np.concatenate([one.elements, other.elements]), return_inverse=True)
    owners = np.concatenate([one.owners, other.owners])
    numbers = owners * len(elements) + codes.reshape(-1)
    split = len(one.elements)
    kept = _OPERATIONS[operation](np.unique(numbers[:split]), np.unique(numbers[split:]))
    owners, codes = np.divmod(kept, max(len(elements), 1))
    return _as_sparse(one.lead, owners, elements[codes])


def _as_sparse(lead: tuple[int, ...], owners: Any, elements: Any) -> tuple[Any, Any, Any]:
    """Return elements, in the order of their sets, as a sparse tensor."""
    first = np.searchsorted(owners, owners)
    columns = np.arange(len(owners)) - first
    indices = np.concatenate([indices_at(owners, lead), columns[:, None]], 1)
    longest = int(columns.max()) + 1 if len(columns) else 0
    return indices, elements, np.array([*lead, longest], np.int64)


def _shapes_of_rank(rank: int | None) -> list[Shape]:
    return [(None, rank), (None,), (rank,)]


@DENSE_TO_DENSE.shape
def dense_to_dense_shape(set1: Shape, set2: Shape) -> list[Shape]:
    shapes.require_rank(set1, "set1", 2, 99)
    shapes.require_rank(set2, "set2", 2, 99)
    one, other = (None if each is None else len(each) for each in (set1, set2))
    rank = shapes.merge_dim(one, other, "ranks of sets")
    if set1 is not None and set2 is not None:
        shapes.merge(set1[:-1], set2[:-1], "all axes but the last")
    return _shapes_of_rank(rank)


@DENSE_TO_DENSE.kernel
def dense_to_dense_kernel(set1: Any, set2: Any, *, set_operation: bytes) -> Any:
    return _combined(set_operation, _of_dense(set1), _of_dense(set2))


@DENSE_TO_SPARSE.shape
def dense_to_sparse_shape(
    set1: Shape, set2_indices: Shape, set2_values: Shape, set2_shape: Shape
) -> list[Shape]:
    shapes.require_rank(set1, "set1", 2, 99)
    require_ranks(set2_indices, set2_values, set2_shape)
    rank = rank_of(set2_indices, set2_shape)
    return _shapes_of_rank(shapes.merge_dim(rank, None if set1 is None else len(set1), "ranks"))


@DENSE_TO_SPARSE.kernel
def dense_to_sparse_kernel(
    set1: Any, set2_indices: Any, set2_values: Any, set2_shape: Any, *, set_operation: bytes
) -> Any:
    other = _of_sparse(set2_indices, set2_values, set2_shape)
    return _combined(set_operation, _of_dense(set1), other)


@SPARSE_TO_SPARSE.shape
def sparse_to_sparse_shape(
    set1_indices: Shape, set1_values: Shape, set1_shape: Shape,
    set2_indices: Shape, set2_values: Shape, set2_shape: Shape,
) -> list[Shape]:  # fmt: skip
    require_ranks(set1_indices, set1_values, set1_shape)
    require_ranks(set2_indices, set2_values, set2_shape)
    one, other = rank_of(set1_indices, set1_shape), rank_of(set2_indices, set2_shape)
    return _shapes_of_rank(shapes.merge_dim(one, other, "ranks of sets"))


@SPARSE_TO_SPARSE.kernel
def sparse_to_sparse_kernel(
    set1_indices: Any, set1_values: Any, set1_shape: Any,
    set2_indices: Any, set2_values: Any, set2_shape: Any, *, set_operation: bytes,
) -> Any:  # fmt: skip
    one = _of_sparse(set1_indices, set1_values, set1_shape)
    return _combined(set_operation, one, _of_sparse(set2_indices, set2_values, set2_shape))


@SET_SIZE.shape
def set_size_shape(set_indices: Shape, set_values: Shape, set_shape: Shape) -> Shape:
    require_ranks(set_indices, set_values, set_shape)
    return None


@SET_SIZE.kernel
def set_size_kernel(set_indices: Any, set_values: Any, set_shape: Any) -> Any:
    sets = _of_sparse(set_indices, set_values, set_shape)
    elements, codes = np.unique(sets.elements, return_inverse=True)
    count = max(len(elements), 1)
    owners = np.unique(sets.owners * count + codes.reshape(-1)) // count
    check_room(sets.lead, np.int64)
    sizes = np.bincount(owners, minlength=int(np.prod(sets.lead, dtype=np.int64)))
    return sizes.astype(np.int32).reshape(sets.lead)[()]


_TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "string")


def set_size(a: Any, validate_indices: bool = True) -> Tensor:
    """Return how many different elements each set has: `tf.sets.size`.

    Args:
      a: a SparseTensor, sets along its last axis.
      validate_indices: kept for old programs; the order of indices is checked always.

    Returns:
      An int32 tensor of the shape of `a` without its last axis.

    Raises:
      TypeError: `a` is not sparse, or its elements are neither integers nor strings.

    Example:
      >>> sets = SparseTensor([[0, 0], [0, 1], [1, 2]], [5, 5, 6], [2, 3])
      >>> Session().run(set_size(sets))
      array([1, 1], dtype=int32)
    """
    sparse = convert_to_tensor_or_sparse_tensor(a, name="a")
    if not isinstance(sparse, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {sparse}.")
    _check_type("a", sparse)
    sizes: Tensor = raw.SetSize(
        sparse.indices, sparse.values, sparse.dense_shape, validate_indices=validate_indices
    )
    return sizes


def set_intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """Return what both sets of each pair have: `tf.sets.intersection`.

    Args:
      a: a tensor or SparseTensor of integers or strings, sets along its last axis.
      b: another one; its axes but the last are as long.
      validate_indices: kept for old programs; the order of indices is checked always.

    Returns:
      A SparseTensor: sets in order along its last axis.

    Raises:
      TypeError: the types differ, or are neither integers nor strings.
      ValueError: the ranks differ, or are less than 2.
      InvalidArgumentError: there are not as many sets in both (when it runs).

    Example:
      >>> Session().run(set_intersection([[1, 2], [3, 4]], [[2, 2], [3, 5]]).values)
      array([2, 3], dtype=int32)
    """
    return _operation(a, b, "intersection", validate_indices)


def set_difference(
    a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True
) -> SparseTensor:
    """Return what only one set of each pair has: `tf.sets.difference`.

    Args:
      a: a tensor or SparseTensor of integers or strings, sets along its last axis.
      b: another one; its axes but the last are as long.
      aminusb: whether what only `a` has is wanted; else what only `b` has.
      validate_indices: kept for old programs; the order of indices is checked always.

    Returns:
      A SparseTensor: sets in order along its last axis.

    Raises:
      TypeError: the types differ, or are neither integers nor strings.
      ValueError: the ranks differ, or are less than 2.
      InvalidArgumentError: there are not as many sets in both (when it runs).

    Example:
      >>> Session().run(set_difference([[1, 2], [3, 4]], [[2, 2], [3, 5]]).values)
      array([1, 4], dtype=int32)
    """
    return _operation(a, b, "a-b" if aminusb else "b-a", validate_indices)


def set_union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """Return what either set of each pair has: `tf.sets.union`.

    Args:
      a: a tensor or SparseTensor of integers or strings, sets along its last axis.
      b: another one; its axes but the last are as long.
      validate_indices: kept for old programs; the order of indices is checked always.

    Returns:
      A SparseTensor: sets in order along its last axis.

    Raises:
      TypeError: the types differ, or are neither integers nor strings.
      ValueError: the ranks differ, or are less than 2.
      InvalidArgumentError: there are not as many sets in both (when it runs).

    Example:
      >>> found = set_union([[1, 2], [3, 4]], [[2, 2], [3, 5]])
      >>> Session().run(sparse.to_dense(found)).tolist()
      [[1, 2, 0], [3, 4, 5]]
    """
    return _operation(a, b, "union", validate_indices)


size, intersection, difference, union = set_size, set_intersection, set_difference, set_union


def _check_type(what: str, value: Any) -> None:
    if value.dtype.base_dtype.name not in _TYPES:
        raise TypeError(
            f"'{what}' invalid dtype {value.dtype!r}: sets have elements of {', '.join(_TYPES)}"
        )


# The same, seen from the other side.
_FLIPPED = {"a-b": "b-a", "b-a": "a-b"}


def _operation(a: Any, b: Any, kind: str, validate: bool) -> SparseTensor:
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    b = convert_to_tensor_or_sparse_tensor(b, name="b")
    _check_type("a", a)
    if a.dtype.base_dtype is not b.dtype.base_dtype:
        raise TypeError(f"Types don't match, {a.dtype!r} vs {b.dtype!r}.")
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        a, b, kind = b, a, _FLIPPED.get(kind, kind)
    return SparseTensor(*_node(a, b, set_operation=kind, validate_indices=validate))


def _node(a: Any, b: Any, **attrs: Any) -> Any:
    """Return the outputs of the op for the kinds of `a` and `b`; only `a` alone may be dense."""
    if not isinstance(b, SparseTensor):
        return raw.DenseToDenseSetOperation(a, b, **attrs)
    parts = b.indices, b.values, b.dense_shape
    if not isinstance(a, SparseTensor):
        return raw.DenseToSparseSetOperation(a, *parts, **attrs)
    return raw.SparseToSparseSetOperation(a.indices, a.values, a.dense_shape, *parts, **attrs)
