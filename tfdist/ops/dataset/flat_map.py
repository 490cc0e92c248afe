"""Functions that give datasets: flat_map, interleave, group_by_window."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy as np

from tfdist.errors import InvalidArgumentError
from tfdist.graph.items import Failure
from tfdist.ops.dataset.dataset_value import (
    OTHERS,
    TYPES,
    Call,
    Dataset,
    Element,
    Function,
    Item,
    Iteration,
    called,
    check,
    dataset_op,
    function,
)
from tfdist.ops.dataset.prefetch import Prefetch
from tfdist.ops.dataset.sources import Elements

_INPUTS = "input_dataset: variant, other_arguments: Targuments"
_CYCLE = "cycle_length: int64, block_length: int64"
_F = f"f: func; {OTHERS}; {TYPES}"

FLAT_MAP = dataset_op("FlatMapDataset", _INPUTS, _F)
INTERLEAVE = dataset_op("InterleaveDataset", f"{_INPUTS}, {_CYCLE}", _F)
PARALLEL_INTERLEAVE = dataset_op(
    "ParallelInterleaveDataset",
    f"{_INPUTS}, {_CYCLE}, sloppy: bool, buffer_output_elements: int64, "
    "prefetch_input_elements: int64",
    _F,
)
PARALLEL_INTERLEAVE_V2 = dataset_op(
    "ParallelInterleaveDatasetV2",
    f"{_INPUTS}, {_CYCLE}, num_parallel_calls: int64",
    f"{_F}; sloppy: bool = False",
)
_TOLD = "deterministic: string = 'default'"
_BUFFERS = "buffer_output_elements: int64, prefetch_input_elements: int64"
PARALLEL_INTERLEAVE_V3 = dataset_op(
    "ParallelInterleaveDatasetV3",
    f"{_INPUTS}, {_CYCLE}, num_parallel_calls: int64",
    f"f: func; {_TOLD}; {OTHERS}; {TYPES}",
)
PARALLEL_INTERLEAVE_V4 = dataset_op(
    "ParallelInterleaveDatasetV4",
    f"{_INPUTS}, {_CYCLE}, {_BUFFERS}, num_parallel_calls: int64",
    f"f: func; {_TOLD}; {OTHERS}; {TYPES}",
)
LEGACY_PARALLEL_INTERLEAVE_V2 = dataset_op(
    "LegacyParallelInterleaveDatasetV2",
    f"{_INPUTS}, {_CYCLE}, {_BUFFERS}",
    f"f: func; {_TOLD}; {OTHERS}; {TYPES}",
)
_GROUP_FUNCTIONS = ("key_func", "reduce_func", "window_size_func")
GROUP_BY_WINDOW = dataset_op(
    "GroupByWindowDataset",
    ", ".join(
        ["input_dataset: variant", *(f"{f}_other_arguments: T{f}_other_arguments"
                                     for f in _GROUP_FUNCTIONS)]
    ),
    "; ".join(
        [*(f"{f}: func" for f in _GROUP_FUNCTIONS),
         *(f"T{f}_other_arguments: list(type) >=0" for f in _GROUP_FUNCTIONS), TYPES]
    ),
)  # fmt: skip

Opened = Iterator[Item]


def opened(
    iteration: Iteration,
    call: Call,
    element: Element,
    changed: Callable[[Dataset], Dataset] = lambda dataset: dataset,
) -> Generator[Item, None, Opened | Failure]:
    """Return the items of the dataset that a function gives, `changed`, or a Failure."""
    found = yield from called(call, element)
    if found.__class__ is Failure:
        return found  # type: ignore[return-value]
    if not isinstance(found[0], Dataset):
        return Failure(InvalidArgumentError("The function must return a dataset."))
    return changed(found[0]).items(iteration)


class FlatMap(Dataset):
    """The elements of the dataset that a function gives for each element."""

    def __init__(self, source: Dataset, f: Function) -> None:
        self._source, self._function = source, f

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        call, before = self._function.bound(iteration), iteration.times()
        for item in self._source.items(iteration.at(0)):
            if item.__class__ is not tuple:
                yield item
                continue
            inner = yield from opened(iteration.alone(before), call, item)
            if inner.__class__ is Failure:
                yield inner
            else:
                yield from inner


@FLAT_MAP.kernel
def flat_map_kernel(
    ctx: Any, input_dataset: Dataset, other_arguments: list[Any], *, f: Any
) -> Dataset:
    return FlatMap(input_dataset, function(ctx, f, other_arguments))


class Interleave(Dataset):
    """Blocks of elements in turn from `cycle` datasets that a function gives.

    Args:
      source: for each of its elements there is a dataset.
      f: gives them.
      cycle: number of datasets that are open at a time.
      block: number of elements that one gives in a row.
      ahead: number of elements of each that threads may make ahead.
    """

    def __init__(
        self, source: Dataset, f: Function, cycle: int, block: int, ahead: int = 0
    ) -> None:
        check(cycle > 0, "cycle_length must be greater than zero.")
        check(block > 0, "block_length must be greater than zero.")
        self._source, self._function, self._cycle, self._block = source, f, cycle, block
        self._ahead = ahead

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        call, before = self._function.bound(iteration), iteration.times()
        outer: Opened | None = self._source.items(iteration.at(0))
        places: list[Opened | None] = [None] * self._cycle
        number_open, place = 0, 0
        while outer is not None or number_open:
            inner = places[place]
            if inner is None and outer is not None:
                alone = iteration.alone(before) if self._ahead else iteration.at(f"turn {place}")
                made = yield from self._next(alone, call, outer)
                if made is None:
                    outer = None
                elif made.__class__ is not Failure:
                    places[place] = made
                    number_open += 1
                else:
                    yield made
                continue
            if inner is not None and not (yield from self._run(inner)):
                places[place] = None
                number_open -= 1
            place = (place + 1) % self._cycle

    def _next(self, iteration: Iteration, call: Call, outer: Opened) -> Generator[Item, None, Any]:
        """Return the items of the next dataset, None if there are no more."""
        for item in outer:
            if item.__class__ is tuple:
                return (yield from opened(iteration, call, item, self._prefetched))
            yield item
        return None

    def _prefetched(self, dataset: Dataset) -> Dataset:
        """Return a dataset whose elements threads may make ahead."""
        return Prefetch(dataset, self._ahead, self) if self._ahead else dataset

    def _run(self, inner: Opened) -> Generator[Item, None, bool]:
        """Yield a block; returns whether there may be more."""
        left = self._block
        for item in inner:
            yield item
            if item.__class__ is tuple or item.__class__ is Failure:
                left -= 1
                if not left:
                    return True
        return False


@INTERLEAVE.kernel
def interleave_kernel(
    ctx: Any,
    input_dataset: Dataset,
    other_arguments: list[Any],
    cycle_length: Any,
    block_length: Any,
    *,
    f: Any,
) -> Dataset:
    f = function(ctx, f, other_arguments)
    return Interleave(input_dataset, f, int(cycle_length), int(block_length))


@PARALLEL_INTERLEAVE.kernel
@LEGACY_PARALLEL_INTERLEAVE_V2.kernel
def parallel_interleave_kernel(
    ctx: Any,
    input_dataset: Dataset,
    other_arguments: list[Any],
    cycle_length: Any,
    block_length: Any,
    *numbers: Any,
    f: Any,
) -> Dataset:
    buffer_output_elements, prefetch_input_elements = numbers[-2:]
    check(buffer_output_elements > 0, "`buffer_output_elements` must be > 0")
    check(prefetch_input_elements >= 0, "`prefetch_input_elements` must be >= 0")
    f = function(ctx, f, other_arguments)
    ahead = int(buffer_output_elements)
    return Interleave(input_dataset, f, int(cycle_length), int(block_length), ahead)


@PARALLEL_INTERLEAVE_V2.kernel
@PARALLEL_INTERLEAVE_V3.kernel
@PARALLEL_INTERLEAVE_V4.kernel
def parallel_interleave_v2_kernel(
    ctx: Any,
    input_dataset: Dataset,
    other_arguments: list[Any],
    cycle_length: Any,
    block_length: Any,
    *numbers: Any,
    f: Any,
) -> Dataset:
    """Take what V4 says of buffers, and `num_parallel_calls`."""
    f, block = function(ctx, f, other_arguments), int(block_length)
    return Interleave(input_dataset, f, int(cycle_length), block, 2 * block)


class GroupByWindow(Dataset):
    """Elements by key; a function makes a dataset of each group as soon as it is large enough."""

    def __init__(self, source: Dataset, key: Function, reduce: Function, size: Function) -> None:
        self._source, self._functions = source, (key, reduce, size)

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        key_of, reduced, size_of = [each.bound(iteration) for each in self._functions]
        groups: dict[int, list[Element]] = {}
        sizes: dict[int, int] = {}
        for item in self._source.items(iteration.at(0)):
            key = (yield from called(key_of, item)) if item.__class__ is tuple else item
            if key.__class__ is not tuple:
                yield key
                continue
            number = int(key[0])
            if number not in groups:
                size = yield from _window_size(size_of, key)
                if size.__class__ is Failure:
                    yield size
                    continue
                groups[number], sizes[number] = [], size
            groups[number].append(item)
            if len(groups[number]) >= sizes[number]:
                yield from _flushed(iteration, reduced, key, groups.pop(number))
        for number in sorted(groups):
            yield from _flushed(iteration, reduced, (np.int64(number),), groups[number])


def _window_size(call: Call, key: Element) -> Generator[Item, None, Any]:
    """Return how large the group of a key may become, or a Failure."""
    found: Any = yield from called(call, key)
    if found.__class__ is Failure or int(found[0]) > 0:
        return found if found.__class__ is Failure else int(found[0])
    text = f"Window size must be greater than zero, but got {int(found[0])}."
    return Failure(InvalidArgumentError(text))


def _flushed(
    iteration: Iteration, call: Call, key: Element, group: list[Element]
) -> Iterator[Item]:
    inner = yield from opened(iteration.at("group"), call, (key[0], Elements(group)))
    if inner.__class__ is Failure:
        yield inner
    else:
        yield from inner


@GROUP_BY_WINDOW.kernel
def group_by_window_kernel(
    ctx: Any,
    input_dataset: Dataset,
    key_func_other_arguments: list[Any],
    reduce_func_other_arguments: list[Any],
    window_size_func_other_arguments: list[Any],
    *,
    key_func: Any,
    reduce_func: Any,
    window_size_func: Any,
) -> Dataset:
    return GroupByWindow(
        input_dataset,
        function(ctx, key_func, key_func_other_arguments),
        function(ctx, reduce_func, reduce_func_other_arguments),
        function(ctx, window_size_func, window_size_func_other_arguments),
    )
