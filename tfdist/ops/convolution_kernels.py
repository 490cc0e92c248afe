"""Convolution as products of matrices: forwards, and backwards to the input and to the filters.

All take [batch, spatial axes..., channels] and filters [taps..., channels, outputs]. The taps that
a window sees become a row of a matrix, for as many images at a time as fit into the cache; one
product with the filters, as a matrix, makes the outputs. One pass of BLAS is worth the copy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from tfdist.base.shared_work import share
from tfdist.ops.convolution_patches import Patches
from tfdist.ops.convolution_windows import Windows, pieces, taps
from tfdist.ops.reductions import _wide

# As many shares for any number of threads, so that this does not change how sums are rounded.
SHARES = 8
SUM_BYTES = 8 << 20  # all shares' sums of a filter's gradient together


def in_wide_type(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel of two arrays that computes 16-bit floats as float32, which BLAS knows."""

    def computed(one: Any, other: Any, *rest: Any) -> Any:
        return kernel(_wide(one), _wide(other), *rest).astype(one.dtype, copy=False)

    return computed


@in_wide_type
def convolve(input: Any, filters: Any, windows: Windows) -> Any:
    """Return [batch, windows..., outputs].

    Args:
      input: [batch, spatial axes..., channels].
      filters: [taps..., channels, outputs].
      windows: where they stand.
    """
    matrix = filters.reshape(-1, filters.shape[-1])
    out = np.zeros((len(input), *windows.out, matrix.shape[1]), input.dtype)
    if not out.size:
        return out
    patches = Patches(input, windows)

    def work(images: slice) -> None:
        for part, rows in patches.matrices(images):
            np.dot(rows, matrix, out=out[part].reshape(-1, matrix.shape[1]))

    share(work, patches.shares(SHARES), patches.size)
    return out


@in_wide_type
def convolve_to_filters(input: Any, d_output: Any, windows: Windows) -> Any:
    """Return the gradient of the filters.

    Args:
      input: of the convolution.
      d_output: gradient of its output.
      windows: of the convolution.
    """
    shape = (*windows.kernel, input.shape[-1], d_output.shape[-1])
    total = np.zeros((int(np.prod(shape[:-1])), shape[-1]), input.dtype)
    if not d_output.size or not total.size:
        return total.reshape(shape)
    patches = Patches(input, windows)
    shares = patches.shares(min(SHARES, max(1, SUM_BYTES // total.nbytes)))
    sums = [np.zeros_like(total) for _ in shares]

    def work(number: int) -> None:
        product = np.empty_like(total)
        for part, rows in patches.matrices(shares[number]):
            np.dot(rows.T, d_output[part].reshape(-1, shape[-1]), out=product)
            sums[number] += product

    share(work, range(len(shares)), patches.size)
    return reduce(np.add, sums).reshape(shape)


@in_wide_type
def convolve_to_input(filters: Any, d_output: Any, windows: Windows) -> Any:
    """Return the gradient of the input.

    Args:
      filters: of the convolution.
      d_output: gradient of its output.
      windows: of the convolution.
    """
    reach = [
        (size - 1) * step for size, step in zip(windows.kernel, windows.dilations, strict=True)
    ]
    before = tuple(far - near for far, near in zip(reach, windows.before, strict=True))
    if filters.shape[-2] < 8 or set(windows.strides) != {1} or min(before) < 0:
        return _spread(filters, d_output, windows)
    back = windows._replace(sizes=windows.out, before=before, out=windows.sizes)
    axes = tuple(range(len(reach)))
    return convolve(d_output, np.flip(filters, axes).swapaxes(-1, -2), back)


def _spread(filters: Any, d_output: Any, windows: Windows) -> Any:
    """Return the gradient of the input, tap by tap: each adds what it has seen."""
    channels, outputs = filters.shape[-2:]
    d_input = np.zeros((len(d_output), *windows.sizes, channels), d_output.dtype)
    turned = np.ascontiguousarray(filters.swapaxes(-1, -2))
    for part in pieces(len(d_output), d_output[:1].nbytes):
        rows, shape = d_output[part].reshape(-1, outputs), (-1, *windows.out, channels)
        for tap in taps(windows) if rows.size else ():
            d_input[part][tap.inputs] += np.dot(rows, turned[tap.place]).reshape(shape)[tap.outputs]
    return d_input
