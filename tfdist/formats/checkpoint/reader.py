"""Checkpoints of the present format: PREFIX.index, a table, and PREFIX.data-00000-of-00001, ...

The table's key "" holds a BundleHeaderProto; each other key is a tensor's name and holds a
BundleEntryProto: where its bytes lie, and their checksum. A tensor that was stored in parts has an
entry that lists them, and one for each part, whose key begins with a zero byte. Data are read when
they are asked for, straight into the array that is returned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any, Protocol, Self

import google_crc32c
import numpy as np

from tfdist.base import dtypes
from tfdist.base.dtypes import DType, short_name
from tfdist.errors import (
    DataLossError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    UnimplementedError,
)
from tfdist.formats.checkpoint import tensor_slices
from tfdist.formats.checkpoint.files import FileSource, data_name, index_name
from tfdist.formats.checkpoint.leftovers import unfinished
from tfdist.formats.checkpoint.sstable import Table
from tfdist.formats.checkpoint.string_tensors import strings_from_bytes
from tfdist.formats.checkpoint.tensor_slices import (
    Shape,
    TensorSlice,
    brackets,
    common,
    show,
    slice_key,
    within,
)
from tfdist.formats.tfrecord import masked
from tfdist.protos import pb

_UNSTORED = ("resource", "variant")  # types that have no bytes


class Stored(Protocol):
    """A tensor in a checkpoint."""

    @property
    def dtype(self) -> DType:
        """Return the type of its elements."""

    @property
    def shape(self) -> Shape:
        """Return the shape of the whole tensor."""

    @property
    def slices(self) -> list[TensorSlice]:
        """Return those that are stored; none if it is stored as a whole."""


class Entry:
    """What the index says of a tensor, or of a part of one.

    Raises:
      DataLossError: it cannot be so.
    """

    def __init__(self, proto: Any, where: str) -> None:
        self.proto = proto
        self.dtype = dtype_of(proto.dtype, where)
        self.shape: Shape = tuple(each.size for each in proto.shape.dim)
        self.slices = [tensor_slices.from_proto(each) for each in proto.slices]
        self.count = math.prod(self.shape)
        if min(self.shape, default=0) < 0 or proto.shape.unknown_rank:
            raise DataLossError(f"{where} has the shape {brackets(self.shape)}")
        fixed = not self.slices and self.dtype is not dtypes.string
        if fixed and proto.size != self.count * self.dtype.size:
            raise DataLossError(
                f"{where} of type {short_name(self.dtype)} and shape {brackets(self.shape)} is "
                f"said to have {proto.size} bytes"
            )


def dtype_of(number: int, where: str) -> DType:
    """Return the type of that number; UnimplementedError if checkpoints cannot have it."""
    try:
        dtype = dtypes.as_dtype(number)
    except TypeError:
        raise UnimplementedError(f"{where} has the type {number}, which tfdist has not") from None
    if dtype.name in _UNSTORED:
        raise UnimplementedError(f"{where} is of type {dtype.name}, which tfdist cannot read")
    return dtype


class CheckpointReader:
    """A checkpoint that is read; a context manager that closes its files.

    Args:
      prefix: its name, without ".index".

    Raises:
      NotFoundError: there is none.
      DataLossError: it is damaged.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._ending = unfinished(prefix)
        try:
            with self._open(index_name(prefix)) as source:
                self._index = dict(Table(source).items())
        except DataLossError as error:
            raise self._lost(
                f"Unable to read file ({index_name(prefix)}). Perhaps the file is corrupt or was "
                f"produced by a newer version of TensorFlow with format changes: {error.message}"
            ) from None
        header = self._message(pb.BundleHeaderProto, b"", "its header")
        if header.endianness != pb.BundleHeaderProto.LITTLE:
            raise UnimplementedError(f"{prefix}: data of big-endian machines cannot be read")
        self._shards: int = header.num_shards
        self._files: dict[int, FileSource] = {}
        self._entries: dict[bytes, Entry] = {}
        self._last: tuple[bytes, Any] | None = None  # a part that was read, of which more may come

    def _open(self, name: str) -> FileSource:
        """Return one of the files; if a save was cut off, that which was to have the name."""
        if self._ending:
            with suppress(NotFoundError):  # it has its name
                return FileSource(name + self._ending)
        return FileSource(name)

    def _message(self, kind: Any, key: bytes, what: str) -> Any:
        try:
            return pb.parse(kind, self._index[key])
        except (KeyError, ValueError) as error:
            raise self._lost(f"{what} cannot be read: {error}") from None

    def _lost(self, why: str) -> DataLossError:
        return DataLossError(
            f"checkpoint {self.prefix} is damaged: {why}. Restore an earlier checkpoint: "
            "tf.train.get_checkpoint_state(folder).all_model_checkpoint_paths names them"
        )

    def names(self) -> Iterator[bytes]:
        """Yield the names of the tensors, sorted."""
        return (key for key in self._index if key and not key.startswith(b"\0"))

    def keys(self) -> Iterator[bytes]:
        """Yield the keys of all that is stored: tensors and parts of them, but no header."""
        return (key for key in self._index if key)

    def find(self, name: bytes) -> Entry | None:
        """Return what is known of a tensor; None if it is not there."""
        return self.entry(name) if name and name in self._index else None

    def entry(self, key: bytes) -> Entry:
        """Return what the index says at a key.

        Raises:
          DataLossError: it cannot be so.
        """
        if key not in self._entries:
            where = f"tensor {key.decode(errors='backslashreplace')!r} in checkpoint {self.prefix}"
            self._entries[key] = Entry(self._message(pb.BundleEntryProto, key, where), where)
        return self._entries[key]

    def absent(self, name: str) -> str:
        """Return the message that a tensor is not there."""
        return f"Key {name} not found in checkpoint"

    def debug_string(self) -> bytes:
        """Return a line for each tensor: name, type, shape."""
        return b"".join(
            described(name, entry) + b"\n"
            for name in self.keys()
            if not (entry := self.entry(name)).slices
        )

    @property
    def shards(self) -> int:
        """Return the number of files of data."""
        return self._shards

    # data

    def read(self, name: bytes) -> Any:
        """Return a tensor that is there."""
        entry = self.entry(name)
        if not entry.slices:
            return self._array(name, entry)
        return self.read_slice(name, tensor_slices.whole(entry.shape))

    def read_slice(self, name: bytes, part: TensorSlice) -> Any:
        """Return a slice of a tensor that is there."""
        entry = self.entry(name)
        if tensor_slices.is_whole(part, entry.shape) and not entry.slices:
            return self._array(name, entry)
        stored = entry.slices or [tensor_slices.whole(entry.shape)]
        keys = {each: slice_key(name, each) if entry.slices else name for each in stored}
        for each, key in keys.items():
            self._require_part(key, tensor_slices.sizes(each, entry.shape), entry.dtype)
        return gathered(name, entry, part, stored, lambda each: self._part(keys[each]))

    def _require_part(self, key: bytes, shape: Shape, dtype: DType) -> None:
        """Raise DataLossError if a part is not what its tensor says: before memory is taken."""
        entry = self.entry(key)
        if (entry.shape, entry.dtype, entry.slices) != (shape, dtype, []):
            raise self._lost(
                f"a part of {_quoted(key)} is of type {short_name(entry.dtype)} and shape "
                f"{brackets(entry.shape)} instead of {short_name(dtype)} and {brackets(shape)}"
            )
        self._file(entry.proto.shard_id).require(entry.proto.offset, entry.proto.size)

    def _part(self, key: bytes) -> Any:
        if self._last is None or self._last[0] != key:
            self._last = key, self._array(key, self.entry(key))
        return self._last[1]

    def _array(self, key: bytes, entry: Entry) -> Any:
        try:
            found, crc = self._checked(entry)
        except DataLossError as error:
            raise self._lost(f"{_quoted(key)}: {error.message}") from None
        if crc != entry.proto.crc32c:
            file = data_name(self.prefix, entry.proto.shard_id, self._shards)
            raise self._lost(
                f"{_quoted(key)}: Checksum does not match: stored {entry.proto.crc32c} vs. "
                f"calculated on the restored bytes {crc} at {entry.proto.offset} in {file}"
            )
        return found.reshape(entry.shape)

    def _checked(self, entry: Entry) -> tuple[Any, int]:
        """Return the elements of an entry, and their checksum."""
        proto, file = entry.proto, self._file(entry.proto.shard_id)
        if entry.dtype is dtypes.string:
            return strings_from_bytes(file.read_at(proto.offset, proto.size), entry.count)
        file.require(proto.offset, proto.size)
        flat = np.empty(entry.count, entry.dtype.as_numpy_dtype)
        octets = flat.view(np.uint8)
        file.read_into(proto.offset, octets)
        crc = masked(google_crc32c.value(octets))
        return (octets != 0 if entry.dtype is dtypes.bool_ else flat), crc

    def _file(self, shard: int) -> FileSource:
        if not 0 <= shard < self._shards:
            raise DataLossError(f"there are {self._shards} files of data, not one numbered {shard}")
        if shard not in self._files:
            self._files[shard] = self._open(data_name(self.prefix, shard, self._shards))
        return self._files[shard]

    def close(self) -> None:
        """Close its files."""
        with ExitStack() as stack:
            for file in self._files.values():
                stack.callback(file.close)
            self._files.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _quoted(key: bytes) -> str:
    name = key.lstrip(b"\0").partition(b"\0\1")[0]
    return f"tensor {name.decode(errors='backslashreplace')!r}"


def described(name: bytes, entry: Stored) -> bytes:
    """Return name, type and shape of a tensor for people."""
    kind = pb.DataType.Name(entry.dtype.as_datatype_enum)
    return name + f" ({kind}) {brackets(entry.shape)}".encode()


def gathered(name: bytes, entry: Stored, part: TensorSlice, stored: Any, read: Any) -> Any:
    """Return a slice of a tensor, from the slices that are stored.

    Args:
      name: of the tensor.
      entry: what is known of it.
      part: what is wanted.
      stored: the slices that there are.
      read: returns the array of one of them.

    Raises:
      InvalidArgumentError: they do not cover it.
      InternalError: they overlap.
    """
    result = np.empty(tensor_slices.sizes(part, entry.shape), entry.dtype.as_numpy_dtype)
    common_to = [(each, common(part, each, entry.shape)) for each in stored]
    meeting = [(each, both) for each, both in common_to if both is not None]
    _require_cover(name, entry, part, meeting, result.size)
    for each, both in meeting:
        result[within(both, part)] = read(each)[within(both, each)]
    return result


def _require_cover(name: bytes, entry: Stored, part: TensorSlice, meeting: Any, size: int) -> None:
    for at, (first, _) in enumerate(meeting):
        for second, _ in meeting[at + 1 :]:
            if common(first, second, entry.shape) is not None:
                raise InternalError(
                    f"Overlapping slices: existing slice = {show(first)}, "
                    f"new slice = {show(second)}"
                )
    if sum(math.prod(length for _, length in both) for _, both in meeting) != size:
        raise InvalidArgumentError(
            "Does not have sufficient slices for partitioned tensor "
            f"{name.decode(errors='replace')} to restore in slice_spec: {show(part)}; stored are "
            f"{', '.join(map(show, entry.slices)) or 'all'} of {brackets(entry.shape)}"
        )
