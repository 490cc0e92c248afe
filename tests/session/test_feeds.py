"""Feeds: what is taken for a tensor, and what is refused, with which error."""

from collections import namedtuple

import numpy as np
import pytest

import tfdist as tf
from tfdist.ops.framework.indexed_slices import IndexedSlicesValue


@pytest.fixture
def session(graph):
    tf.placeholder(tf.float32, [None, 2], name="x")
    tf.placeholder(tf.int32, [], name="i")
    tf.placeholder(tf.uint8, [], name="u")
    tf.placeholder(tf.string, name="t")
    tf.placeholder(tf.bool, [], name="b")
    tf.placeholder(tf.float32, name="any")
    tf.constant(5, name="k") + 1
    with tf.Session() as session:
        yield session


def fed(session, name, value):
    """Return what `name` is when `value` is fed for it."""
    found = session.run(f"{name}:0", {f"{name}:0": value})
    return found.tolist() if hasattr(found, "tolist") else found


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        pytest.param("x", [[1, 2]], [[1.0, 2.0]], id="a list of ints for floats"),
        pytest.param("x", np.ones((1, 2)), [[1.0, 1.0]], id="doubles for floats"),
        pytest.param("x", np.zeros((0, 2)), [], id="an empty batch"),
        pytest.param("x", np.ones((2, 4), np.float32)[:, ::2], [[1, 1]] * 2, id="a view"),
        pytest.param("i", 2.7, 2, id="a float is cut to an int"),
        pytest.param("i", np.float64(-2.7), -2, id="a NumPy float as well"),
        pytest.param("i", True, 1, id="a bool is an int"),
        pytest.param("i", np.array(3), 3, id="an array of rank 0"),
        pytest.param("t", "a", b"a", id="text is encoded"),
        pytest.param("t", "\u00e9", "\u00e9".encode(), id="as UTF-8"),
        pytest.param("t", b"\xff", b"\xff", id="bytes are left alone"),
        pytest.param("t", ["a", b"b"], [b"a", b"b"], id="text and bytes mixed"),
        pytest.param("t", np.array(["a", "bc"]), [b"a", b"bc"], id="an array of text"),
        pytest.param("b", 1, True, id="a number is a bool"),
        pytest.param("any", 1, 1.0, id="a scalar for an unknown shape"),
        pytest.param("any", [[1.0]], [[1.0]], id="a matrix for an unknown shape"),
        pytest.param("any", float("inf"), float("inf"), id="infinity"),
    ],
)
def test_values_that_are_taken(session, name, value, expected):
    assert fed(session, name, value) == expected
    assert fed(session, name, value) == expected


@pytest.mark.parametrize(
    ("name", "value", "error", "text"),
    [
        pytest.param("x", [[1, 2, 3]], ValueError, r"\(1, 3\).*'x:0'.*\(\?, 2\)", id="3 columns"),
        pytest.param("x", [1, 2], ValueError, r"\(2,\)", id="a vector for a matrix"),
        pytest.param("i", [3], ValueError, r"\(1,\).*\(\)", id="a vector for a scalar"),
        pytest.param("x", [[1, 2], [3]], ValueError, "x:0", id="ragged rows"),
        pytest.param("x", "a", ValueError, "'a'", id="a word for a number"),
        pytest.param("i", "x", ValueError, "'x'", id="a word for an int"),
        pytest.param("x", None, ValueError, "x:0", id="nothing"),
        pytest.param("any", {}, TypeError, "any:0", id="a dict"),
        pytest.param("i", 2**40, TypeError, "i:0", id="an int that is too large"),
        pytest.param("u", 300, TypeError, "u:0", id="out of range"),
        pytest.param("u", -1, TypeError, "u:0", id="a negative number for an unsigned one"),
        pytest.param("t", 3, TypeError, "3", id="a number for a string"),
    ],
)
def test_values_that_are_refused(session, name, value, error, text):
    with pytest.raises(error, match=text):
        fed(session, name, value)


def test_a_symbol_is_no_value(session, graph):
    with pytest.raises(TypeError, match="symbol; feed a number"):
        fed(session, "any", graph.get_tensor_by_name("k:0"))


@pytest.mark.parametrize(
    "key",
    [
        pytest.param("any", id="an operation's name"),
        pytest.param("zz:0", id="a name that is not there"),
        pytest.param("any:1", id="an output that is not there"),
        pytest.param(3, id="a number"),
        pytest.param(None, id="nothing"),
    ],
)
def test_keys_that_are_refused(session, key):
    with pytest.raises(TypeError, match="Cannot interpret feed_dict key"):
        session.run("k:0", {key: 1})


def test_an_operation_is_no_key(session, graph):
    with pytest.raises(TypeError, match="Cannot interpret feed_dict key"):
        session.run("any:0", {graph.get_operation_by_name("any"): 1})


def test_another_graphs_tensor_is_no_key(session):
    with tf.Graph().as_default():
        there = tf.placeholder(tf.float32)
    with pytest.raises(TypeError, match="is not an element of this graph"):
        session.run("k:0", {there: 1})


def test_a_feed_dict_is_a_dict(session):
    with pytest.raises(TypeError):
        session.run("k:0", 3)


def test_any_tensor_can_be_fed(session):
    assert session.run("add:0") == 6
    assert session.run("add:0", {"k:0": 9}) == 10
    assert session.run("add:0", {"add:0": 20}) == 20
    assert session.run("add:0") == 6


def test_what_is_not_needed_may_be_fed(session):
    assert session.run("k:0", {"i:0": 3}) == 5


def test_a_placeholder_must_be_fed(session):
    text = "You must feed a value for placeholder tensor 'i' with dtype"
    with pytest.raises(tf.errors.InvalidArgumentError, match=text) as raised:
        session.run("i:0")
    assert raised.value.op.name == "i"


def test_feeds_are_told_apart_by_key(session):
    assert session.run("add:0", {"k:0": 1, "i:0": 7}) == 2
    assert session.run("add:0", {"i:0": 7, "k:0": 2}) == 3


def test_a_variable_can_be_fed():
    v = tf.Variable(1.0)
    total, doubled = v + 1.0, v.value() * 2.0
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(total, {v: 5.0}) == 6.0
        assert session.run(doubled, {v.value(): 5.0}) == 10.0
        assert session.run(v, {v: 7.0}) == 7.0
        assert session.run(v) == 1.0


def test_a_default_can_be_replaced():
    x = tf.placeholder_with_default([1.0, 2.0], [None])
    with tf.Session() as session:
        assert session.run(x).tolist() == [1.0, 2.0]
        assert session.run(x, {x: [3.0]}).tolist() == [3.0]


def test_a_graph_can_forbid_feeding_and_fetching():
    with tf.Graph().as_default() as graph:
        x = tf.constant(1.0, name="x")
        graph.prevent_feeding(x)
        graph.prevent_fetching(x)
        with tf.Session() as session:
            with pytest.raises(ValueError, match="Tensor x:0 may not be fed"):
                session.run(x + 1, {x: 2.0})
            with pytest.raises(ValueError, match="'x:0' may not be fetched"):
                session.run(x)


# IndexedSlices


@pytest.fixture
def rows(graph):
    """IndexedSlices that must be fed, with and without the shape of the whole."""
    values, indices = tf.placeholder(tf.float32, [None, 1]), tf.placeholder(tf.int64, [None])
    shape = tf.placeholder(tf.int64, [2])
    return tf.IndexedSlices(values, indices, shape), tf.IndexedSlices(values, indices)


FED = [[1.0], [2.0]], [3, 0], [4, 1]


@pytest.mark.parametrize("kind", [IndexedSlicesValue._make, tuple, list])
def test_indexed_slices_are_fed_with_their_parts(session, rows, kind):
    for _ in range(2):
        whole = session.run(rows[0], {rows[0]: kind(FED)})
        assert [part.tolist() for part in whole] == [*FED]


def test_the_shape_is_fed_only_where_there_is_one(session, rows):
    bare = session.run(rows[1], {rows[1]: IndexedSlicesValue(*FED)})
    assert (bare.values.tolist(), bare.dense_shape) == (FED[0], None)
    assert session.run(rows[1], {rows[1]: FED[:2]}).indices.tolist() == FED[1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value"):
        session.run(rows[0], {rows[0]: FED[:2]})
    with pytest.raises(TypeError, match="annot feed"):
        session.run(rows[0], {rows[0]: (*FED[:2], None)})


def test_what_is_fed_later_replaces_a_part(session, rows):
    whole = session.run(rows[0], {rows[0]: FED, rows[0].indices: [1, 2]})
    assert whole.indices.tolist() == [1, 2]


def test_callables_take_indexed_slices(session, rows):
    call = session.make_callable(rows[1].indices, [rows[1]])
    assert call(FED).tolist() == FED[1]


def test_one_value_is_not_enough_for_indexed_slices(session, rows):
    with pytest.raises(TypeError, match="an IndexedSlicesValue or a tuple is wanted"):
        session.run(rows[1], {rows[1]: 5})


# SparseTensor

PARTS = [[[0, 1], [2, 0]], [1.5, 2.5], [3, 4]]


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: tf.sparse_placeholder(tf.float32), id="any shape"),
        pytest.param(lambda: tf.sparse_placeholder(tf.float32, [None, 4]), id="any length"),
        pytest.param(lambda: tf.sparse_placeholder(tf.float32, [3, 4], "p"), id="a shape"),
        pytest.param(lambda: tf.SparseTensor([[0, 0], [1, 1]], [0.0, 0.0], [9, 9]), id="constants"),
    ],
)
@pytest.mark.parametrize(
    "kind", [tf.SparseTensorValue._make, tuple, list, lambda parts: [*parts, 5]]
)
def test_a_sparse_tensor_is_fed_with_its_parts(session, make, kind):
    symbol = make()
    for _ in range(2):
        found = session.run(symbol, {symbol: kind(PARTS)})
        assert [part.tolist() for part in found] == PARTS


def test_of_a_known_shape_the_shape_need_not_be_fed(session):
    symbol = tf.sparse_placeholder(tf.float32, [3, 4])
    dense = session.run(tf.sparse.to_dense(symbol), {symbol: PARTS[:2]})
    assert dense.tolist() == [[0, 1.5, 0, 0], [0] * 4, [2.5, 0, 0, 0]]


def test_of_any_shape_the_shape_must_be_fed(session):
    symbol = tf.sparse_placeholder(tf.float32, name="sp")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"must feed a value .*'sp/shape'"):
        session.run(symbol, {symbol: PARTS[:2]})


def test_a_part_of_a_sparse_tensor_is_fed_alone(session):
    symbol = tf.sparse_placeholder(tf.float32)
    assert session.run(symbol.values * 2.0, {symbol.values: [1.0, 2.0, 3.0]}).tolist() == [2, 4, 6]


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        pytest.param(5, TypeError, "a SparseTensorValue or a tuple is wanted", id="a number"),
        pytest.param(None, TypeError, "a SparseTensorValue or a tuple is wanted", id="nothing"),
        pytest.param("abc", ValueError, "p/indices:0", id="text"),
        pytest.param({"a": 1}, ValueError, "p/indices:0", id="a dict"),
        pytest.param(([[0]], [1.5], [3]), ValueError, r"\(1, 1\) .*'p/indices:0'", id="a vector"),
    ],
)
def test_what_is_no_sparse_value_cannot_be_fed(session, value, error, text):
    symbol = tf.sparse_placeholder(tf.float32, [None, 4], "p")
    with pytest.raises(error, match=text):
        session.run(symbol, {symbol: value})


def test_callables_take_sparse_values(session):
    symbol = tf.sparse_placeholder(tf.float32)
    call = session.make_callable(symbol, [symbol])
    assert [part.tolist() for part in call(tf.SparseTensorValue(*PARTS))] == PARTS


Pair = namedtuple("Pair", "i b")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param(lambda i, b, x: (i, b), (3, True), id="a tuple"),
        pytest.param(lambda i, b, x: (i, b), [3, True], id="a list for a tuple"),
        pytest.param(lambda i, b, x: (i, b), Pair(3, True), id="a named tuple for a tuple"),
        pytest.param(lambda i, b, x: Pair(i, b), (3, True), id="a tuple for a named tuple"),
        pytest.param(lambda i, b, x: (i, (b,)), (3, (True,)), id="a nested one"),
        pytest.param(lambda i, b, x: ("i:0", b), (3, True), id="with a name in it"),
        pytest.param(
            lambda i, b, x: (i, (x, b)), (3, (np.ones((1, 2)), True)), id="with an array in it"
        ),
    ],
)
def test_a_structure_is_fed_for_a_tuple_of_symbols(session, key, value):
    i, b, x = map(session.graph.get_tensor_by_name, ("i:0", "b:0", "x:0"))
    assert session.run([i, b], {key(i, b, x): value}) == [3, True]


def test_the_state_of_a_recurrent_cell_is_fed_beside_a_batch(session):
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(2) for _ in range(2)])
    state, x = cell.zero_state(1, tf.float32), session.graph.get_tensor_by_name("x:0")
    given = session.run(state)
    given[1].c[:] = 7.0
    c, fed_x = session.run([state[1].c + 0, x], {state: given, x: [[1, 2]]})
    assert (c.tolist(), fed_x.tolist()) == ([[7.0, 7.0]], [[1.0, 2.0]])


@pytest.mark.parametrize(
    ("feeds", "text"),
    [
        pytest.param(lambda i, b: {(i, b): (1,)}, "1 values.*for the 2 of", id="too few"),
        pytest.param(lambda i, b: {(i, b): 1}, "1 values.*for the 2 of", id="one value"),
        pytest.param(lambda i, b: {(i, b): ([1, 2], True)}, "3 values", id="another form"),
        pytest.param(lambda i, b: {(i, b): (1, True), i: 2}, "i:0.*is fed twice", id="twice"),
    ],
)
def test_a_structure_that_does_not_fit_a_tuple_is_refused(session, feeds, text):
    i, b = map(session.graph.get_tensor_by_name, ("i:0", "b:0"))
    with pytest.raises(ValueError, match=text):
        session.run(i, feeds(i, b))
