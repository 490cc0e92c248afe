"""What kernels by oneDNN share: which arrays they take, and windows in oneDNN's words.

oneDNN counts axes as [batch, channels, spatial axes...], however they lie in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tfdist.base import onednn
from tfdist.base.onednn import Layout
from tfdist.base.onednn_library import UnimplementedByOneDNN
from tfdist.ops.convolution.windows import Windows


def suits(arrays: Sequence[Any]) -> bool:
    """Return whether oneDNN is there for these: NumPy's, of float32."""
    return (
        all(type(each) is np.ndarray and each.dtype == np.float32 for each in arrays)
        and onednn.is_available()
    )


def are_usual(row: Any) -> bool:
    """Return whether all are numbers, and none so large that the square of one is infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.dot(row, row)))


def first_of(fast: Callable[..., Any], general: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that asks one that may answer None, and then the other."""

    def computed(*arguments: Any) -> Any:
        found = fast(*arguments)
        return general(*arguments) if found is None else found

    return computed


def steps(shape: Sequence[int]) -> list[int]:
    """Return the strides of an array without gaps, in elements."""
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]


def channels_last(batch: int, sizes: Sequence[int], channels: int) -> Layout:
    """Return how [batch, spatial axes..., channels] lies in memory."""
    first, *inner, last = steps((batch, *sizes, channels))
    return onednn.strided((batch, channels, *sizes), (first, last, *inner))


def dilations(windows: Windows) -> Any:
    return onednn.numbers([step - 1 for step in windows.dilations])


def borders(windows: Windows) -> tuple[Any, Any]:
    """Return how far the windows reach over the front and the end of each axis."""
    ends = zip(windows.spans, windows.before, windows.sizes, strict=True)
    after = [max(0, span - before - size) for span, before, size in ends]
    return onednn.numbers(windows.before), onednn.numbers(after)


def planned(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return what makes a plan for some sizes once; None for what oneDNN has no way to compute."""

    @lru_cache(maxsize=512)
    def made(threads: int, *sizes: Any) -> Any:  # a primitive takes the threads it was made for
        try:
            return make(*sizes)
        except UnimplementedByOneDNN:
            return None

    return lambda *sizes: made(onednn.threads(), *sizes)
