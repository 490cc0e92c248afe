"""Functions of which several calls may run at a time; results come in the order of the elements."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Iterator
from typing import Any

from tfdist.errors import OutOfRangeError
from tfdist.graph.items import END, TICK, Failure
from tfdist.ops.dataset.batch import Batch
from tfdist.ops.dataset.dataset_value import (
    OTHERS,
    TYPES,
    Call,
    Dataset,
    Function,
    Item,
    Iteration,
    check,
    dataset_op,
    function,
)
from tfdist.ops.dataset.map_filter import Map, ended
from tfdist.ops.dataset.prefetch import AUTOTUNED, Gauge

_INPUTS = "input_dataset: variant, other_arguments: Targuments"
_INTER_OP = "use_inter_op_parallelism: bool = True"
_KEEPS = "preserve_cardinality: bool = False"
_TOLD = "deterministic: string = 'default'"

PARALLEL_MAP = dataset_op(
    "ParallelMapDataset",
    f"{_INPUTS}, num_parallel_calls: int32",
    f"f: func; {OTHERS}; {TYPES}; {_INTER_OP}; sloppy: bool = False; {_KEEPS}",
)
PARALLEL_MAP_V2 = dataset_op(
    "ParallelMapDatasetV2",
    f"{_INPUTS}, num_parallel_calls: int64",
    f"f: func; {OTHERS}; {TYPES}; {_INTER_OP}; {_TOLD}; {_KEEPS}; "
    "use_unbounded_threadpool: bool = False",
)
MAP_AND_BATCH = dataset_op(
    "MapAndBatchDataset",
    f"{_INPUTS}, batch_size: int64, num_parallel_calls: int64, drop_remainder: bool",
    f"f: func; {OTHERS}; {TYPES}; {_KEEPS}",
)


class ParallelMap(Map):
    """A function of each element; up to `count` calls may run at a time."""

    def __init__(self, source: Dataset, f: Function, keeps: bool, count: int) -> None:
        super().__init__(source, f, keeps)
        self._count = max(AUTOTUNED, os.cpu_count() or 1) if count < 0 else count

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        call = self._function.bound(iteration)
        if iteration.threads is None or self._count == 1 or call.now is None:
            return super().items(iteration)
        return self._measured(iteration, call)

    def _measured(self, iteration: Iteration, call: Call) -> Iterator[Item]:
        gauge = iteration.state(self, Gauge)
        source = self._source.items(iteration)
        while not gauge.pays:
            item = next(source, None)
            if item is None:
                return
            if item.__class__ is tuple:
                if call.is_slow:
                    yield TICK
                item = self._result(gauge.measured(call.now, item))
                if item is END:
                    return
            yield item
        yield from self._side_by_side(iteration, source)

    def _side_by_side(self, iteration: Iteration, source: Iterator[Item]) -> Iterator[Item]:
        """Yield results in the order of the elements, and waits of the source in their places."""
        calls = iteration.threads.calls(iteration, self._function, self._count)
        line: deque[tuple[bool, Any]] = deque()  # whether it is a call, and that or an item
        goes_on = True
        try:
            while True:
                if goes_on:
                    goes_on = yield from self._begin(line, calls, source)
                is_call, first = line.popleft()
                if is_call:
                    first = yield from self._end(calls, first)
                else:
                    goes_on = True
                if first is END:
                    return
                yield first
        finally:
            calls.stop()

    def _begin(
        self, line: deque[tuple[bool, Any]], calls: Any, source: Iterator[Item]
    ) -> Generator[Item, None, bool]:
        """Fill the line; returns whether more may be taken before what is in it has been yielded.

        A wait must be yielded first, for the source goes on with its outcome.
        """
        while len(line) < self._count:
            item = next(source, None)
            if item is TICK:
                yield TICK
            elif item.__class__ is tuple:
                line.append((True, calls.begin(item)))
            else:
                line.append((False, END if item is None else item))
                if item.__class__ is not Failure:
                    return False
        return True

    def _end(self, calls: Any, job: Any) -> Generator[Item, None, Item]:
        """Wait for the end of a call; returns its result."""
        while job.result is None:
            yield job.next_wait()
        return self._result(calls.taken(job))

    def _result(self, found: Any) -> Any:
        """Return what a call gives as an item; END if it ends the sequence."""
        if found.__class__ is Failure and isinstance(found.error, OutOfRangeError):
            return ended(found.error) if self._keeps else END
        return found


@PARALLEL_MAP.kernel
@PARALLEL_MAP_V2.kernel
def parallel_map_kernel(
    ctx: Any,
    input_dataset: Dataset,
    other_arguments: list[Any],
    num_parallel_calls: Any,
    *,
    f: Any,
    preserve_cardinality: bool,
) -> Dataset:
    check(
        num_parallel_calls > 0 or num_parallel_calls == -1,
        "num_parallel_calls must be greater than zero.",
    )
    count = int(num_parallel_calls)
    f = function(ctx, f, other_arguments)
    return ParallelMap(input_dataset, f, preserve_cardinality, count)


@MAP_AND_BATCH.kernel
def map_and_batch_kernel(
    ctx: Any,
    input_dataset: Dataset,
    other_arguments: list[Any],
    batch_size: Any,
    num_parallel_calls: Any,
    drop_remainder: Any,
    *,
    f: Any,
    preserve_cardinality: bool,
) -> Dataset:
    check(batch_size > 0, "batch_size must be greater than zero.")
    check(
        num_parallel_calls > 0 or num_parallel_calls == -1,
        "num_parallel_calls must be greater than zero.",
    )
    f = function(ctx, f, other_arguments)
    mapped = ParallelMap(input_dataset, f, preserve_cardinality, int(num_parallel_calls))
    return Batch(mapped, int(batch_size), bool(drop_remainder))
