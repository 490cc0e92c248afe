"""Products of all parts of a tensor by one factor are one product: which, and what comes out."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import tfdist as tf
from tests.plan.compiling.single_unit import single_unit
from tfdist.plan.compiling.stacked_products import stack_products

STEPS, ROWS, INNER, COLUMNS = 5, 4, 6, 3


def parts(x, axis=0, steps=STEPS):
    """Return parts of a tensor that depends on x [4]."""
    sizes = [steps, ROWS, INNER] if axis == 0 else [ROWS, steps, INNER]
    return tf.unstack(tf.reshape(tf.tile(x, [steps * INNER]), sizes), axis=axis)


def factor(x, is_turned=False):
    values = tf.exp(tf.tile(x, [INNER * COLUMNS])[: INNER * COLUMNS])
    return tf.reshape(values, [COLUMNS, INNER] if is_turned else [INNER, COLUMNS])


def products(x, given, w, is_turned=False):
    return [tf.matmul(each, w, transpose_b=is_turned) for each in given]


def summed(terms):
    """Return what takes all products."""
    total = terms[0]
    for each in terms[1:]:
        total = tf.tanh(total + each)
    return [total]


def taken_by_gradients_too(x):
    given, w = parts(x), factor(x)
    made = products(x, given, w)
    pairs = zip(given, made, strict=True)
    return [*summed(made), tf.add_n([tf.matmul(a, b, True) for a, b in pairs])]


def by_two_factors(x):
    given = parts(x)
    return summed(products(x, given, factor(x)) + products(x, given, tf.sin(factor(x))))


def of_unknown_rows(x):
    values = tf.tile(x, [STEPS * INNER])
    values = tf.boolean_mask(values, tf.greater(values, -1e9))
    given = tf.unstack(tf.reshape(values, [STEPS, -1, INNER]))
    return summed(products(x, given, factor(x)))


def after_something(x):
    given, w = parts(x), factor(x)
    with tf.control_dependencies([tf.exp(x)]):
        return summed(products(x, given, w))


@pytest.mark.parametrize(
    ("make", "left"),
    [
        pytest.param(lambda x: summed(products(x, parts(x), factor(x))), 1, id="all parts"),
        pytest.param(
            lambda x: summed(products(x, parts(x), factor(x, True), True)), 1, id="a turned factor"
        ),
        pytest.param(by_two_factors, 2, id="two factors"),
        pytest.param(taken_by_gradients_too, 1 + STEPS, id="the parts are taken elsewhere, too"),
        pytest.param(lambda x: summed(products(x, parts(x)[1:], factor(x))), 4, id="not the first"),
        pytest.param(
            lambda x: summed(products(x, parts(x, steps=3), factor(x))), 3, id="only three"
        ),
        pytest.param(
            lambda x: summed(products(x, parts(x, axis=1), factor(x))), 5, id="parts of columns"
        ),
        pytest.param(lambda x: products(x, parts(x), factor(x)), 5, id="they are wanted"),
        pytest.param(of_unknown_rows, 5, id="perhaps too many rows"),
        pytest.param(after_something, 5, id="they have to run after something"),
    ],
)
def test_which_products_are_stacked(make, left):
    bindings, nodes = single_unit(make)
    stacked = stack_products(bindings, nodes)
    assert Counter(node.op for node in stacked)["MatMul"] == left
    made = {node.name for node in stacked} | {"x"}
    assert {name for node in stacked for name, _ in node.inputs} <= made


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_an_unrolled_cell_gives_the_same(dtype):
    random = np.random.RandomState(0)
    with tf.Graph().as_default():
        x = tf.placeholder(dtype, [STEPS, ROWS, INNER])
        first, second = [
            tf.Variable(random.normal(size=shape), dtype=dtype)
            for shape in ([INNER, COLUMNS], [COLUMNS, COLUMNS])
        ]
        state = tf.zeros([ROWS, COLUMNS], dtype)
        for each in tf.unstack(x):
            state = tf.tanh(tf.matmul(each, first) + tf.matmul(state, second))
        wanted = [state, *tf.gradients(tf.reduce_sum(state), [first, second, x])]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            feeds = {x: random.normal(size=x.shape.as_list())}
            expected, *later = [session.run(wanted, feeds) for _ in range(3)]
    for found in later:  # the first is interpreted
        for one, other in zip(found, expected, strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
