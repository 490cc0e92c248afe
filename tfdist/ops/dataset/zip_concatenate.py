"""Elements of several datasets: beside each other, behind each other, chosen by another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tfdist.errors import InvalidArgumentError
from tfdist.graph.items import Failure
from tfdist.ops.dataset.dataset_value import (
    INFINITE,
    TYPES,
    UNKNOWN,
    Dataset,
    Item,
    Iteration,
    dataset_op,
)
from tfdist.ops.dataset.random_access import ZippedRows
from tfdist.ops.dataset.sources import Base

ZIP = dataset_op("ZipDataset", "input_datasets: N*variant", f"{TYPES}; N: int >=1")
CONCATENATE = dataset_op("ConcatenateDataset", "input_dataset: variant, another_dataset: variant")
DIRECTED = dataset_op(
    "DirectedInterleaveDataset",
    "selector_input_dataset: variant, data_input_datasets: N*variant",
    f"{TYPES}; N: int >=1; stop_on_empty_dataset: bool = False",
)


class Zip(Dataset):
    """Elements side by side, until one of the datasets ends."""

    def __init__(self, sources: Sequence[Dataset]) -> None:
        self._sources = sources

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        sources = enumerate(self._sources)
        iterators = [source.items(iteration.at(number)) for number, source in sources]
        while True:
            parts: tuple[Any, ...] = ()
            for iterator in iterators:
                for item in iterator:
                    if item.__class__ is tuple:
                        parts += item
                        break
                    yield item
                else:
                    return
            yield parts

    def cardinality(self) -> int:
        """See `Dataset`."""
        each = [source.cardinality() for source in self._sources]
        if UNKNOWN in each:
            return UNKNOWN
        return min((count for count in each if count >= 0), default=INFINITE)


@ZIP.kernel
def zip_kernel(input_datasets: list[Dataset]) -> Dataset:
    if all(source.is_base for source in input_datasets):
        return Base(ZippedRows([source.rows for source in input_datasets if source.rows]))
    return Zip(input_datasets)


class Concatenate(Dataset):
    """All of one dataset, then all of another one."""

    def __init__(self, sources: Sequence[Dataset]) -> None:
        self._sources = sources

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        for number, source in enumerate(self._sources):
            yield from source.items(iteration.at(f"part {number}" if number else 0))

    def cardinality(self) -> int:
        """See `Dataset`."""
        each = [source.cardinality() for source in self._sources]
        if INFINITE in each:
            return INFINITE
        return UNKNOWN if UNKNOWN in each else sum(each)


@CONCATENATE.kernel
def concatenate_kernel(input_dataset: Dataset, another_dataset: Dataset) -> Dataset:
    return Concatenate([input_dataset, another_dataset])


class Directed(Dataset):
    """Each element from the dataset whose number another dataset gives.

    It ends with the numbers, or when all datasets have; numbers of those that have ended are
    passed over, unless it `stops` at the end of any.
    """

    def __init__(self, selector: Dataset, sources: Sequence[Dataset], stops: bool = False) -> None:
        self._selector, self._sources, self._stops = selector, sources, stops

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        iterators: dict[int, Iterator[Item]] = {
            number: source.items(iteration.at(number))
            for number, source in enumerate(self._sources)
        }
        for chosen in self._selector.items(iteration.at(len(self._sources))):
            if chosen.__class__ is not tuple:
                yield chosen
                continue
            number = int(chosen[0])
            if not 0 <= number < len(self._sources):
                text = f"Selector index out of range: {number} >= {len(self._sources)}"
                yield Failure(InvalidArgumentError(text))
            for item in iterators.get(number, ()):
                yield item
                if item.__class__ is tuple:
                    break
            else:
                iterators.pop(number, None)
                if self._stops or not iterators:
                    return


@DIRECTED.kernel
def directed_kernel(
    selector_input_dataset: Dataset,
    data_input_datasets: list[Dataset],
    *,
    stop_on_empty_dataset: bool,
) -> Dataset:
    return Directed(selector_input_dataset, data_input_datasets, stop_on_empty_dataset)


class Unique(Dataset):
    """Elements of one component, each value once."""

    def __init__(self, source: Dataset) -> None:
        self._source = source

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        seen: set[Any] = set()
        for item in self._source.items(iteration):
            if item.__class__ is tuple:
                key = _key(item[0])
                if key in seen:
                    continue
                seen.add(key)
            yield item


def _key(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes() if value.dtype != object else tuple(value.flat)
    return value


UNIQUE = dataset_op("UniqueDataset", "input_dataset: variant")


@UNIQUE.kernel
def unique_kernel(input_dataset: Dataset) -> Dataset:
    return Unique(input_dataset)
