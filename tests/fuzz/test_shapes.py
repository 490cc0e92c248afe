"""Shapes that only a kernel sees and that NumPy would stretch: TensorFlow 1.15.5's answers."""

import numpy as np
import pytest

import tfdist as tf

ONES = {shape: np.ones(shape, np.float32) for shape in [(), (2,), (1, 2), (2, 3), (2, 6), (4, 2)]}


def x():
    return tf.placeholder(tf.float32, name="x")


CASES = {
    "AddN": (lambda a, b: tf.add_n([a, b]), (1, 2), (2,), "must have the same size and shape"),
    "AddN of a scalar": (lambda a, b: tf.add_n([a, b]), (), (2,), "same size and shape"),
    "AddN of three": (lambda a, b: tf.add_n([a, b, a]), (1, 2), (2,), "same size and shape"),
    "Tile": (lambda a, b: tf.tile(a, tf.cast(b, tf.int32)), (2, 3), (4, 2), "to be a vector"),
    "Select": (lambda a, b: tf.where(tf.equal(1, 1), a, b), (2, 6), (2, 3), "have the same size"),
    "Unique": (lambda a, b: tf.unique(a)[0] + b, (2, 3), (), "unique expects a 1D vector"),
    "DynamicPartition": (
        lambda a, b: tf.dynamic_partition(a, tf.cast(b, tf.int32), 2),
        (4, 2), (2,), "data.shape must start with partitions.shape",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_numpy_would_stretch_is_refused(case):
    call, first, second, told = case
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = x(), x()
        with pytest.raises(tf.errors.InvalidArgumentError, match=told) as raised:
            session.run(call(a, b), {a: ONES[first], b: ONES[second]})
    assert raised.value.node_name
