"""Sequences in segments: nodes, static shapes, errors and batches are those of 1.15.5.

`sequence_programs.py` has the programs; `expected_sequences_1_15.json` is what 1.15.5 made of them.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.training.input_queues import sequence_programs as programs

NODES, EXPECTED = json.loads(
    Path(__file__).with_name("expected_sequences_1_15.json").read_text(encoding="utf-8")
)
GRAPHS = [
    pytest.param(make, text, name, id=name)
    for table, make in ((programs.GRAPHS, programs.saver_of), (programs.BATCHES, programs.batch_of))
    for name, text in table.items()
]
# What the kernels or Python say in other words than there.
OWN_WORDS = {"half a segment", "a number instead of a sequence"}


@pytest.mark.parametrize(("make", "text", "name"), GRAPHS)
def test_the_nodes_are_those_of_1_15(make, text, name):
    found = json.loads(json.dumps(programs.graph_told(tf, make, text)))
    expected = EXPECTED[name]
    assert found["nodes"] == [NODES[number] for number in expected["nodes"]]
    assert (found["shapes"], found["runners"]) == (expected["shapes"], expected["runners"])


@pytest.mark.parametrize("name", programs.ERRORS)
def test_what_cannot_be_is_told(name):
    kind, words = programs.error_told(tf, programs.ERRORS[name])
    wanted_kind, wanted_words = EXPECTED[name]
    assert kind == wanted_kind
    assert name in OWN_WORDS or words == wanted_words


@pytest.mark.parametrize("name", programs.RUNS)
def test_batches_are_those_of_1_15(name):
    found = json.loads(json.dumps(programs.run_told(tf, *programs.RUNS[name])))
    assert found == EXPECTED[name]


# The keys of each batch.
LAST = {
    "the last batch is smaller": [
        ["0_of_1:k0", "0_of_2:k1"], ["1_of_2:k1", "0_of_4:k2"], ["1_of_4:k2"], ["2_of_4:k2"],
        ["3_of_4:k2"],
    ],
    "two side by side": [
        ["0_of_1:k0", "0_of_2:k1"], ["1_of_2:k1", "0_of_4:k2"], ["1_of_4:k2", "0_of_5:k3"],
        ["2_of_4:k2", "1_of_5:k3"], ["3_of_4:k2", "2_of_5:k3"], ["3_of_5:k3"], ["4_of_5:k3"],
    ],
    "long segments": [["0_of_1:k0", "0_of_2:k1"], ["1_of_2:k1"]],
}  # fmt: skip


@pytest.mark.parametrize("name", LAST)
def test_batches_get_smaller_until_all_has_ended(name):
    batches, end = programs.run_told(tf, *programs.ENDINGS[name])
    place = programs.PROPERTIES.index("key")
    keys = [[each.replace("0000", "") for each in batch[place][:-1]] for batch in batches]
    assert (keys, end) == (LAST[name], "OutOfRangeError")


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


@pytest.mark.parametrize(
    ("act", "error", "words"),
    [
        pytest.param(lambda batch: batch.state("x"), KeyError, "x", id="a state that is not there"),
        pytest.param(lambda batch: batch.save_state("x", 1), KeyError, "state was not declared: x",
                     id="a state to save that is not there"),
        pytest.param(lambda batch: batch.save_state("s", tf.zeros([3, 4])), ValueError,
                     r"Shape check failed for .*: Shapes \(3, 4\) and \(2, 4\)",
                     id="states of more sequences"),
        pytest.param(lambda batch: batch.save_state("s", tf.zeros([4])), ValueError,
                     r"Rank check failed for .*: Shape \(4,\) must have rank 2",
                     id="the state of one sequence"),
    ],
)  # fmt: skip
def test_what_a_batch_cannot_do_is_told(graph, act, error, words):
    batch = programs.saver_of(tf, "").next_batch
    with pytest.raises(error, match=words):
        act(batch)


@pytest.mark.parametrize(
    ("sequences", "length", "words"),
    [
        pytest.param([[0.0] * 4, [0.0] * 4], 4, "should be a multiple of: 3, but saw value: 4",
                     id="half a segment"),
        pytest.param([[0.0] * 3, [0.0] * 6], 3, "labeled sorted_sequences_y should be: 3",
                     id="one is longer than the other"),
        pytest.param([[0.0] * 3, [0.0] * 3], 4, "Input length should be <= than length",
                     id="it is said to be longer than it is"),
    ],
)  # fmt: skip
def test_what_is_wrong_when_it_runs_is_told(graph, sequences, length, words):
    x, y = (tf.placeholder_with_default(np.float32(each), [None]) for each in sequences)
    saver = tf.contrib.training.SequenceQueueingStateSaver(
        1, 3, tf.constant(length), tf.constant("k"), {"x": x, "y": y}, {}, {"n": tf.constant(0)}
    )
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=words):
        session.run(saver.prefetch_op)


def test_a_network_goes_on_with_its_states(graph):
    steps, cell = 6, tf.nn.rnn_cell.BasicRNNCell(2)
    x = tf.constant(np.linspace(-1, 1, steps * 3).reshape(steps, 3).astype(np.float32))
    saver = tf.contrib.training.SequenceQueueingStateSaver(
        1, 2, steps, tf.constant("k"), {"x": x}, {}, {"state": tf.zeros([2])}
    )
    with tf.variable_scope("net"):
        outputs, _ = tf.contrib.rnn.static_state_saving_rnn(
            cell, tf.unstack(saver.next_batch.sequences["x"], axis=1), saver.next_batch, "state"
        )
    with tf.variable_scope("net", reuse=True):
        wanted, _ = tf.nn.static_rnn(cell, tf.unstack(x[None], axis=1), dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(saver.prefetch_op)
        found = [each for _ in range(3) for each in session.run(outputs)]
        np.testing.assert_allclose(found, session.run(wanted), 1e-5)


def test_closing_ends_what_is_inside(graph):
    saver = programs.saver_of(tf, "batch_size=1")
    close = saver.close(cancel_pending_enqueues=True)
    with tf.Session() as session:
        session.run(saver.prefetch_op)
        session.run(saver.next_batch.key)
        session.run(close)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(saver.next_batch.key)
        with pytest.raises(tf.errors.CancelledError):
            session.run(saver.prefetch_op)
