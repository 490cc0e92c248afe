"""Datasets of Dask collections: what `Dataset.from_dask` does in the process that says it.

The collection is computed on Dask's workers, one tuple of arrays for each partition, and stays
there; the graph gets the keys (`ops.dataset.dask`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary

from tfdist.base import dtypes
from tfdist.base.extras import require
from tfdist.datasets import structure
from tfdist.datasets.structure import TensorSpec
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.graph import Graph
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import get_default_graph
from tfdist.ops.dataset.dask import securities

_KNOWN = 10.0  # seconds that a scheduler may take to hear of partitions

# What Dask keeps for us as long as the graph that names it is there.
_held: WeakKeyDictionary[Graph, list[Any]] = WeakKeyDictionary()


def from_dask(
    collection: Any, shards: int | Sequence[str], index: int, whole_partitions: bool, client: Any
) -> Any:
    """See `Dataset.from_dask`."""
    require("distributed")
    client = client or _client()
    partitions, found = _partitions(collection, client)
    _wait_until_known(partitions, client)
    wanted = structure.map_leaves(
        lambda spec: TensorSpec(spec.shape if whole_partitions else spec.shape[1:], spec.dtype),
        found,
    )
    _held.setdefault(get_default_graph(), []).extend(partitions)
    mine = _shard(partitions, shards, index, client)
    address = client.scheduler.address
    securities[address] = client.security
    tensor = raw.DaskDataset(
        convert_to_tensor(address, dtypes.string),
        convert_to_tensor([each.key for each in mine], dtypes.string),
        whole_partitions=whole_partitions,
        **structure.flat_attrs(wanted),
    )
    return structure.dataset(tensor, wanted)


def _wait_until_known(partitions: list[Any], client: Any) -> None:
    """Wait until the scheduler has heard of partitions, which others may ask for at once."""
    keys = [each.key for each in partitions]
    deadline = time.monotonic() + _KNOWN
    while any(each.status == "pending" for each in partitions) and time.monotonic() < deadline:
        if None not in client.sync(client.scheduler.get_task_status, keys=keys).values():
            return
        time.sleep(0.01)


def _client() -> Any:
    from distributed import default_client

    try:
        return default_client()
    except ValueError:
        raise ValueError(
            "Dataset.from_dask: this process has no client of dask.distributed; make one: "
            "dask.distributed.Client('HOST:8786')"
        ) from None


def _partitions(collection: Any, client: Any) -> tuple[list[Any], Any]:
    """Return futures of the partitions, and the structure of what they are."""
    if hasattr(collection, "chunks"):
        parts, columns, found = _of_array(collection)
    elif hasattr(collection, "divisions"):
        parts, columns, found = _of_frame(collection)
    elif hasattr(collection, "to_delayed") and hasattr(collection, "npartitions"):
        return _of_bag(collection, client)
    else:
        raise TypeError(
            "Dataset.from_dask: wanted a Dask array, dataframe, series or bag, got "
            f"{type(collection).__name__}; dask.array.from_delayed and its like make one of futures"
        )
    return _computed(parts, columns, client), found


def _computed(parts: Sequence[Any], columns: Callable[[Any], Any], client: Any) -> list[Any]:
    import dask

    # named after what they are made of: all datasets of a collection share the same partitions
    names = [f"tfdist-rows-{dask.base.tokenize(part.key)}" for part in parts]
    rows = dask.delayed(columns)
    made: list[Any] = client.compute([
        rows(part, dask_key_name=name) for part, name in zip(parts, names, strict=True)
    ])  # fmt: skip
    return made


def _of_array(array: Any) -> tuple[list[Any], Callable[[Any], Any], Any]:
    if not array.ndim:
        raise ValueError("Dataset.from_dask: an array of rank 0 has no rows")
    rows = array.rechunk({axis: -1 for axis in range(1, array.ndim)})
    found = TensorSpec([None, *_known(array.shape[1:])], dtypes.as_dtype(array.dtype))

    def columns(block: Any) -> tuple[Any, ...]:
        import numpy as np

        return (np.ascontiguousarray(block),)

    return list(rows.to_delayed().ravel()), columns, found


def _known(dims: Sequence[float]) -> list[int | None]:
    """Return dimensions, None for those that Dask does not know (NaN)."""
    return [None if dim != dim else int(dim) for dim in dims]


def _of_frame(frame: Any) -> tuple[list[Any], Callable[[Any], Any], Any]:
    meta = frame._meta
    is_series = meta.ndim == 1
    types = {str(meta.name): meta.dtype} if is_series else dict(meta.dtypes)
    specs = {
        str(name): TensorSpec([None], _column_type(name, each)) for name, each in types.items()
    }
    names = sorted(types, key=str)

    def columns(part: Any) -> tuple[Any, ...]:
        import numpy as np

        found = [part] if is_series else [part[name] for name in names]
        return tuple(
            np.array([str(each).encode() for each in column], object)
            if column.dtype.kind not in "biufc"
            else np.ascontiguousarray(column.to_numpy())
            for column in found
        )

    found: Any = next(iter(specs.values())) if is_series else specs
    return list(frame.to_delayed()), columns, found


def _column_type(name: Any, dtype: Any) -> Any:
    """Return the type of a column: strings, or what NumPy has; ValueError if it is neither."""
    if str(dtype).startswith(("string", "str", "object")):
        return dtypes.string
    try:
        return dtypes.as_dtype(dtype)
    except TypeError:
        raise ValueError(
            f"Dataset.from_dask: column {name!r} has the dtype {dtype}, which no tensor has; turn "
            "it into numbers or strings first, or leave it out"
        ) from None


def _of_bag(bag: Any, client: Any) -> tuple[list[Any], Any]:
    """Return partitions and their structure, which its first item tells."""
    first = bag.take(1, npartitions=-1, compute=False)
    firsts = client.compute(first).result()
    if not firsts:
        raise ValueError("Dataset.from_dask: the bag is empty, so nothing is known of its items")
    numbers = count()
    form = structure.map_leaves(lambda leaf: next(numbers), firsts[0])
    leaves = [convert_to_tensor(leaf) for leaf in structure.flatten(firsts[0])]
    specs = [TensorSpec([None, *leaf.shape.as_list()], leaf.dtype.base_dtype) for leaf in leaves]
    types = [object if each.dtype is dtypes.string else each.dtype.as_numpy_dtype for each in specs]
    shapes = [spec.shape.as_list()[1:] for spec in specs]
    leaves_at = list(zip(_paths(firsts[0]), types, shapes, strict=True))

    def columns(items: Any) -> tuple[Any, ...]:
        import numpy as np

        def at(item: Any, path: Any) -> Any:
            for step in path:
                item = item[step]
            return item.encode() if isinstance(item, str) else item

        items = list(items)
        return tuple(
            np.array([at(item, path) for item in items], kind).reshape(-1, *shape)
            for path, kind, shape in leaves_at
        )

    return _computed(bag.to_delayed(), columns, client), structure.pack_as(form, specs)


def _paths(item: Any) -> list[tuple[Any, ...]]:
    """Return how each leaf of an item is reached: the keys and indices on the way."""
    if isinstance(item, Mapping):
        steps = [(key, item[key]) for key in sorted(item)]
    elif isinstance(item, tuple):
        steps = list(enumerate(item))
    else:
        return [()]
    return [(step, *path) for step, each in steps for path in _paths(each)]


def _shard(
    partitions: list[Any], shards: int | Sequence[str], index: int, client: Any
) -> list[Any]:
    """Return the partitions of one of several datasets; the same for all who hold the same ones."""
    number = shards if isinstance(shards, int) else len(shards)
    if not 0 <= index < number:
        raise ValueError(f"Dataset.from_dask: there is no shard {index} of {number}")
    if isinstance(shards, int):
        return partitions[index::number]
    from distributed import wait

    wait(partitions)
    known = client.who_has(partitions)
    places = nearest([known.get(each.key, ()) for each in partitions], shards)
    return [each for each, place in zip(partitions, places, strict=True) if place == index]


def nearest(holders: Sequence[Sequence[str]], shards: Sequence[str]) -> list[int]:
    """Return the shard of each partition: where it is held if it is, and equally many for each.

    Args:
      holders: addresses of the workers that hold each partition.
      shards: address of the worker of each shard.

    Example:
      >>> nearest([["a"], ["b"], ["a"], ["c"]], ["a", "b"])
      [0, 1, 0, 1]
    """
    most = -(-len(holders) // len(shards))
    sizes, places = [0] * len(shards), [-1] * len(holders)

    def give(partition: int, among: Sequence[int]) -> None:
        best = min(among, key=lambda each: sizes[each], default=None)
        if best is not None and sizes[best] < most:
            sizes[best] += 1
            places[partition] = best

    for partition, addresses in enumerate(holders):
        give(partition, [at for at, each in enumerate(shards) if each in addresses])
    for partition, place in enumerate(places):
        if place < 0:
            give(partition, range(len(shards)))
    return places
