"""Graphs far deeper than Python's stack run: TensorFlow runs them."""

import sys

import numpy as np
import pytest

import tfdist as tf
from tfdist.ops.functions.defun import Defun

DEEP = sys.getrecursionlimit() * 2


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def chain(x, count=DEEP):
    for _ in range(count):
        x = tf.negative(x)
    return x


def run(fetched, feeds=None):
    with tf.Session() as session:
        return session.run(fetched, feeds)


def test_a_chain_and_its_gradient_run():
    x = tf.placeholder(tf.float32, [])
    y = chain(x)
    assert run([y, tf.gradients(y, x)[0]], {x: 3.0}) == [3.0, 1.0]


def test_a_chain_of_control_inputs_runs():
    done = tf.no_op()
    for _ in range(DEEP):
        with tf.control_dependencies([done]):
            done = tf.no_op()
    with tf.control_dependencies([done]):
        assert run(tf.constant(1.0)) == 1.0


def test_thousands_are_added_at_once():
    assert run(tf.add_n([tf.constant(1.0)] * (2 * DEEP))) == 2.0 * DEEP


def test_functions_call_each_other_fifty_deep():
    called = tf.identity
    for depth in range(50):
        called = one_more(called, f"at_{depth}")
    assert run(called(tf.constant(0.0))) == 50.0


def one_more(inner, name):
    @Defun(tf.float32, func_name=name)
    def function(x):
        return inner(x) + 1.0

    return function


def test_conditions_stand_in_each_other_fifty_deep():
    x = tf.placeholder(tf.float32, [])

    def branch(depth):
        return (
            tf.cond(x > float(-depth), lambda: branch(depth - 1), lambda: x - 1.0) if depth else x
        )

    assert run(branch(50), {x: 3.0}) == 3.0


def test_a_deep_pipeline_is_begun_at_once():
    data = tf.data.Dataset.range(3)
    for _ in range(DEEP // 5):
        data = data.skip(0)
    assert run(tf.data.make_one_shot_iterator(data).get_next()) == np.int64(0)
