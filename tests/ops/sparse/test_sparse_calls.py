"""tf.sparse, tf.sets, CTC and tf.ragged beside what TensorFlow 1.15.5 makes of the same calls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tfdist as tf
from tests.ops.differential import outcome
from tests.ops.sparse.sparse_calls import NODES, VALUES, calls, spelled_out
from tests.ops.test_differential import compare

STORED = Path(__file__).with_name("expected_sparse_1_15.json")
EXPECTED = json.loads(STORED.read_text(encoding="utf-8"))


def found(source):
    def run(graph, results):
        with tf.Session(graph=graph) as session:
            return session.run(results)

    return outcome(tf, spelled_out(source), run)


@pytest.mark.parametrize("source", calls(NODES))
def test_a_call_makes_the_nodes_and_values_of_tensorflow(source):
    ours, theirs = found(source), EXPECTED[source]
    assert ours.get("nodes", "").split(" | ") == theirs.get("nodes", "").split(" | ")
    compare(ours, theirs)


@pytest.mark.parametrize("source", calls(VALUES))
def test_a_call_has_the_values_of_tensorflow(source):
    ours, theirs = found(source), EXPECTED[source]
    for each in (ours, theirs):
        for output in each.get("outputs", ()):
            output[1] = None
    compare(ours, theirs)
