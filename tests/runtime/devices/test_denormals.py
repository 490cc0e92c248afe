"""Denormal numbers count as zero in steps, as in TensorFlow 1.15 and 2.21, and nowhere else."""

from __future__ import annotations

import platform

import numpy as np
import pytest

import tfdist as tf
from tests.runtime.places import PLACES

pytestmark = pytest.mark.skipif(platform.system() != "Linux", reason="elsewhere they count")

TINY = np.full(9, 1e-40, np.float32)
TINY_DOUBLE = np.full(9, 1e-310)

# What is computed of TINY -> the values that both TensorFlows give.
PROGRAMS = {
    "a product": (lambda x: x * 0.5, 0),
    "a sum with zero": (lambda x: x + 0.0, 0),
    "a product that is large enough": (lambda x: x * 1e10, 0),
    "a sum of many": (lambda x: tf.fill([9], tf.reduce_sum(x)), 0),
    "a comparison": (lambda x: tf.cast(x > 0.0, tf.float32), 0),
    "a wider type": (lambda x: tf.cast(x, tf.float64), 0),
    "a result that is denormal": (lambda x: tf.exp(0 * x - 100.0), 0),
    "a product of matrices": (lambda x: tf.matmul(tf.reshape(x, [3, 3]), tf.ones([3, 3])), 0),
    "what is not computed": (tf.identity, 1e-40),
}


@pytest.mark.parametrize(("build", "wanted"), PROGRAMS.values(), ids=PROGRAMS)
def test_denormal_numbers_count_as_zero(build, wanted):
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [9])
        result = build(x)
        for _ in range(3):  # interpreted, compiled, and as it stays
            np.testing.assert_array_equal(sess.run(result, {x: TINY}), np.float32(wanted))


@pytest.mark.parametrize("where", PLACES, ids=lambda where: where.__name__)
def test_they_count_as_zero_on_every_task(where):
    with where() as place, tf.Graph().as_default(), tf.Session(place.target) as sess:
        x = tf.placeholder(tf.float32, [9])
        with tf.device(place.there):
            there = x * 0.5
        with tf.device(place.here):
            here = tf.identity(there) + x
        for _ in range(3):
            assert not np.any(sess.run([there, here], {x: TINY}))


def test_doubles_have_denormal_numbers_as_well():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float64, [9])
        assert not sess.run(x * 0.5, {x: TINY_DOUBLE}).any()


def test_the_users_thread_has_them_again_after_a_step():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [9])
        sess.run(x * 0.5, {x: TINY})
        assert (TINY * np.float32(0.5)).all()
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(tf.check_numerics(x / 0.0, "it fails"), {x: TINY})
    assert (TINY * np.float32(0.5)).all()
