"""A user's program with types: mypy checks it, strictly (pyproject.toml); `test_typing` runs it."""

from collections.abc import Sequence

import numpy as np

import tfdist as tf


def weighted_sum(values: Sequence[float], weight: tf.Tensor) -> tf.Tensor:
    """Return a tensor that adds up `values`, each times `weight`."""
    total = tf.constant(0.0)
    for value in values:
        total = tf.add(total, tf.multiply(tf.constant(value), weight))
    return total


def run_on(server: tf.train.Server, total: tf.Tensor, weight: tf.Tensor) -> float:
    """Return the value of `total` for a weight of 2, computed by a server."""
    config = tf.ConfigProto(allow_soft_placement=True)
    with tf.Session(server.target, config=config) as session:
        found: np.float32 = session.run(total, feed_dict={weight: 2.0})
        return float(found)


def main() -> float:
    """Return what a server of its own computes."""
    graph = tf.Graph()
    with graph.as_default():
        weight = tf.placeholder(tf.float32, [])
        total = weighted_sum([1.0, 2.0], weight)
        name: str = total.op.name
        assert graph.get_operation_by_name(name) is total.op
        with tf.train.Server.create_local_server() as server:
            return run_on(server, total, weight)
