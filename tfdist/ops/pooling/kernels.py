"""Pooling of windows: maxima, sums, and where gradients go.

All take [batch, spatial axes..., channels]. Maxima and sums are taken along one axis after the
other, so that a window of 3 x 3 costs 3 + 3 passes; a maximum's place is found tap by tap.
"""

from __future__ import annotations

from functools import lru_cache, reduce
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.ops.convolution.windows import Windows, pieces, taps


def along(windows: Windows, axis: int) -> Windows:
    """Return the windows of one axis, over which the windows of the axes before it have been."""
    count = len(windows.sizes)
    one = (1,) * count

    def only(values: tuple[int, ...], others: tuple[int, ...]) -> tuple[int, ...]:
        return (*others[:axis], values[axis], *others[axis + 1 :])

    done = (*windows.out[: axis + 1], *windows.sizes[axis + 1 :])
    return Windows(
        sizes=(*windows.out[:axis], *windows.sizes[axis:]),
        kernel=only(windows.kernel, one),
        strides=only(windows.strides, one),
        dilations=only(windows.dilations, one),
        before=only(windows.before, (0,) * count),
        out=done,
    )


def axis_by_axis(windows: Windows) -> list[Windows]:
    """Return the windows of each axis, those that leave all as it is left out."""
    every = (along(windows, axis) for axis in range(len(windows.sizes)))
    return [each for each in every if each.sizes != each.out or not each.are_points]


def maximum(input: Any, windows: Windows) -> Any:
    """Return the maximum of each window: of its numbers, of which the least finite one is one."""
    lowest = dtypes.as_dtype(input.dtype).min
    found = _pooled(input, windows, np.maximum, lowest)
    if input.dtype.kind in "iu" or np.isfinite(found).all():
        return found
    return np.fmax(_pooled(input, windows, np.fmax, lowest), lowest)


def total(input: Any, windows: Windows) -> Any:
    """Return the sum of each window."""
    return _pooled(input, windows, np.add, 0)


def _pooled(input: Any, windows: Windows, function: Any, start: Any) -> Any:
    out = np.empty((len(input), *windows.out, input.shape[-1]), input.dtype)
    steps = axis_by_axis(windows)
    for part in pieces(len(input), input[:1].nbytes):
        out[part] = reduce(
            lambda array, step: _pooled_once(array, step, function, start), steps, input[part]
        )
    return out


def _pooled_once(array: Any, windows: Windows, function: Any, start: Any) -> Any:
    found = taps(windows)
    whole = [tap for tap in found if _is_whole(tap.outputs, windows)]
    if len(found) > 1 and len(whole) > 1:  # the first two make the result, without a copy
        out = function(array[whole[0].inputs], array[whole[1].inputs])
        rest = [tap for tap in found if tap not in whole[:2]]
    else:
        out = np.full((len(array), *windows.out, array.shape[-1]), start, array.dtype)
        rest = list(found)
    for tap in rest:
        function(out[tap.outputs], array[tap.inputs], out=out[tap.outputs])
    return out


def _is_whole(outputs: tuple[slice, ...], windows: Windows) -> bool:
    """Return whether a tap of every window is inside of the input."""
    ends = zip(outputs[1:], windows.out, strict=True)
    return all((part.start, part.stop) == (0, count) for part, count in ends)


def spread(d_output: Any, windows: Windows) -> Any:
    """Return the sum that each input element gets where a window gives its number to all in it."""
    d_input = np.empty((len(d_output), *windows.sizes, d_output.shape[-1]), d_output.dtype)
    if _are_tiles(windows):
        tiled = [each for pair in zip(windows.out, windows.kernel, strict=True) for each in pair]
        tiles = d_input.reshape(len(d_output), *tiled, d_output.shape[-1])
        tiles[...] = np.expand_dims(d_output, tuple(range(2, 2 * len(windows.out) + 1, 2)))
        return d_input
    steps = axis_by_axis(windows)[::-1]
    for part in pieces(len(d_output), d_input[:1].nbytes):
        d_input[part] = reduce(_spread_once, steps, d_output[part])
    return d_input


def _are_tiles(windows: Windows) -> bool:
    """Return whether each element of the input lies in one window."""
    covered = tuple(out * size for out, size in zip(windows.out, windows.kernel, strict=True))
    is_dense = set(windows.dilations) == {1} and windows.strides == windows.kernel
    return is_dense and covered == windows.sizes and not any(windows.before)


def _spread_once(array: Any, windows: Windows) -> Any:
    spread_out = np.zeros((len(array), *windows.sizes, array.shape[-1]), array.dtype)
    for tap in taps(windows):
        if windows.are_apart:
            spread_out[tap.inputs] = array[tap.outputs]
        else:
            spread_out[tap.inputs] += array[tap.outputs]
    return spread_out


@lru_cache(maxsize=64)
def counts(windows: Windows, dtype: Any) -> Any:
    """Return how many elements of the input each window has: [windows..., 1]; not to be changed."""
    return total(np.ones((1, *windows.sizes, 1), dtype), windows)[0]


# places of maxima: of equal ones the first takes it


def to_maximum(input: Any, output: Any, d_output: Any, windows: Windows) -> Any:
    """Return the gradient of the input: what a window has gets goes to its maximum.

    Args:
      input: of the pooling.
      output: the maxima; found again if these are not.
      d_output: their gradient.
      windows: of the pooling.
    """
    d_input = np.zeros(input.shape, d_output.dtype)
    for part in pieces(len(input), 2 * input[:1].nbytes):
        found = d_input[part]
        left = _hand_out(input[part], output[part], d_output[part], windows, found)
        if left.any():
            found[...] = 0
            maxima = maximum(input[part], windows)
            _hand_out(input[part], maxima, d_output[part], windows, found)
    return d_input


def _hand_out(input: Any, output: Any, d_output: Any, windows: Windows, d_input: Any) -> Any:
    """Add to `d_input` what goes to the maxima, and return what finds none."""
    bits = np.dtype(f"i{d_output.itemsize}")  # masks of bits need no branches, as `where` does
    left = np.array(d_output)
    for tap in taps(windows):
        seen = left[tap.outputs].view(bits)
        hit = input[tap.inputs] == output[tap.outputs]
        given = seen & np.negative(hit.view(np.int8)).astype(bits)
        if windows.are_apart:
            d_input[tap.inputs] = given.view(left.dtype)
        else:
            d_input[tap.inputs] += given.view(left.dtype)
        np.bitwise_xor(seen, given, out=seen)
    return left


def from_maximum(input: Any, output: Any, values: Any, windows: Windows) -> Any:
    """Return for each window that of `values` (in the input's shape) which stands at its maximum.

    Args:
      input: of the pooling.
      output: the maxima; found again if these are not.
      values: in the shape of the input.
      windows: of the pooling.
    """
    found = np.zeros(output.shape, values.dtype)
    for part in pieces(len(input), 2 * input[:1].nbytes):
        free = _fetch(input[part], output[part], values[part], windows, found[part])
        if free.any():
            _fetch(input[part], maximum(input[part], windows), values[part], windows, found[part])
    return found


def _fetch(input: Any, output: Any, values: Any, windows: Windows, found: Any) -> Any:
    """Put into `found` what stands at the maxima, and return which windows find theirs nowhere."""
    free = np.ones(output.shape, bool)
    for tap in taps(windows):
        hit = input[tap.inputs] == output[tap.outputs]
        hit &= free[tap.outputs]
        np.copyto(found[tap.outputs], values[tap.inputs], where=hit)
        free[tap.outputs] &= ~hit
    return free


def places(input: Any, output: Any, windows: Windows, with_batch: bool) -> Any:
    """Return where each window's maximum stands: (row * columns + column) * channels + channel.

    Args:
      input: of the pooling.
      output: the maxima.
      windows: of the pooling.
      with_batch: whether the places count on from image to image.
    """
    shape = input.shape if with_batch else (1, *input.shape[1:])
    numbers = np.arange(np.prod(shape, dtype=np.int64)).reshape(shape)
    return from_maximum(input, output, np.broadcast_to(numbers, input.shape), windows)
