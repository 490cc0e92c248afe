"""Elements from databases, and elements to files."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any

import numpy as np

from tfdist.base.dtypes import DType
from tfdist.errors import InvalidArgumentError, UnimplementedError, UnknownError
from tfdist.formats.files import local_path
from tfdist.formats.tfrecord import TFRecordWriter
from tfdist.graph.items import TICK, Failure
from tfdist.graph.op_def import OpDef
from tfdist.ops.dataset.dataset_value import (
    Dataset,
    Item,
    Iteration,
    check,
    dataset_op,
    taken,
    text,
)

SQL = dataset_op(
    "SqlDataset", "driver_name: string, data_source_name: string, query: string", stateful=True
)
TO_RECORDS = OpDef(
    "DatasetToTFRecord(input_dataset: variant, filename: string, compression_type: string) -> () !",
    may_run_on=True,
).not_differentiable()

_PIECE = 64  # rows between ticks


class SqlRows(Dataset):
    """The rows that a query of a SQLite database gives."""

    def __init__(self, name: str, query: str, types: list[DType]) -> None:
        self._name, self._query = name, query
        self._read = [_reader(dtype) for dtype in types]

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        try:
            if not os.path.exists(self._name):
                raise sqlite3.OperationalError("unable to open database file")
            with closing(sqlite3.connect(self._name, check_same_thread=False)) as connection:
                for number, row in enumerate(connection.execute(self._query)):
                    yield self._element(row)
                    if not number % _PIECE:
                        yield TICK
        except sqlite3.Error as error:
            yield Failure(UnknownError(f"Sqlite error: {error} in {self._name}: {self._query}"))

    def _element(self, row: tuple[Any, ...]) -> Item:
        if len(row) != len(self._read):
            return Failure(
                InvalidArgumentError(
                    f"The number of columns in query ({len(row)}) must match the number of "
                    f"elements in output_types ({len(self._read)})"
                )
            )
        return tuple([read(value) for read, value in zip(self._read, row, strict=True)])


def _reader(dtype: DType) -> Callable[[Any], Any]:
    """Return what makes a component of a column's value; nothing is 0 or ""."""
    if dtype.name == "string":
        return lambda value: (
            value if isinstance(value, bytes) else str("" if value is None else value).encode()
        )
    kind = np.dtype(dtype.as_numpy_dtype).type
    number: Any = float if np.issubdtype(kind, np.floating) else np.int64

    def read(value: Any) -> Any:
        try:
            return kind(number(value or 0))  # of a smaller type the last bits, as SQLite gives them
        except (ValueError, OverflowError):
            return kind(0)

    return read


@SQL.kernel
def sql_kernel(
    driver_name: Any, data_source_name: Any, query: Any, *, output_types: list[DType]
) -> Dataset:
    if text(driver_name) != b"sqlite":
        raise UnimplementedError("SqlDataset: there is only the driver 'sqlite'")
    return SqlRows(local_path(text(data_source_name)), text(query).decode(), output_types)


@TO_RECORDS.kernel
def to_records_kernel(
    ctx: Any, input_dataset: Dataset, filename: Any, compression_type: Any
) -> Generator[Any, Any, None]:
    iteration = Iteration(ctx)
    items = input_dataset.items(iteration)
    with TFRecordWriter(text(filename), text(compression_type).decode()) as writer:
        while (element := (yield from taken(iteration, items))) is not None:
            check(len(element) == 1, "a record is one string")
            writer.write(text(element[0]))
