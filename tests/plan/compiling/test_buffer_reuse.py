"""Which results may be written over a dying input: graph in, nodes out."""

import numpy as np
import pytest

import tfdist as tf
from tests.plan.compiling.single_unit import single_unit
from tfdist.plan.compiling.buffer_reuse import reusable


def written_over(build):
    """Return {node: input} of the graph that `build` makes of x [4], which is fed."""
    bindings, nodes = single_unit(build)
    return {node: endpoint[0] for node, endpoint in reusable(bindings, nodes).items()}


def chain(x):
    return [tf.exp(tf.multiply(x, 2.0, name="a"), name="b")]


def fetched_between(x):
    a = tf.multiply(x, 2.0, name="a")
    return [a, tf.exp(a, name="b")]


def taken_twice(x):
    a = tf.multiply(x, 2.0, name="a")
    return [tf.add(tf.exp(a, name="b"), tf.sin(a, name="c"), name="d")]


def seen_through_a_view(x):
    a = tf.multiply(x, 2.0, name="a")
    return [tf.reshape(a, [2, 2]), tf.exp(a, name="b")]


def grown_by_broadcasting(x):
    return [tf.add(tf.exp(x, name="a"), tf.ones([3, 4]), name="b")]


def of_another_type(x):
    return [tf.less(tf.exp(x, name="a"), 1.0, name="b")]


def after_a_product(x):
    product = tf.matmul(tf.reshape(x, [2, 2]), tf.ones([2, 2]), name="a")
    return [tf.nn.relu(product, name="b")]


def gradient_of_a_rectifier(x):
    rows = tf.reshape(x, [2, 2])
    features = tf.nn.relu(tf.matmul(rows, rows, name="a"), name="b")
    gradients = tf.matmul(rows, tf.reshape(features, [2, 2]), name="c")
    return [features, tf.raw_ops.ReluGrad(gradients=gradients, features=features, name="d")]


def of_rank_zero(x):
    return [tf.exp(tf.exp(tf.constant(1.0), name="a"), name="b")]


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        pytest.param(chain, {"b": "a"}, id="the only taker may write over what it takes"),
        pytest.param(fetched_between, {}, id="what is fetched stays"),
        pytest.param(
            taken_twice, {"c": "a", "d": "c"}, id="the last taker may, and only one input"
        ),
        pytest.param(seen_through_a_view, {}, id="what a view may show stays"),
        pytest.param(
            grown_by_broadcasting, {}, id="a result of another shape needs its own memory"
        ),
        pytest.param(of_another_type, {}, id="a result of another type needs its own memory"),
        pytest.param(of_rank_zero, {}, id="scalars are not arrays"),
        pytest.param(after_a_product, {"b": "a"}, id="a product has an array of its own"),
        pytest.param(
            gradient_of_a_rectifier,
            {"b": "a", "d": "c"},
            id="so has a gradient; not what is fetched",
        ),
    ],
)
def test_what_may_be_written_over(build, expected):
    assert written_over(build) == expected


def test_what_was_fed_is_never_written_to():
    x = tf.placeholder(tf.float32, [3])
    y = tf.exp(x + 1.0) * x
    given = np.array([1.0, 2.0, 3.0], np.float32)
    with tf.Session() as session:
        results = [session.run(y, {x: given}) for _ in range(3)]
    assert given.tolist() == [1.0, 2.0, 3.0]
    for result in results:
        np.testing.assert_allclose(result, np.exp(given + 1) * given, rtol=1e-6)


def rectified(x, y):
    return tf.nn.relu(tf.matmul(tf.reshape(x - 10.0, [2, 2]), tf.reshape(y, [2, 2])))


def rectified_back(x, y):
    product = tf.matmul(tf.reshape(x, [2, 2]), tf.reshape(y, [2, 2]))
    return tf.raw_ops.ReluGrad(gradients=product, features=tf.reshape(x - 5.0, [2, 2]))


@pytest.mark.parametrize(
    "build", [tf.add, tf.maximum, tf.atan2, tf.subtract, rectified, rectified_back]
)
def test_functions_write_over_their_input(build):
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [4])
        result = build(tf.exp(x), tf.multiply(x, 2.0))
        for _ in range(3):  # interpreted, compiled, and as it stays
            got = sess.run(result, {x: [1, 2, 3, 4]})
        of_constants = tf.constant(np.exp([1, 2, 3, 4]), tf.float32), [2.0, 4.0, 6.0, 8.0]
        is_alone = sess.run(build(*of_constants))
    np.testing.assert_allclose(got, is_alone, rtol=1e-6)
