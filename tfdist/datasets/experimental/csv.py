"""Datasets of rows of CSV files, and of batches of named columns."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.datasets import inputs, mapping, take_skip_repeat
from tfdist.datasets.dataset import Dataset
from tfdist.datasets.experimental.stages import ignore_errors as errors_ignored
from tfdist.datasets.experimental.stages import shuffle_and_repeat
from tfdist.datasets.structure import TensorSpec
from tfdist.formats.files import read_file
from tfdist.formats.glob import matching_files
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor

_BUFFER = 4 * 1024 * 1024  # bytes


class CsvDataset(Dataset):
    """The rows of CSV files: a tuple of scalars, one for each column.

    Args:
      filenames: string tensor.
      record_defaults: for each column a type, if it must have a value, or the value of empty
        fields.
      compression_type: "", "ZLIB" or "GZIP".
      buffer_size: accepted.
      header: whether the first line of each file is passed over.
      field_delim: between fields.
      use_quote_delim: whether quotes stand around fields.
      na_value: what stands for no value besides nothing.
      select_cols: which columns are wanted, rising.
    """

    def __init__(
        self,
        filenames: Any,
        record_defaults: Sequence[Any],
        compression_type: Any = None,
        buffer_size: Any = None,
        header: Any = False,
        field_delim: Any = ",",
        use_quote_delim: Any = True,
        na_value: Any = "",
        select_cols: Any = None,
    ) -> None:
        names = convert_to_tensor(filenames, dtypes.string, name="filenames")
        text = "" if compression_type is None else compression_type
        compression = convert_to_tensor(text, dtypes.string, name="compression_type")
        defaults = [
            _default(each, f"record_defaults_{i}") for i, each in enumerate(record_defaults)
        ]
        found = tuple([TensorSpec([], default.dtype) for default in defaults])
        tensor = raw.CSVDataset(
            names,
            compression,
            inputs.int64(_BUFFER if buffer_size is None else buffer_size, "buffer_size"),
            convert_to_tensor(header, dtypes.bool_, name="header"),
            convert_to_tensor(field_delim, dtypes.string, name="field_delim"),
            convert_to_tensor(use_quote_delim, dtypes.bool_, name="use_quote_delim"),
            convert_to_tensor(na_value, dtypes.string, name="na_value"),
            convert_to_tensor(
                np.array([] if select_cols is None else select_cols, np.int64), name="select_cols"
            ),
            defaults,
            output_shapes=[spec.shape for spec in found],
        )
        super().__init__(tensor, found)


def _default(given: Any, name: str) -> Tensor:
    """Return what a column's empty fields hold as a tensor; an empty one if they may not be."""
    if isinstance(given, Tensor | list | tuple | np.ndarray):
        return convert_to_tensor(given, name=name)
    dtype = dtypes.as_dtype(given)
    return convert_to_tensor(np.zeros(0, dtype.as_numpy_dtype), dtype)


def make_csv_dataset(
    file_pattern: Any,
    batch_size: int,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[Any] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int = 1,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: str | None = None,
    ignore_errors: bool = False,
) -> Dataset:
    """Return batches of the named columns of CSV files: a dict, or a pair of it and the label.

    Types that `column_defaults` does not tell are found in the first rows of the files.

    Args:
      file_pattern: a pattern of names, or several.
      batch_size: number of rows in each.
      column_names: of all columns; the first line says them if None.
      column_defaults: for each wanted column a type or the value of empty fields.
      label_name: column that stands apart, if there is one.
      select_columns: names or numbers of the wanted columns.
      field_delim: between fields.
      use_quote_delim: whether quotes stand around fields.
      na_value: what stands for no value besides nothing.
      header: whether the first line has the names.
      num_epochs: how often the files are read; without end if None.
      shuffle: whether rows come in random order.
      shuffle_buffer_size: how many rows wait to be drawn from.
      shuffle_seed: makes that order repeatable.
      prefetch_buffer_size: accepted.
      num_parallel_reads: number of files whose rows come in turn.
      sloppy: accepted.
      num_rows_for_inference: how many rows are looked at to find types; all if None.
      compression_type: "", "ZLIB" or "GZIP".
      ignore_errors: whether rows that cannot be read are left out.

    Raises:
      ValueError: no file fits, names do not fit, or the label is no column.
    """
    names = _matching(file_pattern)
    looks = _Look(names, field_delim, use_quote_delim, na_value, compression_type)
    columns = list(column_names or looks.names(header))
    if len(columns) != len(set(columns)):
        raise ValueError("Cannot have duplicate column names.")
    chosen = _chosen(columns, select_columns)
    wanted = columns if chosen is None else [columns[i] for i in chosen]
    if label_name is not None and label_name not in wanted:
        raise ValueError("`label_name` provided must be one of the columns.")
    positions = list(range(len(columns))) if chosen is None else chosen
    defaults = looks.defaults(positions, column_defaults, header, num_rows_for_inference)
    files = Dataset.from_tensor_slices(names)
    if shuffle:
        files = files.shuffle(len(names), shuffle_seed)
    types = [_default(each, "Const") for each in defaults]

    def filename_to_dataset(filename: Any) -> Dataset:
        found: Any = CsvDataset(
            filename, types, compression_type, None, header, field_delim, use_quote_delim,
            na_value, chosen,
        )  # fmt: skip
        return found.apply(errors_ignored()) if ignore_errors else found

    def map_fn(*values: Any) -> Any:
        features = OrderedDict(zip(wanted, values, strict=True))
        if label_name is None:
            return features
        label = features.pop(label_name)
        return features, label

    rows = mapping.parallel_interleave(
        files, filename_to_dataset, num_parallel_reads, 1, sloppy, None, None
    )
    rows = shuffled(rows, shuffle, num_epochs, shuffle_buffer_size, shuffle_seed)
    batches = rows.batch(batch_size, drop_remainder=num_epochs is None)
    made = mapping.mapped(batches, map_fn, None, inter_op=False)
    return take_skip_repeat.prefetch(
        made, 1 if prefetch_buffer_size is None else prefetch_buffer_size
    )


def shuffled(rows: Any, shuffle: bool, epochs: int | None, size: int, seed: Any) -> Any:
    """Return rows in random order if they shall be, `epochs` times."""
    if shuffle and epochs != 1:
        return rows.apply(shuffle_and_repeat(size, epochs, seed))
    if shuffle:
        return rows.shuffle(size, seed)
    return rows if epochs == 1 else rows.repeat(epochs)


def _matching(file_pattern: Any) -> list[bytes]:
    patterns = [file_pattern] if isinstance(file_pattern, str | bytes) else list(file_pattern)
    found = sorted({name for each in patterns for name in matching_files(each)})
    if not found:
        raise ValueError("No files match file pattern(s).")
    return found


def _chosen(columns: list[str], select: Sequence[Any] | None) -> list[int] | None:
    """Return the positions of the wanted columns, None for all."""
    if not select:
        return None
    unknown = [each for each in select if not isinstance(each, int) and each not in columns]
    if unknown:
        raise ValueError(f"Value of unknown column(s): {unknown}; there are {columns}")
    return sorted(each if isinstance(each, int) else columns.index(each) for each in select)


class _Look:
    """What the first rows of files tell of their columns."""

    def __init__(
        self,
        names: list[bytes],
        delimiter: str,
        quotes: bool,
        missing: str,
        compression: str | None,
    ) -> None:
        self._names, self._missing, self._compression = names, missing, compression
        quoting = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
        self._form: dict[str, Any] = {"delimiter": delimiter, "quoting": quoting}

    def _rows(self, name: bytes) -> list[list[str]]:
        data = read_file(name)
        if self._compression:
            data = gzip.decompress(data) if self._compression == "GZIP" else zlib.decompress(data)
        return list(csv.reader(data.decode().splitlines(), **self._form))

    def names(self, header: bool) -> list[str]:
        """Return the names in the first line.

        Raises:
          ValueError: there is no such line, or the files differ in it.
        """
        if not header:
            raise ValueError("Cannot infer column names without a header line.")
        found = [self._rows(name)[0] for name in self._names]
        if any(each != found[0] for each in found):
            raise ValueError("Files have different column names in the header row.")
        return found[0]

    def defaults(
        self, positions: list[int], given: Sequence[Any] | None, header: bool, most: int | None
    ) -> list[Any]:
        """Return for each column the type it must have, or the value of its empty fields."""
        if given is not None:
            if len(given) != len(positions):
                raise ValueError("`column_defaults` must have one entry for each wanted column.")
            return [_as_default(each) for each in given]
        ranks = [0] * len(positions)
        for row in [row for name in self._names for row in self._rows(name)[header:]][:most]:
            for i, position in enumerate(positions):
                if position < len(row) and row[position] not in ("", self._missing):
                    ranks[i] = max(ranks[i], _rank(row[position]))
        return [_EMPTY[rank] for rank in ranks]


def _as_default(given: Any) -> Any:
    if isinstance(given, Tensor):
        return given
    if isinstance(given, list | tuple | np.ndarray):
        return np.ravel(given).tolist()
    return dtypes.as_dtype(given)


# What a column's empty fields hold, by the kind of its values: the later can hold the earlier.
_KINDS = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)
_EMPTY: list[Any] = [
    *(np.zeros(1, kind.as_numpy_dtype) for kind in _KINDS), np.array([b""], object)
]  # fmt: skip


def _rank(text: str) -> int:
    """Return the first kind of values that can hold a field."""
    try:
        number = int(text)
    except ValueError:
        pass
    else:
        if abs(number) < 2**63:
            return 0 if -(2**31) < number < 2**31 else 1
    try:
        value = float(text)
    except ValueError:
        return len(_KINDS)
    is_single = value == 0 or not np.isfinite(value) or 1e-38 < abs(value) < 3.4e38
    return 2 if is_single else 3
