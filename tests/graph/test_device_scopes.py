"""tf.device: what a node asks for, from the scopes around it."""

from contextlib import ExitStack

import pytest

import tfdist as tf


def asked(*scopes):
    """Return the request of a node inside `scopes`, outermost first."""
    with ExitStack() as stack:
        for scope in scopes:
            stack.enter_context(tf.device(scope))
        return tf.constant(1).device


@pytest.mark.parametrize(
    ("scopes", "expected"),
    [
        pytest.param([], "", id="no scope, no request"),
        pytest.param(["/cpu:0"], "/device:CPU:0", id="the old spelling is read"),
        pytest.param(["/job:ps", "/cpu:0"], "/job:ps/device:CPU:0", id="an inner scope adds"),
        pytest.param(["/job:ps/task:1", "/job:w"], "/job:w/task:1", id="an inner scope wins"),
        pytest.param(["/job:ps", ""], "/job:ps", id="an empty string changes nothing"),
        pytest.param(["/job:ps", None], "", id="None forgets what is outside"),
        pytest.param(["/job:ps", None, "/gpu:0"], "/device:GPU:0", id="inside None is a new start"),
        pytest.param([tf.DeviceSpec(job="ps", task=1)], "/job:ps/task:1", id="a spec"),
        pytest.param([lambda op: "/job:f"], "/job:f", id="a function"),
        pytest.param([lambda op: tf.DeviceSpec(job="f")], "/job:f", id="a function to a spec"),
        pytest.param(["/task:3", lambda op: "/job:f"], "/job:f/task:3", id="a function in a scope"),
        pytest.param(
            [lambda op: "/job:f", "/task:3"], "/job:f", id="a function has the last word inside"
        ),
        pytest.param(
            [lambda op: op.device + "/task:7", "/job:x"], "/job:x/task:7",
            id="a function sees what inner scopes ask for",
        ),
        pytest.param(
            ["/job:o", lambda op: "", "/task:1"], "/job:o",
            id="a function can forget what is inside",
        ),
        pytest.param(
            [lambda op: f"/task:{len(op.name)}"], "/task:5", id="a function sees the node's name"
        ),
    ],
)  # fmt: skip
def test_requests(scopes, expected):
    assert asked(*scopes) == expected


def test_a_scope_ends():
    with tf.device("/job:ps"):
        pass
    assert asked() == ""


@pytest.mark.parametrize("text", ["/job:ps/junk", "junk", "/tsak:1", 3])
def test_what_is_no_device(text):
    with pytest.raises(ValueError, match="is not a device"), tf.device(text):
        pass


def test_a_function_sees_type_and_inputs():
    seen = []
    with tf.device(lambda op: seen.append((op.type, len(op.inputs))) or ""):
        tf.constant(1) + 2
    assert seen == [("Const", 0), ("Const", 0), ("AddV2", 2)]


def test_all_nodes_of_a_variable_are_asked_for_together():
    with tf.device("/job:ps"):
        variable = tf.Variable(1.0)
    operations = variable.graph.get_operations()
    assert [op.device for op in operations] == ["/job:ps"] * 4


def test_what_changes_a_variable_follows_it():
    with tf.device(lambda op: "/job:ps" if op.type == "VariableV2" else "/job:worker"):
        variable = tf.Variable(1.0, name="v")
        change = variable.assign_add(1.0)
    devices = {op.name: op.device for op in variable.graph.get_operations()}
    assert change.device == "/job:ps"
    assert devices == {
        "v/initial_value": "/job:worker", "v": "/job:ps", "v/Assign": "/job:ps",
        "v/read": "/job:ps", "AssignAdd/value": "/job:worker", "AssignAdd": "/job:ps",
    }  # fmt: skip


def test_tensors_show_their_request():
    with tf.device("/job:ps"):
        tensor = tf.constant(1)
    assert str(tensor) == 'Tensor("Const:0", shape=(), dtype=int32, device=/job:ps)'
