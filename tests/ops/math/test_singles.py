"""Functions of float32 as loops: how exact they are, and the same bits both ways."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.needs import needs_numba
from tfdist.ops.framework.singles import FunctionOfSingles
from tfdist.ops.math import exponential_loops, exponentials, quotients


class Case(NamedTuple):
    """A function, the exact one of doubles, and up to where no result is denormal but near 0."""

    function: FunctionOfSingles
    exact: Callable[[Any], Any]
    end: float


CASES = {
    "erf": Case(quotients._erf, np.vectorize(math.erf), 120),
    "tanh": Case(quotients.tanh, np.tanh, 120),
    "sigmoid": Case(exponential_loops.sigmoid, lambda x: 1 / (1 + np.exp(-x)), 87.3),
    "softplus": Case(exponential_loops.softplus, lambda x: np.logaddexp(x, 0), 87.3),
}
ODD, FROM_0 = ("erf", "tanh"), ("sigmoid", "softplus")
SPECIAL = [0.0, -0.0, 1e-42, -1e-42, 1e-20, 3.9, 9.1, 87.3, 88.8, 1e30, np.inf, np.nan]
FAR_BELOW = [-88, -1e30, -np.inf]
every_function = pytest.mark.parametrize("name", CASES)


def numbers(end):
    """Return places near and far from 0, on both sides."""
    near = np.geomspace(1e-30, end, 30_000)
    many = np.linspace(-12, 12, 30_000)
    return np.concatenate([SPECIAL, near, -near, many, [-end, 120]]).astype(np.float32)


@every_function
def test_how_exact_it_is(name):
    function, exact, end = CASES[name]
    x = numbers(end)
    with np.errstate(all="ignore"):
        # an atol of denormal numbers, which have fewer bits
        np.testing.assert_allclose(function(x), exact(x.astype(np.float64)), 4e-7, atol=3e-45)


@pytest.mark.parametrize("name", ODD)
def test_an_odd_function_keeps_signs_and_ends_at_1(name):
    x = np.append(numbers(120), np.float32(FAR_BELOW))
    found = CASES[name].function(x)
    is_number = ~np.isnan(x)
    np.testing.assert_array_equal(np.signbit(found)[is_number], np.signbit(x)[is_number])
    assert np.nanmax(np.abs(found)) == 1


@pytest.mark.parametrize("name", FROM_0)
def test_what_would_be_denormal_is_zero(name):
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(CASES[name].function(np.float32(FAR_BELOW)), 0)


@needs_numba
@every_function
def test_a_loop_gives_the_bits_of_numpy(name):
    function = CASES[name].function
    x = np.append(numbers(120), np.float32(FAR_BELOW))
    found = np.empty_like(x)
    with np.errstate(all="ignore"):
        wanted = function.by_numpy(x)
    function.code.compiled()(found, x)
    np.testing.assert_array_equal(found, wanted)
    is_number = ~np.isnan(x)
    np.testing.assert_array_equal(np.signbit(found)[is_number], np.signbit(wanted)[is_number])


@pytest.mark.parametrize("shape", [(4_000,), (50, 80), (3, 0, 2)], ids=str)
@pytest.mark.parametrize(
    "function", [exponentials.tanh, exponentials.sigmoid, exponentials.softplus]
)
def test_shapes_and_layouts(function, shape):
    x = np.linspace(-3, 3, math.prod(shape), dtype=np.float32).reshape(shape)
    for each in (x, x.T, x[::2], np.asfortranarray(x)):
        for _ in range(3):
            found = function(each)
            np.testing.assert_allclose(found, function(each.astype(np.float64)), rtol=1e-6)
            assert found.shape == each.shape


def test_other_floats_keep_their_types():
    for dtype in (np.float16, np.float64):
        x = np.linspace(-3, 3, 4_000).astype(dtype)
        for function in (exponentials.tanh, exponentials.sigmoid, exponentials.softplus):
            assert function(x).dtype == dtype
            assert function(x[0]).dtype == dtype
    assert exponentials.tanh(np.ones([3], np.complex64)).dtype == np.complex64
    assert quotients.erf(np.ones([3], np.float16)).dtype == np.float16
    assert exponentials.sigmoid(np.float32(0)).dtype == np.float32
