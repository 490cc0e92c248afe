"""`tf.decode_csv`: lines of comma-separated values to one tensor for each column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.formats import csv
from tfdist.graph.op_def import Known, OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.framework.shared_values import as_elements

__all__ = ["decode_csv"]

DECODE_CSV = OpDef(
    "DecodeCSV(records: string, record_defaults: OUT_TYPE) -> output: OUT_TYPE "
    "[OUT_TYPE: list(type) {float32,float64,int32,int64,string} >=1; field_delim: string = ','; "
    "use_quote_delim: bool = True; na_value: string = ''; select_cols: list(int) = []]"
).not_differentiable()


@DECODE_CSV.checked_shape
def decode_csv_shape(records: Shape, record_defaults: Sequence[Shape]) -> list[Shape]:
    for shape in record_defaults:
        shapes.require_rank(shape, "a default", 0, 1)
        if shape and (shape[0] or 0) > 1:
            raise InvalidArgumentError(
                "Shape of a default must be a length-0 or length-1 vector, or a scalar., got "
                f"{shapes.show(shape)}"
            )
    return [records] * len(record_defaults)


@DECODE_CSV.kernel
def decode_csv_kernel(
    records: Any, record_defaults: list[Any], *, OUT_TYPE: list[DType], field_delim: bytes,
    use_quote_delim: bool, na_value: bytes, select_cols: list[int],
) -> list[Any]:  # fmt: skip
    dialect = _dialect(field_delim, use_quote_delim, na_value, select_cols)
    return _parsed(records, dialect, _columns(record_defaults, OUT_TYPE))


@DECODE_CSV.specialize
def decode_csv_known(known: Known) -> Callable[..., list[Any]] | None:
    """Look at delimiter and defaults once, if the defaults are constants."""
    defaults = known.values[1:]
    if any(default is None for default in defaults):
        return None
    attrs = known.attrs
    try:
        dialect = _dialect(
            attrs["field_delim"], attrs["use_quote_delim"], attrs["na_value"], attrs["select_cols"]
        )
        columns = _columns(defaults, attrs["OUT_TYPE"])
    except InvalidArgumentError:  # for the kernel to tell
        return None
    return lambda records, *_: _parsed(records, dialect, columns)


def _dialect(delimiter: bytes, quotes: bool, missing: bytes, columns: Sequence[int]) -> csv.Dialect:
    if len(delimiter) != 1:
        raise InvalidArgumentError(f"field_delim should be only 1 char, got {delimiter!r}")
    return csv.Dialect(delimiter, quotes and delimiter != b'"', missing, tuple(columns))


def _columns(defaults: Sequence[Any], types: Sequence[DType]) -> list[csv.Column]:
    found: list[csv.Column] = []
    for default, dtype in zip(defaults, types, strict=True):
        values = as_elements(default).reshape(-1)
        if values.size > 1:
            raise InvalidArgumentError(
                f"There should only be 1 default per field but field {len(found)} has {values.size}"
            )
        found.append(csv.Column(dtype, values[0] if values.size else None))
    return found


def _parsed(records: Any, dialect: csv.Dialect, columns: Sequence[csv.Column]) -> list[Any]:
    if type(records) is bytes:
        return csv.parse_one(records, dialect, columns)
    shape = np.shape(records)
    found = csv.parse(records.reshape(-1).tolist(), dialect, columns)
    return [column.reshape(shape) for column in found]


def decode_csv(
    records: Any,
    record_defaults: Any,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
) -> list[Tensor]:
    """Return the columns of lines of comma-separated values: `tf.io.decode_csv`.

    Args:
      records: strings of any shape, one line in each; line ends may stand in quotes only.
      record_defaults: list with one tensor for each column, of its type (float32, float64, int32,
        int64 or string): the value of its empty fields, or no value at all (shape [0]) if it must
        not have any. A number's field is empty if it has but spaces, too.
      field_delim: one letter between the fields.
      use_quote_delim: whether quotes around a field do not belong to it; `""` inside is a quote.
      name: of the node.
      na_value: what else stands for an empty field.
      select_cols: numbers of the columns that are wanted, rising; the defaults are theirs.

    Returns:
      A tensor for each column, of the shape of `records`.

    Raises:
      InvalidArgumentError: a line does not fit (when it runs).
      ValueError: `select_cols` and the defaults do not fit together.

    Example:
      >>> x, y, label = decode_csv(["1.,2.,0", "4.,  ,1"], [[-1.0], [-1.0], [0]])
      >>> Session().run([x, y, label])
      [array([1., 4.], dtype=float32), array([ 2., -1.], dtype=float32), array([0, 1], dtype=int32)]
    """
    columns = [] if select_cols is None else [int(column) for column in select_cols]
    _check_columns(columns, record_defaults)
    tensors: list[Tensor] = raw.DecodeCSV(
        records, list(record_defaults), field_delim=field_delim, use_quote_delim=use_quote_delim,
        na_value=na_value, select_cols=columns, name=name,
    )  # fmt: skip
    return tensors


def _check_columns(columns: Sequence[int], defaults: Any) -> None:
    if any(after <= before for before, after in pairwise(columns)):
        raise ValueError("select_cols is not strictly increasing.")
    if columns and columns[0] < 0:
        raise ValueError("select_cols contains negative values.")
    if columns and len(columns) != len(defaults):
        raise ValueError("Length of select_cols and record_defaults do not match.")
