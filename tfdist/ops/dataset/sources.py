"""Where elements come from: tensors, their slices, ranges, random numbers, generators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tfdist.base.dtypes import DType
from tfdist.base.shuffling import words_of
from tfdist.errors import InvalidArgumentError, OutOfRangeError
from tfdist.graph.items import TICK, Failure
from tfdist.ops.dataset.dataset_value import (
    INFINITE,
    TYPES,
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
from tfdist.ops.dataset.random_access import ArrayRows, RangeRows, Rows

_COMPONENTS = "components: Toutput_types"
_COMPONENT_ATTRS = "Toutput_types: list(type) >=1; output_shapes: list(shape) >=1"

TENSOR = dataset_op("TensorDataset", _COMPONENTS, _COMPONENT_ATTRS, stateful=True)
TENSOR_SLICE = dataset_op("TensorSliceDataset", _COMPONENTS, _COMPONENT_ATTRS, stateful=True)
RANGE = dataset_op("RangeDataset", "start: int64, stop: int64, step: int64", stateful=True)
RANDOM = dataset_op("RandomDataset", "seed: int64, seed2: int64", stateful=True)
RANDOM_V2 = dataset_op(
    "RandomDatasetV2",
    "seed: int64, seed2: int64, seed_generator: resource",
    f"rerandomize_each_iteration: bool = False; {TYPES}",
    stateful=True,
)
LIST = dataset_op(
    "ListDataset", "tensors: Tinput_types", f"Tinput_types: list(type) >=1; {TYPES}", stateful=True
)
GENERATOR = dataset_op(
    "GeneratorDataset",
    "init_func_other_args: Tinit_func_args, next_func_other_args: Tnext_func_args, "
    "finalize_func_other_args: Tfinalize_func_args",
    "init_func: func; next_func: func; finalize_func: func; Tinit_func_args: list(type) >=0; "
    f"Tnext_func_args: list(type) >=0; Tfinalize_func_args: list(type) >=0; {TYPES}",
    stateful=True,
)


class Elements(Dataset):
    """Elements that are there already."""

    def __init__(self, elements: Sequence[Element]) -> None:
        self._elements = elements

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        yield from self._elements

    def cardinality(self) -> int:
        """See `Dataset`."""
        return len(self._elements)


class Base(Dataset):
    """All rows, in order."""

    is_base = True

    def __init__(self, rows: Rows) -> None:
        self.rows: Rows = rows

    def blocks(self, iteration: Iteration) -> Iterator[Any]:
        """See `Dataset`."""
        if self.rows.count:
            yield range(self.rows.count)

    def cardinality(self) -> int:
        """See `Dataset`."""
        return self.rows.count


@TENSOR.kernel
def tensor_kernel(components: list[Any]) -> Dataset:
    return Elements([tuple(components)])


@TENSOR_SLICE.kernel
def tensor_slice_kernel(components: list[Any]) -> Dataset:
    for component in components:
        check(np.ndim(component) > 0, "All components must be at least 1-dimensional")
    check(
        len({len(component) for component in components}) == 1,
        "All components must have the same size in the 0th dimension",
    )
    return Base(ArrayRows(components))


@LIST.kernel
def list_kernel(tensors: list[Any], *, output_types: list[DType]) -> Dataset:
    width = len(output_types)
    places = range(0, len(tensors), width)
    return Elements([tuple(tensors[place : place + width]) for place in places])


@RANGE.kernel
def range_kernel(start: Any, stop: Any, step: Any, *, output_types: list[DType]) -> Dataset:
    check(step != 0, "step must be a non-zero integer.")
    numbers = range(int(start), int(stop), int(step))
    return Base(RangeRows(numbers, output_types[0].as_numpy_dtype))


class Random(Dataset):
    """Random int64 numbers of 32 bits, without end."""

    def __init__(self, seeds: tuple[int, int]) -> None:
        self._seeds = seeds

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        words = words_of(*self._seeds)
        while True:
            for number in words.take(256).astype(np.int64):
                yield (number,)
            yield TICK

    def cardinality(self) -> int:
        """See `Dataset`."""
        return INFINITE


@RANDOM.kernel
@RANDOM_V2.kernel
def random_kernel(seed: Any, seed2: Any, seed_generator: Any = None) -> Dataset:
    return Random((int(seed), int(seed2)))


class Generator(Dataset):
    """What a function gives again and again, until it raises OutOfRangeError.

    Args:
      begin: gives the state, which the others take as their argument.
      following: gives an element.
      finish: is called in the end, or when nobody wants more.
    """

    def __init__(self, begin: Function, following: Function, finish: Function) -> None:
        self._begin, self._following, self._finish = begin, following, finish

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        state = yield from called(self._begin.bound(iteration), ())
        if state.__class__ is not tuple:
            yield state
            return
        following, finish = self._following.bound(iteration), self._finish.bound(iteration)
        try:
            while True:
                found = yield from called(following, state)
                if found.__class__ is Failure and isinstance(found.error, OutOfRangeError):
                    break
                yield found
        finally:
            if finish.now is not None:
                finish.now(state)


@GENERATOR.kernel
def generator_kernel(
    ctx: Any,
    init_func_other_args: list[Any],
    next_func_other_args: list[Any],
    finalize_func_other_args: list[Any],
    *,
    init_func: Any,
    next_func: Any,
    finalize_func: Any,
) -> Dataset:
    return Generator(
        function(ctx, init_func, init_func_other_args),
        function(ctx, next_func, next_func_other_args),
        function(ctx, finalize_func, finalize_func_other_args),
    )


def scalar(value: Any, name: str) -> int:
    """Return an input that must be a whole number; InvalidArgumentError if it is an array."""
    if np.ndim(value):
        raise InvalidArgumentError(f"{name} must be a scalar")
    return int(value)
