"""Sigmoids and softplus as loops: how exact they are, and the same bits both ways."""

from __future__ import annotations

import numpy as np
import pytest

from tests.needs import needs_numba
from tfdist.ops.math import exponential_loops as loops
from tfdist.ops.math import exponentials

EXACT = {
    "sigmoid": (loops.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
    "softplus": (loops.softplus, lambda x: np.logaddexp(x, 0)),
}
SPECIAL = [0.0, -0.0, 1e-42, -1e-42, 87.3, -87.3, 88.8, 1e30, np.inf, np.nan]


def numbers():
    """Return places near and far from 0, on both sides, where nothing is denormal."""
    near = np.geomspace(1e-30, 87, 30_000)
    return np.concatenate([SPECIAL, near, -near, np.linspace(-87, 120, 30_000)]).astype(np.float32)


@pytest.mark.parametrize("name", EXACT)
def test_how_exact_it_is(name):
    function, exact = EXACT[name]
    x = numbers()
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(function(x), exact(x.astype(np.float64)), rtol=4e-7)


@pytest.mark.parametrize("name", EXACT)
def test_what_would_be_denormal_is_zero(name):
    function, _ = EXACT[name]
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(function(np.float32([-88, -1e30, -np.inf])), 0)


@needs_numba
@pytest.mark.parametrize("name", EXACT)
def test_a_loop_gives_the_bits_of_numpy(name):
    function, _ = EXACT[name]
    x = np.append(numbers(), np.float32([-88, -1e30, -np.inf]))
    found = np.empty_like(x)
    with np.errstate(all="ignore"):
        wanted = function.by_numpy(x)
    function.code.compiled()(found, x)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("function", [exponentials.sigmoid, exponentials.softplus])
def test_shapes_layouts_and_types(function):
    x = np.linspace(-3, 3, 4_000, dtype=np.float32).reshape(50, 80)
    wanted = function(x.astype(np.float64))
    for given, expected in ((x, wanted), (x.T, wanted.T), (x[::2], wanted[::2])):
        for _ in range(3):
            np.testing.assert_allclose(function(given), expected, rtol=1e-6)
    assert function(x.astype(np.float16)).dtype == np.float16
    assert function(np.float32(0)).dtype == np.float32
