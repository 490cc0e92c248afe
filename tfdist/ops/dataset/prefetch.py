"""Elements that threads make before they are asked for, where that pays: prefetch, parallel calls.

A thread of Python pays where making an element is mostly waiting: for a file, for a server, for
another program. What computes is not made quicker by it, and would slow down who asks. So each
stage makes its elements when they are asked for until a `Gauge` finds that they take long without
using the processor. The order is always that of the elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter, thread_time
from typing import Any

from tfdist.graph.items import END, TICK, Failure
from tfdist.ops.dataset.dataset_value import TYPES, Dataset, Item, Iteration, check, dataset_op
from tfdist.ops.dataset.take_skip_repeat import Take

PREFETCH = dataset_op(
    "PrefetchDataset",
    "input_dataset: variant, buffer_size: int64",
    f"{TYPES}; slack_period: int = 0; legacy_autotune: bool = True",
)

_SLOW = 0.0003  # seconds that an element must take at least
AUTOTUNED = 8  # elements that wait to be taken, or calls, if nobody says how many
_PIECE = 64  # elements between ticks


class Gauge:
    """Finds out whether a thread would pay.

    Attributes:
      pays: whether what was measured was slow, and mostly waited.
    """

    def __init__(self) -> None:
        self.pays = self._is_slow = False

    def measured(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return `function(*args)`."""
        used = thread_time() if self._is_slow else 0.0
        began = perf_counter()
        found = function(*args)
        took = perf_counter() - began
        if found is TICK:
            return found
        if took < _SLOW:
            self._is_slow = False
        elif self._is_slow:
            self.pays = thread_time() - used < took / 2
        else:
            self._is_slow = True
        return found


class Prefetch(Dataset):
    """The elements of another dataset, of which a thread may make up to `room` ahead.

    Args:
      source: the dataset.
      room: how many elements may wait to be taken.
      alike: the dataset to which all that is measured belongs, if it is not this one.
    """

    def __init__(self, source: Dataset, room: int, alike: Dataset | None = None) -> None:
        self._source, self._room, self._alike = source, room, alike or self

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        if iteration.threads is None or not self._room:
            return self._source.items(iteration)
        return self._measured(iteration)

    def cardinality(self) -> int:
        """See `Dataset`."""
        return self._source.cardinality()

    def _measured(self, iteration: Iteration) -> Iterator[Item]:
        gauge = iteration.state(self._alike, Gauge)
        inner = iteration.inner()
        items = self._source.items(inner)
        while not gauge.pays:
            inner.ctx = iteration.ctx
            item = gauge.measured(next, items, None)
            if item is None:
                return
            yield item
            inner.outcome = iteration.outcome
        yield from self._ahead(iteration, inner, items)

    def _ahead(
        self, iteration: Iteration, inner: Iteration, items: Iterator[Item]
    ) -> Iterator[Item]:
        prefetcher = iteration.threads.prefetcher(iteration, inner, items, self._room)
        count = 0
        try:
            while (item := prefetcher.take()) is not END:
                if item is None:
                    yield prefetcher.next_wait()
                    continue
                yield item
                if item.__class__ is not tuple and item.__class__ is not Failure:
                    prefetcher.go_on(iteration.outcome)
                count += 1
                if not count % _PIECE:
                    yield TICK
        finally:
            prefetcher.stop()


@PREFETCH.kernel
def prefetch_kernel(input_dataset: Dataset, buffer_size: Any) -> Dataset:
    check(
        buffer_size >= -1,
        "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning",
    )
    if input_dataset.rows is not None and buffer_size:  # nothing waits
        return input_dataset if input_dataset.is_base else Take(input_dataset, -1)
    if not buffer_size:
        return input_dataset
    return Prefetch(input_dataset, AUTOTUNED if buffer_size < 0 else int(buffer_size))
