"""The ops on lookup tables: state in a server that steps of several sessions look into and change.

A handle is the table itself (`runtime.resources.tables.Table`). Old graphs spell these ops without
"V2", with handles that are references to strings.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import (
    AbortedError,
    FailedPreconditionError,
    InvalidArgumentError,
    UnimplementedError,
)
from tfdist.graph.op_def import OpDef
from tfdist.ops.framework.op_aliases import Spellings
from tfdist.ops.framework.shared_values import as_elements
from tfdist.ops.lookup.buckets import as_array, as_keys
from tfdist.ops.lookup.text_files import check_column, read_columns

__all__: list[str] = []  # the public classes are in lookup_tables and lookup_mutable_tables

_OLD, _NEW = "table_handle: Ref(string)", "table_handle: resource"


def _pair(op: str, inputs: str, outputs: str, attrs: str) -> Spellings:
    """Return both spellings of an op on a table."""
    rest = f"{inputs and ', '}{inputs}) -> {outputs or '()'}{attrs and f' [{attrs}]'}"
    return Spellings(OpDef(f"{op}({_OLD}{rest}"), OpDef(f"{op}V2({_NEW}{rest} !"))


_IN_OUT, _KEY_VALUE = "Tin: type; Tout: type", "Tkeys: type; Tvalues: type"
FIND = _pair(
    "LookupTableFind", "keys: Tin, default_value: Tout", "values: Tout", _IN_OUT
).not_differentiable()
INSERT = _pair("LookupTableInsert", "keys: Tin, values: Tout", "", _IN_OUT)
IMPORT = _pair("LookupTableImport", "keys: Tin, values: Tout", "", _IN_OUT)
SIZE = _pair("LookupTableSize", "", "size: int64", "")
EXPORT = _pair("LookupTableExport", "", "keys: Tkeys, values: Tvalues", _KEY_VALUE)
EXPORT.not_differentiable()
REMOVE = OpDef(f"LookupTableRemoveV2({_NEW}, keys: Tin) -> () [Tin: type] !")
INITIALIZE = _pair("InitializeTable", "keys: Tkey, values: Tval", "", "Tkey: type; Tval: type")
INITIALIZE_FROM_FILE = _pair(
    "InitializeTableFromTextFile", "filename: string", "",
    "key_index: int; value_index: int; vocab_size: int = -1; delimiter: string = '\\t'",
)  # fmt: skip


@FIND.shape
def find_shape(table_handle: Shape, keys: Shape, default_value: Shape) -> Shape:
    return None  # the handle does not tell the shape of a key; the classes do


@INSERT.shape
def insert_shape(table_handle: Shape, keys: Shape, values: Shape) -> list[Shape]:
    return []


@IMPORT.shape
def import_shape(table_handle: Shape, keys: Shape, values: Shape) -> list[Shape]:
    _check_lengths(keys, values)
    return []


@INITIALIZE.shape
def initialize_shape(table_handle: Shape, keys: Shape, values: Shape) -> list[Shape]:
    shapes.require_rank(keys, "keys", 1)
    _check_lengths(keys, values)
    return []


def _check_lengths(keys: Shape, values: Shape) -> None:
    if keys and values:
        shapes.merge_dim(keys[0], values[0], "the numbers of keys and values")


@SIZE.shape
def size_shape(table_handle: Shape) -> Shape:
    return ()


@EXPORT.shape
def export_shape(table_handle: Shape) -> list[Shape]:
    return [None, None]


@REMOVE.shape
def remove_shape(table_handle: Shape, keys: Shape) -> list[Shape]:
    return []


@INITIALIZE_FROM_FILE.shape
def initialize_from_file_shape(table_handle: Shape, filename: Shape) -> list[Shape]:
    shapes.require_rank(filename, "filename", 0)
    return []


# keys and values on their way


def _check_types(table: Any, *types: DType) -> None:
    """Raise InvalidArgumentError unless a table has these types of keys and, if given, values."""
    wanted = table.dtypes[: len(types)]
    if types != wanted:
        have, expected = ("->".join(each.name for each in pair) for pair in (types, wanted))
        raise InvalidArgumentError(
            f"Signature mismatch, have: {have} expected: {expected} of table {table.name!r}"
        )


def _keys(table: Any, keys: Any) -> tuple[list[Any], tuple[int, ...]]:
    """Return the keys in an array, and the shape in which they stand there."""
    keys, (one, _) = as_elements(keys), table.shapes
    rank = keys.ndim - len(one)
    if rank < 0 or keys.shape[rank:] != one:
        raise InvalidArgumentError(f"Expected key shape {list(one)} got {list(keys.shape)}")
    found = as_keys(keys, one[0] if one else 0)
    if table.dense is not None:
        table.dense.check(found)
    return found, keys.shape[:rank]


def _values(table: Any, values: Any, count: int, outer: tuple[int, ...]) -> Any:
    """Return values in an array, [count, shape of a value]."""
    values, (_, one) = as_elements(values), table.shapes
    if values.shape != (*outer, *one):
        raise InvalidArgumentError(
            f"Expected shape {[*outer, *one]} for value, got {list(values.shape)}"
        )
    return values.reshape(count, *one)


@FIND.kernel
def find_kernel(
    table_handle: Any, keys: Any, default_value: Any, *, Tin: DType, Tout: DType
) -> Any:
    table = table_handle
    _check_types(table, Tin, Tout)
    one = table.shapes[1]
    if np.shape(default_value) != one:
        raise InvalidArgumentError(
            f"Expected shape {list(one)} for default value, got {list(np.shape(default_value))}"
        )
    if not table.is_filled:
        raise FailedPreconditionError(
            f"Table not initialized. Run tf.tables_initializer(), or the initializer of table "
            f"{table.name!r}, in this session first"
        )
    if table.is_range:
        return table.at(as_elements(keys).reshape(-1), default_value).reshape(np.shape(keys))
    found, outer = _keys(table, keys)
    return table.find(found, default_value).reshape((*outer, *one))


@INSERT.kernel
def insert_kernel(
    table_handle: Any, keys: Any, values: Any, *, Tin: DType, Tout: DType
) -> list[Any]:
    table = _changeable(table_handle, "Insert")
    _check_types(table, Tin, Tout)
    found, outer = _keys(table, keys)
    table.put(found, _values(table, values, len(found), outer))
    return []


@REMOVE.kernel
def remove_kernel(table_handle: Any, keys: Any, *, Tin: DType) -> list[Any]:
    table = _changeable(table_handle, "Remove")
    _check_types(table, Tin)
    table.remove(_keys(table, keys)[0])
    return []


def _changeable(table: Any, what: str) -> Any:
    if table.is_static:
        raise UnimplementedError(
            f"{what} not supported by InitializableLookupTable implementations: table "
            f"{table.name!r} is filled once; tf.contrib.lookup.MutableHashTable can be changed"
        )
    return table


@SIZE.kernel
def size_kernel(table_handle: Any) -> Any:
    return np.int64(table_handle.size())


# all at once


@IMPORT.kernel
def import_kernel(
    table_handle: Any, keys: Any, values: Any, *, Tin: DType, Tout: DType
) -> list[Any]:
    table = table_handle
    _check_types(table, Tin, Tout)
    if table.is_static:
        _fill(table, keys, values)
    elif table.dense is not None:
        _import_buckets(table, keys, values)
    else:
        found, outer = _keys(table, keys)
        table.replace(found, _values(table, values, len(found), outer))
    return []


def _import_buckets(table: Any, keys: Any, values: Any) -> None:
    """Take over what `export_kernel` told: scalars may stand in columns of length 1."""
    one, value = table.shapes
    found, dense = as_keys(keys, one[0] if one else 0), table.dense
    kept = [i for i, key in enumerate(found) if key not in (dense.empty, dense.deleted)]
    rows = values.reshape(len(keys), *value)[kept]
    table.replace([found[i] for i in kept], rows)


@EXPORT.kernel
def export_kernel(table_handle: Any, *, Tkeys: DType, Tvalues: DType) -> tuple[Any, Any]:
    table = table_handle
    if not table.is_filled:
        raise AbortedError(f"HashTable is not initialized: {table.name!r}")
    _check_types(table, Tkeys, Tvalues)
    keys, values = table.content()
    if table.dense is not None:
        return _as_buckets(table, keys, values)
    return as_array(keys, Tkeys, 0)[:, 0], values


def _as_buckets(table: Any, keys: list[Any], values: Any) -> tuple[Any, Any]:
    dense, (key_dtype, _), size = table.dense, table.dtypes, sum(table.shapes[0])
    array = as_array(keys, key_dtype, size)
    empty = as_array([dense.empty], key_dtype, size)
    buckets = np.repeat(empty, dense.count, axis=0)
    places = dense.places(array)
    buckets[places] = array
    values = values.reshape(len(keys), *(table.shapes[1] or (1,)))
    rows = np.zeros_like(values, shape=(dense.count, *values.shape[1:]))
    if values.dtype == object:
        rows[...] = b""
    rows[places] = values
    return buckets, rows


@INITIALIZE.kernel
def initialize_kernel(
    table_handle: Any, keys: Any, values: Any, *, Tkey: DType, Tval: DType
) -> list[Any]:
    _check_static(table_handle)
    _check_types(table_handle, Tkey, Tval)
    _fill(table_handle, keys, values)
    return []


@INITIALIZE_FROM_FILE.kernel
def initialize_from_file_kernel(
    table_handle: Any, filename: Any, *, key_index: int, value_index: int, vocab_size: int,
    delimiter: bytes,
) -> list[Any]:  # fmt: skip
    _check_static(table_handle)
    name = as_elements(filename)
    if name.ndim:
        raise InvalidArgumentError(
            f"filename should be a single string, but got {list(name.shape)}"
        )
    if not name.item():
        raise InvalidArgumentError("filename cannot be empty.")
    types = table_handle.dtypes
    check_column("Key", key_index, types[0])
    check_column("Value", value_index, types[1])
    if not table_handle.is_filled:
        columns = read_columns(name.item(), (key_index, value_index), types, vocab_size, delimiter)
        _fill(table_handle, *columns)
    return []


def _check_static(table: Any) -> None:
    if not table.is_static:
        raise InvalidArgumentError(
            f"Table {table.name!r} is not initializable: it is a {table.kind}"
        )


def _fill(table: Any, keys: Any, values: Any) -> None:
    shapes.require_rank(np.shape(keys), "keys", 1)
    found, outer = _keys(table, keys)
    differing = table.fill(found, _values(table, values, len(found), outer))
    if differing is not None:
        key, kept, value = differing
        raise FailedPreconditionError(
            f"HashTable has different value for same key. Key {_shown(key)} has {_shown(kept)} and "
            f"trying to add value {_shown(value)}"
        )


def _shown(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
