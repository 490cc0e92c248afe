"""Special functions of large arrays are those of SciPy, and at their poles what TensorFlow has."""

import numpy as np
import pytest
from scipy import special

import tfdist as tf

RANGES = {
    "both signs": (-20.0, 20.0),
    "next to 0": (1e-6, 1e-3),
    "the zeros of log gamma": (0.9, 2.1),
    "the zero of digamma": (1.4, 1.5),
    "large ones": (10.0, 1e7),
}
FUNCTIONS = {
    "lgamma": (tf.lgamma, special.gammaln),
    "digamma": (tf.digamma, special.digamma),
    "erfc": (tf.erfc, special.erfc),
}


@pytest.mark.parametrize("of", FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize("ends", RANGES.values(), ids=RANGES)
def test_functions_are_those_of_scipy(of, ends):
    ours, theirs = of
    x = np.random.default_rng(0).uniform(*ends, 40_000).astype(np.float32)
    wanted = theirs(x.astype(float))
    np.testing.assert_allclose(value(ours, x), wanted, rtol=3e-7, atol=2e-38)


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        pytest.param(tf.lgamma, [np.inf, np.inf, 0, 0, np.inf, np.inf, np.nan], id="lgamma"),
        pytest.param(
            tf.digamma,
            [np.inf, np.inf, special.digamma(1), special.digamma(2), np.inf, np.inf, np.nan],
            id="digamma",
        ),
        pytest.param(
            tf.erfc,
            [1, special.erfc(-3), special.erfc(1), special.erfc(2), 0, 2, np.nan],
            id="erfc",
        ),
    ],
)
def test_poles_and_the_like(function, wanted):
    x = np.array([0, -3, 1, 2, np.inf, -np.inf, np.nan], np.float32)
    np.testing.assert_allclose(value(function, x), wanted, rtol=3e-7)


def value(function, x):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(function(tf.constant(x)))
