"""Normal distributions that are cut off anywhere: bounds, moments, seeds, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import tfdist as tf
from tfdist.ops.random.truncated_normal import parameterized_truncated_normal

COUNT = 40_000


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def drawn(shape, *parameters, **options):
    found = parameterized_truncated_normal(shape, *parameters, **options)
    with tf.Session() as session:
        return session.run(found)


# Standard moments of an interval of the standard distribution: integrated on a fine grid.
def moments(low, high):
    places = np.linspace(max(low, -40), min(high, 40), 2_000_001)
    nearest = min(low**2, high**2) if low * high > 0 else 0.0
    weights = np.exp((nearest - places**2) / 2)
    mean = (places * weights).sum() / weights.sum()
    return mean, np.sqrt(((places - mean) ** 2 * weights).sum() / weights.sum())


@pytest.mark.parametrize(
    ("low", "high"),
    [
        pytest.param(-2, 2, id="around the mean"),
        pytest.param(-0.1, 0.2, id="a short interval around it"),
        pytest.param(-np.inf, np.inf, id="all numbers"),
        pytest.param(3, np.inf, id="a tail"),
        pytest.param(-np.inf, -8, id="the other tail, far out"),
        pytest.param(5, 5.01, id="a short interval far out"),
        pytest.param(-0.5, 30, id="nearly a half"),
    ],
)
def test_numbers_lie_between_the_bounds_as_they_should(low, high):
    found = drawn([COUNT], 10.0, 2.0, 10 + 2.0 * low, 10 + 2.0 * high, dtype="float64", seed=7)
    standard = (found - 10) / 2
    assert low - 1e-9 <= standard.min()
    assert standard.max() <= high + 1e-9
    mean, deviation = moments(low, high)
    assert abs(standard.mean() - mean) < 5 * deviation / np.sqrt(COUNT)
    assert standard.std() == pytest.approx(deviation, rel=0.03)


def test_each_row_has_its_own_parameters():
    found = drawn([2, 1000], [0.0, 100.0], 1.0, [-1.0, 99.0], [1.0, 101.0], seed=1)
    assert found.dtype == np.float32
    assert abs(found[0]).max() <= 1
    assert abs(found[1] - 100).max() <= 1


def test_the_same_seeds_give_the_same_numbers():
    found = parameterized_truncated_normal([3], seed=5)
    with tf.Session() as one, tf.Session() as other:
        first = one.run(found)
        np.testing.assert_array_equal(first, other.run(found))
        assert (first != one.run(found)).any()


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        pytest.param((0.0, 1.0, 3.0, 2.0), "Invalid parameters", id="bounds the wrong way round"),
        pytest.param((0.0, 0.0), "Invalid parameters", id="no deviation"),
        pytest.param((0.0, -1.0), "Invalid parameters", id="a deviation below 0"),
        pytest.param(([0.0, 1.0, 2.0],), "length 1 or shape", id="as many as there are no rows"),
    ],
)
def test_what_tensorflow_refuses(parameters, said):
    with pytest.raises(tf.errors.InvalidArgumentError, match=said):
        drawn([2], *parameters)
