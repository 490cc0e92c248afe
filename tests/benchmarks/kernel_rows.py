"""The ten kernels that programs use most, each on its own; see `rows`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from timed import Timed, initialised, running

ROWS_OF_X, COLUMNS = 1_000, 512


def labels(tf: Any) -> Any:
    """Return a class for each row."""
    return tf.constant(np.arange(ROWS_OF_X) % COLUMNS, tf.int32)


# Name -> what it makes of x [1000, 512] and w [512, 512], both variables.
KERNELS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "matmul": lambda tf, x, w: tf.matmul(x, w),
    "add": lambda tf, x, w: tf.add(x, w[0]),
    "multiply": lambda tf, x, w: tf.multiply(x, x),
    "relu": lambda tf, x, w: tf.nn.relu(x),
    "softmax": lambda tf, x, w: tf.nn.softmax(x),
    "cross entropy": lambda tf, x, w: tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels(tf), logits=x
    ),
    "reduce_mean": lambda tf, x, w: tf.reduce_mean(x),
    "argmax": lambda tf, x, w: tf.argmax(x, 1),
    "cast": lambda tf, x, w: tf.cast(x, tf.int32),
    "transpose": lambda tf, x, w: tf.transpose(x),
}


def kernel(name: str) -> Callable[[Any], Timed]:
    """Return the row of one kernel, whose result nobody takes."""

    def row(tf: Any) -> Timed:
        random = np.random.RandomState(0)
        with tf.Graph().as_default():
            x = tf.Variable(random.randn(ROWS_OF_X, COLUMNS).astype(np.float32))
            w = tf.Variable(random.randn(COLUMNS, COLUMNS).astype(np.float32))
            made = KERNELS[name](tf, x, w)
            return running(initialised(tf), made.op)

    return row


KERNEL_ROWS = {f"kernel: {name}": kernel(name) for name in KERNELS}
