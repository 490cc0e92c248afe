"""A factor that many products turn is laid out once; what comes out stays the same to the bit."""

from __future__ import annotations

import numpy as np
import pytest

import tfdist as tf
from tfdist.graph.records import records
from tfdist.plan.compiling.node_bindings import NodeBindings, RuntimeCallbacks
from tfdist.plan.compiling.turned_factors import often_turned
from tfdist.plan.segment import lay_out, segments
from tfdist.plan.step_plan import Partition

CPU = "/job:a/replica:0/task:0/device:CPU:0"


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def chain(factor, count, **turned):
    """Return `count` products, one of the other, all with one factor."""
    x = tf.ones([3, 4])
    for _ in range(count):
        x = tf.tanh(tf.matmul(x, factor, **turned))
    return x


def square(size=4):
    values = np.random.default_rng(0).normal(size=(size, size)).astype(np.float32)
    return tf.placeholder_with_default(values, values.shape, name="w")


def unknown():
    return tf.placeholder(tf.float32, [4, None], name="w")


@pytest.mark.parametrize(
    ("factor", "count", "turned", "expected"),
    [
        pytest.param(square, 16, {"transpose_b": True}, ["w"], id="turned often"),
        pytest.param(square, 15, {"transpose_b": True}, [], id="not often enough"),
        pytest.param(square, 16, {}, [], id="not turned"),
        pytest.param(unknown, 16, {"transpose_b": True}, [], id="perhaps too large"),
    ],
)
def test_which_factors_are_laid_out(graph, factor, count, turned, expected):
    end = chain(factor(), count, **turned)
    nodes = tuple(node._replace(device=CPU) for node in records(graph.get_operations()))
    partition = Partition("/job:a/replica:0/task:0", nodes, (), ((end.op.name, 0),))
    [unit] = segments(partition)
    callbacks = RuntimeCallbacks(None, None, None)
    for traced in (False, True):
        bindings = NodeBindings(lay_out(partition, [unit]), callbacks, traced=traced)
        found = [name for name, _ in often_turned(bindings, unit.nodes)]
        assert found == ([] if traced else expected)


def test_compiled_steps_give_what_interpreted_ones_gave():
    w = tf.Variable(square())
    end = chain(w, 20, transpose_b=True)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(end), var_list=[w])
    losses = []
    for runs in (1, 4):  # each first step is interpreted, later ones are compiled
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            results = [session.run(end) for _ in range(runs)]
            session.run(train)
            losses.append((results[-1], session.run(w)))
    for one, other in zip(*losses, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_factor_that_is_turned_in_one_branch_only():
    w = square()
    x = tf.placeholder(tf.bool, [])
    end = tf.cond(x, lambda: chain(w, 20, transpose_b=True), lambda: chain(w, 1))
    alone = chain(w, 20, transpose_b=True)
    with tf.Session() as session:
        for is_taken in (False, True, True, True):
            found, wanted = session.run([end, alone], {x: is_taken})
            assert (found == wanted).all() == is_taken
