"""Losses, metrics and layers that real TensorFlow and ours make: names, collections, values.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. To store what 1.15.5 says:

    PYTHON_OF_1.15 tests/models/programs.py > tests/models/expected_1_15.json
"""

import json
import sys

import numpy as np

# One expression a line, each in a graph of its own; see `environment`. The shape of the weights `w`
# is known only when it runs.
LOSSES = """
tf.losses.absolute_difference(a, b)
tf.losses.absolute_difference(a, b, weights=[[1.0], [0.0]])
tf.losses.absolute_difference(a, b, weights=w)
tf.losses.absolute_difference(a, b, weights=0.0)
tf.losses.absolute_difference(a, b, 2.0, reduction="none")
tf.losses.absolute_difference(a, b, [[2.0], [0.0]], reduction="weighted_sum")
tf.losses.absolute_difference(a, b, [[2.0], [0.0]], reduction="weighted_mean")
tf.losses.absolute_difference(a, b, [[2.0], [0.0]], reduction="weighted_sum_over_batch_size")
tf.losses.absolute_difference(a, b, reduction="mean")
tf.losses.absolute_difference(a, b, [1.0, 2.0])
tf.losses.absolute_difference(a, b, [[1.0, 2.0]])
tf.losses.absolute_difference(a, [[1.0]])
tf.losses.absolute_difference(None, b)
tf.losses.cosine_distance(a, b, axis=1)
tf.losses.cosine_distance(a, b)
tf.losses.hinge_loss(a, b)
tf.losses.huber_loss(a, b, delta=0.5)
tf.losses.log_loss(c, c + 0.1, epsilon=0.01)
tf.losses.mean_pairwise_squared_error(a, b)
tf.losses.mean_pairwise_squared_error(a, b, weights=[[1.0], [0.0]])
tf.losses.mean_squared_error(a, b, scope="mine", loss_collection="other")
tf.losses.mean_squared_error([1, 2], [1.0, 4.0])
tf.losses.sigmoid_cross_entropy(c, b, label_smoothing=0.1)
tf.losses.softmax_cross_entropy([[0, 0, 1], [1, 0, 0]], b)
tf.losses.softmax_cross_entropy([[0, 0, 1], [1, 0, 0]], b, [0.5, 0.0], label_smoothing=0.1)
tf.losses.sparse_softmax_cross_entropy([0, 2], b)
tf.losses.sparse_softmax_cross_entropy([[0], [2]], b, weights=[[1.0], [3.0]])
tf.losses.sparse_softmax_cross_entropy(tf.placeholder_with_default([[0], [2]], None), b, w)
tf.losses.compute_weighted_loss(tf.constant([1, 2]), 0.5)
tf.losses.compute_weighted_loss(tf.constant([1.0, 2.0], tf.float64), 0.5)
[tf.losses.add_loss(tf.constant(1.0)), tf.losses.get_total_loss()][1]
[tf.losses.huber_loss(a, b), tf.losses.log_loss(c, c), tf.losses.get_total_loss()]
tf.losses.get_total_loss()
tf.losses.get_regularization_loss()
[regularized(), tf.losses.get_total_loss(), tf.losses.get_regularization_loss(name="r")][1:]
tf.losses.get_total_loss(add_regularization_losses=False)
"""

METRICS = """
tf.metrics.mean(a)
tf.metrics.mean(a, [[1.0], [0.0]], "values", ["updates", "more"], name="mine")
[tf.metrics.mean(a), tf.metrics.mean(b)]
tf.metrics.mean_tensor(a, [[1.0], [0.0]])
tf.metrics.accuracy([1, 2, 3], [1, 2, 0])
tf.metrics.accuracy([[1], [2], [3]], [1, 2, 0], weights=[1.0, 2.0, 3.0])
tf.metrics.accuracy([1, 2, 3], [1, 2])
tf.metrics.mean_absolute_error(a, b)
tf.metrics.mean_squared_error(a, b, weights=w)
tf.metrics.root_mean_squared_error(a, b)
tf.metrics.mean_relative_error(a, b, b)
tf.metrics.mean_cosine_distance(a, b, 1)
tf.metrics.percentage_below(a, 0.7)
tf.metrics.true_positives([1, 0, 1], [1, 1, 0])
tf.metrics.false_positives([1, 0, 1], [1, 1, 0], [1.0, 2.0, 3.0])
tf.metrics.true_negatives([1, 0, 1, 0], [1, 1, 0, 0])
tf.metrics.false_negatives([1, 0, 1], [1, 1, 0])
tf.metrics.precision([1, 0, 1], [1, 1, 0], [1.0, 2.0, 3.0])
tf.metrics.recall([1, 0, 1], [1, 1, 0])
tf.metrics.recall([0], [0])
tf.metrics.mean_iou(f(0, 1, 2, 2), f(0, 2, 2, 1), 4)
tf.metrics.mean_iou(f([0, 1], [2, 2]), f([0, 2], [2, 1]), 3, f([1.0, 1.0], [0.5, 2.0]))
tf.metrics.mean_per_class_accuracy(f(0, 1, 2, 2), f(0, 2, 2, 1), 3)
tf.metrics.auc([0, 0, 1, 1], f(0.1, 0.4, 0.35, 0.8))
tf.metrics.auc([0, 0, 1, 1], f(0.1, 0.4, 0.35, 0.8), [1.0, 2.0, 1.0, 2.0], num_thresholds=5)
tf.metrics.auc([0, 0, 1, 1], f(0.1, 0.4, 0.35, 0.8), curve="PR", num_thresholds=5)
tf.metrics.auc([0, 1, 1], f(0.1, 0.4, 0.8), curve="PR", summation_method="careful_interpolation")
tf.metrics.auc([0, 1, 1], f(0.5, 0.4, 0.8), num_thresholds=5, summation_method="minoring")
tf.metrics.auc([0, 1, 1], f(0.5, 0.4, 0.8), num_thresholds=5, summation_method="majoring")
tf.metrics.auc([0, 1, 1], f(0.5, 0.4, 0.8), thresholds=[0.45, 0.6])
tf.metrics.auc([0, 1], f(0.5, 1.5))
tf.metrics.auc([0, 1], f(0.5, 0.5), curve="X")
tf.metrics.auc([0, 1], f(0.5, 0.5), summation_method="X")
tf.metrics.true_positives_at_thresholds([1, 1, 0], f(0.1, 0.5, 0.6), [0.3, 0.55])
tf.metrics.false_positives_at_thresholds([1, 1, 0], f(0.1, 0.5, 0.6), [0.3, 0.55], [1.0, 2.0, 3.0])
tf.metrics.true_negatives_at_thresholds([1, 1, 0], f(0.1, 0.5, 0.6), [0.3, 0.65])
tf.metrics.false_negatives_at_thresholds([1, 1, 0], f(0.1, 0.5, 0.6), [0.3, 0.55])
tf.metrics.precision_at_thresholds([1, 1, 0], f(0.1, 0.5, 0.6), [0.3, 0.55])
tf.metrics.recall_at_thresholds([1, 1, 0], f(0.1, 0.5, 0.6), [0.3, 0.55])
tf.metrics.sensitivity_at_specificity([0, 0, 1, 1], f(0.1, 0.6, 0.4, 0.9), 0.5)
tf.metrics.specificity_at_sensitivity([0, 0, 1, 1], f(0.1, 0.6, 0.4, 0.9), 0.6)
tf.metrics.sensitivity_at_specificity([0], f(0.1), 1.5)
tf.metrics.precision_at_k(sets, scores, 2)
tf.metrics.precision_at_k(sets, scores, 2, class_id=1)
tf.metrics.precision_at_k(sparse, scores, 3, weights=[1.0, 2.0, 3.0])
tf.metrics.recall_at_k(sets, scores, 2, name="mine")
tf.metrics.recall_at_k(sets, scores, 2, class_id=1, weights=[1.0, 2.0, 3.0])
tf.metrics.recall_at_k(sparse, scores, 2)
tf.metrics.recall_at_k(tf.constant([0, 1, 3], tf.int64), scores, 2)
tf.metrics.precision_at_top_k(sets, tf.constant([[0, 1], [1, 1], [3, 2]], tf.int64))
tf.metrics.recall_at_top_k(sets, tf.constant([[0, 1], [1, 1], [3, 2]], tf.int64), k=2)
tf.metrics.average_precision_at_k(sets, scores, 3)
tf.metrics.average_precision_at_k(sets, scores, 2, weights=[1.0, 2.0, 3.0])
tf.metrics.sparse_average_precision_at_k(sets, scores, 3)
tf.confusion_matrix([1, 0, 2], [1, 0, 0])
tf.confusion_matrix([1, 0, 2], [1, 0, 0], num_classes=4, weights=tf.constant([1, 2, 3]))
tf.confusion_matrix([1, 0, 2], [1, 0, 0], num_classes=2)
tf.confusion_matrix([1, -1], [1, 0])
"""

LAYERS = """
tf.layers.dense(a, 4, kernel_initializer=ones)
tf.layers.dense(a, 4, tf.nn.relu, use_bias=False, kernel_initializer=ones, name="mine")
tf.layers.dense(cube, 2, kernel_initializer=ones)
[dense(a), dense(a)]
[dense(a, name="d"), dense(a, name="d", reuse=True)]
[dense(a, name="d"), dense(a, name="d")]
within("x", lambda: [dense(a), dense(a, name="d"), tf.layers.flatten(cube)])
[within("x", lambda: [dense(a), dense(a, name="d")], reuse=r) for r in (False, True)]
[within("x", lambda: [dense(a), dense(a, name="d")], reuse=tf.AUTO_REUSE) for _ in range(2)]
within("x", lambda: dense(a), regularizer=tf.nn.l2_loss)
dense(a, kernel_regularizer=tf.nn.l2_loss, activity_regularizer=tf.reduce_sum)
within("x", lambda: dense(a, kernel_regularizer=tf.nn.l2_loss), partitioner=halves)
within("x", lambda: tf.layers.batch_normalization(a, training=True), partitioner=halves)
within("x", lambda: [dense(a), tf.layers.batch_normalization(a, training=yes)], use_resource=True)
[twice(tf.layers.Dense(2, kernel_initializer=ones))]
tf.layers.dense(tf.constant([[1, 2]]), 3)
tf.layers.dense(tf.placeholder(tf.float32, [None, None]), 3)
tf.layers.dense(tf.placeholder(tf.float32), 3)
tf.layers.dense(tf.constant(a, tf.float64), 3, kernel_initializer=ones)
tf.layers.flatten(cube)
tf.layers.flatten(tf.placeholder_with_default(cube, [None, None, 3]))
tf.layers.dropout(a)
tf.layers.dropout(a, 0.0, training=True)
tf.layers.dropout(a, training=tf.placeholder_with_default(False, []))
tf.layers.batch_normalization(a)
tf.layers.batch_normalization(a, training=True)
tf.layers.batch_normalization(a, training=no, center=False)
tf.layers.batch_normalization(a, training=yes, scale=False, momentum=0.5)
tf.layers.batch_normalization(image, training=True, momentum=0.9)
tf.layers.batch_normalization(image, training=yes, name="mine", epsilon=0.1)
tf.layers.batch_normalization(image, training=no)
tf.layers.batch_normalization(cube, axis=1, training=True)
tf.layers.batch_normalization(a, axis=2)
[within("x", lambda: tf.layers.batch_normalization(a), reuse=r) for r in (False, True)]
tf.layers.conv1d(cube, 4, 2, kernel_initializer=ones)
tf.layers.conv2d(image, 4, 3, kernel_initializer=ones)
tf.layers.conv2d(image, 4, [3, 2], (2, 1), "same", activation=tf.nn.relu, kernel_initializer=ones)
tf.layers.conv2d(image, 4, 2, dilation_rate=2, kernel_initializer=ones)
tf.layers.conv2d(image, 4, 2, padding="even")
tf.layers.conv2d(image, 4, (2, 2, 2))
tf.layers.conv2d(cube, 4, 2)
tf.layers.conv3d(tf.expand_dims(image, 0), 2, 2, kernel_initializer=ones)
tf.layers.conv2d_transpose(image, 4, 3, 2, kernel_initializer=ones)
tf.layers.conv2d_transpose(image, 4, 3, 2, "same", kernel_initializer=ones, use_bias=False)
tf.layers.conv3d_transpose(tf.expand_dims(image, 0), 2, 2, 2, kernel_initializer=ones)
separable(tf.layers.separable_conv2d, image, 4, 3)
separable(tf.layers.separable_conv2d, image, 4, 3, 2, "same", depth_multiplier=2)
separable(tf.layers.separable_conv1d, cube, 4, 2)
separable(tf.layers.separable_conv1d, cube, 4, 3, 2, "same")
tf.layers.max_pooling1d(cube, 2, 2)
tf.layers.max_pooling2d(image, 2, 2)
tf.layers.max_pooling2d(image, [3, 2], [2, 1], "same", name="mine")
tf.layers.max_pooling3d(tf.expand_dims(image, 0), 2, 1)
tf.layers.average_pooling1d(cube, 2, 1)
tf.layers.average_pooling2d(image, 2, 2, "same")
tf.layers.average_pooling3d(tf.expand_dims(image, 0), 2, 2)
"""

CONTRIB = """
tf.contrib.layers.fully_connected(a, 4, weights_initializer=ones)
full(a, 4, scope="mine", biases_initializer=None, variables_collections=["v"])
full(a, 4, outputs_collections="o", variables_collections={"weights": ["v"]})
full(a, 4, weights_regularizer=tf.nn.l2_loss, scope="x", reuse=tf.AUTO_REUSE)
within("x", lambda: full(a, 4, variables_collections=["v"]), partitioner=halves)
full(a, 4, normalizer_fn=tf.contrib.layers.batch_norm, normalizer_params={"scale": True})
[full(a, 4, scope="x"), full(a, 4, scope="x", reuse=True)]
[full(a, 4), full(a, 4)]
tf.contrib.layers.linear(a, 4, weights_initializer=ones)
tf.contrib.layers.conv2d(image, 4, 3, weights_initializer=ones)
tf.contrib.layers.conv2d(image, 4, [2, 3], 2, "VALID", weights_initializer=ones, scope="mine")
tf.contrib.layers.convolution2d(image, 4, 2, activation_fn=None, weights_initializer=ones)
tf.contrib.layers.conv2d_transpose(image, 4, 2, 2, weights_initializer=ones)
tf.contrib.layers.separable_conv2d(image, 4, 3, 1, weights_initializer=ones)
tf.contrib.layers.max_pool2d(image, 2)
tf.contrib.layers.max_pool2d(image, [2, 3], 1, "SAME", scope="mine")
tf.contrib.layers.avg_pool2d(image, 2)
tf.contrib.layers.flatten(cube)
tf.contrib.layers.dropout(a, is_training=False)
tf.contrib.layers.batch_norm(a)
tf.contrib.layers.batch_norm(a, decay=0.5, updates_collections=None, scope="mine")
tf.contrib.layers.batch_norm(a, is_training=False, scale=True, center=False)
tf.contrib.layers.batch_norm(image, is_training=yes)
tf.contrib.layers.batch_norm(image, fused=False, activation_fn=tf.nn.relu)
tf.contrib.layers.layer_norm(cube)
tf.contrib.layers.bias_add(a)
tf.contrib.layers.unit_norm(tf.constant(a), 1)
tf.contrib.layers.one_hot_encoding(tf.constant([1, 2]), 3)
tf.contrib.layers.softmax(tf.constant(a))
tf.contrib.layers.repeat(a, 2, full, 3, scope="r")
tf.contrib.layers.stack(a, full, [3, 4], scope="s")
tf.contrib.layers.l1_regularizer(0.5)(tf.constant(a))
tf.contrib.layers.l2_regularizer(0.5, scope="mine")(tf.constant(a))
tf.contrib.layers.l1_l2_regularizer(0.5, 0.1)(tf.constant(a))
tf.contrib.layers.l2_regularizer(-1.5)
tf.contrib.layers.l2_regularizer(1)
tf.contrib.layers.apply_regularization(tf.contrib.layers.l2_regularizer(0.1), [tf.Variable(a)])
tf.contrib.layers.summarize_tensor(tf.constant(1.0))
tf.contrib.layers.summarize_activation(tf.nn.relu(a))
scoped([tf.contrib.layers.conv2d], lambda: tf.contrib.layers.conv2d(image, 4, 2), padding="VALID")
scoped([tf.nn.relu], lambda: 0)
scoped([full, tf.contrib.layers.flatten], lambda: [full(a, 4), full(a, 4, scope="y")], scope="x")
found(tf.contrib.framework.get_variables("x"))
found(tf.contrib.framework.get_variables_by_name("weights"))
found(tf.contrib.framework.get_variables_by_suffix("biases", "y"))
found(tf.contrib.framework.get_variables_to_restore(exclude=["x"]))
found(tf.contrib.framework.get_variables_to_restore(include=["x", "y/w"], exclude=["y"]))
found([tf.contrib.framework.get_unique_variable("y/weights")])
tf.contrib.framework.get_unique_variable("weights")
found(tf.contrib.framework.get_model_variables())
tf.contrib.layers.embed_sequence([[1, 0]], 2, 3, initializer=ones)
[tf.contrib.layers.optimize_loss(tf.nn.l2_loss(tf.Variable(a)), None, 0.1, "Momentum")][1:]
[tf.contrib.layers.optimize_loss(loss(), None, 0.5, "SGD", clip_gradients=1.0)][1:]
tf.contrib.layers.optimize_loss(tf.nn.l2_loss(tf.Variable(a)), None, 0.5, "Other")
tf.contrib.losses.mean_squared_error(tf.constant(a), tf.constant(b), 2.0)
tf.contrib.losses.softmax_cross_entropy(tf.constant(b), onehot_labels=tf.constant(c))
tf.contrib.metrics.streaming_auc(f(0.1, 0.4, 0.35, 0.8), [0, 0, 1, 1], num_thresholds=5)
tf.contrib.metrics.streaming_accuracy(tf.constant([1, 2]), tf.constant([1, 0]))
tf.contrib.metrics.streaming_mean(a)
tf.contrib.metrics.accuracy(tf.constant([1, 2]), tf.constant([1, 0]))
"""

INITIALIZERS = """
tf.initializers.identity(2.0)([2, 3])
tf.initializers.identity()([3])
tf.initializers.orthogonal()([3])
tf.abs(tf.initializers.orthogonal(2.0)([1, 1]))
tf.initializers.variance_scaling(mode="x")
tf.initializers.variance_scaling(distribution="x")
tf.initializers.variance_scaling(scale=0.0)
tf.initializers.global_variables()
"""

MEMBERS = """
after(tf.layers.Dense(3), lambda l: l.input)
after(tf.layers.Dense(3), lambda l: l.output)
after(tf.layers.Dense(3), lambda l: l.input_shape)
after(tf.layers.Dense(3), lambda l: l.output_shape)
after(tf.layers.Dense(3), lambda l: l.get_input_at(0))
after(tf.layers.Dense(3), lambda l: l.inbound_nodes)
tf.layers.Dense(3).count_params()
tf.layers.Dense(3).get_weights()
tf.layers.Dense(3).set_weights([a])
after(tf.layers.Dense(3), lambda l: l.count_params())
after(tf.layers.Dense(2), lambda l: [l.set_weights([a.T, b[0, :2]]), kept(l)])
after(tf.layers.Dense(2), lambda l: l.set_weights([a, b[0]]))
after(tf.layers.Dense(2), lambda l: l.set_weights([a.T]))
after(tf.layers.Dense(2, weights=[a.T, b[0, :2]]), kept)
settings(tf.layers.Dense(3, "relu", True, "he_normal", kernel_regularizer=tf.nn.l2_loss))
settings(tf.layers.Dense(3, input_shape=(4,), name="d", trainable=False, dtype="float64"))
settings(tf.layers.Conv2D(3, 2, padding="SAME"))
settings(tf.layers.BatchNormalization())
after(tf.layers.BatchNormalization(), settings)
settings(tf.layers.Dropout(0.25))
settings(tf.layers.Flatten())
settings(tf.layers.MaxPooling2D(2, 2))
settings(tf.nn.rnn_cell.BasicRNNCell(3))
settings(tf.nn.rnn_cell.GRUCell(3, kernel_initializer=tf.ones_initializer()))
settings(tf.nn.rnn_cell.BasicLSTMCell(3, 0.5))
settings(tf.nn.rnn_cell.LSTMCell(3, num_proj=2, initializer=tf.zeros_initializer()))
settings(tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(3)]))
settings(tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.BasicRNNCell(3), 0.5))
settings(tf.nn.rnn_cell.DeviceWrapper(tf.nn.rnn_cell.BasicRNNCell(3), "/cpu:0"))
again(tf.layers.Dense(3, "relu", True, ones, kernel_regularizer="l2", name="d"))(a)
again(tf.layers.Conv2D(3, 2, kernel_initializer=ones))(image)
again(separable(tf.layers.SeparableConv2D, 3, 2))(image)
again(tf.layers.BatchNormalization())(a, training=True)
again(tf.layers.MaxPooling2D(2, 2))(image)
again(tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.BasicRNNCell(3), 0.5))
tf.layers.dense(a, 2, kernel_initializer="ones", kernel_regularizer="l2", activity_regularizer="l1")
tf.layers.dense(a, 2, kernel_initializer="nothing")
tf.layers.Layer().get_config()
within("s", lambda: own(tf)(3).get_config())
tf.layers.MaxPooling3D(2, 2).compute_output_shape([2, 4, 5, 6, 1])
tf.layers.AveragePooling1D(3, 2, "same", "channels_first").compute_output_shape([2, 4, 5])
tf.layers.Layer().compute_output_shape([2, 4])
[issubclass(tf.layers.Dense, k) for k in (keras.Layer, keras.Dense, keras.Dropout, tf.keras.Model)]
[isinstance(tf.nn.rnn_cell.LSTMCell(2), k) for k in (keras.Layer, keras.LSTMCell)]
[issubclass(tf.layers.Conv2D, keras.Conv2D), issubclass(int, keras.Layer)]
of_keras(tf.layers.Dense(3, name="d"), lambda l, x, y: [l.input is x, l.output is y])
of_keras(tf.layers.Dense(3), lambda l, x, y: [l.input_shape, l.output_shape])
of_keras(tf.layers.Dense(3), lambda l, x, y: l.inbound_nodes[0].output_shapes)
of_keras(tf.layers.Dense(3), lambda l, x, y: l.get_output_at(1))
of_keras(tf.layers.Dense(3), lambda l, x, y: tf.keras.Model(x, y))
tf.keras.Sequential([tf.layers.Dense(3)])
found(subclassed(tf).weights)
[each.name for each in subclassed(tf).layers]
found(subclassed(tf).trainable_weights)
dependent(tf.layers.Dense(2, activity_regularizer=tf.nn.l2_loss), losses)
dependent(tf.layers.BatchNormalization(), updates, training=True)
tf.layers.Dense(3, units_of=2)
after(tf.layers.Dense(3), lambda l: l.compute_mask(1, None))
tf.layers.Flatten().compute_mask(1, [True])
"""

A = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], np.float32)
B = np.array([[1.0, 0.5, 0.25], [-0.5, 2.0, 1.0]], np.float32)
C = np.array([[0.0, 0.5, 0.25], [0.75, 0.125, 0.5]], np.float32)
CUBE = (np.arange(24) % 7 / 4 - 0.5).astype(np.float32).reshape(2, 4, 3)
IMAGE = (np.arange(120) % 11 / 4 - 1).astype(np.float32).reshape(2, 5, 6, 2)
COLLECTIONS = (
    "losses", "regularization_losses", "other", "values", "updates", "more", "metric_variables",
    "local_variables", "variables", "trainable_variables", "model_variables", "update_ops", "v",
    "o", "summaries",
)  # fmt: skip


def lines(text):
    """Return the expressions in a table."""
    return text.strip().split("\n")


def environment(tf, table):
    """Return the names that expressions use."""
    sets = tf.constant([[0, 2], [1, 1], [3, 9]], tf.int64)
    scores = tf.constant([[0.1, 0.5, 0.3, 0.2], [0.6, 0.2, 0.15, 0.1], [0.1, 0.2, 0.3, 0.4]])
    sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([0, 2, 1], tf.int64), [3, 2])
    ones = tf.ones_initializer()

    def within(scope, make, **options):
        with tf.variable_scope(scope, **options):
            return make()

    def dense(inputs, **options):
        return tf.layers.dense(inputs, 3, kernel_initializer=ones, **options)

    def twice(layer):
        return [layer(A), layer(B)], [v.name for v in layer.variables], layer.scope_name

    def separable(layer, *arguments, **options):
        return layer(*arguments, depthwise_initializer=ones, pointwise_initializer=ones, **options)

    def regularized():
        return tf.get_variable("w", initializer=tf.constant(A), regularizer=tf.nn.l2_loss)

    def full(*arguments, **options):
        return tf.contrib.layers.fully_connected(*arguments, weights_initializer=ones, **options)

    def scoped(functions, make, **options):
        functions = [tf.contrib.layers.fully_connected if f is full else f for f in functions]
        with tf.contrib.framework.arg_scope(functions, weights_initializer=ones, **options):
            return make()

    names = {
        "halves": tf.fixed_size_partitioner(2), "loss": lambda: tf.nn.l2_loss(tf.Variable(A)),
        "tf": tf, "f": lambda *numbers: tf.constant(numbers), "a": A, "b": B, "c": C,
        "cube": CUBE, "image": IMAGE, "ones": ones,
        "w": tf.placeholder_with_default(np.array([[1.0], [0.0]], np.float32), None),
        "yes": tf.placeholder_with_default(True, []), "no": tf.placeholder_with_default(False, []),
        "sets": sets, "scores": scores, "sparse": sparse, "within": within, "dense": dense,
        "twice": twice, "separable": separable, "regularized": regularized, "full": full,
        "scoped": scoped, "found": lambda variables: [each.name for each in variables],
    }  # fmt: skip
    names.update(members(tf))
    if "contrib.framework.get" in table:
        full(A, 2, scope="x")
        full(A, 2, scope="y")
    return names


def members(tf):
    """Return the names that expressions about members of layers use."""

    def after(layer, tell):
        layer(tf.constant(A))
        return tell(layer)

    def settings(layer):
        return sorted(layer.get_config().items())

    def again(layer):
        return type(layer).from_config(layer.get_config())

    def of_keras(layer, tell):
        x = tf.keras.Input([3])
        return tell(layer, x, layer(x))

    def dependent(layer, tell, **options):
        inputs = [tf.constant(A), tf.constant(B)]
        for each in inputs:
            layer(each, **options)
        return [tell(layer, each) for each in inputs]

    return {
        "after": after, "settings": settings, "again": again, "of_keras": of_keras, "own": own,
        "subclassed": subclassed, "keras": tf.keras.layers,
        "kept": lambda layer: [value.tolist() for value in layer.get_weights()],
        "losses": lambda layer, given: len(layer.get_losses_for(given)),
        "updates": lambda layer, given: [each.name for each in layer.get_updates_for(given)],
        "dependent": dependent,
    }  # fmt: skip


def own(tf):
    """Return a class of layers with an argument that its settings do not tell."""

    class Own(tf.layers.Layer):
        def __init__(self, size):
            super().__init__()
            self.size = size

    return Own


def subclassed(tf):
    """Return a model of tf.keras that holds layers of tf.layers, called."""

    class Mixed(tf.keras.Model):
        def __init__(self):
            super().__init__(name="mixed")
            self.first = tf.layers.Dense(4)
            self.last = tf.layers.Dense(1, name="last")
            self.norm = tf.layers.BatchNormalization()

        def call(self, inputs):
            return self.last(self.norm(self.first(inputs)))

    model = Mixed()
    model(tf.constant(A))
    return model


def outcome(tf, line, environment=environment):
    """Return what an expression gives: names, static shapes, collections, values, or an error."""
    with tf.Graph().as_default() as graph:
        names = environment(tf, line)
        try:
            made = eval(line, names)
        except Exception as error:
            return {"error": type(error).__name__, "said": str(error).split("\n")[0]}
        told = {"made": named(made)}
        for key in COLLECTIONS:
            members = [getattr(each, "op", each).name for each in graph.get_collection(key)]
            if members:
                told[key] = members
        told.update(values(tf, graph, made))
        return told


def named(made):
    """Return results as text: the names, types and shapes of tensors."""
    if isinstance(made, (list, tuple)):
        return [named(each) for each in made]
    if not hasattr(made, "get_shape"):
        return repr(made)
    shape = made.get_shape()
    return [made.name, made.dtype.base_dtype.name, str(shape)]


def tensors(made):
    """Return the tensors among results."""
    if isinstance(made, (list, tuple)):
        return [tensor for each in made for tensor in tensors(each)]
    return [made] if hasattr(made, "get_shape") else []


def values(tf, graph, made):
    """Return values after one run and after two, and what updates have made of variables."""
    fetched, told = tensors(made), {}
    if not fetched or any(tensor.dtype == tf.string for tensor in fetched):
        return told
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        try:
            updates = graph.get_collection("update_ops")
            found = [session.run(tensor) for tensor in fetched]
            session.run([fetched, updates])
            found += [session.run(tensor) for tensor in fetched]
            found += session.run(tf.global_variables()) if updates else []
        except tf.errors.OpError as error:
            return {"error": type(error).__name__}
    told["values"] = [rounded(each) for each in found]
    return told


def rounded(value):
    """Return numbers to six digits."""
    array = np.asarray(value)
    return [
        None if np.isnan(v) else float(format(v, ".6g")) for v in array.astype(float).reshape(-1)
    ]


TABLES = {"losses": LOSSES, "metrics": METRICS, "layers": LAYERS, "contrib": CONTRIB,
          "initializers": INITIALIZERS, "members": MEMBERS}  # fmt: skip

if __name__ == "__main__":
    import tensorflow

    said = {
        name: {line: outcome(tensorflow, line) for line in lines(text)}
        for name, text in TABLES.items()
    }
    json.dump(said, sys.stdout, indent=0)
