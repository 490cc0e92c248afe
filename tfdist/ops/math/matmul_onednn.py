"""Products of matrices by oneDNN, up to twice as fast as by NumPy, for float32."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import onednn
from tfdist.base.onednn import Layout, Primitive
from tfdist.ops.convolution.onednn_windows import planned, suits

_FEWEST_PRODUCTS = 500_000  # for fewer, asking oneDNN takes longer than computing
_FEWEST_FOR_THREADS = 1_500_000  # for fewer, handing a part to a thread does
_FEW_ROWS = 64  # as many times a turned matrix are computed up to four times as fast turned
_NARROW = 16  # one thread of NumPy is faster where a size is less


def dot(a: Any, b: Any) -> Any:
    """Return the product of two matrices that fit.

    Args:
      a: numbers [rows, inner].
      b: numbers [inner, columns].
    """
    sizes = *a.shape, b.shape[1]
    if not is_large(*sizes) or not suits((a, b)):
        return np.dot(a, b)
    a, b = _in_a_row(a), _in_a_row(b)
    threads = onednn.threads() if prod(sizes) >= _FEWEST_FOR_THREADS else 1
    if len(a) <= _FEW_ROWS and b.flags.f_contiguous:
        return _product(b.T, a.T, threads).T.copy()
    return _product(a, b, threads)


def _product(a: Any, b: Any, threads: int) -> Any:
    product = np.empty((a.shape[0], b.shape[1]), np.float32)
    onednn.multiply(a, b, product, threads)
    return product


def is_large(rows: int, inner: int, columns: int) -> bool:
    """Return whether a product of two matrices of these sizes is for oneDNN."""
    fewest = _FEWEST_FOR_THREADS if min(rows, inner, columns) < _NARROW else _FEWEST_PRODUCTS
    return rows * inner * columns >= fewest


def _in_a_row(matrix: Any) -> Any:
    """Return a matrix without gaps, row after row or column after column in memory."""
    flags = matrix.flags
    return matrix if flags.c_contiguous or flags.f_contiguous else np.ascontiguousarray(matrix)


class _Plan(NamedTuple):
    """What computes products of many matrices, and how these lie in memory."""

    compute: Primitive
    a: Layout
    b: Layout
    product: Layout


def matmul(a: Any, b: Any) -> Any:
    """Return the products of as many matrices, or None if that is not for oneDNN.

    Args:
      a: numbers [..., rows, inner].
      b: numbers [..., inner, columns].
    """
    if a.ndim < 3 or a.shape[:-2] != b.shape[:-2]:
        return None
    if prod((*a.shape, b.shape[-1])) < _FEWEST_PRODUCTS or not suits((a, b)):
        return None
    (a, is_a_turned), (b, is_b_turned) = _filled(a), _filled(b)
    batch, (rows, inner), columns = prod(a.shape[:-2]), a.shape[-2:], b.shape[-1]
    plan = _plan(batch, rows, inner, columns, is_a_turned, is_b_turned)
    product = np.empty((*a.shape[:-1], columns), np.float32)
    plan.compute.run(
        (onednn.SOURCE, plan.a, a),
        (onednn.WEIGHTS, plan.b, b),
        (onednn.OUTPUT, plan.product, product),
    )
    return product


def _filled(matrices: Any) -> tuple[Any, bool]:
    """Return matrices without gaps in memory, and whether each lies column after column."""
    is_turned = np.swapaxes(matrices, -1, -2).flags.c_contiguous
    return (matrices, True) if is_turned else (np.ascontiguousarray(matrices), False)


@planned
def _plan(
    batch: int, rows: int, inner: int, columns: int, is_a_turned: bool, is_b_turned: bool
) -> _Plan:
    a, b = _matrices(batch, rows, inner, is_a_turned), _matrices(batch, inner, columns, is_b_turned)
    product = _matrices(batch, rows, columns, False)
    return _Plan(onednn.primitive("matmul", a, b, None, product), a, b, product)


def _matrices(batch: int, rows: int, columns: int, is_turned: bool) -> Layout:
    inner = (1, rows) if is_turned else (columns, 1)
    return onednn.strided((batch, rows, columns), (rows * columns, *inner))
