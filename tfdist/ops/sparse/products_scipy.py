"""Sums of weighted rows by SciPy, to the same bits and three times as fast, where it is installed.

It takes 0.2 s to import, so that only what is large asks for it.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

MANY_NUMBERS = 1 << 16  # that are added up


def summed(places: Any, columns: Any, weights: Any, rows: Any, count: int) -> Any:
    """Return at each place the sum of its rows times their weights, or None if SciPy cannot.

    Args:
      places: integers [n] that ascend.
      columns: integers [n], which row stands at each of them.
      weights: [n], of the rows' type, or None for ones.
      rows: [rows, size].
      count: how many places there are.

    Returns:
      [count, size]; the terms of a place are added one after the other.
    """
    is_plain = type(rows) is np.ndarray and rows.dtype.char in "fdFD"
    if not is_plain or len(places) * rows.shape[1] < MANY_NUMBERS or _sparse() is None:
        return None
    starts = np.searchsorted(places, np.arange(count + 1))
    values = np.ones(len(places), rows.dtype) if weights is None else weights
    return _sparse().csr_array((values, columns, starts), shape=(count, len(rows))) @ rows


@cache
def _sparse() -> Any:
    try:
        return import_module("scipy.sparse")
    except ImportError:
        return None
