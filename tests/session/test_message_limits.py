"""Answers that would be too long for one message, refused before anything is sent."""

import pytest

import tfdist as tf
from tfdist.session.message_limits import check_fetches


def test_what_fits_is_fetched():
    check_fetches([tf.zeros([4, 2]), tf.placeholder(tf.float64), tf.constant("text")], 32)


def test_the_largest_tensor_is_named():
    small, large = tf.zeros([2]), tf.fill([3, 10], 1.0, name="large")
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        check_fetches([small, large], 127)
    assert raised.value.node_name == "large"
    assert raised.value.message.startswith(
        "what is fetched takes 128 bytes, but one message can have 127, and TensorFlow's servers "
        "may end where one is longer; the largest tensor is large:0, float32[3, 10], of 120 bytes. "
    )
