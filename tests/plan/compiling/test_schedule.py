"""The order of a compiled unit: graph in, order of nodes out."""

import tracemalloc

import numpy as np
import pytest

import tfdist as tf
from tests.plan.compiling.single_unit import single_unit
from tests.plan.executing import build, execute, partition_of
from tfdist.graph.records import Node
from tfdist.plan.compiling.schedule import schedule

COMPILED = {"compiled": True, "grouped": True, "traced": False}


def scheduled(made) -> list[Node]:
    """Return the nodes of the graph that `made` makes of x [4], in order; x is fed."""
    return list(schedule(*single_unit(made)))


def long_sum(x):
    parts = [tf.exp(x, name=f"e{i}") for i in range(4)]
    return [tf.add_n(parts, name="sum")]


def short_sum(x):
    return [tf.add_n([tf.exp(x, name="a"), tf.sin(x, name="b")], name="sum")]


def used_late(x):
    a, b = tf.exp(x, name="a"), tf.sin(x, name="b")
    return [tf.subtract(b, tf.negative(a, name="c"), name="d")]


def still_needed(x):
    a, b = tf.exp(x, name="a"), tf.sin(x, name="b")
    return [tf.multiply(tf.subtract(b, tf.negative(a, name="c"), name="d"), a, name="e")]


def is_fetched(x):
    a, b = tf.exp(x, name="a"), tf.sin(x, name="b")
    return [a, tf.subtract(b, tf.negative(a, name="c"), name="d")]


def grows(x):
    a, b = tf.exp(x, name="a"), tf.sin(x, name="b")
    return [b, tf.tile(a, [2], name="c")]


def is_random(x):
    a, b = tf.exp(x, name="a"), tf.sin(x, name="b")
    return [tf.subtract(b, tf.random_shuffle(a, name="c"), name="d")]


def waits_for_another(x):
    a, b = tf.exp(x, name="a"), tf.sin(x, name="b")
    with tf.control_dependencies([b]):
        return [tf.negative(a, name="c")]


def reads_a_variable(x):
    v = tf.Variable(tf.zeros([4]), name="v")._ref()
    return [tf.add_n([v, tf.exp(x, name="a"), tf.sin(x, name="b")], name="sum")]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        pytest.param(
            long_sum,
            "e0 e1 sum:0 e2 sum:1 e3 sum",
            id="each term of a sum is added when it is there",
        ),
        pytest.param(short_sum, "a b sum", id="a sum of two stays as it is"),
        pytest.param(reads_a_variable, "v v/read a b sum", id="a variable is read in its turn"),
        pytest.param(used_late, "a c b d", id="what frees an input runs at once"),
        pytest.param(still_needed, "a b c d e", id="what frees nothing waits for its turn"),
        pytest.param(is_fetched, "a b c d", id="what is fetched does not die"),
        pytest.param(grows, "a b c", id="what makes more than it frees waits"),
        pytest.param(is_random, "a b c d", id="what has a state keeps its turn"),
        pytest.param(waits_for_another, "a b c", id="a dependency is waited for"),
    ],
)
def test_when_a_node_runs(made, expected):
    order = [node.name for node in scheduled(made) if node.op not in ("Const", "Assign")]
    assert order == expected.split()


def test_a_sum_taken_apart_gives_the_same_bits_and_holds_one_term():
    terms, size = 40, 1 << 16
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [size])
        total = tf.add_n([tf.exp(x * np.float32(i)) for i in range(terms)])
        partition = partition_of(graph, [total], [x])
    given = np.linspace(-1, 1, size, dtype=np.float32)
    program = build(partition, COMPILED)
    tracemalloc.start()
    [[found], _] = execute(program, [given])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    [[expected], _] = execute(build(partition, {**COMPILED, "compiled": False}), [given])
    assert found.tobytes() == expected.tobytes()
    assert peak < 5 * given.nbytes
