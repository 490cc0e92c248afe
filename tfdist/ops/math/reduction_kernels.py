"""Sums, means, products and extremes of arrays along axes, with the ways round that are quicker."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tfdist.base import dtypes


def widened(input: Any) -> Any:
    """Return 16-bit floats as float32: their sums would stall where 1 is less than one step."""
    return input.astype(np.float32) if input.dtype.char in "eE" else input


def summed(input: Any, axis: Any, keepdims: bool) -> Any:
    wide = widened(input)
    total = plain_total(wide, axis, keepdims)
    return total if wide is input else total.astype(input.dtype)


MANY = 4096  # elements
_NARROW, _FOLDED = 128, 64  # numbers of a row, and rows that are taken for one


def plain_total(input: Any, axis: Any, keepdims: bool) -> Any:
    """Return sums along axes; of many narrow rows, wide ones first, which NumPy is quicker with."""
    if type(axis) is tuple and input.size > MANY and axis == tuple(range(len(axis))):
        rest = input.shape[len(axis) :]
        size = prod(rest)
        count = input.size // size
        if size <= _NARROW and not count % _FOLDED and input.flags.c_contiguous:
            wide = np.add.reduce(input.reshape(-1, _FOLDED * size), axis=0, dtype=input.dtype)
            total = np.add.reduce(wide.reshape(_FOLDED, size), axis=0, dtype=input.dtype)
            return total.reshape((1,) * len(axis) + rest if keepdims else rest)
    return input.sum(axis=axis, dtype=input.dtype, keepdims=keepdims)


def mean(input: Any, axis: Any, keepdims: bool) -> Any:
    wide = widened(input)
    total = wide.sum(axis=axis, dtype=wide.dtype, keepdims=keepdims)
    count = input.size // total.size if total.size else 1
    if input.dtype.kind in "iu":
        return _truncated(total, count).astype(input.dtype)
    found = total / count
    return found if wide is input else found.astype(input.dtype)


def _truncated(total: Any, count: int) -> Any:
    if not count:  # the mean of no integers
        return total
    return np.sign(total) * (np.absolute(total) // count)


def product(input: Any, axis: Any, keepdims: bool) -> Any:
    return input.prod(axis=axis, dtype=input.dtype, keepdims=keepdims)


def maximum(input: Any, axis: Any, keepdims: bool) -> Any:
    if input.size:
        return _extreme(np.maximum, input, axis, keepdims)
    return _of_nothing(input, axis, keepdims, dtypes.as_dtype(input.dtype).min, -np.inf)


def minimum(input: Any, axis: Any, keepdims: bool) -> Any:
    if input.size:
        return _extreme(np.minimum, input, axis, keepdims)
    return _of_nothing(input, axis, keepdims, dtypes.as_dtype(input.dtype).max, np.inf)


_SHORT = 16  # a last axis


def _extreme(ufunc: Any, input: Any, axis: Any, keepdims: bool) -> Any:
    """Return the extremes; along a short last axis by columns, for NumPy takes row after row."""
    is_last = axis in (-1, (-1,), input.ndim - 1, (input.ndim - 1,)) and input.ndim > 1
    if not is_last or not 1 < input.shape[-1] <= _SHORT or input.size < MANY:
        if type(input) is not np.ndarray:  # CuPy's ufuncs do not reduce
            extremes = input.max if ufunc is np.maximum else input.min
            return extremes(axis=axis, keepdims=keepdims)
        return ufunc.reduce(input, axis=axis, keepdims=keepdims)
    found = ufunc(input[..., 0], input[..., 1])
    for column in range(2, input.shape[-1]):
        ufunc(found, input[..., column], out=found)
    return found[..., None] if keepdims else found


def _of_nothing(input: Any, axis: Any, keepdims: bool, limit: Any, infinite: float) -> Any:
    """Return the extreme of an empty array: the type's own limit, as in TensorFlow."""
    shape = np.zeros(input.shape).sum(axis=axis, keepdims=keepdims).shape
    return np.full(shape, limit if input.dtype.kind in "iu" else infinite, input.dtype)


def euclidean_norm(input: Any, axis: Any, keepdims: bool) -> Any:
    wide = widened(input)
    total = (wide * np.conjugate(wide)).sum(axis=axis, dtype=wide.dtype, keepdims=keepdims)
    return np.sqrt(total).astype(input.dtype)
