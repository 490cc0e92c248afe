"""Graph, Operation and Tensor: what they say of themselves, and what they refuse."""

import threading

import numpy as np
import pytest

import tfdist as tf


@pytest.fixture
def a():
    return tf.constant(1, name="a")


ELEMENTS = [
    pytest.param("a", {}, "a", id="a name is an operation"),
    pytest.param("a:0", {}, "a:0", id="a name with an output is a tensor"),
    pytest.param("a", {"allow_operation": False}, ValueError, id="a tensor's name needs an output"),
    pytest.param("a:0", {"allow_tensor": False}, ValueError, id="an operation's name has none"),
    pytest.param("a:1", {}, KeyError, id="there is no second output"),
    pytest.param("b", {}, KeyError, id="no such operation"),
    pytest.param("b:0", {}, KeyError, id="no such tensor"),
    pytest.param("a:x", {}, ValueError, id="an output is a number"),
    pytest.param("a:0:0", {}, ValueError, id="one output at most"),
    pytest.param(3, {}, TypeError, id="a number is nothing"),
    pytest.param(None, {}, TypeError, id="None is nothing"),
]


@pytest.mark.parametrize(("element", "how", "expected"), ELEMENTS)
def test_as_graph_element(graph, a, element, how, expected):
    if isinstance(expected, str):
        assert graph.as_graph_element(element, **how).name == expected
    else:
        with pytest.raises(expected):
            graph.as_graph_element(element, **how)


def test_elements_are_themselves(graph, a):
    assert graph.as_graph_element(a) is a
    assert graph.as_graph_element(a.op) is a.op
    assert graph.as_graph_element("a:0") is a
    for element, how in ((a, {"allow_tensor": False}), (a.op, {"allow_operation": False})):
        with pytest.raises(TypeError, match="Can not convert"):
            graph.as_graph_element(element, **how)


def test_a_variable_is_the_tensor_of_its_node(graph):
    assert graph.as_graph_element(tf.Variable(1.0)).name == "Variable:0"


def test_elements_of_another_graph_are_refused(graph):
    with tf.Graph().as_default():
        there = tf.constant(1)
    with pytest.raises(ValueError, match="is not an element of this graph"):
        graph.as_graph_element(there)


def test_a_name_that_is_not_there_is_told_with_its_neighbours(graph):
    tf.constant(1, name="weights")
    with pytest.raises(KeyError, match=r"'weight'.*near it are weights"):
        graph.get_operation_by_name("weight")


@pytest.mark.parametrize(
    ("method", "name", "error"),
    [
        ("get_operation_by_name", "a:0", ValueError),
        ("get_operation_by_name", "b", KeyError),
        ("get_operation_by_name", 3, TypeError),
        ("get_tensor_by_name", "a", ValueError),
        ("get_tensor_by_name", "a:1", KeyError),
        ("get_tensor_by_name", "b:0", KeyError),
        ("get_tensor_by_name", 3, TypeError),
    ],
)
def test_look_ups_that_fail(graph, a, method, name, error):
    with pytest.raises(error):
        getattr(graph, method)(name)


def test_look_ups_that_succeed(graph, a):
    assert graph.get_operation_by_name("a") is a.op
    assert graph.get_tensor_by_name("a:0") is a


def test_operations_stand_in_the_order_they_were_made(graph, a):
    total = a + 2
    assert [op.name for op in graph.get_operations()] == ["a", "add/y", "add"]
    assert graph.operations_since(1) == [total.op.inputs[1].op, total.op]
    assert graph.version == 3


def test_an_operation_tells_of_itself(a):
    op = tf.add(a, 2, name="b").op
    assert (op.name, op.type, repr(op)) == ("b", "Add", "<tf.Operation 'b' type=Add>")
    assert [tensor.name for tensor in op.inputs] == ["a:0", "b/y:0"]
    assert op.values() == op.outputs
    assert op.get_attr("T") is tf.int32
    assert a.consumers() == [op]


def test_an_attribute_that_is_not_there_is_told_with_those_there_are(a):
    with pytest.raises(ValueError, match=r"no attribute 'nope'.*'dtype', 'value'"):
        a.op.get_attr("nope")


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        pytest.param(
            lambda: tf.placeholder(tf.int32, [5, None], name="y"),
            'Tensor("y:0", shape=(5, ?), dtype=int32)', id="an unknown dimension",
        ),
        pytest.param(
            lambda: tf.placeholder(tf.float32, name="y"), 'Tensor("y:0", dtype=float32)',
            id="an unknown shape is left out",
        ),
        pytest.param(
            lambda: tf.Variable(1.0, name="y").op.outputs[0],
            'Tensor("y:0", shape=(), dtype=float32_ref)', id="a variable",
        ),
    ],
)  # fmt: skip
def test_tensors_print(tensor, text):
    assert str(tensor()) == text


def test_tensors_are_shown_short(a):
    assert repr(a) == "<tf.Tensor 'a:0' shape=() dtype=int32>"


def test_tensors_and_variables_compare_by_identity(a):
    variable = tf.Variable(1)
    assert a == a
    assert a != tf.constant(1)
    assert {a: 1, variable: 2}[a] == 1
    assert variable == variable
    assert variable != tf.Variable(1)


@pytest.mark.parametrize(
    ("misuse", "error"),
    [
        pytest.param(bool, TypeError, id="a truth value"),
        pytest.param(list, TypeError, id="a loop over it"),
        pytest.param(len, TypeError, id="a length"),
        pytest.param(float, TypeError, id="a number"),
        pytest.param(np.array, NotImplementedError, id="an array"),
    ],
)
def test_a_symbol_is_no_value(misuse, error):
    with pytest.raises(error):
        misuse(tf.constant([1, 2]))


@pytest.mark.parametrize(
    "evaluate",
    [
        pytest.param(lambda a: a.eval(), id="eval"),
        pytest.param(lambda a: a.op.run(), id="run"),
        pytest.param(lambda a: tf.Variable(1).eval(), id="a variable's eval"),
    ],
)
def test_values_need_a_session(a, evaluate):
    with pytest.raises(ValueError, match="No default session is registered"):
        evaluate(a)


def test_set_shape_adds_knowledge():
    x = tf.placeholder(tf.float32, [None, 3])
    x.set_shape([2, None])
    assert x.shape.as_list() == x.get_shape().as_list() == [2, 3]
    with pytest.raises(ValueError, match=r"Shapes are \[2,3\] and \[5,3\]"):
        x.set_shape([5, 3])


def test_a_finalized_graph_grows_no_more(graph, a):
    graph.finalize()
    assert graph.finalized
    with pytest.raises(RuntimeError, match="finalized"):
        tf.constant(1)
    assert len(graph.get_operations()) == 1


def test_a_default_graph_belongs_to_its_thread(graph):
    seen = []
    thread = threading.Thread(target=lambda: seen.append(tf.get_default_graph() is graph))
    thread.start()
    thread.join(10)
    assert seen == [False]
    assert tf.get_default_graph() is graph


def test_default_graphs_nest(graph):
    with tf.Graph().as_default() as inner:
        assert tf.get_default_graph() is inner
    assert tf.get_default_graph() is graph


def test_the_default_graph_cannot_be_reset_from_inside():
    with pytest.raises(AssertionError, match="leave it first"):
        tf.reset_default_graph()


def test_collections(graph, a):
    tf.add_to_collection("k", 1)
    tf.add_to_collections(["k", "l", "k"], 2)
    tf.add_to_collections("m", 3)
    assert tf.get_collection("k") == [1, 2]
    assert (tf.get_collection("l"), tf.get_collection("m")) == ([2], [3])
    assert tf.get_collection("none") == []
    assert sorted(graph.get_all_collection_keys()) == sorted(graph.collections) == ["k", "l", "m"]


def test_a_collection_is_copied_its_reference_is_not():
    tf.add_to_collection("k", 1)
    tf.get_collection("k").append(2)
    assert tf.get_collection("k") == [1]
    tf.get_collection_ref("k").append(3)
    assert tf.get_collection("k") == [1, 3]


def test_a_collection_can_be_cleared(graph):
    tf.add_to_collection("k", 1)
    graph.clear_collection("k")
    assert tf.get_collection("k") == []


def test_a_part_of_a_collection_by_the_beginning_of_names():
    first, second = tf.constant(1, name="s/a"), tf.constant(1, name="t/a")
    for value in (first, second, 7):
        tf.add_to_collection("k", value)
    assert tf.get_collection("k", "s") == [first]
    assert tf.get_collection("k", ".*a") == [first, second]


def test_programs_edit_collections_directly(graph):
    tf.add_to_collection("k", 1)
    graph._collections["k"] = [5]
    assert tf.get_collection("k") == [5]


def made_here(x):
    return x * 2.0  # the line that must be named


def test_programs_ask_for_nodes_by_what_numbers_them(graph):
    assert not graph._nodes_by_id.keys()
    node = tf.constant(1.0, name="a").op
    assert graph._nodes_by_id == {node._id: node}


def test_a_node_names_the_line_that_made_it():
    op = made_here(tf.constant(1.0)).op
    where = op.created_at
    assert __file__ in where
    assert where.endswith("in made_here: return x * 2.0  # the line that must be named")
    [(file, line, function, source)] = op.traceback
    assert (file, function) == (__file__, "made_here")
    assert source.startswith("return x * 2.0")
    assert f"{file}:{line} " in where


def test_nodes_made_by_the_library_name_the_users_line():
    variable = tf.Variable([1.0])
    for op in variable.graph.get_operations():
        assert "test_nodes_made_by_the_library_name_the_users_line" in op.created_at
        assert "variable = tf.Variable([1.0])" in op.created_at
