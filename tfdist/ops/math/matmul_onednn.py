"""Products of matrices by oneDNN, up to twice as fast as by NumPy, for float32."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from tfdist.base import onednn
from tfdist.base.onednn import Layout, Primitive
from tfdist.ops.convolution.onednn_windows import planned, steps, suits

_FEWEST = 3_000_000  # products of numbers; for fewer in two matrices, NumPy's BLAS is as fast
_FEWEST_IN_BATCH = 500_000  # for fewer, asking oneDNN takes longer than computing
_FEW_ROWS = 64  # as many times a turned matrix are computed up to four times as fast turned

Axes: TypeAlias = tuple[int, ...]


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
    if len(a) <= _FEW_ROWS and b.flags.f_contiguous:
        return _product(b.T, a.T).T.copy()
    return _product(a, b)


def _product(a: Any, b: Any) -> Any:
    product = np.empty((a.shape[0], b.shape[1]), np.float32)
    onednn.multiply(a, b, product, onednn.threads())
    return product


def is_large(rows: int, inner: int, columns: int) -> bool:
    """Return whether a product of two matrices of these sizes is for oneDNN."""
    return rows * inner * columns >= _FEWEST


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
    if prod((*a.shape, b.shape[-1])) < _FEWEST_IN_BATCH or not suits((a, b)):
        return None
    product = np.empty((*a.shape[:-1], b.shape[-1]), np.float32)
    (a, order_a), (b, order_b) = _ordered(a), _ordered(b)
    plan = _plan(a.shape, b.shape, order_a, order_b)
    if plan is None:
        return None
    plan.compute.run(
        (onednn.SOURCE, plan.a, a),
        (onednn.WEIGHTS, plan.b, b),
        (onednn.OUTPUT, plan.product, product),
    )
    return product


# How batches may lie in memory, the axes from the outermost to the innermost: row after row, or
# column after column; the last two are heads of attention, which lie side by side. In other orders,
# or with gaps, oneDNN takes up to a thousand times as long.
_ORDERS = {
    3: ((0, 1, 2), (0, 2, 1)),
    4: ((0, 1, 2, 3), (0, 1, 3, 2), (0, 2, 1, 3), (0, 3, 1, 2)),
}


def _ordered(matrices: Any) -> tuple[Any, Axes]:
    """Return matrices [batch, rows, columns], or with one more axis, and how they lie in memory."""
    if matrices.ndim not in _ORDERS:
        matrices = matrices.reshape(-1, *matrices.shape[-2:])
    orders = _ORDERS[matrices.ndim]
    for order in orders:
        if matrices.transpose(order).flags.c_contiguous:
            return matrices, order
    return np.ascontiguousarray(matrices), orders[0]


@planned
def _plan(shape_a: Axes, shape_b: Axes, order_a: Axes, order_b: Axes) -> _Plan:
    a, b = _layout(shape_a, order_a), _layout(shape_b, order_b)
    product = _layout((*shape_a[:-1], shape_b[-1]), tuple(range(len(shape_a))))
    return _Plan(onednn.primitive("matmul", a, b, None, product), a, b, product)


def _layout(shape: Axes, order: Axes) -> Layout:
    lengths = [shape[axis] for axis in order]
    strides = dict(zip(order, steps(lengths), strict=True))
    return onednn.strided(shape, [strides[axis] for axis in range(len(shape))])
