"""Tensors that stay on their task between steps."""

from __future__ import annotations

import pytest

import tfdist as tf
from tests.runtime.places import cluster, grpc
from tfdist.errors import InvalidArgumentError


def test_a_kept_tensor_is_got_and_deleted():
    doubled = tf.get_session_handle(tf.constant([1.0, 2.0]) * 2.0, name="doubled")
    with tf.Session() as session:
        one, other = session.run(doubled), session.run(doubled)
        assert str(one) == "doubled;0;/job:localhost/replica:0/task:0/device:CPU:0"
        holder, value = tf.get_session_tensor(one.handle, tf.float32)
        assert session.run(value * 10.0, {holder: other.handle}).tolist() == [20.0, 40.0]
        assert other.eval().tolist() == [2.0, 4.0]
        other.delete()
        with pytest.raises(InvalidArgumentError, match="not in the session store"):
            other.eval()
        holder_too, delete = tf.delete_session_tensor(one.handle)
        session.run(delete, {holder_too: one.handle})
        with pytest.raises(InvalidArgumentError, match="not in the session store"):
            session.run(value, {holder: one.handle})


def test_a_handle_is_fed_in_place_of_its_value():
    x = tf.placeholder(tf.float32)
    with tf.Session() as session:
        kept = session.run(tf.get_session_handle(tf.constant(3.0)))
        assert session.run(x + 1.0, {x: kept}) == 4.0


def test_handles_are_those_of_their_session():
    handle = tf.get_session_handle(tf.constant(3))
    with tf.Session() as one, tf.Session() as other:
        kept = one.run(handle)
        holder, value = tf.get_session_tensor(kept.handle, tf.int32)
        with pytest.raises(InvalidArgumentError, match="not in the session store"):
            other.run(value, {holder: kept.handle})
        holder, value = tf.get_session_tensor(kept.handle, tf.float32)
        with pytest.raises(InvalidArgumentError, match="not of type float32"):
            one.run(value, {holder: kept.handle})


@pytest.mark.parametrize("place", [cluster, grpc])
def test_a_tensor_stays_on_its_task(place):
    with place() as (target, here, there), tf.Session(target) as session:
        with tf.device(there):
            kept = tf.get_session_handle(tf.constant([5, 6]) + 1)
        found = session.run(kept)
        assert found.handle.endswith("/job:ps/replica:0/task:0/device:CPU:0")
        holder, value = tf.get_session_tensor(found.handle, tf.int32)
        with tf.device(here):
            doubled = value * 2
        assert session.run(doubled, {holder: found.handle}).tolist() == [12, 14]


def test_what_is_no_tensor_or_handle_is_an_error():
    with pytest.raises(TypeError, match="must be a Tensor"):
        tf.get_session_handle(1.0)
    with pytest.raises(ValueError, match="nonsense"):
        tf.get_session_tensor("nonsense", tf.float32)
