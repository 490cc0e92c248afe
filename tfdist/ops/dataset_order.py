"""Which elements, how often and in which order: take, skip, repeat, shard, shuffle, cache."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tfdist.errors import UnimplementedError
from tfdist.graph.items import TICK, Failure
from tfdist.ops.dataset import (
    INFINITE,
    TYPES,
    UNKNOWN,
    Dataset,
    Item,
    Iteration,
    check,
    dataset_op,
    is_block,
    text,
)
from tfdist.ops.dataset_sources import generator_of

Walk = Callable[[Iteration], Iterator[Any]]

REPEAT = dataset_op("RepeatDataset", "input_dataset: variant, count: int64")
TAKE = dataset_op("TakeDataset", "input_dataset: variant, count: int64")
SKIP = dataset_op("SkipDataset", "input_dataset: variant, count: int64")
SHARD = dataset_op(
    "ShardDataset",
    "input_dataset: variant, num_shards: int64, index: int64",
    f"require_non_empty: bool = False; {TYPES}",
)
_SEEDS = "seed: int64, seed2: int64"
SHUFFLE = dataset_op(
    "ShuffleDataset",
    f"input_dataset: variant, buffer_size: int64, {_SEEDS}",
    f"reshuffle_each_iteration: bool = True; {TYPES}",
)
SHUFFLE_AND_REPEAT = dataset_op(
    "ShuffleAndRepeatDataset",
    f"input_dataset: variant, buffer_size: int64, {_SEEDS}, count: int64",
)
CACHE = dataset_op("CacheDataset", "input_dataset: variant, filename: string")


class Reordered(Dataset):
    """The elements of another dataset, some of them or in another order.

    What it does, `walk` says once, for elements and for blocks of positions.
    """

    def __init__(self, source: Dataset) -> None:
        self.source = source
        self.rows = source.rows

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        if self.rows is not None:
            return super().items(iteration)
        return self.walk(iteration)

    def walk(self, iteration: Iteration) -> Iterator[Item]:
        """Return a generator of items."""
        raise NotImplementedError


class Repeat(Reordered):
    """Its source again and again: `count` times, or without end if that is negative."""

    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(source)
        self._count = count

    def walk(self, iteration: Iteration) -> Iterator[Item]:
        """See `Reordered`."""
        return self._again(iteration, self.source.items, lambda item: item.__class__ is tuple)

    def blocks(self, iteration: Iteration) -> Iterator[Any]:
        """See `Dataset`."""
        return self._again(iteration, self.source.blocks, is_block)

    def _again(
        self, iteration: Iteration, walk: Walk, counts: Callable[[Any], bool]
    ) -> Iterator[Any]:
        left = self._count
        while left:
            is_empty = True
            for item in walk(iteration):
                if is_empty and counts(item):
                    is_empty = False
                yield item
            if is_empty and self._count < 0:
                return
            left -= 1
            yield TICK

    def cardinality(self) -> int:
        """See `Dataset`."""
        each = self.source.cardinality()
        if self._count < 0:
            return 0 if each == 0 else INFINITE
        if self._count == 0:
            return 0
        return each if each < 0 else each * self._count


class Take(Reordered):
    """The first `count` elements; all if that is negative."""

    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(source)
        self._count = count

    def walk(self, iteration: Iteration) -> Iterator[Item]:
        """See `Reordered`."""
        if not self._count:
            return
        left = self._count
        for item in self.source.items(iteration):
            yield item
            if item.__class__ is tuple:
                left -= 1
                if not left:
                    return

    def blocks(self, iteration: Iteration) -> Iterator[Any]:
        """See `Dataset`."""
        if self._count < 0:
            yield from self.source.blocks(iteration)
            return
        left = self._count
        for block in self.source.blocks(iteration) if left else ():
            if is_block(block):
                block = block[:left]
                left -= len(block)
            yield block
            if not left:
                return

    def cardinality(self) -> int:
        """See `Dataset`."""
        each = self.source.cardinality()
        if self._count < 0 or each == UNKNOWN:
            return each
        return self._count if each == INFINITE else min(each, self._count)


class Skip(Reordered):
    """All but the first `count` elements; none if that is negative."""

    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(source)
        self._count = count

    def walk(self, iteration: Iteration) -> Iterator[Item]:
        """See `Reordered`."""
        if self._count < 0:
            return
        left = self._count
        for item in self.source.items(iteration):
            if left and item.__class__ is tuple:
                left -= 1
            else:
                yield item

    def blocks(self, iteration: Iteration) -> Iterator[Any]:
        """See `Dataset`."""
        left = self._count
        for block in self.source.blocks(iteration) if left >= 0 else ():
            if left and is_block(block):
                gone = min(left, len(block))
                left -= gone
                block = block[gone:]
                if not len(block):
                    continue
            yield block

    def cardinality(self) -> int:
        """See `Dataset`."""
        each = self.source.cardinality()
        if self._count < 0:
            return 0
        return each if each < 0 else max(0, each - self._count)


class Shard(Reordered):
    """Every `count`-th element, from the one at `index` on."""

    def __init__(self, source: Dataset, count: int, index: int) -> None:
        super().__init__(source)
        self._count, self._index = count, index

    def walk(self, iteration: Iteration) -> Iterator[Item]:
        """See `Reordered`."""
        place = 0
        for item in self.source.items(iteration):
            if item.__class__ is tuple:
                place += 1
                if (place - 1) % self._count != self._index:
                    continue
            yield item

    def blocks(self, iteration: Iteration) -> Iterator[Any]:
        """See `Dataset`."""
        place = 0
        for block in self.source.blocks(iteration):
            if is_block(block):
                first = (self._index - place) % self._count
                place += len(block)
                block = block[first :: self._count]
                if not len(block):
                    continue
            yield block

    def cardinality(self) -> int:
        """See `Dataset`."""
        each = self.source.cardinality()
        return each if each < 0 else max(0, -(-(each - self._index) // self._count))


@REPEAT.kernel
def repeat_kernel(input_dataset: Dataset, count: Any) -> Dataset:
    return Repeat(input_dataset, int(count))


@TAKE.kernel
def take_kernel(input_dataset: Dataset, count: Any) -> Dataset:
    return Take(input_dataset, int(count))


@SKIP.kernel
def skip_kernel(input_dataset: Dataset, count: Any) -> Dataset:
    return Skip(input_dataset, int(count))


@SHARD.kernel
def shard_kernel(input_dataset: Dataset, num_shards: Any, index: Any) -> Dataset:
    count = int(num_shards)
    check(
        count > 0, f"Number of shards must be greater than zero (currently num_shards = {count})."
    )
    check(
        0 <= index < count,
        f"Index must be between 0 and {count - 1} (currently index = {int(index)}).",
    )
    return Shard(input_dataset, count, int(index))


class Shuffle(Reordered):
    """Elements in random order: each drawn from a buffer of the next `size`.

    Args:
      source: the elements.
      size: of the buffer.
      seeds: two; nobody can predict the order if both are 0.
      anew: whether each epoch has an order of its own.
    """

    def __init__(self, source: Dataset, size: int, seeds: tuple[int, int], anew: bool) -> None:
        super().__init__(source)
        self._size, self._seeds, self._anew = size, seeds, anew
        if seeds == (0, 0):
            self._seeds = (int.from_bytes(os.urandom(7), "little"), 1)

    def _draws(self, iteration: Iteration) -> np.random.Generator:
        """Return what draws the order of one epoch."""
        if not self._anew:
            return generator_of(self._seeds)
        return iteration.state(self, lambda: generator_of(self._seeds))

    def walk(self, iteration: Iteration) -> Iterator[Item]:
        """See `Reordered`."""
        draws, size = self._draws(iteration), self._size
        buffer: list[Any] = []
        for item in self.source.items(iteration):
            if item.__class__ is not tuple:
                yield item
            elif len(buffer) < size:
                buffer.append(item)
            else:
                place = int(draws.random() * size)
                buffer[place], item = item, buffer[place]
                yield item
        for place in draws.permutation(len(buffer)).tolist():
            yield buffer[place]

    def blocks(self, iteration: Iteration) -> Iterator[Any]:
        """See `Dataset`."""
        draws, size = self._draws(iteration), self._size
        buffer = np.zeros(0, np.int64)
        for block in self.source.blocks(iteration):
            if not is_block(block):
                yield block
                continue
            free = size - len(buffer)
            if free:
                buffer = np.concatenate([buffer, as_array(block[:free])])
            for start in range(free, len(block), _PIECE):
                yield _exchanged(buffer, as_array(block[start : start + _PIECE]), draws)
                yield TICK
        if len(buffer):
            yield draws.permutation(buffer)

    def cardinality(self) -> int:
        """See `Dataset`."""
        return self.source.cardinality()


_PIECE = 256  # positions that are shuffled at once


def as_array(block: Any) -> Any:
    """Return a block as an array."""
    if block.__class__ is range:
        return np.arange(block.start, block.stop, block.step)
    return block


def _exchanged(buffer: Any, block: Any, draws: np.random.Generator) -> Any:
    """Put the positions of `block` into `buffer` one by one; returns those that gave way."""
    places = (draws.random(len(block)) * len(buffer)).astype(np.int64)
    if len(np.unique(places)) == len(places):  # none gives way to another one of this block
        gone = buffer[places]
        buffer[places] = block
        return gone
    gone = np.empty_like(block)
    for i, place in enumerate(places.tolist()):
        gone[i] = buffer[place]
        buffer[place] = block[i]
    return gone


def _shuffled(source: Dataset, size: Any, seeds: tuple[Any, Any], anew: bool) -> Dataset:
    check(size > 0, "buffer_size must be greater than zero.")
    return Shuffle(source, int(size), (int(seeds[0]), int(seeds[1])), anew)


@SHUFFLE.kernel
def shuffle_kernel(
    input_dataset: Dataset,
    buffer_size: Any,
    seed: Any,
    seed2: Any,
    *,
    reshuffle_each_iteration: bool,
) -> Dataset:
    return _shuffled(input_dataset, buffer_size, (seed, seed2), reshuffle_each_iteration)


@SHUFFLE_AND_REPEAT.kernel
def shuffle_and_repeat_kernel(
    input_dataset: Dataset, buffer_size: Any, seed: Any, seed2: Any, count: Any
) -> Dataset:
    return Repeat(_shuffled(input_dataset, buffer_size, (seed, seed2), True), int(count))


class Cache(Reordered):
    """Elements that are kept once they have come to an end."""

    def walk(self, iteration: Iteration) -> Iterator[Item]:
        """See `Reordered`."""
        return self._kept(iteration, self.source.items)

    def blocks(self, iteration: Iteration) -> Iterator[Any]:
        """See `Dataset`."""
        return self._kept(iteration, self.source.blocks)

    def _kept(self, iteration: Iteration, walk: Walk) -> Iterator[Any]:
        kept: list[list[Any]] = iteration.state(self, list)
        if kept:
            for start in range(0, len(kept[0]), _PIECE):
                yield from kept[0][start : start + _PIECE]
                yield TICK
            return
        found: list[Any] = []
        for item in walk(iteration):
            if item.__class__ is tuple or is_block(item):
                found.append(item)
            yield item
            if item.__class__ is Failure:
                found = []
        if not kept:
            kept.append(found)

    def cardinality(self) -> int:
        """See `Dataset`."""
        return self.source.cardinality()


@CACHE.kernel
def cache_kernel(input_dataset: Dataset, filename: Any) -> Dataset:
    if text(filename) != b"":
        raise UnimplementedError(
            "a cache in a file is not there yet; without a filename elements are kept in memory"
        )
    return Cache(input_dataset)
