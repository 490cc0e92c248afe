"""Which elements, and how often: take, skip, repeat, shard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tfdist.errors import FailedPreconditionError
from tfdist.graph.items import TICK, Failure
from tfdist.ops.dataset.dataset_value import (
    INFINITE,
    TYPES,
    UNKNOWN,
    Dataset,
    Item,
    Iteration,
    check,
    dataset_op,
    is_block,
)

REPEAT = dataset_op("RepeatDataset", "input_dataset: variant, count: int64")
TAKE = dataset_op("TakeDataset", "input_dataset: variant, count: int64")
SKIP = dataset_op("SkipDataset", "input_dataset: variant, count: int64")
SHARD = dataset_op(
    "ShardDataset",
    "input_dataset: variant, num_shards: int64, index: int64",
    f"require_non_empty: bool = False; {TYPES}",
)
ASSERT_CARDINALITY = dataset_op(
    "AssertCardinalityDataset", "input_dataset: variant, cardinality: int64"
)
BY_LAST_COMPONENT = dataset_op(
    "FilterByLastComponentDataset", "input_dataset: variant", output="output"
)


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

    def repeated(self, count: int) -> Reordered | None:
        """Return what stands for its repetition where pipelines are optimized; None: nothing."""
        return None


class Optimized(Reordered):
    """A pipeline in which stages may be fused: it then gives what TensorFlow's fused ones give."""

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        iteration.state(Optimized, lambda: True)
        return self.source.items(iteration)

    def blocks(self, iteration: Iteration) -> Iterator[Any]:
        """See `Dataset`."""
        iteration.state(Optimized, lambda: True)
        return self.source.blocks(iteration)

    def cardinality(self) -> int:
        """See `Dataset`."""
        return self.source.cardinality()


def is_element(item: Item) -> bool:
    """Return whether an item of `items` is an element."""
    return item.__class__ is tuple


class Repeat(Reordered):
    """Its source again and again: `count` times, or without end if that is negative.

    Args:
      source: what is repeated.
      count: how often.
      fused: what stands for it where pipelines are optimized, if anything does.
    """

    def __init__(self, source: Dataset, count: int, fused: Reordered | None = None) -> None:
        super().__init__(source)
        self._count, self._fused = count, fused

    def walk(self, iteration: Iteration) -> Iterator[Item]:
        """See `Reordered`."""
        if self._fused is not None and iteration.state(Optimized, lambda: False):
            return self._fused.walk(iteration)
        source = self.source
        return self.again(lambda _: source.items(iteration), is_element, iteration.skip_epoch)

    def blocks(self, iteration: Iteration) -> Iterator[Any]:
        """See `Dataset`."""
        if self._fused is not None and iteration.state(Optimized, lambda: False):
            return self._fused.blocks(iteration)
        source = self.source
        return self.again(lambda _: source.blocks(iteration), is_block, iteration.skip_epoch)

    def again(
        self,
        walk: Callable[[bool], Iterator[Any]],
        counts: Callable[[Any], bool],
        end: Callable[[], None] = lambda: None,
    ) -> Iterator[Any]:
        """Yield the items of all epochs.

        Args:
          walk: gives those of one; it is told whether that is the last.
          counts: tells which of them are elements, or some.
          end: is called in the end. (TensorFlow begins its source anew whenever that has ended, in
            the end, too; if the source is shuffled, an epoch is lost.)
        """
        left = self._count
        while left:
            is_empty = True
            for item in walk(left == 1):
                if is_empty and counts(item):
                    is_empty = False
                yield item
            if is_empty and self._count < 0:
                return
            left -= 1
            if not left:
                end()
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


# what changes nothing is left out, as TensorFlow does before it fuses the others


@REPEAT.kernel
def repeat_kernel(input_dataset: Dataset, count: Any) -> Dataset:
    if count == 1:
        return input_dataset
    fused = input_dataset.repeated(int(count)) if isinstance(input_dataset, Reordered) else None
    return Repeat(input_dataset, int(count), fused)


@TAKE.kernel
def take_kernel(input_dataset: Dataset, count: Any) -> Dataset:
    return input_dataset if count < 0 else Take(input_dataset, int(count))


@SKIP.kernel
def skip_kernel(input_dataset: Dataset, count: Any) -> Dataset:
    return input_dataset if count == 0 else Skip(input_dataset, int(count))


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


class Counted(Dataset):
    """The elements of another dataset, which must be as many as was promised."""

    def __init__(self, source: Dataset, promised: int) -> None:
        self._source, self._promised = source, promised

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        count = 0
        for item in self._source.items(iteration):
            if item.__class__ is tuple:
                count += 1
                if 0 <= self._promised < count:
                    yield Failure(self._broken(f"at least {count} elements"))
                    return
            yield item
        if count != self._promised != UNKNOWN:
            yield Failure(self._broken(f"only {count} {'element' if count == 1 else 'elements'}"))

    def cardinality(self) -> int:
        """See `Dataset`."""
        return self._promised

    def _broken(self, found: str) -> FailedPreconditionError:
        promised = {INFINITE: "an infinite number of elements"}.get(
            self._promised, f"{self._promised} elements"
        )
        return FailedPreconditionError(
            f"Input dataset was expected to contain {promised} but contained {found}."
        )


@ASSERT_CARDINALITY.kernel
def assert_cardinality_kernel(input_dataset: Dataset, cardinality: Any) -> Dataset:
    return Counted(input_dataset, int(cardinality))


class ByLastComponent(Dataset):
    """The elements whose last component is true, without it."""

    def __init__(self, source: Dataset) -> None:
        self._source = source

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        for item in self._source.items(iteration):
            if item.__class__ is not tuple:
                yield item
            elif item[-1]:
                yield item[:-1]


@BY_LAST_COMPONENT.kernel
def by_last_component_kernel(input_dataset: Dataset) -> Dataset:
    return ByLastComponent(input_dataset)
