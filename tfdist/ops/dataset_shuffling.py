"""Elements in random order.

TensorFlow 2 has newer ops for the same; what they have besides is a resource that draws seeds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tfdist.graph.items import TICK
from tfdist.graph.op_def import OpDef
from tfdist.ops.dataset import TYPES, Dataset, Item, Iteration, check, dataset_op, is_block
from tfdist.ops.dataset_order import Reordered, Repeat
from tfdist.ops.dataset_rows import as_array
from tfdist.ops.dataset_sources import generator_of

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


@SHUFFLE_AND_REPEAT.kernel
def shuffle_and_repeat_kernel(
    input_dataset: Dataset, buffer_size: Any, seed: Any, seed2: Any, count: Any
) -> Dataset:
    return Repeat(_shuffled(input_dataset, buffer_size, (seed, seed2), True), int(count))


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
