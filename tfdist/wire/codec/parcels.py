"""Parcels: what a step hands a follower, packed without protobuf; only frames carry them.

In step after step it is a few arrays, and to write and read their protos by hand takes longer than
all else about them. So arrays of numbers, and what is dead, go as they are:

    parcel   0, number of values, step | each value
    value    bytes of its key, type, rank, padding, bytes of its content | dims | key | content

The padding stands before the content, so that that is aligned. A type is TensorFlow's number of it;
0 says that the value is dead. No protobuf message begins with a 0. Whatever else is handed on goes
in the messages of `transfers`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

import numpy as np

from tfdist.base.aliases import TensorValue
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import DEAD
from tfdist.graph.tensor_proto import as_truth
from tfdist.wire.codec.tensors import BOOL, LARGE, NUMBERS, NUMPY, memory
from tfdist.wire.common.calls import Piece, Pieces

_PARCEL = struct.Struct("<BxHxxxxQ")
_VALUE = struct.Struct("<HBBIQ")
_ALIGNMENT = 16  # bytes; no element type needs more
_MOST_VALUES, _MOST_DIMS, _LONGEST_KEY = (1 << 16) - 1, 32, (1 << 16) - 1
_LONGEST = 1 << 30  # bytes of a parcel; what is longer is refused, or sent, as any other message

Value = tuple[str, TensorValue]


def packed(step_id: int, values: Sequence[Value]) -> Pieces | None:
    """Return the parcel of what a step has sent; None if it has to go in other messages.

    Args:
      step_id: of the step.
      values: keys, and arrays or NumPy scalars or `DEAD`; the memory of large arrays is handed on.
    """
    if len(values) > _MOST_VALUES:
        return None
    pieces: list[Piece] = []
    small: list[Piece] = [_PARCEL.pack(0, len(values), step_id)]
    size = _PARCEL.size
    for key, value in values:
        entry = _entry(key.encode(), value, size)
        if entry is None:
            return None
        head, content = entry
        small.append(head)
        size += len(head) + len(content)
        if len(content) < LARGE:
            small.append(content)
        else:
            pieces += b"".join(small), content
            small = []
    if size > _LONGEST:
        return None
    return [*pieces, b"".join(small)] if small else pieces


def _entry(key: bytes, value: TensorValue, size: int) -> tuple[bytes, Piece] | None:
    """Return what stands before a value's content, and that; None if it is no plain array."""
    if len(key) > _LONGEST_KEY:
        return None
    if value is DEAD:
        return _VALUE.pack(len(key), 0, 0, 0, 0) + key, b""
    if not isinstance(value, np.ndarray | np.generic):
        return None
    number, shape = NUMBERS.get(value.dtype), value.shape
    if number is None or len(shape) > _MOST_DIMS:
        return None
    content = memory(value)
    dims = struct.pack(f"<{len(shape)}q", *shape)
    padding = -(size + _VALUE.size + len(dims) + len(key)) % _ALIGNMENT
    head = _VALUE.pack(len(key), number, len(shape), padding, len(content))
    return b"".join((head, dims, key, bytes(padding))), content


def is_parcel(message: memoryview) -> bool:
    """Return whether a message is a parcel, or begins as one."""
    return len(message) > 0 and message[0] == 0


def unpacked(message: memoryview) -> tuple[int, list[Value]]:
    """Return the step of a parcel, and keys and values.

    Returns:
      Arrays, which share the message's memory if they are large and aligned there; NumPy scalars
      for rank 0.

    Raises:
      InvalidArgumentError: it cannot be read.
    """
    try:
        _, count, step_id = _PARCEL.unpack_from(message)
        at, values = _PARCEL.size, []
        for _ in range(count):
            key_length, number, rank, padding, length = _VALUE.unpack_from(message, at)
            at += _VALUE.size
            shape = struct.unpack_from(f"<{rank}q", message, at)
            at += 8 * rank
            key = str(message[at : at + key_length], "utf-8")
            at += key_length + padding
            values.append((key, _value(message, at, length, number, shape)))
            at += length
        return step_id, values
    except (struct.error, UnicodeDecodeError, ValueError, OverflowError) as error:
        raise InvalidArgumentError(f"a parcel of tensors cannot be read: {error}") from None


def _value(
    message: memoryview, at: int, length: int, number: int, shape: tuple[int, ...]
) -> TensorValue:
    if not number:
        return DEAD
    dtype, count = NUMPY.get(number), math.prod(shape)
    if dtype is None or count * dtype.itemsize != length or at + length > len(message):
        raise InvalidArgumentError(
            f"a parcel has {len(message) - at} bytes for {length} of type {number}, shape {shape}"
        )
    if not count:
        return np.empty(shape, dtype)
    flat = np.frombuffer(message, dtype, count, at)
    if number == BOOL:
        flat = as_truth(flat)
    if not shape:
        return flat[0]
    array = flat.reshape(shape)
    return array.copy() if length < LARGE or not array.flags.aligned else array
