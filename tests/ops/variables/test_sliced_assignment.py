"""Assignment to parts of variables, of both kinds, and of a tensor."""

import numpy as np
import pytest

import tfdist as tf
from tfdist.graph.op_def import raw

KINDS = pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        yield own


def variable(use_resource: bool) -> tf.Variable:
    return tf.Variable(np.arange(6.0).reshape(2, 3), use_resource=use_resource, name="v")


def value_after(change, v, feed=None):
    """Return what `v` is after one step of `change`."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(change, feed)
        return session.run(v).tolist()


# What is set -> what the variable is then.
PARTS = {
    "a range of rows": (np.s_[0:1], [[7.0, 8, 9]], [[7, 8, 9], [3, 4, 5]]),
    "one row": (np.s_[1], [7.0, 8, 9], [[0, 1, 2], [7, 8, 9]]),
    "one element": (np.s_[1, 2], 7, [[0, 1, 2], [3, 4, 7]]),
    "a column": (np.s_[..., 1], [7, 8], [[0, 7, 2], [3, 8, 5]]),
    "a part with a new axis": (np.s_[:, None], np.ones((2, 1, 3)), [[1, 1, 1], [1, 1, 1]]),
    "rows from the last": (np.s_[::-1, 1:], [[1, 2], [3, 4]], [[0, 3, 4], [3, 1, 2]]),
    "nothing": (np.s_[2:], np.zeros((0, 3)), [[0, 1, 2], [3, 4, 5]]),
}


@KINDS
@pytest.mark.parametrize(("key", "value", "wanted"), PARTS.values(), ids=PARTS)
def test_a_part_is_set(use_resource, key, value, wanted):
    v = variable(use_resource)
    assert value_after(v[key].assign(value), v) == wanted


@KINDS
def test_assign_takes_a_part(use_resource):
    v = variable(use_resource)
    assert value_after(tf.assign(v[0], [7, 8, 9]), v) == [[7, 8, 9], [3, 4, 5]]


@KINDS
def test_the_place_may_be_fed(use_resource):
    v, place = variable(use_resource), tf.placeholder(tf.int32, [])
    assert value_after(v[place].assign([7, 8, 9]), v, {place: 1}) == [[0, 1, 2], [7, 8, 9]]


@KINDS
def test_a_place_outside_is_told(use_resource):
    v, place = variable(use_resource), tf.placeholder(tf.int32, [])
    with pytest.raises(tf.errors.InvalidArgumentError, match="slice index 7 of dimension 0"):
        value_after(v[place].assign([7, 8, 9]), v, {place: 7})


@KINDS
def test_a_value_of_another_shape_is_not_broadcast(use_resource):
    v = variable(use_resource)
    with pytest.raises(tf.errors.UnimplementedError, match=r"shape \[3\] .* shape \[\]"):
        value_after(v[0].assign(3.0), v)


def test_a_variable_without_a_value_is_told():
    v = variable(False)
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError):
        session.run(v[0].assign([1, 2, 3]))


@KINDS
def test_a_branch_that_is_not_taken_sets_nothing(use_resource):
    v, taken = variable(use_resource), tf.placeholder(tf.bool, [])

    def change():
        with tf.control_dependencies([v[0].assign([7, 8, 9])]):
            return tf.constant(1)

    result = tf.cond(taken, change, lambda: tf.constant(2))
    assert value_after(result, v, {taken: False}) == [[0, 1, 2], [3, 4, 5]]
    assert value_after(result, v, {taken: True}) == [[7, 8, 9], [3, 4, 5]]


@KINDS
def test_strided_slice_takes_the_variable(use_resource):
    v = variable(use_resource)
    part = tf.strided_slice(v, [0, 1], [2, 2], var=v, name="part")
    assert value_after(part.assign([[7], [8]], name="set"), v) == [[0, 7, 2], [3, 8, 5]]


def test_the_node_is_named_after_the_slice(graph):
    v = variable(False)
    with tf.name_scope("outer"):
        part = v[0]
        changes = [part.assign([1, 2, 3]) for _ in range(2)]  # TensorFlow names the scope twice
    names = [change.op.name for change in (*changes, v[1].assign([1, 2, 3], name="mine"))]
    assert names == [
        "outer/outer/strided_slice/_assign", "outer/outer/strided_slice/_assign_1", "mine",
    ]  # fmt: skip
    assert changes[0].op.type == "StridedSliceAssign"
    assert [each.name for each in changes[0].op.inputs][:2] == [
        "v:0",
        "outer/strided_slice/stack:0",
    ]


def test_a_part_of_a_tensor_is_set_in_a_copy():
    tensor = tf.constant([[0.0, 1, 2], [3, 4, 5]])
    changed = raw.TensorStridedSliceUpdate(
        tensor, [0, 1], [2, 2], [1, 1], [7.0, 8.0], shrink_axis_mask=2
    )
    with tf.Session() as session:
        found = session.run([changed, tensor])
    assert found[0].tolist() == [[0, 7, 2], [3, 8, 5]]
    assert found[1].tolist() == [[0, 1, 2], [3, 4, 5]]
