"""variable_scope and get_variable: names, reuse, defaults; as TensorFlow 1.15 does them."""

import numpy as np
import pytest

import tfdist as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def value(variable):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(variable)


def nested():
    with tf.variable_scope("a"), tf.variable_scope("b"):
        return tf.get_variable("v", [1]).name


def entered_again():
    with tf.variable_scope("a") as scope:
        pass
    with tf.variable_scope("other"), tf.variable_scope(scope):
        return tf.get_variable("v", [1]).name


def by_default_name():
    with tf.variable_scope(None, "layer"):
        pass
    with tf.variable_scope(None, "layer"):
        return tf.get_variable("v", [1]).name


def beside_a_name_scope():
    with tf.name_scope("n"), tf.variable_scope("a"):
        return tf.get_variable("v", [1]).name


def op_in_a_variable_scope():
    with tf.variable_scope("a"):
        return tf.constant(1.0, name="c").name


def in_the_old_order():
    with tf.variable_op_scope([], "a", "unused"):
        return tf.get_variable("v", [1]).name


@pytest.mark.parametrize(
    ("make", "name"),
    [
        pytest.param(nested, "a/b/v:0", id="scopes nest"),
        pytest.param(entered_again, "a/v:0", id="a scope entered again is the same one"),
        pytest.param(by_default_name, "layer_1/v:0", id="a default name is made unique"),
        pytest.param(beside_a_name_scope, "a/v:0", id="name scopes do not count for variables"),
        pytest.param(op_in_a_variable_scope, "a/c:0", id="ops are named inside, too"),
        pytest.param(in_the_old_order, "a/v:0", id="the arguments' order of TensorFlow 0.x"),
    ],
)
def test_names(make, name):
    assert make() == name


def test_reuse_finds_the_same_variable():
    with tf.variable_scope("a"):
        made = tf.get_variable("v", [2])
    with tf.variable_scope("a", reuse=True):
        assert tf.get_variable("v", [2]) is made
        with tf.variable_scope("b", reuse=tf.AUTO_REUSE):
            inner = tf.get_variable("v", [2])
    with tf.variable_scope("a/b", reuse=tf.AUTO_REUSE):
        assert tf.get_variable("v") is inner


def test_reuse_can_begin_in_the_middle():
    with tf.variable_scope("a") as scope:
        made = tf.get_variable("v", [2])
        scope.reuse_variables()
        assert tf.get_variable("v", [2]) is made
    assert not tf.get_variable_scope().reuse


@pytest.mark.parametrize(
    ("arguments", "reuse", "text"),
    [
        pytest.param({"shape": [2]}, None, "v already exists", id="made twice"),
        pytest.param({"name": "w", "shape": [2]}, True, "w does not exist", id="not there"),
        pytest.param({"shape": [3]}, True, "found shape", id="another shape"),
        pytest.param({"shape": [2], "dtype": "int32"}, True, "found dtype", id="another type"),
        pytest.param({"name": "w"}, None, "initializer passed is not valid", id="no shape"),
        pytest.param(
            {"name": "w", "shape": [None]},
            None,
            "initializer passed is not valid",
            id="half a shape",
        ),
    ],
)
def test_errors(arguments, reuse, text):
    tf.get_variable("v", [2])
    arguments = {"name": "v", **arguments}
    scope = tf.variable_scope(tf.get_variable_scope(), reuse=reuse)
    with scope, pytest.raises(ValueError, match=text):
        tf.get_variable(**arguments)


def test_defaults_come_from_the_scope():
    with tf.variable_scope("a", initializer=tf.constant_initializer(7.0), dtype=tf.float64):
        v = tf.get_variable("v", [2])
    assert v.dtype.base_dtype is tf.float64
    assert value(v).tolist() == [7.0, 7.0]


@pytest.mark.parametrize(
    ("initializer", "expected"),
    [
        pytest.param(tf.zeros_initializer(), [0.0, 0.0], id="an initializer"),
        pytest.param(tf.ones_initializer, [1.0, 1.0], id="its class"),
        pytest.param(lambda shape, dtype: tf.fill(shape, 3.0), [3.0, 3.0], id="a function"),
        pytest.param(tf.constant_initializer([1, 2]), [1.0, 2.0], id="a list of values"),
    ],
)
def test_initializers(initializer, expected):
    assert value(tf.get_variable("v", [2], initializer=initializer)).tolist() == expected


def test_a_value_initializes_without_a_shape():
    assert value(tf.get_variable("v", initializer=np.array([4, 5], np.int32))).tolist() == [4, 5]


def test_the_default_initializer_is_bounded_by_the_layers_size():
    weights = value(tf.get_variable("v", [30, 20]))
    limit = np.sqrt(6 / (30 + 20))
    assert np.abs(weights).max() <= limit
    assert np.abs(weights).max() > limit / 2


def test_a_regularizer_adds_a_loss():
    v = tf.get_variable("v", [2], initializer=tf.ones_initializer(), regularizer=tf.reduce_sum)
    [loss] = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert value(loss) == 2.0
    assert v in tf.trainable_variables()


def test_a_custom_getter_sees_every_call():
    seen = []

    def custom(getter, name, **arguments):
        seen.append(name)
        return getter(name=name, **arguments)

    with tf.variable_scope("a", custom_getter=custom):
        tf.get_variable("v", [1])
    assert seen == ["a/v"]


def test_a_local_variable_is_neither_global_nor_trained():
    v = tf.get_local_variable("v", [1])
    assert tf.local_variables() == [v]
    assert tf.global_variables() == tf.trainable_variables() == []


def test_custom_getters_are_called_from_the_inside_out():
    """As in 1.15.5; one that is given to get_variable stands for all of the scopes'."""
    called = []

    def maker(tag):
        def getter(getter, name, *args, **kwargs):
            called.append((tag, name))
            return getter(name, *args, **kwargs)

        return getter

    with tf.variable_scope("a", custom_getter=maker("outer")):
        with tf.variable_scope("b", custom_getter=maker("inner")) as inside:
            tf.get_variable("v", [])
            tf.get_variable("w", [], custom_getter=maker("own"))
    with tf.variable_scope("c", custom_getter=maker("other")), tf.variable_scope(inside):
        tf.get_variable("x", [])
    assert called == [
        ("inner", "a/b/v"),
        ("outer", "a/b/v"),
        ("own", "a/b/w"),
        ("inner", "a/b/x"),
        ("outer", "a/b/x"),
    ]


def test_the_root_scope_keeps_the_name_scope_around():
    with tf.name_scope("x"), tf.variable_scope(tf.get_variable_scope()):
        assert tf.constant(1, name="c").name == "x/c:0"
        assert tf.get_variable("v", []).name == "v:0"


def test_a_custom_getter_takes_its_arguments_by_name():
    with tf.variable_scope("a", custom_getter=lambda name, getter, **rest: getter(name, **rest)):
        assert tf.get_variable("v", [1]).name == "a/v:0"


@pytest.mark.parametrize(
    ("initializer", "config"),
    [
        (tf.zeros_initializer(), {"dtype": "float32"}),
        (tf.constant_initializer(3), {"value": 3, "dtype": "float32"}),
        (
            tf.random_uniform_initializer(-1, 1, seed=1),
            {"minval": -1, "maxval": 1, "seed": 1, "dtype": "float32"},
        ),
        (
            tf.truncated_normal_initializer(seed=1),
            {"mean": 0.0, "stddev": 1.0, "seed": 1, "dtype": "float32"},
        ),
        (tf.glorot_uniform_initializer(), {"seed": None, "dtype": "float32"}),
        (tf.uniform_unit_scaling_initializer(), {"factor": 1.0, "seed": None, "dtype": "float32"}),
        (tf.orthogonal_initializer(2.0), {"gain": 2.0, "seed": None, "dtype": "float32"}),
        (tf.initializers.identity(), {"gain": 1.0, "dtype": "float32"}),
        (
            tf.initializers.he_normal(),
            {"scale": 2.0, "mode": "fan_in", "distribution": "truncated_normal", "seed": None,
             "dtype": "float32"},
        ),
    ],
)  # fmt: skip
def test_an_initializer_tells_its_settings_as_tensorflow_does(initializer, config):
    assert initializer.get_config() == config
    assert type(initializer).from_config(config).get_config() == config


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: tf.constant_initializer([1, 2], verify_shape=True)([2, 3]), TypeError,
         r"Expected Tensor's shape: \(2, 3\)"),
        (lambda: tf.random_normal_initializer()([2], tf.string), ValueError, "Invalid dtype"),
        (lambda: tf.glorot_uniform_initializer()([2], tf.bool), ValueError, "Invalid dtype"),
        (lambda: tf.variable_scope(None, "d", reuse=True).__enter__(), ValueError,
         "reuse=True cannot be used without"),
        (lambda: tf.scatter_nd_update(tf.Variable([[1.0, 2.0]]), [[0]], [1.0]), ValueError,
         "The inner 1 dimensions of input.shape"),
        (lambda: tf.get_variable("r", [1, 2], use_resource=True).scatter_nd_add([[0]], [1.0]),
         ValueError, "The inner 1 dimensions of input.shape"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_while_the_graph_is_built(call, error, words):
    with pytest.raises(error, match=words):
        call()
