"""The kernels that programs use most, and those once slow, each on its own; see `rows`."""

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
    "relu6": lambda tf, x, w: tf.nn.relu6(x),
    "leaky_relu": lambda tf, x, w: tf.nn.leaky_relu(x),
    "elu": lambda tf, x, w: tf.nn.elu(x),
    "softplus": lambda tf, x, w: tf.nn.softplus(x),
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


def boxes(random: Any, count: int) -> Any:
    """Return small boxes [count, 4] inside of the unit square."""
    middle, half = random.rand(count, 2), random.rand(count, 2) / 20 + 0.01
    return np.concatenate([middle - half, middle + half], 1).astype(np.float32)


def words(random: Any, count: int) -> Any:
    return np.array([b"word%d" % number for number in random.randint(0, 10**5, count)], object)


def scattered() -> Any:
    """Return the places [10,000, 2] of elements of a matrix of 1,000 x 1,000."""
    places = np.sort(np.arange(10_000) * 97 % 10**6)
    return np.stack([places // 1_000, places % 1_000], 1)


def sparse_product(tf: Any, x: Any) -> Any:
    matrix = tf.SparseTensor(scattered(), tf.ones([10_000]), [1_000, 1_000])
    return tf.sparse.sparse_dense_matmul(matrix, x)


def summed_by_segment(tf: Any, x: Any) -> Any:
    return tf.unsorted_segment_sum(x, np.arange(ROWS_OF_X) * 7 % 100, 100)


def crops(tf: Any, x: Any) -> Any:
    where = boxes(np.random.RandomState(1), 32)
    return tf.image.crop_and_resize(x, where, np.arange(32) % 4, [14, 14])


def images(random: Any) -> Any:
    return random.rand(4, 64, 64, 3)


def gradient_of_bilinear(tf: Any, x: Any) -> Any:
    return tf.gradients(tf.image.resize_bilinear(x, [128, 128]), x)[0]


def suppressed(tf: Any, x: Any) -> Any:
    scores = np.random.RandomState(1).rand(1_000).astype(np.float32)
    return tf.image.non_max_suppression(x, scores, 100)


# Name -> what its variable starts as, and what is made of it.
OTHERS: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {
    "top_k": (lambda random: random.randn(64, 1_000), lambda tf, x: tf.nn.top_k(x, 5)[0]),
    "reduce_max, short rows": (
        lambda random: random.randn(8_000, 10), lambda tf, x: tf.reduce_max(x, 1)
    ),
    "erf": (lambda random: random.randn(128, 512), lambda tf, x: tf.math.erf(x)),
    "dropout": (
        lambda random: random.randn(128, 1_024), lambda tf, x: tf.nn.dropout(x, 0.5, seed=1)
    ),
    "truncated_normal": (
        lambda random: random.randn(1), lambda tf, x: tf.truncated_normal([100, 1_000], seed=1)
    ),
    "where": (
        lambda random: random.randn(128, 512),
        lambda tf, x: tf.where(tf.greater(x, 0.0), x, tf.zeros([128, 512])),
    ),
    "unsorted_segment_sum": (lambda random: random.randn(ROWS_OF_X, 32), summed_by_segment),
    "sparse matmul": (lambda random: random.randn(1_000, 64), sparse_product),
    "sparse_to_dense": (
        lambda random: random.randn(10_000),
        lambda tf, x: tf.sparse_to_dense(scattered(), [1_000, 1_000], x),
    ),
    "resize_bilinear": (images, lambda tf, x: tf.image.resize_bilinear(x, [128, 128])),
    "resize_bilinear, gradient": (images, gradient_of_bilinear),
    "adjust_hue": (images, lambda tf, x: tf.image.adjust_hue(x, 0.1)),
    "crop_and_resize": (images, crops),
    "non_max_suppression": (lambda random: boxes(random, 1_000), suppressed),
    "hash of words": (
        lambda random: words(random, 1_000),
        lambda tf, x: tf.strings.to_hash_bucket_fast(x, 1_000),
    ),
}  # fmt: skip


def other_kernel(name: str) -> Callable[[Any], Timed]:
    """Return the row of a kernel that has an input of its own."""
    start, make = OTHERS[name]

    def row(tf: Any) -> Timed:
        value = start(np.random.RandomState(0))
        with tf.Graph().as_default():
            x = tf.Variable(value if value.dtype == object else value.astype(np.float32))
            return running(initialised(tf), make(tf, x).op)

    return row


KERNEL_ROWS = {f"kernel: {name}": kernel(name) for name in KERNELS}
KERNEL_ROWS.update({f"kernel: {name}": other_kernel(name) for name in OTHERS})
