"""What layers, losses and their neighbours put into a graph, on real TensorFlow and ours.

A random op without a seed of its own takes the number of nodes before it as its second seed: so a
seeded program draws TensorFlow's numbers only if everything before makes as many nodes. This file
runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of ours. To
store what 1.15.5 says:

    PYTHON_OF_1.15 tests/models/node_programs.py > tests/models/expected_nodes_1_15.json
"""

import json
import sys

# One expression a line, each in a graph of its own; `p` makes a placeholder of a shape.
PROGRAMS = """
tf.tensordot(p(2, 3, 4), p(3, 5, 2), [[0, 1], [2, 0]])
tf.einsum("ab,bc->ca", p(2, 3), p(3, 4))
tf.einsum("bij,bjk->bik", p(None, None, 3), p(None, 3, None))
tf.einsum("BTNH,BFNH->BNFT", p(None, None, 3, 5), p(None, None, 3, 5))
tf.einsum("BFNH,NHD->BFD", p(2, 4, 3, 5), p(3, 5, 7))
tf.einsum("abcd,cd->ab", p(None, 2, 3, None), p(3, None))
tf.einsum("b...i,...ij->b...j", p(2, 5, 3), p(5, 3, 4))
tf.einsum("ij,jk,k->i", p(2, 3), p(3, 4), p(4))
tf.einsum("a,b,c->abc", p(2), p(3), p(4))
tf.einsum("abc,b->abc", p(2, 3, 4), p(3))
tf.einsum("ab,c->ab", p(2, 3), p(4))
tf.tensordot(p(None, 3, 4), p(4, 5), 1)
tf.tensordot(p(None, 3, 4), p(4, None), [[2], [0]])
tf.tensordot(tf.placeholder(tf.float32), p(4, 5), [[2], [0]])
tf.tensordot(p(2, 3, 4), p(4, 5), tf.constant([[2], [0]]))
layers.dense(p(None, None, 4), 5, activation=tf.nn.relu)
layers.conv1d(p(None, 9, 4), 5, 3, dilation_rate=2)
layers.conv2d(p(None, 9, 9, 4), 5, 3, 2, "same", kernel_regularizer=contrib.l2_regularizer(0.1))
layers.conv2d(p(None, 9, 9, 4), 5, 3, padding="same", dilation_rate=2)
layers.conv2d_transpose(p(None, 4, 4, 8), 4, 5, 2, "same")
layers.conv3d_transpose(p(None, 4, 4, 4, 8), 4, 3, 2)
layers.separable_conv1d(p(None, 9, 4), 5, 3)
layers.separable_conv2d(p(None, 9, 9, 4), 5, 3, dilation_rate=2)
layers.batch_normalization(p(None, 3, 4), training=True)
layers.batch_normalization(p(None, 5, 5, 4), scale=False, center=False, training=True)
layers.batch_normalization(p(None, 5, 5, 4), training=flag())
layers.dropout(p(None, 4, 5), 0.3, noise_shape=[None, 1, 5], training=True)
layers.dropout(p(None, 4), 0.3, training=flag())
layers.max_pooling3d(p(None, 3, 8, 8, 8), 2, 2, data_format="channels_first")
layers.flatten(p(None, 4, 5))
contrib.batch_norm(p(None, 4))
contrib.batch_norm(p(None, 4), is_training=False)
contrib.batch_norm(p(None, 4), is_training=flag())
contrib.batch_norm(p(None, 5, 5, 4), scale=True)
contrib.batch_norm(p(None, 5, 5, 4), scale=True, updates_collections=None)
contrib.batch_norm(p(None, 5, 5, 4), is_training=flag(), updates_collections=None)
contrib.batch_norm(p(None, 3, 4), updates_collections=None)
contrib.batch_norm(p(None, 3, 4), is_training=flag(), updates_collections=None)
contrib.fully_connected(p(None, 4), 5, normalizer_fn=contrib.batch_norm)
contrib.conv2d(p(None, 9, 9, 4), 5, 3, rate=2)
contrib.separable_conv2d(p(None, 9, 9, 4), 5, 3, 1)
contrib.layer_norm(p(None, 3, 4), begin_norm_axis=-1)
contrib.dropout(p(None, 4), 0.6)
contrib.one_hot_encoding(p(3, dtype=tf.int64), 4)
slim.prefetch_queue.prefetch_queue({"b": p(3, 4), "a": p(3)}, num_threads=2).dequeue()
tf.one_hot(p(3, dtype=tf.int32), 5, on_value=tf.constant(2.0), axis=0)
tf.nn.dropout(p(2, 4), keep_prob=tf.placeholder(tf.float32))
tf.nn.moments(p(None, 4), [0])
tf.nn.l2_normalize(p(3, 4), 1)
tf.random_uniform([2], 0, 5, tf.int32)
tf.random_crop(p(None, 9, 3), [4, 4, 3])
tf.random_shuffle(p(3, 4))
tf.image.random_contrast(p(9, 9, 3, dtype=tf.uint8), 0.2, 1.8)
tf.losses.softmax_cross_entropy(p(None, 4), p(None, 4))
tf.losses.sparse_softmax_cross_entropy(p(3, dtype=tf.int32), p(3, 4))
tf.nn.softmax_cross_entropy_with_logits_v2(p(None, 3, 4), p(None, 3, 4))
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=p(None, 3, dtype=tf.int32), logits=p(1, 3, 4))
tf.nn.weighted_cross_entropy_with_logits(p(None, 4), p(None, 4), 2.0)
tf.nn.zero_fraction(p(None, 4))
tf.clip_by_global_norm([p(3), p(4)], 5.0)
layers.conv2d(p(None, None, None, 4), 5, 3, dilation_rate=2, padding="same")
tf.assert_positive([1]), tf.assert_less([1], [3], message="m"), tf.assert_non_positive([-1])
tf.assert_rank([1], 1), tf.assert_rank_in([1], [1, 2]), tf.assert_rank(tf.placeholder("int32"), 2)
tf.assert_near(p(3), 1.0), tf.Assert(True, [p(2)], name="nm"), tf.Assert(flag(), ["a", 1])
tf.strided_slice([1, 2], [0], [1]), tf.strided_slice([[1]], [0, p(dtype=tf.int32)], [2, 1])
tf.split(p(2, 4), 2, 1), tf.split(p(2, 4), [1, 3], 1)
rnn.MultiRNNCell([rnn.DropoutWrapper(rnn.BasicLSTMCell(3), 0.5)]).zero_state(2, tf.float32)
rnn.LSTMCell(2).zero_state(p(dtype=tf.int32), tf.float32)
rnn.DropoutWrapper(rnn.LSTMCell(3), 0.5, 0.5, 0.5, True, 3, tf.float32, seed=7)
tf.nn.static_rnn(rnn.BasicLSTMCell(4), [p(2, 3)] * 2, dtype=tf.float32)
rnn.LSTMCell(3, True, 1.0, num_proj=2, proj_clip=2.0)(p(2, 4), (p(2, 3), p(2, 2)))
tf.nn.dynamic_rnn(rnn.GRUCell(4), p(None, None, 3), p(None, dtype=tf.int32), dtype=tf.float32)
tf.nn.dynamic_rnn(rnn.DropoutWrapper(rnn.GRUCell(4), 0.5), p(2, 5, 3), dtype=tf.float32)
tf.nn.nce_loss(p(9, 3), p(9), p(2, 1, dtype=tf.int64), p(2, 3), 4, 9, remove_accidental_hits=True)
tf.nn.sampled_softmax_loss(p(9, 3), p(9), p(2, 1, dtype=tf.int32), p(2, 3), 4, 9)
tf.contrib.seq2seq.sequence_loss(p(2, 3, 4), p(2, 3, dtype=tf.int32), p(2, 3))
tf.nn.softmax(p(2, 3, 4), axis=1), tf.nn.log_softmax(p(2, 3, 4), axis=-2)
tf.nn.softmax_cross_entropy_with_logits_v2(p(2, 3, 4, dtype=tf.int32), p(2, 3, 4), axis=1)
tf.nn.softmax_cross_entropy_with_logits(labels=p(3, 4), logits=p(3, 4, dtype=tf.float16))
tf.nn.log_poisson_loss(p(3), p(3), compute_full_loss=True)
tf.losses.mean_pairwise_squared_error(p(3, 4), p(3, 4))
tf.contrib.losses.mean_squared_error(p(3, 4), p(3, 4)), tf.contrib.losses.hinge_loss(p(3), p(3))
tf.contrib.losses.log_loss(p(3, 4), p(3, 4), p(3)), tf.contrib.losses.hinge_loss(p(3), p(3))
tf.contrib.losses.softmax_cross_entropy(p(3, 4), p(3, 4), p(3, 1), label_smoothing=0.1)
tf.contrib.losses.mean_pairwise_squared_error(p(3, 4), p(3, 4), p(3))
tf.contrib.losses.sparse_softmax_cross_entropy(p(None, 4), p(None, 1, dtype=tf.int32))
tf.keras.losses.MeanSquaredError()(p(3, 4), p(3, 4)), tf.keras.losses.Huber(2.0, "sum")(p(3), p(3))
tf.keras.losses.MeanSquaredError()(p(3, 4), p(3, 4), p(3, 1)), tf.keras.losses.mape(p(3), p(3))
tf.keras.losses.msle(p(3), p(3)), tf.keras.losses.logcosh(p(3), p(3))
tf.keras.losses.kld(p(3, 4), p(3, 4)), tf.keras.losses.CosineSimilarity()(p(3), p(3))
tf.keras.losses.binary_crossentropy(p(3, 4), p(3, 4), label_smoothing=0.1)
tf.keras.losses.categorical_crossentropy(p(3, 4), p(3, 4), True, 0.1)
tf.keras.losses.sparse_categorical_crossentropy(p(2, 3, 1), p(2, 3, 4))
tf.zeros([3, count(), 4]), tf.ones((count(), count())), tf.zeros([count()])
tf.zeros([p(3, 4).shape[0], count()]), tf.zeros_initializer()([count(), 3])
tf.random_uniform_initializer()([count(), 3]), tf.zeros_initializer()(tf.stack([count(), 3]))
tf.eye(count()), tf.eye(count(), 4, [2]), tf.eye(3, 4, [count()])
tf.eye(3, 4, p(2, dtype=tf.int32))
tf.get_variable("x", initializer=0.5, dtype=tf.float32), tf.get_variable("y", initializer=0.5)
attend(s2s.LuongAttention(4, p(None, None, 5)))
attend(s2s.LuongAttention(4, p(3, None, 5), p(None, dtype=tf.int32), scale=True), history=True)
attend(s2s.BahdanauAttention(4, p(None, None, 5), p(None, dtype=tf.int32), normalize=True), 6)
attend(s2s.BahdanauMonotonicAttention(4, p(3, 7, 5), p(None, dtype=tf.int32), sigmoid_noise=0.3))
attend(s2s.LuongMonotonicAttention(4, p(None, 7, 5), p(3, dtype=tf.int32), mode="hard"), 6)
fc.linear_model(people(), [age(), fc.bucketized_column(age(), [10.0, 20.0]), job()], units=2)
fc.input_layer(people(), [fc.embedding_column(job(), 3), fc.bucketized_column(age(), [1.0])])
attend([s2s.LuongAttention(4, p(3, 7, 5)), s2s.BahdanauAttention(4, p(3, 7, 5))], [5, 4])
"""


def nodes(tf, program):
    """Return "type name" of each node that a program makes, and the seeds of random ones."""

    def placeholder(*shape, dtype=tf.float32):
        return tf.placeholder(dtype, shape)

    def attend(mechanism, size=None, history=False):
        cell = tf.contrib.seq2seq.AttentionWrapper(
            tf.nn.rnn_cell.GRUCell(4), mechanism, size, alignment_history=history
        )
        return cell(placeholder(3, 7), cell.zero_state(3, tf.float32))

    fc = tf.feature_column

    def people():
        return {"age": placeholder(None, 1), "job": placeholder(None, 1, dtype=tf.string)}

    given = {
        "fc": fc, "people": people, "age": lambda: fc.numeric_column("age"),
        "job": lambda: fc.categorical_column_with_hash_bucket("job", 7),
        "tf": tf, "p": placeholder, "count": lambda: tf.placeholder(tf.int32, []),
        "s2s": tf.contrib.seq2seq, "attend": attend,
        "flag": lambda: tf.placeholder(tf.bool), "layers": tf.layers,
        "contrib": tf.contrib.layers, "slim": tf.contrib.slim,
        "rnn": tf.nn.rnn_cell,
    }  # fmt: skip
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(5)
        eval(program, given)
        tf.random_uniform([], name="last")
        return [_told(node) for node in graph.as_graph_def().node]


def _told(node):
    seed = [str(node.attr["seed2"].i)] if "seed2" in node.attr else []
    return " ".join([node.op, node.name, *seed])


def programs():
    """Return all programs."""
    return PROGRAMS.strip().split("\n")


if __name__ == "__main__":
    import tensorflow

    found = {program: nodes(tensorflow, program) for program in programs()}
    json.dump(found, sys.stdout, indent=0)
    sys.stdout.write("\n")
