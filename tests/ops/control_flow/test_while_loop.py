"""`while_loop`: beside real TensorFlow, and the order of effects within and across its rounds.

Errors are compared in `test_flow_errors.py`; that all executors on one and several tasks agree, in
`tests/runtime/test_control_flow.py`; gradients in
`tests/ops/autodiff/test_control_flow_gradients.py`.
"""

import numpy as np
import pytest

import tfdist as tf
from tests.ops.control_flow.flow_calls import LOOPS
from tests.ops.control_flow.flow_results import check_result
from tests.ops.differential import calls
from tests.runtime.places import EXECUTORS


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture(params=EXECUTORS)
def session(request, graph, monkeypatch):
    monkeypatch.setenv("TFDIST_EXECUTOR", request.param)
    with tf.Session() as session:
        yield session


@pytest.mark.parametrize("source", calls(LOOPS))
def test_a_call_gives_what_it_gives_in_tensorflow(source):
    check_result(source)


# what is built


def test_the_functions_are_called_once_each():
    called = []
    tf.while_loop(
        lambda i: called.append("cond") or i < 3, lambda i: called.append("body") or i + 1, [0]
    )
    assert called == ["cond", "body"]


def test_a_loop_that_fails_leaves_the_graph_as_it_was(graph):
    with pytest.raises(ZeroDivisionError):
        tf.while_loop(lambda i: i < 3, lambda i: i // (1 // 0), [0])
    y = tf.constant(1) + 1
    assert y.op._get_control_flow_context() is None


def test_each_loop_has_a_frame_of_its_own(graph):
    with tf.name_scope("outer"):
        for _ in range(2):
            tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], parallel_iterations=7)
    enters = [op for op in graph.get_operations() if op.type == "Enter"]
    frames = [op.get_attr("frame_name") for op in enters if not op.get_attr("is_constant")]
    assert frames == [b"outer/while/while_context", b"outer/while_1/while_context"]
    assert {op.get_attr("parallel_iterations") for op in enters} == {7}


def test_what_is_inside_knows_its_loop(graph):
    inside = []
    y = tf.while_loop(lambda i: i < 3, lambda i: inside.append(i + 1) or inside[0], [0])
    loop = inside[0].op._get_control_flow_context()
    assert (loop.name, loop.parallel_iterations, loop.back_prop) == ("while", 10, True)
    assert (y.op.type, y.op._get_control_flow_context()) == ("Exit", None)


@pytest.mark.parametrize("back_prop", [True, False])
def test_gradients_flow_unless_back_prop_is_false(back_prop):
    x = tf.constant(3.0)
    body = lambda i, s: (i + 1, s * x)  # noqa: E731
    y = tf.while_loop(lambda i, s: i < 2, body, [0, x], back_prop=back_prop)[1]
    assert (tf.gradients(y, x)[0] is not None) == back_prop


# effects


def note(order, what, *inputs):
    """Return an operation that notes `what` with the values of `inputs`."""
    return tf.py_func(lambda *values: order.append((what, *map(int, values))), list(inputs), [])


@pytest.mark.parametrize("parallel_iterations", [1, 2, 10])
def test_effects_of_a_round_keep_their_order(session, parallel_iterations):
    """Rounds may overlap, but for each of them a comes before b."""
    order = []

    def body(i):
        with tf.control_dependencies([note(order, "a", i)]):
            with tf.control_dependencies([note(order, "b", i)]):
                return i + 1

    ends = tf.while_loop(lambda i: i < 5, body, [0], parallel_iterations=parallel_iterations)
    for _ in range(2):
        order.clear()
        assert session.run(ends) == 5
        assert sorted(order) == [(what, i) for what in "ab" for i in range(5)]
        assert all(order.index(("a", i)) < order.index(("b", i)) for i in range(5))


@pytest.mark.parametrize("parallel_iterations", [1, 2, 10])
def test_effects_on_which_the_next_round_waits_keep_theirs(session, parallel_iterations):
    """A loop variable that waits for the effects carries the order from round to round."""
    order = []

    def body(i):
        with tf.control_dependencies([note(order, "a", i)]):
            with tf.control_dependencies([note(order, "b", i)]):
                return tf.identity(i) + 1

    ends = tf.while_loop(lambda i: i < 5, body, [0], parallel_iterations=parallel_iterations)
    assert session.run(ends) == 5
    assert order == [(what, i) for i in range(5) for what in "ab"]


def test_a_variable_is_read_after_what_the_round_did_to_it(session):
    v = tf.Variable(1)

    def body(i, seen):
        with tf.control_dependencies([tf.assign_add(v, i).op]):
            now = tf.reshape(v.read_value(), [1])
        with tf.control_dependencies([now]):
            return i + 1, tf.concat([seen, now], 0)

    shapes = [tf.TensorShape([]), tf.TensorShape([None])]
    empty = tf.constant([], tf.int32)
    _, seen = tf.while_loop(lambda i, _: i < 4, body, [1, empty], shapes, parallel_iterations=1)
    session.run(v.initializer)
    assert session.run(seen).tolist() == [2, 4, 7]


def test_dependencies_around_a_loop_come_first(session):
    """They gate what enters; what the functions take from outside is not asked to wait."""
    order = []
    with tf.control_dependencies([note(order, "before")]):
        ends = tf.while_loop(
            lambda i: i < 2, lambda i: tf.py_func(
                lambda j: order.append(("round", int(j))) or j + np.int32(1), [i], tf.int32
            ), [tf.constant(0)], [tf.TensorShape(None)],
        )  # fmt: skip
    for _ in range(2):
        order.clear()
        assert session.run(ends) == 2
        assert order == [("before",), ("round", 0), ("round", 1)]


def test_what_waits_for_a_loop_runs_when_it_has_ended(session):
    order = []

    def body(i):
        with tf.control_dependencies([note(order, "round", i)]):
            return tf.identity(i) + 1

    ends = tf.while_loop(lambda i: i < 2, body, [0])
    with tf.control_dependencies([ends]):
        after = note(order, "after")
    session.run(after)
    assert order == [("round", 0), ("round", 1), ("after",)]


def test_the_condition_is_asked_once_more_than_the_body(session):
    order = []

    def cond(i):
        asked = tf.py_func(lambda j: order.append(int(j)) or bool(j < 3), [i], tf.bool)
        asked.set_shape([])
        return asked

    ends = tf.while_loop(cond, lambda i: i + 1, [0])
    assert session.run(ends) == 3
    assert order == [0, 1, 2, 3]


@pytest.mark.parametrize("most", [0, 1, 3, 9])
def test_a_maximum_bounds_the_rounds(session, most):
    rounds = tf.placeholder_with_default(most, [])
    for given in (most, rounds):
        ends = tf.while_loop(lambda i: i < 5, lambda i: i + 1, [0], maximum_iterations=given)
        assert session.run(ends) == min(most, 5)


def test_swap_memory_changes_nothing(session):
    x = tf.constant([1.0, 2.0])
    found = []
    for swaps in (False, True):
        y = tf.while_loop(
            lambda i, s: i < 4, lambda i, s: (i + 1, tf.sin(s * x)), [0, x], swap_memory=swaps
        )[1]
        found.append(session.run([y, tf.gradients(y, x)[0]]))
    np.testing.assert_array_equal(found[0], found[1])


def test_an_error_in_a_round_ends_the_loop(session):
    order = []

    def body(i):
        with tf.control_dependencies([note(order, "round", i)]):
            with tf.control_dependencies([tf.Assert(i < 2, ["round", i])]):
                return tf.identity(i) + 1

    ends = tf.while_loop(lambda i: i < 9, body, [0], parallel_iterations=1)
    for _ in range(2):
        order.clear()
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[round\] \[2\]"):
            session.run(ends)
        assert ("round", 1) in order
        assert ("round", 3) not in order
