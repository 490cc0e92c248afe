"""Axes that a window covers wholly: what lies along them are channels, of a convolution without.

A network over sentences, [batch, words, width, 1], looks through windows as wide as a word's
vector. Over one channel no vector of the processor is filled; over `width` channels they all are,
and the numbers lie in memory as they did.

Source: Y. Kim, Convolutional neural networks for sentence classification, 2014.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from tfdist.ops.convolution.windows import Windows

Kernel = Callable[..., Any]


def covered(windows: Windows) -> int:
    """Return how many axes, the last ones, have one window each, without a border."""
    count = 0
    for size, kernel, before, out in zip(
        windows.sizes[::-1], windows.kernel[::-1], windows.before[::-1], windows.out[::-1],
        strict=True,
    ):  # fmt: skip
        if not size == kernel > 0 or before or out != 1:
            break
        count += 1
    return count


def without(windows: Windows, count: int) -> Windows:
    """Return the windows without the last `count` axes; in front axes of one element come instead.

    Not at the end: oneDNN computes several outputs along the last axis at once.
    """
    kept = slice(len(windows.sizes) - count)
    ones, none = (1,) * count, (0,) * count
    return Windows(
        sizes=ones + windows.sizes[kept],
        kernel=ones + windows.kernel[kept],
        strides=ones + windows.strides[kept],
        dilations=ones + windows.dilations[kept],
        before=none + windows.before[kept],
        out=ones + windows.out[kept],
    )


def convolving(kernel: Kernel) -> Kernel:
    """Return a kernel of (input, filters, windows) that takes covered axes as channels."""
    return _taking(
        kernel, _input, _filters, lambda x, f, windows: (len(x), *windows.out, f.shape[-1])
    )


def convolving_to_input(kernel: Kernel) -> Kernel:
    """Return the kernel of (filters, gradient of the output, windows)."""
    return _taking(
        kernel, _filters, _output, lambda f, d, windows: (len(d), *windows.sizes, f.shape[-2])
    )


def convolving_to_filters(kernel: Kernel) -> Kernel:
    """Return the kernel of (input, gradient of the output, windows)."""
    return _taking(
        kernel, _input, _output, lambda x, d, windows: (*windows.kernel, x.shape[-1], d.shape[-1])
    )


def _taking(
    kernel: Kernel,
    first: Callable[[Any, int], Any],
    second: Callable[[Any, int], Any],
    shape: Callable[[Any, Any, Windows], tuple[int, ...]],
) -> Kernel:
    """Return a kernel that hands both arrays on without their covered axes.

    Args:
      kernel: of two arrays and windows.
      first: takes the first array and how many axes are covered.
      second: the same for the second one.
      shape: of the result, from both arrays and the windows.
    """

    def computed(one: Any, other: Any, windows: Windows) -> Any:
        if not (count := covered(windows)):
            return kernel(one, other, windows)
        made = kernel(first(one, count), second(other, count), without(windows, count))
        return made.reshape(shape(one, other, windows))

    return computed


def _input(input: Any, count: int) -> Any:
    """Return [batch, spatial axes..., channels] with those axes among the channels."""
    first = input.ndim - 1 - count
    width = prod(input.shape[first:])
    return input.reshape(len(input), *(1,) * count, *input.shape[1:first], width)


def _output(output: Any, count: int) -> Any:
    """Return [batch, windows..., outputs] without those axes."""
    kept = output.shape[1 : output.ndim - 1 - count]
    return output.reshape(len(output), *(1,) * count, *kept, output.shape[-1])


def _filters(filters: Any, count: int) -> Any:
    """Return [taps..., channels, outputs] with those axes among the channels."""
    first = filters.ndim - 2 - count
    width = prod(filters.shape[first:-1])
    return filters.reshape(*(1,) * count, *filters.shape[:first], width, filters.shape[-1])
