"""The values of ragged tensors as arrays: what a session gives, and what Python lists spell."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.graph.convert import to_array

__all__ = ["RaggedTensorValue", "constant_value"]


class RaggedTensorValue:
    """The value of a `RaggedTensor`: rows of different lengths, one after the other.

    Args:
      values: the elements of all rows: an array, or a RaggedTensorValue if rows are ragged, too.
      row_splits: [rows + 1], where each row begins, and the end.

    Example:
      >>> RaggedTensorValue(np.array([5, 6, 7]), np.array([0, 2, 2, 3])).to_list()
      [[5, 6], [], [7]]
    """

    def __init__(self, values: Any, row_splits: Any) -> None:
        self.values, self.row_splits = values, np.asarray(row_splits)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.values, self.row_splits))

    @property
    def flat_values(self) -> Any:
        """Return the innermost values, an array."""
        values = self.values
        return values.flat_values if isinstance(values, RaggedTensorValue) else values

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """Return the splits of each ragged axis, the outermost first."""
        values = self.values
        inner = values.nested_row_splits if isinstance(values, RaggedTensorValue) else ()
        return (self.row_splits, *inner)

    @property
    def ragged_rank(self) -> int:
        """Return how many axes are ragged."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> Any:
        """Return NumPy's type of the elements."""
        return self.flat_values.dtype

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Return the shape, None for each ragged axis."""
        rows = len(self.row_splits) - 1
        return (rows, None, *self.values.shape[1:])

    def to_list(self) -> list[Any]:
        """Return nested lists of Python numbers."""
        values = self.values
        flat = values.to_list() if isinstance(values, RaggedTensorValue) else values.tolist()
        splits = self.row_splits.tolist()
        return [flat[begin:end] for begin, end in itertools.pairwise(splits)]

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self.values!r}, row_splits={self.row_splits!r})"


def constant_value(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Sequence[int] | None = None,
    row_splits_dtype: Any = "int64",
) -> Any:
    """Return nested lists as a RaggedTensorValue, or as an array if nothing is ragged.

    Args:
      pylist: nested lists, whose elements stand at one depth.
      dtype: of the elements; what suits them by default.
      ragged_rank: how many axes are ragged; all but the first by default.
      inner_shape: of the elements, if they are arrays themselves.
      row_splits_dtype: "int32" or "int64".

    Raises:
      ValueError: elements stand at different depths, or not as deep as is asked for.

    Example:
      >>> constant_value([[5, 6], [], [7]]).row_splits.tolist()
      [0, 2, 2, 3]
    """
    depths = set(_depths(pylist))
    if len(depths) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    empty_depth = _list_depth(pylist)
    depth = depths.pop() if depths else empty_depth
    if ragged_rank is None:
        ragged_rank = max(max(depth, empty_depth) - 1 - len(inner_shape or ()), 0)
    if depth and ragged_rank >= depth:
        raise ValueError(f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank}")
    splits_type = dtypes.as_dtype(row_splits_dtype).as_numpy_dtype
    return _nested(pylist, ragged_rank, dtype, inner_shape, splits_type)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple | np.ndarray)


def _depths(value: Any, depth: int = 0) -> Iterator[int]:
    """Yield how deep each element stands."""
    if not _is_list(value) or (isinstance(value, np.ndarray) and not value.ndim):
        yield depth
        return
    for each in value:
        yield from _depths(each, depth + 1)


def _list_depth(value: Any) -> int:
    """Return how deep lists stand in each other."""
    if not _is_list(value):
        return 0
    return 1 + max(map(_list_depth, value), default=0)


def _nested(pylist: Any, rank: int, dtype: Any, inner: Any, splits_type: Any) -> Any:
    if not rank:
        return _elements(pylist, dtype, inner)
    lengths = [len(row) for row in pylist]
    splits = np.concatenate([[0], np.cumsum(lengths)]).astype(splits_type)
    rows = [each for row in pylist for each in row]
    return RaggedTensorValue(_nested(rows, rank - 1, dtype, inner, splits_type), splits)


def _elements(pylist: Any, dtype: Any, inner: Any) -> Any:
    if inner is not None and not len(pylist):
        kind = dtypes.as_dtype(dtype or "float32").as_numpy_dtype
        return np.zeros((0, *inner), kind)
    found = to_array(list(pylist) if _is_list(pylist) else pylist, dtype)
    if inner is not None and found.shape[1:] != tuple(inner):
        raise ValueError(f"elements have the shape {found.shape[1:]}, not {tuple(inner)}")
    return found
