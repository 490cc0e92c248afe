"""Shapes that only a step sees and that NumPy would take: TensorFlow 1.15.5 refuses them."""

import numpy as np
import pytest

import tfdist as tf
from tfdist.graph.op_def import REGISTRY
from tfdist.ops.functions.defun import Defun

ONES = {shape: np.ones(shape, np.float32) for shape in [(), (2,), (1, 2), (2, 3), (2, 6), (4, 2)]}


def zeros(*shape):
    return np.zeros(shape, np.float32)


def indices(*shape):
    return np.zeros(shape, np.int32)


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


# An op that leaves its shapes to the shape rule, inputs as NumPy arrays, attributes, what is told.
# TensorFlow 1.15.5 refuses each of them, or ends (`TridiagonalMatMul`) or reads past the end of an
# array (`FusedBatchNormGrad`, `Substr`).
LEFT_TO_RULES = {
    "BiasAdd": ((zeros(2, 3), zeros()), {}, "bias: Shape must be rank 1"),
    "BiasAddV1": ((zeros(2, 3), zeros(1, 3)), {}, "bias: Shape must be rank 1"),
    "BiasAddGrad": ((zeros(3),), {}, "out_backprop: Shape must be at least rank 2"),
    "LRN": ((zeros(1, 2, 1, 3, 4),), {}, "input: Shape must be rank 4"),
    "ApproximateEqual": ((zeros(2, 3), zeros()), {}, "Shapes must be equal rank"),
    "FusedBatchNorm": (
        (zeros(2, 5, 6, 3), zeros(1), zeros(3), zeros(0), zeros(0)),
        {}, "channels of x and scale: ",
    ),
    "FusedBatchNormGrad": (
        (zeros(2, 5, 6, 3), zeros(1, 5, 6, 3), zeros(3), zeros(3), zeros(3)),
        {}, "x and y_backprop: Dimension 0",
    ),
    "DynamicStitch": (
        ([indices(1, 2), indices(0)], [zeros(1, 2, 4), zeros(4)]),
        {}, r"data\[1\].shape = \[4\] does not start with indices\[1\].shape = \[0\]",
    ),
    "AllCandidateSampler": (
        (np.zeros(6, np.int64),),
        {"num_true": 2, "num_sampled": 4, "unique": True}, "true_classes: Shape must be rank 2",
    ),
    "Fingerprint": (
        (zeros(2), np.array([b"farmhash64"], object)), {}, "method: Shape must be rank 0",
    ),
    "Substr": (
        (np.array(b"hello", object), indices(), indices(1)),
        {}, "shapes of pos and len: ",
    ),
    "HistogramFixedWidth": (
        (zeros(2), zeros(2, 1), indices()), {}, "value_range: Shape must be rank 1",
    ),
    "MirrorPad": ((zeros(3, 4), indices(2, 1)), {"mode": "REFLECT"}, "Dimension must be 2"),
    "InTopK": ((zeros(2, 3), indices(1)), {"k": 2}, "must be equal"),
    "ListDiff": ((indices(4), indices()), {}, "Shape must be rank 1"),
    "DecodeCSV": (
        (np.array([b"3"], object), [indices(1, 1)]), {}, "a default: Shape must be at most rank 1",
    ),
    "Select": (
        (np.ones((1, 1), bool), zeros(2, 3), zeros(2, 3)), {}, "must have the same size and shape",
    ),
    "Reshape": ((zeros(2, 3), indices()), {}, "sizes input must be 1-D"),
    "ResizeNearestNeighbor": (
        (zeros(2, 3, 4, 3, 1), indices(2)), {}, "input must be 4-dimensional",
    ),
    "TridiagonalMatMul": (
        (zeros(1, 1, 4), zeros(2, 1, 4), zeros(2, 1, 4), zeros(2, 4, 3)), {}, "must be equal",
    ),
}  # fmt: skip


def fed(inputs, attrs, op, feed):
    """Return a node of an op whose inputs are placeholders without a shape."""

    def one(value):
        if isinstance(value, list):
            return [one(each) for each in value]
        placeholder = tf.placeholder(value.dtype)
        feed[placeholder] = value
        return placeholder

    made = REGISTRY[op](*map(one, inputs), **attrs)
    return made[0] if isinstance(made, list | tuple) else made


@pytest.mark.parametrize("op", LEFT_TO_RULES)
def test_a_step_asks_the_shape_rule_about_shapes_that_nobody_knew(op):
    inputs, attrs, told = LEFT_TO_RULES[op]
    feed = {}
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match=told) as raised:
            session.run(fed(inputs, attrs, op, feed), feed)
    assert raised.value.node_name == op


def test_shapes_are_asked_about_again_when_they_change():
    with tf.Graph().as_default(), tf.Session() as session:
        value, bias = x(), x()
        added = tf.nn.bias_add(value, bias)
        good = {value: zeros(2, 3), bias: np.arange(3, dtype=np.float32)}
        for _ in range(2):
            assert session.run(added, good).tolist() == [[0, 1, 2], [0, 1, 2]]
            with pytest.raises(tf.errors.InvalidArgumentError, match="bias: Shape must be rank 1"):
                session.run(added, {**good, bias: zeros(1, 3)})


@pytest.mark.parametrize("config", [None, tf.RunOptions.FULL_TRACE])
def test_traced_steps_and_functions_ask_too(config):
    @Defun(tf.float32, tf.float32)
    def biased(value, bias):
        return tf.nn.bias_add(value, bias)

    options = config and tf.RunOptions(trace_level=config)
    with tf.Graph().as_default(), tf.Session() as session:
        value, bias = x(), x()
        with pytest.raises(tf.errors.InvalidArgumentError, match="bias: Shape must be rank 1"):
            session.run(biased(value, bias), {value: zeros(2, 3), bias: zeros()}, options)
