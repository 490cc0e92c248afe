"""Recurrent networks are those of TensorFlow 1.15.5: names, values, gradients, errors.

`recurrent_programs.py` has the expressions; `expected_recurrent_1_15.json` is what 1.15.5 said.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.models.rnn import recurrent_programs as programs
from tfdist.programs.digits import read_digits

EXPECTED = json.loads(Path(__file__).with_name("expected_recurrent_1_15.json").read_text())
LINES = [(table, line) for table, text in programs.TABLES.items() for line in programs.lines(text)]


def test_expected_values_are_those_of_the_programs():
    assert [(table, line) for table in EXPECTED for line in EXPECTED[table]] == LINES


@pytest.mark.parametrize(("table", "line"), LINES)
def test_an_expression_gives_what_it_gives_there(table, line):
    found, wanted = programs.outcome(tf, line), EXPECTED[table][line]
    if wanted.get("error") == "TypeError" == PARENTS.get(found.get("error")):
        return  # a class of its own for what cannot be iterated over
    programs.check(found, wanted)


PARENTS = {"OperatorNotAllowedInGraphError": "TypeError"}


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        tf.set_random_seed(1)
        yield made


def test_a_network_learns_digits_from_their_rows(graph):
    """As in the tutorials: each row of an image is a step."""
    images, labels = read_digits()
    x, y = tf.placeholder(tf.float32, [None, 8, 8]), tf.placeholder(tf.int32, [None])
    cell = tf.contrib.rnn.BasicLSTMCell(32, forget_bias=1.0)
    outputs, _ = tf.contrib.rnn.static_rnn(cell, tf.unstack(x, 8, 1), dtype=tf.float32)
    logits = tf.layers.dense(outputs[-1], 10)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train = tf.train.AdamOptimizer(0.02).minimize(loss)
    right = tf.reduce_mean(tf.cast(tf.nn.in_top_k(logits, y, 1), tf.float32))
    rng = np.random.default_rng(0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(150):
            rows = rng.integers(0, len(labels), 128)
            session.run(train, {x: images[rows].reshape(-1, 8, 8), y: labels[rows]})
        assert session.run(right, {x: images.reshape(-1, 8, 8), y: labels}) > 0.9


def test_a_language_model_hands_its_state_from_batch_to_batch(graph):
    """As in the PTB tutorial: layers with dropout, unrolled by hand, a second model beside."""
    words = np.tile([0, 3, 1, 4, 2], 40).reshape(4, 50)
    inputs, targets = tf.placeholder(tf.int32, [4, 5]), tf.placeholder(tf.int32, [4, 5])

    def model(is_training):
        embedding = tf.get_variable("embedding", [5, 16])
        given = tf.nn.embedding_lookup(embedding, inputs)

        def layer():
            cell = tf.contrib.rnn.BasicLSTMCell(16, reuse=not is_training)
            return tf.contrib.rnn.DropoutWrapper(cell, output_keep_prob=0.9 if is_training else 1)

        cell = tf.contrib.rnn.MultiRNNCell([layer() for _ in range(2)])
        first = state = cell.zero_state(4, tf.float32)
        outputs = []
        with tf.variable_scope("RNN"):
            for step in range(5):
                if step > 0:
                    tf.get_variable_scope().reuse_variables()
                output, state = cell(given[:, step, :], state)
                outputs.append(output)
        logits = tf.layers.dense(tf.stack(outputs, 1), 5, name="out", reuse=not is_training)
        return first, state, tf.contrib.seq2seq.sequence_loss(logits, targets, tf.ones([4, 5]))

    with tf.variable_scope("Model"):
        first, last, loss = model(True)
    with tf.variable_scope("Model", reuse=True):
        other_first, other_last, other_loss = model(False)
    train = tf.train.AdamOptimizer(0.02).minimize(loss)
    assert len(tf.trainable_variables()) == 1 + 2 * 2 + 2
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        def epoch(first, last, loss, *train):
            state, losses = session.run(first), []
            for start in range(0, 45, 5):
                feeds = {inputs: words[:, start : start + 5]}
                feeds[targets] = words[:, start + 1 : start + 6]
                for (c, h), (told_c, told_h) in zip(first, state, strict=True):
                    feeds |= {c: told_c, h: told_h}
                state, found, *_ = session.run([last, loss, *train], feeds)
                losses.append(found)
            return np.mean(losses)

        for _ in range(8):
            epoch(first, last, loss, train)
        assert epoch(other_first, other_last, other_loss) < 0.1


def test_dropout_is_the_same_in_all_steps_if_asked_for(graph):
    plain = tf.nn.rnn_cell.GRUCell(50)
    cell = tf.nn.rnn_cell.DropoutWrapper(
        plain, output_keep_prob=0.5, variational_recurrent=True, dtype=tf.float32, seed=3
    )
    outputs, _ = tf.nn.dynamic_rnn(cell, tf.ones([2, 6, 4]), dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        dropped = session.run(outputs) == 0
        assert (dropped == dropped[0, 0]).all()
        assert 0 < dropped[0, 0].sum() < 50


def test_a_cell_knows_its_variables(graph):
    stack = tf.nn.rnn_cell.MultiRNNCell(
        [tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(2)), tf.nn.rnn_cell.BasicLSTMCell(2)]
    )
    tf.nn.dynamic_rnn(stack, tf.ones([2, 6, 4]), dtype=tf.float32)
    assert stack.trainable_variables == tf.trainable_variables()
    assert stack._cells[0].variables == tf.trainable_variables()[:4]


def test_inputs_without_a_size_in_each_step_are_an_error():
    steps = [tf.ones([2, 3])] * 4  # a list of steps is for tf.nn.static_rnn
    for inputs in (tf.ones([2, 6]), steps):
        with pytest.raises(ValueError, match="must have rank at least 3"):
            tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(2), inputs, dtype=tf.float32)


def test_lengths_that_are_not_one_for_each_sequence_are_an_error_when_it_runs(graph):
    lengths = tf.placeholder(tf.int32, [None])
    cell = tf.nn.rnn_cell.BasicRNNCell(2)
    outputs, _ = tf.nn.dynamic_rnn(cell, tf.ones([2, 6, 4]), lengths, dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expected shape for Tensor rnn/"):
            session.run(outputs, {lengths: [1, 2, 3]})
