"""Functions as quotients of polynomials: how exact they are, and the same bits both ways."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.needs import needs_numba
from tfdist.ops.math import exponentials, quotients

FUNCTIONS = {"erf": (quotients.erf, np.vectorize(math.erf)), "tanh": (quotients.tanh, np.tanh)}
SPECIAL = [0.0, -0.0, 1e-42, -1e-42, 1e-20, 3.9, 9.1, 1e30, -1e30, np.inf, -np.inf, np.nan]


def numbers():
    """Return places near and far from 0, on both sides."""
    near = np.geomspace(1e-30, 12, 30_000)
    return np.concatenate([SPECIAL, near, -near, np.linspace(-12, 12, 30_000)]).astype(np.float32)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_how_exact_it_is(name):
    function, exact = FUNCTIONS[name]
    x = numbers()
    np.testing.assert_allclose(function(x), exact(x.astype(np.float64)), 4e-7, atol=3e-45)
    is_number = ~np.isnan(x)
    np.testing.assert_array_equal(np.signbit(function(x))[is_number], np.signbit(x)[is_number])
    assert np.nanmax(np.abs(function(x))) == 1


@needs_numba
@pytest.mark.parametrize("function", [quotients._erf, quotients.tanh], ids=["erf", "tanh"])
def test_a_loop_gives_the_bits_of_numpy(function):
    x = numbers()
    found = np.empty_like(x)
    with np.errstate(all="ignore"):
        wanted = function.by_numpy(x)
    function.code.compiled()(found, x)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


@pytest.mark.parametrize("shape", [(4_000,), (50, 80), (3, 0, 2)], ids=str)
def test_shapes_and_layouts(shape):
    x = np.linspace(-3, 3, math.prod(shape), dtype=np.float32).reshape(shape)
    for each in (x, x.T, x[::2], np.asfortranarray(x)):
        for _ in range(3):
            found = exponentials.tanh(each)
            np.testing.assert_allclose(found, np.tanh(each), rtol=6e-7)
            assert found.shape == each.shape


def test_other_floats_keep_their_types():
    for dtype in (np.float16, np.float64, np.complex64):
        x = np.linspace(-3, 3, 4_000).astype(dtype)
        assert exponentials.tanh(x).dtype == dtype
    assert quotients.erf(np.ones([3], np.float16)).dtype == np.float16
