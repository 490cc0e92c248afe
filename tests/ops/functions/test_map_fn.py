"""`map_fn`, `foldl`, `foldr`, `scan`: beside real TensorFlow, and their gradients.

Errors are compared in `tests/ops/control_flow/test_flow_errors.py`.
"""

import numpy as np
import pytest

import tfdist as tf
from tests.ops.control_flow.flow_calls import ELEMENTS
from tests.ops.control_flow.flow_results import check_result
from tests.ops.differential import calls


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def session(graph):
    with tf.Session() as session:
        yield session


@pytest.mark.parametrize("source", calls(ELEMENTS))
def test_a_call_gives_what_it_gives_in_tensorflow(source):
    check_result(source)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_number_of_elements_may_come_as_it_runs(session, count):
    x = tf.placeholder(tf.float32, [None])
    values = np.arange(1.0, 1.0 + count, dtype=np.float32)
    found = session.run(
        [tf.map_fn(lambda e: e * 2.0, x), tf.foldl(tf.subtract, x), tf.foldr(tf.subtract, x),
         tf.scan(tf.add, x), tf.scan(tf.add, x, reverse=True)], {x: values},
    )  # fmt: skip
    left, right = values[0], values[-1]
    for value in values[1:]:
        left = left - value
    for value in values[-2::-1]:
        right = right - value
    sums = np.cumsum(values), np.cumsum(values[::-1])[::-1]
    for ours, wanted in zip(found, (values * 2, left, right, *sums), strict=True):
        np.testing.assert_allclose(ours, wanted)


def test_the_function_is_called_once():
    called = []
    tf.map_fn(lambda e: called.append(e) or e, tf.constant([1, 2, 3]))
    tf.scan(lambda a, e: called.append(e) or a, tf.constant([1, 2, 3]))
    assert len(called) == 2


def test_gradients_flow_through_elements_and_initializers(session):
    x, first = tf.constant([1.0, 2.0, 3.0]), tf.constant(2.0)
    folded = tf.foldl(lambda a, e: a * e, x, first)
    assert [each.tolist() for each in session.run(tf.gradients(folded, [x, first]))] == [
        [12.0, 6.0, 4.0], 6.0,
    ]  # fmt: skip
    mapped = tf.map_fn(lambda e: e * e * first, x)
    assert session.run(tf.gradients(mapped, x)[0]).tolist() == [4.0, 8.0, 12.0]
    sums = tf.scan(lambda a, e: a + e, x, reverse=True)
    assert session.run(tf.gradients(sums, x)[0]).tolist() == [1.0, 2.0, 3.0]


def test_back_prop_false_stops_gradients():
    x = tf.constant([1.0, 2.0])
    made = [
        tf.map_fn(lambda e: e * e, x, back_prop=False),
        tf.foldl(lambda a, e: a * e, x, back_prop=False),
        tf.foldr(lambda a, e: a * e, x, back_prop=False),
        tf.scan(lambda a, e: a * e, x, back_prop=False),
    ]
    assert [tf.gradients(each, x) for each in made] == [[None]] * 4


def test_names_of_scopes():
    x = tf.constant([1, 2])
    made = [
        tf.map_fn(lambda e: e, x, name="mine"),
        tf.foldl(lambda a, e: a, x),
        tf.foldr(lambda a, e: a, x),
        tf.scan(lambda a, e: a, x),
    ]
    assert [each.op.name.split("/")[0] for each in made] == ["mine", "foldl", "foldr", "scan"]
