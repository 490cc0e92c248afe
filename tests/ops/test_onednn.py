"""Kernels by oneDNN give what those by NumPy give, and leave to these what is not for them."""

from __future__ import annotations

import numpy as np
import pytest

from tfdist.base import onednn
from tfdist.ops import convolution_blas, convolution_onednn, pooling_kernels, pooling_onednn
from tfdist.ops.convolution_windows import windows_over

pytestmark = pytest.mark.skipif(
    not onednn.is_available(), reason="oneDNN is not installed: pip install 'tfdist[onednn]'"
)


def windows(sizes, kernel, strides, dilations, padding):
    return windows_over(sizes, kernel, strides, dilations, padding, ((0, 0),) * len(sizes))


def floats(*shape, dtype=np.float32):
    return np.random.default_rng(0).normal(size=shape).astype(dtype)


# What it is about -> batch, sizes, kernel, strides, dilations, padding, channels, outputs.
CONVOLUTIONS = {
    "the usual one": (9, (12, 12), (3, 3), (1, 1), (1, 1), b"SAME", 16, 16),
    "steps that leave a rest": (9, (31, 30), (3, 2), (2, 3), (1, 1), b"SAME", 16, 20),
    "an end that no window sees": (9, (21, 20), (2, 2), (3, 3), (1, 1), b"VALID", 32, 24),
    "gaps between taps": (9, (19, 20), (3, 2), (1, 1), (2, 3), b"SAME", 16, 12),
    "points": (20, (14, 14), (1, 1), (2, 2), (1, 1), b"VALID", 32, 32),
    "few channels": (9, (28, 28), (5, 5), (1, 1), (1, 1), b"SAME", 1, 8),
    "sound": (4, (900,), (9,), (4,), (1,), b"SAME", 16, 24),
    "volumes": (2, (9, 10, 11), (3, 2, 3), (1, 2, 1), (1, 1, 1), b"SAME", 16, 8),
}


@pytest.mark.parametrize("case", CONVOLUTIONS.values(), ids=CONVOLUTIONS)
def test_convolutions_and_their_gradients_are_those_of_numpy(case):
    batch, sizes, kernel, *steps, channels, outputs = case
    found = windows(sizes, kernel, *steps)
    images, filters = floats(batch, *sizes, channels), floats(*kernel, channels, outputs)
    d_output = floats(batch, *found.out, outputs)
    for name, arguments in {
        "convolve": (images, filters),
        "convolve_to_input": (filters, d_output),
        "convolve_to_filters": (images, d_output),
    }.items():
        wanted = getattr(convolution_blas, name)(*arguments, found)
        got = getattr(convolution_onednn, name)(*arguments, found)
        if name == "convolve_to_input" and channels < 8:
            assert got is None  # slower than NumPy
        else:
            np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-3 * np.abs(wanted).max())


POOLS = {
    "windows side by side": (20, (28, 28), (2, 2), (2, 2), b"SAME", 8),
    "windows over each other": (20, (27, 29), (3, 3), (2, 2), b"SAME", 8),
    "an end that no window sees": (20, (27, 29), (2, 2), (2, 2), b"VALID", 8),
    "volumes": (4, (15, 16, 17), (3, 2, 2), (2, 2, 1), b"SAME", 8),
}


@pytest.mark.parametrize("case", POOLS.values(), ids=POOLS)
def test_gradients_of_maxima_go_to_the_first_of_equal_ones(case):
    batch, sizes, kernel, strides, padding, channels = case
    found = windows(sizes, kernel, strides, (1,) * len(sizes), padding)
    images = np.maximum(np.round(floats(batch, *sizes, channels)), 0)  # many are equal
    maxima = pooling_kernels.maximum(images, found)
    d_maxima = floats(*maxima.shape)
    wanted = pooling_kernels.to_maximum(images, maxima, d_maxima, found)
    got = pooling_onednn.to_maximum(images, maxima, d_maxima, found)
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


def test_a_window_with_a_nan_is_left_to_numpy():
    images = floats(20, 28, 28, 8)
    images[0, 0, 0, 0] = np.nan
    found = windows((28, 28), (2, 2), (2, 2), (1, 1), b"SAME")
    maxima = pooling_kernels.maximum(images, found)
    assert pooling_onednn.to_maximum(images, maxima, maxima, found) is None


@pytest.mark.parametrize(
    ("batch", "dtype"),
    [
        pytest.param(1, np.float32, id="a small one takes longer to ask for than to compute"),
        pytest.param(0, np.float32, id="nothing is nothing"),
        pytest.param(9, np.float64, id="oneDNN has float32 only"),
    ],
)
def test_what_is_left_to_numpy(batch, dtype):
    found = windows((12, 12), (3, 3), (1, 1), (1, 1), b"SAME")
    images, filters = floats(batch, 12, 12, 16, dtype=dtype), floats(3, 3, 16, 16, dtype=dtype)
    assert convolution_onednn.convolve(images, filters, found) is None


def test_images_that_lie_otherwise_in_memory_are_taken():
    found = windows((12, 12), (3, 3), (1, 1), (1, 1), b"SAME")
    images, filters = floats(9, 16, 12, 12).transpose(0, 2, 3, 1), floats(16, 16, 3, 3).T
    got = convolution_onednn.convolve(images, filters, found)
    wanted = convolution_blas.convolve(images, filters, found)
    np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-3)


def test_threads_of_a_primitive_are_limited():
    found = windows((12, 12), (3, 3), (1, 1), (1, 1), b"SAME")
    images, filters = floats(9, 12, 12, 16), floats(3, 3, 16, 16)
    wanted = convolution_onednn.convolve(images, filters, found)
    onednn.limit_threads(1)
    try:
        assert onednn.threads() == 1
        got = convolution_onednn.convolve(images, filters, found)
    finally:
        onednn.limit_threads(None)
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)
