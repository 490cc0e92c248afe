"""Sums, means, products and extremes of arrays along axes, with the ways round that are quicker."""

from __future__ import annotations

from functools import lru_cache
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
# Of sums by BLAS: numbers in all, numbers of a row and of a column, and numbers of a part.
_FEWEST, _LONGEST, _HIGHEST, _MOST_IN_A_PART = 1 << 15, 1 << 10, 1 << 14, 1 << 18
_NARROW, _MOST_FOLDED = 128, 64  # numbers of a row, and rows that are taken for one


def plain_total(input: Any, axis: Any, keepdims: bool) -> Any:
    """Return sums along axes."""
    if not input.ndim:
        return input
    found = _by_product(input, axis, keepdims)
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


def _by_product(input: Any, axis: Any, keepdims: bool) -> Any:
    """Return sums along the first axes or the last ones as a product with ones, None for others.

    BLAS takes a third to a tenth of the time of NumPy's sums; the more it adds the less exact it
    is.
    """
    found = _neighbours(input, axis)
    if found is None or found == (0, input.ndim) or input.size < _FEWEST:
        return None
    first, end = found
    count = prod(input.shape[first:end])
    if not first:
        sums = sums_of_columns(input.reshape(count, -1))
    elif end == input.ndim and 1 < count <= _LONGEST and input.dtype.char in "fd":
        sums = np.dot(input.reshape(-1, count), _ones(count, input.dtype))
    else:
        return None
    return None if sums is None else _shaped(sums, input, first, end, keepdims)


def sums_of_columns(matrix: Any) -> Any:
    """Return the sums of columns, None where they are not for BLAS.

    They are made by parts, of which BLAS gives the same bits however many threads it takes.
    """
    count, width = matrix.shape
    if type(matrix) is not np.ndarray or matrix.dtype.char not in "fd":
        return None
    if not (1 < count <= _HIGHEST and 0 < width <= _MOST_IN_A_PART // 2):
        return None
    rows = _MOST_IN_A_PART // width
    if count <= rows:
        return np.dot(_ones(count, matrix.dtype), matrix)
    parts = (matrix[start : start + rows] for start in range(0, count, rows))
    return np.add.reduce([np.dot(_ones(len(part), part.dtype), part) for part in parts])


@lru_cache(maxsize=64)
def _ones(count: int, dtype: Any) -> Any:
    return np.ones(count, dtype)


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
