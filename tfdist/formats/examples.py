"""Batches of `Example`s, as they stand in the bytes, to arrays.

What is wanted of an example is told by `Sparse` and `Dense` features; a `Telling` finds the words
of errors, which differ between a batch and a single example.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfdist.base.dtypes import DType
from tfdist.base.varints import read_varint
from tfdist.errors import InvalidArgumentError
from tfdist.formats.features import WORDS, OtherTypeError, size_before, stacked, values
from tfdist.protos import pb

_FEWEST_AT_ONCE = 2  # for fewer, looking whether they can takes longer than they do
_OF_LENGTH = 2  # the kind of a field that says how long it is


class Sparse(NamedTuple):
    """A feature of any number of values."""

    key: str
    dtype: DType


class Dense(NamedTuple):
    """A feature of one shape.

    Attributes:
      key: its name.
      dtype: float32, int64 or string.
      shape: of an example's values; its first dimension is None if there may be any number of rows.
      default: [values], what an example has that does not have the feature, None if it must; or,
        where the first dimension is None, the one value that rows are filled with.
    """

    key: str
    dtype: DType
    shape: tuple[int | None, ...]
    default: Any

    @property
    def is_ragged(self) -> bool:
        """Return whether examples may have different numbers of rows."""
        return bool(self.shape) and self.shape[0] is None

    @property
    def stride(self) -> int:
        """Return how many values an example has, or each of its rows."""
        return math.prod(dim for dim in self.shape if dim is not None)

    def show(self) -> str:
        """Return the shape as TensorFlow writes it."""
        return f"[{','.join('?' if dim is None else str(dim) for dim in self.shape)}]"


class Telling(NamedTuple):
    """Where an error happened, in words.

    Attributes:
      names: of the examples, if they have any.
      is_single: whether there is but one example, and no batch.
    """

    names: Sequence[bytes] = ()
    is_single: bool = False

    def of(self, index: int) -> str:
        """Return the beginning of what is told of an example."""
        if self.is_single:
            return ""
        name = self.names[index].decode(errors="replace") if len(self.names) else "<unknown>"
        return f"Name: {name}, "

    def at(self, key: str, index: int) -> str:
        """Return the beginning of what is told of a feature of an example."""
        where = "" if self.is_single else f", Index: {index}"
        return f"{self.of(index)}Key: {key}{where}.  "

    def missing(self, feature: Dense, index: int) -> InvalidArgumentError:
        """Return the error of an example that does not have a feature."""
        return InvalidArgumentError(
            f"{self.of(index)}Feature: {feature.key} (data type: {WORDS[feature.dtype]}) is "
            "required but could not be found."
        )

    def other_type(
        self, feature: Sparse | Dense, index: int, actual: DType
    ) -> InvalidArgumentError:
        """Return the error of a feature that has another type."""
        got, wanted = WORDS[actual], WORDS[feature.dtype]
        types = (
            f"Data type: {got} but expected type: {wanted}"
            if isinstance(feature, Dense)
            else f"Expected type: {wanted}, Actual type: {got}"
        )
        return InvalidArgumentError(f"{self.at(feature.key, index)}Data types don't match. {types}")

    def other_size(self, feature: Dense, index: int, count: int) -> InvalidArgumentError:
        """Return the error of a feature that has another number of values."""
        what = f"Number of {WORDS[feature.dtype]} values"
        if feature.is_ragged:
            what += (
                f" is not a multiple of stride length. Saw {count} values but output shape is: "
                f"{feature.show()}"
            )
        else:
            what += f" != expected.  Values size: {count} but output shape: {feature.show()}"
        start = "Can't parse serialized Example. " if self.is_single else ""
        return InvalidArgumentError(f"{self.at(feature.key, index)}{start}{what}")


def feature_maps(serialized: Sequence[bytes], telling: Telling) -> list[Any]:
    """Return, for each example, a mapping from names to features in bytes.

    Raises:
      InvalidArgumentError: one is no example.
    """
    try:
        return _at_once(serialized) or [
            pb.RawExample.FromString(example).features.feature for example in serialized
        ]
    except Exception:  # protobuf's own class; only what it cannot parse comes here
        whole = [_before_torn_end(example) for example in serialized]
        for index, example in enumerate(whole):
            check_message(pb.RawExample, example, telling.of(index), "example")
        return [pb.RawExample.FromString(example).features.feature for example in whole]


def _before_torn_end(example: bytes) -> bytes:
    """Return an example without a last field that is longer than the rest, and that nobody knows.

    TensorFlow skips such a field without a look whether it is all there.
    """
    at = 0
    try:
        while at < len(example):
            begin = at
            tag, at = read_varint(example, at)
            if tag & 7 != _OF_LENGTH:
                return example
            length, at = read_varint(example, at)
            at += length
            if at > len(example) and tag >> 3 != 1:
                return example[:begin]
    except (IndexError, ValueError):
        pass  # cut within a number
    return example


def _at_once(serialized: Sequence[bytes]) -> list[Any] | None:
    """Return the maps of examples that have nothing but one, which is the only field they have.

    Such examples, one behind the other, are one message with as many fields.
    """
    if len(serialized) < _FEWEST_AT_ONCE:
        return None
    heads = {length: _head(length) for length in set(map(len, serialized))}
    if None in heads.values():
        return None
    beginnings: Any = map(heads.__getitem__, map(len, serialized))
    if not all(map(bytes.startswith, serialized, beginnings)):
        return None
    return [each.feature for each in pb.RawExamples.FromString(b"".join(serialized)).features]


def _head(length: int) -> bytes | None:
    """Return what an example of that length begins with if its map fills it."""
    before = size_before(length - 1) if length else None
    return None if before is None else b"\n" + before


def check_message(message_class: Any, data: bytes, where: str, what: str) -> None:
    """Raise InvalidArgumentError unless `data` hold a message of `message_class`."""
    try:
        pb.parse(message_class, data)
    except ValueError as error:
        short = data if len(data) <= 60 else data[:60] + b"..."
        raise InvalidArgumentError(
            f"{where}Could not parse {what} input, value: {short!r}: {error}"
        ) from None


Rows = Sequence[bytes | None]


def rows_of(maps: Sequence[Any], key: str) -> Rows:
    """Return the feature `key` of each example, None where there is none."""
    return [found[key] if key in found else None for found in maps]


def sparse_values(
    rows: Rows, feature: Sparse, fail: Callable[[Sparse, int, DType], Exception]
) -> list[Any]:
    """Return the values of each row, of which one without the feature has none.

    Args:
      rows: from `rows_of`.
      feature: what they are to be.
      fail: gives the error if they are something else.
    """
    found = []
    for index, row in enumerate(rows):
        try:
            got = None if row is None else values(row, feature.dtype)
        except OtherTypeError as error:
            raise fail(feature, index, error.actual) from None
        found.append(() if got is None else got)
    return found


def joined(parts: Sequence[Any], dtype: DType) -> Any:
    """Return the values in `parts` one after the other, as an array."""
    if dtype.as_numpy_dtype is object:
        flat = [value for part in parts for value in part]
        array = np.empty(len(flat), object)
        array[:] = flat
        return array
    filled = [part for part in parts if len(part)]
    if not filled:
        return np.zeros(0, dtype.as_numpy_dtype)
    return np.concatenate(filled).astype(dtype.as_numpy_dtype, copy=False)


def places(lengths: Sequence[int]) -> tuple[Any, Any]:
    """Return (row, column) of each of the values in rows of these lengths."""
    counts = np.array(lengths, np.int64)
    rows = np.repeat(np.arange(len(counts)), counts)
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    return rows, np.arange(len(rows)) - starts


def sparse_batch(maps: Sequence[Any], feature: Sparse, telling: Telling) -> tuple[Any, Any, Any]:
    """Return (indices, values, dense shape) of a feature in a batch."""
    parts = sparse_values(rows_of(maps, feature.key), feature, telling.other_type)
    lengths = [len(part) for part in parts]
    indices = np.stack(places(lengths), axis=1).astype(np.int64)
    shape = np.array([len(parts), max(lengths, default=0)], np.int64)
    return indices, joined(parts, feature.dtype), shape


def dense_batch(maps: Sequence[Any], feature: Dense, telling: Telling) -> Any:
    """Return the values of a feature in a batch, [examples, *shape]."""
    rows = rows_of(maps, feature.key)
    if feature.is_ragged:
        return _ragged(rows, feature, telling)
    count = feature.stride
    whole = None
    if rows and all(rows):
        whole = stacked(rows, feature.dtype, count)  # type: ignore[arg-type]
    if whole is None:
        whole = _one_by_one(rows, feature, telling)
    return whole.reshape(len(rows), *feature.shape)


def _one_by_one(rows: Rows, feature: Dense, telling: Telling) -> Any:
    whole = np.empty((len(rows), feature.stride), feature.dtype.as_numpy_dtype)
    for index, row in enumerate(rows):
        whole[index] = dense_values(row, feature, index, telling)
    return whole


def dense_values(row: bytes | None, feature: Dense, index: int, telling: Telling) -> Any:
    """Return the values of a feature in one example, one after the other."""
    found = _values(row, feature, index, telling)
    if found is None:
        if feature.default is None:
            raise telling.missing(feature, index)
        return feature.default
    if len(found) != feature.stride:
        raise telling.other_size(feature, index, len(found))
    return found


def _values(row: bytes | None, feature: Dense, index: int, telling: Telling) -> Any:
    try:
        return None if row is None else values(row, feature.dtype)
    except OtherTypeError as error:
        raise telling.other_type(feature, index, error.actual) from None


def ragged_values(row: bytes | None, feature: Dense, index: int, telling: Telling) -> Any:
    """Return the values of a feature in one example, which has any number of rows."""
    found = _values(row, feature, index, telling)
    found = () if found is None else found
    if len(found) % max(feature.stride, 1):
        raise telling.other_size(feature, index, len(found))
    return found


def _ragged(rows: Rows, feature: Dense, telling: Telling) -> Any:
    parts = [ragged_values(row, feature, index, telling) for index, row in enumerate(rows)]
    most = max((len(part) for part in parts), default=0)
    whole = np.full((len(parts), most), feature.default, feature.dtype.as_numpy_dtype)
    for row, part in zip(whole, parts, strict=True):
        row[: len(part)] = part
    return whole.reshape(len(parts), most // max(feature.stride, 1), *feature.shape[1:])
