"""A lookup table: keys and their values, found, put and removed by steps of any session.

A dict tells in which row of an array a key's value stands: so a lookup costs one look into the dict
for each key, and the values come together, in one step of NumPy.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from tfdist.base.aliases import TensorValue
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape

_FEW = 16  # rows of a new table


class Table:
    """Keys and values.

    Args:
      kind: which op made it, as in "HashTable", for messages.
      name: the resource's, for messages.
      key_dtype: of the keys.
      value_dtype: of the values.
      value_shape: of each value.
      key_shape: of each key; a key that is no scalar is kept as a tuple.
      is_static: whether it is filled once, and must be before anything is looked up.
      dense: what only a dense table has (`ops.lookup.buckets.Buckets`).
    """

    def __init__(
        self, kind: str, name: str, key_dtype: DType, value_dtype: DType,
        value_shape: tuple[int, ...] = (), key_shape: tuple[int, ...] = (),
        is_static: bool = False, dense: TensorValue = None,
    ) -> None:  # fmt: skip
        self.kind = kind
        self.name = name
        self.dtypes = (key_dtype, value_dtype)
        self.shapes: tuple[Shape, Shape] = (key_shape, value_shape)
        self.is_static = is_static
        self.is_filled = not is_static
        self.is_range = False  # whether it is static, and its keys count from 0
        self.dense = dense
        self._value_shape = value_shape
        self._rows: dict[Any, int] = {}
        self._values = self._room(_FEW)
        self._used = 0  # rows, also those of keys that were removed
        self._lock = threading.Lock()

    def _room(self, count: int) -> TensorValue:
        return np.zeros((count, *self._value_shape), self.dtypes[1].as_numpy_dtype)

    def size(self) -> int:
        """Return how many keys there are."""
        return len(self._rows)

    def find(self, keys: Sequence[TensorValue], default: TensorValue) -> TensorValue:
        """Return the values of some keys in one array, `default` for each that is not there."""
        with self._lock:
            rows = _looked_up(self._rows.get, keys, repeat(-1))
            found = self._values[rows]
        found[rows < 0] = default
        return found

    def at(self, keys: TensorValue, default: TensorValue) -> TensorValue:
        """Return what `find` does, if `is_range`, of an array of keys."""
        rows = np.where((keys >= 0) & (keys < self._used), keys, -1)
        found = self._values[rows]
        found[rows < 0] = default
        return found

    def put(self, keys: Sequence[TensorValue], values: TensorValue) -> None:
        """Set the values of some keys; the last one counts for a key that is there twice."""
        with self._lock:
            self._put(keys, values)

    def _put(self, keys: Sequence[TensorValue], values: TensorValue) -> None:
        if self.dense is not None:
            self.dense.grow(len(self._rows) + len(keys))
        known = self._rows
        new = dict.fromkeys(key for key in keys if key not in known)
        self._make_room(len(new))
        known.update(zip(new, range(self._used, self._used + len(new)), strict=True))
        self._used += len(new)
        self._values[_looked_up(known.__getitem__, keys)] = values

    def _make_room(self, count: int) -> None:
        """Let `count` more rows be free, without those of removed keys if there are many."""
        if self._used + count <= len(self._values):
            return
        kept = self._content()[1]
        self._values = self._room(2 * (len(kept) + count))
        self._values[: len(kept)] = kept
        self._rows.update(zip(self._rows, range(len(kept)), strict=True))
        self._used = len(kept)

    def remove(self, keys: Iterable[TensorValue]) -> None:
        """Forget some keys; those that are not there do not matter."""
        with self._lock:
            for key in keys:
                self._rows.pop(key, None)

    def content(self) -> tuple[list[TensorValue], TensorValue]:
        """Return all keys and their values, in the order in which the keys came."""
        with self._lock:
            return self._content()

    def _content(self) -> tuple[list[TensorValue], TensorValue]:
        rows = np.fromiter(self._rows.values(), np.intp, len(self._rows))
        return list(self._rows), self._values[rows]

    def replace(self, keys: Sequence[TensorValue], values: TensorValue) -> None:
        """Forget all that is there, and set the values of some keys."""
        with self._lock:
            self._rows, self._used = {}, 0
            self._put(keys, values)

    def fill(self, keys: Sequence[TensorValue], values: TensorValue) -> TensorValue:
        """Fill a static table, unless it is filled.

        Returns:
          (key, a value, another one) if there is a key with two values, which leaves the table
          empty; else None.
        """
        with self._lock:
            if self.is_filled:
                return None
            self._put(keys, values)
            kept = self._values[_looked_up(self._rows.__getitem__, keys)]
            differs = np.nonzero((kept != values).reshape(len(keys), -1).any(-1))[0]
            if len(differs):
                self._rows, self._used = {}, 0
                first = int(differs[0])
                return keys[first], values[first], kept[first]
            self.is_range = self.dtypes[0].is_integer and keys == list(range(len(keys)))
            self.is_filled = True
        return None


def _looked_up(
    get: Callable[..., int], keys: Sequence[TensorValue], *default: TensorValue
) -> TensorValue:
    return np.fromiter(map(get, keys, *default), np.intp, len(keys))
