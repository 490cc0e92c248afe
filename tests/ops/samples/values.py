"""What makes the arrays of the samples."""

from __future__ import annotations

import numpy as np


def floats(*shape, start=0.3):
    """Return different float32 numbers, of both signs, in no order."""
    count = int(np.prod(shape))
    values = start + np.arange(count) * 0.37 % 1.9 - 0.8
    return values.astype(np.float32).reshape(shape)


def ints(*values):
    """Return an int32 array; a single value gives rank 0."""
    return np.array(values[0] if len(values) == 1 else values, np.int32)


def strings(*values):
    """Return an array of strings; a single value gives rank 0."""
    array = np.array(values, object)
    array.reshape(-1)[:] = [value.encode() for value in array.reshape(-1)]
    return array.reshape(()) if array.size == 1 else array


def text(*values):
    """Return an array of bytes; a single value gives rank 0."""
    array = np.empty(len(values), object)
    array[:] = values
    return array.reshape(()) if len(values) == 1 else array


def spread(*shape, start=0.3):
    """Return different float32 numbers, as `floats` does, by other steps."""
    count = int(np.prod(shape))
    values = (start + np.arange(count) * 0.377) % 1.9 - 0.8
    return values.astype(np.float32).reshape(shape)


def complexes(*shape):
    """Return different complex64 numbers."""
    return (floats(*shape) + 1j * floats(*shape, start=0.93)).astype(np.complex64)


def i64(values):
    """Return an array of int64."""
    return np.array(values, np.int64)


def i32(values):
    """Return an array of int32."""
    return np.array(values, np.int32)


def apart(*shape):
    """Return float32 numbers of which no two are near each other, in no order."""
    count = int(np.prod(shape))
    return ((np.arange(count) * 37 % (count + 1)) / 7 - 3).astype(np.float32).reshape(shape)
