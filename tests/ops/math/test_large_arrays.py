"""What large arrays are computed by gives what NumPy's functions give."""

from __future__ import annotations

import numpy as np
import pytest

import tfdist as tf
from tfdist.ops.array.dynamic_partition import unique_kernel
from tfdist.ops.math.comparison import chosen
from tfdist.ops.math.exponentials import log1p
from tfdist.ops.math.reduction_kernels import plain_total
from tfdist.runtime.devices.kernel_threads import ONE_FOR_BLAS


def floats(*shape, dtype=np.float32):
    return np.random.default_rng(0).normal(size=shape).astype(dtype)


# shape and axes of a sum
SUMS = [
    ((1000, 64), (0,)), ((1000, 64), (1,)), ((64, 3, 500), (0, 1)), ((64, 3, 500), (1, 2)),
    ((16_000, 7), (0,)), ((20_000, 7), (0,)), ((4, 9_000), (1,)), ((3, 200_000), (0,)),
    ((300, 3, 70), (1,)), ((50_000, 2), (-1,)), ((1, 40_000), (0,)), ((40_000, 1), (1,)),
    ((16_000, 40), (0,)), ((70_000,), (0,)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize(("shape", "axis"), SUMS, ids=str)
def test_sums_are_those_of_double_precision(shape, axis, dtype):
    values = (floats(*shape) * 100).astype(dtype)
    for keepdims in (False, True):
        wanted = values.astype(np.float64).sum(axis, keepdims=keepdims)
        with ONE_FOR_BLAS:
            alone = plain_total(values, axis, keepdims)
        together = plain_total(values, axis, keepdims)
        assert together.dtype == dtype
        assert together.shape == wanted.shape
        np.testing.assert_array_equal(together, alone)  # however many threads there are
        np.testing.assert_allclose(together, wanted, rtol=1e-4, atol=2e-2)


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("axis", [(0,), (1,)])
def test_sums_of_what_is_no_number_are_none(axis, special):
    values = floats(300, 200)
    values[7, 9] = special
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(
            np.isfinite(plain_total(values, axis, False)), np.isfinite(values.sum(axis))
        )
        assert np.array_equal(
            plain_total(values, axis, False)[7 if axis == (1,) else 9], special, equal_nan=True
        )


def test_a_logarithm_near_1_is_exact():
    exponents = np.linspace(-44, 38, 100_001)
    below = -np.logspace(-44, -0.001, 100_001)
    for x in (10**exponents, below):
        values = x.astype(np.float32)
        wanted = np.log1p(values.astype(np.float64))
        steps = np.abs(log1p(values) - wanted) / np.spacing(np.abs(wanted).astype(np.float32))
        assert steps.max() < 4


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf, -1.0, -2.0, -0.0, 3e38])
def test_a_logarithm_of_what_is_special_is_that_of_numpy(special):
    values = np.abs(floats(5000))
    values[3000] = special
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(log1p(values.copy()), np.log1p(values), rtol=1e-6)
        over = values.copy()
        assert log1p(over, out=over) is over  # as a compiled step asks for it
        np.testing.assert_allclose(over, np.log1p(values), rtol=1e-6)
        if special == 0:
            assert np.signbit(over[3000])  # as in TensorFlow


# shapes that are broadcast before a short last axis
NARROW = [
    ((1, 5000, 2), (50, 1, 2)), ((9000, 3), (3,)), ((9000, 2), (9000, 1)), ((9000, 1), (9000, 8)),
    ((2,), (7, 900, 2)), ((9000, 2), (1, 1)), ((9000, 2), ()), ((9000, 9), (9,)),
]  # fmt: skip
BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.true_divide,
    "maximum": np.maximum, "minimum": np.minimum,
}  # fmt: skip


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize(("one", "other"), NARROW, ids=str)
def test_points_are_broadcast_as_by_numpy(one, other, name):
    x, y = floats(*one), floats(*other) + 3
    with tf.Graph().as_default(), tf.Session() as session:
        made = getattr(tf, name)(tf.placeholder(tf.float32, one, "x"), tf.constant(y))
        for _ in range(3):  # interpreted, then compiled
            np.testing.assert_array_equal(session.run(made, {"x:0": x}), BINARY[name](x, y))


@pytest.mark.parametrize("reach", [10, 1_000, 100_000, 10_000_000, 2**31 - 1])
@pytest.mark.parametrize("count", [50, 3_000])
def test_different_numbers_stand_in_the_order_they_came_in(count, reach):
    numbers = np.random.default_rng(0).integers(-reach, reach, count).astype(np.int32)
    numbers[-1] = numbers[0]
    found, places = unique_kernel(numbers, out_idx=tf.int64)
    np.testing.assert_array_equal(found, list(dict.fromkeys(numbers.tolist())))
    np.testing.assert_array_equal(found[places], numbers)


@pytest.mark.parametrize("depth", [3, 2_000])
@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_few_and_many_classes_are_one_hot(depth, axis):
    classes = np.array([[0, 2, -1], [1, depth, 0]])
    with tf.Session() as session:
        made = session.run(tf.one_hot(classes, depth, 5.0, 2.0, axis))
    wanted = np.where(classes[..., None] == np.arange(depth), 5.0, 2.0)
    np.testing.assert_array_equal(made, np.moveaxis(wanted, -1, axis))


@pytest.mark.parametrize("is_number", [False, True], ids=["an array", "a number"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.bool_, np.complex64])
def test_choices_are_those_of_where(dtype, is_number):
    raw = np.random.default_rng(0).integers(0, 3, 50_000, np.int8)
    condition = raw.view(np.bool_).reshape(100, 500)  # a bool may be any byte
    one, other = (3 * floats(100, 500) + place for place in range(2))
    one[0, :5] = np.nan, np.inf, -0.0, 0.0, -np.inf
    with np.errstate(invalid="ignore"):
        one, other = one.astype(dtype), other.astype(dtype)
    other = other[1, 1] if is_number else other
    wanted = np.where(raw.reshape(100, 500) != 0, one, other)
    for _ in range(1_500):  # enough for compiling to be worth while, where Numba is installed
        found = chosen(condition, one, other)
    assert found.dtype == wanted.dtype
    assert found.tobytes() == wanted.tobytes()
