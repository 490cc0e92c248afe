"""Calls on the smaller namespaces that real TensorFlow and ours make: nodes and values.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours but `tests/ops/differential.py`. To store what 1.15.5 says:

    PYTHON_OF_1.15 tests/ops/math/bits_calls.py > tests/ops/math/expected_bits_1_15.json
"""

from __future__ import annotations

import os
import re
import sys

# One expression a line, which goes on where the next one is indented; `x(2, 5)` is a constant of
# whole floats, `p(2, 5)` one of other floats, `u(2, 5)` whole floats of unknown dimensions.
CALLS = """
tf.bitwise.bitwise_and([12, 7], 10)
tf.bitwise.bitwise_or(tf.constant([[1], [2]], tf.uint8), tf.constant([4, 9], tf.uint8))
tf.bitwise.bitwise_xor([5, -1], [3, 7], name="nm")
tf.bitwise.bitwise_and([1.5], [2.5])
tf.bitwise.invert(tf.constant([0, 5, 255], tf.uint8))
tf.bitwise.invert([0, -7])
tf.bitwise.left_shift([-1, -5, 3, 14], [5, 0, 7, 11])
tf.bitwise.left_shift(tf.constant([1, 2], tf.int8), tf.constant([9, -1], tf.int8))
tf.bitwise.left_shift(tf.constant([1, 2], tf.int64), tf.constant([62, 70], tf.int64))
tf.bitwise.right_shift([-1, -5, 3, 14], [40, 0, 7, 1])
tf.bitwise.right_shift(tf.constant([200, 2], tf.uint8), tf.constant([3, 9], tf.uint8))
tf.raw_ops.PopulationCount(x=tf.constant([-1, 0, 77], tf.int16))
tf.raw_ops.PopulationCount(x=tf.constant([-1, 2 ** 40 + 5], tf.int64))
tf.sort([1, 10, 26, 3], direction="DESCENDING", name="s")
tf.sort(x(2, 3, 4), axis=1)
tf.sort(x(2, 3, 4))
tf.sort(x(2, 3, 4), axis=0, direction="DESCENDING")
tf.sort(u(2, 3), axis=0)
tf.sort(tf.constant([3, 255, 0], tf.uint8))
tf.sort(tf.constant([3, -128, 0], tf.int8))
tf.sort(tf.constant([3, -128, 0], tf.int8), direction="DESCENDING")
tf.sort([1, 2], direction="up")
tf.sort(3.0)
tf.sort([1.0, 2.0], axis=5)
tf.argsort([1, 10, 26, 3, 10])
tf.argsort(x(2, 3, 4), axis=1, direction="DESCENDING", stable=True, name="a")
tf.argsort(tf.constant([3, 255, 0], tf.uint8))
tf.get_static_value(tf.constant([1, 2]))
tf.get_static_value(tf.placeholder(tf.float32))
tf.is_tensor(tf.constant(1))
tf.is_tensor([1.0])
tf.is_tensor(tf.SparseTensor([[0]], [1], [2]))
tf.dimension_value(tf.Dimension(3))
tf.dimension_value(None)
tf.dimension_value(4)
tf.dimension_at_index(tf.TensorShape([2, None]), 0)
tf.dimension_at_index(tf.TensorShape(None), 5)
tf.executing_eagerly()
tf.double
tf.half
sorted(each.name for each in tf.dtypes.QUANTIZED_DTYPES)
tf.convert_to_tensor_or_indexed_slices([1.0, 2.0], name="c")
tf.manip.roll([0, 1, 2, 3, 4], shift=2, axis=0)
tf.manip.reverse([[1, 2], [3, 4]], [1])
tf.manip.tile([1, 2], [2])
tf.quantization.quantize(p(2, 3), -1.0, 1.0, tf.quint8)[1:]
tf.bitcast(tf.quantize(p(2, 3), -1.0, 1.0, tf.quint8)[0], tf.uint8)
tf.bitcast(tf.quantize(p(2, 3), -1.0, 1.0, tf.qint8)[0], tf.int8)
tf.bitcast(tf.quantize(p(2, 3), 0.0, 0.5, tf.qint8, "MIN_FIRST")[0], tf.int8)
tf.bitcast(tf.quantize(p(2, 3), -0.3, 0.5, tf.quint8, "MIN_FIRST")[0], tf.uint8)
tf.bitcast(tf.quantize(p(2, 3), -0.3, 0.5, tf.qint8, "SCALED")[0], tf.int8)
tf.bitcast(tf.quantize(p(2, 3), 0.0, 0.5, tf.quint8, "SCALED", "HALF_TO_EVEN")[0], tf.uint8)
tf.quantize(p(2, 3), -0.3, 0.5, tf.qint8, "SCALED", "HALF_TO_EVEN")[1:]
tf.quantize(p(2, 3), 0.1, 0.5, tf.quint8, "MIN_FIRST")[1:]
tf.quantize(p(2, 3), 0.2, 0.2, tf.quint8)[1:]
tf.quantize(p(2, 3), 1.0, -1.0, tf.quint8)[1:]
tf.quantize(p(2, 3), [0.0, 1.0], 1.0, tf.quint8)[1:]
tf.bitcast(tf.quantize_v2(p(2, 3), -1.0, 1.0, tf.qint32)[0], tf.int32)
tf.bitcast(tf.quantize_v2(p(2, 3), -1.0, 1.0, tf.qint16, "SCALED")[0], tf.int16)
tf.dequantize(tf.bitcast(tf.constant([0, 3, 255], tf.uint8), tf.quint8), -1.0, 1.0)
tf.dequantize(tf.bitcast(tf.constant([0, -128, 127], tf.int8), tf.qint8), -1.0, 2.0)
tf.dequantize(tf.bitcast(tf.constant([0, -128, 127], tf.int8), tf.qint8), -1.0, 2.0, "MIN_FIRST")
tf.dequantize(tf.bitcast(tf.constant([0, -128, 127], tf.int8), tf.qint8), -1.0, 2.0, "SCALED")
tf.dequantize(tf.bitcast(tf.constant([0, 128, 255], tf.uint8), tf.quint8), -1.0, 2.0, "SCALED")
tf.dequantize(tf.bitcast(tf.constant([0, -128, 127], tf.int8), tf.qint8), -3.0, 1.0, "SCALED")
tf.dequantize(tf.quantize(p(2, 3), -1.0, 1.0, tf.qint32)[0], -1.0, 1.0, name="d")
tf.dequantize(tf.quantize(p(2, 3), -1.0, 1.0, tf.quint16)[0], -1.0, 1.0, "MIN_FIRST")
tf.quantization.quantize_and_dequantize(p(2, 3), -0.5, 0.5, range_given=True, num_bits=3)
tf.quantization.quantize_and_dequantize(p(2, 3), -0.5, 0.4, True, 8, False)
tf.quantization.quantize_and_dequantize(p(2, 3), 0.0, 0.5, False, 4, True, "HALF_UP", "nm")
tf.quantization.quantize_and_dequantize(p(2, 3), -0.5, 0.5, True, 4, True, narrow_range=True)
tf.quantization.quantize_and_dequantize(p(2, 3), 0.5, -0.5, True, 4, True)
tf.raw_ops.QuantizeAndDequantizeV2(input=p(2, 3), input_min=-0.5, input_max=0.5)
gradient(lambda t: tf.quantization.quantize_and_dequantize(t, -0.5, 0.5), np.ones([2, 3]))
tf.fake_quant_with_min_max_args(p(2, 3))
tf.fake_quant_with_min_max_args(p(2, 3), -0.3, 0.4, 3, True, "nm")
tf.fake_quant_with_min_max_args(p(2, 3), 0.1, 0.4)
tf.fake_quant_with_min_max_args(p(2, 3), 0.4, 0.1)
tf.fake_quant_with_min_max_args(p(2, 3), num_bits=1)
tf.fake_quant_with_min_max_args(p(2, 3), num_bits=17)
tf.fake_quant_with_min_max_args_gradient(x(2, 3), p(2, 3), -0.3, 0.4)
tf.fake_quant_with_min_max_vars(p(2, 3), -0.3, 0.4)
tf.fake_quant_with_min_max_vars(p(2, 3), -0.9, -0.2, 4, True)
tf.fake_quant_with_min_max_vars(p(2, 3), 0.0, 0.0)
tf.fake_quant_with_min_max_vars(p(2, 3), [0.0], 1.0)
tf.fake_quant_with_min_max_vars_gradient(x(2, 3), p(2, 3), -0.3, 0.4)
tf.fake_quant_with_min_max_vars_gradient(x(2, 3), p(2, 3), 0.0, 0.0)
tf.fake_quant_with_min_max_vars_per_channel(p(2, 3), [-0.3, 0.0, -1.0], [0.4, 0.5, 1.0])
tf.fake_quant_with_min_max_vars_per_channel(p(3), [-0.3, 0.0, -1.0], [0.4, 0.0, 1.0])
tf.fake_quant_with_min_max_vars_per_channel(p(2, 3), [-0.3, 0.0], [0.4, 0.5])
tf.fake_quant_with_min_max_vars_per_channel_gradient(x(2, 3), p(2, 3), [-0.3, 0.0, -1.0],
    [0.4, 0.5, 1.0])
gradient(lambda t: tf.fake_quant_with_min_max_args(t / 2, -0.3, 0.4), np.ones([2, 3]))
gradient(lambda t: tf.fake_quant_with_min_max_vars(t / 2, -0.3, 0.4), np.ones([2, 3]))
gradient(lambda t: tf.fake_quant_with_min_max_vars(p(2, 3), t, 0.4), -0.3)
gradient(lambda t: tf.fake_quant_with_min_max_vars_per_channel(p(2, 3), -0.3 - t, t), [0.1, 0.2,
    0.3])
tf.extract_image_patches(x(2, 5, 6, 3), [1, 3, 2, 1], [1, 2, 1, 1], [1, 1, 1, 1], "VALID")
tf.extract_image_patches(x(2, 5, 6, 3), [1, 3, 2, 1], [1, 2, 1, 1], [1, 2, 2, 1], "SAME", name="e")
tf.extract_image_patches(x(2, 5, 6, 3), [1, 9, 2, 1], [1, 2, 1, 1], [1, 1, 1, 1], "VALID")
tf.extract_image_patches(u(2, 5, 6, 3), [1, 3, 2, 1], [1, 2, 1, 1], [1, 1, 1, 1], "VALID")
tf.extract_image_patches(x(5, 6, 3), [1, 3, 2, 1], [1, 2, 1, 1], [1, 1, 1, 1], "VALID")
tf.extract_image_patches(x(2, 5, 6, 3), [2, 3, 2, 1], [1, 2, 1, 1], [1, 1, 1, 1], "VALID")
tf.extract_image_patches(x(2, 5, 6, 3), [3, 2], [1, 2, 1, 1], [1, 1, 1, 1], "VALID")
tf.image.extract_patches(x(1, 4, 5, 1), [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME")
tf.image.extract_image_patches(x(1, 4, 5, 1), sizes=[1, 2, 2, 1], strides=[1, 2, 2, 1],
    rates=[1, 1, 1, 1], padding="SAME")
tf.extract_volume_patches(x(1, 3, 4, 5, 2), [1, 2, 3, 2, 1], [1, 1, 2, 2, 1], "SAME")
tf.extract_volume_patches(x(1, 3, 4, 5, 2), [1, 2, 3, 2, 1], [1, 1, 2, 2, 1], "VALID")
gradient(lambda t: tf.extract_image_patches(t, [1, 3, 2, 1], [1, 2, 1, 1], [1, 1, 2, 1], "SAME"),
    np.ones([2, 5, 6, 3]))
gradient(lambda t: tf.extract_image_patches(t, [1, 3, 2, 1], [1, 2, 1, 1], [1, 1, 2, 1], "VALID"),
    np.ones([2, 5, 6, 3]))
gradient(lambda t: tf.extract_volume_patches(t, [1, 2, 3, 2, 1], [1, 1, 2, 2, 1], "SAME"),
    np.ones([1, 3, 4, 5, 2]))
tf.nn.dilation2d(x(2, 5, 6, 3), p(3, 2, 3), [1, 2, 1, 1], [1, 1, 2, 1], "SAME")
tf.nn.dilation2d(x(2, 5, 6, 3), p(3, 2, 3), [1, 1, 1, 1], [1, 1, 1, 1], "VALID", "nm")
tf.nn.dilation2d(x(2, 5, 6, 3), filters=p(3, 2, 3), strides=[1, 1, 1, 1],
    dilations=[1, 1, 1, 1], padding="VALID")
tf.nn.dilation2d(x(2, 5, 6, 3), p(3, 2, 2), [1, 1, 1, 1], [1, 1, 1, 1], "VALID")
tf.nn.dilation2d(u(2, 5, 6, 3), p(3, 2, 3), [1, 1, 1, 1], [1, 1, 1, 1], "VALID")
tf.nn.erosion2d(x(2, 5, 6, 3), p(3, 2, 3), [1, 2, 1, 1], [1, 1, 2, 1], "SAME")
tf.nn.erosion2d(x(2, 5, 6, 3), p(3, 2, 3), [1, 1, 1, 1], [1, 1, 1, 1], "VALID", "nm")
gradient(lambda t: tf.nn.dilation2d(t + p(2, 5, 6, 3), p(3, 2, 3), [1, 2, 1, 1], [1, 1, 2, 1],
    "SAME"), np.ones([2, 5, 6, 3]))
gradient(lambda t: tf.nn.dilation2d(x(2, 5, 6, 3), t, [1, 2, 1, 1], [1, 1, 2, 1], "SAME"),
    np.zeros([3, 2, 3]))
gradient(lambda t: tf.nn.erosion2d(x(2, 5, 6, 3), t, [1, 2, 1, 1], [1, 1, 1, 1], "VALID"),
    np.zeros([3, 2, 3]))
tf.nn.fractional_max_pool(x(1, 6, 9, 2), [1.0, 1.5, 1.8, 1.0])
tf.nn.fractional_avg_pool(x(1, 6, 9, 2), [1.0, 1.5, 1.8, 1.0], True, True, True, 3, 4)
tf.nn.fractional_max_pool(u(1, 6, 9, 2), [1.0, 1.5, 1.8, 1.0])
tf.nn.fractional_max_pool(x(1, 6, 9, 2), [1.5, 1.8])
tf.raw_ops.FractionalMaxPoolGrad(orig_input=x(1, 4, 5, 2), orig_output=tf.constant(
    [[[[3., 3.], [2., 3.]], [[3., 2.], [2., 3.]]]]), out_backprop=x(1, 2, 2, 2),
    row_pooling_sequence=[0, 2, 4], col_pooling_sequence=[0, 2, 5])
tf.raw_ops.FractionalAvgPoolGrad(orig_input_tensor_shape=[1, 4, 5, 2],
    out_backprop=x(1, 2, 2, 2), row_pooling_sequence=[0, 2, 4], col_pooling_sequence=[0, 2, 5])
tf.raw_ops.FractionalAvgPoolGrad(orig_input_tensor_shape=[1, 4, 5, 2], overlapping=True,
    out_backprop=x(1, 2, 2, 2), row_pooling_sequence=[0, 2, 4], col_pooling_sequence=[0, 2, 5])
tf.nn.collapse_repeated([[1, 1, 2, 2, 1], [1, 1, 1, 2, 2]], [5, 3])
tf.nn.collapse_repeated([[1, 1, 2, 2, 1], [1, 1, 1, 2, 2]], [5, 4], name="nm")
tf.edit_distance(sparse(["a", "b"], [2, 1, 1], [[0, 0, 0], [1, 0, 0]]), sparse(["a", "b", "c",
    "a"], [2, 2, 2], [[0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0]]))
tf.edit_distance(sparse([1, 2, 3, 4, 9], [2, 5], [[0, 0], [0, 1], [0, 2], [0, 3], [1, 0]]),
    sparse([2, 3, 9, 4, 4], [2, 6], [[0, 0], [0, 1], [0, 2], [0, 3], [0, 5]]), False, "nm")
tf.edit_distance(sparse([1, 2], [2, 5], [[0, 0], [0, 1]]), sparse([1.0], [2, 5], [[0, 0]]))
tf.edit_distance([1], sparse([1.0], [2, 5], [[0, 0]]))
tf.image.combined_non_max_suppression(boxes, scores, 3, 4)
tf.image.combined_non_max_suppression(boxes, scores, 1, 3, 0.5, 0.65, True, False, "nm")
tf.image.combined_non_max_suppression(boxes, scores, 2, 9, 0.3, 0.1, True)
tf.image.combined_non_max_suppression(boxes[:, :, :1], scores, 2, 5)
tf.image.combined_non_max_suppression(boxes, scores, -1, 5)
tf.image.combined_non_max_suppression([[[[0., 0, 1, 1]], [[0, 0, 1, 0.5]], [[0.4, 0, 1, 0.5]]]],
    [[[0.9], [0.8], [0.85]]], 3, 3, 0.5)
tf.repeat(["a", "b"], 3)
tf.repeat([[1, 2], [3, 4]], [2, 3], axis=0)
tf.repeat([[1, 2], [3, 4]], [2, 3], axis=-1, name="r")
tf.repeat([[1, 2], [3, 4]], 2)
tf.repeat(3, 4)
tf.repeat([3, 4], [1, 2, 3], axis=0)
tf.searchsorted([[0, 3, 9, 9, 10], [1, 2, 3, 4, 5]], [[2, 4, 9], [0, 2, 6]])
tf.searchsorted([[0, 3, 9, 9, 10], [1, 2, 3, 4, 5]], [[2, 4, 9], [0, 2, 6]], side="right",
    out_type=tf.int64, name="s")
tf.searchsorted([0, 3, 9], [2, 3])
tf.searchsorted([0, 3, 9], [2, 3], side="middle")
tf.unravel_index([22, 41, 37], [7, 6])
tf.unravel_index(37, [7, 6], name="nm")
tf.unravel_index([22, 43], [7, 6])
tf.unravel_index(tf.constant([[1, 2]], tf.int64), tf.constant([7, 6], tf.int64))
tf.tensor_scatter_nd_update([1, 2, 3], [[0]], [9])
tf.tensor_scatter_nd_add([1, 2, 3], [[0]], [9])
tf.tensor_scatter_nd_sub([1, 2, 3], [[0]], [9], name="nm")
tf.custom_gradient(lambda a, b: (a * b, lambda dy: (dy * 5, dy + b)))(3.0, [2.0, 1.0])
gradient(tf.custom_gradient(lambda a: (a * a, lambda dy: dy * 5)), [2.0, 1.0])
gradient(lambda t: sum(tf.custom_gradient(lambda a: ([a * a, a], lambda d, e: d * 5 - e))(t)),
    [2.0, 1.0])
tf.random.stateless_uniform([2, 3], [1, 2], 1.0, 4.0)
tf.random.stateless_uniform([2, 3], [1, 2], 1, 4, tf.int32)
tf.random.stateless_uniform([2, 3], [1, 2], dtype=tf.int32)
tf.random.stateless_uniform([2, 3], [1, 2, 3])
tf.random.stateless_normal([2, 3], [1, 2], name="nm")
tf.random.stateless_truncated_normal(tf.constant([2, 3]), [1, 2], 1.0, 2.0, tf.float64)
tf.random.stateless_multinomial(x(2, 3), 4, [1, 2])
tf.random.stateless_categorical(x(2, 3), 4, [1, 2], tf.int32)
tf.random.categorical(x(2, 3), 4, tf.int32, 7)
tf.random.uniform([2])
tf.random.normal([2])
tf.random.poisson([1.0, 2.0], [3])
tf.random.gamma([3], [1.0, 2.0])
tf.random_gamma([3], [[1.0], [2.0]], [1.0, 5.0], tf.float64, 7, "nm")
tf.random_poisson([1.0, 2.0], [3], tf.float64, 7, "nm")
tf.raw_ops.RandomGammaGrad(alpha=[0.5, 1.5, 4.0], sample=[[0.2, 1.25, 3.0], [1.0, 1.0, 9.0]])
tf.random.shuffle([1, 2])
tf.nn.learned_unigram_candidate_sampler([[1, 2]], 2, 3, True, 9, 5)
tf.fingerprint([[1, 2], [3, 4]])
tf.fingerprint(["a", "bc"], name="nm")
tf.fingerprint([["a", "bc"], ["d", ""]])
tf.fingerprint([[1.5]], "md5")
tf.fingerprint(3.0)
tf.user_ops.my_fact()
tf.add_check_numerics_ops()
tf.raw_ops.NthElement(input=x(2, 5), n=1)
tf.raw_ops.NthElement(input=x(2, 5), n=1, reverse=True)
"""  # fmt: skip

OTHERS = {
    "boxes": "tf.constant(np.array([[[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10,"
    " 1, 11]]] * 2]).astype(np.float32).reshape(2, 4, 1, 4))",
    "scores": "tf.constant(np.array([[0.9, 0.1], [0.75, 0.8], [0.6, 0.3], [0.95, 0.7]] * 2)"
    ".astype(np.float32).reshape(2, 4, 2))",
}


def calls():
    """Return the lines of the table."""
    return [line for line in CALLS.replace("\n    ", " ").splitlines() if line]


def spelled_out(source):
    """Return a call with its tensors in full."""
    whole = r"(np.arange(np.prod([\1])).reshape(\1) * 5 % 7 - 3).astype(np.float32)"
    parts = r"(np.arange(np.prod([\1])).reshape(\1) * 37 % 101 / 128 - 0.3).astype(np.float32)"
    source = re.sub(r"\bx\(([\d, ]+)\)", "tf.constant(" + whole + ")", source)
    source = re.sub(r"\bp\(([\d, ]+)\)", "tf.constant(" + parts + ")", source)
    for name, meaning in OTHERS.items():
        source = re.sub(rf"\b{name}\b(?=[,)\[])", lambda _, meaning=meaning: meaning, source)
    return re.sub(r"\bu\(([\d, ]+)\)", r"unknown(" + whole + r", [None] * len([\1]))", source)


def main():
    """Write what this Python's TensorFlow makes of everything."""
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from differential import say_all

    say_all({source: spelled_out(source) for source in calls()})


if __name__ == "__main__":
    main()
