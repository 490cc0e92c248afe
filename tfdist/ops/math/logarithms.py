"""Logarithms of arrays that NumPy takes number by number."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

__all__: list[str] = []

# For fewer, several functions take longer to ask than one; and so many fit into a core's cache.
_FEWEST, _MOST = 2048, 16_384


def log1p(x: Any, out: Any = None) -> Any:
    """Return log(1 + x), exact near 0: for large arrays of float32 in a fourth of NumPy's time.

    What 1 + x lost in rounding is put right by the logarithm's slope there.

    Source: D. Goldberg, What every computer scientist should know about floating-point arithmetic,
    1991, theorem 4.
    """
    is_usual = type(x) is np.ndarray and x.dtype == np.float32 and x.flags.c_contiguous
    if x.size < _FEWEST or not is_usual or _is_one_by_one_quick():
        return np.log1p(x, out=out)
    made = np.empty_like(x) if out is None else out
    values, news = x.reshape(-1), made.reshape(-1)
    with np.errstate(all="ignore"):
        for start in range(0, x.size, _MOST):
            _write_log1p(values[start : start + _MOST], news[start : start + _MOST])
    return made


def _write_log1p(x: Any, made: Any) -> None:
    moved = x + np.float32(1)
    rest = moved - np.float32(1)
    np.subtract(x, rest, out=rest)
    rest /= moved
    np.log(moved, out=moved)
    if np.isfinite(np.dot(moved, moved)):
        np.add(moved, rest, out=made)
    else:  # -1 and less, infinite, or no number
        np.log1p(x, out=made)


@cache
def _is_one_by_one_quick() -> bool:
    """Return whether NumPy computes this logarithm by vectors, as on processors with AVX-512."""
    try:
        from numpy.lib.introspect import opt_func_info
    except ImportError:  # before NumPy 2.1
        return False
    found = opt_func_info(func_name="^log1p$", signature="float32")
    names = [each["current"] for each in found.get("log1p", {}).values()]
    return any(name.startswith(("AVX512", "X86_V4")) for name in names)
