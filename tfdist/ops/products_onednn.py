"""Products of matrices by oneDNN: what NumPy's `dot` gives, up to twice as fast, for float32."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tfdist.base import onednn
from tfdist.ops.onednn_windows import suits

_FEWEST_PRODUCTS = 500_000  # for fewer, asking oneDNN takes longer than computing
_FEWEST_FOR_THREADS = 10_000_000  # for fewer, waking a thread does


def dot(a: Any, b: Any) -> Any:
    """Return the product of two matrices that fit.

    Args:
      a: numbers [rows, inner].
      b: numbers [inner, columns].
    """
    products = prod((*a.shape, b.shape[1]))
    if products < _FEWEST_PRODUCTS or not suits((a, b)):
        return np.dot(a, b)
    product = np.empty((a.shape[0], b.shape[1]), np.float32)
    threads = onednn.threads() if products >= _FEWEST_FOR_THREADS else 1
    onednn.multiply(_in_a_row(a), _in_a_row(b), product, threads)
    return product


def _in_a_row(matrix: Any) -> Any:
    """Return a matrix without gaps, row after row or column after column in memory."""
    flags = matrix.flags
    return matrix if flags.c_contiguous or flags.f_contiguous else np.ascontiguousarray(matrix)
