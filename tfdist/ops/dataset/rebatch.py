"""Batches of other sizes, windows as batches, and one result for each key."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator, Sequence
from itertools import cycle
from typing import Any

import numpy as np

from tfdist.errors import OpError
from tfdist.graph.items import Failure
from tfdist.ops.dataset.batch import Window
from tfdist.ops.dataset.dataset_value import (
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
    failure_of,
    function,
    stacked,
)

REBATCH = dataset_op(
    "RebatchDataset",
    "input_dataset: variant, num_replicas: int64",
    f"{TYPES}; use_fallback: bool = True",
)
REBATCH_V2 = dataset_op(
    "RebatchDatasetV2", "input_dataset: variant, batch_sizes: int64, drop_remainder: bool"
)
SLIDING_WINDOW = dataset_op(
    "SlidingWindowDataset",
    "input_dataset: variant, window_size: int64, window_shift: int64, window_stride: int64",
    f"drop_remainder: bool = True; {TYPES}",
)
_FUNCTIONS = ("key_func", "init_func", "reduce_func", "finalize_func")
GROUP_BY_REDUCER = dataset_op(
    "GroupByReducerDataset",
    ", ".join(
        ["input_dataset: variant", *(f"{f}_other_arguments: T{f}_other_arguments"
                                     for f in _FUNCTIONS)]
    ),
    "; ".join(
        [*(f"{f}: func" for f in _FUNCTIONS),
         *(f"T{f}_other_arguments: list(type) >=0" for f in _FUNCTIONS), TYPES]
    ),
    stateful=True,
)  # fmt: skip


class Rebatch(Dataset):
    """The rows of batches, in batches of other sizes, which come in turn."""

    def __init__(self, source: Dataset, sizes: Sequence[int], drops_rest: bool) -> None:
        check(all(size > 0 for size in sizes), "batch_sizes must be greater than zero.")
        self._source, self._sizes, self._drops_rest = source, sizes, drops_rest

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        held: deque[Element] = deque()
        count, sizes = 0, cycle(self._sizes)
        size = next(sizes)
        for item in self._source.items(iteration):
            if item.__class__ is not tuple:
                yield item
                continue
            held.append(item)
            count += len(item[0])
            while count >= size:
                yield _rows(held, size)
                count -= size
                size = next(sizes)
        if count and not self._drops_rest:
            yield _rows(held, count)


def _rows(held: deque[Element], count: int) -> Item:
    """Take the first rows of batches."""
    parts = []
    while count:
        batch = held.popleft()
        there = len(batch[0])
        if there > count:
            held.appendleft(tuple([array[count:] for array in batch]))
            batch, there = tuple([array[:count] for array in batch]), count
        parts.append(batch)
        count -= there
    if len(parts) == 1:
        return parts[0]
    try:
        return tuple([np.concatenate(arrays) for arrays in zip(*parts, strict=True)])
    except ValueError as error:
        return failure_of(error)


@REBATCH_V2.kernel
def rebatch_v2_kernel(input_dataset: Dataset, batch_sizes: Any, drop_remainder: Any) -> Dataset:
    sizes = [int(size) for size in np.ravel(batch_sizes)]
    return Rebatch(input_dataset, sizes, bool(drop_remainder))


class Shares(Dataset):
    """Each batch in as many as there are replicas, which share its rows."""

    def __init__(self, source: Dataset, replicas: int) -> None:
        check(replicas > 0, "num_replicas must be greater than zero.")
        self._source, self._replicas = source, replicas

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        for item in self._source.items(iteration):
            if item.__class__ is not tuple:
                yield item
                continue
            size = -(-len(item[0]) // self._replicas)
            for place in range(self._replicas):
                yield tuple([array[place * size : (place + 1) * size] for array in item])


@REBATCH.kernel
def rebatch_kernel(input_dataset: Dataset, num_replicas: Any) -> Dataset:
    return Shares(input_dataset, int(num_replicas))


class SlidingWindow(Window):
    """Windows of elements as batches."""

    def joined(self, elements: Sequence[Element]) -> Item:
        """See `Window`."""
        try:
            return tuple([stacked(parts) for parts in zip(*elements, strict=True)])
        except (OpError, ValueError, TypeError) as error:
            return failure_of(error)


@SLIDING_WINDOW.kernel
def sliding_window_kernel(
    input_dataset: Dataset,
    window_size: Any,
    window_shift: Any,
    window_stride: Any,
    *,
    drop_remainder: bool,
) -> Dataset:
    check(window_size > 0, "Window size must be greater than zero.")
    check(window_shift > 0, "Window shift must be greater than zero.")
    check(window_stride > 0, "window_stride must be greater than zero.")
    numbers = int(window_size), int(window_shift), int(window_stride)
    return SlidingWindow(input_dataset, *numbers, drop_remainder)


class GroupByReducer(Dataset):
    """One result for each key, in the order of the keys, when all elements have come.

    Args:
      source: the elements.
      key: gives the key of an element.
      begin: gives the first state of a key.
      reduce: gives the next state of a state and an element.
      finish: gives the result of the last state.
    """

    def __init__(
        self, source: Dataset, key: Function, begin: Function, reduce: Function, finish: Function
    ) -> None:
        self._source, self._functions = source, (key, begin, reduce, finish)

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        *calls, finish = [each.bound(iteration) for each in self._functions]
        states: dict[int, Element] = {}
        for item in self._source.items(iteration):
            if item.__class__ is tuple:
                item = yield from _summed(calls, states, item)
            if item is not None:
                yield item
        for number in sorted(states):
            yield (yield from called(finish, states[number]))


def _summed(
    calls: Sequence[Call], states: dict[int, Element], element: Element
) -> Generator[Item, None, Failure | None]:
    """Add an element to the state of its key; returns what fails."""
    key_of, begin, reduce = calls
    key: Any = yield from called(key_of, element)
    if key.__class__ is Failure:
        return key  # type: ignore[no-any-return]
    number = int(key[0])
    state: Any = states.get(number)
    if state is None:
        state = yield from called(begin, key)
    if state.__class__ is tuple:
        state = yield from called(reduce, state + element)
    if state.__class__ is Failure:
        return state  # type: ignore[no-any-return]
    states[number] = state
    return None


@GROUP_BY_REDUCER.kernel
def group_by_reducer_kernel(
    ctx: Any,
    input_dataset: Dataset,
    key_func_other_arguments: list[Any],
    init_func_other_arguments: list[Any],
    reduce_func_other_arguments: list[Any],
    finalize_func_other_arguments: list[Any],
    *,
    key_func: Any,
    init_func: Any,
    reduce_func: Any,
    finalize_func: Any,
) -> Dataset:
    return GroupByReducer(
        input_dataset,
        function(ctx, key_func, key_func_other_arguments),
        function(ctx, init_func, init_func_other_arguments),
        function(ctx, reduce_func, reduce_func_other_arguments),
        function(ctx, finalize_func, finalize_func_other_arguments),
    )
