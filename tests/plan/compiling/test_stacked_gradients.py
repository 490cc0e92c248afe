"""Sums of products, or of sums over rows, whose factors are stacked: which, and what comes out."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import tfdist as tf
from tests.plan.compiling.single_unit import single_unit
from tfdist.plan.compiling.stacked_gradients import stack_gradients


def factors(x, count, rows=4):
    """Return as many pairs of matrices that depend on x [4]."""
    column = tf.reshape(tf.tile(x, [rows // 4]), [rows, 1])
    return [(tf.exp(column * (i + 1)), tf.sin(column + i)) for i in range(count)]


def products(x, count, turned=(True, False), **sizes):
    pairs = factors(x, count, **sizes)
    return [tf.matmul(a, b, transpose_a=turned[0], transpose_b=turned[1]) for a, b in pairs]


def held(terms):
    """Return a sum of terms that are held together, as gradients are."""
    found = []
    for term in terms:
        with tf.control_dependencies([tf.group(term)]):
            found.append(tf.identity(term))
    return tf.add_n(found, name="sum")


def of_rows(x, **options):
    return [tf.reduce_sum(b, 0, **options) for _, b in factors(x, 4)]


def of_biases(x):
    return [tf.raw_ops.BiasAddGrad(out_backprop=b) for _, b in factors(x, 4)]


def weights_and_bias(x):
    pairs = factors(x, 3)
    weights = held([tf.matmul(a, b, transpose_a=True) for a, b in pairs])
    return [weights, held([tf.reshape(tf.reduce_sum(b, [0]), [1]) for _, b in pairs])]


def also_fetched(x):
    terms = products(x, 4)
    return [terms[1], tf.add_n(terms)]


def also_taken(x):
    terms = products(x, 4)
    return [tf.add_n(terms) + tf.exp(terms[1])]


def another_term(x):
    return [tf.add_n([*products(x, 3), tf.reshape(x[0], [1, 1])])]


def of_both_kinds(x):
    return [tf.add_n([*products(x, 2), *[tf.reshape(each, [1, 1]) for each in of_rows(x)]])]


@pytest.mark.parametrize(
    ("make", "left"),
    [
        pytest.param(
            lambda x: [tf.add_n(products(x, 3))], {"ConcatV2": 2, "MatMul": 1}, id="three products"
        ),
        pytest.param(
            lambda x: [held(products(x, 3))], {"ConcatV2": 2, "MatMul": 1}, id="held together"
        ),
        pytest.param(lambda x: [held(of_rows(x))], {"ConcatV2": 1, "Sum": 1}, id="sums over rows"),
        pytest.param(
            lambda x: [held(of_biases(x))], {"ConcatV2": 1, "BiasAddGrad": 1}, id="of a bias"
        ),
        pytest.param(
            weights_and_bias, {"ConcatV2": 2, "MatMul": 1, "Sum": 1}, id="both take one stack"
        ),
        pytest.param(lambda x: [tf.add_n(products(x, 2))], {"MatMul": 2, "AddN": 1}, id="only two"),
        pytest.param(
            lambda x: [tf.add_n(products(x, 3, (False, True)))],
            {"MatMul": 3, "AddN": 1},
            id="columns would have to lie side by side",
        ),
        pytest.param(
            lambda x: [tf.add_n(of_rows(x, keepdims=True))],
            {"Sum": 4, "AddN": 1},
            id="sums that are matrices themselves",
        ),
        pytest.param(also_fetched, {"MatMul": 4, "AddN": 1}, id="one of them is wanted"),
        pytest.param(also_taken, {"MatMul": 4, "AddN": 1}, id="one of them is taken elsewhere"),
        pytest.param(another_term, {"MatMul": 3, "AddN": 1}, id="a term is something else"),
        pytest.param(of_both_kinds, {"MatMul": 2, "Sum": 4, "AddN": 1}, id="terms of two kinds"),
        pytest.param(
            lambda x: [tf.add_n(products(x, 3, rows=1 << 20))],
            {"MatMul": 3, "AddN": 1},
            id="too much would have to be kept",
        ),
    ],
)
def test_which_sums_are_stacked(make, left):
    bindings, nodes = single_unit(make)
    counts = Counter(node.op for node in stack_gradients(bindings, nodes))
    looked_at = ("AddN", "BiasAddGrad", "ConcatV2", "MatMul", "Sum")
    assert {op: counts[op] for op in looked_at if counts[op]} == left


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_an_unrolled_cell_learns_the_same(dtype):
    with tf.Graph().as_default():
        weights = tf.Variable(np.random.RandomState(0).normal(size=[7, 4]), dtype=dtype)
        bias = tf.Variable(np.random.RandomState(2).normal(size=[4]), dtype=dtype)
        state = tf.zeros([5, 4], dtype)
        for each in np.random.RandomState(1).normal(size=[6, 5, 3]):
            joined = tf.concat([tf.constant(each, dtype), state], 1)
            state = tf.tanh(tf.nn.bias_add(tf.matmul(joined, weights), bias) + bias)
        slopes = tf.gradients(tf.reduce_sum(state), [weights, bias])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            first, *later = [session.run(slopes) for _ in range(3)]  # the first is interpreted
    for each in later:
        for found, expected in zip(each, first, strict=True):
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
            np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_step_that_fails_says_where():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2, 3])
        checked = tf.check_numerics(x, "bad")
        total = tf.add_n([tf.matmul(checked, x * i, transpose_a=True) for i in range(3)])
        with tf.Session() as session:
            for _ in range(3):
                assert session.run(total, {x: np.ones([2, 3])}).shape == (3, 3)
            with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
                session.run(total, {x: np.full([2, 3], np.nan)})
