"""Linear algebra, spectra and special functions beside what TensorFlow 1.15.5 makes of calls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tfdist as tf
from tests.ops.differential import outcome
from tests.ops.linalg.linalg_calls import NODES, VALUES, calls, spelled_out
from tests.ops.test_differential import compare

EXPECTED = json.loads(
    Path(__file__).with_name("expected_linalg_1_15.json").read_text(encoding="utf-8")
)


def run(graph, results):
    with tf.Session(graph=graph) as session:
        return session.run(results)


@pytest.mark.parametrize("source", calls(NODES))
def test_a_call_makes_the_nodes_and_values_of_tensorflow(source):
    found, wanted = outcome(tf, spelled_out(source), run), EXPECTED[source]
    assert found.get("nodes", "").split(" | ") == wanted.get("nodes", "").split(" | ")
    compare(found, wanted)


@pytest.mark.parametrize("source", calls(VALUES))
def test_a_call_has_the_values_of_tensorflow(source):
    compare(outcome(tf, spelled_out(source), run), EXPECTED[source])
