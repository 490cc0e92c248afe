"""Sums, means, products and extremes of arrays along axes, with the ways round that are quicker."""

from __future__ import annotations

from math import gcd, prod
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
_LONGEST = 1024  # of rows that are summed number by number
_NARROW, _MOST_FOLDED = 128, 64  # numbers of a row, and rows that are taken for one


def plain_total(input: Any, axis: Any, keepdims: bool) -> Any:
    """Return sums along axes."""
    found = _of_rows(input, axis, keepdims)
    if found is None:
        found = _of_narrow_rows(np.add, input, axis, keepdims)
    return input.sum(axis=axis, dtype=input.dtype, keepdims=keepdims) if found is None else found


def _neighbours(input: Any, axis: Any) -> tuple[int, int] | None:
    """Return the first axis to reduce and the end, of a large array; None if others are between."""
    axes = axis if type(axis) is tuple else (axis,)
    is_large = input.size > MANY and type(input) is np.ndarray and input.flags.c_contiguous
    if not is_large or not axes or axes[0] is None:
        return None
    first, end = axes[0] % input.ndim, axes[0] % input.ndim + len(axes)
    return (first, end) if [each % input.ndim for each in axes] == [*range(first, end)] else None


def _of_rows(input: Any, axis: Any, keepdims: bool) -> Any:
    """Return sums along the last axes, None if they are not for `einsum`.

    It takes a third of the time where rows are short; the longer they are the less exact it is.
    """
    found = _neighbours(input, axis)
    if found is None or found[1] < input.ndim or not found[0] or input.dtype.char not in "fd":
        return None
    first, end = found
    count = prod(input.shape[first:])
    if not 1 < count <= _LONGEST:
        return None
    sums = np.einsum("ij->i", input.reshape(-1, count))
    return _shaped(sums, input, first, end, keepdims)


def _of_narrow_rows(ufunc: Any, input: Any, axis: Any, keepdims: bool) -> Any:
    """Return a reduction along neighbouring axes before the last: several rows at a time first.

    None where rows are not narrow: for wide ones NumPy is quick.
    """
    found = _neighbours(input, axis)
    if found is None:
        return None
    first, end = found
    size, count = prod(input.shape[end:]), prod(input.shape[first:end])
    folded = gcd(count, _MOST_FOLDED)
    if not 1 < size <= _NARROW or folded in (1, count):
        return None
    wide = ufunc.reduce(input.reshape(-1, count // folded, folded * size), 1, input.dtype)
    reduced = ufunc.reduce(wide.reshape(-1, folded, size), 1, input.dtype)
    return _shaped(reduced, input, first, end, keepdims)


def _shaped(reduced: Any, input: Any, first: int, end: int, keepdims: bool) -> Any:
    """Return what was reduced along axes `first` to `end` in the shape that it has to have."""
    kept = (1,) * (end - first) if keepdims else ()
    return reduced.reshape(input.shape[:first] + kept + input.shape[end:])


def mean(input: Any, axis: Any, keepdims: bool) -> Any:
    wide = widened(input)
    total = plain_total(wide, axis, keepdims)
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
        extreme = _of_narrow_rows(ufunc, input, axis, keepdims)
        return ufunc.reduce(input, axis=axis, keepdims=keepdims) if extreme is None else extreme
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
