"""Powers of numbers of both signs."""

import numpy as np
import pytest

import tfdist as tf

POWERS = [0.0, 1.0, 2.0, 3.0, 4.0, 7.0, -1.0, -2.0, 1.5, 1e10, np.inf, np.nan]


@pytest.mark.parametrize("power", POWERS)
def test_powers_of_negative_numbers_are_those_of_numpy(power):
    x = np.array([0, -0.0, 1, -1, 2, -2, -0.5, np.inf, -np.inf, np.nan, 1e30, -1e30], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        got = session.run(tf.pow(tf.constant(x), power))
    with np.errstate(all="ignore"):
        wanted = np.power(x, np.full_like(x, power))
    np.testing.assert_allclose(got, wanted, rtol=1e-6)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(wanted), strict=True)
