"""How a dense table tells its content: as buckets, which TensorFlow takes over as they are.

A key stands in the bucket that its hash names, or else in the first free one after it, where the
steps grow by one; buckets without a key hold the empty key.

Source: experiments with TF 1.15; docstring of MutableDenseHashTableV2 in TF 1.15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdist.base.dtypes import DType
from tfdist.errors import InvalidArgumentError
from tfdist.ops.strings.hashes import murmurs

_U64 = np.uint64
_GOLDEN = _U64(0x9E3779B97F4A7800)


class Buckets:
    """What a dense table has besides its keys and values.

    Args:
      empty: the key that stands for none.
      deleted: the key that stands for one that was removed; None in old graphs.
      count: how many buckets there are at first.
      max_load: the part of them that may be used.

    Raises:
      InvalidArgumentError: the number of buckets is no power of two, or both keys are one.
    """

    def __init__(self, empty: Any, deleted: Any, count: int, max_load: float) -> None:
        if count < 4 or count & (count - 1):
            raise InvalidArgumentError(
                f"Number of buckets must be at least 4 and a power of 2, got: {count}"
            )
        if deleted is not None and empty == deleted:
            raise InvalidArgumentError(
                f"Empty and deleted keys cannot be equal: empty_key and deleted_key are {empty!r}"
            )
        self.empty, self.deleted = empty, deleted
        self.count, self.max_load = count, max_load

    def grow(self, entries: int) -> None:
        """Let there be buckets for so many entries."""
        while entries > self.count * self.max_load:
            self.count *= 2

    def check(self, keys: Sequence[Any]) -> None:
        """Raise InvalidArgumentError if a key stands for none."""
        for name, key in (("empty_key", self.empty), ("deleted_key", self.deleted)):
            if key is not None and key in keys:
                raise InvalidArgumentError(
                    f"Using the {name} as a table key is not allowed: {key!r}; choose another "
                    f"{name} when the table is made"
                )

    def places(self, keys: Any) -> Any:
        """Return the bucket of each key.

        Args:
          keys: an array [number of keys, numbers or strings in a key].
        """
        mask = self.count - 1
        at = (_hashes(keys) & _U64(mask)).astype(np.intp)
        is_free = np.ones(self.count, bool)
        (waiting,) = np.nonzero(np.ones(len(keys), bool))
        step = 0
        while len(waiting):
            wanted, first = np.unique(at[waiting], return_index=True)
            placed = waiting[first[is_free[wanted]]]
            is_free[at[placed]] = False
            waiting = np.setdiff1d(waiting, placed, assume_unique=True)
            step += 1
            at[waiting] = (at[waiting] + step) & mask
        return at


def _hashes(keys: Any) -> Any:
    columns = [_scalar_hashes(column) for column in keys.T]
    if len(columns) == 1:
        return columns[0]
    result = np.zeros(len(keys), np.uint64)
    with np.errstate(over="ignore"):
        for column in columns:
            spread = (result << _U64(10)) + (result >> _U64(4))
            result = result ^ (column + _GOLDEN + spread)
    return result


def _scalar_hashes(column: Any) -> Any:
    if column.dtype == object:
        return murmurs(column.tolist())
    return column.astype(np.int64).view(np.uint64)


def as_keys(array: Any, size: int) -> list[Any]:
    """Return the keys in an array: numbers and strings, or tuples of so many of them.

    Args:
      array: the keys' numbers or strings.
      size: of a key; 0 for a scalar.
    """
    if not size:
        return array.reshape(-1).tolist()  # type: ignore[no-any-return]
    return list(map(tuple, array.reshape(-1, size).tolist()))


def as_array(keys: Sequence[Any], dtype: DType, size: int) -> Any:
    """Return keys in one array, [number of keys, size of a key], of 1 for scalars."""
    result = np.empty((len(keys), max(size, 1)), dtype.as_numpy_dtype)
    if size:
        for column, values in enumerate(zip(*keys, strict=True)):
            result[:, column] = values
    else:
        result[:, 0] = keys
    return result
