"""Convolutions in parts: of a batch, or of one large image."""

from __future__ import annotations

import numpy as np
import pytest

from tfdist.ops.convolution.kernels import convolve, convolve_to_filters, convolve_to_input
from tfdist.ops.convolution.windows import windows_over

AROUND = ((0, 0), (0, 0))


def arrays(batch, size, channels, outputs):
    """Return images, filters, gradients of the outputs, and the windows."""
    random = np.random.default_rng(0)
    windows = windows_over((size, size), (3, 3), (1, 1), (1, 1), b"SAME", AROUND)
    shapes = (batch, size, size, channels), (3, 3, channels, outputs), (batch, size, size, outputs)
    return *(random.normal(size=shape).astype(np.float32) for shape in shapes), windows


def by_taps(images, filters):
    """Return the convolution as nine products with moved images."""
    wide = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    size = images.shape[1]
    moved = [
        wide[:, row : row + size, column : column + size] @ filters[row, column]
        for row in range(3)
        for column in range(3)
    ]
    return sum(moved)


CASES = [
    pytest.param((1, 90, 8, 4), id="an image that is worked on by rows"),
    pytest.param((1, 170, 2, 3), id="the same with short runs, which are turned"),
    pytest.param((19, 12, 8, 4), id="many images in parts of different length"),
]


@pytest.mark.parametrize("sizes", CASES)
def test_parts_make_the_whole(sizes):
    images, filters, d_output, windows = arrays(*sizes)
    output = convolve(images, filters, windows)
    np.testing.assert_allclose(output, by_taps(images, filters), rtol=1e-4, atol=1e-4)
    # both gradients are the convolution's own transposes
    through = np.vdot(output.astype(np.float64), d_output)
    d_input = convolve_to_input(filters, d_output, windows)
    d_filters = convolve_to_filters(images, d_output, windows)
    np.testing.assert_allclose(np.vdot(d_input.astype(np.float64), images), through, rtol=1e-3)
    np.testing.assert_allclose(np.vdot(d_filters.astype(np.float64), filters), through, rtol=1e-3)
