"""Resource variables: beside what TensorFlow 1.15.5 makes of the same calls, and on their own."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.ops.variables.resource_calls import calls, outcome

EXPECTED = json.loads(
    Path(__file__).with_name("expected_resource_variables_1_15.json").read_text(encoding="utf-8")
)
# What the kernels of other ops say, too, has words of its own.
OWN_WORDS = {
    "tf.gather_nd(m, [[2, 0]])",
    "tf.scatter_nd_add(v, [[0], [3]], [7.0, 8.0])",
    'tf.get_variable("g", initializer=[1.0], use_resource=False)',
}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def session(graph):
    with tf.Session() as session:
        yield session


def resource(value, **more):
    return tf.Variable(value, use_resource=True, **more)


def comparable(found, source):
    """Return an outcome without what differs from TensorFlow on purpose."""
    found = json.loads(json.dumps(found))
    if "gradients(" in source or "minimize(" in source:
        del found["nodes"]  # gradients that nobody needs are not computed here
    elif any(word in source for word in ("cond", "while", "initialized_value")):
        found["nodes"].sort()
    if source in OWN_WORDS:
        del found["run_error"][1]
    return found


@pytest.mark.parametrize("source", calls())
def test_a_call_gives_what_it_gives_on_tensorflow(source):
    found, wanted = (comparable(each, source) for each in (outcome(tf, source), EXPECTED[source]))
    assert found == wanted


def test_what_was_read_before_an_assignment_stays(session):
    v = resource(1.0)
    session.run(v.initializer)
    before = v.value()
    with tf.control_dependencies([before]):
        added = v.assign_add(1.0, read_value=False)
    with tf.control_dependencies([added]):
        again, after = tf.identity(before), v.value()
    assert session.run([again, after]) == [1.0, 2.0]


def test_the_fetched_array_is_the_callers(session):
    v = resource([1.0, 2.0])
    session.run(v.initializer)
    session.run(v)[0] = 9.0
    assert session.run(v).tolist() == [1.0, 2.0]


def test_the_fed_array_is_the_callers(session):
    value = np.array([1.0, 2.0], np.float32)
    v = resource([0.0, 0.0])
    fed = tf.placeholder(tf.float32, [2])
    session.run(v.assign(fed), {fed: value})
    value[0] = 9.0
    assert session.run(v).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("level", [tf.RunOptions.NO_TRACE, tf.RunOptions.FULL_TRACE])
def test_each_round_of_a_loop_sees_the_new_value(session, level):
    v = resource(1.0)

    def body(i, total):
        with tf.control_dependencies([total]):
            added = v.assign_add(1.0, read_value=False)
        with tf.control_dependencies([added]):
            return i + 1, total + v.read_value()

    rounds = tf.while_loop(lambda i, _: i < 3, body, (0, 0.0))
    session.run(v.initializer)
    options = tf.RunOptions(trace_level=level)
    assert session.run(rounds, options=options, run_metadata=tf.RunMetadata()) == (3, 9.0)


@pytest.mark.parametrize("level", [tf.RunOptions.NO_TRACE, tf.RunOptions.FULL_TRACE])
def test_only_the_branch_that_is_taken_changes_it(session, level):
    v, taken = resource(1.0), tf.placeholder(tf.bool, [])
    either = tf.cond(taken, lambda: v.assign_add(1.0), lambda: v * 10.0)
    session.run(v.initializer)
    options = tf.RunOptions(trace_level=level)
    found = [session.run(either, {taken: each}, options, tf.RunMetadata()) for each in (0, 1, 0)]
    assert found == [10.0, 2.0, 20.0]


def test_updates_of_several_threads_are_all_there(session):
    v = resource([0.0])
    added = v.assign_add([1.0], read_value=False)
    session.run(v.initializer)
    threads = [
        threading.Thread(target=lambda: [session.run(added) for _ in range(50)]) for _ in range(4)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert session.run(v) == [200.0]


def test_it_is_another_one_than_the_reference_variable_of_its_name(session):
    reference = tf.Variable(1.0, name="v", use_resource=False)
    handle = tf.raw_ops.VarHandleOp(shared_name="v", dtype=tf.float32, shape=[])
    session.run(reference.initializer)
    assert not session.run(tf.raw_ops.VarIsInitializedOp(resource=handle))


def test_another_type_under_its_name_is_told(session):
    one, other = (
        tf.raw_ops.VarHandleOp(shared_name="v", dtype=dtype, shape=[])
        for dtype in (tf.float32, tf.int32)
    )
    session.run(tf.raw_ops.AssignVariableOp(resource=one, value=3.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected int32 got float"):
        session.run(tf.raw_ops.ReadVariableOp(resource=other, dtype=tf.int32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected float got int32"):
        session.run(tf.raw_ops.AssignVariableOp(resource=other, value=3))


def test_load_and_eval(session):
    v = resource([1.0, 2.0])
    v.load([5.0, 6.0], session)
    assert v.eval(session).tolist() == [5.0, 6.0]


def test_a_function_captures_the_handle(session):
    v = resource(3.0)

    @tf.function
    def scaled(x):
        v.assign_add(1.0)
        return x * v

    y = scaled(tf.constant(2.0))
    session.run(v.initializer)
    assert session.run(y) == 8.0
    assert session.run(tf.gradients(y, v)) == [2.0]


def test_a_defun_captures_the_handle(session):
    v = resource(3.0)

    @tf.Defun(tf.float32)
    def scaled(x):
        return x * v

    y = scaled(2.0)
    session.run(v.initializer)
    assert session.run([y, *tf.gradients(y, v)]) == [6.0, 2.0]


# which kind a variable is


def kinds(*variables):
    return [v.op.type for v in variables]


def test_the_scope_says_which_kind():
    with tf.variable_scope("a", use_resource=True) as scope:
        found = [tf.get_variable("x", []), tf.Variable(1.0)]
        with tf.variable_scope("b"):
            found.append(tf.get_variable("x", []))
        with tf.variable_scope("c", use_resource=False):
            found.append(tf.get_variable("x", []))
    assert scope.use_resource is True
    assert kinds(*found) == ["VarHandleOp"] * 3 + ["VariableV2"]


def test_it_is_found_again():
    with tf.variable_scope("a", use_resource=True):
        v = tf.get_variable("v", [2])
    with tf.variable_scope("a", reuse=True):
        assert tf.get_variable("v", [2]) is v


def test_all_can_be_resource_variables():
    tf.enable_resource_variables()
    try:
        assert tf.resource_variables_enabled()
        found = kinds(tf.Variable(1.0), tf.get_variable("y", [], use_resource=False))
    finally:
        tf.disable_resource_variables()
    assert [*found, *kinds(tf.Variable(1.0))] == ["VarHandleOp", "VariableV2", "VariableV2"]


def test_from_proto_finds_it_again(session):
    v = resource(3.0, name="v")
    again = tf.Variable.from_proto(v.to_proto())
    session.run(again.initializer)
    assert isinstance(again, type(v))
    assert session.run(v + again) == 6.0


# where it is


def test_it_is_read_on_its_device(graph):
    with tf.device("/job:ps"):
        v = resource([1.0])
    with tf.device("/job:worker"):
        found = [v.value(), v.read_value(), v.sparse_read([0]), v.assign([1.0])]
    assert [tensor.op.device for tensor in found] == ["/job:ps"] + ["/job:worker"] * 3
    assert graph.get_operation_by_name("Read/ReadVariableOp").device == "/job:ps"


def test_a_caching_device_holds_its_value():
    v = resource([1.0], name="v", caching_device="/job:worker")
    assert (v.value().name, v.value().op.device) == ("v/Read/Identity:0", "/job:worker")


def test_parameter_servers_hold_it():
    with tf.device(tf.train.replica_device_setter(2)):
        found = [resource(1.0), resource(2.0)]
    assert [v.device for v in found] == ["/job:ps/task:0", "/job:ps/task:1"]
