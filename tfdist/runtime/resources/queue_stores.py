"""In which order elements leave a queue: a store for each kind of queue.

Elements move in batches. A batch is any sequence that can be sliced and joined with `+=`: a list,
or the `Rows` of arrays. A store cuts and joins batches and never looks into them, so that a
hundred elements that came as one array can leave as one array.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from tfdist.base.aliases import TensorValue
from tfdist.base.shuffling import Words

Batch = Any


class Store(Protocol):
    """The elements of a queue.

    Attributes:
      is_piecemeal: whether who wants several may collect them as they come; else only elements
        that are there at the same time are given together.
      gives_fewer: whether who takes up to a number gets the last ones of a closed queue.
    """

    is_piecemeal: bool
    gives_fewer: bool

    def __len__(self) -> int:
        """Return the number of elements."""

    def __iter__(self) -> Iterator[TensorValue]:
        """Yield the elements, first those that came first if there is an order."""

    def add(self, batch: Batch) -> None:
        """Take in the elements of `batch`, which nobody changes any more."""

    def take(self, count: int) -> Batch:
        """Give away `count` elements, 1 at least and no more than there are."""

    def give_back(self, batch: Batch) -> None:
        """Take in what had been taken, as if it had not been."""


def joined(batches: Iterable[Batch]) -> Batch:
    """Return one batch of all elements; [] if there are no batches."""
    rest = iter(batches)
    first: Batch = next(rest, [])
    for position, batch in enumerate(rest):
        if not position:
            first = first[:]  # it may be another's
        first += batch
    return first


class Fifo:
    """First in, first out."""

    is_piecemeal = gives_fewer = True

    def __init__(self) -> None:
        self._batches: deque[Batch] = deque()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[TensorValue]:
        return itertools.chain.from_iterable(self._batches)

    def add(self, batch: Batch) -> None:
        """See `Store.add`."""
        self._batches.append(batch)
        self._size += len(batch)

    def take(self, count: int) -> Batch:
        """See `Store.take`."""
        self._size -= count
        batches = self._batches
        first = batches[0]
        if len(first) == count:
            return batches.popleft()
        if len(first) > count:
            batches[0] = first[count:]
            return first[:count]
        return joined(self._several(count))

    def _several(self, count: int) -> Iterator[Batch]:
        batches = self._batches
        while count:
            first = batches.popleft()
            if len(first) > count:
                batches.appendleft(first[count:])
                first = first[:count]
            count -= len(first)
            yield first

    def give_back(self, batch: Batch) -> None:
        """See `Store.give_back`: they come to the front."""
        if len(batch):
            self._batches.appendleft(batch)
            self._size += len(batch)


class Shuffle:
    """Any element is given with the same chance; the last one fills the gap.

    Args:
      words: tell which one, each of them one.
    """

    is_piecemeal = gives_fewer = True

    def __init__(self, words: Words) -> None:
        self._words = words
        self._elements: list[Batch] = []  # of one element each

    def __len__(self) -> int:
        return len(self._elements)

    def __iter__(self) -> Iterator[TensorValue]:
        return itertools.chain.from_iterable(self._elements)

    def add(self, batch: Batch) -> None:
        """See `Store.add`."""
        self._elements += [batch[i : i + 1] for i in range(len(batch))]

    def take(self, count: int) -> Batch:
        """See `Store.take`."""
        return joined([self._any() for _ in range(count)])

    def _any(self) -> Batch:
        elements = self._elements
        place = self._words.one() % len(elements)
        elements[place], elements[-1] = elements[-1], elements[place]
        return elements.pop()

    give_back = add


class Heap:
    """Whose key is least comes first; of equal ones that which came first.

    Args:
      key: of a batch of one element.
    """

    is_piecemeal = gives_fewer = False

    def __init__(self, key: Callable[[Batch], TensorValue]) -> None:
        self._key = key
        self._heap: list[tuple[Any, int, Batch]] = []
        self._numbers = itertools.count()

    def __len__(self) -> int:
        return len(self._heap)

    def __iter__(self) -> Iterator[TensorValue]:
        return itertools.chain.from_iterable(each[-1] for each in sorted(self._heap))

    def add(self, batch: Batch) -> None:
        """See `Store.add`."""
        for i in range(len(batch)):
            self._push(batch[i : i + 1], next(self._numbers))

    def take(self, count: int) -> Batch:
        """See `Store.take`."""
        return joined([heapq.heappop(self._heap)[-1] for _ in range(count)])

    def give_back(self, batch: Batch) -> None:
        """See `Store.give_back`: they come before equal ones."""
        first = min((number for _, number, _ in self._heap), default=next(self._numbers))
        for i in range(len(batch)):
            self._push(batch[i : i + 1], first - len(batch) + i)

    def _push(self, element: Batch, number: int) -> None:
        heapq.heappush(self._heap, (self._key(element), number, element))
