"""Calls of tf.nn's functions for images that real TensorFlow and ours make: nodes and values.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours but `tests/ops/differential.py`. To store what 1.15.5 says:

    PYTHON_OF_1.15 tests/ops/nn/nn_calls.py > tests/ops/nn/expected_nn_1_15.json
"""

from __future__ import annotations

import os
import re
import sys

# One expression a line, which goes on where the next one is indented; `x(2, 5)` is a constant of
# that shape, `u(2, 5)` one of unknown dimensions.
CALLS = """
tf.nn.conv2d(x(2, 5, 6, 3), x(3, 3, 3, 4), [1, 2, 2, 1], "SAME")
tf.nn.conv2d(x(2, 5, 6, 3), filters=x(3, 2, 3, 4), strides=2, padding="VALID", name="c")
tf.nn.conv2d(u(2, 5, 6, 3), x(3, 2, 3, 4), [1, 2, 1, 1], "SAME")
tf.nn.conv2d(x(2, 5, 6, 3), x(3, 3, 3, 4), [2, 1], [[0, 0], [1, 0], [2, 1], [0, 0]])
tf.nn.conv2d(x(2, 5, 6, 3), x(3, 2, 3, 4), 1, "SAME", dilations=[1, 2])
tf.nn.conv2d(x(2, 5, 6, 3), x(3, 3, 4, 4), 1, "SAME")
tf.nn.conv2d(x(2, 5, 6, 3), x(9, 3, 3, 4), 1, "VALID")
tf.nn.conv2d(x(2, 5, 6, 3), x(3, 3, 3, 4), [1, 1, 1], "VALID")
tf.nn.conv1d(x(2, 6, 3), x(3, 3, 4), 2, "SAME")
tf.nn.conv1d(x(2, 6, 3), x(3, 3, 4), 1, "SAME", dilations=2)
tf.nn.conv3d(x(1, 4, 5, 3, 2), x(2, 2, 1, 2, 3), [1, 2, 1, 1, 1], "SAME")
tf.nn.convolution(x(2, 5, 6, 3), x(3, 3, 3, 4), "SAME")
tf.nn.convolution(x(2, 5, 6, 3), x(3, 3, 3, 4), "SAME", strides=[2, 1])
tf.nn.convolution(x(2, 5, 6, 3), x(3, 3, 3, 4), "SAME", dilation_rate=[2, 1])
tf.nn.convolution(x(2, 5, 6, 3), x(3, 3, 3, 4), "VALID", dilation_rate=[2, 2])
tf.nn.convolution(x(2, 6, 3), x(3, 3, 4), "SAME")
tf.nn.convolution(x(2, 6, 3), x(3, 3, 4), "VALID", dilation_rate=[2])
tf.nn.convolution(x(1, 4, 5, 3, 2), x(2, 2, 1, 2, 3), "SAME", dilation_rate=[2, 1, 1])
tf.nn.convolution(x(2, 6, 3), x(3, 3, 4), "VALID", strides=[2], dilation_rate=[2])
tf.nn.conv2d_transpose(x(2, 3, 3, 4), x(3, 3, 3, 4), [2, 5, 6, 3], [1, 2, 2, 1])
tf.nn.conv2d_transpose(x(2, 3, 3, 4), x(3, 3, 3, 4), tf.stack([2, 5, 6, 3]), 2, name="t")
tf.nn.conv2d_transpose(x(2, 3, 3, 4), x(3, 3, 3, 5), [2, 5, 6, 3], [1, 2, 2, 1])
tf.nn.conv2d_transpose(x(2, 3, 3, 4), x(3, 3, 3, 4), [2, 9, 6, 3], 2)
tf.nn.conv1d_transpose(x(2, 3, 4), x(3, 3, 4), [2, 6, 3], 2)
tf.nn.conv3d_transpose(x(1, 2, 3, 2, 3), x(2, 2, 1, 2, 3), [1, 4, 5, 3, 2], 2)
tf.nn.atrous_conv2d(x(2, 5, 6, 3), x(3, 3, 3, 4), 2, "SAME")
tf.nn.atrous_conv2d(x(2, 5, 6, 3), x(3, 3, 3, 4), 1, "SAME")
tf.nn.atrous_conv2d_transpose(x(2, 5, 6, 4), x(3, 2, 3, 4), [2, 5, 6, 3], 2, "SAME")
tf.nn.atrous_conv2d_transpose(x(2, 5, 6, 4), x(3, 2, 3, 4), [2, 9, 8, 3], 2, "VALID")
tf.nn.atrous_conv2d_transpose(x(2, 5, 6, 4), x(3, 3, 3, 4), [2, 5, 6, 3], 1, "SAME")
tf.nn.depthwise_conv2d(x(2, 5, 6, 3), x(3, 3, 3, 2), [1, 2, 2, 1], "SAME")
tf.nn.depthwise_conv2d(x(2, 5, 6, 3), x(3, 3, 3, 2), [1, 1, 1, 1], "SAME", rate=[2, 2])
tf.nn.depthwise_conv2d_native(x(2, 5, 6, 3), x(3, 3, 3, 2), [1, 1, 1, 1], "VALID")
tf.nn.separable_conv2d(x(2, 5, 6, 3), x(3, 3, 3, 2), x(1, 1, 6, 4), [1, 2, 2, 1], "SAME")
tf.nn.separable_conv2d(x(2, 5, 6, 3), x(3, 3, 3, 2), x(1, 1, 6, 4), [1] * 4, "SAME", rate=[2,
    2], name="s")
tf.nn.conv2d_backprop_input([2, 5, 6, 3], x(3, 3, 3, 4), x(2, 5, 6, 4), [1, 1, 1, 1], "SAME")
tf.nn.conv2d_backprop_filter(x(2, 5, 6, 3), [3, 3, 3, 4], x(2, 5, 6, 4), [1, 1, 1, 1], "SAME")
tf.nn.conv2d_backprop_input([2, 5, 6, 3], x(3, 3, 3, 4), x(2, 4, 6, 4), [1, 1, 1, 1], "SAME")
tf.nn.conv3d_backprop_filter_v2(x(1, 4, 5, 3, 2), [2, 2, 1, 2, 3], x(1, 4, 5, 3, 3), [1] * 5,
    "SAME")
tf.nn.depthwise_conv2d_native_backprop_input([2, 5, 6, 3], x(3, 3, 3, 2), x(2, 5, 6, 6),
    [1] * 4, "SAME")
tf.nn.depthwise_conv2d_native_backprop_filter(x(2, 5, 6, 3), [3, 3, 3, 2], x(2, 5, 6, 6),
    [1] * 4, "SAME")
tf.nn.with_space_to_batch(x(2, 5, 6, 3), [2, 2], "SAME", lambda t, num_spatial_dims,
    padding: t + 1, [2, 2])
tf.nn.with_space_to_batch(x(2, 5, 6, 3), [1, 1], "SAME", lambda t, num_spatial_dims,
    padding: t + 1, [2, 2])
tf.nn.max_pool(x(2, 5, 6, 3), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
tf.nn.max_pool(x(2, 5, 6, 3), 2, 2, "VALID", name="p")
tf.nn.max_pool(u(2, 5, 6, 3), [2, 3], [1, 2], "VALID")
tf.nn.max_pool(x(2, 5, 6, 3), [1, 9, 2, 1], [1, 2, 2, 1], "VALID")
tf.nn.max_pool(x(2, 5, 6, 3), [1, 1, 1, 3], [1, 1, 1, 3], "VALID")
tf.nn.max_pool2d(x(2, 5, 6, 3), 2, 2, "VALID")
tf.nn.max_pool1d(x(2, 6, 3), 2, 2, "VALID")
tf.nn.max_pool3d(x(1, 4, 5, 3, 2), 2, 2, "VALID")
tf.nn.max_pool_v2(x(2, 6, 3), [2], [2], "SAME")
tf.nn.max_pool_v2(x(1, 4, 5, 3, 2), [2, 2, 2], 2, "SAME")
tf.nn.avg_pool(x(2, 5, 6, 3), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
tf.nn.avg_pool2d(x(2, 5, 6, 3), 2, 2, "SAME")
tf.nn.avg_pool1d(x(2, 6, 3), 2, 2, "VALID")
tf.nn.avg_pool3d(x(1, 4, 5, 3, 2), 2, 2, "VALID")
tf.nn.avg_pool_v2(x(2, 6, 3), [2], [2], "SAME")
tf.nn.pool(x(2, 5, 6, 3), [2, 2], "MAX", "SAME")
tf.nn.pool(x(2, 5, 6, 3), [2, 2], "AVG", "VALID", strides=[2, 2])
tf.nn.pool(x(2, 5, 6, 3), [2, 2], "AVG", "VALID", dilation_rate=[2, 2])
tf.nn.pool(x(2, 6, 3), [2], "MAX", "VALID")
tf.nn.max_pool_with_argmax(x(2, 5, 6, 3), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
tf.nn.dropout(x(2, 5), 0.5)
tf.nn.dropout(x(2, 5, 6, 3), rate=0.25, noise_shape=[2, 1, 1, 3], seed=3)
tf.nn.dropout(x(2, 5), keep_prob=tf.constant(0.5))
tf.nn.dropout(x(2, 5), 0.5, noise_shape=[None, 1])
tf.nn.dropout(x(2, 5), 0.5, noise_shape=[tf.shape(u(2, 5))[0], 1], seed=3)
tf.nn.lrn(x(2, 1, 2, 5), 2, bias=1.0, alpha=0.5, beta=0.75)
tf.nn.fused_batch_norm(x(2, 3, 2, 3), [1.0, 2.0, 3.0], [0.0, 1.0, 2.0])[:3]
tf.nn.fused_batch_norm(x(2, 3, 2, 3), [1.0, 2.0, 3.0], x(3), x(3), [1.0, 2.0, 3.0],
    is_training=False, epsilon=1e-6, name="f")[0]
tf.nn.fused_batch_norm(x(2, 3, 2, 3), x(3), x(3), x(3), x(3))
tf.nn.batch_normalization(x(2, 3), x(3), tf.constant([1.0, 2.0, 3.0]), x(3), x(3), 0.001)
tf.nn.batch_normalization(x(2, 3), x(3), tf.constant([1.0, 2.0, 3.0]), None, x(3), 0.001)
tf.nn.batch_normalization(x(2, 3), x(3), tf.constant([1.0, 2.0, 3.0]), x(3), None, 0.001)
tf.nn.batch_norm_with_global_normalization(x(2, 1, 2, 3), x(3), tf.constant([1.0, 2.0, 3.0]),
    x(3), x(3), 0.001, True)
tf.nn.batch_norm_with_global_normalization(x(2, 1, 2, 3), x(3), tf.constant([1.0, 2.0, 3.0]),
    x(3), x(3), 0.001, False)
tf.nn.moments(x(2, 5, 6, 3), [0, 1, 2])
tf.nn.moments(x(2, 5, 6, 3), [0, 1, 2], keep_dims=True, name="m")
tf.nn.weighted_moments(x(2, 5, 3), [0, 1], tf.ones([2, 5, 3]))
tf.nn.sufficient_statistics(x(2, 5, 3), [0, 1])[:3]
tf.nn.sufficient_statistics(x(2, 5, 3), [0, 1], shift=x(3), keep_dims=True)
tf.nn.sufficient_statistics(u(2, 5, 3), [0, 1])[:3]
tf.nn.normalize_moments(tf.constant(4.0), x(3), [30.0, 20.0, 10.0], None)
tf.nn.normalize_moments(tf.constant(4.0), x(3), [30.0, 20.0, 10.0], x(3))
tf.space_to_batch(x(2, 5, 4, 3), [[0, 1], [0, 0]], 2)
tf.space_to_batch_nd(x(2, 6, 4), [2, 2], [[0, 0], [1, 1]])
tf.space_to_batch_nd(x(2, 5, 4), [2, 2], [[0, 0], [1, 1]])
tf.batch_to_space(x(8, 3, 2, 3), [[0, 1], [0, 0]], 2)
tf.batch_to_space_nd(x(8, 3, 2, 3), [2, 2], [[0, 0], [1, 1]])
tf.space_to_depth(x(2, 6, 4, 3), 2)
tf.space_to_depth(x(2, 5, 4, 3), 2)
tf.depth_to_space(x(2, 2, 4, 12), 2)
tf.required_space_to_batch_paddings([5, 6], [2, 2])
tf.required_space_to_batch_paddings([5, 6], [2, 4], [[1, 1], [0, 2]])
tf.nn.conv2d(u(1, 2, 3, 3), x(3, 2, 3, 2), [1, 3, 3, 1], "VALID")
tf.nn.conv2d(x(2, 4, 5, 2), x(2, 2, 2, 0), 1, "SAME", dilations=1)[:0]
tf.nn.convolution(x(2, 5, 6, 3), x(2, 3, 3, 4), "SAME", dilation_rate=2)
tf.nn.convolution(x(2, 5, 6, 3), x(2, 3, 3, 4), "SAME", strides=2)
tf.nn.convolution(x(2, 5, 6, 3), x(2, 3, 3, 4), "SAME", strides=[1, 2, 2, 1])
tf.nn.atrous_conv2d(x(2, 5, 6, 3), x(2, 3, 3, 4), [2, 1], "SAME")
tf.nn.atrous_conv2d(u(2, 5, 6, 3), u(2, 3, 3, 4), 2, "VALID")
tf.nn.max_pool(u(1, 2, 3, 3), 4, 3, "VALID")
tf.space_to_batch_nd(x(2, 4, 4, 2), [], np.zeros([0, 2], np.int32))
tf.space_to_batch_nd(x(2, 4, 4, 2), unknown([2, 2], [2]), unknown([[0, 0], [0, 0]], [2, 2]))
tf.nn.bias_add(x(2, 3, 3), x(3), data_format="NC")
tf.nn.bias_add(x(2, 3, 3), x(3), data_format="NWC")
tf.nn.moments(x(2, 3, 4), 1)
tf.nn.fused_batch_norm(x(2, 3, 2, 3), [1.0, 2.0, 3.0], [0.0, 1.0, 2.0], data_format=None)[:3]
tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.ones([2, 1]), logits=x(2, 3))
tf.nn.softmax_cross_entropy_with_logits_v2(labels=u(2, 3), logits=x(2, 3))
gradient(lambda t: tf.nn.conv2d(t, x(3, 3, 3, 4), 2, "SAME"), np.ones([2, 5, 6, 3]))
gradient(lambda t: tf.nn.conv2d(x(2, 5, 6, 3), t, 2, "VALID"), np.ones([3, 2, 3, 4]))
gradient(lambda t: tf.nn.conv3d(t, x(2, 2, 1, 2, 3), [1] * 5, "SAME"), np.ones([1, 4, 5, 3, 2]))
gradient(lambda t: tf.nn.depthwise_conv2d(t, x(3, 3, 3, 2), [1] * 4, "SAME"), np.ones([2, 5, 6,
    3]))
gradient(lambda t: tf.nn.max_pool(t, 2, 2, "SAME"), np.arange(180).reshape(2, 5, 6, 3) % 11 * 1.0)
gradient(lambda t: tf.nn.max_pool(t, 3, 2, "SAME"), np.ones([2, 5, 6, 3]))
gradient(lambda t: tf.nn.avg_pool(t, 3, 2, "SAME"), np.ones([2, 5, 6, 3]))
gradient(lambda t: tf.nn.max_pool_with_argmax(t, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")[0],
    np.ones([2, 5, 6, 3]))
gradient(lambda t: tf.nn.lrn(t, 2, 1.0, 0.5, 0.75), np.arange(20).reshape(2, 1, 2, 5) % 7 * 1.0)
gradient(lambda t: tf.nn.fused_batch_norm(t, [1.0, 2.0, 3.0], x(3))[0], np.arange(36).reshape(2,
    3, 2, 3) % 7 * 1.0)
gradient(lambda t: tf.nn.fused_batch_norm(x(2, 3, 2, 3), t, x(3))[0], [1.0, 2.0, 3.0])
gradient(lambda t: tf.nn.fused_batch_norm(t, x(3), x(3), x(3), [1.0, 2.0, 3.0],
    is_training=False)[0], np.ones([2, 3, 2, 3]))
gradient(lambda t: tf.gradients(tf.nn.fused_batch_norm(t, x(3), x(3))[0], t, x(2, 3, 2, 3))[0],
    np.arange(36).reshape(2, 3, 2, 3) % 7 * 1.0)
gradient(lambda t: tf.gradients(tf.nn.fused_batch_norm(t, x(3), x(3), x(3), [1.0, 2.0, 3.0],
    is_training=False)[0], t, t)[0], np.ones([2, 3, 2, 3]))
gradient(lambda t: tf.gradients(tf.nn.max_pool(t * t, 2, 2, "SAME"), t, x(2, 3, 3, 3))[0],
    np.arange(180).reshape(2, 5, 6, 3) % 11 * 1.0)
"""

# Calls that fail, there and here with the same class of error and the same first words.
ERRORS = """
tf.nn.conv2d(x(1, 2, 3, 3), x(3, 2, 3, 2), [1, 3, 3, 1], "VALID")
tf.nn.conv2d(u(1, 2, 3, 3), x(4, 2, 3, 2), 1, "VALID")
tf.nn.conv2d(x(2, 4, 5, 2), x(2, 2, 3, 2), 1, "SAME")
tf.nn.conv2d(x(2, 4, 5, 2), x(2, 2, 1, 2), 1, "SAME")
tf.nn.conv2d(x(2, 4, 5, 3), x(2, 2, 1, 2), 1, "SAME")
tf.nn.conv2d(x(2, 4, 5, 2), x(2, 2, 2, 2), [2, 1, 1, 1], "SAME")
tf.nn.conv2d(x(2, 4, 5, 2), x(2, 2, 2, 2), [1, 1, 1, 2], "SAME")
tf.nn.conv2d(x(2, 4, 5, 2), x(2, 2, 2, 2), [1, 0, 1, 1], "SAME")
tf.nn.conv2d(x(2, 4, 5, 2), x(2, 2, 2, 2), 1, "SAME", dilations=[2, 1, 1, 1])
tf.nn.conv2d(x(2, 4, 5, 2), x(2, 2, 2, 2), 1, "SAME", dilations=[1, 0, 1, 1])
tf.nn.conv2d(x(2, 4, 5, 2), x(2, 2, 2, 2), 1, "EXPLICIT")
tf.nn.conv2d(x(2, 4, 5, 2), x(2, 2, 2, 2), 1, [[0, 0], [1, 1], [0, 0]])
tf.nn.conv2d(x(2, 4, 5, 2), x(2, 2, 2, 2), 1, [0, 0])
tf.nn.conv2d(x(2, 4, 5, 2), x(2, 2, 2, 2), 1, [[0, 0, 0, 0]])
tf.nn.conv2d(x(2, 4, 5, 2), x(2, 2, 2, 2), 1, [[1, 0], [0, 0], [1, 1], [0, 0]])
tf.nn.conv2d(x(2, 4, 5, 2), x(2, 2, 2, 2), 1, [[0, 0], [-1, 0], [1, 1], [0, 0]])
tf.nn.conv2d_backprop_input([2, 5, 6, 3], x(3, 3, 3, 4), x(2, 5, 6, 4), [2, 1, 1, 1], "SAME")
tf.nn.conv1d(x(2, 7, 3), x(3, 3, 4), 1, "SAME", data_format="foo")
tf.nn.conv3d(x(1, 3, 2, 3, 2), x(2, 2, 2, 2, 2), [1, 1], "SAME")
tf.nn.conv3d(x(1, 3, 2, 3, 2), x(2, 2, 2, 2, 2), [2, 1, 1, 1, 1], "SAME")
tf.nn.depthwise_conv2d_native(x(2, 5, 6, 3), x(2, 3, 3, 4), 1, "VALID")
tf.nn.depthwise_conv2d(x(2, 5, 6, 3), x(2, 3, 3, 4), [1] * 4, "VALID", rate=2)
tf.nn.depthwise_conv2d(x(2, 5, 6, 3), x(2, 3, 3, 4), [1] * 4, "VALID", rate=[0, 1])
tf.nn.convolution(x(2, 5, 6, 3), x(2, 3, 3, 4), "SAME", dilation_rate=[0, 1])
tf.nn.convolution(x(2, 5, 6, 3), x(2, 3, 3, 4), "FOO", dilation_rate=[2, 2])
tf.nn.convolution(u(2, 5, 6, 3), u(2, 3, 3, 4), "SAME", dilation_rate=[2, 1])
tf.nn.atrous_conv2d_transpose(x(2, 5, 6, 2), x(2, 2, 3, 2), [2, 5, 6, 4], 2, "SAME")
tf.nn.atrous_conv2d_transpose(x(2, 5, 6, 2), x(2, 2, 3, 3), [2, 5, 6, 3], 2, "SAME")
tf.nn.atrous_conv2d_transpose(x(2, 5, 6, 2), x(2, 2, 3, 2), [2, 5, 6], 2, "SAME")
tf.nn.dilation2d(x(1, 3, 4, 2), x(2, 2, 2), [2, 1, 1, 1], [1] * 4, "VALID")
tf.nn.dilation2d(x(1, 3, 4, 2), x(2, 2, 2), [1] * 4, [1, 1, 1, 2], "VALID")
tf.nn.max_pool(x(2, 5, 6, 3), 2, [2, 1, 1, 1], "SAME")
tf.nn.avg_pool(x(2, 5, 6, 3), [2, 1, 1, 1], [1] * 4, "SAME")
tf.nn.avg_pool(x(2, 5, 6, 3), 2, [1, 0, 1, 1], "SAME")
tf.nn.pool(x(2, 5, 6, 3), [2, 2], "MAX", "VALID", strides=[2])
tf.nn.pool(x(2, 5, 6, 3), [2, 2], "FOO", "VALID")
tf.nn.pool(x(2, 5, 6, 3), [2], "MAX", "VALID")
tf.nn.pool(x(2, 5, 6, 3), [2, 2], "MAX", "VALID", strides=[0, 1])
tf.nn.pool(x(2, 5, 6, 3), [2, 2], "MAX", "SAME", dilation_rate=[2, 2])
tf.space_to_batch_nd(x(2, 4, 4, 2), [2, 2], [[-1, 1], [0, 0]])
tf.nn.bias_add(x(2, 3, 3), x(3), data_format="foo")
tf.nn.bias_add(x(2, 3), x(3), data_format="NCHW")
tf.nn.top_k([1.0, 2.0], -1)
tf.nn.top_k([1.0, 2.0], [1])
tf.nn.dropout(x(2, 5), 0.5, rate=0.5)
tf.nn.dropout(x(2, 5))
tf.nn.dropout(x(2, 5), rate=1.0)
tf.nn.dropout(x(2, 5), rate=tf.constant([0.5]))
tf.nn.log_poisson_loss(x(1, 3), x(2, 3))
tf.nn.sigmoid_cross_entropy_with_logits(labels=x(1, 3), logits=x(2, 3))
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 3], logits=x(2, 3))
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=x(2, 3))
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[[0], [1]], logits=x(2, 3))
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=0, logits=1.0)
"""


def calls(table):
    """Return the lines of a table."""
    return [line for line in table.replace("\n    ", " ").splitlines() if line]


def spelled_out(source):
    """Return a call with its tensors in full: whole numbers, whose sums are exact."""
    value = r"(np.arange(np.prod([\1])).reshape(\1) * 5 % 7 - 3).astype(np.float32)"
    source = re.sub(r"\bx\(([\d, ]+)\)", "tf.constant(" + value + ")", source)
    return re.sub(r"\bu\(([\d, ]+)\)", r"unknown(" + value + r", [None] * len([\1]))", source)


def main():
    """Write what this Python's TensorFlow makes of everything."""
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from differential import say_all

    say_all({source: spelled_out(source) for source in calls(CALLS) + calls(ERRORS)})


if __name__ == "__main__":
    main()
