"""Checkpoints of the first releases: one table, in one file or in one for each shard.

The table's key "" holds a SavedTensorSlices with `meta`: names, types, shapes and slices of all
tensors. Each other key is that of a slice and holds one with `data`, whose elements stand in the
typed field of a TensorProto.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple, Self

import numpy as np

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.errors import DataLossError, FailedPreconditionError, UnimplementedError
from tfdist.formats.checkpoint import tensor_slices
from tfdist.formats.checkpoint.files import FileSource, missing
from tfdist.formats.checkpoint.pending_files import pending_files
from tfdist.formats.checkpoint.reader import described, dtype_of, gathered
from tfdist.formats.checkpoint.sstable import Table, TableWriter
from tfdist.formats.checkpoint.tensor_slices import ShapeAndSlice, TensorSlice, brackets, slice_key
from tfdist.formats.glob import matching_files
from tfdist.protos import pb

# typed field of TensorProto by type; complex numbers are two, halves their bits
_FIELDS = {
    "float32": "float_val", "float64": "double_val", "int32": "int_val", "uint8": "int_val",
    "int16": "int_val", "int8": "int_val", "uint16": "int_val", "int64": "int64_val",
    "bool": "bool_val", "string": "string_val", "complex64": "scomplex_val",
    "complex128": "dcomplex_val", "float16": "half_val",
}  # fmt: skip


class Slices(NamedTuple):
    """What is known of a tensor in such a checkpoint."""

    dtype: DType
    shape: tuple[int, ...]
    slices: list[TensorSlice]
    tables: dict[TensorSlice, Table]  # where each of them is


class SlicesReader:
    """A checkpoint of the first releases that is read; a context manager that closes its files.

    Args:
      prefix: the name of its file, or a pattern that fits those of all its shards.

    Raises:
      NotFoundError: there is none.
      DataLossError: it is damaged, or something else.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._stack = ExitStack()
        self._tensors: dict[bytes, Slices] = {}
        names: list[str] = [] if not prefix else _files(prefix)
        if not names:
            raise missing(prefix)
        try:
            for name in names:
                self._open(name)
        except BaseException:
            self.close()
            raise

    def _open(self, name: str) -> None:
        try:
            source = self._stack.enter_context(FileSource(name))
            table = Table(source)
            value = table.get(b"")
        except (DataLossError, FailedPreconditionError) as error:
            raise DataLossError(
                f"Unable to open table file {error.message}: perhaps your file is in a different "
                "file format and you need to use a different restore operator?"
            ) from None
        for meta in _message(value, name).meta.tensor:
            self._add(meta, name, table)

    def _add(self, meta: Any, name: str, table: Table) -> None:
        where = f"tensor {meta.name!r} in checkpoint {name}"
        shape = tuple(each.size for each in meta.shape.dim)
        entry = Slices(dtype_of(meta.type, where), shape, [], {})
        known = self._tensors.setdefault(meta.name.encode(), entry)
        if (known.dtype, known.shape) != (entry.dtype, entry.shape) or min(shape, default=0) < 0:
            raise DataLossError(f"{where} has the shape {brackets(shape)}, and another one")
        for each in map(tensor_slices.from_proto, meta.slice):
            tensor_slices.check(each, shape)
            if each not in known.tables:
                known.slices.append(each)
                known.tables[each] = table

    def names(self) -> Iterator[bytes]:
        """Yield the names of the tensors, sorted."""
        return iter(sorted(self._tensors))

    def find(self, name: bytes) -> Slices | None:
        """Return what is known of a tensor; None if it is not there."""
        return self._tensors.get(name)

    def absent(self, name: str) -> str:
        """Return the message that a tensor is not there."""
        return f'Tensor name "{name}" not found in checkpoint files {self.prefix}'

    def read(self, name: bytes) -> Any:
        """Return a tensor that is there."""
        return self.read_slice(name, tensor_slices.whole(self._tensors[name].shape))

    def read_slice(self, name: bytes, part: TensorSlice) -> Any:
        """Return a slice of a tensor that is there."""
        entry = self._tensors[name]
        arrays = {each: self._array(name, entry, each) for each in entry.slices}
        return gathered(name, entry, part, entry.slices, arrays.__getitem__)

    def _array(self, name: bytes, entry: Slices, part: TensorSlice) -> Any:
        where = f"tensor {name.decode()!r} in checkpoint {self.prefix}"
        value = entry.tables[part].get(slice_key(name, part))
        shape = tensor_slices.sizes(part, entry.shape)
        flat = _elements(_message(value, where).data.data, entry.dtype, math.prod(shape), where)
        return flat.reshape(shape)

    def debug_string(self) -> bytes:
        """Return a line for each tensor: name, type, shape, number of slices."""
        return b"".join(
            described(name, entry)
            + (b", %d slices\n" % len(entry.slices) if len(entry.slices) > 1 else b"\n")
            for name, entry in sorted(self._tensors.items())
        )

    def close(self) -> None:
        """Close its files."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _files(pattern: str) -> list[str]:
    return [os.fsdecode(each) for each in matching_files(pattern)]


def _message(value: bytes | None, where: str) -> Any:
    if value is None:
        raise DataLossError(f"{where}: saved tensor slices are not where they must be")
    try:
        return pb.parse(pb.SavedTensorSlices, value)
    except ValueError as error:
        raise DataLossError(f"{where}: {error}") from None


def _elements(proto: Any, dtype: DType, count: int, where: str) -> Any:
    if dtype.name not in _FIELDS:
        raise UnimplementedError(f"{where} is of type {dtype.name}, which the old format has not")
    values = getattr(proto, _FIELDS[dtype.name])
    if dtype is dtypes.string:
        flat = np.empty(len(values), object)
        flat[:] = list(values)
    elif dtype is dtypes.float16:
        flat = np.array(values, np.uint16).view(np.float16)
    elif dtype.is_complex:
        flat = np.array(values, dtype.real_dtype.as_numpy_dtype).view(dtype.as_numpy_dtype)
    else:
        flat = np.array(values, np.int64 if "int" in dtype.name else dtype.as_numpy_dtype)
        flat = flat.astype(dtype.as_numpy_dtype, copy=False)
    if flat.size != count:
        raise DataLossError(f"{where} has {flat.size} elements instead of {count}")
    return flat


# writing


def save_slices(filename: str, tensors: Sequence[tuple[bytes, Any, ShapeAndSlice | None]]) -> None:
    """Write a checkpoint of the first releases.

    Args:
      filename: of its file.
      tensors: name, array, and which slice of a larger tensor it is, None if it is whole.

    Raises:
      UnimplementedError: the format has no such type.
    """
    meta: dict[bytes, Any] = {}
    values: dict[bytes, Any] = {}
    for name, array, part in tensors:
        shape, box = part or (array.shape, tensor_slices.whole(array.shape))
        _list(meta, name, array, shape, box)
        values[slice_key(name, box)] = name, box, array
    with pending_files(filename) as (file,):
        writer = TableWriter(file)
        head = {"tensor": [meta[name] for name in sorted(meta)], "versions": {"producer": 1}}
        writer.add(b"", pb.SavedTensorSlices(meta=head).SerializeToString())
        for key, value in sorted(values.items()):
            writer.add(key, _data(*value).SerializeToString())
        writer.finish()


def _list(meta: Any, name: bytes, array: Any, shape: Sequence[int], box: TensorSlice) -> None:
    dtype = dtypes.as_dtype(array.dtype)
    if dtype.name not in _FIELDS:
        raise UnimplementedError(
            f"Saving data type {dtype.name} not yet supported in this format; tf.train.Saver "
            "writes the present one unless write_version=tf.train.SaverDef.V1"
        )
    if name not in meta:
        meta[name] = pb.SavedSliceMeta(name=name.decode(), type=dtype.as_datatype_enum)
        meta[name].shape.SetInParent()
        for size in shape:
            meta[name].shape.dim.add(size=size)
    meta[name].slice.append(tensor_slices.to_proto(box))


def _data(name: bytes, box: TensorSlice, array: Any) -> Any:
    proto = pb.SavedTensorSlices()
    proto.data.name = name.decode()
    proto.data.slice.CopyFrom(tensor_slices.to_proto(box))
    proto.data.data.SetInParent()
    field = getattr(proto.data.data, _FIELDS[dtypes.as_dtype(array.dtype).name])
    field.extend(_numbers(array.reshape(-1)))
    return proto


def _numbers(flat: Any) -> list[Any]:
    if flat.dtype == np.float16:
        flat = flat.view(np.uint16)
    elif flat.dtype.kind == "c":
        flat = flat.view(flat.real.dtype)
    return flat.tolist()  # type: ignore[no-any-return]
