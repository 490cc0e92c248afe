"""Embeddings, and what they are made of: beside what TensorFlow 1.15.5 makes of the programs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.ops.nn.embedding_programs import PROGRAMS
from tests.ops.variables.part_outcomes import outcome

EXPECTED = json.loads(
    Path(__file__).with_name("expected_embeddings_1_15.json").read_text(encoding="utf-8")
)
# 1.15.5 runs constant parts of a graph to know a shape; here it is asked for when the step runs.
LESS_IS_KNOWN = {"safe_bags", "safe_bags_with_weights", "safe_bags_in_parts"}


def comparable(found, name):
    """Return an outcome without what differs from TensorFlow on purpose."""
    found = json.loads(json.dumps(found))
    if name in LESS_IS_KNOWN:
        found["nodes"] = [node for node in found["nodes"] if "/Shape_1 " not in node]
    return found


def later(value):
    """Return a tensor whose value is known only when it runs."""
    return tf.placeholder_with_default(value, None)


def element():
    """Return a sparse tensor of one element."""
    return tf.SparseTensor([[1, 0]], [1], [3, 2])


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_it_gives_on_tensorflow(name):
    found, wanted = outcome(tf, PROGRAMS, name), EXPECTED[name]
    assert json.dumps(comparable(found, name)) == json.dumps(comparable(wanted, name))


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(lambda: tf.sparse_segment_sum([[1.0]], [1], [0]), "not in",
                     id="a row that is not there"),
        pytest.param(lambda: tf.sparse_segment_mean([[1.0]], [0, 0], [1, 0]), "not increasing",
                     id="ids that fall"),
        pytest.param(lambda: tf.sparse_segment_sum([[1.0]], [0], [3], num_segments=2),
                     "3 is not < 2", id="an id above the number of segments"),
        pytest.param(lambda: tf.sparse_segment_sum([[1.0]], [0], [-1]), "from 0",
                     id="an id below 0"),
        pytest.param(
            lambda: tf.sparse_fill_empty_rows(tf.SparseTensor([[4, 0]], [1], [3, 2]), 0)[1],
            r"4 is not in \[0, 3\)", id="an element below the last row",
        ),
        pytest.param(
            lambda: tf.sparse_reshape(element(), later([4, -1])).indices, "with 6 dense values",
            id="a shape that does not fit",
        ),
        pytest.param(
            lambda: tf.sparse_reshape(element(), later([-1, -1])).indices, "only one",
            id="a shape with two open axes",
        ),
    ],
)  # fmt: skip
def test_bad_input_is_told(call, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message), tf.Session() as session:
        session.run(call())


@pytest.mark.parametrize("op", [tf.sparse_segment_sum, tf.sparse_segment_mean])
def test_no_segments_at_all(op):
    found = tf.Session().run(op(np.ones([3, 2], np.float32), np.int32([]), np.int32([])))
    assert found.shape == (0, 2)
