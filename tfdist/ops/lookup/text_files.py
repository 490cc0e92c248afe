"""Text files that fill lookup tables: a line for each key, whose columns are keys and values.

Source: docstring of tf.lookup.TextFileInitializer in TF 1.15; experiments with it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdist.base.dtypes import DType
from tfdist.errors import InvalidArgumentError, OutOfRangeError
from tfdist.formats.files import read_file

WHOLE_LINE, LINE_NUMBER = -2, -1


def check_column(what: str, index: int, dtype: DType) -> None:
    """Raise InvalidArgumentError if a table's keys or values cannot be of this column.

    Args:
      what: "Key" or "Value".
      index: of the column, or WHOLE_LINE or LINE_NUMBER.
      dtype: of the table's keys or values.
    """
    kind, fits = "", True
    if index == LINE_NUMBER:
        kind, wanted, fits = "line number", "int64", dtype.name == "int64"
    elif index == WHOLE_LINE:
        kind, wanted = "full line", "integer or string" if what == "Key" else "string"
        fits = dtype.name == "string" or (what == "Key" and dtype.is_integer)
    if not fits:
        raise InvalidArgumentError(
            f"{what} index for {kind} requires table {what.lower()} dtype of {wanted}, got "
            f"{dtype.name}"
        )


def read_columns(
    name: bytes, indices: tuple[int, int], types: tuple[DType, DType], count: int, delimiter: bytes
) -> tuple[Any, Any]:
    """Return the keys and values of a file's lines.

    Args:
      name: of the file.
      indices: which column has the keys, and which the values.
      types: of keys and values.
      count: how many lines to read; -1 for all.
      delimiter: one character between columns.

    Raises:
      NotFoundError: there is no such file.
      OutOfRangeError: it is empty, or no line is to be read.
      InvalidArgumentError: it has too few lines, or a line is not as it should be.
    """
    if len(delimiter) != 1:
        raise InvalidArgumentError(f"delimiter should be only 1 char, got {delimiter!r}")
    lines = _lines(name, count)
    rows: Any = None
    if max(indices) >= 0:
        rows = [line.split(delimiter) for line in lines]
        _check_rows(name, lines, rows, max(indices))
    keys, values = (
        _column(lines, rows, index, dtype) for index, dtype in zip(indices, types, strict=True)
    )
    _check_count(name, len(lines), count)
    return keys, values


def _lines(name: bytes, count: int) -> list[bytes]:
    data = read_file(name)
    lines = data.removesuffix(b"\n").split(b"\n") if data else []
    lines = lines if count < 0 else lines[:count]
    if b"\r" in data:
        lines = [line.removesuffix(b"\r") for line in lines]
    if b"" in lines:
        at = sum(len(line) + 1 for line in data.split(b"\n")[: lines.index(b"") + 1])
        raise InvalidArgumentError(
            f"Invalid content in {name.decode(errors='replace')}: empty line found at position "
            f"{at}."
        )
    return lines


def _check_count(name: bytes, found: int, wanted: int) -> None:
    shown = name.decode(errors="replace")
    if found < wanted:
        raise InvalidArgumentError(
            f"Invalid vocab_size in {shown}: expected {wanted} but got {found}"
        )
    if not found:
        raise OutOfRangeError(f"Read less bytes than requested: no lines were read from {shown}")


def _check_rows(
    name: bytes, lines: Sequence[bytes], rows: Sequence[list[bytes]], last: int
) -> None:
    if rows and min(map(len, rows)) <= last:
        number = next(i for i, row in enumerate(rows) if len(row) <= last)
        raise InvalidArgumentError(
            f"Invalid number of columns in {name.decode(errors='replace')} line {number} "
            f"({lines[number].decode(errors='replace')}) : expected {last} got {len(rows[number])}:"
            f" column {last} is counted from 0"
        )


def _column(lines: Sequence[bytes], rows: Any, index: int, dtype: DType) -> Any:
    if index == LINE_NUMBER:
        return np.arange(len(lines))
    texts = lines if index == WHOLE_LINE else [row[index] for row in rows]
    if dtype.is_integer or dtype.is_floating:
        return _numbers(texts, dtype)
    if dtype.name != "string":
        raise InvalidArgumentError(f"Data type {dtype.name} not supported.")
    column = np.empty(len(texts), object)
    column[:] = texts
    return column


_INTEGER = re.compile(rb"\s*-?[0-9]+\s*")


def _numbers(texts: Sequence[bytes], dtype: DType) -> Any:
    parse: Any = int if dtype.is_integer else float
    column = np.empty(len(texts), dtype.as_numpy_dtype)
    for number, text in enumerate(texts):
        try:
            if not _INTEGER.fullmatch(text) and (dtype.is_integer or b"_" in text):
                raise ValueError
            column[number] = parse(text)
        except (ValueError, OverflowError):
            shown = text.decode(errors="replace")
            raise InvalidArgumentError(
                f"Field {shown} in line {number} is not a valid {dtype.name}."
            ) from None
    return column
