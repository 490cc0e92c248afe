"""One `Feature` of an `Example`, as it stands in the bytes, to an array.

A Feature is a list of bytes, of floats or of int64s: a tag that tells which, its length, and inside
of it, as all writers write numbers, one packed field with all of them. So what stands before the
numbers follows from the length of the whole; where something else stands there, protobuf parses
the feature in full.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.base.varints import varint
from tfdist.errors import InvalidArgumentError
from tfdist.protos import pb

# The first byte of a Feature, by the type of its list.
TAGS = {dtypes.string: 0x0A, dtypes.float32: 0x12, dtypes.int64: 0x1A}
_KINDS = {"bytes_list": dtypes.string, "float_list": dtypes.float32, "int64_list": dtypes.int64}
_FIELDS = {dtype: name for name, dtype in _KINDS.items()}
WORDS = {dtypes.string: "string", dtypes.float32: "float", dtypes.int64: "int64"}

_FLOATS = np.dtype("<f4")


class OtherTypeError(ValueError):
    """A feature has another type than is wanted.

    Attributes:
      actual: the type that it has.
    """

    def __init__(self, actual: DType) -> None:
        super().__init__(actual.name)
        self.actual = actual


@lru_cache(maxsize=1 << 14)
def head(dtype: DType, length: int) -> bytes | None:
    """Return what stands before the values of a feature of `length` bytes; None if nothing can."""
    outer = size_before(length - 1)
    if outer is None:
        return None
    inside = length - 1 - len(outer)
    start = bytes([TAGS[dtype]]) + outer
    if not inside:
        return start
    inner = size_before(inside - 1)
    return None if inner is None else start + b"\x0a" + inner


@lru_cache(maxsize=1 << 14)
def size_before(length: int) -> bytes | None:
    """Return the varint that, with as many bytes as it says behind it, has `length` bytes."""
    for size in range(1, 6):
        found = varint(max(length - size, 0))
        if len(found) == size:
            return found if length >= size else None
    return None


def values(feature: bytes, dtype: DType) -> Any:
    """Return the values of a feature: an array of numbers, a list of strings.

    Returns:
      None if the feature has no list at all.

    Raises:
      OtherTypeError: it has a list of another type.
      InvalidArgumentError: it is no feature.
    """
    before = head(dtype, len(feature))
    if before is not None and feature.startswith(before):
        at = len(before)
        if dtype is dtypes.string:
            return [feature[at:]] if at > 2 else []
        if dtype is dtypes.int64:
            return packed_numbers(feature[at:])
        if (len(feature) - at) % 4 == 0:
            return np.frombuffer(feature, _FLOATS, offset=at)
    return _parsed(feature, dtype)


def _parsed(feature: bytes, dtype: DType) -> Any:
    if not feature:
        return None
    try:
        message = pb.parse(pb.Feature, feature)
    except ValueError:
        raise InvalidArgumentError(f"Could not parse a Feature of {len(feature)} bytes") from None
    kind = message.WhichOneof("kind")
    if kind is None:
        return None
    if _KINDS[kind] is not dtype:
        raise OtherTypeError(_KINDS[kind])
    found = getattr(message, kind).value
    return found[:] if dtype is dtypes.string else np.array(found[:], dtype.as_numpy_dtype)


def packed_numbers(data: bytes) -> Any:
    """Return the int64s in packed varints.

    Raises:
      InvalidArgumentError: the last one does not end.

    Example:
      >>> packed_numbers(bytes([5, 0x96, 0x01]))
      array([  5, 150])
    """
    small = np.frombuffer(data, np.uint8)
    if data.isascii():  # each byte is a number
        return small.astype(np.int64)
    ends = varint_ends(small)
    starts = np.concatenate(([0], ends[:-1] + 1))
    places = np.arange(len(small)) - np.repeat(starts, ends - starts + 1)
    if places.max() > 9:
        raise InvalidArgumentError("a varint has more than 10 bytes")
    parts = (small & 0x7F).astype(np.uint64) << (7 * places).astype(np.uint64)
    return np.add.reduceat(parts, starts).view(np.int64)


def varint_ends(data: Any) -> Any:
    """Return where each varint in an array of bytes has its last byte."""
    ends = np.flatnonzero(data < 0x80)
    if len(data) and (not len(ends) or ends[-1] != len(data) - 1):
        raise InvalidArgumentError("the last varint of a feature does not end")
    return ends


def stacked(features: Sequence[bytes], dtype: DType, count: int) -> Any:
    """Return the values of features that have `count` of them each, [features, count].

    Args:
      features: at least one, none of them empty.
      dtype: of the values.
      count: of the values.

    Returns:
      None if they do not all have as many, or are not written as usual: each has to be looked at.
    """
    lengths = set(map(len, features))
    heads: Any = {length: head(dtype, length) for length in lengths}
    if None in heads.values():
        return None
    if len(lengths) == 1 and dtype is not dtypes.string:
        return _equally_long(features, dtype, count, *heads.values())
    if not all(map(bytes.startswith, features, map(heads.__getitem__, map(len, features)))):
        return None
    sizes = {length: len(before) for length, before in heads.items()}
    payloads = [
        feature[size:]
        for feature, size in zip(features, map(sizes.__getitem__, map(len, features)), strict=True)
    ]
    if dtype is dtypes.string:
        return _strings(payloads, heads, count)
    return None if dtype is dtypes.float32 else _integers(payloads, b"".join(payloads), count)


def _equally_long(features: Sequence[bytes], dtype: DType, count: int, before: Any) -> Any:
    """Return the numbers of features that have one length, and so should have one head."""
    rows = np.frombuffer(b"".join(features), np.uint8).reshape(len(features), -1)
    size = len(before)
    if (rows[:, :size] != np.frombuffer(before, np.uint8)).any():
        return None
    rest = np.array(rows[:, size:], order="C")
    if dtype is dtypes.float32:
        is_whole = rest.shape[1] == 4 * count
        return rest.view(_FLOATS).astype(np.float32, copy=False) if is_whole else None
    if rest.shape[1] == count and rest.max(initial=0) < 0x80:
        return rest.astype(np.int64)
    return _integers([feature[size:] for feature in features], rest.tobytes(), count)


def _strings(payloads: Sequence[bytes], heads: Any, count: int) -> Any:
    if count != 1 or 2 in heads:  # an empty list
        return None
    array = np.empty(len(payloads), object)
    array[:] = payloads
    return array.reshape(-1, 1)


def _integers(payloads: Sequence[bytes], joined: bytes, count: int) -> Any:
    if joined.isascii():
        if set(map(len, payloads)) != {count}:
            return None
    else:
        borders = np.cumsum(list(map(len, payloads)))
        ends = varint_ends(np.frombuffer(joined, np.uint8))
        counts = np.diff(np.searchsorted(ends, borders), prepend=0)
        if (counts != count).any() or not np.isin(borders - 1, ends).all():
            return None
    return packed_numbers(joined).reshape(len(payloads), count)
