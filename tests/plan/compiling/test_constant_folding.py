"""What is always the same is computed once: graph in, nodes that are left out."""

from __future__ import annotations

import numpy as np
import pytest

import tfdist as tf
from tests.plan.executing import build, execute, partition_of
from tfdist.plan.compiling.constant_folding import fold_constants

F32 = tf.float32
X = np.random.RandomState(0).normal(size=[2, 3]).astype(np.float32)
PLAIN = {"compiled": True, "grouped": True, "traced": False}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def fed():
    """Return the placeholder x, whose shape is known."""
    graph = tf.get_default_graph()
    names = [operation.name for operation in graph.get_operations()]
    return graph.get_tensor_by_name("x:0") if "x" in names else tf.placeholder(F32, [2, 3], "x")


def mask():
    return fed() * tf.matrix_band_part(tf.ones([3, 3]), -1, 0, name="folded")[:2]


def gradient_of_a_concatenation():
    x = fed()
    return tf.gradients(tf.reduce_sum(tf.concat([x, x * 2], 1) ** 2), x)[0]


def several_outputs():
    first, second = tf.split(tf.range(6, name="folded"), 2, name="split")
    return fed() + tf.cast(second - first, tf.float32)


def shape_of_what_is_computed():
    return tf.reshape(tf.exp(fed()), tf.reverse(tf.shape(tf.exp(fed())), [0], name="folded"))


def random():
    return tf.random_uniform([2], seed=1, name="random")


def large():
    return fed()[0, 0] + tf.reduce_sum(tf.fill([300, 300], 2.0, name="large"))


def variable():
    return tf.Variable(tf.zeros([2]), name="v").initializer


def has_a_default():
    return tf.exp(tf.placeholder_with_default(tf.constant([1.0, 2.0]), [2]))


def calls_python():
    return tf.py_func(lambda a: a + 1, [tf.constant(1.0)], tf.float32, stateful=False, name="call")


def waits_for_another():
    with tf.control_dependencies([fed() + 1]):
        return tf.add(tf.constant(1), 2, name="late")


@pytest.mark.parametrize(
    ("make", "left"),
    [
        pytest.param(mask, {"Mul"}, id="a mask of ones, cut out"),
        pytest.param(
            gradient_of_a_concatenation,
            {"AddN", "ConcatV2", "Mul", "Pow", "Slice"},
            id="what a gradient computes with shapes",
        ),
        pytest.param(several_outputs, {"AddV2"}, id="outputs that become a constant each"),
        pytest.param(
            shape_of_what_is_computed,
            {"Exp", "Reshape"},
            id="the shape of something, if it is known",
        ),
        pytest.param(random, {"Add", "Mul", "RandomUniform"}, id="each run draws anew"),
        pytest.param(large, {"AddV2", "Fill", "StridedSlice", "Sum"}, id="a large one is not kept"),
        pytest.param(variable, {"Assign", "VariableV2"}, id="what leaves something behind"),
        pytest.param(
            has_a_default, {"Exp", "PlaceholderWithDefault"}, id="what may be fed another time"
        ),
        pytest.param(calls_python, {"PyFuncStateless"}, id="what runs a program"),
        pytest.param(waits_for_another, {"Add", "AddV2"}, id="what has to run after something"),
    ],
)
def test_which_nodes_are_left(graph, make, left):
    made = make()
    partition = fold_constants(partition_of(graph, [made], [fed()]))
    assert {node.op for node in partition.nodes} - {"Const"} == left


@pytest.mark.parametrize(
    "make", [mask, gradient_of_a_concatenation, several_outputs, shape_of_what_is_computed, large]
)
def test_values_are_those_of_the_interpreter(graph, make):
    made = make()
    partition = partition_of(graph, [made], [fed()])
    [expected], _ = execute(build(partition, {**PLAIN, "compiled": False}), [X])
    [found], _ = execute(build(partition, PLAIN), [X])
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype


def gradient_of_a_loop():
    """Return a gradient whose rounds compute with the shapes of what they join."""

    def joined(i, total):
        return i + 1, tf.concat([total[:, 2:], total[:, :2] * fed()[:, :2]], 1)

    _, total = tf.while_loop(lambda i, total: i < 3, joined, [0, tf.ones([2, 5]) * fed()[0, 0]])
    return tf.gradients(tf.reduce_sum(total**2), fed())[0]


def branch_in_a_loop():
    def chosen(i, total):
        odd = tf.equal(i % 2, 1)
        return i + 1, tf.cond(odd, lambda: total + tf.range(3.0)[1], lambda: total - 2.0 * 3.0)

    return tf.while_loop(lambda i, total: i < 5, chosen, [0, fed()[0, 0]])[1]


def branch_by_a_constant_in_a_loop():
    def chosen(i, total):
        _, is_added = tf.unstack(tf.constant([False, True]))
        return i + 1, tf.cond(is_added, lambda: total + 1.0, lambda: total - 1.0)

    return tf.while_loop(lambda i, total: i < 5, chosen, [0, fed()[0, 0]])[1]


def loop_in_a_loop():
    def inner(total):
        body = lambda i, total: (i + 1, total * tf.reduce_sum(tf.range(4.0)))  # noqa: E731
        return tf.while_loop(lambda i, total: i < 2, body, [0, total])[1]

    return tf.while_loop(lambda i, t: i < 2, lambda i, t: (i + 1, inner(t)), [0, fed()[0, 0]])[1]


def two_outputs_of_a_round():
    def dealt(i, total):
        first, second = tf.split(tf.constant([1.0, 2.0, 3.0, 4.0]), 2)
        return i + 1, total + second - first

    return tf.while_loop(lambda i, total: i < 3, dealt, [0, fed()[0, :2]])[1]


IN_LOOPS = {
    gradient_of_a_loop: {"ConcatOffset", "Shape"},
    branch_in_a_loop: set(),  # what stands in a branch does not always run
    branch_by_a_constant_in_a_loop: set(),  # predicates keep their names
    loop_in_a_loop: {"Range", "Sum"},
    two_outputs_of_a_round: {"Split"},
}


@pytest.mark.parametrize("make", IN_LOOPS)
def test_rounds_of_a_loop_do_not_compute_it_anew(graph, make):
    made = make()
    with tf.Session() as session:
        interpreted, *others = (session.run(made, {fed(): X}) for _ in range(3))
        for compiled in others:
            np.testing.assert_allclose(compiled, interpreted, rtol=1e-5)
    program = build(partition_of(graph, [made], [fed()]), PLAIN)
    computed = {node.op for lines in program.lines for node in lines.nodes.values()}
    assert "NextIteration" in computed
    assert not computed & IN_LOOPS[make]


def test_what_is_fetched_and_fed_stays():
    folded = tf.add(tf.constant([1.0, 2.0]), 1.0, name="folded")
    total = tf.reduce_sum(folded) + tf.reduce_sum(tf.split(folded, 2)[1])
    with tf.Session() as session:
        for _ in range(3):
            values, found = session.run([folded, total])
            assert (values.tolist(), found) == ([2, 3], 8)
            values += 1  # it belongs to the caller
        assert [session.run(total, {folded: [5.0, 6.0]}) for _ in range(3)] == [17, 17, 17]
        second = tf.split(folded, 2)[1]
        assert [session.run(second).tolist() for _ in range(3)] == [[3], [3], [3]]


def test_what_never_comes_is_not_counted():
    queue = tf.FIFOQueue(3, tf.float32, [4])
    count = tf.Variable(0)
    size = tf.raw_ops.Size(input=tf.exp(queue.dequeue()))  # tf.size looks at the shape only
    counted = count.assign_add(size * 2)
    with tf.Session() as session:
        session.run([count.initializer, queue.enqueue_many(tf.zeros([3, 4]))])
        assert [session.run(counted) for _ in range(3)] == [8, 16, 24]
        session.run(queue.close())
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(counted)
        assert session.run(count) == 24


def test_an_error_is_that_of_the_node():
    parts = tf.strings.to_number(tf.constant(["1", "no"]), name="parts")
    with tf.Session() as session:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match="parts"):
                session.run(parts)


def test_a_branch_that_is_not_taken_computes_nothing():
    taken = tf.placeholder(tf.bool, [])
    end = tf.cond(taken, lambda: tf.constant(1.0) + 1.0, lambda: tf.constant(3.0) + 1.0)
    with tf.Session() as session:
        assert [session.run(end, {taken: each}) for each in (True, False, True, False)] == [
            2,
            4,
        ] * 2


def test_a_branch_may_be_chosen_by_a_constant():
    x, predicates = fed(), tf.unstack(tf.constant([True, False]))
    ends = [tf.cond(each, lambda: x + 1, lambda: x - 1)[0, 0] for each in predicates]
    with tf.Session() as session:
        found = [session.run(ends, {x: np.zeros([2, 3])}) for _ in range(3)]
    assert found == [[1, -1]] * 3
