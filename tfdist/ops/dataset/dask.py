"""Elements from the partitions of a Dask collection, each read from the worker that holds it.

Only keys are in the graph. Whichever process runs the dataset asks the scheduler who holds a
partition and fetches it from there, the next one while the elements of one are used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import numpy as np

from tfdist.base.dtypes import DType
from tfdist.base.extras import require
from tfdist.errors import UnavailableError
from tfdist.graph.items import TICK, Failure
from tfdist.ops.dataset.dataset_value import TYPES, Dataset, Item, Iteration, dataset_op, text

DASK = dataset_op(
    "DaskDataset",
    "scheduler: string, keys: string",
    f"{TYPES}; whole_partitions: bool = False",
    stateful=True,
)

_LOOK = 0.05  # seconds between two looks whether the step is to stop
_CHUNK = 256  # elements between ticks
_CONNECT = 10.0  # seconds that the scheduler may take to answer

# What this process shows a scheduler, by its address, where a client here told that; elsewhere
# Dask's configuration says it.
securities: dict[str, Any] = {}


class DaskPartitions(Dataset):
    """The rows of partitions, or the partitions themselves.

    Args:
      scheduler: its address.
      keys: of the partitions, each a tuple of arrays, one for each component.
      are_whole: whether a partition is one element.
    """

    def __init__(self, scheduler: str, keys: list[str], types: list[DType], are_whole: bool):
        self._scheduler, self._keys, self._are_whole = scheduler, keys, are_whole
        self._types = [dtype.as_numpy_dtype for dtype in types]

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        at = 0
        try:
            with _client(self._scheduler) as client:
                coming = [self._ask(client, key) for key in self._keys[:1]]
                for at in range(len(self._keys)):
                    yield from _waiting(coming[-1])
                    partition = coming.pop().result()
                    coming += [self._ask(client, key) for key in self._keys[at + 1 : at + 2]]
                    yield from self._elements(partition)
        except Exception as error:
            yield Failure(self._error(at, error))

    def _ask(self, client: Any, key: str) -> Future[Any]:
        """Have a partition fetched; returns what becomes it."""
        return asyncio.run_coroutine_threadsafe(_fetched(client, key), client.loop.asyncio_loop)

    def _elements(self, partition: tuple[Any, ...]) -> Iterator[Item]:
        columns = [
            np.asarray(column, dtype) for column, dtype in zip(partition, self._types, strict=True)
        ]
        if self._are_whole:
            yield tuple(columns)
            return
        for number, row in enumerate(zip(*columns, strict=True)):
            yield row
            if not number % _CHUNK:
                yield TICK

    def _error(self, at: int, error: Exception) -> UnavailableError:
        return UnavailableError(
            f"partition {at} of {len(self._keys)} cannot be had from Dask at {self._scheduler} "
            f"({type(error).__name__}: {error}); whoever made the dataset holds its partitions: "
            "they are gone with that process, or with a worker, whose partitions Dask makes anew "
            "if it knows how"
        )


async def _fetched(client: Any, key: str) -> Any:
    """Return what Dask has under a key, from the worker that holds it, as soon as it is computed.

    Raises:
      LookupError: nobody holds it any more, or it cannot be computed.
    """
    from distributed import Future as DaskFuture

    while (state := (await client.scheduler.get_task_status(keys=[key])).get(key)) != "memory":
        if state in (None, "erred", "forgotten"):
            why = "its computation failed" if state == "erred" else "nobody wants it any more"
            raise LookupError(f"Dask does not hold {key}: {why}")
        await asyncio.sleep(_LOOK)
    held: Any = "memory"  # without that word it would wait for news of the key, which is old
    return await client.gather(DaskFuture(key, client=client, state=held), direct=True)


def _waiting(coming: Future[Any]) -> Iterator[Item]:
    """Yield looks whether the step is to stop, until something has come."""
    try:
        while not coming.done():
            try:
                coming.exception(_LOOK)
            except TimeoutError:
                yield TICK
    except GeneratorExit:
        coming.cancel()
        raise


@contextmanager
def _client(scheduler: str) -> Iterator[Any]:
    """Yield a client of a scheduler, which is closed at the end."""
    require("distributed")
    import distributed

    client = distributed.Client(
        scheduler, security=securities.get(scheduler), timeout=_CONNECT, set_as_default=False,
        direct_to_workers=True, name="tfdist-data",
    )  # fmt: skip
    try:
        yield client
    finally:
        client.close()


@DASK.kernel
def dask_kernel(
    scheduler: Any, keys: Any, *, output_types: list[DType], whole_partitions: bool
) -> Dataset:
    names = [text(each).decode() for each in keys]
    return DaskPartitions(text(scheduler).decode(), names, output_types, whole_partitions)
