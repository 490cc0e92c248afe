"""Python's decisions about tensors: values of 1.15.5, or of Python itself where 1.15.5 fails."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.ops.autograph import autograph_programs as programs
from tfdist.ops.autograph.converting import converted

EXPECTED = json.loads((Path(__file__).parent / "expected_autograph_1_15.json").read_text("utf-8"))

# What 1.15.5 refuses, or computes as if `==` compared which tensor it is: here it is what Python
# gives for numbers.
AS_PYTHON = {
    "assertions", "boolean_operators", "break_and_continue", "chained_comparison", "collatz",
    "equality", "loops_in_loops", "methods", "python_values_that_agree", "several_ways_return",
}  # fmt: skip
# Without a function around, nothing waits for an assertion.
CALLS = [
    (name, way, index)
    for name, (_, calls) in programs.CALLS.items()
    for way in programs.WAYS
    for index in range(len(calls))
    if (name, way) != ("assertions", "by_to_graph")
]


def by_python(name, values):
    function = programs.CALLS[name][0](tf)
    try:
        result = function(*values)
    except AssertionError:
        return "InvalidArgumentError"
    if isinstance(result, tf.Tensor):
        with tf.Session(graph=result.graph) as session:
            result = session.run(result)
    return np.asarray(result).tolist()


@pytest.mark.parametrize(("name", "way", "index"), CALLS)
def test_decisions_about_tensors_are_those_of_python(name, way, index):
    values = programs.CALLS[name][1][index]
    expected = by_python(name, values) if name in AS_PYTHON else EXPECTED[name][way][index]
    assert programs.outcome(tf, name, way, values) == expected


def test_every_function_was_tried_on_tensorflow():
    assert set(EXPECTED) == set(programs.CALLS)


def run(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_what_does_something_in_a_branch_does_it_when_that_is_taken():
    counter = tf.Variable(0, use_resource=True)

    @tf.function
    def step(x):
        if x > 0:
            counter.assign_add(1)
            counter.assign(counter * 10)
        else:
            counter.assign_sub(5)
        return x

    taken, other = step(tf.constant(1)), step(tf.constant(-1))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(taken)
        assert session.run(counter) == 10
        session.run(other)
        assert session.run(counter) == 5


def test_what_does_something_in_a_loop_does_it_in_each_turn():
    counter = tf.Variable(0, use_resource=True)

    @tf.function
    def step(n):
        for i in range(n):
            if i > 1:
                counter.assign_add(i)
        return n

    done = step(tf.constant(4))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(done)
        assert session.run(counter) == 5


def test_a_loop_goes_through_a_dataset():
    @tf.function
    def total():
        found = 0
        for number in tf.data.Dataset.range(5):
            found += tf.cast(number, tf.int32)
        return found

    assert run(total()) == 10


def test_gradients_flow_through_branches_and_loops():
    def power(x, n):
        result = 1.0
        for _ in range(n):
            result = result * x
        return result if n > 1 else -result

    x = tf.placeholder_with_default(3.0, [])
    y = converted(power)(x, tf.placeholder_with_default(3, []))
    assert run(tf.gradients(y, x)[0]) == 27.0


def test_the_line_of_a_node_is_the_users():
    def decided(x):
        if x > 0:
            return x + 1
        return x - 1

    found = converted(decided)(tf.placeholder_with_default(1, []))
    places = {op.created_at for op in found.graph.get_operations() if op.type == "AddV2"}
    first = decided.__code__.co_firstlineno
    assert places == {f"{__file__}:{first + 2}"} or all(f":{first + 2}" in each for each in places)


def branch_only(x):
    if x > 0:
        y = x
    return y


def loop_only(x):
    while x > 0:
        last = x
        x = x - 1
    return last


def changes_kind(x):
    if x > 0:
        kind = None
    else:
        kind = x
    return kind


@pytest.mark.parametrize(
    ("function", "said"),
    [
        pytest.param(branch_only, "'y' has a value in one branch only", id="one branch"),
        pytest.param(loop_only, "'last' has no value before the loop", id="a loop"),
        pytest.param(changes_kind, "'kind' is no tensor, and not the same in both", id="kinds"),
    ],
)
def test_errors_name_the_variable_and_why_it_has_no_value(function, said):
    with pytest.raises(ValueError, match=said):
        converted(function)(tf.placeholder_with_default(1, []))


def test_what_has_no_source_or_is_not_the_users_stays_as_it_is():
    made = {}
    exec(textwrap.dedent("def f(x):\n    return x if x > 0 else -x"), made)
    for function in (made["f"], abs, tf.reduce_sum, np.sum, str):
        assert converted(function) is function


def test_a_function_that_is_to_be_left_alone_is():
    @tf.autograph.experimental.do_not_convert
    def f(x):
        return x if x > 0 else -x

    with pytest.raises(TypeError, match="Python `bool`"):
        converted(f)(tf.constant(1))


def test_functions_without_decisions_are_not_touched():
    def f(x):
        return tf.reduce_sum(x) * 2.0

    assert converted(f) is f


def test_what_tf_function_leaves_alone_on_demand():
    def f(x):
        return x if x > 0 else -x

    with pytest.raises(TypeError, match="Python `bool`"):
        tf.function(f, autograph=False)(tf.constant(1))


def test_a_layer_of_the_users_decides_by_tensors():
    class Signed(tf.keras.layers.Layer):
        def call(self, inputs):
            total = tf.reduce_sum(inputs)
            if total > 0:
                inputs = inputs * 2.0
            return inputs

    layer = Signed()
    up, down = layer(tf.constant([1.0, 2.0])), layer(tf.constant([-1.0, 0.5]))
    one, other = run([up, down])
    np.testing.assert_array_equal(one, [2.0, 4.0])
    np.testing.assert_array_equal(other, [-1.0, 0.5])
