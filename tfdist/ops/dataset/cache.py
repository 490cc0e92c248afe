"""Elements that are kept once they have come: in memory, or in files that a later run reads.

A cache `name` in files is `name.data-00000-of-00001`, the components of all elements one after the
other as TensorProtos in a TFRecord file, and `name.index`, which is written last and says how many
there are. While they are written there are `name_0.lockfile` and a file of another name; an epoch
that does not come to its end leaves nothing.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from tfdist.base.dtypes import DType
from tfdist.errors import AlreadyExistsError, DataLossError, InvalidArgumentError, OpError
from tfdist.formats.files import file_errors, local_path, read_file, write_file
from tfdist.formats.tfrecord import framed, read_records
from tfdist.graph.items import TICK, Failure
from tfdist.graph.op_def import OpDef
from tfdist.graph.tensor_proto import make_ndarray, make_tensor_proto
from tfdist.ops.dataset.dataset_value import (
    Dataset,
    Element,
    Item,
    Iteration,
    dataset_op,
    is_block,
    text,
)
from tfdist.ops.dataset.take_skip_repeat import Reordered
from tfdist.protos import pb

CACHE = dataset_op("CacheDataset", "input_dataset: variant, filename: string")
CACHE_V2 = dataset_op(
    "CacheDatasetV2", "input_dataset: variant, filename: string, cache: resource", stateful=True
)

_PIECE = 256  # elements between ticks
_FORMAT = "tfdist cache 1"


class Cache(Reordered):
    """Elements that are kept in memory once they have come to an end; what fails is left out."""

    def walk(self, iteration: Iteration) -> Iterator[Item]:
        """See `Reordered`."""
        return self._kept(iteration, self.source.items)

    def blocks(self, iteration: Iteration) -> Iterator[Any]:
        """See `Dataset`."""
        return self._kept(iteration, self.source.blocks)

    def _kept(
        self, iteration: Iteration, walk: Callable[[Iteration], Iterator[Any]]
    ) -> Iterator[Any]:
        kept: list[list[Any]] = iteration.state(self, list)
        if kept:
            for start in range(0, len(kept[0]), _PIECE):
                yield from kept[0][start : start + _PIECE]
                yield TICK
            return
        found: list[Any] = []
        for item in walk(iteration):
            if item.__class__ is tuple or is_block(item):
                found.append(item)
            yield item
        if not kept:
            kept.append(found)

    def cardinality(self) -> int:
        """See `Dataset`."""
        return self.source.cardinality()


class FileCache(Dataset):
    """Elements that are kept in files once they have come to an end; what fails is left out."""

    def __init__(self, source: Dataset, name: bytes, types: Sequence[DType]) -> None:
        self._source, self._name = source, local_path(name)
        self._types = [dtype.name for dtype in types]

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        writer = None
        while writer is None:
            if os.path.exists(_index(self._name)):
                yield from _read(self._name, self._types)
                return
            try:
                writer = _Writer(self._name, self._types)
            except OpError as error:  # whoever asks again tries again
                yield Failure(error)
                yield TICK
        try:
            for item in self._source.items(iteration):
                if item.__class__ is tuple:
                    writer.write(item)
                yield item
            writer.finish()
        finally:
            writer.close()

    def cardinality(self) -> int:
        """See `Dataset`."""
        return self._source.cardinality()


def _index(name: str) -> str:
    return f"{name}.index"


def _data(name: str) -> str:
    return f"{name}.data-00000-of-00001"


class _Writer:
    """Writes a cache; `close` undoes what was not finished."""

    def __init__(self, name: str, types: list[str]) -> None:
        self._name, self._types, self._lock = name, types, f"{name}_0.lockfile"
        self._draft = f"{name}_0.data-00000-of-00001.tempstate{os.urandom(8).hex()}"
        self._count = 0
        _take_lock(self._lock)
        try:
            with file_errors(self._draft):
                self._file: Any = open(self._draft, "wb")
        except OpError:
            os.remove(self._lock)
            raise

    def write(self, element: Element) -> None:
        """Write an element."""
        records = [framed(make_tensor_proto(part).SerializeToString()) for part in element]
        with file_errors(self._draft):
            self._file.write(b"".join(records))
        self._count += 1

    def finish(self) -> None:
        """Give the files their names: the cache is there."""
        told = {"format": _FORMAT, "elements": self._count, "types": self._types}
        with file_errors(self._draft):
            self._file.close()
            os.replace(self._draft, _data(self._name))
        draft = f"{self._draft}.index"
        write_file(draft, json.dumps(told).encode() + b"\n")
        with file_errors(draft):
            os.replace(draft, _index(self._name))

    def close(self) -> None:
        """Remove what is there only while a cache is written."""
        self._file.close()
        for left in (self._draft, f"{self._draft}.index", self._lock):
            if os.path.exists(left):
                os.remove(left)


def _take_lock(name: str) -> None:
    """Write the file that tells others that a cache is being written.

    Raises:
      AlreadyExistsError: it is there.
    """
    if os.path.exists(name):
        raise _locked(name)
    try:
        with file_errors(name), open(name, "x", encoding="utf-8") as file:
            file.write(f"Created at: {int(time.time())}")
    except AlreadyExistsError:
        raise _locked(name) from None


def _locked(name: str) -> AlreadyExistsError:
    content = read_file(name).decode(errors="replace")
    return AlreadyExistsError(
        "There appears to be a concurrent caching iterator running - cache lockfile already exists "
        f"('{name}'). If you are sure no other running TF computations are using this cache "
        "prefix, delete the lockfile and re-initialize the iterator. Lockfile contents: "
        f"{content}"
    )


def _read(name: str, types: list[str]) -> Iterator[Item]:
    """Yield the elements of a cache."""
    count = _count(name, types)
    records = (record for _, record in read_records(_data(name)))
    for number in range(count):
        parts = list(islice(records, len(types)))
        if len(parts) < len(types):
            raise DataLossError(f"{_data(name)} ends after {number} of {count} elements")
        yield tuple([make_ndarray(pb.TensorProto.FromString(part))[()] for part in parts])
        if not number % _PIECE:
            yield TICK


def _count(name: str, types: list[str]) -> int:
    """Return the number of elements of a cache, whose components must have `types`."""
    try:
        told = json.loads(read_file(_index(name)))
        count, there, form = int(told["elements"]), told["types"], told["format"]
    except (ValueError, KeyError, TypeError):
        form = None
    if form != _FORMAT:
        raise _foreign(name)
    if there != types:
        raise InvalidArgumentError(
            f"the cache {name} holds elements of the types {there}, but those of this pipeline are "
            f"{types}: it was written by another one; delete its files, or name another cache"
        )
    return count


def _foreign(name: str) -> DataLossError:
    return DataLossError(
        f"{_index(name)} is no cache of tfdist: TensorFlow may have written it, in a form that is "
        "not read here; delete it, or give the cache another name"
    )


@CACHE.kernel
@CACHE_V2.kernel
def cache_kernel(
    input_dataset: Dataset, filename: Any, cache: Any = None, *, output_types: list[DType]
) -> Dataset:
    name = text(filename)
    return FileCache(input_dataset, name, output_types) if name else Cache(input_dataset)


# resources that TensorFlow 2 keeps elements in; here a dataset keeps its own

ANONYMOUS_CACHE = OpDef("AnonymousMemoryCache() -> handle: resource, deleter: variant !")
NO_CACHE = OpDef("DummyMemoryCache() -> handle: resource !")
DELETE_CACHE = OpDef("DeleteMemoryCache(handle: resource, deleter: variant) -> () !")
ANONYMOUS_CACHE.not_differentiable().shape(lambda: [(), ()])
NO_CACHE.not_differentiable().shape(lambda: ())


@ANONYMOUS_CACHE.kernel
def anonymous_cache_kernel() -> list[Any]:
    return [object(), None]


@NO_CACHE.kernel
def no_cache_kernel() -> Any:
    return object()


@DELETE_CACHE.not_differentiable().kernel
def delete_cache_kernel(handle: Any, deleter: Any) -> None:
    """Do nothing: elements go with their iterator."""
