"""Stacks: last in, first out; the comparison with real TensorFlow is in `tensor_array_calls`."""

import numpy as np
import pytest

import tfdist as tf
from tfdist.graph.op_def import raw


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def in_order(*makers):
    """Return what each function makes, after what the one before made."""
    done = []
    for make in makers:
        with tf.control_dependencies(done[-1:]):
            done.append(make())
    return done


@pytest.mark.parametrize("version", ["", "V2"])
def test_the_last_element_leaves_first(version, session):
    new, push, pop, close = (
        getattr(raw, f"Stack{name}{version}") for name in ("", "Push", "Pop", "Close")
    )
    stack = new(*([] if version == "" else [-1]), elem_type="float32")
    first, second, *popped = in_order(
        lambda: push(stack, 1.0),
        lambda: push(stack, [2.0, 3.0]),
        lambda: pop(stack, elem_type="float32"),
        lambda: pop(stack, elem_type="float32"),
    )
    assert (first.plain_shape, second.plain_shape) == ((), (2,))
    values = session.run([first, second, *popped])
    assert [np.asarray(each).tolist() for each in values] == [1.0, [2.0, 3.0], [2.0, 3.0], 1.0]
    session.run(in_order(lambda: push(stack, 1.0), lambda: close(stack)))


def test_each_step_has_its_own_stack(session):
    stack = raw.StackV2(-1, elem_type="float32")
    session.run(raw.StackPushV2(stack, 1.0))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"Stack\[StackV2\] is empty when calling Pop"
    ):
        session.run(raw.StackPopV2(stack, elem_type="float32"))


def test_two_nodes_are_two_stacks(session):
    first, second = (raw.StackV2(9, elem_type="int32", stack_name="one name") for _ in range(2))
    *_, popped = in_order(
        lambda: raw.StackPushV2(first, 1),
        lambda: raw.StackPushV2(second, 2),
        lambda: raw.StackPopV2(first, elem_type="int32"),
    )
    assert session.run(popped) == 1


def test_an_element_is_not_of_another_type(session):
    stack = raw.StackV2(-1, elem_type="float32")
    *_, popped = in_order(
        lambda: raw.StackPushV2(stack, 1.0), lambda: raw.StackPopV2(stack, elem_type="int32")
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="holds elements of float32"):
        session.run(popped)


def test_no_gradient_flows_through():
    x = tf.constant(1.0)
    with pytest.raises(LookupError, match="no gradient"):
        tf.gradients(raw.StackPushV2(raw.StackV2(-1, elem_type="float32"), x), x)
