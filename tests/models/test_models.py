"""What is ours in losses, metrics and layers: messages, resource variables, distributions."""

import copy

import numpy as np
import pytest

import tfdist as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


@pytest.mark.parametrize(
    ("build", "text"),
    [
        pytest.param(
            lambda: tf.losses.mean_squared_error([[1.0]], [[1.0]], [[1.0, 2.0]]),
            r"weights can not be broadcast to values\. Mismatch at dim 1",
            id="weights that are too many",
        ),
        pytest.param(
            lambda: tf.losses.mean_squared_error([1.0], [1.0], reduction="sum"),
            "Invalid Reduction Key sum; there are none, weighted_sum",
            id="a reduction that is not there",
        ),
        pytest.param(lambda: tf.metrics.auc([1], [0.5], curve="AB"), "ROC or PR", id="a curve"),
        pytest.param(
            lambda: tf.layers.dense(tf.zeros([3]), 2),
            r"layer dense_1 is incompatible with the layer: expected min_ndim=2, found ndim=1\. "
            r"Full shape received: \[3\]",
            id="inputs of too low a rank",
        ),
        pytest.param(
            lambda: tf.layers.conv2d(tf.zeros([1, 4, 4, 1]), 2, 3, data_format="last"),
            '"channels_first", "channels_last". Received: last',
            id="a data format",
        ),
        pytest.param(
            lambda: tf.layers.Dense(2).scope_name, "has not been used yet", id="a layer's scope"
        ),
        pytest.param(
            lambda: tf.layers.Dense(2).count_params(), "isn.t built", id="a layer's parameters"
        ),
    ],
)
def test_an_error_tells_what_is_wrong(build, text):
    with pytest.raises(ValueError, match=text):
        build()


def test_weights_of_a_shape_that_is_known_late_are_checked_when_it_runs():
    weights = tf.placeholder(tf.float32)
    loss = tf.losses.mean_squared_error([[1.0], [2.0]], [[2.0], [4.0]], weights)
    with tf.Session() as session:
        assert session.run(loss, {weights: 2.0}) == 5.0
        assert session.run(loss, {weights: [[0.0], [1.0]]}) == 4.0
        for wrong in ([1.0, 2.0], [[1.0, 2.0, 3.0]], [[1.0]] * 3):
            with pytest.raises(tf.errors.InvalidArgumentError, match="can not be broadcast"):
                session.run(loss, {weights: wrong})


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_model_learns(use_resource):
    x = np.linspace(-1, 1, 32).astype(np.float32).reshape(16, 2)
    with tf.variable_scope("model", use_resource=use_resource):
        hidden = tf.layers.dense(x, 8, tf.nn.relu, name="hidden")
        hidden = tf.layers.batch_normalization(hidden, training=True)
        outputs = tf.layers.dense(hidden, 1)
        tf.losses.mean_squared_error(x[:, :1] * x[:, 1:], outputs)
        value, update = tf.metrics.mean(outputs)
    loss = tf.losses.get_total_loss()
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        first = session.run(loss)
        for _ in range(20):
            session.run([train, update])
        assert session.run(loss) < first / 2
        assert np.isfinite(session.run(value))
        moving = session.run(tf.global_variables("model/batch_normalization/moving_variance"))
        assert (moving[0] != 1.0).any()


@pytest.mark.parametrize(
    ("initializer", "deviation"),
    [
        (tf.contrib.layers.xavier_initializer(), (1 / 150) ** 0.5),
        (tf.contrib.layers.xavier_initializer(uniform=False), (1 / 150) ** 0.5),
        (tf.contrib.layers.variance_scaling_initializer(), (2 / 100) ** 0.5),
        (tf.contrib.layers.variance_scaling_initializer(1.0, "FAN_OUT", True), (1 / 200) ** 0.5),
    ],
)
def test_initial_values_have_the_deviation_that_is_told(initializer, deviation):
    with tf.Session() as session:
        values = session.run(initializer([100, 200]))
    assert abs(values.mean()) < deviation / 20
    np.testing.assert_allclose(values.std(), deviation, rtol=0.03)


def test_scopes_of_arguments_nest_and_are_entered_again():
    arg_scope, layer = tf.contrib.framework.arg_scope, tf.contrib.layers.fully_connected
    with arg_scope([layer], activation_fn=None) as outer:
        with arg_scope([layer], activation_fn=tf.nn.tanh, num_outputs=2):
            assert layer(tf.zeros([1, 3])).op.type == "Tanh"
            assert layer(tf.zeros([1, 3]), activation_fn=None).op.type == "BiasAdd"
        with arg_scope(outer):
            assert layer(tf.zeros([1, 3]), 2).op.type == "BiasAdd"
    assert layer(tf.zeros([1, 3]), 2).op.type == "Relu"


def test_slim_is_a_module_to_import():
    tf.install()
    try:
        import tensorflow.contrib.slim as slim
        from tensorflow.contrib.framework import arg_scope
        from tensorflow.contrib.slim import layers

        with arg_scope([slim.conv2d, slim.fully_connected], activation_fn=None):
            net = layers.conv2d(tf.zeros([1, 8, 8, 1]), 4, [3, 3], scope="conv")
            net = slim.fully_connected(slim.flatten(slim.max_pool2d(net, 2)), 2, scope="out")
        assert net.name == "out/BiasAdd:0"
        assert [v.op.name for v in slim.get_model_variables()] == [
            "conv/weights", "conv/biases", "out/weights", "out/biases",
        ]  # fmt: skip
    finally:
        from tfdist.programs.stand_in import uninstall

        uninstall()


def test_a_property_of_a_module_may_be_set_to_what_it_is():
    class Shaped(tf.Module):
        @property
        def shape(self):
            return tf.TensorShape([2])

    module = Shaped()
    module.shape = tf.ones([2]).shape
    with pytest.raises(AttributeError, match="shape"):
        module.shape = tf.TensorShape([3])


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: tf.layers.Dense(2, name="own"), ["own/kernel:0", "own/bias:0"]),
        (lambda: tf.keras.layers.Dense(2, name="own"), ["own/kernel:0", "own/bias:0"]),
        (
            lambda: tf.nn.rnn_cell.LSTMCell(2, name="own"),
            ["own/kernel:0", "own/bias:0"],
        ),
    ],
    ids=["a layer", "a layer of keras", "a cell"],
)
def test_a_copy_of_a_layer_makes_variables_of_its_own(make, names):
    with tf.Graph().as_default():
        layer, inputs = make(), tf.ones([2, 3])
        more = (layer.zero_state(2, tf.float32),) if hasattr(layer, "zero_state") else ()
        made = copy.deepcopy(layer)
        made(inputs, *more)
        layer(inputs, *more)
        assert [each.name for each in made.weights] == names
        assert not set(map(id, made.weights)) & set(map(id, layer.weights))
