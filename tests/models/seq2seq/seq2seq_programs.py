"""Decoders, attention and beam search, taggers, and older networks, on real TensorFlow and ours.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. To store what 1.15.5 says:

    cd tests/models/seq2seq && PYTHON_OF_1.15 seq2seq_programs.py > expected_seq2seq_1_15.json
"""

import json
import os
import sys

import numpy as np

try:
    from tests.models.rnn import recurrent_programs as recurrent
    from tests.models.seq2seq import tagger, translation
except ImportError:  # another Python runs this file, by its path
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rnn"))
    import recurrent_programs as recurrent
    import tagger
    import translation

check, lines = recurrent.check, recurrent.lines

# One expression a line, each in a graph of its own; see `environment`.
ATTENTION = """
attend(s2s.BahdanauAttention(4, memory, [3, 1]))
attend(s2s.BahdanauAttention(4, memory, normalize=True), attention_layer_size=6)
attend(s2s.BahdanauAttention(4, memory, tf.constant([3, 1]), probability_fn=s2s.hardmax, name="B"))
attend(s2s.LuongAttention(3, memory, [3, 1]), attention_layer_size=6, name="mine")
attend(s2s.LuongAttention(3, memory, [3, 1], scale=True), output_attention=False)
attend(s2s.LuongAttention(3, memory, [3, 1], score_mask_value=-2.0), cell_input_fn=sums)
attend(s2s.LuongAttention(3, unknown, tf.placeholder_with_default([3, 1], [None])))
attend(s2s.BahdanauMonotonicAttention(4, memory, [3, 2]))
attend(s2s.BahdanauMonotonicAttention(4, memory, normalize=True, score_bias_init=-1.0), 6)
attend(s2s.LuongMonotonicAttention(3, memory, [3, 1], mode="recursive"), 6)
attend(s2s.LuongMonotonicAttention(3, memory, [3, 2], scale=True, mode="hard"), 6)
attend([s2s.LuongAttention(3, memory), s2s.BahdanauAttention(4, memory)], [5, 4])
attend([s2s.LuongAttention(3, memory), s2s.LuongAttention(3, memory)])
attend(s2s.LuongAttention(3, memory), attention_layer=tf.layers.Dense(5, name="own"))
attend(s2s.LuongAttention(3, memory), attention_fn=mine)
tf.nn.dynamic_rnn(around(s2s.LuongAttention(3, memory), 4), wave, [4, 2], dtype=tf.float32)
[str(around(luong(), 4).state_size), around(luong()).output_size]
str(around([s2s.LuongAttention(3, memory)], [4], alignment_history=True).state_size)
list(around(luong(), 4).zero_state(2, tf.float32).clone(attention=wave[:, 0, :4]))
history(around(s2s.LuongAttention(3, memory), 4, alignment_history=True))
s2s.hardmax(wave)
s2s.safe_cumprod(tf.nn.sigmoid(wave), axis=1, exclusive=True)
s2s.monotonic_attention(tf.nn.sigmoid(wave[0]), tf.nn.softmax(wave[1]), "parallel")
s2s.monotonic_attention(tf.nn.sigmoid(wave[0]), tf.nn.softmax(wave[1]), "recursive")
s2s.monotonic_attention(tf.round(tf.nn.sigmoid(wave[0])), tf.nn.softmax(wave[1]), "hard")
"""

DECODING = """
decode(s2s.TrainingHelper(wave, [4, 2]))
decode(s2s.TrainingHelper(wave, [4, 2]), output_layer=tf.layers.Dense(5), impute_finished=True)
decode(s2s.TrainingHelper(wave, [2, 0]), maximum_iterations=3, scope="mine")
decode(s2s.TrainingHelper(wave, [2, 2, 1, 0], time_major=True), output_time_major=True)
decode(s2s.TrainingHelper(wave, [4, 3]), maximum_iterations=tf.constant(2), impute_finished=True)
decode(s2s.TrainingHelper(wave, [4, 2]), lstm, impute_finished=True)
decode(s2s.TrainingHelper(wave, [4, 2]), attending, output_layer=tf.layers.Dense(5))
decode(s2s.GreedyEmbeddingHelper(table, [1, 2], 4), output_layer=words(), maximum_iterations=6)
decode(s2s.GreedyEmbeddingHelper(table, [1, 1], 3), attending, words(), maximum_iterations=5)
decode(s2s.GreedyEmbeddingHelper(lambda i: tf.one_hot(i, 3), [1, 2], 0), maximum_iterations=4)
decode(s2s.GreedyEmbeddingHelper(table, [1, 2], 4), output_layer=words(), maximum_iterations=0)
decode(s2s.InferenceHelper(lambda o: o, [3], tf.float32, tf.ones([2, 3]), \
lambda s: s[:, 0] > 0.3), maximum_iterations=4)
decode(s2s.InferenceHelper(lambda o: o > 0.0, [3], tf.bool, tf.ones([2, 3]), lambda s: s[:, 0], \
lambda s: tf.cast(s, tf.float32)), maximum_iterations=4)[2]
decode(custom(), output_layer=words(), maximum_iterations=4)
decode(s2s.ScheduledEmbeddingTrainingHelper(wave, [4, 2], table, 0.0), output_layer=words())
decode(s2s.ScheduledOutputTrainingHelper(wave[:, :, :3], [4, 2], 1.0))[0].rnn_output
decode(s2s.ScheduledOutputTrainingHelper(wave, [4, 2], 1.0, auxiliary_inputs=wave * 2, \
next_inputs_fn=lambda o: tf.concat([o, -o, o], 1)[:, :5]))[0].rnn_output
beams()
beams(length_penalty_weight=0.7)
beams(length_penalty_weight=1.0, coverage_penalty_weight=0.4)
beams(cells.GRUCell(3))
beams(cells.MultiRNNCell([cells.GRUCell(2), cells.BasicLSTMCell(3)]), length_penalty_weight=0.5)
renamed(beams(start=tf.placeholder_with_default([1, 2], [None]), alignment_history=True))
beams(alignment_history=True, reorder_tensor_arrays=False)
s2s.tile_batch({"a": wave, "b": [tf.constant([1, 2])]}, 3)["a"]
s2s.tile_batch(cells.LSTMStateTuple(wave[:, 0], wave[:, 1]), 2, name="tiled")
s2s.gather_tree([[[1, 2]], [[3, 4]], [[5, 6]]], [[[0, 0]], [[1, 0]], [[1, 1]]], [3], 9)
s2s.sequence_loss(decode(s2s.TrainingHelper(wave, [4, 2]), output_layer=words())[0].rnn_output, \
tf.constant([[0, 1, 2, 3], [4, 3, 2, 1]]), tf.sequence_mask([4, 2], 4, tf.float32))
[reused(reuse) for reuse in (False, True)]
"""

DECODING_ERRORS = """
s2s.AttentionWrapper(None, s2s.LuongAttention(3, memory))
s2s.AttentionWrapper(cells.GRUCell(3), None)
s2s.AttentionWrapper(cells.GRUCell(3), [None])
s2s.AttentionWrapper(cells.GRUCell(3), s2s.LuongAttention(3, memory), cell_input_fn=3)
s2s.AttentionWrapper(cells.GRUCell(3), s2s.LuongAttention(3, memory), [4, 4])
s2s.AttentionWrapper(cells.GRUCell(3), s2s.LuongAttention(3, memory), 4, attention_layer=words())
around(s2s.LuongAttention(3, memory))(wave[:, 0], tf.zeros([2, 3]))
around(s2s.LuongAttention(3, memory)).zero_state(6, tf.float32)
around(s2s.LuongAttention(3, memory)).zero_state(2, tf.float32).clone(attention=tf.zeros([2, 9]))
attend(s2s.LuongAttention(5, memory))
attend(s2s.BahdanauAttention(4, memory, [0, 1]))
s2s.monotonic_attention(wave[0], wave[1], "soft")
s2s.tile_batch(tf.constant(1), 2)
s2s.tile_batch(tf.placeholder(tf.float32), 2)
s2s.dynamic_decode(None)
s2s.dynamic_decode(cells.GRUCell(3))
decode(s2s.TrainingHelper(wave, [4, 2]), maximum_iterations=[1, 2])
decode(s2s.TrainingHelper(wave, 4))
decode(s2s.GreedyEmbeddingHelper(table, 1, 4))
decode(s2s.GreedyEmbeddingHelper(table, [1, 2], [4]))
decode(s2s.ScheduledEmbeddingTrainingHelper(wave, [4, 2], table, [[0.5]]))
decode(s2s.ScheduledOutputTrainingHelper(wave, [4, 2], 0.5, next_inputs_fn=3))
s2s.BasicDecoder(None, s2s.TrainingHelper(wave, [4, 2]), None)
s2s.BasicDecoder(cells.GRUCell(3), None, None)
s2s.BasicDecoder(cells.GRUCell(3), s2s.TrainingHelper(wave, [4, 2]), None, 3)
s2s.BeamSearchDecoder(cells.GRUCell(3), table, 1, 0, tf.zeros([6, 3]), 3)
s2s.BeamSearchDecoder(cells.GRUCell(3), table, [1, 2], [0], tf.zeros([6, 3]), 3)
beams(cells.GRUCell(3), coverage_penalty_weight=0.4)
s2s.CustomHelper(None, None, None).batch_size
s2s.gather_tree([[[1, 2]], [[3, 4]]], [[[0, 0]], [[-1, 0]]], [2], 9)
"""

LEGACY = """
legacy.rnn_decoder(steps, first, cells.GRUCell(3))
legacy.rnn_decoder(steps, first, cells.GRUCell(3), lambda previous, step: again(previous) * step)
legacy.basic_rnn_seq2seq(steps, steps[:2], cells.GRUCell(3))
legacy.basic_rnn_seq2seq(steps, steps[:2], cells.MultiRNNCell([cells.GRUCell(3) for _ in "ab"]))
legacy.tied_rnn_seq2seq(steps, steps[:2], cells.BasicLSTMCell(3), scope="mine")
legacy.attention_decoder(steps[:2], first, wave, cells.GRUCell(3), 4, num_heads=2)
legacy.attention_decoder(steps[:2], cells.LSTMStateTuple(first, first + 1), wave, \
cells.BasicLSTMCell(3), initial_state_attention=True, \
loop_function=lambda previous, _: again(previous))
legacy.embedding_rnn_decoder(ids, first, cells.GRUCell(3), 4, 2, projection, True)
legacy.embedding_rnn_decoder(ids, first, cells.GRUCell(3), 4, 2, projection, True, False)
legacy.embedding_attention_decoder(ids, first, wave, cells.GRUCell(3), 4, 2, output_size=4, \
feed_previous=True)
legacy.embedding_rnn_seq2seq(ids, ids[:2], cells.GRUCell(3), 4, 5, 2)
legacy.embedding_rnn_seq2seq(ids, ids[:2], cells.BasicLSTMCell(3), 4, 5, 2, feed_previous=yes)
legacy.embedding_tied_rnn_seq2seq(ids, ids[:2], cells.GRUCell(3), 4, 2, feed_previous=True)
legacy.embedding_tied_rnn_seq2seq(ids, ids[:2], cells.GRUCell(3), 4, 2, 3, feed_previous=yes)
legacy.embedding_attention_seq2seq(ids, ids[:2], cells.GRUCell(3), 4, 5, 2, num_heads=2)
legacy.embedding_attention_seq2seq(ids, ids[:2], cells.BasicLSTMCell(3), 4, 5, 2, feed_previous=no)
legacy.embedding_attention_seq2seq(ids, ids[:2], cells.GRUCell(3), 4, 5, 2, 1, \
(table[:3], table[0]), True, initial_state_attention=True)
many(False)
many(yes)
legacy.model_with_buckets(ids, ids, ids, ones, [(1, 1), (3, 2)], translated)
legacy.model_with_buckets(ids, ids, ids, ones, [(1, 1), (3, 2)], translated, \
per_example_loss=True, name="mine")[1]
legacy.attention_decoder([], first, wave, cells.GRUCell(3))
legacy.attention_decoder(steps, first, wave, cells.GRUCell(3), num_heads=0)
legacy.attention_decoder(steps, first, tf.placeholder(tf.float32, [2, 3, None]), cells.GRUCell(3))
legacy.embedding_rnn_decoder(ids, first, cells.GRUCell(3), 4, 2, (table, table[0]), True)
legacy.model_with_buckets(ids, ids, ids, ones, [(4, 4)], translated)
"""

TAGGERS = """
crf.crf_log_likelihood(potentials, tags, ends(4, 2))
crf.crf_log_likelihood(potentials, tags, tf.constant([0, 3], tf.int64), moves)[0]
crf.crf_log_likelihood(potentials[:, :1], tags[:, :1], ends(1, 0), moves)[0]
tf.reduce_sum(crf.crf_log_likelihood(unknown_potentials, unknown_tags, ends(4, 3), moves)[0])
tf.reduce_sum(crf.crf_log_likelihood(unknown_potentials[:, 1:2], unknown_tags[:, :1], ends(1, 1), \
moves)[0])
crf.crf_sequence_score(potentials, tags, ends(4, 2), moves)
crf.crf_unary_score(tags, ends(4, 2), potentials)
crf.crf_binary_score(tags, ends(4, 2), moves)
crf.crf_log_norm(potentials, ends(4, 0), moves)
crf.crf_multitag_sequence_score(potentials, potentials > -0.2, ends(4, 2), moves)
crf.crf_multitag_sequence_score(potentials[:, :1], potentials[:, :1] > -0.2, ends(1, 0), moves)
crf.crf_decode(potentials, moves, ends(4, 2))
crf.crf_decode(potentials, moves * 0, ends(1, 0))
crf.crf_decode(potentials, tf.get_variable("moves", [5] * 2), tf.constant([3, 4], tf.int64))[1]
crf.crf_decode(potentials[:, :1], moves, ends(1, 1))
crf.crf_decode(unknown_potentials, moves, ends(4, 3))
crf.crf_decode(unknown_potentials[:, 2:3], moves, ends(1, 1))
[tf.constant(each, tf.float32) for each in crf.viterbi_decode(WAVE[0] * 2, MOVES)]
"""

CELLS = """
once(rnn.LSTMBlockCell(3))
once(rnn.LSTMBlockCell(3, 0.5, 0.1, use_peephole=True, name="mine"))
once(rnn.GRUBlockCell(3))
once(rnn.GRUBlockCellV2(cell_size=3))
once(rnn.LayerNormBasicLSTMCell(3))
once(rnn.LayerNormBasicLSTMCell(3, 0.5, norm_gain=0.7, norm_shift=0.1, activation=tf.nn.relu))
once(rnn.LayerNormBasicLSTMCell(3, layer_norm=False))
once(rnn.LayerNormBasicLSTMCell(3, dropout_keep_prob=0.5), False)
once(rnn.AttentionCellWrapper(cells.GRUCell(3), 4))
once(rnn.AttentionCellWrapper(cells.BasicLSTMCell(3), 2, 5, 2, input_size=3))
once(rnn.AttentionCellWrapper(cells.GRUCell(3), 2, state_is_tuple=False))
once(rnn.HighwayWrapper(cells.GRUCell(2)))
once(rnn.HighwayWrapper(cells.BasicLSTMCell(2), False, 0.5))
once(rnn.UGRNNCell(3, forget_bias=0.5, activation=tf.nn.relu))
once(rnn.IntersectionRNNCell(3, num_in_proj=3))
once(rnn.IntersectionRNNCell(2))
once(rnn.NASCell(3))
once(rnn.NASCell(3, num_proj=2, use_bias=True))
once(rnn.CoupledInputForgetGateLSTMCell(3))
once(rnn.CoupledInputForgetGateLSTMCell(3, True, None, 2, 0.05, state_is_tuple=False))
once(rnn.CoupledInputForgetGateLSTMCell(3, True, layer_norm=True, norm_gain=0.8))
once(rnn.GLSTMCell(4, number_of_groups=2))
once(rnn.GLSTMCell(6, num_proj=4, number_of_groups=2, forget_bias=0.5))
once(rnn.SRUCell(3))
once(rnn.IndRNNCell(3), False)
given(rnn.IndRNNCell(3, tf.nn.relu))
given(rnn.IndyGRUCell(3))
given(rnn.IndyLSTMCell(3, 0.5))
given(rnn.PhasedLSTMCell(3), (wave[:, 0, :1] * 3, wave[:, 1]))
given(rnn.PhasedLSTMCell(3, True, 0.2, 0.9), (wave[:, 0, :1] * 3, wave[:, 1]))
convolved(rnn.Conv1DLSTMCell(input_shape=[5, 1], output_channels=2, kernel_shape=[3]))
convolved(rnn.Conv2DLSTMCell(input_shape=[4, 5, 1], output_channels=2, kernel_shape=[3, 2], \
use_bias=False, skip_connection=True))
convolved(rnn.ConvLSTMCell(3, [2, 2, 5, 1], 2, [1, 2, 3], forget_bias=0.5, name="mine"))
tf.nn.dynamic_rnn(rnn.LSTMBlockCell(3), wave, [4, 2], dtype=tf.float32)
tf.nn.dynamic_rnn(rnn.GRUBlockCellV2(3), wave, dtype=tf.float32)
tf.nn.dynamic_rnn(rnn.Conv1DLSTMCell(input_shape=[5, 1], output_channels=2, kernel_shape=[3]), \
tf.expand_dims(wave, 3), dtype=tf.float32)
rnn.LSTMBlockFusedCell(3)(wave, dtype=tf.float32)
rnn.LSTMBlockFusedCell(3, 0.5, 0.2, True)(wave, dtype=tf.float32, sequence_length=[2, 1, 0, 2])
rnn.LSTMBlockFusedCell(3, name="mine")([wave[0], wave[1]], (wave[0, :, :3], wave[1, :, :3]))
rnn.LSTMBlockFusedCell(3)(unknown, None, tf.float32, tf.placeholder_with_default([2, 1, 1], [None]))
rnn.FusedRNNCellAdaptor(cells.GRUCell(3))(wave, dtype=tf.float32)
rnn.FusedRNNCellAdaptor(cells.GRUCell(3), True)(wave, None, tf.float32, [2, 1, 0, 2])
rnn.TimeReversedFusedRNN(rnn.LSTMBlockFusedCell(3))(wave, dtype=tf.float32)
rnn.TimeReversedFusedRNN(rnn.LSTMBlockFusedCell(3))(wave, None, tf.float32, [2, 1, 1, 2])
once(tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell(3))
once(tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell(3))
str([rnn.NASCell(3, 2).state_size, rnn.AttentionCellWrapper(cells.GRUCell(3), 4).state_size])
rnn.GRUBlockCell()
rnn.GLSTMCell(5, number_of_groups=2)
rnn.AttentionCellWrapper(cells.BasicLSTMCell(3), 4, state_is_tuple=False)
rnn.AttentionCellWrapper(cells.BasicLSTMCell(3), 0)
rnn.Conv2DLSTMCell(input_shape=[5, 2], output_channels=3, kernel_shape=[3, 2])
once(rnn.IntersectionRNNCell(3))
rnn.LSTMBlockFusedCell(3)(wave)
rnn.LSTMBlockFusedCell(3)(wave[0], dtype=tf.float32)
"""

TABLES = {
    "cells": CELLS,
    "taggers": TAGGERS,
    "attention": ATTENTION, "decoding": DECODING, "decoding_errors": DECODING_ERRORS,
    "legacy": LEGACY,
}  # fmt: skip
WAVE = (np.arange(40) * 3 % 11 / 5 - 0.9).astype(np.float32).reshape(2, 4, 5)


def environment(tf):
    """Return the names that expressions use."""
    cells, s2s = tf.nn.rnn_cell, tf.contrib.seq2seq
    wave = tf.constant(WAVE, name="wave")
    memory = tf.constant(WAVE[:, :3] * 0.7, name="memory")
    legacy = tf.contrib.legacy_seq2seq
    ids = [tf.constant(each) for each in ([0, 3], [1, 2], [2, 0])]
    table = tf.constant(WAVE.reshape(-1, 5)[:5] * 0.5, name="table")

    def around(mechanism, *arguments, **options):
        return s2s.AttentionWrapper(cells.BasicLSTMCell(3), mechanism, *arguments, **options)

    def attend(*arguments, **options):
        cell = around(*arguments, **options)
        return list(cell(wave[:, 0], cell.zero_state(2, tf.float32)))

    def mine(mechanism, output, state, layer):
        alignments, after = mechanism(output, state)
        return tf.reduce_sum(tf.expand_dims(alignments, 2) * mechanism.values, 1), alignments, after

    def history(cell):
        state = cell.zero_state(2, tf.float32)
        for step in range(3):
            with tf.variable_scope("all", reuse=step > 0):
                _, state = cell(wave[:, step], state)
        return state.alignment_history.stack()

    def attending():
        return around(s2s.LuongAttention(3, memory, [3, 2]), 3, alignment_history=False)

    def decode(helper, cell=None, output_layer=None, **options):
        cell = cells.GRUCell(3) if cell is None else cell()
        size = options.pop("size", 2 if "output_time_major" not in options else 4)
        state = cell.zero_state(size, tf.float32)
        decoder = s2s.BasicDecoder(cell, helper, state, output_layer)
        return s2s.dynamic_decode(decoder, **options)

    def custom():
        return s2s.CustomHelper(
            lambda: (tf.constant([False, False]), wave[:, 0]),
            lambda time, outputs, state: tf.cast(tf.argmax(outputs, 1), tf.int32),
            lambda time, outputs, state, sample_ids: (
                tf.equal(sample_ids, time), tf.gather(table, sample_ids), state * 0.5
            ),
        )  # fmt: skip

    def beams(cell=None, start=None, alignment_history=False, **options):
        if cell is None:
            tiled = s2s.tile_batch(memory, 3)
            attention = s2s.LuongAttention(3, tiled, s2s.tile_batch(tf.constant([3, 2]), 3))
            cell = around(attention, 3, alignment_history=alignment_history)
        decoder = s2s.BeamSearchDecoder(
            cell, table, [1, 2] if start is None else start, 0, cell.zero_state(6, tf.float32), 3,
            words(), **options
        )  # fmt: skip
        outputs, state, lengths = s2s.dynamic_decode(decoder, maximum_iterations=5)
        if alignment_history:
            kept = state.cell_state.alignment_history
            kept = kept.stack() if hasattr(kept, "stack") else kept
            return [outputs.predicted_ids, kept]
        told = [*outputs, list(state)[1:], lengths]
        return [each for each in recurrent.flat(told) if each.dtype != tf.bool]

    def many(feeds):
        return [
            [made[name] for name in "ab"]
            for made in legacy.one2many_rnn_seq2seq(
                ids, {"a": ids[:1], "b": ids[1:]}, cells.GRUCell(3),
                {"a": cells.GRUCell(3), "b": cells.GRUCell(3)}, 4, {"a": 4, "b": 5}, 2, feeds,
            )
        ]  # fmt: skip

    def translated(read, said):
        return legacy.embedding_rnn_seq2seq(read, said, cells.GRUCell(3), 4, 4, 2)

    def given(cell, inputs=None):
        """All variables are positive, also those that are random by themselves."""

        def get(getter, name, *arguments, **options):
            shape = arguments[0] if arguments else options.pop("shape")
            count = int(np.prod(shape))
            start = tf.constant(np.cos(np.arange(count)).reshape(shape) / 3 + 0.6, tf.float32)
            options.update(initializer=start, dtype=tf.float32)
            return getter(name, None, **options)

        with tf.variable_scope(tf.get_variable_scope(), custom_getter=get):
            state = cell.zero_state(2, tf.float32)
            return cell(wave[:, 0] if inputs is None else inputs, state)

    def convolved(cell):
        sizes = cell.output_size.as_list()[:-1]
        image = tf.reshape(tf.tile(wave, [1, 1, 2]), [-1])[: 2 * int(np.prod(sizes))]
        image = tf.reshape(image, [2, *sizes, 1])
        with tf.variable_scope(tf.get_variable_scope(), initializer=recurrent.waves(tf)):
            return cell(image, cell.zero_state(2, tf.float32))

    def words():
        return tf.layers.Dense(5)

    def reused(reuse):
        with tf.variable_scope("decode", reuse=reuse):
            helper = s2s.TrainingHelper(wave, [4, 2])
            if reuse:
                helper = s2s.GreedyEmbeddingHelper(table, [1, 2], 4)
            layer = tf.layers.Dense(5, name="out")
            return decode(helper, attending, layer, maximum_iterations=3)

    words_told = [[0, 2, 4, 1], [3, 3, 2, 0]]
    return dict(
        recurrent.environment(tf), s2s=s2s, rnn=tf.contrib.rnn, crf=tf.contrib.crf, legacy=legacy,
        WAVE=WAVE, MOVES=WAVE.reshape(-1, 5)[:5], wave=wave, memory=memory, table=table,
        steps=[wave[:, step] for step in range(3)], first=wave[:, 3, :3], potentials=wave,
        moves=table * 3, tags=tf.constant(words_told), ids=ids, ones=[tf.ones([2])] * 3,
        projection=(table[:3, :4], table[0, :4]), ends=lambda *ends: tf.constant(ends),
        unknown=tf.placeholder_with_default(WAVE[:, :3], [None, None, 5]),
        unknown_potentials=tf.placeholder_with_default(WAVE, [None, None, 5]),
        unknown_tags=tf.placeholder_with_default(words_told, [None, None]),
        yes=tf.placeholder_with_default(True, []), no=tf.placeholder_with_default(False, []),
        around=around, attend=attend, mine=mine, history=history, decode=decode, custom=custom,
        beams=beams, attending=attending, words=words, reused=reused, many=many, given=given,
        translated=translated, convolved=convolved, lstm=lambda: cells.BasicLSTMCell(3),
        luong=lambda: s2s.LuongAttention(3, memory),
        sums=lambda inputs, attention: inputs + attention,
        again=lambda previous: tf.concat([previous, previous[:, :2]], 1),
    )  # fmt: skip


def outcome(tf, line):
    """Return what an expression gives: names, shapes, variables, values, gradients, or an error."""
    return recurrent.outcome(tf, line, environment)


if __name__ == "__main__":
    import tensorflow

    if sys.argv[1:]:
        TABLES = {name: TABLES[name] for name in sys.argv[1:]}
    tensorflow.logging.set_verbosity(tensorflow.logging.ERROR)
    said = {
        name: {line: outcome(tensorflow, line) for line in lines(text)}
        for name, text in TABLES.items()
    }
    said.update(translation=translation.run(tensorflow), tagger=tagger.run(tensorflow))
    json.dump(said, sys.stdout, indent=0)
