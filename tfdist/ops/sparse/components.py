"""What the ops of sparse tensors share: checks of their parts, one row each, several as one.

A sparse tensor is the arrays (indices, values, dense_shape) here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError

__all__: list[str] = []

_MOST_PLACES = 2**63  # that an int64 can number


class Parts(NamedTuple):
    """A sparse tensor.

    Attributes:
      indices: int64 [n, rank].
      values: [n].
      dense_shape: int64 [rank].
    """

    indices: Any
    values: Any
    dense_shape: Any


def brackets(numbers: Any) -> str:
    """Return numbers as TensorFlow's messages have them: [1,2]."""
    return f"[{','.join(map(str, numbers))}]"


def check_ranks(indices: Any, values: Any, dense_shape: Any) -> None:
    """Raise InvalidArgumentError unless these are a matrix and two vectors."""
    for what, array, rank, kind in (
        ("indices", indices, 2, "matrix"),
        ("values", values, 1, "vector"),
        ("shape", dense_shape, 1, "vector"),
    ):
        if np.ndim(array) != rank:
            raise InvalidArgumentError(
                f"Input {what} should be a {kind} but received shape {brackets(np.shape(array))}"
            )


def require_ranks(indices: Shape, values: Shape, dense_shape: Shape) -> None:
    """Raise InvalidArgumentError if it is known that these are no matrix and two vectors."""
    shapes.require_rank(indices, "sparse_indices", 2, 2)
    shapes.require_rank(values, "sparse_values", 1, 1)
    shapes.require_rank(dense_shape, "sparse_shape", 1, 1)


def check_fit(parts: Parts) -> None:
    """Raise InvalidArgumentError unless there are as many indices as values, of the same rank."""
    indices, values, dense_shape = parts
    if len(indices) != len(values):
        raise InvalidArgumentError(
            "indices and values rows (indexing dimension) must match. "
            f"(indices = {len(indices)}, values = {len(values)})"
        )
    if indices.shape[1] != len(dense_shape):
        raise InvalidArgumentError("Order length must be SparseTensor rank.")


def check_order(indices: Any, dense_shape: Any) -> None:
    """Raise InvalidArgumentError unless indices are in bounds, in order, and each there once.

    Args:
      indices: [n, rank].
      dense_shape: [rank].
    """
    if not _is_in_order(indices, dense_shape):
        _tell_first_wrong(indices, dense_shape)


def _is_in_order(indices: Any, dense_shape: Any) -> bool:
    """Return whether indices are in bounds and ascend; False also where that takes longer."""
    if not len(indices):
        return True
    if indices.shape[1] == 1:
        numbers = indices[:, 0]
        is_inside = numbers[0] >= 0 and numbers[-1] < dense_shape[0]  # if they ascend
    else:
        is_inside, sizes = are_inside(indices, dense_shape), dense_shape.tolist()
        if not is_inside or math.prod(sizes) >= _MOST_PLACES:
            return False
        numbers = numbered(indices, sizes)
    return bool(is_inside and (numbers[1:] > numbers[:-1]).all())


def are_inside(indices: Any, dense_shape: Any) -> bool:
    """Return whether all indices are in bounds; column by column, for NumPy is slow with rows."""
    unsigned = indices.view(f"u{indices.itemsize}")  # what is below 0 is very large then
    columns = zip(unsigned.T, dense_shape.tolist(), strict=True)
    return not len(indices) or all(column.max() < size for column, size in columns)


def _tell_first_wrong(indices: Any, dense_shape: Any) -> None:
    """Raise InvalidArgumentError naming the first row that is out of bounds or order, if any is."""
    outside = ((indices < 0) | (indices >= dense_shape)).any(1)
    before, after = indices[:-1], indices[1:]
    differs = before != after
    repeated = ~differs.any(1)
    wrong = outside.copy()
    wrong[1:] |= repeated | _descends(before, after, differs)
    if not wrong.any():
        return
    row = int(wrong.argmax())
    shown = f"indices[{row}] = {brackets(indices[row])}"
    if outside[row]:
        raise InvalidArgumentError(
            f"{shown} is out of bounds: need 0 <= index < {brackets(dense_shape)}"
        )
    if repeated[row - 1]:
        raise InvalidArgumentError(f"{shown} is repeated")
    raise InvalidArgumentError(
        f"{shown} is out of order. Many sparse ops require sorted indices.\n"
        "    Use `tf.sparse.reorder` to create a correctly ordered copy."
    )


def _descends(before: Any, after: Any, differs: Any) -> Any:
    """Return for each row of `before` whether that of `after` is less; by the first difference."""
    if not differs.shape[1]:
        return np.zeros(len(differs), bool)
    first = differs.argmax(1)[:, None]
    less = np.take_along_axis(after, first, 1) < np.take_along_axis(before, first, 1)
    return less[:, 0]


def rows_of(parts: Parts) -> list[Parts]:
    """Return the rows of a sparse tensor, each one of a rank less; those without elements too.

    Raises:
      InvalidArgumentError: the parts do not fit each other, or the indices are not in order.
    """
    rank = len(parts.dense_shape)
    if rank < 2:
        raise InvalidArgumentError(
            f"Rank of input SparseTensor should be > 1, but saw rank: {rank}"
        )
    check_fit(parts)
    check_order(parts.indices, parts.dense_shape)
    count = int(parts.dense_shape[0])
    ends = np.searchsorted(parts.indices[:, 0], np.arange(count + 1)).tolist()
    return [
        Parts(parts.indices[begin:end, 1:], parts.values[begin:end], parts.dense_shape[1:])
        for begin, end in itertools.pairwise(ends)
    ]


def as_one(rows: Sequence[Parts], lead: tuple[int, ...]) -> Parts:
    """Return sparse tensors of one rank as one, whose first axes number them.

    Args:
      rows: as many as `lead` has places; at least one.
      lead: lengths of the first axes; the others are as long as those of the longest row.
    """
    if not lead:
        return rows[0]
    counts = [len(row.values) for row in rows]
    places = np.stack(np.unravel_index(np.arange(len(rows)), lead), 1)
    indices = np.concatenate([row.indices for row in rows])
    longest = np.max(np.stack([row.dense_shape for row in rows]), 0)
    return Parts(
        np.concatenate([np.repeat(places, counts, 0), indices], 1),
        np.concatenate([row.values for row in rows]),
        np.concatenate([np.array(lead, np.int64), longest]),
    )


def places(indices: Any, dense_shape: Any) -> Any:
    """Return for each row of `indices` one int64, which order and compare as the rows do.

    Args:
      indices: [n, rank], each within `dense_shape`.
      dense_shape: [rank].
    """
    sizes = [int(size) for size in dense_shape]
    if math.prod(sizes) >= _MOST_PLACES:  # too many places to number: those that occur are
        return np.unique(indices, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return numbered(indices, sizes)


def numbered(indices: Any, sizes: Sequence[int]) -> Any:
    """Return where each row of indices is when the elements of all rows lie one after the other."""
    if not sizes:
        return np.zeros(len(indices), np.int64)
    numbers = indices[:, 0].astype(np.int64, copy=len(sizes) > 1)
    for column, size in zip(indices.T[1:], sizes[1:], strict=True):
        numbers *= size
        numbers += column
    return numbers


def indices_at(numbers: Any, dense_shape: Any) -> Any:
    """Return the rows [n, rank] that `places` numbers so, of a shape with fewer than 2**63."""
    if not len(dense_shape):
        return np.empty((len(numbers), 0), np.int64)
    return np.stack(np.unravel_index(numbers, tuple(dense_shape)), 1).astype(np.int64)


def check_bounds(indices: Any, dense_shape: Any) -> None:
    """Raise InvalidArgumentError unless all of `indices` are within `dense_shape`."""
    outside = (indices < 0) | (indices >= dense_shape)
    if outside.any():
        row = int(outside.any(1).argmax())
        raise InvalidArgumentError(
            f"indices[{row}] = {brackets(indices[row])} is out of bounds: need 0 <= index < "
            f"{brackets(dense_shape)}"
        )


def checked(indices: Any, values: Any, dense_shape: Any) -> Parts:
    """Return a sparse tensor; InvalidArgumentError unless its parts fit, within its bounds."""
    check_ranks(indices, values, dense_shape)
    parts = Parts(indices, values, dense_shape)
    check_fit(parts)
    check_bounds(indices, dense_shape)
    return parts


def check_same_shape(one: Any, other: Any) -> None:
    """Raise InvalidArgumentError unless two sparse tensors are of one shape."""
    if len(one) != len(other):
        raise InvalidArgumentError(
            f"Operands do not have the same ranks; got shapes: {brackets(one)} and "
            f"{brackets(other)}"
        )
    for axis in np.flatnonzero(one != other)[:1]:
        raise InvalidArgumentError(
            f"Operands' shapes do not match: got {one[axis]} and {other[axis]} for dimension {axis}"
        )


def rank_of(indices: Shape, dense_shape: Shape) -> int | None:
    """Return what is known of the rank of a sparse tensor of parts of these shapes."""
    of_indices = None if indices is None else indices[1]
    return shapes.merge_dim(of_indices, None if dense_shape is None else dense_shape[0], "ranks")


def wrong_type(wanted: DType, place: int, found: DType) -> InvalidArgumentError:
    """Return the error for a sparse tensor of another type than the one that is asked for."""
    return InvalidArgumentError(
        f"Requested SparseTensor of type {_short(wanted)} but "
        f"SparseTensor[{place}].values.dtype() == {_short(found)}"
    )


def _short(dtype: DType) -> str:
    return {"float32": "float", "float64": "double", "float16": "half"}.get(dtype.name, dtype.name)
