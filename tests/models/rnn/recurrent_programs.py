"""Recurrent networks that real TensorFlow and ours make: names, shapes, values, gradients.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. To store what 1.15.5 says:

    cd tests/models/rnn && PYTHON_OF_1.15 recurrent_programs.py > expected_recurrent_1_15.json
"""

import json
import sys

import numpy as np

# One expression a line, each in a graph of its own; see `environment`.
CELLS = """
once(cells.BasicRNNCell(3))
once(cells.BasicRNNCell(3, "relu", name="mine", dtype=tf.float32))
once(cells.BasicLSTMCell(3))
once(cells.BasicLSTMCell(3, 0.5, state_is_tuple=False, activation=tf.sigmoid))
once(cells.GRUCell(3))
once(cells.GRUCell(3, tf.nn.relu, kernel_initializer=ones, bias_initializer=ones))
once(cells.LSTMCell(3))
once(cells.LSTMCell(3, initializer=ones, forget_bias=0.0, activation=tf.nn.relu))
once(cells.LSTMCell(3, use_peepholes=True, cell_clip=0.1, num_proj=2, proj_clip=0.05))
once(cells.LSTMCell(3, num_proj=2, state_is_tuple=False, initializer=ones))
once(cells.MultiRNNCell([cells.BasicLSTMCell(3), cells.GRUCell(2)]))
once(cells.MultiRNNCell([cells.GRUCell(3), cells.GRUCell(2)], state_is_tuple=False))
once(cells.DropoutWrapper(cells.GRUCell(3), input_keep_prob=1.0))
once(cells.DropoutWrapper(cells.BasicLSTMCell(3), 0.5, 0.5, 0.5), False)
once(cells.DropoutWrapper(cells.GRUCell(3), 0.5, 0.5, 0.5, True, 2, tf.float32), False)
once(cells.DropoutWrapper(cells.GRUCell(3), output_keep_prob=tf.placeholder(tf.float32)), False)
once(cells.ResidualWrapper(cells.GRUCell(2)))
once(cells.ResidualWrapper(cells.GRUCell(3), lambda i, o: tf.concat([i, o], 1)))
once(cells.DeviceWrapper(cells.GRUCell(3), "/cpu:0"))
once(cells.DropoutWrapper(cells.ResidualWrapper(cells.BasicRNNCell(2)), state_keep_prob=1))
once(tf.contrib.rnn.InputProjectionWrapper(cells.GRUCell(3), 4, tf.nn.relu))
once(tf.contrib.rnn.OutputProjectionWrapper(cells.GRUCell(3), 4))
once(tf.contrib.rnn.EmbeddingWrapper(cells.GRUCell(3), 4, 2), True, tf.constant([3, 0]))
once(tf.contrib.rnn.LSTMBlockCell(3))
once(Mine(3))
once(Old(3))
once(Both(3))
[once(cells.GRUCell(3)), once(cells.GRUCell(3))]
[within("a", lambda: once(cells.GRUCell(3)), reuse=reuse) for reuse in (False, True)]
[within("a", lambda: once(cells.GRUCell(3)), reuse=tf.AUTO_REUSE) for _ in range(2)]
[within("a", lambda: once(Mine(3)), reuse=reuse) for reuse in (False, True)]
[once(cells.BasicLSTMCell(3, reuse=reuse, name="c")) for reuse in (None, True)]
[within("a", lambda: once(cells.BasicLSTMCell(3))) for _ in range(2)]
[cells.GRUCell(3)(x, tf.zeros([2, 3]), scope="gru"), tf.global_variables()]
[cells.GRUCell(3)(x, tf.zeros([2, 3]), "gru"), tf.global_variables()]
cells.BasicLSTMCell(3).zero_state(2, tf.float64)
cells.MultiRNNCell([cells.BasicLSTMCell(3)]).zero_state(tf.constant(2), tf.float32)
cells.DropoutWrapper(cells.GRUCell(3)).zero_state(2, tf.float32)
cells.GRUCell(3).get_initial_state(x)
[str(cells.LSTMCell(3, num_proj=2).state_size), cells.MultiRNNCell([cells.GRUCell(3)]).output_size]
str([cells.BasicLSTMCell(3, state_is_tuple=False).state_size, cells.LSTMStateTuple(1, 2)])
once(cells.MultiRNNCell([cells.GRUCell(2)] * 2))
"""

NETWORKS = """
tf.nn.dynamic_rnn(cells.BasicLSTMCell(3), wave, dtype=tf.float32)
tf.nn.dynamic_rnn(cells.GRUCell(3), wave, [4, 1, 3], dtype=tf.float32)
tf.nn.dynamic_rnn(cells.GRUCell(3), wave, [0, 1, 3], dtype=tf.float32, swap_memory=True)
tf.nn.dynamic_rnn(cells.GRUCell(3), wave, initial_state=tf.ones([3, 3]), parallel_iterations=1)
tf.nn.dynamic_rnn(cells.GRUCell(3), wave, tf.constant([2, 4, 3, 1], tf.int64), time_major=True, \
dtype=tf.float32, scope="mine")
tf.nn.dynamic_rnn(stacked(), wave, dtype=tf.float32)
tf.nn.dynamic_rnn(stacked(), wave, [4, 2, 1], dtype=tf.float32)
tf.nn.dynamic_rnn(stacked(), unknown, ends, dtype=tf.float32)[0][:, 3]
tf.nn.dynamic_rnn(Mine(3), wave, dtype=tf.float32)
tf.nn.dynamic_rnn(Old(3), wave, dtype=tf.float32)
tf.nn.dynamic_rnn(Both(3), (wave, wave * 2), [3, 4, 2], dtype=tf.float32)
tf.nn.dynamic_rnn(cells.DropoutWrapper(cells.GRUCell(3), 1.0, 1.0), wave, dtype=tf.float32)
tf.nn.dynamic_rnn(cells.GRUCell(3), tf.cast(wave, tf.float64), dtype=tf.float64)
[tf.nn.dynamic_rnn(cells.GRUCell(3), wave, dtype=tf.float32, scope=s) for s in ("a", "b")]
[within("a", lambda: tf.nn.dynamic_rnn(cells.GRUCell(3), wave, dtype=tf.float32), reuse=r) \
for r in (False, True)]
tf.nn.static_rnn(cells.BasicLSTMCell(3), steps, dtype=tf.float32)
tf.nn.static_rnn(cells.GRUCell(3), steps, dtype=tf.float32, sequence_length=[2, 1, 0])
tf.nn.static_rnn(stacked(), steps, dtype=tf.float32, sequence_length=[2, 1, 2], scope="mine")
tf.nn.static_rnn(Mine(3), steps, initial_state=tf.ones([3, 3]))
tf.contrib.rnn.static_rnn(Old(3), steps, dtype=tf.float32)
loop(lambda cell: [cell.zero_state(3, tf.float32)], cells.BasicLSTMCell(3))
tf.nn.bidirectional_dynamic_rnn(cells.GRUCell(3), cells.GRUCell(2), wave, dtype=tf.float32)
tf.nn.bidirectional_dynamic_rnn(cells.GRUCell(3), cells.GRUCell(2), wave, [4, 2, 1], \
dtype=tf.float32, scope="mine")
tf.nn.bidirectional_dynamic_rnn(cells.GRUCell(3), cells.GRUCell(2), wave, dtype=tf.float32, \
time_major=True)
tf.nn.static_bidirectional_rnn(cells.GRUCell(3), cells.GRUCell(2), steps, dtype=tf.float32)
tf.nn.static_bidirectional_rnn(cells.GRUCell(3), cells.GRUCell(2), steps, dtype=tf.float32, \
sequence_length=[2, 1, 2])
tf.contrib.rnn.stack_bidirectional_dynamic_rnn(pair(), pair(), wave, dtype=tf.float32)
tf.contrib.rnn.stack_bidirectional_dynamic_rnn(pair(), pair(), wave, dtype=tf.float32, \
sequence_length=[4, 2, 1])
tf.contrib.rnn.stack_bidirectional_rnn(pair(), pair(), steps, dtype=tf.float32)
tf.nn.static_state_saving_rnn(cells.GRUCell(3), steps, Saver(), "s")
raw(cells.GRUCell(3))
raw(cells.BasicLSTMCell(3), tf.zeros([2]))
"""

LOSSES = """
tf.contrib.legacy_seq2seq.sequence_loss(logits, targets, weights)
tf.contrib.legacy_seq2seq.sequence_loss(logits, targets, weights, average_across_batch=False)
tf.contrib.legacy_seq2seq.sequence_loss_by_example(logits, targets, weights)
tf.contrib.legacy_seq2seq.sequence_loss_by_example(logits, targets, weights, False, squares)
tf.contrib.legacy_seq2seq.sequence_loss_by_example(logits[:1], targets, weights)
tf.contrib.seq2seq.sequence_loss(cube, ids, tf.constant(FLAT))
tf.contrib.seq2seq.sequence_loss(cube, ids, tf.constant(FLAT), average_across_batch=False, name="m")
tf.contrib.seq2seq.sequence_loss(cube, ids, tf.constant(FLAT), average_across_timesteps=False)
tf.contrib.seq2seq.sequence_loss(cube, ids, tf.constant(FLAT), False, False)
tf.contrib.seq2seq.sequence_loss(cube, ids, tf.constant(FLAT), False, False, True, True)
tf.contrib.seq2seq.sequence_loss(cube, ids, tf.constant(FLAT), False, False, True)
tf.contrib.seq2seq.sequence_loss(cube, ids, tf.constant(FLAT), False, False, False, True)
tf.contrib.seq2seq.sequence_loss(cube, ids, tf.constant(FLAT), False, True, True, False)
tf.contrib.seq2seq.sequence_loss(cube, ids, tf.constant(FLAT), True, True, True)
tf.contrib.seq2seq.sequence_loss(cube, ids, tf.constant(FLAT), softmax_loss_function=squares)
tf.contrib.seq2seq.sequence_loss(cube[0], ids, tf.constant(FLAT))
"""

ERRORS = """
tf.nn.dynamic_rnn(None, wave, dtype=tf.float32)
tf.nn.dynamic_rnn(cells.GRUCell, wave, dtype=tf.float32)
tf.nn.dynamic_rnn(cells.GRUCell(3), wave)
tf.nn.dynamic_rnn(cells.GRUCell(3), tf.placeholder(tf.float32, [3, 4, None]), dtype=tf.float32)
tf.nn.dynamic_rnn(cells.GRUCell(3), tf.ones([3]), dtype=tf.float32)
tf.nn.dynamic_rnn(cells.GRUCell(3), wave, [[1]], dtype=tf.float32)
tf.nn.dynamic_rnn(cells.GRUCell(3), wave, [1, 2], dtype=tf.float32)
tf.nn.dynamic_rnn(cells.GRUCell(3), wave, initial_state=tf.ones([3, 2]))
tf.nn.dynamic_rnn(cells.BasicLSTMCell(3), wave, initial_state=tf.ones([3, 3]))
tf.nn.static_rnn(cells.GRUCell(3), wave, dtype=tf.float32)
tf.nn.static_rnn(cells.GRUCell(3), [], dtype=tf.float32)
tf.nn.static_rnn(cells.GRUCell(3), steps)
tf.nn.static_rnn(None, steps, dtype=tf.float32)
tf.nn.static_rnn(cells.GRUCell(3), [x, steps[0]], dtype=tf.float32)
tf.nn.static_rnn(cells.GRUCell(3), [tf.placeholder(tf.float32, [2, None])], dtype=tf.float32)
tf.nn.static_rnn(cells.GRUCell(3), steps, dtype=tf.float32, sequence_length=1)
tf.nn.raw_rnn(cells.GRUCell(3), None)
tf.nn.bidirectional_dynamic_rnn(cells.GRUCell(3), None, wave, dtype=tf.float32)
tf.nn.static_bidirectional_rnn(cells.GRUCell(3), cells.GRUCell(3), [], dtype=tf.float32)
tf.contrib.rnn.stack_bidirectional_rnn(pair(), pair()[:1], steps, dtype=tf.float32)
cells.MultiRNNCell([])
cells.MultiRNNCell(cells.GRUCell(3))
cells.MultiRNNCell([cells.BasicLSTMCell(3)], state_is_tuple=False)
cells.MultiRNNCell([cells.GRUCell(3)])(x, tf.zeros([2, 3]))
cells.DropoutWrapper(cells.GRUCell(3), input_keep_prob=-0.5)
cells.DropoutWrapper(cells.GRUCell(3), output_keep_prob=1.5)
cells.DropoutWrapper(cells.GRUCell(3), state_keep_prob=tf.constant(2.0))
cells.DropoutWrapper(None)
cells.DropoutWrapper(cells.GRUCell(3), 0.5, variational_recurrent=True, input_size=2)
cells.DropoutWrapper(cells.GRUCell(3), 0.5, variational_recurrent=True, dtype=tf.float32)
cells.DropoutWrapper(cells.GRUCell(3), dropout_state_filter_visitor=1)
cells.ResidualWrapper(None)
once(cells.ResidualWrapper(cells.GRUCell(3)))
once(cells.GRUCell(3, activation="none"))
[once(cells.GRUCell(3, name="c")) for _ in range(2)]
cells.GRUCell(3, nothing=1)
cells.GRUCell(3).get_initial_state()
cells.GRUCell(3)(tf.placeholder(tf.float32), tf.zeros([2, 3]))
cells.GRUCell(3)(tf.ones([2, 2, 2]), tf.zeros([2, 3]))
cells.GRUCell(3)(tf.placeholder(tf.float32, [2, None]), tf.zeros([2, 3]))
cells.RNNCell().state_size
once(cells.MultiRNNCell([cells.GRUCell(3)] * 2))
"""

X = np.array([[0.5, -1.0], [1.5, 0.25]], np.float32)
WAVE = (np.arange(24) % 7 / 4 - 0.5).astype(np.float32).reshape(3, 4, 2)
CUBE = (np.arange(24) % 5 / 2 - 0.5).astype(np.float32).reshape(2, 3, 4)
FLAT = np.array([[1.0, 0.5, 0.0], [0.25, 2.0, 0.0]], np.float32)
TABLES = {"cells": CELLS, "networks": NETWORKS, "losses": LOSSES, "errors": ERRORS}


def lines(text):
    """Return the expressions in a table."""
    return text.strip().split("\n")


def waves(tf):
    """Return an initializer by which elements differ, but not from run to run."""

    def make(shape, dtype=None, partition_info=None):
        count = int(np.prod(shape))
        return tf.constant(np.sin(np.arange(count) + 0.5).reshape(shape) / 2, dtype)

    return make


def custom_cells(tf):
    """Return cells as users write them."""
    base = tf.nn.rnn_cell.RNNCell

    class Mine(base):
        """It overrides `call`, as from 1.2 on."""

        def __init__(self, units):
            super().__init__()
            self._units = units

        state_size = property(lambda self: self._units)
        output_size = property(lambda self: self._units)

        def call(self, inputs, state):
            weights = tf.get_variable("w", [inputs.shape[1] + self._units, self._units])
            output = tf.tanh(tf.matmul(tf.concat([inputs, state], 1), weights))
            return output, output

    class Old(base):
        """It overrides `__call__`, as before."""

        def __init__(self, units):
            self._units = units

        state_size = property(lambda self: self._units)
        output_size = property(lambda self: self._units)

        def __call__(self, inputs, state, scope=None):
            with tf.variable_scope(scope or type(self).__name__):
                weights = tf.get_variable("w", [inputs.get_shape()[1], self._units])
                output = tf.tanh(tf.matmul(inputs, weights) + state)
            return output, output

    class Both(base):
        """It takes and says two things, if it is given two."""

        def __init__(self, units):
            super().__init__()
            self._units = units

        state_size = property(lambda self: (self._units, tf.TensorShape([2, 1])))
        output_size = property(lambda self: (self._units, tf.TensorShape([2])))

        def call(self, inputs, state):
            first, second = inputs if isinstance(inputs, tuple) else (inputs, inputs)
            one = tf.layers.dense(first, self._units, kernel_initializer=tf.ones_initializer())
            after = (state[0] + one, state[1] + tf.expand_dims(second, 2))
            return (tf.sin(after[0]), tf.cos(after[1][:, :, 0])), after

    return {"Mine": Mine, "Old": Old, "Both": Both}


def environment(tf):
    """Return the names that expressions use."""
    cells = tf.nn.rnn_cell
    wave = tf.constant(WAVE, name="wave")
    scope = {"initializer": waves(tf)}

    def once(cell, is_told=True, given=X):
        with tf.variable_scope(tf.get_variable_scope(), **scope):
            made = cell(tf.constant(given) if given is X else given, cell.zero_state(2, tf.float32))
        return made if is_told else named(made)

    def renamed(made):
        return [tf.identity(each) for each in flat(made)]

    def within(name, make, **options):
        with tf.variable_scope(name, **options):
            return make()

    def loop(_, cell):
        state = cell.zero_state(3, tf.float32)
        outputs = []
        with tf.variable_scope("RNN"):
            for step in range(3):
                if step > 0:
                    tf.get_variable_scope().reuse_variables()
                output, state = cell(wave[:, step], state)
                outputs.append(output)
        return outputs, state

    def raw(cell, own=None):
        array = tf.TensorArray(tf.float32, 4).unstack(tf.transpose(wave, [1, 0, 2]))

        def say(time, output, state, mine):
            ended = time >= tf.constant([4, 2, 3])
            after = cell.zero_state(3, tf.float32) if output is None else state
            given = tf.cond(
                tf.reduce_all(ended), lambda: tf.zeros([3, 2]), lambda: array.read(time)
            )
            mine = own if own is None or mine is None else mine + 1.0
            return ended, given, after, output, mine

        outputs, state, mine = tf.nn.raw_rnn(cell, say)
        return [outputs.stack(), state] + ([] if mine is None else [mine])

    class Saver:
        def state(self, name):
            return tf.zeros([3, 3], name=name)

        def save_state(self, name, value):
            return tf.identity(value, name=name).op

    return dict(
        custom_cells(tf), tf=tf, cells=cells, once=once, renamed=renamed, within=within,
        x=tf.constant(X), wave=wave, ones=tf.ones_initializer(), loop=loop, raw=raw, Saver=Saver,
        ends=tf.placeholder_with_default([4, 2, 1], [None]),
        unknown=tf.placeholder_with_default(WAVE, [None, None, 2]),
        steps=[wave[:, 0], wave[:, 1]], cube=tf.constant(CUBE), FLAT=FLAT,
        stacked=lambda: cells.MultiRNNCell([cells.BasicLSTMCell(3), cells.GRUCell(2)]),
        pair=lambda: [cells.GRUCell(3), cells.GRUCell(2)],
        logits=[tf.constant(CUBE[:, k]) for k in range(3)],
        targets=[tf.constant([k, 3]) for k in range(3)],
        weights=[tf.constant(FLAT[:, k]) for k in range(3)], ids=tf.constant([[0, 1, 2], [3] * 3]),
        squares=lambda labels, logits: tf.reduce_sum(tf.square(logits), 1),
    )  # fmt: skip


def outcome(tf, line, surroundings=environment):
    """Return what an expression gives: names, shapes, variables, values, gradients, or an error."""
    with tf.Graph().as_default(), tf.Session() as session:
        names = surroundings(tf)
        try:
            with tf.variable_scope(tf.get_variable_scope(), initializer=waves(tf)):
                made = eval(line, names)
            fetched = [each for each in flat(made) if hasattr(each, "get_shape")]
            session.run(tf.global_variables_initializer())
            told = {"made": named(made), "values": [rounded(v) for v in session.run(fetched)]}
            told["variables"] = [[v.name, v.shape.as_list()] for v in tf.trainable_variables()]
            sources = [*tf.trainable_variables(), names["wave"], names["cube"]]
            slopes = [d for d in tf.gradients(fetched, sources) if d is not None] if fetched else []
            told["slopes"] = [
                rounded(v) for v in session.run(list(map(tf.convert_to_tensor, slopes)))
            ]
        except Exception as error:
            return {"error": type(error).__name__, "said": str(error).split("\n")[0]}
        return told


def check(found, expected):
    """Assert that an expression gave what it gives there."""
    expected = dict(expected)
    if "error" in expected:
        assert found.get("error") == expected["error"], found
        return
    assert "error" not in found, found
    for what in ("values", "slopes"):
        for ours, theirs in zip(found.pop(what), expected.pop(what), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=2e-3, atol=1e-5)
    assert json.loads(json.dumps(found)) == expected


def flat(made):
    """Return the leaves of nested results."""
    if isinstance(made, (list, tuple)):
        return [leaf for each in made for leaf in flat(each)]
    return [made]


def named(made):
    """Return results as text: the names, types and shapes of tensors."""
    if isinstance(made, (list, tuple)):
        return [named(each) for each in made]
    if not hasattr(made, "get_shape"):
        return made if isinstance(made, str) else repr(made)
    return [made.name, made.dtype.base_dtype.name, str(made.get_shape())]


def rounded(value):
    """Return numbers to five digits, after which sums in another order differ."""
    return [float(format(v, ".4g")) for v in np.asarray(value, float).reshape(-1)]


if __name__ == "__main__":
    import tensorflow

    tensorflow.logging.set_verbosity(tensorflow.logging.ERROR)
    said = {
        name: {line: outcome(tensorflow, line) for line in lines(text)}
        for name, text in TABLES.items()
    }
    json.dump(said, sys.stdout, indent=0)
