"""A small translator, as old programs have it: it turns a list of numbers round.

An encoder in both directions, a decoder with Bahdanau's attention, training with the text, then
greedy decoding and beam search from the same variables. It runs unchanged on real TensorFlow's own
Python (3.7 or later); `seq2seq_programs.py` stores what it says there.
"""

import numpy as np

SYMBOLS, UNITS, START, END = 8, 24, 0, 1


def batch():
    """Return lists of numbers from 2 on, and their lengths."""
    random = np.random.RandomState(3)
    lengths = random.randint(2, 6, 24)
    lists = np.full((24, 5), END)
    for number, length in enumerate(lengths):
        lists[number, :length] = random.randint(2, SYMBOLS, length)
    return lists, lengths


def turned(lists, lengths):
    """Return the lists from their ends, each with an end behind it."""
    made = np.full((len(lists), lists.shape[1] + 1), END)
    for number, length in enumerate(lengths):
        made[number, :length] = lists[number, :length][::-1]
    return made


def waves(tf):
    """Return an initializer by which elements differ, but not from run to run."""

    def make(shape, dtype=None, partition_info=None):
        count = int(np.prod(shape))
        return tf.constant(np.sin(np.arange(count) * 1.7 + 0.5).reshape(shape) / 4, dtype)

    return make


def encoded(tf, source, lengths):
    """Return what both directions say of the source, and the state they end in."""
    embedding = tf.get_variable("source_embedding", [SYMBOLS, UNITS])
    cells = [tf.contrib.rnn.GRUCell(UNITS // 2) for _ in range(2)]
    outputs, states = tf.nn.bidirectional_dynamic_rnn(
        cells[0], cells[1], tf.nn.embedding_lookup(embedding, source), lengths, dtype=tf.float32
    )
    return tf.concat(outputs, 2), tf.concat(states, 1)


def decoded(tf, memory, state, lengths, make_helper, reuse, beams=0):
    """Return what the decoder says, with a helper, or with beams."""
    s2s = tf.contrib.seq2seq
    with tf.variable_scope("decode", reuse=reuse):
        embedding = tf.get_variable("embedding", [SYMBOLS, UNITS])
        if beams:
            memory, state, lengths = s2s.tile_batch((memory, state, lengths), beams)
        attention = s2s.BahdanauAttention(UNITS, memory, lengths, normalize=True)
        cell = tf.contrib.rnn.GRUCell(UNITS)
        cell = s2s.AttentionWrapper(cell, attention, attention_layer_size=UNITS)
        first = cell.zero_state(24 * max(beams, 1), tf.float32).clone(cell_state=state)
        layer = tf.layers.Dense(SYMBOLS, name="words")
        if beams:
            decoder = s2s.BeamSearchDecoder(
                cell, embedding, [START] * 24, END, first, beams, layer, length_penalty_weight=0.6
            )
        else:
            decoder = s2s.BasicDecoder(cell, make_helper(embedding), first, layer)
        return s2s.dynamic_decode(decoder, maximum_iterations=6, impute_finished=not beams)


def run(tf):
    """Return the losses of training, and what is said then."""
    lists, lengths = batch()
    answers = turned(lists, lengths)
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope("translator", initializer=waves(tf)):
            source, ends = tf.constant(lists), tf.constant(lengths, tf.int32)
            targets = tf.constant(answers)
            said = tf.concat([tf.fill([24, 1], tf.constant(START, targets.dtype)), targets], 1)
            memory, state = encoded(tf, source, ends)

            def text(embedding):
                rows = tf.nn.embedding_lookup(embedding, said[:, :-1])
                return tf.contrib.seq2seq.TrainingHelper(rows, ends + 1)

            def own(embedding):
                return tf.contrib.seq2seq.GreedyEmbeddingHelper(embedding, [START] * 24, END)

            outputs, _, _ = decoded(tf, memory, state, ends, text, None)
            greedy, _, _ = decoded(tf, memory, state, ends, own, True)
            best, _, _ = decoded(tf, memory, state, ends, None, True, beams=3)
        weights = tf.sequence_mask(ends + 1, 6, tf.float32)
        steps = tf.shape(outputs.rnn_output)[1]
        loss = tf.contrib.seq2seq.sequence_loss(
            outputs.rnn_output, targets[:, :steps], weights[:, :steps]
        )
        optimizer, variables = tf.train.AdamOptimizer(0.02), tf.trainable_variables()
        gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)
        train = optimizer.apply_gradients([list(pair) for pair in zip(gradients, variables)])  # noqa: B905
        session.run(tf.global_variables_initializer())
        losses = [float(session.run([loss, train])[0]) for _ in range(40)]
        ids, beams = session.run([greedy.sample_id, best.predicted_ids])
        return {
            "losses": losses[::10] + losses[-1:],
            "greedy": ids[:6].tolist(),
            "beams": beams[:6, :, 0].tolist(),
        }
