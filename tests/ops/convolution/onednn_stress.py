"""Kernels by oneDNN beside those by NumPy, for shapes at random, in several threads at a time.

    MALLOC_PERTURB_=165 python -X faulthandler -m tests.ops.convolution.onednn_stress \\
        [--shapes 300] [--seed 0]

What a call of C reads after it was freed shows when freed memory is written over, which glibc does
if it is asked to, when garbage is collected all the time, and when shapes are new, so that plans
are made and dropped. The number of threads that a product may take changes meanwhile.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from tfdist.base import onednn
from tfdist.ops.convolution import blas as convolution_blas
from tfdist.ops.convolution import depthwise as convolution_depthwise
from tfdist.ops.convolution import onednn as convolution_onednn
from tfdist.ops.convolution.windows import Windows, windows_over
from tfdist.ops.math import eltwise_onednn, matmul_onednn
from tfdist.ops.nn import (
    batch_normalization,
    batch_normalization_onednn,
    rectifier_onednn,
    softmax,
    softmax_onednn,
)
from tfdist.ops.pooling import kernels as pooling_kernels
from tfdist.ops.pooling import onednn as pooling_onednn

THREADS = 4

# A call by oneDNN, and what it has to give.
Trial = tuple[Callable[[], Any], Any]


def convolution(random: np.random.Generator) -> Iterator[Trial]:
    """A convolution over one to three axes, with both gradients."""
    windows, batch = windows_at_random(random), int(random.integers(1, 5))
    channels, outputs = (int(random.choice([1, 3, 8, 16, 20, 32])) for _ in range(2))
    input, filters, d_output = (
        floats(random, *shape)
        for shape in (
            (batch, *windows.sizes, channels),
            (*windows.kernel, channels, outputs),
            (batch, *windows.out, outputs),
        )
    )
    for name, arguments in {
        "convolve": (input, filters, windows),
        "convolve_to_input": (filters, d_output, windows),
        "convolve_to_filters": (input, d_output, windows),
    }.items():
        fast, plain = (getattr(by, name) for by in (convolution_onednn, convolution_blas))
        yield bound(fast, *arguments), plain(*arguments)


def depthwise(random: np.random.Generator) -> Iterator[Trial]:
    """A convolution of each channel, with both gradients."""
    windows, batch = windows_at_random(random, axes=2), int(random.integers(1, 5))
    channels, multiplier = int(random.choice([8, 16, 24])), int(random.integers(1, 4))
    input = floats(random, batch, *windows.sizes, channels)
    filters = floats(random, *windows.kernel, channels, multiplier)
    d_output = floats(random, batch, *windows.out, channels * multiplier)
    for fast, plain, arguments in (
        ("convolve_each", "_forwards", (input, filters, windows)),
        ("convolve_each_to_input", "_to_input", (filters, d_output, windows)),
        ("convolve_each_to_filters", "_to_filters", (input, d_output, windows, multiplier)),
    ):
        wanted = getattr(convolution_depthwise, plain)(*arguments)
        yield bound(getattr(convolution_onednn, fast), *arguments), wanted


def pooling(random: np.random.Generator) -> Iterator[Trial]:
    """Maxima, and their gradient, which finds their places again or knows them."""
    windows = windows_at_random(random, dilated=False)
    input = floats(random, int(random.integers(1, 5)), *windows.sizes, 8)
    maxima = pooling_kernels.maximum(input, windows)
    d_maxima = floats(random, *maxima.shape)
    yield bound(pooling_onednn.maximum, input, windows), maxima
    wanted = pooling_kernels.to_maximum(input, maxima, d_maxima, windows)
    yield bound(pooling_onednn.to_maximum, input, maxima, d_maxima, windows), wanted
    yield lambda: to_new_maxima(input, d_maxima, windows), wanted


def to_new_maxima(input: Any, d_maxima: Any, windows: Windows) -> Any:
    """Return the gradient of maxima whose places are remembered."""
    maxima = pooling_onednn.maximum(input, windows)
    if maxima is None:
        return None
    return pooling_onednn.to_maximum(input, maxima, d_maxima, windows)


def rows(random: np.random.Generator) -> Iterator[Trial]:
    """Softmax of a matrix."""
    one = floats(random, *(int(size) for size in random.integers(1, 300, 2)))
    yield bound(softmax_onednn.softmax, one), softmax._softmax(one)


def products(random: np.random.Generator) -> Iterator[Trial]:
    """Products of two matrices, and of many."""
    batch, *sizes = (int(size) for size in random.integers(1, 80, 4))
    a, b = floats(random, batch, sizes[0], sizes[1]), floats(random, batch, sizes[1], sizes[2])
    yield bound(matmul_onednn.matmul, a, b), np.matmul(a, b)
    yield bound(matmul_onednn.dot, a[0], b[0]), np.dot(a[0], b[0])


def normalization(random: np.random.Generator) -> Iterator[Trial]:
    """Images normalized, and the gradient of that."""
    sizes = (int(random.integers(1, high)) for high in (40, 30, 30, 40))
    images = floats(random, *sizes)
    d_made, scale = floats(random, *images.shape), floats(random, images.shape[-1])
    fast = batch_normalization_onednn
    yield (
        lambda: first(fast.normalized(images, scale, scale, 0.1)),
        first(batch_normalization._normalized(*wide(images, scale, scale), 0.1)),
    )
    moments = wide(images.mean((0, 1, 2)), images.var((0, 1, 2)))
    rows = (batch_normalization._rows(each) for each in wide(d_made, images))
    wanted = batch_normalization._to_rows(*rows, *wide(scale), *moments, 0.1, True)[0]
    narrow = [each.astype(np.float32) for each in moments]
    yield (
        lambda: first(fast.to_images(d_made, images, scale, *narrow, 0.1)),
        wanted.reshape(images.shape),
    )


def rectifiers(random: np.random.Generator) -> Iterator[Trial]:
    """Rectified numbers, and the gradient of that."""
    features, gradients = floats(random, 2, int(random.integers(1, 5_000)))
    yield bound(rectifier_onednn.rectified, features), np.maximum(features, 0)
    yield bound(rectifier_onednn.to_features, gradients, features), gradients * (features > 0)


def elements(random: np.random.Generator) -> Iterator[Trial]:
    """Functions of each element."""
    x = floats(random, int(random.integers(1, 50_000)))
    yield bound(eltwise_onednn.exp, x), np.exp(x)
    yield bound(eltwise_onednn.sigmoid, x), 1 / (1 + np.exp(-x))
    yield bound(eltwise_onednn.elu, x), np.where(x > 0, x, np.exp(x) - 1)


def first(found: Any) -> Any:
    """Return the first of what was found, if there is anything."""
    return None if found is None else found[0]


def wide(*arrays: Any) -> list[Any]:
    return [each.astype(float) for each in arrays]


KINDS = (convolution, depthwise, elements, normalization, pooling, rectifiers, rows, products)


def windows_at_random(
    random: np.random.Generator, axes: int | None = None, dilated: bool = True
) -> Windows:
    """Return windows of which at least one stands inside."""
    axes = axes or int(random.integers(1, 4))
    kernel, strides, dilations = random.integers(1, (6, 4, 3 if dilated else 2), (axes, 3)).T
    spans = (kernel - 1) * dilations + 1
    sizes = spans + random.integers(0, 14 if axes < 3 else 6, axes)
    padding = b"SAME" if random.random() < 0.5 else b"VALID"
    numbers = (tuple(int(each) for each in row) for row in (sizes, kernel, strides, dilations))
    return windows_over(*numbers, padding, ((0, 0),) * axes)


def floats(random: np.random.Generator, *shape: int) -> Any:
    """Return numbers of any sign."""
    return random.normal(size=shape).astype(np.float32)


def bound(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    return lambda: function(*arguments)


def prove(trials: list[Trial], seed: int) -> int:
    """Do all trials, in an order of this seed; return how many oneDNN had a way for.

    Raises:
      AssertionError: one gave something else than NumPy's kernel.
    """
    count = 0
    for index in np.random.default_rng(seed).permutation(len(trials)):
        compute, wanted = trials[index]
        got = compute()
        gc.collect(0)
        if got is not None:
            count += 1
            scale = np.abs(wanted).max(initial=1e-6)
            np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-3 * scale)
    return count


def disturb(until: threading.Event) -> None:
    """Collect all garbage, and change how many threads a computation is made for."""
    for most in itertools.cycle((None, 1)):
        onednn.limit_threads(most)
        gc.collect()
        if until.wait(0.01):
            return onednn.limit_threads(None)


def take_small_ones_too() -> None:
    """Let oneDNN compute what is left to NumPy because it is small."""
    convolution_onednn._FEWEST_PRODUCTS = 1
    matmul_onednn._FEWEST = matmul_onednn._FEWEST_IN_BATCH = 1
    for module in (pooling_onednn, softmax_onednn):
        module._FEWEST_ELEMENTS = 1
    eltwise_onednn.FEWEST = 1
    rectifier_onednn._FEWEST = rectifier_onednn._FEWEST_TO_FEATURES = 1
    softmax_onednn._FEWEST_FOR_THREADS = 10_000


def main() -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    take_small_ones_too()
    random = np.random.default_rng(options.seed)
    kinds = itertools.islice(itertools.cycle(KINDS), options.shapes)
    trials = [trial for kind in kinds for trial in kind(random)]
    until = threading.Event()
    with ThreadPoolExecutor(THREADS + 1) as threads:
        threads.submit(disturb, until)
        try:
            counts = list(threads.map(prove, [trials] * THREADS, range(THREADS)))
        finally:
            until.set()
    print(f"{sum(counts)} computations by oneDNN, {len(trials)} different ones, as by NumPy")
    return 0 if sum(counts) > THREADS * len(trials) / 2 else 1


if __name__ == "__main__":
    sys.exit(main())
