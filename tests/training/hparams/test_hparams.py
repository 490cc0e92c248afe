"""Hyperparameters as messages, and names that are outdated."""

import pytest

import tfdist as tf

VALUES = {"a": 1, "b": 2.5, "c": True, "d": "x", "e": [1, 2], "f": [1.5], "g": [True, False],
          "h": ["p", "q"]}  # fmt: skip


def test_hyperparameters_become_a_message_and_come_back():
    message = tf.contrib.training.HParams(**VALUES).to_proto()
    kinds = {name: entry.WhichOneof("kind") for name, entry in message.hparam.items()}
    assert kinds == {
        "a": "int64_value", "b": "float_value", "c": "bool_value", "d": "bytes_value",
        "e": "int64_list", "f": "float_list", "g": "bool_list", "h": "bytes_list",
    }  # fmt: skip
    assert tf.contrib.training.HParams(hparam_def=message).values() == VALUES
    assert tf.contrib.training.HParams.from_proto(message).b == 2.5


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda h: h(a=1, i=None).to_proto(), ValueError, "Unsupported parameter type"),
        (lambda h: h(hparam_def=h(a=1).to_proto(), z=3), ValueError, "mutually exclusive"),
        (lambda h: h(hparam_def=3), TypeError, "must be an HParamDef"),
    ],
)
def test_what_is_no_message_is_told(make, error, words):
    with pytest.raises(error, match=words):
        make(tf.contrib.training.HParams)
