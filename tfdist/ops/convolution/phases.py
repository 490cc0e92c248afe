"""Transposed convolutions by phases (polyphase decomposition): strided ones, over few channels.

With a stride, the elements between two windows, the phases, see other taps each. So the gradient
towards an input is a convolution over the outputs with stride 1, which makes all phases of a place
at once, as channels: much faster where channels are few, for it fills vectors.

Source: W. Shi et al., Is the deconvolution layer the same as a convolutional layer?, 2016.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from tfdist.ops.convolution.windows import Windows

_VECTOR = 8  # numbers that a processor multiplies at once


def windows_back(windows: Windows) -> Windows:
    """Return the windows of that convolution, over the outputs."""
    first = tuple(-_offsets(*each)[0] for each in _axes(windows))
    return Windows(
        sizes=windows.out,
        kernel=tuple(len(_taps(*each)) for each in _axes(windows)),
        strides=(1,) * len(first),
        dilations=(1,) * len(first),
        before=first,
        out=tuple(-(-size // s) for size, s in zip(windows.sizes, windows.strides, strict=True)),
    )


def filters_back(filters: Any, windows: Windows) -> Any:
    """Return its filters, [taps..., outputs, phases... * channels and more]: whole vectors.

    Args:
      filters: [taps..., channels, outputs].
      windows: that these go with.
    """
    count = len(windows.kernel)
    shape: list[int] = []
    *kernel, channels, outputs = filters.shape
    found = np.zeros((*[size + 1 for size in kernel], channels, outputs), filters.dtype)
    found[tuple(map(slice, kernel))] = filters  # behind them taps of zeros, for what is no tap
    for axis, each in enumerate(_axes(windows)):
        taps = _taps(*each)
        found = found.take(taps.reshape(-1), axis)
        shape += taps.shape
    found = found.reshape(*shape, channels, outputs)
    places, phases = range(0, 2 * count, 2), range(1, 2 * count, 2)
    found = found.transpose(*places, 2 * count + 1, *phases, 2 * count)
    width = math.prod(shape[1::2]) * channels
    made = np.zeros((*shape[::2], outputs, -(-width // _VECTOR) * _VECTOR), filters.dtype)
    made[..., :width] = found.reshape(*shape[::2], outputs, width)
    return made


def image_of(made: Any, windows: Windows, channels: int) -> Any:
    """Return the input's gradient from what that convolution made."""
    batch, *places, _ = made.shape
    count = len(places)
    width = math.prod(windows.strides) * channels
    found = made[..., :width].reshape(batch, *places, *windows.strides, channels)
    pairs = [axis for pair in zip(range(1, count + 1), range(count + 1, 2 * count + 1), strict=True)
             for axis in pair]  # fmt: skip
    sizes = [place * step for place, step in zip(places, windows.strides, strict=True)]
    found = found.transpose(0, *pairs, 2 * count + 1).reshape(batch, *sizes, channels)
    return np.ascontiguousarray(found[(slice(None), *map(slice, windows.sizes))])


def _axes(windows: Windows) -> list[tuple[int, int, int]]:
    return list(zip(windows.kernel, windows.strides, windows.before, strict=True))


def _offsets(kernel: int, stride: int, before: int) -> tuple[int, int]:
    """Return how far from a place the first and the last output are that it was seen by."""
    return min(0, -((kernel - 1 - before) // stride)), (stride - 1 + before) // stride


@lru_cache(maxsize=256)
def _taps(kernel: int, stride: int, before: int) -> Any:
    """Return for each output near a place, and each phase, which tap saw it; `kernel` for none."""
    first, last = _offsets(kernel, stride, before)
    taps = np.arange(stride) + before - stride * np.arange(first, last + 1)[:, None]
    return np.where((taps >= 0) & (taps < kernel), taps, kernel)
