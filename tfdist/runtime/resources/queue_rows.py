"""The elements of queues as arrays: `Rows`, a batch that is cut and joined without copying."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tfdist.base.aliases import NumpyType, TensorValue
from tfdist.base.dtypes import DType
from tfdist.base.shuffling import Words, exchange
from tfdist.base.tensor_shape import ShapeLike

Shape = tuple[int, ...]


# Some elements: an array for each component, the first row, and the row behind the last one; with
# -1 for the first row, the arrays are one element. No NamedTuple, which takes ten times as long.
Part = tuple[Sequence[Any], int, int]


class Rows:
    """Elements that came as arrays, and stay in these until they are wanted."""

    __slots__ = ("_size", "parts")

    def __init__(self, parts: list[Part], size: int) -> None:
        self.parts = parts
        self._size = size

    @classmethod
    def one(cls, components: Sequence[TensorValue]) -> Rows:
        """Return one element."""
        return cls([(components, -1, 0)], 1)

    @classmethod
    def many(cls, components: Sequence[TensorValue]) -> Rows:
        """Return the rows of arrays of one length, each an element."""
        size = len(components[0])
        return cls([(components, 0, size)], size)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[tuple[TensorValue, ...]]:
        """Yield the elements, each a tuple of its components."""
        for components, start, stop in self.parts:
            if start < 0:
                yield tuple(components)
            for row in range(max(start, 0), stop):
                yield tuple([each[row] for each in components])

    def first(self) -> Sequence[TensorValue]:
        """Return the components of the first element; there is one."""
        components, start, _ = self.parts[0]
        return components if start < 0 else [each[start] for each in components]

    def __getitem__(self, key: slice) -> Rows:
        start, stop, _ = key.indices(self._size)
        if start >= stop:
            return Rows([], 0)
        if len(self.parts) > 1:
            return Rows(list(self._between(start, stop)), stop - start)
        [(components, first, _)] = self.parts
        if first < 0:
            return Rows(self.parts[:], 1)
        return Rows([(components, first + start, first + stop)], stop - start)

    def _between(self, start: int, stop: int) -> Iterator[Part]:
        """Yield the parts of the elements from `start` to `stop`."""
        before = 0
        for part in self.parts:
            components, begin, end = part
            size = 1 if begin < 0 else end - begin
            first, last = max(start - before, 0), min(stop - before, size)
            if first < last:
                yield part if begin < 0 else (components, begin + first, begin + last)
            before += size

    def __iadd__(self, other: Rows) -> Rows:
        self.parts += other.parts
        self._size += other._size
        return self

    def stacked(self) -> list[TensorValue]:
        """Return each component of all elements as one array, [n, ...]; there is an element."""
        components, start, stop = self.parts[0]
        if len(self.parts) == 1 and start >= 0:
            return [each[start:stop] for each in components]
        return [self._together(i) for i in range(len(components))]

    def _together(self, i: int) -> TensorValue:
        """Return component `i` of all elements as one array."""
        components, start, _ = self.parts[0]
        first = np.asarray(components[i])
        shape = first.shape if start < 0 else first.shape[1:]
        found = np.empty((self._size, *shape), first.dtype)
        row = 0
        for components, start, stop in self.parts:
            if start < 0:
                found[row, ...] = components[i]  # so that no array gets into an array of objects
                row += 1
            else:
                found[row : row + stop - start] = components[i][start:stop]
                row += stop - start
        return found

    def padded(self, shapes: Sequence[ShapeLike]) -> list[TensorValue]:
        """Return as `stacked`, with dimensions that `shapes` leave open as large as the largest.

        What elements lack is 0, False or the empty string.
        """
        if all(None not in shape for shape in shapes):
            return self.stacked()
        elements = list(self)
        return [_padded([each[i] for each in elements]) for i in range(len(shapes))]


def _padded(values: list[TensorValue]) -> TensorValue:
    arrays = [np.asarray(value) for value in values]
    shape = tuple(map(max, zip(*(array.shape for array in arrays), strict=True)))
    filler = b"" if arrays[0].dtype == object else 0
    found = np.full((len(arrays), *shape), filler, arrays[0].dtype)
    for i, array in enumerate(arrays):
        place: Any = (i, *map(slice, array.shape), ...)  # of a scalar, too
        found[place] = array
    return found


def no_rows(dtypes: Sequence[DType], shapes: Sequence[ShapeLike]) -> list[TensorValue]:
    """Return what `Rows.stacked` would, of no elements."""
    return [
        np.zeros((0, *(dim or 0 for dim in shape)), dtype.as_numpy_dtype)
        for dtype, shape in zip(dtypes, shapes, strict=True)
    ]


class Pool:
    """The store of a queue that shuffles elements of fixed shapes: a few arrays hold them all.

    It gives them in the order in which `Shuffle` does.

    Args:
      words: tell which one, each of them one.
      dtypes: NumPy's, of the components.
      shapes: of the components.
    """

    is_piecemeal = gives_fewer = True

    def __init__(
        self, words: Words, dtypes: Sequence[NumpyType], shapes: Sequence[ShapeLike]
    ) -> None:
        self._words = words
        self._arrays = [
            np.empty((_ROWS, *shape), dtype) for dtype, shape in zip(dtypes, shapes, strict=True)
        ]
        self._places = np.arange(_ROWS)  # of elements, and behind them free ones
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[TensorValue]:
        for place in self._places[: self._size]:
            yield tuple([array[place] for array in self._arrays])

    def add(self, batch: Rows) -> None:
        """See `Store.add`; the elements are copied."""
        size = self._size + len(batch)
        if size > len(self._places):
            self._grow(size)
        row = self._size
        for components, start, stop in batch.parts:
            end = row + 1 if start < 0 else row + stop - start
            places = self._places[row] if start < 0 else self._places[row:end]
            for array, component in zip(self._arrays, components, strict=True):
                array[places, ...] = component if start < 0 else component[start:stop]
            row = end
        self._size = size

    give_back = add

    def _grow(self, size: int) -> None:
        old = len(self._places)
        rows = max(size, 2 * old)
        self._places = np.concatenate([self._places, np.arange(old, rows)])
        for i, array in enumerate(self._arrays):
            self._arrays[i] = larger = np.empty((rows, *array.shape[1:]), array.dtype)
            larger[:old] = array

    def take(self, count: int) -> Rows:
        """See `Store.take`."""
        if count == 1:
            return Rows.one(self._take_one())
        places = self._free(count)
        taken = [array.take(places, axis=0) for array in self._arrays]
        for array in self._arrays:
            if array.dtype == object:
                array[places] = None
        return Rows.many(taken)

    def _take_one(self) -> list[TensorValue]:
        places, last = self._places, self._size - 1
        chosen = self._words.one() % self._size
        place = places[chosen]
        places[chosen], places[last] = places[last], place
        self._size = last
        return [_taken(array, place) for array in self._arrays]

    def _free(self, count: int) -> TensorValue:
        """Make the places of `count` elements free, and return them."""
        size = self._size
        chosen = self._words.take(count) % np.arange(size, size - count, -1, dtype=np.uint32)
        last_first = self._places[:size][::-1]
        exchange(last_first, size - 1 - chosen)
        self._size = size - count
        return last_first[:count]


def _taken(array: TensorValue, row: int) -> TensorValue:
    """Return a row that the array does not share."""
    taken = array[row].copy() if array.ndim > 1 else array[row]
    if array.dtype == object:
        array[row] = None
    return taken


_ROWS = 8  # that the arrays have at first
