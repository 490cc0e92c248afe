"""Numbers of a stream are as exact as double precision makes them, however many were drawn."""

from __future__ import annotations

import numpy as np
import pytest

from tfdist.base import dtypes
from tfdist.base.philox import of_seeds
from tfdist.ops.random import drawn_numbers
from tfdist.ops.random.box_muller import normal_pairs

STREAM = of_seeds(3, -7)
QUARTERS = np.float32([0, 0.25, 0.5, 0.75, 0.125, 0.375, 0.875, 1 - 2**-23, 2**-23])


def test_normal_numbers_are_as_exact_as_their_type():
    one = np.random.default_rng(0).random(20_000, np.float32)
    two = np.random.default_rng(1).random(20_000, np.float32)
    two[: len(QUARTERS)] = QUARTERS
    angle = (2 * np.pi * two.astype(np.float64)).astype(np.float32).astype(np.float64)
    length = np.sqrt(-2 * np.log(np.maximum(one, np.float32(1e-7)).astype(np.float64)))
    found = normal_pairs(np.stack([one, two], -1))
    for place, function in enumerate((np.sin, np.cos)):
        np.testing.assert_allclose(found[:, place], function(angle) * length, rtol=3e-7, atol=0)


DRAWN = {
    "uniform": drawn_numbers.uniform,
    "normal": drawn_numbers.normal,
    "truncated": drawn_numbers.truncated,
}


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64, dtypes.float16], ids=str)
@pytest.mark.parametrize("name", DRAWN)
def test_the_same_numbers_are_drawn_again_and_again(name, dtype):
    first = DRAWN[name](STREAM, 40_001, dtype)
    for _ in range(40):  # enough for compiling to be worth while
        np.testing.assert_array_equal(DRAWN[name](STREAM, 40_001, dtype), first)
    assert first.dtype == dtype.as_numpy_dtype


@pytest.mark.parametrize("name", DRAWN)
def test_few_numbers_are_the_first_of_many(name):
    many = DRAWN[name](STREAM, 50_000, dtypes.float32)
    np.testing.assert_array_equal(DRAWN[name](STREAM, 33, dtypes.float32), many[:33])


def test_truncated_numbers_are_the_good_ones_of_their_blocks():
    found = drawn_numbers.truncated(STREAM, 4_000, dtypes.float32).reshape(-1, 4)
    for group in range(0, 1_000, 50):
        normal = drawn_numbers.normal(STREAM.skipped(group * 4 * 64), 64, dtypes.float32)
        np.testing.assert_array_equal(found[group], normal[np.abs(normal) < 2][:4])
