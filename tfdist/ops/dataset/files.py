"""Elements from files: lines, TFRecords, records of fixed length, rows of CSV, names of files."""

from __future__ import annotations

import io
import itertools
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import Any

import numpy as np

from tfdist.errors import InvalidArgumentError, OpError
from tfdist.formats import csv
from tfdist.formats.compression import WINDOW_BITS, Inflated
from tfdist.formats.files import BUFFER, file_errors, open_file
from tfdist.formats.glob import matching_files
from tfdist.formats.tfrecord import read_records
from tfdist.graph.items import TICK, Failure
from tfdist.ops.dataset.dataset_value import (
    TYPES,
    Dataset,
    Element,
    Item,
    Iteration,
    check,
    dataset_op,
    text,
)

_FILES = "filenames: string"
_COMPRESSED = f"{_FILES}, compression_type: string, buffer_size: int64"
_FIXED = f"{_FILES}, header_bytes: int64, record_bytes: int64, footer_bytes: int64"

TEXT_LINE = dataset_op("TextLineDataset", _COMPRESSED, "", stateful=True)
TF_RECORD = dataset_op("TFRecordDataset", _COMPRESSED, "", stateful=True)
FIXED_LENGTH = dataset_op(
    "FixedLengthRecordDataset", f"{_FIXED}, buffer_size: int64", "", stateful=True
)
FIXED_LENGTH_V2 = dataset_op(
    "FixedLengthRecordDatasetV2",
    f"{_FIXED}, buffer_size: int64, compression_type: string",
    "",
    stateful=True,
)
MATCHING_FILES = dataset_op("MatchingFilesDataset", "patterns: string", "", stateful=True)
CSV = dataset_op(
    "CSVDataset",
    f"{_COMPRESSED}, header: bool, field_delim: string, use_quote_delim: bool, na_value: string, "
    "select_cols: int64, record_defaults: output_types",
    TYPES,
    stateful=True,
)

CSV_V2 = dataset_op(
    "CSVDatasetV2",
    f"{_COMPRESSED}, header: bool, field_delim: string, use_quote_delim: bool, na_value: string, "
    "select_cols: int64, record_defaults: output_types, exclude_cols: int64",
    TYPES,
    stateful=True,
)

_PIECE = 64  # records between ticks

Read = Callable[[bytes], Iterator[Element]]


class Records(Dataset):
    """What files hold, one file after the other; what fails ends its file."""

    def __init__(self, names: Any, read: Read) -> None:
        self._names = np.ravel(np.asarray(names, object)).tolist()
        self._read = read

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        for name in self._names:
            try:
                for number, record in enumerate(self._read(name)):
                    yield record
                    if not number % _PIECE:
                        yield TICK
            except OpError as error:
                yield Failure(error)


def stream_of(name: bytes, compression: bytes) -> Any:
    """Return an opened file, inflated on the way."""
    file = open_file(name)
    if compression == b"":
        return file
    return io.BufferedReader(Inflated(file, compression.decode()), BUFFER)


def _checked(compression: Any) -> bytes:
    name = text(compression)
    check(
        name == b"" or name.decode() in WINDOW_BITS,
        f"Unsupported compression_type: {name.decode(errors='replace')}.",
    )
    return name


def _lines(compression: bytes) -> Read:
    def read(name: bytes) -> Iterator[Element]:
        with closing(stream_of(name, compression)) as stream, file_errors(name):
            for line in stream:
                yield (line.rstrip(b"\n").replace(b"\r", b""),)

    return read


def _tf_records(compression: bytes) -> Read:
    def read(name: bytes) -> Iterator[Element]:
        for _, record in read_records(name, compression.decode()):
            yield (record,)

    return read


@TEXT_LINE.kernel
def text_line_kernel(filenames: Any, compression_type: Any, buffer_size: Any) -> Dataset:
    return Records(filenames, _lines(_checked(compression_type)))


@TF_RECORD.kernel
def tf_record_kernel(filenames: Any, compression_type: Any, buffer_size: Any) -> Dataset:
    return Records(filenames, _tf_records(_checked(compression_type)))


def _fixed(header: int, record: int, footer: int, compression: bytes) -> Read:
    def read(name: bytes) -> Iterator[Element]:
        with closing(stream_of(name, compression)) as stream, file_errors(name):
            if compression == b"":
                _check_size(name, header, record, footer)
            stream.read(header)
            window = stream.read(record + footer)
            while len(window) == record + footer:
                yield (window[:record],)
                window = window[record:] + stream.read(record)

    return read


def _check_size(name: bytes, header: int, record: int, footer: int) -> None:
    body = os.path.getsize(name) - header - footer
    if body % record:
        raise InvalidArgumentError(
            f"Excluding the header ({header} bytes) and footer ({footer} bytes), input file "
            f'"{os.fsdecode(name)}" has body length {body} bytes, which is not an exact '
            f"multiple of the record length ({record} bytes)."
        )


@FIXED_LENGTH.kernel
@FIXED_LENGTH_V2.kernel
def fixed_length_kernel(
    filenames: Any,
    header_bytes: Any,
    record_bytes: Any,
    footer_bytes: Any,
    buffer_size: Any,
    compression_type: Any = b"",
) -> Dataset:
    check(header_bytes >= 0, "header_bytes must be >= 0")
    check(record_bytes > 0, "record_bytes must be > 0")
    check(footer_bytes >= 0, "footer_bytes must be >= 0")
    sizes = int(header_bytes), int(record_bytes), int(footer_bytes)
    return Records(filenames, _fixed(*sizes, _checked(compression_type)))


class MatchingFiles(Dataset):
    """The names of files that fit patterns, sorted."""

    def __init__(self, patterns: Any) -> None:
        self._patterns = np.ravel(np.asarray(patterns, object)).tolist()

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        for name in sorted({name for each in self._patterns for name in matching_files(each)}):
            yield (name,)


@MATCHING_FILES.kernel
def matching_files_kernel(patterns: Any) -> Dataset:
    return MatchingFiles(patterns)


# rows of CSV


class Rows(Dataset):
    """The records of CSV files, a component for each column.

    A record that is wrong fails alone; the next one follows.
    """

    def __init__(
        self,
        names: Any,
        compression: bytes,
        has_header: bool,
        dialect: csv.Dialect,
        columns: Sequence[csv.Column],
    ) -> None:
        self._names = np.ravel(np.asarray(names, object)).tolist()
        self._compression, self._has_header = compression, has_header
        self._dialect, self._columns = dialect, columns

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        for name in self._names:
            try:
                for piece in _pieces(self._records(name)):
                    yield from self._elements(piece)
                    yield TICK
            except OpError as error:
                yield Failure(error)

    def _records(self, name: bytes) -> Iterator[bytes]:
        with closing(stream_of(name, self._compression)) as stream, file_errors(name):
            records = _whole(stream, self._dialect.quotes)
            yield from islice(records, int(self._has_header), None)

    def _elements(self, records: Sequence[bytes]) -> Iterator[Item]:
        if not records:
            return
        try:
            columns = csv.parse(records, self._dialect, self._columns)
        except InvalidArgumentError as error:
            if len(records) == 1:
                yield Failure(InvalidArgumentError(_NUMBER.sub(" in record", error.message)))
                return
            for record in records:
                yield from self._elements([record])
        else:
            yield from zip(*columns, strict=True)


_NUMBER = re.compile(r" in record \d+")  # whoever reads one record at a time has no number for it


def _pieces(records: Iterator[bytes]) -> Iterator[list[bytes]]:
    """Yield several records at once; an error comes after what stands before it."""
    piece: list[bytes] = []
    try:
        for record in records:
            piece.append(record)
            if len(piece) == _PIECE:
                yield piece
                piece = []
    except OpError as error:
        yield piece
        raise error
    yield piece


def _whole(stream: Any, has_quotes: bool) -> Iterator[bytes]:
    """Yield the records of a file: lines, joined where a quoted field goes on in the next one."""
    record = b""
    for line in stream:
        record += line
        if not has_quotes or not record.count(b'"') % 2:
            yield record.rstrip(b"\r\n")
            record = b""
    if record:
        yield record


@CSV.kernel
@CSV_V2.kernel
def csv_kernel(
    filenames: Any,
    compression_type: Any,
    buffer_size: Any,
    header: Any,
    field_delim: Any,
    use_quote_delim: Any,
    na_value: Any,
    select_cols: Any,
    record_defaults: list[Any],
    exclude_cols: Any = (),
    *,
    output_types: list[Any],
) -> Dataset:
    check(
        not len(exclude_cols) or not len(select_cols),
        "Either select_cols or exclude_cols should be empty",
    )
    select_cols = _without(exclude_cols, len(output_types)) if len(exclude_cols) else select_cols
    check(len(text(field_delim)) == 1, "field_delim should be only 1 char")
    chosen = tuple(map(int, select_cols))
    check(not chosen or len(chosen) == len(output_types), "select_cols should match output size")
    check(list(chosen) == sorted(set(chosen)), "select_cols should be strictly increasing indices")
    check(not chosen or chosen[0] >= 0, "select_cols should be non-negative indices")
    dialect = csv.Dialect(text(field_delim), bool(use_quote_delim), text(na_value), chosen)
    columns = [
        csv.Column(dtype, np.ravel(default)[0] if np.size(default) else None)
        for dtype, default in zip(output_types, record_defaults, strict=True)
    ]
    compression = _checked(compression_type)
    return Rows(filenames, compression, bool(header), dialect, columns)


def _without(excluded: Any, count: int) -> list[int]:
    """Return the first `count` numbers of columns that are not `excluded`."""
    gone = set(map(int, excluded))
    return list(islice((number for number in itertools.count() if number not in gone), count))
