"""Elements in random order: with seeds, in that of TensorFlow 1.15.

Each element comes from a place of the buffer that the next word of a stream tells, and what stood
first takes that place. Where epochs shall differ, the seeds of a dataset make a stream of which two
words are the seeds of each epoch, as long as an iterator lives. Where pipelines are optimized, a
shuffled dataset that is repeated at once has one stream for all epochs instead.

TensorFlow 2 has newer ops for the same; what they have besides is a resource that draws seeds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tfdist.base.shuffling import AnyWords, Words, exchange, one_by_one, words_of
from tfdist.graph.items import TICK
from tfdist.graph.op_def import OpDef
from tfdist.ops.dataset.dataset_value import (
    TYPES,
    Dataset,
    Item,
    Iteration,
    check,
    dataset_op,
    is_block,
)
from tfdist.ops.dataset.random_access import as_array
from tfdist.ops.dataset.take_skip_repeat import Reordered, Repeat, is_element

_SEEDS = "seed: int64, seed2: int64"
_BUFFER = "input_dataset: variant, buffer_size: int64"
_ANEW = f"reshuffle_each_iteration: bool = True; {TYPES}"

SHUFFLE = dataset_op("ShuffleDataset", f"{_BUFFER}, {_SEEDS}", _ANEW)
SHUFFLE_V2 = dataset_op("ShuffleDatasetV2", f"{_BUFFER}, seed_generator: resource", stateful=True)
SHUFFLE_V3 = dataset_op(
    "ShuffleDatasetV3", f"{_BUFFER}, {_SEEDS}, seed_generator: resource", _ANEW, stateful=True
)
SHUFFLE_AND_REPEAT = dataset_op("ShuffleAndRepeatDataset", f"{_BUFFER}, {_SEEDS}, count: int64")
SHUFFLE_AND_REPEAT_V2 = dataset_op(
    "ShuffleAndRepeatDatasetV2",
    f"{_BUFFER}, {_SEEDS}, count: int64, seed_generator: resource",
    _ANEW,
    stateful=True,
)


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
        self._chance = None if any(seeds) else int.from_bytes(os.urandom(7), "little")

    def words(self) -> Words:
        """Return what tells the order, from its beginning."""
        if self._chance is not None:
            return AnyWords(np.random.default_rng(self._chance))
        return words_of(*self._seeds)

    def _words(self, iteration: Iteration) -> Words:
        """Return what tells the order of one epoch."""
        if not self._anew:
            return self.words()
        of_all = iteration.words(self.words)
        return of_all if self._chance is not None else words_of(*of_all.take(2).tolist())

    def walk(self, iteration: Iteration) -> Iterator[Item]:
        """See `Reordered`."""
        words = one_by_one(self._words(iteration))
        return self.walk_by(words, iteration.at(_SOURCE), True)

    def blocks(self, iteration: Iteration) -> Iterator[Any]:
        """See `Dataset`."""
        return self.blocks_by(self._words(iteration), iteration.at(_SOURCE), True)

    def walk_by(self, words: Iterator[int], below: Iteration, is_last: bool) -> Iterator[Item]:
        """Return a generator of items.

        TensorFlow begins the source anew as soon as that has ended, in the last epoch, too; if the
        source is shuffled itself, one of its epochs is lost.

        Args:
          words: tell the order.
          below: what the source has of an iteration.
          is_last: whether no epoch follows.
        """
        size, front, is_full = self._size, 0, False
        buffer: list[Any] = []  # a ring, whose place before the front is free once it was full
        for item in self.source.items(below):
            if item.__class__ is not tuple:
                yield item
                continue
            if is_full:
                buffer[front - 1] = item
            else:
                buffer.append(item)
                if len(buffer) < size:
                    continue
                is_full = True
            place = (front + next(words) % size) % size
            item, buffer[place] = buffer[place], buffer[front]
            front = (front + 1) % size
            yield item
        if is_last:
            below.skip_epoch()
        left = buffer[front:] + buffer[:front]
        yield from _emptied(left[: size - 1], words)

    def blocks_by(self, words: Words, below: Iteration, is_last: bool) -> Iterator[Any]:
        """Return a generator of positions; see `walk_by`."""
        buffer, size = _Buffer(), self._size
        for block in self.source.blocks(below):
            if not is_block(block):
                yield block
                continue
            for start in range(0, len(block), _PIECE):
                buffer.add(as_array(block[start : start + _PIECE]))
                if len(buffer) >= size:
                    drawn = words.take(len(buffer) - size + 1)
                    yield buffer.taken(drawn % np.uint32(size))
                yield TICK
        if is_last:
            below.skip_epoch()
        if isinstance(words, AnyWords) and len(buffer):  # any order will do
            yield words.rng.permutation(buffer.positions())
            return
        for positions in buffer.emptied(words.take):
            yield positions
            yield TICK

    def repeated(self, count: int) -> Reordered | None:
        """See `Reordered`."""
        return ShuffledAgain(self, count) if self._anew and count else None

    def cardinality(self) -> int:
        """See `Dataset`."""
        return self.source.cardinality()


class ShuffledAgain(Repeat):
    """Shuffled epochs, one after another, whose order is told by the same words, which go on."""

    source: Shuffle

    def walk(self, iteration: Iteration) -> Iterator[Item]:
        """See `Reordered`."""
        words = one_by_one(self.source.words())
        return self.again(partial(self.source.walk_by, words, iteration.at(_SOURCE)), is_element)

    def blocks(self, iteration: Iteration) -> Iterator[Any]:
        """See `Dataset`."""
        words = self.source.words()
        return self.again(partial(self.source.blocks_by, words, iteration.at(_SOURCE)), is_block)


_SOURCE = "shuffled"  # which TensorFlow begins when it is asked for the first element
_PIECE = 16384  # positions that are shuffled at once


def _emptied(elements: list[Any], words: Iterator[int]) -> Iterator[Item]:
    """Yield elements in the order that `words` tell, when there are no more than these."""
    order = _Buffer()
    order.add(np.arange(len(elements)))
    for places in order.emptied(partial(np.fromiter, words, np.int64)):
        yield from map(elements.__getitem__, places.tolist())
        yield TICK


class _Buffer:
    """Positions that wait to be drawn; those that left stay where they are, in front of it."""

    def __init__(self) -> None:
        self._room = np.empty(0, np.int64)
        self._begin = self._end = 0

    def __len__(self) -> int:
        return self._end - self._begin

    def positions(self) -> Any:
        """Return the positions that wait."""
        return self._room[self._begin : self._end]

    def add(self, block: Any) -> None:
        """Take positions in, behind the others."""
        if self._end + len(block) > len(self._room):
            held = self.positions()
            self._room = np.empty(2 * (len(held) + len(block)), np.int64)
            self._room[: len(held)] = held
            self._begin, self._end = 0, len(held)
        self._room[self._end : self._end + len(block)] = block
        self._end += len(block)

    def taken(self, places: Any) -> Any:
        """Return the positions that leave in turn, from places counted from what is first then."""
        count = len(places)
        found = self.positions()
        exchange(found, np.arange(count) + places)
        self._begin += count
        return found[:count]

    def emptied(self, words: Callable[[int], Any]) -> Iterator[Any]:
        """Yield all positions, some at a time; nothing is added any more."""
        while size := len(self):
            count = min(size, _PIECE)
            yield self.taken(words(count) % np.arange(size, size - count, -1, dtype=np.uint32))


def _shuffled(source: Dataset, size: Any, seeds: tuple[Any, Any], anew: bool) -> Shuffle:
    check(size > 0, "buffer_size must be greater than zero.")
    return Shuffle(source, int(size), (int(seeds[0]), int(seeds[1])), anew)


@SHUFFLE.kernel
@SHUFFLE_V3.kernel
def shuffle_kernel(
    input_dataset: Dataset,
    buffer_size: Any,
    seed: Any,
    seed2: Any,
    seed_generator: Any = None,
    *,
    reshuffle_each_iteration: bool,
) -> Dataset:
    return _shuffled(input_dataset, buffer_size, (seed, seed2), reshuffle_each_iteration)


@SHUFFLE_V2.kernel
def shuffle_v2_kernel(input_dataset: Dataset, buffer_size: Any, seed_generator: Any) -> Dataset:
    return _shuffled(input_dataset, buffer_size, *seed_generator)


def _again(shuffled: Shuffle, count: Any) -> Dataset:
    check(count > 0 or count == -1, "count must be greater than zero or equal to -1.")
    return ShuffledAgain(shuffled, int(count))


@SHUFFLE_AND_REPEAT.kernel
def shuffle_and_repeat_kernel(
    input_dataset: Dataset, buffer_size: Any, seed: Any, seed2: Any, count: Any
) -> Dataset:
    shuffled = _shuffled(input_dataset, buffer_size, (seed, seed2), True)
    return _again(shuffled, count)


@SHUFFLE_AND_REPEAT_V2.kernel
def shuffle_and_repeat_v2_kernel(
    input_dataset: Dataset,
    buffer_size: Any,
    seed: Any,
    seed2: Any,
    count: Any,
    seed_generator: Any,
    *,
    reshuffle_each_iteration: bool,
) -> Dataset:
    shuffled = _shuffled(input_dataset, buffer_size, (seed, seed2), reshuffle_each_iteration)
    return Repeat(shuffled, int(count))


# resources that tell seeds


class SeedGenerator(NamedTuple):
    """Seeds that datasets share.

    Attributes:
      seeds: two; 0 and 0 if nobody can predict the order.
      anew: whether each epoch has an order of its own.
    """

    seeds: tuple[int, int]
    anew: bool


_MADE = "handle: resource, deleter: variant"
ANONYMOUS_SEEDS = OpDef(
    f"AnonymousSeedGenerator(seed: int64, seed2: int64, reshuffle: bool) -> {_MADE} !"
)
ANONYMOUS_RANDOM_SEEDS = OpDef(
    f"AnonymousRandomSeedGenerator(seed: int64, seed2: int64) -> {_MADE} !"
)
NO_SEEDS = OpDef("DummySeedGenerator() -> handle: resource !")
DELETE_SEEDS = OpDef("DeleteSeedGenerator(handle: resource, deleter: variant) -> () !")
DELETE_RANDOM_SEEDS = OpDef("DeleteRandomSeedGenerator(handle: resource, deleter: variant) -> () !")
for _op in (ANONYMOUS_SEEDS, ANONYMOUS_RANDOM_SEEDS):
    _op.not_differentiable().shape(lambda *_: [(), ()])
NO_SEEDS.not_differentiable().shape(lambda: ())


@ANONYMOUS_SEEDS.kernel
@ANONYMOUS_RANDOM_SEEDS.kernel
def seeds_kernel(seed: Any, seed2: Any, reshuffle: Any = True) -> list[Any]:
    return [SeedGenerator((int(seed), int(seed2)), bool(reshuffle)), None]


@NO_SEEDS.kernel
def no_seeds_kernel() -> SeedGenerator:
    return SeedGenerator((0, 0), True)


@DELETE_SEEDS.not_differentiable().kernel
@DELETE_RANDOM_SEEDS.not_differentiable().kernel
def delete_seeds_kernel(handle: Any, deleter: Any) -> None:
    """Do nothing: nobody counts what refers to a generator."""
