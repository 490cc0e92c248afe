"""Wrong calls of branches, loops, TensorArrays and Python functions fail as in real TensorFlow.

With the same class of error, told at the same time or earlier, and with what it says of what is
wrong. Where the environment variable TFDIST_REAL_TENSORFLOW holds a command that runs a real
TensorFlow's Python, it is asked; elsewhere what 1.15.5 said is read from `flow_errors_1_15.json`.
"""

import json
import os
from functools import cache

import numpy as np
import pytest

import tfdist as tf
from tests.ops.control_flow.flow_calls import ERRORS_THERE, OTHERWISE, failure, real, rows

REAL = os.environ.get("TFDIST_REAL_TENSORFLOW", "")


@cache
def there():
    """Return class and phrase of the error of each call in real TensorFlow."""
    if REAL:
        return real(REAL)["errors"]
    with open(ERRORS_THERE, encoding="utf-8") as file:
        return json.load(file)


@pytest.mark.parametrize(("phrase", "source"), [pytest.param(*row, id=row[1]) for row in rows()])
def test_a_wrong_call_fails_as_in_tensorflow(phrase, source):
    wanted, said = there()[source]
    assert said == phrase, "the phrase is not in TensorFlow's message"
    found, message = failure(tf, source)
    assert found == wanted, message
    assert phrase in message


@pytest.mark.parametrize("source", OTHERWISE)
def test_a_call_that_fails_otherwise_here(source):
    wanted, reason = OTHERWISE[source]
    found, message = failure(tf, source)
    assert found != there()[source][0], f"it does as there now: {reason}"
    if isinstance(wanted, str):
        assert found == wanted, message
    else:
        assert found is None, message
        np.testing.assert_allclose(message[1], wanted, rtol=1e-5)


def test_all_calls_were_tried_there():
    assert list(there()) == [source for _, source in rows()] + list(OTHERWISE)
