"""Several elements as one, and one as several: batch, padded_batch, unbatch, window."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tfdist.errors import DataLossError, InvalidArgumentError, OpError
from tfdist.graph.items import TICK, Failure
from tfdist.ops.dataset.dataset_value import (
    TYPES,
    Dataset,
    Element,
    Item,
    Iteration,
    check,
    dataset_op,
    failure_of,
    is_block,
    stacked,
)
from tfdist.ops.dataset.random_access import Rows, as_array
from tfdist.ops.dataset.sources import Elements

BATCH = dataset_op("BatchDataset", "input_dataset: variant, batch_size: int64")
BATCH_V2 = dataset_op(
    "BatchDatasetV2",
    "input_dataset: variant, batch_size: int64, drop_remainder: bool",
    f"parallel_copy: bool = False; {TYPES}",
)
PARALLEL_BATCH = dataset_op(
    "ParallelBatchDataset",
    "input_dataset: variant, batch_size: int64, num_parallel_calls: int64, drop_remainder: bool",
    f"parallel_copy: bool = False; {TYPES}; deterministic: string = 'default'",
)
_PADDED = (
    "input_dataset: variant, batch_size: int64, padded_shapes: N*int64, "
    "padding_values: Toutput_types"
)
_PADDED_ATTRS = "Toutput_types: list(type) >=1; output_shapes: list(shape) >=1; N: int >=1"
PADDED_BATCH = dataset_op("PaddedBatchDataset", _PADDED, _PADDED_ATTRS)
PADDED_BATCH_V2 = dataset_op(
    "PaddedBatchDatasetV2",
    f"{_PADDED}, drop_remainder: bool",
    f"parallel_copy: bool = False; {_PADDED_ATTRS}",
)
UNBATCH = dataset_op("UnbatchDataset", "input_dataset: variant")
WINDOW = dataset_op(
    "WindowDataset",
    "input_dataset: variant, size: int64, shift: int64, stride: int64, drop_remainder: bool",
)


class Grouped(Dataset):
    """Groups of `size` elements; the last may be smaller, or is left out."""

    def __init__(self, source: Dataset, size: int, drops_rest: bool) -> None:
        check(size > 0, "Batch size must be greater than zero.")
        self.source, self.size, self.drops_rest = source, size, drops_rest

    def joined(self, group: Sequence[Element]) -> Element:
        """Return a group as one element."""
        return tuple([stacked(parts) for parts in zip(*group, strict=True)])

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        size, group = self.size, []
        for item in self.source.items(iteration):
            if item.__class__ is tuple:
                group.append(item)
                if len(group) == size:
                    yield self._one(group)
                    group = []
                continue
            if item.__class__ is Failure:  # as in TensorFlow, the elements before it are lost
                group = []
            yield item
        if group and not self.drops_rest:
            yield self._one(group)

    def _one(self, group: list[Element]) -> Item:
        try:
            return self.joined(group)
        except (OpError, ValueError, TypeError, MemoryError) as error:
            return failure_of(error)

    def cardinality(self) -> int:
        """See `Dataset`."""
        each = self.source.cardinality()
        if each < 0:
            return each
        return each // self.size if self.drops_rest else -(-each // self.size)


class Batch(Grouped):
    """Groups as arrays; what comes from rows is cut out of them."""

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        rows = self.source.rows
        if rows is None:
            return super().items(iteration)
        return self._cut(rows, self.source.blocks(iteration))

    def _cut(self, rows: Rows, blocks: Iterator[Any]) -> Iterator[Item]:
        size, take = self.size, rows.take
        held: list[Any] = []
        missing = size
        for block in blocks:
            if not is_block(block):
                yield block
                continue
            first = 0
            if held:
                first = min(missing, len(block))
                held.append(block[:first])
                missing -= first
                if missing:
                    continue
                yield take(_united(held))
            last = len(block) - (len(block) - first) % size
            for start in range(first, last, size):
                yield take(block[start : start + size])
            held = [block[last:]] if last < len(block) else []
            missing = size - (len(block) - last)
        if held and not self.drops_rest:
            yield take(_united(held))


def _united(blocks: list[Any]) -> Any:
    return blocks[0] if len(blocks) == 1 else np.concatenate([as_array(each) for each in blocks])


@BATCH.kernel
def batch_kernel(input_dataset: Dataset, batch_size: Any) -> Dataset:
    return Batch(input_dataset, int(batch_size), False)


@BATCH_V2.kernel
def batch_v2_kernel(input_dataset: Dataset, batch_size: Any, drop_remainder: Any) -> Dataset:
    return Batch(input_dataset, int(batch_size), bool(drop_remainder))


@PARALLEL_BATCH.kernel
def parallel_batch_kernel(
    input_dataset: Dataset, batch_size: Any, num_parallel_calls: Any, drop_remainder: Any
) -> Dataset:
    return Batch(input_dataset, int(batch_size), bool(drop_remainder))


class PaddedBatch(Grouped):
    """Groups as arrays, where smaller elements are padded."""

    def __init__(
        self,
        source: Dataset,
        size: int,
        drops_rest: bool,
        shapes: Sequence[Any],
        fillers: Sequence[Any],
    ) -> None:
        super().__init__(source, size, drops_rest)
        self._shapes = [tuple(map(int, shape)) for shape in shapes]
        self._fillers = list(fillers)

    def joined(self, group: Sequence[Element]) -> Element:
        """See `Grouped`."""
        parts = zip(zip(*group, strict=True), self._shapes, self._fillers, strict=True)
        return tuple([_padded(*each) for each in parts])


def _padded(parts: Sequence[Any], wanted: Sequence[int], filler: Any) -> Any:
    """Return values as one array of the wanted shape; -1 stands for the largest there is."""
    for part in parts:
        if np.ndim(part) != len(wanted):
            raise InvalidArgumentError(
                "All elements in a batch must have the same rank as the padded shape for "
                f"component0: expected rank {len(wanted)} but got element with rank {np.ndim(part)}"
            )
    if not wanted:
        return stacked(parts)
    largest = [max(sizes) for sizes in zip(*(part.shape for part in parts), strict=True)]
    dims = [most if dim < 0 else dim for dim, most in zip(wanted, largest, strict=True)]
    if any(dim < most for dim, most in zip(dims, largest, strict=True)):
        raise DataLossError("Attempted to pad to a smaller size than the input element.")
    found = np.full((len(parts), *dims), filler, parts[0].dtype)
    for place, part in enumerate(parts):
        where: Any = (place, *map(slice, part.shape))
        found[where] = part
    return found


@PADDED_BATCH.kernel
def padded_batch_kernel(
    input_dataset: Dataset, batch_size: Any, padded_shapes: list[Any], padding_values: list[Any]
) -> Dataset:
    return PaddedBatch(input_dataset, int(batch_size), False, padded_shapes, padding_values)


@PADDED_BATCH_V2.kernel
def padded_batch_v2_kernel(
    input_dataset: Dataset,
    batch_size: Any,
    padded_shapes: list[Any],
    padding_values: list[Any],
    drop_remainder: Any,
) -> Dataset:
    return PaddedBatch(
        input_dataset, int(batch_size), bool(drop_remainder), padded_shapes, padding_values
    )


class Unbatch(Dataset):
    """The slices of each element, one after the other."""

    def __init__(self, source: Dataset) -> None:
        self._source = source

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        for item in self._source.items(iteration):
            if item.__class__ is not tuple:
                yield item
                continue
            problem = _uneven(item)
            if problem:
                yield Failure(InvalidArgumentError(problem))
                continue
            yield from zip(*item, strict=True)
            yield TICK


def _uneven(element: Element) -> str:
    """Return why an element has no slices, "" if it has."""
    if any(np.ndim(part) == 0 for part in element):
        return "Input element must have a non-scalar value in each component."
    sizes = [len(part) for part in element]
    for i, size in enumerate(sizes):
        if size != sizes[0]:
            return (
                "Input element must have the same batch size in each component. Component 0 had "
                f"size {sizes[0]} but component {i} had size, {size}."
            )
    return ""


@UNBATCH.kernel
def unbatch_kernel(input_dataset: Dataset) -> Dataset:
    return Unbatch(input_dataset)


class Window(Dataset):
    """Datasets of `size` elements each, which begin `shift` apart and take every `stride`-th."""

    def __init__(
        self, source: Dataset, size: int, shift: int, stride: int, drops_rest: bool
    ) -> None:
        self._source, self._size = source, size
        self._shift, self._stride, self._drops_rest = shift, stride, drops_rest

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        span = (self._size - 1) * self._stride + 1
        buffer: deque[Element] = deque()
        to_skip = 0
        for item in self._source.items(iteration):
            if item.__class__ is not tuple:
                yield item
            elif to_skip:
                to_skip -= 1
            else:
                buffer.append(item)
                if len(buffer) == span:
                    yield self.joined(list(buffer)[:: self._stride])
                    to_skip = self._move(buffer)
        while buffer and not self._drops_rest:
            yield self.joined(list(buffer)[:: self._stride])
            self._move(buffer)

    def cardinality(self) -> int:
        """See `Dataset`."""
        each = self._source.cardinality()
        if each < 0:
            return each
        if not self._drops_rest:
            return -(-each // self._shift)
        return max(0, (each - (self._size - 1) * self._stride - 1) // self._shift + 1)

    def joined(self, elements: Sequence[Element]) -> Item:
        """Return the elements of a window as one."""
        return tuple(
            [Elements([(value,) for value in parts]) for parts in zip(*elements, strict=True)]
        )

    def _move(self, buffer: deque[Element]) -> int:
        """Drop what no later window has; returns how many of the next elements none has."""
        gone = min(self._shift, len(buffer))
        for _ in range(gone):
            buffer.popleft()
        return self._shift - gone


@WINDOW.kernel
def window_kernel(
    input_dataset: Dataset, size: Any, shift: Any, stride: Any, drop_remainder: Any
) -> Dataset:
    check(size > 0, "Window size must be greater than zero.")
    check(shift > 0, "Window shift must be greater than zero.")
    check(stride > 0, "Window stride must be greater than zero.")
    return Window(input_dataset, int(size), int(shift), int(stride), bool(drop_remainder))
