"""Decoders, attention, beam search, and cells are those of TensorFlow 1.15.5.

`seq2seq_programs.py` has the expressions; `expected_seq2seq_1_15.json` is what 1.15.5 said.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.models.seq2seq import seq2seq_programs as programs
from tests.models.seq2seq import translation

EXPECTED = json.loads(Path(__file__).with_name("expected_seq2seq_1_15.json").read_text())
TAGGERS = {"taggers"}  # tests/models/contrib/test_crf.py looks at them
LINES = [
    (table, line)
    for table, text in programs.TABLES.items()
    for line in programs.lines(text)
    if table not in TAGGERS
]


def test_expected_values_are_those_of_the_programs():
    tables = set(programs.TABLES) - TAGGERS
    assert {(table, line) for table in tables for line in EXPECTED[table]} == set(LINES)


@pytest.mark.parametrize(("table", "line"), LINES)
def test_an_expression_gives_what_it_gives_there(table, line):
    programs.check(programs.outcome(tf, line), EXPECTED[table][line])


def test_a_translator_learns_as_there():
    """Training with attention, greedy decoding and beam search, from one set of variables.

    What processors round differently grows from step to step.
    """
    found, expected = translation.run(tf), EXPECTED["translation"]
    np.testing.assert_allclose(found["losses"][:3], expected["losses"][:3], rtol=1e-3)
    np.testing.assert_allclose(found["losses"], expected["losses"], rtol=2e-2)
    assert found["losses"][-1] < found["losses"][0] / 3
    assert found["greedy"] == expected["greedy"]
    assert found["beams"] == expected["beams"]


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as made:
        tf.set_random_seed(1)
        yield made


def test_words_are_drawn_by_their_chances(session):
    """Of two words with logits log(3) and 0, the first is said three times as often."""
    helper = tf.contrib.seq2seq.SampleEmbeddingHelper(tf.eye(2), [0] * 4000, 5, seed=1)
    logits = tf.tile([[np.log(3.0), 0.0]], [4000, 1])
    drawn = session.run(helper.sample(0, tf.cast(logits, tf.float32), None))
    assert drawn.mean() == pytest.approx(0.25, abs=0.03)


def test_a_temperature_of_almost_nothing_says_what_is_likeliest(session):
    helper = tf.contrib.seq2seq.SampleEmbeddingHelper(tf.eye(3), [0] * 50, 5, 1e-3)
    drawn = session.run(helper.sample(0, tf.tile([[1.0, 1.2, 0.7]], [50, 1]), None))
    assert drawn.tolist() == [1] * 50


@pytest.mark.parametrize(
    ("probability", "least", "most"),
    [
        pytest.param(0.25, 0.2, 0.3, id="a probability for all"),
        pytest.param([1.0] * 1000 + [0.0] * 1000, 0.5, 0.5, id="one for each sequence"),
    ],
)
def test_a_schedule_draws_as_often_as_told(session, probability, least, most):
    helper = tf.contrib.seq2seq.ScheduledEmbeddingTrainingHelper(
        tf.zeros([2000, 2, 3]), [2] * 2000, tf.eye(3), probability, seed=1, scheduling_seed=2
    )
    ids = session.run(helper.sample(0, tf.zeros([2000, 3]), None))
    assert least <= (ids >= 0).mean() <= most
    assert set(ids) <= {-1, 0, 1, 2}


def test_a_warning_says_why_an_array_is_not_sorted(session, caplog):
    with tf.variable_scope("", initializer=tf.ones_initializer()):
        eval("beams(alignment_history=True)", programs.environment(tf))
    assert "reorder_tensor_arrays" in caplog.text


@pytest.mark.parametrize("name", ["CudnnLSTM", "CudnnGRU", "CudnnRNNTanh", "CudnnRNNRelu"])
def test_networks_for_cards_say_so(name):
    with pytest.raises(tf.errors.InvalidArgumentError, match="needs a card"):
        getattr(tf.contrib.cudnn_rnn, name)(1, 2)


def test_a_getter_around_a_cell_is_asked_once(session):
    asked = []

    def getter(inner, name, *args, **kwargs):
        asked.append(name)
        return inner(name, *args, **kwargs)

    with tf.variable_scope("a", custom_getter=getter):
        cell = tf.contrib.rnn.UGRNNCell(3)
        cell(tf.ones([2, 4]), cell.zero_state(2, tf.float32))
    assert asked == ["a/ugrnn_cell/kernel", "a/ugrnn_cell/bias"]


def test_an_lstm_in_one_node_is_the_one_step_by_step(session):
    """Gradients too, which the op's own kernel makes."""
    with tf.variable_scope("", initializer=tf.random_normal_initializer(seed=1)):
        x = tf.random_normal([6, 3, 4], seed=2)
        fused, _ = tf.contrib.rnn.LSTMBlockFusedCell(5, use_peephole=True, name="c")(
            x, dtype=tf.float32, sequence_length=[6, 4, 0]
        )
    cell = tf.nn.rnn_cell.LSTMCell(5, use_peepholes=True, name="c", reuse=True)
    plain, _ = tf.nn.dynamic_rnn(
        cell, x, [6, 4, 0], dtype=tf.float32, time_major=True, scope=tf.get_variable_scope()
    )
    sources = [x, *tf.trainable_variables()]
    session.run(tf.global_variables_initializer())
    slopes = [tf.gradients(tf.reduce_sum(tf.sin(each)), sources) for each in (fused, plain)]
    for one, other in zip(*session.run([[fused, *slopes[0]], [plain, *slopes[1]]]), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
