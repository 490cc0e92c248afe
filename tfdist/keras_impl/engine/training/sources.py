"""Where batches come from: arrays, generators, sequences of batches, and datasets.

A source yields (inputs, targets, weights): flat lists of arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from tfdist.datasets.iterators import make_initializable_iterator
from tfdist.errors import OutOfRangeError
from tfdist.graph import scopes
from tfdist.keras_impl.backend.sessions import get_session

Batch = tuple[list[Any], list[Any], list[Any]]


@dataclass
class ArraySource:
    """Rows of arrays, `batch_size` at a time, in order or shuffled."""

    inputs: list[Any]
    targets: list[Any]
    weights: list[Any]
    batch_size: int = 32
    shuffle: Any = False

    counts_samples = True

    @property
    def samples(self) -> int:
        """The number of rows."""
        return len(self.inputs[0])

    @property
    def steps(self) -> int:
        """The number of batches in an epoch."""
        return -(-self.samples // self.batch_size)

    def batches(self) -> Iterator[Batch]:
        """Yield the batches of one epoch."""
        size, count = self.batch_size, self.samples
        starts = np.arange(0, count, size)
        if not self.shuffle or self.shuffle == "batch":
            if self.shuffle:
                np.random.shuffle(starts)  # noqa: NPY002 the program's np.random.seed counts
            for start in starts:
                yield self._rows(slice(start, start + size))
            return
        order = np.arange(count)
        np.random.shuffle(order)  # noqa: NPY002
        for start in starts:
            yield self._rows(order[start : start + size])

    def _rows(self, which: Any) -> Batch:
        return (
            [each[which] for each in self.inputs],
            [each[which] for each in self.targets],
            [each[which] for each in self.weights],
        )


class StreamSource:
    """Batches from an iterator that goes on from epoch to epoch, or begins anew for each.

    Args:
      start: function that returns an iterator over what a program yields.
      split: function from that to a batch.
      steps: the number of batches in an epoch; None for all there are.
      restarts: whether each epoch begins anew.
    """

    counts_samples = False
    samples = None

    def __init__(
        self, start: Callable[[], Iterator[Any]], split: Callable[[Any], Batch],
        steps: int | None, restarts: bool = False,
    ) -> None:  # fmt: skip
        self._start, self._split, self.steps, self._restarts = start, split, steps, restarts
        self._iterator: Iterator[Any] | None = None

    def batches(self) -> Iterator[Batch]:
        """Yield the batches of one epoch."""
        if self._iterator is None or self._restarts:
            self._iterator = self._start()
        for each in islice(self._iterator, self.steps):
            yield self._split(each)


class DatasetElements:
    """The elements of a dataset as arrays, fetched in the session of keras."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._made: Any = None  # the iterator's initializer, and its next element

    def __call__(self) -> Iterator[Any]:
        """Return an iterator over elements, from the first one on."""
        session = get_session()
        if self._made is None:
            with session.graph.as_default(), scopes.control_dependencies(None):
                self._made = self._make()
        initializer, element = self._made
        if initializer is not None:
            session.run(initializer)
        return _until_end(session.make_callable(element))

    def _make(self) -> tuple[Any, Any]:
        if hasattr(self._dataset, "get_next"):  # an iterator, which its owner starts
            return None, self._dataset.get_next()
        iterator = make_initializable_iterator(self._dataset)
        return iterator.initializer, iterator.get_next()


def _until_end(fetch: Callable[[], Any]) -> Iterator[Any]:
    while True:
        try:
            yield fetch()
        except OutOfRangeError:
            return


def is_dataset(value: Any) -> bool:
    """Return whether `value` is a dataset, or an iterator over one."""
    return hasattr(value, "output_shapes") and (
        hasattr(value, "make_one_shot_iterator") or hasattr(value, "get_next")
    )


def is_sequence(value: Any) -> bool:
    """Return whether `value` is a Sequence of keras: batches by number."""
    return any(each.__name__ == "Sequence" for each in type(value).__mro__) and hasattr(
        value, "__getitem__"
    )


def is_generator(value: Any) -> bool:
    """Return whether `value` gives batches one after the other."""
    return hasattr(value, "__next__") and not hasattr(value, "get_next")


def sequence_elements(sequence: Any, shuffle: bool) -> Callable[[], Iterator[Any]]:
    """Return a function that returns an iterator over the batches of a Sequence."""

    def start() -> Iterator[Any]:
        while True:
            order = np.arange(len(sequence))
            if shuffle:
                np.random.shuffle(order)  # noqa: NPY002
            yield from (sequence[int(each)] for each in order)
            if hasattr(sequence, "on_epoch_end"):
                sequence.on_epoch_end()

    return start


def size_of(batch: Batch) -> int:
    """Return the number of samples of a batch."""
    first: Sequence[Any] = (batch[0] or batch[1])[0]
    return len(first)
