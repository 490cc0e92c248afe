"""Functions applied to elements: map, filter, scan, take_while, reduce; what fails is told or left.

Calls stand in the order of the elements; `num_parallel_calls` is accepted, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError, OpError, OutOfRangeError
from tfdist.graph.items import Failure
from tfdist.graph.op_def import OpDef
from tfdist.ops.dataset.dataset_value import (
    OTHERS,
    TYPES,
    Dataset,
    Function,
    Item,
    Iteration,
    called,
    check,
    dataset_op,
    function,
    taken,
)

_INPUTS = "input_dataset: variant, other_arguments: Targuments"
_INTER_OP = "use_inter_op_parallelism: bool = True"
_KEEPS = "preserve_cardinality: bool = False"

MAP = dataset_op("MapDataset", _INPUTS, f"f: func; {OTHERS}; {TYPES}; {_INTER_OP}; {_KEEPS}")
FILTER = dataset_op("FilterDataset", _INPUTS, f"predicate: func; {OTHERS}; {TYPES}")
_TOLD = "deterministic: string = 'default'"
PARALLEL_FILTER = dataset_op(
    "ParallelFilterDataset",
    f"{_INPUTS}, num_parallel_calls: int64",
    f"predicate: func; {_TOLD}; {OTHERS}; {TYPES}",
)
TAKE_WHILE = dataset_op("TakeWhileDataset", _INPUTS, f"predicate: func; {OTHERS}; {TYPES}")
SCAN = dataset_op(
    "ScanDataset",
    "input_dataset: variant, initial_state: Tstate, other_arguments: Targuments",
    f"f: func; Tstate: list(type) >=1; {OTHERS}; {TYPES}; {_KEEPS}",
)
IGNORE_ERRORS = dataset_op("IgnoreErrorsDataset", "input_dataset: variant")


class Map(Dataset):
    """A function of each element.

    If the function ends the sequence (with OutOfRangeError), so it is, unless `keeps` says that
    there must be as many results as elements.
    """

    def __init__(self, source: Dataset, f: Function, keeps: bool = False) -> None:
        self._source, self._function, self._keeps = source, f, keeps

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        call = self._function.bound(iteration)
        now = None if call.is_slow else call.now
        for item in self._source.items(iteration):
            if item.__class__ is not tuple:
                yield item
                continue
            found = now(item) if now is not None else (yield from called(call, item))
            if found.__class__ is Failure and isinstance(found.error, OutOfRangeError):
                if not self._keeps:
                    return
                found = ended(found.error)
            yield found

    def cardinality(self) -> int:
        """See `Dataset`."""
        return self._source.cardinality()


def ended(error: OpError) -> Failure:
    """Return what stands for the result of a function that must not end the sequence."""
    text = f"Function invocation produced OutOfRangeError: {error.message}"
    return Failure(InvalidArgumentError(text))


@MAP.kernel
def map_kernel(
    ctx: Any,
    input_dataset: Dataset,
    other_arguments: list[Any],
    *,
    f: Any,
    preserve_cardinality: bool,
) -> Dataset:
    return Map(input_dataset, function(ctx, f, other_arguments), preserve_cardinality)


class Filter(Dataset):
    """The elements for which a function gives true."""

    def __init__(self, source: Dataset, f: Function) -> None:
        self._source, self._function = source, f

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        call = self._function.bound(iteration)
        now = None if call.is_slow else call.now
        for item in self._source.items(iteration):
            if item.__class__ is not tuple:
                yield item
                continue
            found = now(item) if now is not None else (yield from called(call, item))
            if found.__class__ is Failure:
                yield found
            elif found[0]:
                yield item


@FILTER.kernel
@PARALLEL_FILTER.kernel
def filter_kernel(
    ctx: Any,
    input_dataset: Dataset,
    other_arguments: list[Any],
    num_parallel_calls: Any = None,
    *,
    predicate: Any,
) -> Dataset:
    return Filter(input_dataset, function(ctx, predicate, other_arguments))


class TakeWhile(Dataset):
    """The elements before the first one for which a function gives false."""

    def __init__(self, source: Dataset, f: Function) -> None:
        self._source, self._function = source, f

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        call = self._function.bound(iteration)
        for item in self._source.items(iteration):
            if item.__class__ is tuple:
                found = yield from called(call, item)
                if found.__class__ is Failure:
                    item = found
                elif not found[0]:
                    return
            yield item


@TAKE_WHILE.kernel
def take_while_kernel(
    ctx: Any, input_dataset: Dataset, other_arguments: list[Any], *, predicate: Any
) -> Dataset:
    return TakeWhile(input_dataset, function(ctx, predicate, other_arguments))


class Scan(Dataset):
    """A function of a state and each element, which gives the next state and a result."""

    def __init__(self, source: Dataset, state: Sequence[Any], f: Function, keeps: bool) -> None:
        self._source, self._state, self._function = source, tuple(state), f
        self._keeps = keeps

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        call, state = self._function.bound(iteration), self._state
        for item in self._source.items(iteration):
            if item.__class__ is tuple:
                found = yield from called(call, state + item)
                if found.__class__ is Failure:
                    if isinstance(found.error, OutOfRangeError) and not self._keeps:
                        return
                    item = found
                else:
                    state, item = found[: len(state)], found[len(state) :]
            yield item


@SCAN.kernel
def scan_kernel(
    ctx: Any,
    input_dataset: Dataset,
    initial_state: list[Any],
    other_arguments: list[Any],
    *,
    f: Any,
    preserve_cardinality: bool,
) -> Dataset:
    f = function(ctx, f, other_arguments)
    return Scan(input_dataset, initial_state, f, preserve_cardinality)


class IgnoreErrors(Dataset):
    """The elements that can be had."""

    def __init__(self, source: Dataset) -> None:
        self._source = source

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        for item in self._source.items(iteration):
            if item.__class__ is Failure and isinstance(item.error, OpError):
                continue
            yield item


@IGNORE_ERRORS.kernel
def ignore_errors_kernel(input_dataset: Dataset) -> Dataset:
    return IgnoreErrors(input_dataset)


# what takes all elements in one step

REDUCE = OpDef(
    "ReduceDataset(input_dataset: variant, initial_state: Tstate, other_arguments: Targuments) -> "
    f"components: output_types [f: func; Tstate: list(type) >=1; {OTHERS}; {TYPES}; {_INTER_OP}] !",
    may_run_on=True,
).not_differentiable()
SINGLE_ELEMENT = OpDef(
    f"DatasetToSingleElement(dataset: variant) -> components: output_types [{TYPES}] !",
    may_run_on=True,
).not_differentiable()
CARDINALITY = OpDef("DatasetCardinality(input_dataset: variant) -> cardinality: int64")


@SINGLE_ELEMENT.shape
@REDUCE.shape
def told_shape(*_: Any, output_shapes: list[Any]) -> list[Shape]:
    return [shape.as_tuple() for shape in output_shapes]


@CARDINALITY.not_differentiable().shape
def cardinality_shape(input_dataset: Shape) -> Shape:
    return ()


@REDUCE.kernel
def reduce_kernel(
    ctx: Any,
    input_dataset: Dataset,
    initial_state: list[Any],
    other_arguments: list[Any],
    *,
    f: Any,
) -> Generator[Any, Any, Any]:
    iteration = Iteration(ctx)
    call = function(ctx, f, other_arguments).bound(iteration)
    items = input_dataset.items(iteration)
    state: Any = tuple(initial_state)
    while (element := (yield from taken(iteration, items))) is not None:
        state = yield from taken(iteration, _once(called(call, state + element)))
    return state


def _once(call: Generator[Item, None, Any]) -> Iterator[Item]:
    """Return a call as a pipeline of one element."""
    yield (yield from call)


@SINGLE_ELEMENT.kernel
def single_element_kernel(ctx: Any, dataset: Dataset) -> Generator[Any, Any, Any]:
    iteration = Iteration(ctx)
    items = dataset.items(iteration)
    element = yield from taken(iteration, items)
    check(element is not None, "Dataset was empty.")
    check((yield from taken(iteration, items)) is None, "Dataset had more than one element.")
    return element


@CARDINALITY.kernel
def cardinality_kernel(input_dataset: Dataset) -> Any:
    return np.int64(input_dataset.cardinality())
