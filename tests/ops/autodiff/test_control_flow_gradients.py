"""Gradients through conds and loops: beside real TensorFlow, and beside slopes.

Where the environment variable TFDIST_REAL_TENSORFLOW holds a command that runs a real TensorFlow's
Python, it is asked; elsewhere what 1.15.5 said is read from
`tests/ops/control_flow/expected_flow_1_15.json`.
"""

import json
import os
import random
from functools import cache

import numpy as np
import pytest

import tfdist as tf
from tests.ops.control_flow import flow_trees
from tests.ops.control_flow.flow_programs import (
    EXPECTED,
    PROGRAMS,
    build,
    outcome,
    plain,
    real,
    whole,
)
from tfdist.wire.server import start_servers

REAL = os.environ.get("TFDIST_REAL_TENSORFLOW", "")

# Programs of which 1.15.5 gives no gradient, or less than the whole, and why.
LESS_THERE = {
    "called_in_body_for_a_cond": "cannot go through a body that computes a gradient of a cond",
    "called_in_body_for_a_loop": "cannot go through a body that computes a gradient of a loop",
    "loop_with_gather_of_no_rounds": "slices of a loop without rounds lose their dense shape",
    **dict.fromkeys(
        ("second_of_loop", "second_of_cond_in_loop", "second_of_loop_in_cond",
         "second_of_loop_in_loop", "second_of_loop_in_cond_in_loop"),
        "refuses second derivatives of loops"),
    **dict.fromkeys(
        ("third_of_loop", "second_of_loop_over_elements"),
        "loses the part that leads through values of forward rounds"),
}  # fmt: skip


@pytest.fixture(autouse=True, params=["interpreter", "compiler"])
def executor(request, monkeypatch):
    monkeypatch.setenv("TFDIST_EXECUTOR", request.param)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


# beside real TensorFlow


@cache
def expected():
    if REAL:
        return real(REAL)
    with open(EXPECTED, encoding="utf-8") as file:
        return json.load(file)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in LESS_THERE])
def test_values_and_gradients_are_those_of_tensorflow(name):
    found, wanted = outcome(tf, name), expected()[name]
    assert found.keys() == wanted.keys(), (found, wanted)
    assert (found["kinds"], found["shapes"]) == (wanted["kinds"], wanted["shapes"])
    for part in ("values", "gradients"):
        for ours, theirs in zip(found[part], wanted[part], strict=True):
            assert (ours is None) == (theirs is None)
            if ours is not None:
                assert ours[0] == theirs[0]
                np.testing.assert_allclose(ours[1], theirs[1], rtol=2e-5, atol=1e-6)


def test_all_programs_were_tried_there():
    assert list(expected()) == list(PROGRAMS)


# beside slopes


@pytest.mark.parametrize("executor", ["compiler"], indirect=True)  # above both give the same
@pytest.mark.parametrize("name", list(PROGRAMS))
def test_gradients_are_slopes(name):
    xs, results, gradients = build(tf, name)
    total = sum(tf.reduce_sum(each) for each in results if each is not None)
    values = [plain(value) for value in PROGRAMS[name][1]]
    fetches = [each if each is None else whole(tf, each) for each in gradients]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for x, value, gradient in zip(xs, values, fetches, strict=True):
            if gradient is not None and name not in NOT_SLOPES:
                at = dict(zip(xs, values, strict=True))
                found = session.run(gradient, at)
                wanted = slopes(lambda v: session.run(total, {**at, x: v}), value)  # noqa: B023
                scale = max(1.0, np.abs(wanted).max())
                np.testing.assert_allclose(found / scale, wanted / scale, atol=1e-2)


# Gradients that leave something out because the program says so.
NOT_SLOPES = {
    name
    for name in PROGRAMS
    if "stop" in name or "back_prop" in name or name.startswith("called_for") or name
    in ("starts_are_given", "leaves_together", "unconnected_are_zeros", "loop_of_variables_outside",
        "called_in_branch_for_what_is_outside", "loop_of_complex")
}  # fmt: skip


def slopes(function, value, step=2e-3):
    """Return the slope of `function` along each element of its argument."""
    found = np.zeros(value.shape)
    for position in np.ndindex(value.shape):
        ends = []
        for shift in (step, -step):
            moved = value.copy()
            moved[position] += shift
            ends.append((function(moved), moved[position]))
        (up, right), (down, left) = ends
        found[position] = (float(up) - float(down)) / (float(right) - float(left))
    return found


# beside the same program without conds and loops


@pytest.mark.parametrize("seed", range(12))
def test_nested_flow_has_the_gradients_of_the_unrolled_program(seed):
    order = 2 if seed % 3 == 0 else 1
    tree = flow_trees.block(random.Random(seed), variables=3, depth=4 - order)
    found, wanted = (
        run(with_gradients(function, tree, order))
        for function in (flow_trees.flowing, flow_trees.unrolled)
    )
    assert np.isfinite(wanted).all()
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-5)


def with_gradients(function, tree, order):
    """Return a weighted sum of a program's results, and its derivatives."""
    xs = [tf.placeholder_with_default(value, []) for value in (1.1, 0.7, -0.4)]
    made, sums = function(tree, xs), []
    for _ in range(order):
        sums.append(sum(each * (i + 1) for i, each in enumerate(made)))
        made = tf.gradients(sums[-1], xs, unconnected_gradients="zero")
    return [*sums, *made]


# what is built


def power(x, rounds=3, **options):
    return tf.while_loop(lambda i, s: i < rounds, lambda i, s: (i + 1, s * x), [0, x], **options)[1]


def test_counts_are_named_as_in_tensorflow(graph):
    x = tf.constant(3.0)
    power(x, name="power")
    before = graph.version
    tf.gradients(graph.get_tensor_by_name("power/Exit_1:0"), x)
    names = {op.name: op.type for op in graph.get_operations()[before:]}
    assert names["gradients/f_count"] == names["gradients/b_count"] == "Const"
    assert names["gradients/f_count_2"] == names["gradients/b_count_3"] == "Exit"
    assert names["gradients/power/mul_grad/Mul_1/StackPushV2"] == "StackPushV2"
    assert names["gradients/power/mul_grad/Mul_1/StackPopV2"] == "StackPopV2"
    assert names["gradients/power/mul/Enter_grad/b_acc"] == "Enter"
    frame = graph.get_operation_by_name("gradients/b_count_1").get_attr("frame_name")
    assert frame == b"gradients/power/while_context"


def test_a_step_without_gradients_pushes_nothing():
    x = tf.constant(3.0)
    y = power(x)
    tf.gradients(y, x)
    with tf.Session() as session:
        ops = {x.graph.get_operation_by_name(node.name).type for node in session.placement(y)}
    assert "StackPushV2" not in ops
    assert "Merge" in ops


def test_several_gradients_of_one_loop_run_in_one_step():
    x, u = tf.constant(3.0), tf.constant(2.0)
    y = power(x) * u
    found = [tf.gradients(y, x)[0], tf.gradients(y * y, x)[0], tf.gradients(y, u)[0]]
    assert run(found) == [216.0, 2 * 162 * 216.0, 81.0]
    assert run(found[1]) == 2 * 162 * 216.0


def test_nothing_inside_of_rounds_can_be_fetched_or_fed(graph):
    x = tf.constant(3.0)
    y = power(x)
    before = graph.version
    (found,) = tf.gradients(y, x)
    assert graph.is_fetchable(found)
    pops = [op for op in graph.operations_since(before) if op.type == "StackPopV2"]
    assert pops
    assert not any(graph.is_fetchable(op) or graph.is_feedable(op.outputs[0]) for op in pops)


def test_constants_of_a_body_are_made_again_or_pushed(graph):
    x = tf.constant([1.0] * 100)
    body = lambda i, s: (i + 1, s * tf.constant(2.0) * tf.constant([3.0] * 100))  # noqa: E731
    y = tf.while_loop(lambda i, s: i < 2, body, [0, x])[1]
    (found,) = tf.gradients(y, x)
    np.testing.assert_array_equal(run(found), [36.0] * 100)
    pushed = [op.inputs[1].shape.as_list() for op in graph.get_operations() if "Push" in op.type]
    assert pushed == [[100]]


def test_slices_stay_slices(graph):
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    body = lambda i, s: (i + 1, s + tf.reduce_sum(tf.gather(x, [i, i])))  # noqa: E731
    y = tf.while_loop(lambda i, s: i < 2, body, [0, 0.0])[1]
    (found,) = tf.gradients(y, x)
    values, indices = run([found.values, found.indices])
    assert sorted(indices) == [0, 0, 1, 1]
    np.testing.assert_array_equal(values, np.ones((4, 2)))
    assert found.values.shape.as_list() == [None, 2]


def test_training_through_a_loop():
    """Variables of a recurrent net follow their gradients."""
    w, x = tf.Variable([[0.5, -0.3], [0.2, 0.4]]), tf.constant([[1.0, 2.0]])
    state = tf.while_loop(
        lambda i, s: i < 5, lambda i, s: (i + 1, tf.tanh(tf.matmul(s, w) + x)), [0, x]
    )[1]
    loss = tf.reduce_sum(tf.square(state - 0.5))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first = session.run(loss)
        for _ in range(30):
            session.run(train)
        assert session.run(loss) < first * 0.7


# across tasks


@pytest.mark.parametrize("inproc", [True, False], ids=["by calls", "by rpc"])
def test_rounds_backwards_cross_tasks_as_the_forward_ones_do(graph, inproc):
    x = tf.placeholder(tf.float32, [])
    there = placed_program(x, "/job:ps", "/job:worker")
    with tf.Graph().as_default():
        own = tf.placeholder(tf.float32, [])
        wanted = run(placed_program(own, "", ""), {own: 1.2})
    servers = start_servers({"ps": 1, "worker": 1}, inproc=inproc)
    try:
        with tf.Session(servers[1].target, graph=graph) as session:
            session.run(tf.global_variables_initializer())
            found = session.run(there, {x: 1.2})
    finally:
        for server in servers:
            server.stop()
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def placed_program(x, first, second):
    """Return gradients through a cond in a loop and a loop in a loop, on two devices."""
    with tf.device(first):
        v = tf.Variable(0.5)

    def body(i, s):
        with tf.device(second):
            a = tf.sin(s * x)
            with tf.device(first):
                b = a * v
            c = tf.cond(i > 1, lambda: b * a, lambda: s + b)
        inner = lambda j, t: (j + 1, t * v + tf.sin(x * t))  # noqa: E731
        return i + 1, tf.while_loop(lambda j, t: j < i, inner, [0, c])[1]

    y = tf.while_loop(lambda i, s: i < 4, body, [0, x])[1]
    return tf.gradients(y, [x, v]) + tf.gradients(y, [x, v], colocate_gradients_with_ops=True)


# what is refused


def test_imported_loops_and_conds_have_no_gradients(graph):
    x = tf.constant(3.0, name="x")
    y = tf.identity(power(x), name="y")
    z = tf.identity(tf.cond(x > 2.0, lambda: x * x, lambda: x), name="z")
    data = graph.as_graph_def()
    del y, z
    with tf.Graph().as_default():
        x, y, z = tf.import_graph_def(data, return_elements=["x:0", "y:0", "z:0"])
        assert run([y, z]) == [81.0, 9.0]
        with pytest.raises(LookupError, match=r"'import/while/.*\(type Enter\).*was imported"):
            tf.gradients(y, x)
        with pytest.raises(LookupError, match=r"'import/cond/.*\(type Switch\).*was imported"):
            tf.gradients(z, x)


def test_tensors_inside_of_a_loop_are_refused_outside():
    inside = []
    x = tf.constant(3.0)

    def body(i, s):
        inside.append(s * x)
        return i + 1, inside[0]

    y = tf.while_loop(lambda i, s: i < 3, body, [0, x])[1]
    for ys, xs in ((y, inside), (inside, x)):
        with pytest.raises(ValueError, match=r"'while/mul:0' is inside of while loop 'while'"):
            tf.gradients(ys, xs)


def test_first_values_of_variables_are_refused_inside():
    x = tf.constant(3.0, name="x")

    def body(i, s):
        return i + 1, s + tf.gradients(s * x, x)[0]

    with pytest.raises(ValueError, match="'x:0', the first value of a loop variable"):
        tf.while_loop(lambda i, s: i < 3, body, [0, x])


def test_a_loop_outside_is_refused_inside_of_another():
    x = tf.constant(3.0)
    y = power(x)

    def body(i, s):
        return i + 1, s + tf.gradients(y, x)[0]

    with pytest.raises(ValueError, match=r"'while' cannot .* inside of loop 'while_1'"):
        tf.while_loop(lambda i, s: i < 3, body, [0, 1.0])


def test_second_gradients_of_a_loop_outside_are_refused_where_the_first_are_in_a_branch():
    x = tf.constant(3.0)
    y = power(x)
    z = tf.cond(x > 2.0, lambda: tf.gradients(y, x)[0], lambda: x)
    with pytest.raises(ValueError, match="compute the first gradient outside"):
        tf.gradients(z, x)


def test_a_tensor_that_left_its_branch_is_refused_in_a_loop():
    inside = []

    def body(i, s):
        tf.cond(i < 5, lambda: inside.append(tf.sin(s)) or s, lambda: s)
        return i + 1, s * inside[0]

    x = tf.constant(3.0)
    y = tf.while_loop(lambda i, s: i < 3, body, [0, x])[1]
    with pytest.raises(ValueError, match="values leave a branch or a loop as its results"):
        tf.gradients(y, x)
