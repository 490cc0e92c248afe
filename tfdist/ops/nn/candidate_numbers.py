"""The numbers that candidate samplers draw: TensorFlow's where they have seeds.

Which numbers of the stream become which class was found by experiments with TensorFlow 1.15.

Source: Walker 1977, "An efficient method for generating discrete random variables with general
distributions", for the alias method.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import dtypes, philox
from tfdist.base.philox import Stream
from tfdist.ops.random import drawn_numbers
from tfdist.ops.random.random_sampling import reserved

__all__: list[str] = []

_EACH = 512  # blocks that a run reserves for each class that it is to draw


class AliasTable(NamedTuple):
    """Columns of equal width, in each of which two classes share the place.

    Attributes:
      share: of the column that its own class has.
      other: the class that has the rest.
    """

    share: Any
    other: Any


class Seeded:
    """Numbers of a stream, one after the other; a sampler takes one kind of them only."""

    def __init__(self, stream: Stream) -> None:
        self._stream, self._taken = stream, 0

    def _next(self, make: Callable[[Stream, int], Any], count: int, each: int) -> Any:
        """Return the next `count` numbers, of which a block gives `each`."""
        blocks, begin = divmod(self._taken, each)
        self._taken += count
        return make(self._stream.skipped(blocks), begin + count)[begin:]

    def doubles(self, count: int) -> Any:
        """Return floats from [0, 1)."""
        return self._next(lambda s, n: drawn_numbers.uniform(s, n, dtypes.float64), count, 2)

    def below(self, bound: int, count: int) -> Any:
        """Return integers from [0, bound)."""
        drawn = self._next(philox.long_words, count, 2)
        return (drawn % np.uint64(bound)).astype(np.int64)

    def weighted(self, ends: Any, count: int) -> Any:
        """Return classes, each as likely as its weight, an integer; `ends` are their sums."""
        drawn = self._next(philox.words, count, 4)
        return ends.searchsorted(drawn % np.uint32(ends[-1]), side="right")

    def aliased(self, table: AliasTable, count: int) -> Any:
        """Return classes of an alias table."""
        drawn = self._next(lambda s, n: philox.words(s, 2 * n).reshape(-1, 2), count, 2)
        column = drawn[:, 1] % np.uint32(len(table.share))
        height = (drawn[:, 0] & np.uint32(0x7FFFFF)) / np.float32(1 << 23)
        return np.where(height < table.share[column], column, table.other[column]).astype(np.int64)


class Unseeded:
    """The same kinds of numbers from a generator of NumPy."""

    def __init__(self, rng: Any) -> None:
        self._rng = rng

    def doubles(self, count: int) -> Any:
        """Return floats from [0, 1)."""
        return self._rng.random(count)

    def below(self, bound: int, count: int) -> Any:
        """Return integers from [0, bound)."""
        return self._rng.integers(bound, size=count)

    def weighted(self, ends: Any, count: int) -> Any:
        """Return classes, each as likely as its weight; `ends` are their sums."""
        return ends.searchsorted(self._rng.random(count) * ends[-1], side="right")

    def aliased(self, table: AliasTable, count: int) -> Any:
        """Return classes of an alias table."""
        column = self._rng.integers(len(table.share), size=count)
        stays = self._rng.random(count) < table.share[column]
        return np.where(stays, column, table.other[column])


def numbers(ctx: Any, num_sampled: int, seed: int, seed2: int) -> Seeded | Unseeded:
    """Return what one run of a sampler draws from."""
    if seed or seed2:
        return Seeded(reserved(ctx, seed, seed2, num_sampled * _EACH))
    return Unseeded(ctx.rng(seed, seed2))


def alias_table(weights: Any) -> AliasTable:
    """Return the alias table of classes: the last low column is filled from the last high one."""
    share = weights / weights.sum() * len(weights)
    other = np.full(len(weights), -1)
    low, high = (np.flatnonzero(where).tolist() for where in (share < 1, share >= 1))
    heights = share.tolist()  # Python's floats are quicker one by one; each step needs the last
    while low and high:
        filled, giver = low.pop(), high[-1]
        other[filled] = giver
        heights[giver] -= 1 - heights[filled]
        if heights[giver] < 1:
            low.append(high.pop())
    share = np.array(heights)
    share[low + high] = 1  # what is left is full but for rounding
    return AliasTable(share, other)
