"""Which elements of datasets come, how often and in which order."""

from __future__ import annotations

import sys
from typing import Any

from tfdist.base import dtypes
from tfdist.datasets import inputs, sources, structure
from tfdist.datasets.structure import TensorSpec
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw


def _same(dataset: Any, op_def: OpDef, *inputs: Any, **attrs: Any) -> Any:
    """Return a dataset whose elements look like those of `dataset`."""
    told = structure.flat_attrs(dataset._structure)
    tensor = op_def(dataset._variant_tensor, *inputs, **attrs, **told)
    return dataset._with(tensor, dataset._structure)


def repeat(dataset: Any, count: Any) -> Any:
    """See `Dataset.repeat`."""
    return _same(dataset, raw.RepeatDataset, inputs.int64(-1 if count is None else count, "count"))


def take(dataset: Any, count: Any) -> Any:
    """See `Dataset.take`."""
    return _same(dataset, raw.TakeDataset, inputs.int64(count, "count"))


def skip(dataset: Any, count: Any) -> Any:
    """See `Dataset.skip`."""
    return _same(dataset, raw.SkipDataset, inputs.int64(count, "count"))


def shard(dataset: Any, num_shards: Any, index: Any) -> Any:
    """See `Dataset.shard`."""
    both = inputs.int64(num_shards, "num_shards"), inputs.int64(index, "index")
    return _same(dataset, raw.ShardDataset, *both)


def prefetch(dataset: Any, buffer_size: Any) -> Any:
    """See `Dataset.prefetch`."""
    size = inputs.int64(-1 if buffer_size is None else buffer_size, "buffer_size")
    return _same(dataset, raw.PrefetchDataset, size)


def cache(dataset: Any, filename: Any) -> Any:
    """See `Dataset.cache`."""
    name = convert_to_tensor(filename, dtypes.string, name="filename")
    return _same(dataset, raw.CacheDataset, name)


def shuffle(dataset: Any, buffer_size: Any, seed: Any, anew: bool | None) -> Any:
    """See `Dataset.shuffle`."""
    size = inputs.int64(buffer_size, "buffer_size")
    anew = True if anew is None else bool(anew)
    return _same(
        dataset, raw.ShuffleDataset, size, *inputs.seeds(seed), reshuffle_each_iteration=anew
    )


def zipped(datasets: Any) -> Any:
    """See `Dataset.zip`."""
    if isinstance(datasets, list):
        raise TypeError(
            "The argument to `Dataset.zip()` must be a nested structure of `Dataset` objects. "
            "Nested structures do not support Python lists; please use a tuple instead."
        )
    parts = structure.flatten(datasets)
    if not all(hasattr(part, "_structure") for part in parts):
        raise TypeError(
            "The argument to `Dataset.zip()` must be a nested structure of `Dataset` objects."
        )
    found = structure.pack_as(datasets, [part._structure for part in parts])
    tensor = raw.ZipDataset([part._variant_tensor for part in parts], **structure.flat_attrs(found))
    return parts[0]._with(tensor, found, *parts[1:])


def enumerated(dataset: Any, start: Any) -> Any:
    """See `Dataset.enumerate`."""
    numbers = sources.from_range((start, sys.maxsize))
    return zipped((numbers, dataset))


def concatenate(first: Any, second: Any) -> Any:
    """See `Dataset.concatenate`."""
    types = structure.types_of(first._structure), structure.types_of(second._structure)
    if types[0] != types[1]:
        raise TypeError(
            f"Two datasets to concatenate have different types {types[0]!r} and {types[1]!r}"
        )
    pairs = zip(structure.flatten(first._structure), structure.flatten(second._structure),
                strict=True)  # fmt: skip
    specs = [
        type(a)(structure.most_specific(a.shape, b.shape), a.dtype)
        if isinstance(a, TensorSpec) else a
        for a, b in pairs
    ]  # fmt: skip
    found = structure.pack_as(first._structure, specs)
    tensor = raw.ConcatenateDataset(
        first._variant_tensor, second._variant_tensor, **structure.flat_attrs(found)
    )
    return first._with(tensor, found, second)
