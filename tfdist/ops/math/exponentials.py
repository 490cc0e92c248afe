"""Exponentials, logarithms and sigmoids of arrays, each by what is quickest."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tfdist.base import dtypes, machine_code
from tfdist.graph.op_def import Known
from tfdist.ops.framework.cache_blocking import in_parts
from tfdist.ops.math import eltwise_onednn, exponential_loops, quotients

__all__: list[str] = []

_FEWEST = 2048  # for fewer, several functions take longer to ask than one


def exp(x: Any, out: Any = None) -> Any:
    """Return exp(x); where NumPy has vectors of 512 bits it needs no look for what is no number."""
    found = None if _has_vectors_of_512_bits() else eltwise_onednn.exp(x, out)
    return np.exp(x, out=out) if found is None else found


def sigmoid(x: Any, out: Any = None) -> Any:
    """Return 1 / (1 + exp(-x)), made in one piece of memory."""
    found = eltwise_onednn.sigmoid(x, out)
    if found is not None:
        return found
    if _is_for_loops(x):
        return exponential_loops.sigmoid(x)
    made = np.negative(x, out=out)
    if not x.ndim:
        return 1 / (1 + np.exp(made))
    np.exp(made, made)
    np.add(1, made, made)
    return np.divide(1, made, made)


def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent; NumPy's, exact to 2e-7, where it has vectors of 512 bits.

    Elsewhere that takes ten times as long for float32 as a loop of machine code, exact to 4e-7.
    """
    return quotients.tanh(x) if _is_for_loops(x) else np.tanh(x)


def softplus(x: Any) -> Any:
    """Return log(1 + exp(x))."""
    if _is_for_loops(x):
        return exponential_loops.softplus(x)
    if x.itemsize == 2 or not x.ndim:
        return np.logaddexp(x, x.dtype.type(0))
    # the same sum, which NumPy's own function makes one by one
    made = np.abs(x)
    np.negative(made, out=made)
    exp(made, out=made)
    log1p(made, out=made)
    zeros = np.zeros_like(x)  # NumPy compares two arrays faster than an array and a number
    made += np.maximum(x, zeros, out=zeros)
    return made


def _is_for_loops(x: Any) -> bool:
    """Return whether a loop of machine code takes less time than NumPy's own functions."""
    is_usual = type(x) is np.ndarray and x.dtype == np.float32 and x.size >= _FEWEST
    return is_usual and _are_loops_quicker()


def _are_loops_quicker() -> bool:
    return machine_code.is_possible() and not _has_vectors_of_512_bits()


def formula(name: str, most: float = math.inf) -> Callable[[Known], str | None]:
    """Return the rule for elements, see `OpDef.elementwise`, of a function that is such a loop.

    Args:
      name: of the function.
      most: elements; what is larger is computed otherwise.
    """

    def of_node(known: Known) -> str | None:
        if known.dtypes[0] is not dtypes.float32 or not known.has_shapes:
            return None
        size = math.prod(known.shapes[0])  # type: ignore[arg-type]
        return f"{name}(x)" if _FEWEST <= size < most and _are_loops_quicker() else None

    return of_node


def log1p(x: Any, out: Any = None) -> Any:
    """Return log(1 + x), exact near 0; for large arrays of float32 in a third of NumPy's time.

    What 1 + x lost in rounding is put right by the logarithm's slope there.

    Source: D. Goldberg, What every computer scientist should know about floating-point arithmetic,
    1991, theorem 4.
    """
    is_usual = type(x) is np.ndarray and x.dtype == np.float32 and x.flags.c_contiguous
    if x.size < _FEWEST or not is_usual or _has_vectors_of_512_bits():
        return np.log1p(x, out=out)
    made = np.empty_like(x) if out is None else out
    with np.errstate(all="ignore"):
        in_parts(lambda parts: _write_log1p(*parts), x, made)
    return made


def _write_log1p(x: Any, made: Any) -> None:
    zeros = np.flatnonzero(x == 0)
    signed = x[zeros]  # that of -0 is -0
    moved = x + np.float32(1)
    rest = moved - np.float32(1)
    np.subtract(x, rest, out=rest)
    rest /= moved
    np.log(moved, out=moved)
    if np.isfinite(np.dot(moved, moved)):
        np.add(moved, rest, out=made)
        made[zeros] = signed
    else:  # -1 and less, infinite, or no number
        np.log1p(x, out=made)


@cache
def _has_vectors_of_512_bits() -> bool:
    """Return whether NumPy computes log1p by vectors here; else it does so number by number."""
    try:
        from numpy.lib.introspect import opt_func_info
    except ImportError:  # before NumPy 2.1
        return False
    found = opt_func_info(func_name="^log1p$", signature="float32")
    names = [each["current"] for each in found.get("log1p", {}).values()]
    return any(name.startswith(("AVX512", "X86_V4")) for name in names)
