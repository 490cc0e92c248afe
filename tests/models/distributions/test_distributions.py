"""tf.distributions beside what TensorFlow 1.15.5 says of the same distributions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.models.distributions.distribution_calls import MADE, PAIRS, asked, compared, made
from tfdist.errors import InvalidArgumentError

EXPECTED = json.loads(
    Path(__file__).with_name("expected_distributions_1_15.json").read_text(encoding="utf-8")
)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        yield own


# What TensorFlow 1.15 has not, or tells of its own parts: the first ones are here all the same.
NOT_THERE = {
    "affine normal": {"mean"},
    "binomial": {"sample", "some samples"},
    "deterministic": {"kind"},
    "poisson and another poisson": {"divergence", "cross entropy"},
    "relaxed one hot": {"kind"},
}
WITHOUT_MEAN = {"cauchy", "log normal", "one hot", "relaxed bernoulli", "relaxed one hot"}


@pytest.mark.parametrize("name", MADE)
def test_a_distribution_says_what_it_says_on_tensorflow(name):
    compare(asked(tf, name), EXPECTED[name], NOT_THERE.get(name, ()))


@pytest.mark.parametrize("pair", PAIRS, ids=" and ".join)
def test_divergences_are_those_of_tensorflow(pair):
    name = " and ".join(pair)
    compare(compared(tf, *pair), EXPECTED[name], NOT_THERE.get(name, ()))


def compare(found, wanted, but=()):
    assert found.keys() == wanted.keys()
    for what, theirs in wanted.items():
        ours = found[what]
        if what in but:
            continue
        if theirs == "ValueError":  # TensorFlow fails where parameters have a batch
            continue
        if len(theirs) == 4 and isinstance(ours, list):
            assert ours[:3] == theirs[:3], what
            np.testing.assert_allclose(ours[3], theirs[3], rtol=2e-4, atol=1e-5, err_msg=what)
        else:
            assert ours == theirs, what


@pytest.mark.parametrize(
    "name", [name for name in MADE if "student" not in name and name not in WITHOUT_MEAN]
)
def test_samples_have_the_mean_that_is_promised(name):
    distribution = made(tf, name)
    drawn = distribution.sample(20000, seed=7)
    if "categorical" in name:
        drawn, mean = tf.one_hot(drawn, 3), distribution.probs
    else:
        mean = distribution.mean()
    with tf.Session() as session:
        found, wanted = session.run([tf.reduce_mean(tf.cast(drawn, tf.float32), 0), mean])
    np.testing.assert_allclose(found, wanted, atol=0.1)


def run(fetch):
    with tf.Session() as session:
        return session.run(fetch)


def test_gradients_flow_through_samples():
    loc, scale = tf.constant(1.0), tf.constant(2.0)
    drawn = tf.distributions.Normal(loc, scale).sample(1000, seed=1)
    slopes = tf.gradients(tf.reduce_mean(tf.square(drawn)), [loc, scale])
    np.testing.assert_allclose(run(slopes), [2.0, 4.0], atol=0.6)  # of loc ** 2 + scale ** 2


@pytest.mark.parametrize(
    ("make", "error"),
    [
        pytest.param(lambda D: D.Bernoulli(), ValueError, id="neither logits nor probs"),
        pytest.param(lambda D: D.Bernoulli(0.1, 0.2), ValueError, id="both of them"),
        pytest.param(
            lambda D: D.Normal(0.0, -1.0, validate_args=True).mean(),
            InvalidArgumentError,
            id="a scale that is not positive",
        ),
        pytest.param(
            lambda D: D.Uniform(1.0, 0.0, validate_args=True).mean(),
            InvalidArgumentError,
            id="ends that are exchanged",
        ),
        pytest.param(
            lambda D: D.StudentT(0.5, 0.0, 1.0, allow_nan_stats=False).mean(),
            InvalidArgumentError,
            id="a mean that is not defined",
        ),
        pytest.param(
            lambda D: D.Normal(0.0, 1.0).kl_divergence(D.Laplace(0.0, 1.0)),
            NotImplementedError,
            id="a divergence without formula",
        ),
    ],
)
def test_what_cannot_be_is_an_error(make, error):
    with pytest.raises(error):
        run(make(tf.distributions))


def test_a_copy_changes_some_parameters():
    normal = tf.distributions.Normal(0.0, 1.0)
    assert run([normal.copy(loc=3.0).mean(), normal.copy(loc=3.0).stddev()]) == [3.0, 1.0]
