"""Kernels by oneDNN give what those by NumPy give, and leave to these what is not for them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tfdist.base import onednn
from tfdist.ops.convolution import blas as convolution_blas
from tfdist.ops.convolution import depthwise
from tfdist.ops.convolution import kernels as convolution_kernels
from tfdist.ops.convolution import onednn as convolution_onednn
from tfdist.ops.convolution.windows import windows_over
from tfdist.ops.math import matmul_onednn
from tfdist.ops.nn import (
    batch_normalization,
    batch_normalization_onednn,
    cross_entropy,
    rectifier_onednn,
    softmax,
    softmax_onednn,
)
from tfdist.ops.pooling import kernels as pooling_kernels
from tfdist.ops.pooling import onednn as pooling_onednn

pytestmark = pytest.mark.skipif(
    not onednn.is_available(), reason="oneDNN is not installed: pip install 'tfdist[onednn]'"
)


def windows(sizes, kernel, strides, dilations, padding):
    return windows_over(sizes, kernel, strides, dilations, padding, ((0, 0),) * len(sizes))


def floats(*shape, dtype=np.float32):
    return np.random.default_rng(0).normal(size=shape).astype(dtype)


def calls(batch, found, channels, outputs):
    """Yield the names of a convolution and its gradients, and two arrays for each."""
    images = floats(batch, *found.sizes, channels)
    filters = floats(*found.kernel, channels, outputs)
    d_output = floats(batch, *found.out, outputs)
    yield "convolve", (images, filters)
    yield "convolve_to_input", (filters, d_output)
    yield "convolve_to_filters", (images, d_output)


# What it is about -> batch, sizes, kernel, strides, dilations, padding, channels, outputs.
CONVOLUTIONS = {
    "the usual one": (9, (12, 12), (3, 3), (1, 1), (1, 1), b"SAME", 16, 16),
    "steps that leave a rest": (9, (31, 30), (3, 2), (2, 3), (1, 1), b"SAME", 16, 20),
    "an end that no window sees": (9, (21, 20), (2, 2), (3, 3), (1, 1), b"VALID", 32, 24),
    "gaps between taps": (9, (19, 20), (3, 2), (1, 1), (2, 3), b"SAME", 16, 12),
    "points": (20, (14, 14), (1, 1), (2, 2), (1, 1), b"VALID", 32, 32),
    "few taps between many channels": (9, (14, 14), (1, 5), (1, 1), (1, 1), b"VALID", 64, 64),
    "few channels": (9, (28, 28), (5, 5), (1, 1), (1, 1), b"SAME", 1, 8),
    "colours": (9, (28, 28), (5, 5), (2, 2), (1, 1), b"SAME", 3, 8),
    "wide ones over few channels": (9, (44, 44), (8, 8), (4, 4), (1, 1), b"SAME", 4, 16),
    "wide ones without borders": (9, (44, 40), (8, 9), (4, 3), (1, 1), b"VALID", 3, 16),
    "wide ones with gaps": (9, (40, 44), (9, 2), (1, 2), (2, 1), b"SAME", 3, 16),
    "steps over few channels": (9, (33, 32), (5, 4), (2, 3), (1, 1), b"SAME", 1, 16),
    "steps that leave out elements": (9, (47, 40), (4, 4), (5, 4), (1, 1), b"VALID", 2, 32),
    "sound": (4, (900,), (9,), (4,), (1,), b"SAME", 16, 24),
    "volumes": (2, (9, 10, 11), (3, 2, 3), (1, 2, 1), (1, 1, 1), b"SAME", 16, 8),
}


def is_left_to_blas(name, kernel, strides, channels, outputs):
    if name == "convolve_to_filters":
        is_for_products = np.prod(kernel) <= 5 and min(channels, outputs) >= 64
        return is_for_products and not onednn.has_wide_vectors()
    return name == "convolve_to_input" and channels < 3 and min(strides) == 1


@pytest.mark.parametrize("case", CONVOLUTIONS.values(), ids=CONVOLUTIONS)
def test_convolutions_and_their_gradients_are_those_of_numpy(case):
    batch, sizes, kernel, *steps, channels, outputs = case
    found = windows(sizes, kernel, *steps)
    for name, arguments in calls(batch, found, channels, outputs):
        wanted = getattr(convolution_blas, name)(*arguments, found)
        got = getattr(convolution_onednn, name)(*arguments, found)
        if is_left_to_blas(name, kernel, steps[0], channels, outputs):
            assert got is None  # slower
        else:
            np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-3 * np.abs(wanted).max())


# What it is about -> sizes, kernel, strides, dilations, padding, channels.
COVERED = {
    "words of a sentence": ((20, 64), (3, 64), (1, 1), (1, 1), b"VALID", 1),
    "all of an image": ((6, 7), (6, 7), (1, 1), (1, 1), b"VALID", 16),
    "words, with steps and gaps": ((40, 32), (3, 32), (2, 1), (3, 1), b"VALID", 2),
    "words, with a border": ((20, 33), (4, 1), (1, 1), (1, 1), b"SAME", 8),
    "a column of an image": ((9, 1), (3, 1), (1, 1), (1, 1), b"SAME", 32),
    "volumes": ((5, 6, 7), (2, 6, 7), (1, 1, 1), (1, 1, 1), b"VALID", 4),
    "the first axis only": ((6, 20), (6, 3), (1, 1), (1, 1), b"VALID", 4),
}


@pytest.mark.parametrize("case", COVERED.values(), ids=COVERED)
def test_axes_that_windows_cover_are_as_good_as_channels(case):
    sizes, kernel, *steps, channels = case
    found = windows(sizes, kernel, *steps)
    for name, arguments in calls(9, found, channels, 24):
        got = getattr(convolution_kernels, name)(*arguments, found)
        wanted = getattr(convolution_blas, name)(*arguments, found)
        assert got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-3 * np.abs(wanted).max())


DEPTHWISE = {
    "the usual one": (9, (12, 12), (3, 3), (1, 1), (1, 1), b"SAME", 64, 1),
    "steps that leave a rest": (20, (31, 30), (3, 2), (2, 3), (1, 1), b"VALID", 48, 1),
    "several outputs of each": (20, (19, 20), (3, 3), (1, 1), (1, 1), b"SAME", 16, 3),
    "gaps between taps": (9, (19, 20), (3, 2), (1, 1), (2, 3), b"SAME", 32, 1),
}


@pytest.mark.parametrize("case", DEPTHWISE.values(), ids=DEPTHWISE)
def test_convolutions_of_each_channel_are_those_of_numpy(case):
    batch, sizes, kernel, *steps, channels, multiplier = case
    found = windows(sizes, kernel, *steps)
    images, filters = floats(batch, *sizes, channels), floats(*kernel, channels, multiplier)
    d_output = floats(batch, *found.out, channels * multiplier)
    for fast, general, arguments in (
        ("convolve_each", "_forwards", (images, filters, found)),
        ("convolve_each_to_input", "_to_input", (filters, d_output, found)),
        ("convolve_each_to_filters", "_to_filters", (images, d_output, found, multiplier)),
    ):
        wanted = getattr(depthwise, general)(*arguments)
        got = getattr(convolution_onednn, fast)(*arguments)
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


def test_places_of_maxima_are_known_as_long_as_these_live():
    found, other = (
        windows((28, 28), kernel, (2, 2), (1, 1), b"SAME") for kernel in ((2, 2), (3, 3))
    )
    images = floats(20, 28, 28, 8)
    for _ in range(2):  # the next maxima may lie where the first did
        maxima = pooling_onednn.maximum(images, found)
        for each, input in ((found, images), (other, images), (found, images + 1)):
            got = pooling_onednn.to_maximum(input, maxima, maxima, each)
            its_own = pooling_kernels.maximum(input, each)
            wanted = pooling_kernels.to_maximum(input, its_own, maxima, each)
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)
        del maxima
    assert not pooling_onednn._found


@pytest.mark.parametrize("case", POOLS.values(), ids=POOLS)
def test_maxima_are_those_of_the_numbers(case):
    batch, sizes, kernel, strides, padding, channels = case
    found = windows(sizes, kernel, strides, (1,) * len(sizes), padding)
    images = floats(batch, *sizes, channels)
    for number in (np.nan, np.inf, -np.inf):
        images[np.random.default_rng(1).random(images.shape) > 0.5] = number
        got, wanted = (by.maximum(images, found) for by in (pooling_onednn, pooling_kernels))
        np.testing.assert_array_equal(got, wanted)
        assert not np.isnan(got).any()


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


# What it is about -> shapes in which both factors lie in memory, and whether they are turned.
PRODUCTS = {
    "as they lie": ((90, 200), (200, 300), False, False),
    "the first turned": ((200, 90), (200, 300), True, False),
    "the second turned": ((90, 200), (300, 200), False, True),
    "both turned": ((200, 90), (300, 200), True, True),
    "by many threads": ((512, 512), (512, 512), False, True),
    "small": ((3, 4), (4, 5), False, False),
    "nothing": ((0, 4), (4, 5), False, False),
    "a vector": ((1, 2000), (2000, 800), False, False),
    "few rows, the second turned": ((20, 300), (900, 300), False, True),
    "few rows, both turned": ((700, 30), (800, 700), True, True),
}


@pytest.mark.parametrize("case", PRODUCTS.values(), ids=PRODUCTS)
def test_products_are_those_of_numpy(case):
    one, other, *turned = case
    a, b = (each.T if turn else each
            for each, turn in zip((floats(*one), floats(*other)), turned, strict=True))  # fmt: skip
    np.testing.assert_allclose(matmul_onednn.dot(a, b), np.dot(a, b), rtol=1e-3, atol=1e-3)


BATCHES = {
    "as they lie": ((70, 20, 30), (70, 30, 40), False, False),
    "the first turned": ((70, 30, 20), (70, 30, 40), True, False),
    "the second turned": ((7, 10, 20, 30), (7, 10, 40, 30), False, True),
    "single rows": ((70, 1, 300), (70, 300, 40), False, False),
    "by many threads": ((8, 128, 128), (8, 128, 128), True, True),
}


@pytest.mark.parametrize("case", BATCHES.values(), ids=BATCHES)
def test_products_of_many_matrices_are_those_of_numpy(case):
    one, other, *turned = case
    a, b = (np.swapaxes(each, -1, -2) if turn else each
            for each, turn in zip((floats(*one), floats(*other)), turned, strict=True))  # fmt: skip
    got, wanted = matmul_onednn.matmul(a, b), np.matmul(a, b)
    np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-3)


# How a batch lies in memory -> one of matrices [..., 80, 90].
LAYOUTS = {
    "row after row": lambda: floats(5, 80, 90),
    "column after column": lambda: floats(5, 90, 80).swapaxes(1, 2),
    "heads of attention": lambda: floats(2, 80, 3, 90).swapaxes(1, 2),
    "heads, column after column": lambda: floats(2, 90, 3, 80).transpose(0, 2, 3, 1),
    "only one": lambda: floats(80, 90)[None],
    "only one, turned": lambda: floats(90, 80).T[None],
    "only one head": lambda: floats(2, 80, 90)[:, None],
    "gaps": lambda: floats(5, 80, 180)[..., ::2],
    "the batch innermost": lambda: floats(80, 90, 5).transpose(2, 0, 1),
    "five axes": lambda: floats(2, 3, 80, 2, 90).swapaxes(2, 3),
    "one for all": lambda: np.broadcast_to(floats(80, 90), (5, 80, 90)),
}


@pytest.mark.parametrize("lay", LAYOUTS.values(), ids=LAYOUTS)
def test_batches_may_lie_anyhow_in_memory(lay):
    a = lay()
    for b in (a.swapaxes(-1, -2), floats(*a.shape[:-2], 90, 70)):
        for one, other in ((a, b), (b.swapaxes(-1, -2), a.swapaxes(-1, -2))):
            got = matmul_onednn.matmul(one, other)
            np.testing.assert_allclose(got, np.matmul(one, other), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param((700, 30), (30, 40), id="one matrix is for dot"),
        pytest.param((1, 700, 30), (70, 30, 40), id="a batch that is broadcast"),
        pytest.param((7, 3, 4), (7, 4, 5), id="small ones take longer to ask for than to compute"),
        pytest.param((0, 30, 40), (0, 40, 50), id="nothing is nothing"),
    ],
)
def test_which_products_are_left_to_numpy(one, other):
    assert matmul_onednn.matmul(floats(*one), floats(*other)) is None


def test_factors_with_gaps_in_memory_have_a_product():
    a, b = floats(400, 500)[::2, ::2], floats(250, 600)[:, 1::3]
    np.testing.assert_allclose(matmul_onednn.dot(a, b), np.dot(a, b), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("scale", [1.0, 50.0, 1e4])
@pytest.mark.parametrize("shape", [(40, 1000), (3, 8, 9, 200), (600, 600)], ids=str)
def test_softmax_is_that_of_numpy(shape, scale):
    logits = (scale * floats(*shape)).astype(np.float32)
    for fast, general in (
        (softmax_onednn.softmax, softmax._softmax),
        (softmax_onednn.log_softmax, softmax._log_softmax),
    ):
        np.testing.assert_allclose(fast(logits), general(logits), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("scale", [1.0, 50.0, 1e4])
def test_cross_entropies_are_those_of_double_precision(scale):
    logits = (scale * floats(60, 900) + 3 * scale).astype(np.float32)
    classes = np.random.default_rng(1).integers(0, 900, 60)
    distributions = softmax._softmax(floats(900, 60).T.copy())
    for kernel, labels in (
        (cross_entropy.sparse_softmax_cross_entropy_kernel, classes),
        (cross_entropy.softmax_cross_entropy_kernel, distributions),
        (cross_entropy.softmax_cross_entropy_kernel, distributions[:1]),
    ):
        assert softmax_onednn.softmax(logits) is not None
        for got, wanted in zip(kernel(logits, labels), kernel(logits.astype(float), labels),
                               strict=True):  # fmt: skip
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "logits",
    [
        pytest.param(np.zeros((4000, 20), np.float32), id="few classes"),
        pytest.param(np.zeros((40, 40), np.float32), id="few numbers"),
        pytest.param(np.zeros((400, 400)), id="oneDNN has float32 only"),
        pytest.param(np.full((400, 400), np.nan, np.float32), id="oneDNN looks past NaN"),
        pytest.param(np.full((400, 400), -np.inf, np.float32), id="and past infinity"),
    ],
)
def test_which_softmax_is_left_to_numpy(logits):
    assert softmax_onednn.softmax(logits) is None
    assert softmax_onednn.log_softmax(logits) is None


def run_python(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", *arguments],
        env=os.environ | environment,
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=100,
    )


def test_nothing_reads_what_was_freed():
    """Many shapes, threads and collections of garbage, while malloc writes over what is freed."""
    done = run_python(
        "-m", "tests.ops.convolution.onednn_stress", "--shapes=120", MALLOC_PERTURB_="165"
    )
    assert done.returncode == 0, done.stdout + done.stderr


FIRST_CALLERS = """
import threading
from concurrent.futures import ThreadPoolExecutor
from tfdist.base import onednn

together = threading.Barrier(8)
with ThreadPoolExecutor(8) as threads:
    found = list(threads.map(lambda _: together.wait() >= 0 and onednn._loaded(), range(8)))
assert len(set(map(id, found))) == 1, found
"""


def test_first_callers_get_one_library():
    done = run_python("-c", FIRST_CALLERS)
    assert done.returncode == 0, done.stderr


FORK = """
import os
import numpy as np
from tfdist.ops.math import matmul_onednn

square = np.ones((800, 800), np.float32)
matmul_onednn.dot(square, square)  # now OpenMP has threads, which a fork has not
child = os.fork()
if not child:
    os._exit(int(matmul_onednn.dot(square, square)[0, 0] != 800))
assert os.waitpid(child, 0)[1] == 0
"""


def test_a_fork_of_a_process_that_has_computed_computes():
    done = run_python("-W", "ignore", "-c", FORK)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("shape", [(8, 12, 12, 32), (3, 50, 60, 7), (900, 5, 5, 40)], ids=str)
def test_batch_normalization_and_its_gradients_are_those_of_double_precision(shape):
    images, d_made = 3 * floats(*shape) + 1, floats(*reversed(shape)).T.copy()
    scale, offset = floats(2, shape[-1])
    wide = [each.astype(float) for each in (images, scale, offset)]
    made, mean, variance = batch_normalization_onednn.normalized(images, scale, offset, 1e-3)
    for got, wanted in zip(
        (made, mean, variance), batch_normalization._normalized(*wide, 1e-3), strict=True
    ):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
    found = batch_normalization_onednn.to_images(d_made, images, scale, mean, variance, 1e-3)
    rows = (each.reshape(-1, shape[-1]).astype(float) for each in (d_made, images))
    wanted = batch_normalization._to_rows(*rows, wide[1], mean, variance, 1e-3, True)
    for got, right in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got.reshape(right.shape), right, rtol=1e-4, atol=1e-3)


IMAGES, VECTOR = floats(8, 12, 12, 32), floats(32)


@pytest.mark.parametrize(
    "arrays",
    [
        pytest.param((IMAGES[:1], IMAGES[:1], VECTOR, VECTOR, VECTOR), id="few"),
        pytest.param((IMAGES.astype(np.float16), IMAGES, *[VECTOR] * 3), id="16 bits"),
        pytest.param((IMAGES[1:], IMAGES, *[VECTOR] * 3), id="gradients of other images"),
        pytest.param((IMAGES, IMAGES, VECTOR, VECTOR[1:], VECTOR), id="moments of other channels"),
    ],
)
def test_which_images_numpy_normalizes(arrays):
    assert batch_normalization_onednn.to_images(*arrays, 1e-3) is None


# No denormal numbers: oneDNN's threads treat them as the thread did that first asked for them.
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 2e-38, -2e-38, 3e38]


def floats_and_special(count, seed):
    random = np.random.default_rng(seed)
    found = random.normal(size=count).astype(np.float32)
    found[random.integers(0, count, count // 4)] = random.choice(SPECIAL, count // 4)
    return found


@pytest.mark.parametrize("in_place", [False, True], ids=["new", "in place"])
@pytest.mark.parametrize("count", [600_000, 600_001, 1_254_407])
def test_rectified_numbers_are_those_of_numpy(count, in_place):
    """Whatever they are: what is no number stays none."""
    features, gradients = floats_and_special(count, 0), floats_and_special(count, 1)
    wanted = np.maximum(features, 0)
    made = rectifier_onednn.rectified(features.copy())
    np.testing.assert_array_equal(made, wanted)
    with np.errstate(invalid="ignore"):
        wanted = gradients * (features > 0)
    out = gradients if in_place else None
    np.testing.assert_array_equal(rectifier_onednn.to_features(gradients, features, out), wanted)
    out = features if in_place else None
    np.testing.assert_array_equal(rectifier_onednn.rectified(features, out), made)


@pytest.mark.parametrize(
    "arrays",
    [
        pytest.param((floats(1000), floats(1000)), id="few"),
        pytest.param((floats(600_000, dtype=np.float64), floats(600_000)), id="64 bits"),
        pytest.param((floats(600_000), floats(600, 1000)), id="of another shape"),
        pytest.param((floats(800, 1000)[:, ::2], floats(800, 500)), id="with gaps"),
    ],
)
def test_which_gradients_of_rectified_numbers_are_left_to_numpy(arrays):
    assert rectifier_onednn.to_features(*arrays) is None
