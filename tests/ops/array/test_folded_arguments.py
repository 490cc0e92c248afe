"""Arguments that are known when a step is compiled, not when its graph is built, are checked."""

import numpy as np
import pytest

import tfdist as tf
from tfdist.errors import InvalidArgumentError, ResourceExhaustedError


def folded(number):
    """Return a tensor of which a graph does not know that it is always this number."""
    return tf.reduce_sum(tf.constant([number, 0]))


def folded_vector(*numbers):
    return tf.stack([folded(number) for number in numbers])


X = np.arange(24.0, dtype=np.float32).reshape(4, 6)
# What is wrong -> what is made of X, and what its error says.
WRONG = {
    "no such axis to split": (lambda x: tf.split(x, 2, folded(5))[0], "< input rank"),
    "unequal pieces": (lambda x: tf.split(x, 4, folded(1))[0], "evenly divide"),
    "no such place for an axis": (lambda x: tf.expand_dims(x, folded(7)), "dim index 7"),
    "an axis twice": (lambda x: tf.transpose(x, folded_vector(0, 0)), "1 is missing"),
    "an axis from the end": (lambda x: tf.transpose(x, folded_vector(-1, 0)), "-1 is out of range"),
    "more than is left": (lambda x: tf.slice(x, folded_vector(3, 0), [2, 2]), r"size\[0\]"),
    "no steps": (lambda x: tf.strided_slice(x, [0, 0], [2, 2], folded_vector(0, 1)), "non-zero"),
    "less than nothing around": (
        lambda x: tf.pad(x, tf.reshape(folded_vector(0, 0, -1, 0), [2, 2])),
        "non-negative",
    ),
    "no such row": (lambda x: x[folded(9)], "slice index 9"),
}
RIGHT = {
    "an axis from the end to split": (lambda x: tf.split(x, 3, folded(-1))[1], X[:, 2:4]),
    "an axis at the end": (lambda x: tf.expand_dims(x, folded(2)), X[:, :, None]),
    "axes in another order": (lambda x: tf.transpose(x, folded_vector(1, 0)), X.T),
    "what is left": (lambda x: tf.slice(x, folded_vector(1, 2), [-1, 3]), X[1:, 2:5]),
    "steps": (lambda x: tf.strided_slice(x, [0, 0], [4, 6], folded_vector(2, 3)), X[::2, ::3]),
    "a row": (lambda x: x[folded(2)], X[2]),
    "zeros around": (
        lambda x: tf.pad(x, tf.reshape(folded_vector(1, 0, 2, 3), [2, 2])),
        np.pad(X, [(1, 0), (2, 3)]),
    ),
}


@pytest.mark.parametrize("make", WRONG.values(), ids=WRONG)
def test_every_step_refuses_what_is_wrong(make):
    made, message = make
    with tf.Graph().as_default(), tf.Session() as session:
        result = made(tf.constant(X))
        for _ in range(3):  # the first is interpreted, later ones are compiled
            with pytest.raises(InvalidArgumentError, match=message):
                session.run(result)


@pytest.mark.parametrize("make", RIGHT.values(), ids=RIGHT)
def test_every_step_gives_the_same(make):
    made, wanted = make
    with tf.Graph().as_default(), tf.Session() as session:
        result = made(tf.constant(X))
        for _ in range(3):
            np.testing.assert_array_equal(session.run(result), wanted)


def test_every_step_refuses_what_there_is_no_room_for():
    with tf.Graph().as_default(), tf.Session() as session:
        paddings = tf.reshape(folded_vector(0, 2**30, 2**30, 0), [2, 2])
        result = tf.pad(tf.constant(X), paddings)
        for _ in range(3):
            with pytest.raises(ResourceExhaustedError, match="OOM when allocating"):
                session.run(result)
