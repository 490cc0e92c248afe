"""The gradient of a mirrored border goes to what was mirrored; too wide borders are refused."""

from __future__ import annotations

import numpy as np
import pytest

import tfdist as tf
from tfdist.graph.op_def import raw

# mode, what is folded, its borders, and what 1.15.5 makes of it
FOLDED = [
    ("REFLECT", [1, 2, 3, 4, 5], (1, 1), [2, 9, 4]),
    ("SYMMETRIC", [1, 2, 3, 4, 5], (1, 1), [3, 3, 9]),
    ("SYMMETRIC", [1, 2, 3, 4, 5], (2, 1), [5, 10]),
    ("SYMMETRIC", [1, 2, 3, 4, 5, 6], (2, 2), [11, 10]),
    ("REFLECT", [1, 2, 3], (0, 0), [1, 2, 3]),
]


@pytest.mark.parametrize(("mode", "given", "sides", "wanted"), FOLDED)
def test_borders_are_folded_back(mode, given, sides, wanted):
    with tf.Session() as session:
        made = raw.MirrorPadGrad(np.float32(given), [sides], mode=mode)
        np.testing.assert_array_equal(session.run(made), wanted)


REFUSED = [
    ("REFLECT", 5, (2, 1), "must be less than the output dimension size: 2, 1 not less than 2"),
    ("REFLECT", 3, (2, 2), "must be less than the output dimension size: 2, 2 not less than -1"),
    ("SYMMETRIC", 5, (3, 1), "no greater than the output dimension size: 3, 1 greater than 1"),
    ("SYMMETRIC", 5, (-1, 1), "Paddings must be non-negative: -1, 1"),
]


@pytest.mark.parametrize(("mode", "size", "sides", "told"), REFUSED)
def test_borders_without_as_much_inside_are_refused(mode, size, sides, told):
    paddings = tf.placeholder(tf.int32, [1, 2])
    made = raw.MirrorPadGrad(np.ones(size, np.float32), paddings, mode=mode)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=told):
        session.run(made, {paddings: [sides]})


@pytest.mark.parametrize("mode", ["REFLECT", "SYMMETRIC"])
def test_each_element_gets_back_as_often_as_it_was_shown(mode):
    x = tf.constant(np.random.default_rng(0).normal(size=(2, 5, 6, 3)))
    shown = tf.pad(x, [[0, 0], [2, 3], [4, 1], [0, 0]], mode)
    weights = np.random.default_rng(1).normal(size=shown.shape.as_list())
    gradient = tf.gradients(shown * weights, x)[0]
    with tf.Session() as session:
        places = session.run(tf.pad(tf.reshape(tf.range(180), [2, 5, 6, 3]),
                                    [[0, 0], [2, 3], [4, 1], [0, 0]], mode))  # fmt: skip
        wanted = np.bincount(places.reshape(-1), weights.reshape(-1)).reshape(2, 5, 6, 3)
        np.testing.assert_allclose(session.run(gradient), wanted)
