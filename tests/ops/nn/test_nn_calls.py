"""tf.nn's functions for images beside what TensorFlow 1.15.5 makes of the same calls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tfdist as tf
from tests.ops.differential import outcome
from tests.ops.evaluate import evaluate
from tests.ops.nn.nn_calls import CALLS, ERRORS, calls, spelled_out
from tests.ops.test_differential import compare, compare_first_words

EXPECTED = json.loads(Path(__file__).with_name("expected_nn_1_15.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("source", calls(CALLS))
def test_a_call_gives_what_it_gives_on_tensorflow(source):
    found = outcome(tf, spelled_out(source), lambda graph, results: evaluate(results))
    wanted = EXPECTED[source]
    if not source.startswith("gradient("):  # here, gradients of constants are not computed
        assert found.get("nodes", "").split(" | ") == wanted.get("nodes", "").split(" | ")
    compare(found, wanted)


@pytest.mark.parametrize("source", calls(ERRORS))
def test_a_call_fails_in_the_words_of_tensorflow(source):
    found = outcome(tf, spelled_out(source), lambda graph, results: evaluate(results))
    compare_first_words(found, EXPECTED[source])
