"""Variable: what it is, what it says of itself, what changes it."""

import numpy as np
import pytest

import tfdist as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def session():
    with tf.Session() as session:
        yield session


def test_its_nodes_have_tensorflows_names(graph):
    tf.Variable(1.0, name="v")
    assert [op.name for op in graph.get_operations()] == [
        "v/initial_value", "v", "v/Assign", "v/read",
    ]  # fmt: skip


def test_to_proto_fills_the_tutorials_fields():
    proto = tf.Variable("x", name="v").to_proto()
    assert str(proto).split() == [
        "variable_name:", '"v:0"', "initializer_name:", '"v/Assign"', "snapshot_name:",
        '"v/read:0"',
    ]  # fmt: skip


def test_from_proto_finds_it_again(session):
    v = tf.Variable(3.0, name="v")
    again = tf.Variable.from_proto(v.to_proto())
    session.run(again.initializer)
    assert session.run(v + again) == 6.0


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(lambda v: v.assign([5.0, 6.0]), [5.0, 6.0], id="assign"),
        pytest.param(lambda v: v.assign_add([1.0, 1.0]), [2.0, 3.0], id="assign_add"),
        pytest.param(lambda v: tf.assign_sub(v, [1.0, 1.0]), [0.0, 1.0], id="assign_sub"),
        pytest.param(lambda v: tf.scatter_add(v, [0, 0], [1.0, 2.0]), [4.0, 2.0], id="scatter_add"),
        pytest.param(lambda v: tf.scatter_update(v, [1], [9.0]), [1.0, 9.0], id="scatter_update"),
    ],
)
def test_what_changes_it_gives_it(session, change, expected):
    v = tf.Variable([1.0, 2.0])
    changed = change(v)
    session.run(v.initializer)
    assert session.run(changed).tolist() == expected
    assert session.run(v).tolist() == expected


def test_what_was_read_before_stays(session):
    v = tf.Variable(np.zeros(3, np.float32))
    session.run(v.initializer)
    before = session.run(v)
    session.run(v.assign_add([1.0, 1.0, 1.0]))
    assert before.tolist() == [0.0, 0.0, 0.0]


def test_a_row_that_is_not_there_is_told(session):
    v = tf.Variable([1.0, 2.0], name="rows")
    session.run(v.initializer)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[0, 2\), the rows of variable"):
        session.run(tf.scatter_add(v, [2], [1.0]))


def test_another_shape_is_refused_unless_asked_for(session):
    v = tf.Variable([1.0, 2.0])
    value = tf.placeholder(tf.float32, None)
    session.run(v.initializer)
    with pytest.raises(tf.errors.InvalidArgumentError, match="validate_shape=False"):
        session.run(tf.assign(v, value), {value: [1.0]})
    assert session.run(tf.assign(v, value, validate_shape=False), {value: [1.0]}).tolist() == [1.0]


def test_uninitialised_ones_are_reported(session):
    ready = tf.Variable(1.0, name="ready")
    tf.Variable(1.0, name="waiting")
    session.run(ready.initializer)
    assert session.run(tf.report_uninitialized_variables()).tolist() == [b"waiting"]
    assert session.run(tf.is_variable_initialized(ready))


def test_load_and_eval(session):
    v = tf.Variable([1, 2])
    v.load([3, 4], session)
    assert v.eval().tolist() == [3, 4]


def test_a_functions_nodes_go_where_the_variable_goes():
    with tf.device("/job:ps"):
        v = tf.Variable(lambda: tf.ones([2]), name="v")
    assert v.initial_value.op.colocation_groups() == [b"loc:@v"]
    assert v.device == "/job:ps"


def test_it_counts_as_a_tensor_in_expressions(session):
    v = tf.Variable([1.0, 2.0, 3.0])
    session.run(v.initializer)
    results = session.run([v + 1, 2 * v, -v, v[1:], v > 1.5])
    assert [result.tolist() for result in results] == [
        [2.0, 3.0, 4.0], [2.0, 4.0, 6.0], [-1.0, -2.0, -3.0], [2.0, 3.0], [False, True, True],
    ]  # fmt: skip


def test_identity_tells_variables_apart():
    a, b = tf.Variable(1.0), tf.Variable(1.0)
    assert {a: 1, b: 2}[b] == 2
    assert a != b


def test_the_initialized_value_is_the_value_once_there_is_one(session):
    v = tf.Variable(tf.random_normal([2], seed=1), name="v")
    value = v.initialized_value()
    both = tf.Variable(value + 1.0, name="both")
    session.run([v.initializer, both.initializer])
    assert np.array_equal(session.run(v) + 1.0, session.run(both))
    session.run(v.assign([5.0, 6.0]))
    session.run(both.initializer)
    assert session.run([value, both])[0].tolist() == [5.0, 6.0]
    assert session.run(both).tolist() == [6.0, 7.0]
