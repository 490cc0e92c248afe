"""Which nodes become one loop over elements: graph in, chains out."""

from __future__ import annotations

import sys

import pytest

import tfdist as tf
from tests.needs import needs_numba
from tests.plan.compiling.single_unit import single_unit
from tfdist.graph.records import FUSED
from tfdist.plan.compiling import elementwise_fusion
from tfdist.plan.compiling.elementwise_fusion import fuse_elementwise, members

SIZES = [200, 300]  # large enough for a loop


def wide(x):
    """Return a large tensor of the one that is fed."""
    return tf.reshape(tf.tile(x, [15_000]), SIZES)


def chains_of(build):
    """Return {last node: all nodes} of the chains that become loops."""
    bindings, nodes = single_unit(build)
    fused = [node for node in fuse_elementwise(bindings, nodes) if node.op == FUSED]
    return {node.name: [each.name for each in members(node)] for node in fused}


def line(x):
    return [tf.add(tf.multiply(wide(x), 2.0, name="a"), 1.0, name="b")]


def fetched_between(x):
    a = tf.multiply(wide(x), 2.0, name="a")
    b = tf.add(a, 1.0, name="b")
    return [a, tf.square(tf.negative(b, name="c"), name="d")]


def taken_outside(x):
    a = tf.multiply(wide(x), 2.0, name="a")
    return [tf.add(tf.negative(a, name="b"), tf.sin(a, name="c"), name="d")]


def taken_twice_inside(x):
    a = tf.multiply(wide(x), 2.0, name="a")
    return [tf.add(tf.negative(a, name="b"), a, name="c")]


def handed_on(x):
    a = tf.identity(tf.multiply(wide(x), 2.0, name="a"), name="b")
    return [tf.negative(a, name="c")]


def handed_on_last(x):
    return [tf.identity(tf.negative(tf.multiply(wide(x), 2.0, name="a"), name="b"), name="c")]


def grown(x):
    row = tf.negative(tf.square(wide(x)[0], name="a"), name="b")
    return [tf.add(row, tf.multiply(wide(x), 2.0, name="c"), name="d")]


def chosen(x):
    whole = wide(x)
    is_less = tf.less(whole, 1.0, name="a")
    return [tf.where(is_less, tf.negative(whole, name="b"), whole, name="c")]


def of_whole_numbers(x):
    whole = tf.cast(wide(x), tf.int32)
    return [tf.add(tf.multiply(whole, 2, name="a"), 1, name="b")]


def small(x):
    return [tf.add(tf.multiply(x, 2.0, name="a"), 1.0, name="b")]


def alone(x):
    return [tf.multiply(wide(x), 2.0, name="a")]


def alone_of_many_operations(x):
    y = wide(x)
    return [tf.raw_ops.TanhGrad(y=y, dy=y, name="a")]


def of_a_variable(x):
    weights = tf.Variable(tf.ones(SIZES), name="w")
    product = tf.raw_ops.Mul(x=weights._ref(), y=wide(x), name="a")
    return [tf.negative(product, name="b")]


def of_many_operands(x):
    total = wide(x)
    for i in range(7):
        total = tf.multiply(total, tf.sin(wide(x)), name=f"a{i}")
    return [total]


def sum_of_sums(x):
    parts = [tf.sin(wide(x) + i) for i in range(3)]
    inner = tf.add_n(parts[:2], name="a")
    return [tf.negative(tf.add_n([inner, parts[2]], name="b"), name="c")]


def after_another(x):
    a = tf.multiply(wide(x), 2.0, name="a")
    with tf.control_dependencies([tf.no_op(name="before")]):
        held = tf.identity(a, name="b")
    return [tf.negative(held, name="c")]


@needs_numba
@pytest.mark.parametrize(
    ("build", "expected"),
    [
        pytest.param(line, {"b": ["a", "b"]}, id="what only the next one takes"),
        pytest.param(fetched_between, {"d": ["b", "c", "d"]}, id="what is fetched is made"),
        pytest.param(taken_outside, {"d": ["b", "d"]}, id="what others take is made"),
        pytest.param(taken_twice_inside, {"c": ["a", "b", "c"]}, id="all takers are inside"),
        pytest.param(handed_on, {"c": ["a", "b", "c"]}, id="what hands on is left out"),
        pytest.param(handed_on_last, {"b": ["a", "b"]}, id="but is no end"),
        pytest.param(grown, {"d": ["c", "d"]}, id="what is smaller is made by itself"),
        pytest.param(chosen, {"c": ["a", "b", "c"]}, id="conditions are inside"),
        pytest.param(of_whole_numbers, {}, id="floats only"),
        pytest.param(small, {}, id="not worth a loop"),
        pytest.param(alone, {}, id="one pass is one pass"),
        pytest.param(alone_of_many_operations, {"a": ["a"]}, id="one node of many passes"),
        pytest.param(of_a_variable, {}, id="a variable is read in its turn"),
        pytest.param(
            of_many_operands,
            {"a6": ["a2", "a3", "a4", "a5", "a6"], "a1": ["a0", "a1"]},
            id="no more operands than that",
        ),
        pytest.param(sum_of_sums, {"c": ["b", "c"]}, id="sums free what they add"),
        pytest.param(after_another, {"c": ["a", "b", "c"]}, id="who waits waits as one"),
    ],
)  # fmt: skip
def test_which_nodes_are_one_loop(build, expected):
    assert chains_of(build) == expected


@needs_numba
def test_what_a_chain_waits_for():
    bindings, nodes = single_unit(after_another)
    [fused] = [node for node in fuse_elementwise(bindings, nodes) if node.op == FUSED]
    assert fused.control == ("before",)


def test_without_numba_nodes_stay_as_they_are(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert not chains_of(line)


@needs_numba
def test_a_long_chain_is_several():
    def long(x):
        total = wide(x)
        for _ in range(50):
            total = tf.square(tf.negative(total))
        return [total]

    lengths = [len(names) for names in chains_of(long).values()]
    assert sum(lengths) == 100
    assert max(lengths) == elementwise_fusion._MOST_NODES


@needs_numba
def test_not_too_many_numbers():
    def long(x):
        total = wide(x)
        for i in range(20):
            total = tf.add(total, float(i))
        return [total]

    assert {len(names) for names in chains_of(long).values()} == {
        elementwise_fusion._MOST_NUMBERS,
        8,
    }
