"""Fetches: whatever structure is asked for comes back, with values for tensors."""

from collections import OrderedDict, defaultdict, namedtuple

import numpy as np
import pytest

import tfdist as tf
from tfdist.ops.framework.indexed_slices import IndexedSlicesValue

Point = namedtuple("Point", "x y")


@pytest.fixture
def session(graph):
    """A session on a graph with a scalar `a`, a vector `b`, an operation `n` and a variable `v`."""
    tf.constant(1, name="a"), tf.constant([1.0, 2.0], name="b"), tf.no_op(name="n")
    variable = tf.Variable(3.0, name="v")
    with tf.Session() as session:
        session.run(variable.initializer)
        yield session


def element(graph, name):
    return (
        graph.get_tensor_by_name(f"{name}:0") if name != "n" else graph.get_operation_by_name("n")
    )


STRUCTURES = [
    pytest.param(lambda a, b, n: a, 1, id="a tensor"),
    pytest.param(lambda a, b, n: n, None, id="an operation"),
    pytest.param(lambda a, b, n: [a, n], [1, None], id="a list"),
    pytest.param(lambda a, b, n: (a, n, a), (1, None, 1), id="a tuple"),
    pytest.param(lambda a, b, n: {"x": a, "y": [n]}, {"x": 1, "y": [None]}, id="a dict"),
    pytest.param(lambda a, b, n: Point(a, n), Point(1, None), id="a namedtuple"),
    pytest.param(
        lambda a, b, n: OrderedDict([("z", a), ("k", n)]), OrderedDict([("z", 1), ("k", None)]),
        id="an ordered dict",
    ),
    pytest.param(lambda a, b, n: [[], [a, [a]], {}], [[], [1, [1]], {}], id="nested, and empty"),
    pytest.param(lambda a, b, n: [], [], id="nothing"),
    pytest.param(lambda a, b, n: {}, {}, id="an empty dict"),
    pytest.param(lambda a, b, n: (), (), id="an empty tuple"),
    pytest.param(lambda a, b, n: "a:0", 1, id="a tensor's name"),
    pytest.param(lambda a, b, n: "a", None, id="an operation's name"),
    pytest.param(lambda a, b, n: ["a:0", a, "n"], [1, 1, None], id="names and tensors"),
    pytest.param(lambda a, b, n: "v:0", 3.0, id="a variable's name"),
    pytest.param(lambda a, b, n: a.op, None, id="a tensor's operation"),
    pytest.param(lambda a, b, n: b[1], 2.0, id="a new node"),
]  # fmt: skip


@pytest.mark.parametrize(("structure", "expected"), STRUCTURES)
def test_structures(graph, session, structure, expected):
    parts = [element(graph, name) for name in ("a", "b", "n")]
    wanted = structure(*parts)
    for _ in range(2):
        found = session.run(wanted)
        assert found == expected
        assert type(found) is type(expected) or np.isscalar(found)


def test_a_default_dict_comes_back(graph, session):
    found = session.run(defaultdict(list, {"q": element(graph, "a")}))
    assert (type(found), dict(found)) == (defaultdict, {"q": 1})


def test_a_variable_object_gives_its_value(session):
    [variable] = tf.global_variables()
    assert session.run([variable, variable.op, variable.initializer]) == [3.0, None, None]


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        pytest.param(1, np.int32, 1, id="an integer"),
        pytest.param(1.5, np.float32, 1.5, id="a float"),
        pytest.param(True, np.bool_, True, id="a bool"),
        pytest.param(1 + 2j, np.complex128, 1 + 2j, id="a complex number"),
        pytest.param("text", bytes, b"text", id="a string is bytes"),
    ],
)
def test_scalars(value, kind, expected):
    with tf.Session() as session:
        found = session.run(tf.constant(value))
        assert (type(found), found) == (kind, expected)
        found = session.run(tf.identity(tf.constant(value)))
        assert (type(found), found) == (kind, expected)


def test_string_arrays_hold_bytes():
    with tf.Session() as session:
        found = session.run(tf.constant([["a", "\u00e9"]]))
    assert (found.dtype, found.shape) == (object, (1, 2))
    assert found.tolist() == [[b"a", "\u00e9".encode()]]


def test_empty_arrays_keep_their_shape():
    with tf.Session() as session:
        assert session.run(tf.zeros([0, 3])).shape == (0, 3)


@pytest.mark.parametrize(
    ("fetch", "error"),
    [
        pytest.param(None, TypeError, id="nothing"),
        pytest.param([None], TypeError, id="a list of nothing"),
        pytest.param(3, TypeError, id="a number"),
        pytest.param({"x": 1}, TypeError, id="a dict of numbers"),
        pytest.param({3}, TypeError, id="a set"),
        pytest.param("zz:0", ValueError, id="a tensor that is not there"),
        pytest.param("zz", ValueError, id="an operation that is not there"),
        pytest.param("a:7", ValueError, id="an output that is not there"),
        pytest.param("a:x", ValueError, id="a name that is none"),
    ],
)
def test_what_cannot_be_fetched(session, fetch, error):
    with pytest.raises(error, match="Fetch"):
        session.run(fetch)


def test_another_graphs_tensor_cannot_be_fetched(session):
    with tf.Graph().as_default():
        there = tf.constant(1)
    with pytest.raises(ValueError, match="is not an element of this graph"):
        session.run(there)


def test_similar_structures_are_told_apart(graph, session):
    """A run that was seen before is looked up: by form, not only by content."""
    a = element(graph, "a")
    for wanted, expected in (([a], [1]), ((a,), (1,)), ({"x": a}, {"x": 1}), ({"y": a}, {"y": 1}),
                             (Point(a, a), Point(1, 1)), ([[a]], [[1]]), ([(a,)], [(1,)]),
                             ((a, a), (1, 1))):  # fmt: skip
        found = session.run(wanted)
        assert (type(found), found) == (type(expected), expected)


# IndexedSlices


@pytest.fixture
def rows(session):
    """IndexedSlices of two rows, with and without the shape of the whole."""
    values, indices = tf.constant([[1.0], [2.0]]), tf.constant([3, 0])
    return tf.IndexedSlices(values, indices, tf.constant([4, 1])), tf.IndexedSlices(values, indices)


def test_indexed_slices_are_fetched_with_their_parts(session, rows):
    whole, bare = session.run(rows)
    assert isinstance(whole, IndexedSlicesValue)
    assert (whole.values.tolist(), whole.indices.tolist()) == ([[1.0], [2.0]], [3, 0])
    assert whole.dense_shape.tolist() == [4, 1]
    assert (bare.values.tolist(), bare.dense_shape) == ([[1.0], [2.0]], None)


def test_indexed_slices_may_be_anywhere_in_a_structure(session, graph, rows):
    value = session.run({"a": [rows[1], element(graph, "a")], "n": element(graph, "n")})
    assert value["a"][0].indices.tolist() == [3, 0]
    assert (value["a"][1], value["n"]) == (1, None)


def test_the_gradient_of_a_gather_is_fetched(session):
    table = tf.placeholder_with_default(np.ones((4, 1), np.float32), [4, 1])
    [gradient] = tf.gradients(tf.gather(table, [2, 2]), table)
    value = session.run(gradient)
    assert (value.values.tolist(), value.indices.tolist()) == ([[1.0], [1.0]], [2, 2])
    assert value.dense_shape.tolist() == [4, 1]


def test_indexed_slices_of_another_graph_are_not_fetched(session):
    with tf.Graph().as_default():
        elsewhere = tf.IndexedSlices([1.0], [0])
    with pytest.raises(ValueError, match="is not an element of this graph"):
        session.run(elsewhere)


# SparseTensor


@pytest.fixture
def sparse(session):
    return tf.SparseTensor([[0, 1], [2, 0]], tf.constant([1.5, 2.5]), [3, 4])


def test_a_sparse_tensor_is_fetched_with_its_parts(session, sparse):
    for value in (session.run(sparse), sparse.eval(session=session), session.run([sparse])[0]):
        assert isinstance(value, tf.SparseTensorValue)
        assert [part.tolist() for part in value] == [[[0, 1], [2, 0]], [1.5, 2.5], [3, 4]]
        assert [str(part.dtype) for part in value] == ["int64", "float32", "int64"]


def test_sparse_tensors_may_be_anywhere_in_a_structure(session, graph, sparse):
    value = session.run({"a": (sparse, element(graph, "a")), "n": sparse.op, "v": sparse.values})
    assert value["a"][0].dense_shape.tolist() == [3, 4]
    assert (value["a"][1], value["n"], value["v"].tolist()) == (1, None, [1.5, 2.5])


def test_a_sparse_tensor_tells_who_takes_it(sparse):
    assert sparse.consumers() == []
    tf.sparse.to_dense(sparse)
    assert [op.type for op in sparse.consumers()] == ["SparseToDense"]
    assert sparse.get_shape().as_list() == [3, 4]


def test_a_sparse_tensor_needs_a_session():
    with pytest.raises(ValueError, match="session"):
        tf.SparseTensor([[0]], [1.0], [1]).eval()


def test_a_sparse_tensor_of_another_graph_is_not_fetched(session):
    with tf.Graph().as_default():
        elsewhere = tf.SparseTensor([[0]], [1.0], [1])
    with pytest.raises(ValueError, match="is not an element of this graph"):
        session.run(elsewhere)


def test_a_sparse_value_is_no_fetch(session):
    with pytest.raises(TypeError, match="Fetch"):
        session.run(tf.SparseTensorValue([[0, 1]], [1.0], [3, 4]))
