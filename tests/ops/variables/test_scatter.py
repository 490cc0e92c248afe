"""Changes of rows: what is refused, with TensorFlow 1.15's classes and key phrases."""

import numpy as np
import pytest

import tfdist as tf
from tfdist.errors import InvalidArgumentError

SHAPES = "Must have updates.shape = indices.shape \\+ params.shape\\[1:\\]"
SCATTERS = [
    tf.scatter_add, tf.scatter_sub, tf.scatter_mul, tf.scatter_div, tf.scatter_min, tf.scatter_max,
    tf.scatter_update,
]  # fmt: skip


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


# What changes rows of a variable of 3 x 2, and what 1.15.5 says of it.
WRONG = [
    pytest.param([0, 1], np.ones((2, 3)), SHAPES, id="rows too long"),
    pytest.param([0, 1], np.ones((3, 2)), SHAPES, id="too many rows"),
    pytest.param([0, 1], np.ones((1, 2)), SHAPES, id="one row for two: nothing is broadcast"),
    pytest.param([0, 1], np.ones(2), SHAPES, id="a row without its axis"),
    pytest.param([], np.ones((1, 2)), SHAPES, id="a row for no index"),
    pytest.param([0, 5], np.ones((2, 2)), r"indices\[1\] = 5 is not in \[0, 3\)", id="no such row"),
]


@pytest.mark.parametrize("scatter", SCATTERS, ids=lambda function: function.__name__)
@pytest.mark.parametrize(("indices", "updates", "phrase"), WRONG)
def test_what_does_not_fit_is_refused(scatter, indices, updates, phrase):
    v = tf.get_variable("v", initializer=np.full((3, 2), 2, np.float32), use_resource=False)
    i, x = tf.placeholder(tf.int32, None), tf.placeholder(tf.float32, None)
    change = scatter(v, i, x)
    with tf.Session() as session:
        session.run(v.initializer)
        with pytest.raises(InvalidArgumentError, match=f"{phrase}.*variable 'v'"):
            session.run(change, {i: indices, x: updates})
        assert (session.run(v) == 2).all()
    if phrase is SHAPES:
        with pytest.raises(ValueError, match="updates and the rows"):
            scatter(v, tf.constant(indices, tf.int32), updates.astype(np.float32))


def test_one_number_is_for_all_rows():
    v = tf.get_variable("v", initializer=np.full((3, 2), 2, np.float32), use_resource=False)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(tf.scatter_add(v, [0, 1], 3.0))[:, 0].tolist() == [5, 5, 2]


def test_a_number_has_no_rows():
    v = tf.get_variable("v", initializer=2.0, use_resource=False)
    with tf.Session() as session:
        session.run(v.initializer)
        with pytest.raises(InvalidArgumentError, match="params must be at least 1-D"):
            session.run(tf.scatter_add(v, 0, 3.0))


def test_an_assignment_that_checks_shapes_refuses_another_one():
    v = tf.get_variable("v", initializer=np.ones(2, np.float32), use_resource=True)
    value = tf.placeholder(tf.float32, None)
    for validate in (True, False):
        assign = tf.raw_ops.AssignVariableOp(
            resource=v.handle, value=value, validate_shape=validate
        )
        with tf.Session() as session:
            session.run(v.initializer)
            if not validate:
                session.run(assign, {value: np.ones(3)})
                assert session.run(v).shape == (3,)
                continue
            phrase = r"tensor with wrong shape. Expected \[2\] got \[3\]"
            with pytest.raises(InvalidArgumentError, match=phrase):
                session.run(assign, {value: np.ones(3)})
            assert session.run(v).shape == (2,)
