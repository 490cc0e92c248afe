"""Lines of comma-separated values: fields, and columns of numbers or strings.

Most lines have neither quotes nor line ends in them, and are split by one call. What stands in
quotes may hold delimiters and line ends, and `""` for a quote; after a quoted field comes a
delimiter or the end. Line ends before a field are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.errors import InvalidArgumentError


class Dialect(NamedTuple):
    """How lines are written.

    Attributes:
      delimiter: one byte between fields.
      quotes: whether quotes are not part of a field but stand around it.
      missing: what a field may hold besides nothing if it has no value.
      columns: which fields of a line are wanted, rising; empty for all.
    """

    delimiter: bytes = b","
    quotes: bool = True
    missing: bytes = b""
    columns: tuple[int, ...] = ()


class Column(NamedTuple):
    """A column's type, and the value of its empty fields; None if it must not have any."""

    dtype: DType
    default: Any


# What makes a line need a closer look.
_UNUSUAL = re.compile(rb'[_yY+"\r\n]')

# From a field that has nothing unusual to the value in it.
_SCALARS: dict[DType, Callable[[bytes], Any]] = {
    dtypes.float32: lambda field: np.float32(float(field)),
    dtypes.float64: lambda field: np.float64(float(field)),
    dtypes.int32: lambda field: np.int32(int(field)),
    dtypes.int64: lambda field: np.int64(int(field)),
    dtypes.string: bytes,
}


def parse_one(record: bytes, dialect: Dialect, columns: Sequence[Column]) -> list[Any]:
    """Return what each column has in one record, as scalars; see `parse`."""
    fields = record.split(dialect.delimiter)
    is_plain = not (dialect.columns or dialect.missing or _UNUSUAL.search(record))
    if is_plain and len(fields) == len(columns) and all(fields):
        try:
            return [
                _SCALARS[column.dtype](field) for column, field in zip(columns, fields, strict=True)
            ]
        except (ValueError, OverflowError):
            pass  # which field, and why, is told below
    return [values[0] for values in parse([record], dialect, columns)]


def parse(records: Sequence[bytes], dialect: Dialect, columns: Sequence[Column]) -> list[Any]:
    """Return the columns of `records`, each an array [records].

    Raises:
      InvalidArgumentError: a record has another number of fields, a field is not of its column's
        type, or has no value though it must, or quotes stand where they cannot.
    """
    text = dialect.delimiter.join(records)
    fields = _at_once(text, records, dialect, len(columns)) or _one_by_one(
        records, dialect, len(columns)
    )
    is_odd = any(sign in text for sign in _ODD)
    return [
        _array(values, column, index, dialect.missing, is_odd)
        for index, (values, column) in enumerate(zip(fields, columns, strict=True))
    ]


def _at_once(
    text: bytes, records: Sequence[bytes], dialect: Dialect, wanted: int
) -> list[list[bytes]] | None:
    """Return the fields of each column, if all records have as many and no quotes or line ends.

    Args:
      text: the records with delimiters between them.
      records: at least one.
      dialect: how they are written.
      wanted: how many columns there must be.
    """
    delimiter, quotes, _, columns = dialect
    if b"\n" in text or b"\r" in text or (quotes and b'"' in text) or not all(records):
        return None
    counts = {record.count(delimiter) for record in records}
    if len(counts) != 1:
        return None
    width = counts.pop() + 1
    if (columns[-1] >= width) if columns else (width != wanted):
        return None
    fields = text.split(delimiter)
    return [fields[column::width] for column in columns or range(width)]


def _one_by_one(records: Sequence[bytes], dialect: Dialect, wanted: int) -> Any:
    rows = [_fields(record, dialect, index, wanted) for index, record in enumerate(records)]
    return zip(*rows, strict=True) if rows else [()] * wanted


def _fields(record: bytes, dialect: Dialect, index: int, wanted: int) -> list[bytes]:
    """Return the fields of the record at `index` that are wanted."""
    columns = dialect.columns
    fields = _tokens(record, dialect, index)
    if columns:
        fields = [fields[column] for column in columns if column < len(fields)]
    if len(fields) != wanted:
        raise InvalidArgumentError(
            f"Expect {wanted} fields but have {len(fields)} in record {index}"
        )
    return fields


def _tokens(record: bytes, dialect: Dialect, index: int) -> list[bytes]:
    delimiter = dialect.delimiter
    token = _token(delimiter, dialect.quotes)
    most = dialect.columns[-1] + 1 if dialect.columns else len(record) + 1
    fields: list[bytes] = []
    at = 0
    while at < len(record) and len(fields) < most:
        if record[at] in b"\r\n":
            at += 1
            continue
        found = token.match(record, at)
        if found is None:
            raise InvalidArgumentError(f"{_problem(record, at)} (record {index}: {record!r})")
        quoted, plain = found.groups()
        fields.append(plain if quoted is None else quoted.replace(b'""', b'"'))
        at = found.end()
    if record.endswith(delimiter) and len(fields) < most:
        fields.append(b"")
    return fields


@lru_cache
def _token(delimiter: bytes, quotes: bool) -> re.Pattern[bytes]:
    """Return the expression for a field and what ends it; the groups are quoted and plain."""
    end = re.escape(delimiter)
    if quotes:
        return re.compile(rb'(?:"([^"]*(?:""[^"]*)*)"|([^"\r\n%b]*))(?:%b|\Z)' % (end, end))
    return re.compile(rb"((?!))?([^\r\n%b]*)(?:%b|\Z)" % (end, end))


_QUOTED = re.compile(rb'"[^"]*(?:""[^"]*)*+"')


def _problem(record: bytes, at: int) -> str:
    if record[at] != ord('"'):
        return "Unquoted fields cannot have quotes/CRLFs inside"
    if _QUOTED.match(record, at):
        return "Quote inside a string has to be escaped by another quote"
    return "Quoted field has to end with quote followed by delim or end"


def _array(
    fields: Sequence[bytes], column: Column, position: int, missing: bytes, is_odd: bool
) -> Any:
    """Return the values of one column; `is_odd` tells of `_ODD` somewhere in the records."""
    dtype = column.dtype
    if dtype is dtypes.string:
        values = _strings(fields, column, position, missing)
        array = np.empty(len(fields), object)
        array[:] = values
        return array
    numbers = _numbers(fields, column, position, missing, is_odd)
    with np.errstate(over="ignore"):  # 1e99 is infinite as float32
        return np.array(numbers, dtype.as_numpy_dtype)


def _strings(
    fields: Sequence[bytes], column: Column, position: int, missing: bytes
) -> Sequence[bytes]:
    if all(fields) and not (missing and missing in fields):
        return fields
    return [
        field if field and field != missing else _default(column, position, index)
        for index, field in enumerate(fields)
    ]


# What Python takes for a number and TensorFlow does not: 1_000, infinity, +1 as an integer.
_ODD = (b"_", b"y", b"Y", b"+")
_ODD_FLOAT, _ODD_INTEGER = re.compile(b"[_yY]"), re.compile(b"[_+]")


def _numbers(
    fields: Sequence[bytes], column: Column, position: int, missing: bytes, is_odd: bool
) -> Sequence[Any]:
    is_integer = column.dtype.is_integer
    if not is_odd:
        try:
            numbers = list(map(int if is_integer else float, fields))
        except ValueError:
            pass
        else:
            if not is_integer or not numbers or _fit(numbers, column.dtype):
                return numbers
    return [_number(field, column, position, index, missing) for index, field in enumerate(fields)]


def _fit(numbers: Sequence[Any], dtype: DType) -> bool:
    return bool(dtype.min <= min(numbers) and max(numbers) <= dtype.max)


def _number(field: bytes, column: Column, position: int, index: int, missing: bytes) -> Any:
    """Return the number in one field, or the default if it is blank."""
    if not field.strip() or (missing and field == missing):
        return _default(column, position, index)
    is_integer = column.dtype.is_integer
    try:
        if (_ODD_INTEGER if is_integer else _ODD_FLOAT).search(field):
            raise ValueError
        number = int(field) if is_integer else float(field)
        if is_integer and not _fit([number], column.dtype):
            raise ValueError
    except ValueError:
        text = field.decode(errors="replace")
        kind = {"float32": "float", "float64": "double"}.get(column.dtype.name, column.dtype.name)
        raise InvalidArgumentError(
            f"Field {position} in record {index} is not a valid {kind}: {text}"
        ) from None
    return number


def _default(column: Column, position: int, index: int) -> Any:
    if column.default is None:
        raise InvalidArgumentError(f"Field {position} is required but missing in record {index}!")
    return column.default
