"""Writes checkpoints of the present format, and makes one of several that were written in parts.

See `reader` for the format. A checkpoint that has the name is there, whole, until the
new one is complete on the disk; its data and then its index are replaced.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import google_crc32c
import numpy as np

from tfdist.base import dtypes
from tfdist.errors import InvalidArgumentError, UnimplementedError
from tfdist.formats.checkpoint import tensor_slices
from tfdist.formats.checkpoint.files import data_name, index_name, make_folder, sync_folder
from tfdist.formats.checkpoint.leftovers import remove_parts
from tfdist.formats.checkpoint.pending_files import PendingFile, pending_files
from tfdist.formats.checkpoint.reader import CheckpointReader, Entry
from tfdist.formats.checkpoint.sstable import TableWriter
from tfdist.formats.checkpoint.string_tensors import strings_to_bytes
from tfdist.formats.checkpoint.tensor_slices import ShapeAndSlice, brackets, slice_key
from tfdist.formats.files import file_errors, local_path
from tfdist.formats.tfrecord import masked
from tfdist.protos import pb


class CheckpointWriter:
    """Writes tensors into the file of data of a checkpoint, and their index; see `writing`."""

    def __init__(self, data: PendingFile) -> None:
        self._data = data
        self._at = 0
        self._index = Index()

    def add(self, name: bytes, value: Any, part: ShapeAndSlice | None = None) -> None:
        """Add a tensor, or a part of one.

        Args:
          name: of the tensor.
          value: an array.
          part: which slice of a larger tensor it is; None if it is whole.

        Raises:
          InvalidArgumentError: there is such a tensor, or the value has not the slice's shape.
          UnimplementedError: values of this type cannot be stored.
        """
        value = np.asarray(value)
        key = name if part is None else self._index.add_slice(name, value, part)
        self._index.add(key, self._written(value))

    def _written(self, value: Any) -> Any:
        """Write an array; returns its BundleEntryProto."""
        if value.dtype == object:
            data: Any
            data, crc = strings_to_bytes(_strings(value))
        else:
            data = np.ascontiguousarray(value).reshape(-1).view(np.uint8)
            crc = masked(google_crc32c.value(data))
        self._data.write(data)
        proto = _entry(value.dtype, value.shape)
        proto.offset, proto.size, proto.crc32c = self._at, len(data), crc
        self._at += len(data)
        return proto

    def finish(self, file: PendingFile) -> None:
        """Write the index."""
        self._index.write(file, 1)


def _entry(dtype: Any, shape: Sequence[int]) -> Any:
    proto = pb.BundleEntryProto(dtype=dtypes.as_dtype(dtype).as_datatype_enum)
    for size in shape:
        proto.shape.dim.add(size=size)
    proto.shape.SetInParent()
    return proto


def _strings(value: Any) -> list[bytes]:
    strings = value.reshape(-1).tolist()
    for each in strings:
        if not isinstance(each, bytes):
            raise UnimplementedError(
                f"a tensor that holds {type(each).__name__} cannot be saved: numbers, bools and "
                "strings can"
            )
    return strings  # type: ignore[no-any-return]


class Index:
    """What is to stand in the index of a checkpoint."""

    def __init__(self) -> None:
        self._entries: dict[bytes, Any] = {}

    def add(self, key: bytes, proto: Any) -> None:
        """Add an entry; InvalidArgumentError if there is one."""
        if not key or key in self._entries:
            shown = key.decode(errors="backslashreplace")
            raise InvalidArgumentError(
                f"Adding duplicate key: {shown}" if key else "a tensor needs a name to be saved"
            )
        self._entries[key] = proto

    def add_slice(self, name: bytes, value: Any, part: ShapeAndSlice) -> bytes:
        """List a slice in the entry of its tensor; returns the key of its own entry."""
        if part.sizes != value.shape:
            raise InvalidArgumentError(
                "Slice in shape_and_slice specification does not match the shape of the tensor to "
                f"save: {tensor_slices.show(part.slice)} of {brackets(part.shape)}, tensor: "
                f"{brackets(value.shape)}"
            )
        self.join(name, _entry(value.dtype, part.shape))
        self._entries[name].slices.append(tensor_slices.to_proto(part.slice))
        return slice_key(name, part.slice)

    def join(self, name: bytes, proto: Any) -> None:
        """Add the entry of a tensor in slices, or let that which is there list these, too."""
        known = self._entries.setdefault(name, proto)
        if known is proto:
            return
        if (known.dtype, known.shape) != (proto.dtype, proto.shape) or known.size:
            raise InvalidArgumentError(
                f"slices of tensor {name.decode(errors='backslashreplace')} disagree on its type "
                "or shape, or it is saved as a whole, too"
            )
        known.slices.extend(proto.slices)

    def write(self, file: PendingFile, shards: int) -> None:
        """Write the table."""
        writer = TableWriter(file)
        header = pb.BundleHeaderProto(num_shards=shards, version={"producer": 1})
        writer.add(b"", header.SerializeToString())
        for key, proto in sorted(self._entries.items()):
            writer.add(key, proto.SerializeToString(deterministic=True))
        writer.finish()


@contextmanager
def writing(prefix: str) -> Iterator[CheckpointWriter]:
    """Write a checkpoint: it is there at the end, or nothing is if an error leaves the block.

    Args:
      prefix: its name; its folder is made, if the one above is there.
    """
    make_folder(prefix)
    with pending_files(data_name(prefix, 0, 1), index_name(prefix)) as (data, index):
        writer = CheckpointWriter(data)
        yield writer
        writer.finish(index)


def merge(prefixes: Sequence[str], destination: str, delete_old_dirs: bool = True) -> None:
    """Make one checkpoint of several, by moving their files.

    Args:
      prefixes: of the checkpoints, which are gone then.
      destination: prefix of the one.
      delete_old_dirs: whether the folders of `prefixes` are removed, if nothing else is in them.

    Raises:
      NotFoundError: one is not there.
      InvalidArgumentError: two hold a tensor of one name.
    """
    index = Index()
    moves: list[str] = []
    with ExitStack() as stack:
        for prefix in dict.fromkeys(prefixes):
            reader = stack.enter_context(CheckpointReader(prefix))
            first = len(moves)
            moves += [data_name(prefix, shard, reader.shards) for shard in range(reader.shards)]
            _merge_index(index, reader, first)
    make_folder(destination)
    with pending_files(index_name(destination)) as (file,):
        targets = [data_name(destination, shard, len(moves)) for shard in range(len(moves))]
        for source, target in zip(moves, targets, strict=True):
            _rename(source, target + file.ending)
        index.write(file, len(moves))  # from here on the save can be finished without this process
        file.settle()
        for target in targets:
            _rename(target + file.ending, target)
    _remove_parts(prefixes, destination, delete_old_dirs)
    if delete_old_dirs:
        remove_parts(destination)


def _rename(source: str, target: str) -> None:
    with file_errors(source):
        os.replace(local_path(source), local_path(target))


def _merge_index(index: Index, reader: CheckpointReader, first: int) -> None:
    for key in reader.keys():
        entry = reader.entry(key)
        try:
            _merge_entry(index, key, entry, first)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(
                f"Duplicate tensor keyed by {key.decode(errors='backslashreplace')} encountered, "
                f"when merging prefix: {reader.prefix} ({error.message})"
            ) from None


def _merge_entry(index: Index, key: bytes, entry: Entry, first: int) -> None:
    proto = pb.BundleEntryProto()
    proto.CopyFrom(entry.proto)
    if entry.slices:
        index.join(key, proto)
    else:
        proto.shard_id += first
        index.add(key, proto)


def _remove_parts(prefixes: Sequence[str], destination: str, folders: bool) -> None:
    """Remove what is left of checkpoints that were merged."""
    for prefix in dict.fromkeys(prefixes):
        if prefix != destination:
            with suppress(OSError):
                os.unlink(local_path(index_name(prefix)))
    target = os.path.dirname(local_path(destination))
    for folder in {os.path.dirname(local_path(prefix)) for prefix in prefixes} - {target, ""}:
        if folders:
            with suppress(OSError):  # something else is in it
                os.rmdir(folder)
    sync_folder(destination)
