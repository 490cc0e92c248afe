"""control_dependencies, colocate_with and container: what else surrounds a node."""

import pytest

import tfdist as tf


def controls(element):
    return [op.name for op in getattr(element, "op", element).control_inputs]


@pytest.fixture
def ab():
    return tf.constant(1, name="a"), tf.constant(2, name="b")


def test_nodes_inside_wait(ab):
    with tf.control_dependencies([ab[0], ab[1].op]):
        assert controls(tf.constant(3)) == ["a", "b"]
    assert controls(tf.constant(3)) == []


def test_what_a_node_takes_needs_no_other_edge(ab):
    with tf.control_dependencies(ab):
        assert controls(tf.identity(ab[0])) == ["b"]
        assert controls(tf.add(ab[0], ab[1])) == []


def test_scopes_add_up(ab):
    a, b = ab
    with tf.control_dependencies([a]), tf.control_dependencies([b, a]):
        assert controls(tf.constant(3)) == ["a", "b"]


def test_what_was_made_inside_has_waited_already(ab):
    with tf.control_dependencies(ab):
        inner = tf.constant(3, name="inner")
        assert controls(tf.identity(inner)) == []
        assert controls(tf.add(inner, 1)) == []


def test_an_inner_scope_still_counts_for_what_was_made_outside_of_it(ab):
    a, b = ab
    with tf.control_dependencies([a]):
        made = tf.constant(3, name="made")
        with tf.control_dependencies([b]):
            assert controls(tf.identity(made)) == ["b"]


def test_none_forgets(ab):
    with tf.control_dependencies([ab[0]]), tf.control_dependencies(None):
        assert controls(tf.constant(3)) == []
        with tf.control_dependencies([ab[1]]):
            assert controls(tf.constant(3)) == ["b"]


def test_a_variable_is_not_bound_to_what_surrounds_it(ab):
    with tf.control_dependencies(ab):
        variable = tf.Variable(1.0)
    assert {op.name: controls(op) for op in variable.graph.get_operations()[2:]} == {
        "Variable/initial_value": [], "Variable": [], "Variable/Assign": [], "Variable/read": [],
    }  # fmt: skip


def test_variables_and_names_can_be_waited_for(ab):
    variable = tf.Variable(1.0, name="v")
    with tf.control_dependencies([variable, "a", "b:0"]):
        assert controls(tf.constant(3)) == ["v", "a", "b"]


@pytest.mark.parametrize("thing", [3, None, "nothing"])
def test_what_cannot_be_waited_for(thing):
    with pytest.raises((TypeError, KeyError)), tf.control_dependencies([thing]):
        pass


def test_another_graph_cannot_be_waited_for():
    with tf.Graph().as_default():
        there = tf.constant(1)
    with (
        pytest.raises(ValueError, match="is not an element of this graph"),
        tf.control_dependencies([there]),
    ):
        pass


def groups(element):
    return [group.decode() for group in getattr(element, "op", element).colocation_groups()]


def test_a_node_alone_is_its_own_group(ab):
    assert groups(ab[0]) == ["loc:@a"]


def test_colocation_takes_the_other_device_and_group():
    with tf.device("/job:a"):
        x = tf.constant(1, name="x")
    with tf.device("/job:b"), tf.colocate_with(x):
        y = tf.constant(2, name="y")
    assert (y.device, groups(y)) == ("/job:a", ["loc:@x"])
    assert y.op.get_attr("_class") == [b"loc:@x"]


def test_colocation_reaches_through_a_chain(ab):
    with tf.colocate_with(ab[0]):
        y = tf.constant(2, name="y")
    with tf.colocate_with(y):
        assert groups(tf.constant(2)) == ["loc:@a"]


def test_colocations_add_up_unless_told_otherwise(ab):
    a, b = ab
    with tf.colocate_with(b):
        with tf.colocate_with(a):
            assert groups(tf.constant(1)) == ["loc:@a", "loc:@b"]
        with tf.colocate_with(a, ignore_existing=True):
            assert groups(tf.constant(1)) == ["loc:@a"]
        with tf.colocate_with(None, ignore_existing=True):
            assert groups(tf.constant(1, name="z")) == ["loc:@z"]


def test_a_device_inside_a_colocation_is_kept(ab):
    with tf.colocate_with(ab[0]), tf.device("/job:b"):
        assert tf.constant(2).device == "/job:b"


def test_containers_nest():
    with tf.container("outer"):
        first = tf.Variable(1.0)
        with tf.container("inner"):
            queue = tf.FIFOQueue(1, tf.int32)
        with tf.container(""):
            second = tf.Variable(1.0)
    names = [op.get_attr("container") for op in (first.op, queue.queue_ref.op, second.op)]
    assert names == [b"outer", b"inner", b""]
