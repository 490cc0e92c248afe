"""Layers of tf.keras have TensorFlow 1.15.5's settings, weights, shapes and values."""

import json
from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.keras_impl.layers.layer_cases import CASES, answer

EXPECTED = json.loads((Path(__file__).parent / "expected_layers_1_15.json").read_text())


@pytest.mark.parametrize("name", CASES)
def test_layer_is_tensorflows(name):
    found = json.loads(json.dumps(answer(tf, *CASES[name])))
    wanted = EXPECTED[name]
    for key in ("config", "weights", "trained", "shape"):
        assert found[key] == wanted[key], key
    for value, right in zip(found["values"], wanted["values"], strict=True):
        np.testing.assert_allclose(value, right, atol=2e-5)


@pytest.mark.parametrize("name", ["Dense with all", "LSTM", "RNN of cells", "Bidirectional"])
def test_configuration_makes_the_same_layer(name):
    layer = eval(CASES[name][0], {"L": tf.keras.layers, "keras": tf.keras})
    told = json.loads(json.dumps(tf.keras.layers.serialize(layer)))
    made = tf.keras.layers.deserialize(told)
    assert json.loads(json.dumps(tf.keras.layers.serialize(made))) == told


def test_dropout_drops_where_it_trains():
    """The learning phase is a placeholder; a layer may be told otherwise."""
    backend = tf.keras.backend
    backend.clear_session()
    inputs = tf.keras.Input((1000,))
    outputs = tf.keras.layers.Dropout(0.5)(inputs)
    always = tf.keras.layers.Dropout(0.5)(inputs, training=True)
    run = backend.function([inputs, backend.learning_phase()], [outputs, always])
    ones = np.ones((1, 1000))
    assert [int((value == 0).sum() > 300) for value in run([ones, False])] == [0, 1]
    assert [int((value == 0).sum() > 300) for value in run([ones, True])] == [1, 1]


def test_recurrent_dropout_drops_the_same_in_all_steps():
    """What a cell drops out is chosen once for a sequence."""
    backend = tf.keras.backend
    backend.clear_session()
    tf.set_random_seed(3)
    np.random.seed(3)  # noqa: NPY002  the generator that Keras draws from
    inputs = tf.keras.Input((6, 50))
    layer = tf.keras.layers.SimpleRNN(
        1, "linear", dropout=0.5, kernel_initializer="ones", recurrent_initializer="zeros",
        return_sequences=True,
    )  # fmt: skip
    run = backend.function([inputs, backend.learning_phase()], [layer(inputs)])
    (values,) = run([np.ones((2, 6, 50)), True])
    assert np.ptp(values, axis=1).max() == 0
    assert (values != 50).all()


@pytest.mark.parametrize("name", ["LSTM", "GRU", "LSTM of a mask", "Bidirectional"])
def test_gradients_flow_through_sequences(name):
    """Loops have gradients: those of the same layer unrolled are the same."""
    backend = tf.keras.backend
    backend.clear_session()
    layers = tf.keras.layers
    inputs = tf.keras.Input((4, 2))
    found = []
    for unroll in (False, True):
        inner = getattr(layers, "GRU" if name == "GRU" else "LSTM")(3, unroll=unroll)
        layer = layers.Bidirectional(inner) if name == "Bidirectional" else inner
        begin = layers.Masking(0.0)(inputs) if "mask" in name else inputs
        outputs = layer(begin)
        layer.set_weights([np.sin(np.arange(w.size)).reshape(w.shape) for w in layer.get_weights()])
        found.append(backend.gradients(backend.sum(outputs), layer.trainable_weights))
    values = np.cos(np.arange(16)).reshape(2, 4, 2)
    values[0, 2:] = 0
    looped, unrolled = backend.function([inputs], found)([values])
    for one, other in zip(looped, unrolled, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.parametrize(
    ("make", "seeds"),
    [
        pytest.param(lambda k: k.backend.random_uniform([2]), [2115790], id="an operation"),
        pytest.param(lambda k: k.backend.random_uniform([2], seed=9), [9], id="with its own seed"),
        pytest.param(
            lambda k: k.backend.random_normal_variable([2], 0, 1), [953453411], id="a variable"
        ),
        pytest.param(
            lambda k: k.layers.GaussianNoise(0.5)(tf.ones([2, 2]), training=True), [2115790],
            id="noise",
        ),
        pytest.param(
            lambda k: k.layers.Dropout(0.5)(tf.ones([2, 2]), training=True), [0],
            id="dropout has the seed of the graph",
        ),
        pytest.param(
            lambda k: k.layers.SimpleRNNCell(2, dropout=0.5, recurrent_dropout=0.3)(
                tf.ones([2, 2]), [tf.ones([2, 2])], training=True
            ),
            [0, 0, 2115790, 1956982], id="inputs and states of a cell",
        ),
    ],
)  # fmt: skip
def test_seeds_come_from_numpy_as_in_tensorflow(make, seeds):
    np.random.seed(5)  # noqa: NPY002  the generator that Keras draws from
    make(tf.keras)
    operations = tf.get_default_graph().get_operations()
    assert [op.get_attr("seed2") for op in operations if "seed2" in op.node_def.attr] == seeds


@pytest.mark.parametrize("kind", [tf.keras.layers.SeparableConv1D, tf.keras.layers.SeparableConv2D])
def test_a_separable_convolution_takes_what_its_configuration_tells(kind):
    layer = kind(3, 2, kernel_initializer="zeros", kernel_regularizer="l2")
    config = layer.get_config()
    assert config["kernel_initializer"]["class_name"] == "Zeros"
    assert kind.from_config(config).get_config() == config


class Told(tf.keras.layers.Layer):
    """A layer that keeps what it is told of training."""

    def call(self, inputs, **options):
        self.options = options
        return inputs


class Around(tf.keras.layers.Layer):
    """A layer whose `call` does not take `training`, around one that does."""

    def build(self, _):
        self.inner = Told()

    def call(self, inputs):
        return self.inner(inputs)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.keras.layers.Activation("relu"),
        lambda: tf.keras.layers.Dense(2),
        lambda: tf.layers.Dense(2),
        Around,
    ],
    ids=["keras", "keras with variables", "tf.layers", "a program's own"],
)
def test_layers_may_be_told_of_training_that_do_not_ask(make):
    assert make()(tf.ones([2, 3]), training=True).shape[0] == 2
    with pytest.raises(TypeError, match="mask"):
        make()(tf.ones([2, 3]), mask=None)


def test_layers_inside_are_told_what_the_layer_around_was_told():
    layer = Around()
    layer(tf.ones([2, 3]), training=True)
    assert layer.inner.options == {"training": True}


FACTOR = 3.0


def tripled(x):
    return x * FACTOR


@pytest.mark.parametrize(
    ("function", "kind", "value"),
    [
        (lambda x: x * FACTOR, "lambda", 6.0),
        (tripled, "lambda", 6.0),
        (tf.nn.relu, "function", 2.0),
        (tf.square, "function", 4.0),
    ],
    ids=["a lambda", "a function", "an op with a function", "an op"],
)
def test_lambda_finds_the_names_of_its_functions_module(function, kind, value):
    told = json.loads(json.dumps(tf.keras.layers.Lambda(function).get_config()))
    assert told["function_type"] == kind
    made = tf.keras.layers.Lambda.from_config(told)
    assert tf.keras.backend.eval(made(tf.constant([2.0]))) == [value]


def test_lambda_of_a_module_that_is_not_loaded_finds_custom_objects():
    told = tf.keras.layers.Lambda(lambda x: x * FACTOR).get_config()
    with pytest.warns(UserWarning, match="not loaded"):
        made = tf.keras.layers.Lambda.from_config(
            {**told, "module": "gone"}, custom_objects={"FACTOR": 5.0}
        )
    assert tf.keras.backend.eval(made(tf.constant([2.0]))) == [10.0]


class Recurrent(tf.keras.layers.Layer):
    """A layer of keras that holds layers and cells that are not."""

    def __init__(self):
        super().__init__()
        self.cell = tf.nn.rnn_cell.GRUCell(2)
        self.others = [tf.layers.Dense(2)]

    def call(self, inputs):
        outputs, _ = tf.nn.dynamic_rnn(self.cell, inputs, dtype=tf.float32)
        return self.others[0](outputs)


def test_what_keras_layers_hold_is_trained_by_keras_optimizers():
    inputs = tf.keras.Input((4, 3))
    model = tf.keras.Model(inputs, Recurrent()(inputs))
    model.compile("adam", "mse")
    before = model.get_weights()
    model.fit(np.ones((2, 4, 3)), np.ones((2, 4, 2)), verbose=0)
    changed = [np.any(old != new) for old, new in zip(before, model.get_weights(), strict=True)]
    assert changed == [True] * 6


@pytest.mark.parametrize(
    ("make", "added"),
    [
        (lambda: tf.ones([2, 3]), []),
        (lambda: tf.keras.Input((3,)), ["Identity"]),
        (lambda: tf.keras.Input((3,)) + 1.0, ["Identity"]),
    ],
    ids=["a tensor", "a tensor of a layer", "a tensor computed from one"],
)
def test_a_layer_that_gives_its_input_makes_another_only_for_networks(make, added):
    with tf.Graph().as_default() as graph:
        inputs = make()
        before = graph.get_operations()
        Told()(inputs)
        assert [op.type for op in graph.get_operations()[len(before) :]] == added


class TellsTraining(tf.keras.layers.Layer):
    """A layer that keeps what each call was told of training."""

    def __init__(self):
        super().__init__()
        self.told = []

    def call(self, inputs, training=None):
        self.told.append(training)
        return inputs


def test_layers_are_told_nothing_of_training_unless_someone_says():
    """A program's own layer gets None, as on 1.15.5; dropout goes by the learning phase."""
    layer, inputs = TellsTraining(), tf.keras.Input((3,))
    model = tf.keras.Model(inputs, layer(inputs))
    model(tf.ones([2, 3]))
    model(tf.ones([2, 3]), training=True)
    assert layer.told == [None, None, True]


def test_a_model_with_a_call_of_its_own_is_told_the_learning_phase_by_fit():
    class Model(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.inner = TellsTraining()
            self.last = tf.keras.layers.Dense(1)

        def call(self, inputs, training=None):
            return self.last(self.inner(inputs, training=training))

    model = Model()
    model.compile("sgd", "mse")
    model.fit(np.ones((2, 3)), np.ones((2, 1)), verbose=0)
    assert [each.op.type for each in model.inner.told] == ["PlaceholderWithDefault"]


class OwnCell(tf.keras.layers.Layer):
    """A cell of a program's own."""

    units = state_size = output_size = 2

    def build(self, input_shape):
        self.kernel = self.add_weight("kernel", (input_shape[-1], 2))

    def call(self, inputs, states):
        output = tf.matmul(inputs, self.kernel)
        return output, [output]

    def get_config(self):
        return {}

    @classmethod
    def from_config(cls, _):
        return cls()


@pytest.mark.parametrize("make", [OwnCell, lambda: [OwnCell(), OwnCell()]], ids=["one", "stacked"])
def test_bidirectional_makes_a_programs_own_cells_again(make):
    layer = tf.keras.layers.Bidirectional(tf.keras.layers.RNN(make()))
    assert layer(tf.ones([2, 3, 4])).shape == (2, 4)
