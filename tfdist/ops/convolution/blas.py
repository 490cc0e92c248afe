"""Convolution by BLAS, as products of matrices: forwards, to the input and to the filters.

All take [batch, spatial axes..., channels] and filters [taps..., channels, outputs]. The taps that
a window sees become a row of a matrix, for as many images at a time as fit into the cache; one
product with the filters, as a matrix, makes the outputs. One pass of BLAS is worth the copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tfdist.ops.convolution.windows import Windows, bordered, pieces, taps, window_view

# A row of taps with fewer elements than this is copied along the image instead: NumPy is slow with
# short runs.
SHORT_RUN = 16


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
    for part, columns in _columns(input, windows):
        np.dot(columns, matrix, out=out[part].reshape(-1, matrix.shape[1]))
    return out


def convolve_to_filters(input: Any, d_output: Any, windows: Windows) -> Any:
    """Return the gradient of the filters.

    Args:
      input: of the convolution.
      d_output: gradient of its output.
      windows: of the convolution.
    """
    channels, outputs = input.shape[-1], d_output.shape[-1]
    total = np.zeros((np.prod(windows.kernel) * channels, outputs), input.dtype)
    for part, columns in _columns(input, windows) if d_output.size else ():
        total += np.dot(columns.T, d_output[part].reshape(-1, outputs))
    return total.reshape(*windows.kernel, channels, outputs)


def _columns(input: Any, windows: Windows) -> Iterator[tuple[slice, Any]]:
    """Yield parts of the batch, and for each the matrix of what its windows see."""
    count = int(np.prod(windows.out))
    width = int(np.prod(windows.kernel)) * input.shape[-1]
    if windows.are_points:
        points = tuple(slice(0, None, stride) for stride in windows.strides)
        yield slice(None), input[(slice(None), *points)].reshape(-1, width)
        return
    turned = windows.kernel[-1] * input.shape[-1] < SHORT_RUN
    for part in pieces(len(input), count * width * input.itemsize):
        view = window_view(bordered(input[part], windows), windows)
        yield part, (_turned if turned else np.reshape)(view, (-1, width))


def _turned(view: Any, shape: tuple[int, int]) -> Any:
    """Return windows as rows of a matrix that lies in memory column by column."""
    axes = (view.ndim - 2) // 2 + 1  # the batch and one for each spatial axis
    order = (*range(axes, view.ndim), *range(axes))
    return view.transpose(order).reshape(shape[1], -1).T


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
