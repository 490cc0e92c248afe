"""Ordinary functions of ragged tensors beside what TensorFlow 1.15.5 makes of the same calls."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

import tfdist as tf
from tests.ops.ragged.ragged_calls import calls, said

EXPECTED = json.loads(
    Path(__file__).with_name("expected_ragged_1_15.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("source", calls())
def test_a_call_has_the_value_of_tensorflow(source):
    assert said(tf, source) == EXPECTED[source]


def test_a_function_that_takes_ragged_tensors_tells_what_it_is():
    """It stands for the one that takes tensors: signature and docstring are that one's."""
    assert list(inspect.signature(tf.reduce_sum).parameters)[:2] == ["input_tensor", "axis"]
    assert tf.concat.__doc__.startswith("Return")
    assert tf.math.abs is tf.abs
