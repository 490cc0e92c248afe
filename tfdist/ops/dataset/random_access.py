"""Rows: elements that are told by their positions, one by one or many at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

Element = tuple[Any, ...]


class Rows(Protocol):
    """Elements by position."""

    @property
    def count(self) -> int:
        """Return how many there are."""

    @property
    def at(self) -> Callable[[int], Element]:
        """Return a function from a position to the element there."""

    def take(self, positions: Any) -> Element:
        """Return the elements at a range or array of positions, each component as one array."""


class ArrayRows:
    """The slices of arrays along their first axes."""

    def __init__(self, arrays: Sequence[Any]) -> None:
        self._arrays = tuple(arrays)
        self.count = len(arrays[0])
        if len(self._arrays) == 1:
            [only] = self._arrays
            self.at: Callable[[int], Element] = lambda i: (only[i],)
        else:
            self.at = lambda i: tuple([array[i] for array in self._arrays])

    def take(self, positions: Any) -> Element:
        """See `Rows`; what a range tells is a view."""
        if positions.__class__ is range:
            positions = slice(positions.start, positions.stop, positions.step)
        return tuple([array[positions] for array in self._arrays])


class RangeRows:
    """The numbers of a range, int64 if nothing else is said."""

    def __init__(self, numbers: range, dtype: Any = np.int64) -> None:
        self._numbers, self._dtype = numbers, np.dtype(dtype).type
        self.count = count_of(numbers)

    @property
    def at(self) -> Callable[[int], Element]:
        """See `Rows`."""
        start, step, number = self._numbers.start, self._numbers.step, self._dtype
        return lambda i: (number(start + i * step),)

    def take(self, positions: Any) -> Element:
        """See `Rows`."""
        start, step = self._numbers.start, self._numbers.step
        if positions.__class__ is range:
            first, last = start + positions.start * step, start + positions.stop * step
            return (np.arange(first, last, step * positions.step, dtype=self._dtype),)
        return ((start + np.asarray(positions, np.int64) * step).astype(self._dtype, copy=False),)


def count_of(numbers: range) -> int:
    """Return the length of a range, however long."""
    if not numbers:
        return 0
    return (numbers[-1] - numbers.start) // numbers.step + 1


class ZippedRows:
    """The rows of several, side by side."""

    def __init__(self, parts: Sequence[Rows]) -> None:
        self._parts = tuple(parts)
        self.count = min(part.count for part in parts)

    @property
    def at(self) -> Callable[[int], Element]:
        """See `Rows`."""
        functions = [part.at for part in self._parts]
        return lambda i: tuple([value for function in functions for value in function(i)])

    def take(self, positions: Any) -> Element:
        """See `Rows`."""
        return tuple([array for part in self._parts for array in part.take(positions)])


def as_array(block: Any) -> Any:
    """Return a block as an array."""
    if block.__class__ is range:
        return np.arange(block.start, block.stop, block.step)
    return block
