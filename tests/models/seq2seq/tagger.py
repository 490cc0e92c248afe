"""A small tagger, as old programs have it: a network in both directions, and a chain of tags.

A number is tagged 1 if it is greater than the one before, 2 if it is as great, 0 if it is neither.
It runs unchanged on real TensorFlow's own Python (3.7 or later); `seq2seq_programs.py` stores what
it says there.
"""

import numpy as np

WORDS, TAGS, STEPS = 6, 3, 7


def batch():
    """Return lists of numbers, their tags, and their lengths."""
    random = np.random.RandomState(5)
    words = random.randint(0, WORDS, [30, STEPS])
    before = np.concatenate([np.zeros([30, 1], int), words[:, :-1]], 1)
    tags = np.where(words == before, 2, (words > before).astype(int))
    return words.astype(np.int32), tags.astype(np.int32), random.randint(3, STEPS + 1, 30)


def run(tf):
    """Return the losses of training, the tags that are said then, and the transitions."""
    words, tags, lengths = batch()

    def wave(shape, dtype=None, partition_info=None):
        count = int(np.prod(shape))
        return tf.constant(np.sin(np.arange(count) * 1.3 + 0.5).reshape(shape) / 3, dtype)

    with tf.Graph().as_default(), tf.Session() as session:
        ends = tf.constant(lengths, tf.int32)
        with tf.variable_scope("tagger", initializer=wave):
            embedding = tf.get_variable("embedding", [WORDS, 8])
            cells = [tf.contrib.rnn.LSTMBlockCell(8) for _ in range(2)]
            outputs, _ = tf.nn.bidirectional_dynamic_rnn(
                cells[0], cells[1], tf.nn.embedding_lookup(embedding, words), ends, dtype=tf.float32
            )
            scores = tf.layers.dense(tf.concat(outputs, 2), TAGS)
            likelihood, moves = tf.contrib.crf.crf_log_likelihood(scores, tf.constant(tags), ends)
        loss = tf.reduce_mean(-likelihood)
        found, _ = tf.contrib.crf.crf_decode(scores, moves, ends)
        train = tf.train.AdamOptimizer(0.1).minimize(loss)
        session.run(tf.global_variables_initializer())
        losses = [float(session.run([loss, train])[0]) for _ in range(40)]
        found, scores, moves = session.run([found, scores, moves])
        alone = tf.contrib.crf.viterbi_decode(scores[0][: lengths[0]], moves)[0]
    within = np.arange(STEPS) < lengths[:, None]
    return {
        "losses": losses[::10] + losses[-1:],
        "tags": found[:5].tolist(),
        "alone": [int(tag) for tag in alone],
        "right": float((found == tags)[within].mean()),
        "moves": moves.reshape(-1).tolist(),
    }
