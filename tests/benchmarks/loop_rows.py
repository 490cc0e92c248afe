"""The programs with loops that are measured; see `rows`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from timed import Timed, initialised, running, start

STEPS, BATCH, UNITS = 100, 32, 64


def counting(tf: Any) -> Timed:
    """A loop of 10,000 rounds over a scalar."""
    with tf.Graph().as_default():
        limit = tf.placeholder(tf.int32, [])
        end = tf.while_loop(lambda i: i < limit, lambda i: i + 1, [tf.constant(0)])
        return running(initialised(tf), end, {limit: 10_000})


def mapping(tf: Any) -> Timed:
    """`map_fn` over 1,000 scalars."""
    with tf.Graph().as_default():
        elements = tf.placeholder(tf.float32, [1_000])
        mapped = tf.map_fn(lambda x: x * 2.0 + 1.0, elements)
        return running(initialised(tf), mapped, {elements: np.ones(1_000, np.float32)})


def recurrent(dynamic: bool, train: bool) -> Callable[[Any], Timed]:
    """A recurrent cell of 100 steps, as one loop or step by step in the graph."""

    def program(tf: Any) -> Timed:
        with tf.Graph().as_default():
            inputs = tf.placeholder(tf.float32, [STEPS, BATCH, UNITS])
            cell = make_cell(tf)
            outputs = in_a_loop(tf, cell, inputs) if dynamic else unrolled(tf, cell, inputs)
            loss = tf.reduce_mean(tf.square(outputs))
            if train:
                loss = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
            values = np.random.RandomState(0).randn(STEPS, BATCH, UNITS).astype(np.float32)
            return running(initialised(tf), loss, {inputs: values})

    return program


def make_cell(tf: Any) -> Callable[[Any, Any], Any]:
    """Return a function from (input, state) to the next state."""
    random = np.random.RandomState(1)
    first, second = [
        tf.Variable((random.randn(UNITS, UNITS) * 0.1).astype(np.float32)) for _ in range(2)
    ]
    bias = tf.Variable(tf.zeros([UNITS]))
    return lambda x, state: tf.tanh(tf.matmul(x, first) + tf.matmul(state, second) + bias)


def unrolled(tf: Any, cell: Callable[[Any, Any], Any], inputs: Any) -> Any:
    """Return all states of a cell, each made by nodes of its own."""
    states = [tf.zeros([BATCH, UNITS])]
    for x in tf.unstack(inputs):
        states.append(cell(x, states[-1]))
    return tf.stack(states[1:])


def in_a_loop(tf: Any, cell: Callable[[Any, Any], Any], inputs: Any) -> Any:
    """Return the same, made by a loop."""
    given = tf.TensorArray(tf.float32, STEPS).unstack(inputs)

    def body(i: Any, state: Any, results: Any) -> Any:
        state = cell(given.read(i), state)
        return i + 1, state, results.write(i, state)

    first = (tf.constant(0), tf.zeros([BATCH, UNITS]), tf.TensorArray(tf.float32, STEPS))
    return tf.while_loop(lambda i, *_: i < STEPS, body, first)[2].stack()


def crossing(tf: Any, here: int | None = None) -> Timed:
    """A loop of 100 rounds whose body is on another task than its condition."""
    with tf.Graph().as_default():
        servers = start(tf, {"worker": 2}, here)

        def body(i: Any, total: Any) -> Any:
            with tf.device("/job:worker/task:1"):
                return i + 1, total * 1.5

        with tf.device("/job:worker/task:0"):
            end = tf.while_loop(lambda i, _: i < 100, body, (tf.constant(0), tf.constant(1.0)))
        return running(initialised(tf, servers), end, None, servers)


LOOPS: dict[str, Callable[[Any], Timed]] = {
    "loop of 10,000 rounds": counting,
    "map_fn over 1,000": mapping,
    "recurrent cell, unrolled": recurrent(dynamic=False, train=False),
    "recurrent cell, loop": recurrent(dynamic=True, train=False),
    "recurrent training, unrolled": recurrent(dynamic=False, train=True),
    "recurrent training, loop": recurrent(dynamic=True, train=True),
    "loop over two tasks": crossing,
}
