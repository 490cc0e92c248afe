"""Programs that make networks of tf.keras and say what they are; run by tfdist, and by TensorFlow.

As a program, `python network_cases.py > expected_networks_1_15.json` stores what TensorFlow 1.15.5
says. Where a line of a program fails, the class of its error is what it says.
"""

import json
import os
import tempfile

import numpy as np

ENCODER = """
x = keras.Input((4, 3), name="x")
y = keras.Input((2, 3), name="y")
_, h, c = L.LSTM(5, return_state=True, name="enc")(x)
found = L.LSTM(5, return_sequences=True, name="dec")(y, initial_state=[h, c])
m = keras.Model([x, y], L.TimeDistributed(L.Dense(2, activation="softmax"), name="td")(found))
fill(m)
"""
SIAMESE = """
base = keras.Sequential([L.Dense(3, "relu", input_shape=(4,)), L.Dense(2)], name="base")
p = keras.Input((4,))
q = keras.Input((4,))
d = L.Lambda(lambda v: K.abs(v[0] - v[1]))([base(p), base(q)])
m = keras.Model([p, q], L.Dense(1)(d))
fill(m)
"""
NORMALIZED = """
base = keras.Sequential([L.Dense(3, input_shape=(4,)), L.BatchNormalization()], name="base")
p = keras.Input((4,))
m = keras.Model(p, L.Dense(1)(base(p)))
m.compile("sgd", "mse")
fill(m)
"""
RESIDUAL = """
i = keras.Input((8, 8, 3))
z = L.Conv2D(4, 3, padding="same", activation="relu")(i)
r = L.Conv2D(4, 3, padding="same")(L.BatchNormalization()(z))
z = L.GlobalAveragePooling2D()(L.add([z, r]))
m = keras.Model(i, L.Dense(2)(z))
fill(m)
"""
SHARED = """
a = keras.Input((4,), name="a")
b = keras.Input((4,), name="b")
shared = L.Dense(4)
c = L.concatenate([shared(a), shared(b)])
m = keras.Model([a, b], [L.Dense(2, name="out")(c), L.Dense(1)(L.add([a, b]))])
fill(m)
"""
SUBCLASSED = """
class My(keras.Model):
    def __init__(self):
        super(My, self).__init__()
        self.first = L.Dense(3)
        self.others = [L.Dense(2), L.Dropout(0.5)]

    def call(self, x):
        x = self.first(x)
        for layer in self.others:
            x = layer(x)
        return x

m = My()
"""
LAYER = """
class Mine(L.Layer):
    def __init__(self, n, **options):
        super(Mine, self).__init__(**options)
        self.n = n

    def build(self, shape):
        self.w = self.add_weight("w", (int(shape[-1]), self.n), initializer="ones")
        self.b = self.add_weight(shape=(self.n,), name="b", initializer="zeros", trainable=False)
        self.v = tf.Variable(2.0, name="v")
        super(Mine, self).build(shape)

    def call(self, x):
        return tf.matmul(x, self.w) * self.v + self.b

mine = Mine(3)
"""

BESIDE = """
x = keras.Input((3,), name="x")
h = L.Dense(4, name="h")(x)
side = L.Dense(1, name="side")(L.BatchNormalization(name="bn")(h))
m = keras.Model(x, L.Dense(2, name="y")(h))
m.add_loss(tf.reduce_mean(side) * 0.5)
m.add_metric(tf.reduce_sum(tf.abs(side)), name="size", aggregation="mean")
m.add_loss([tf.reduce_mean(L.Dense(1, name="other")(h)), lambda: tf.constant(3.0)])
fill(m)
"""
ALONE = """
x = keras.Input((3,), name="x")
h = L.Dense(4, name="h")(x)
m = keras.Model(x, h)
fill(m)
m.add_loss(K.mean(K.square(h) - 1.0))
m.add_metric(K.mean(h), name="mean", aggregation="mean")
"""
TELLING = """
class Telling(L.Layer):
    def call(self, x):
        self.add_metric(tf.reduce_sum(x), name="sum", aggregation="mean")
        self.add_metric(keras.metrics.Mean(name="mean")(x))
        return x * 2.0

telling = Telling()
x = keras.Input((3,))
m = keras.Model(x, telling(telling(x)))
m.compile("sgd", "mse", metrics=["mae"])
"""

# Name -> (lines that are run, expressions whose values are compared).
CASES = {
    "encoder and decoder": (ENCODER, [
        "summary(m)", "run(m, [numbers(2, 4, 3), numbers(2, 2, 3)])", "names(m.weights)",
        "m.input_names", "m.output_names", "m.input_shape", "m.output_shape",
        "run(again(m), [numbers(2, 4, 3), numbers(2, 2, 3)])",
        "names(keras.models.clone_model(m).weights)",
    ]),
    "a network in a network": (SIAMESE, [
        "summary(m)", "run(m, [numbers(2, 4), numbers(2, 4)[::-1]])", "names(m.weights)",
        "m.get_layer('base').get_output_at(1).name", "m.get_layer('base').get_output_at(2).name",
        "len(m.get_weights())", "m.get_layer('base').output_shape",
    ]),
    "updates of a network in a network": (NORMALIZED, [
        "names(m.updates)", "names(m.get_updates_for(m.inputs))", "m.get_updates_for(None)",
        "names(base.get_updates_for(base.inputs))", "names(base.updates)",
        "m.train_on_batch(numbers(2, 4), numbers(2, 1)).round(4)", "run(m, [numbers(2, 4)])",
        "base.get_weights()[4].round(5).tolist()",
    ]),
    "residual": (RESIDUAL, [
        "summary(m, line_length=80)", "run(m, [numbers(2, 8, 8, 3)])", "names(m.weights)",
        "names(m.trainable_weights)", "names(m.updates)", "len(m.get_updates_for(i))",
        "m.get_updates_for(None)", "keras.Model(m.input, m.layers[1].output).output_shape",
        "plain(m.get_config())", "m(tf.zeros([1, 8, 8, 3])).name", "names(m.updates)",
    ]),
    "shared layers, several outputs": (SHARED, [
        "summary(m)", "m.input_names", "m.output_names", "names(m.layers)", "m.output_shape",
        "plain(m.get_config())", "shared.output.name", "shared.get_output_at(1).name",
        "shared.get_output_at(2)", "m.get_layer('out').name", "m.get_layer('none')",
        "m.get_layer()", "m.get_layer(index=99)", "m.set_weights([1])",
        "shared.set_weights([np.zeros((2, 2)), np.zeros(4)])", "keras.Model(a, c)",
        "keras.Model(tf.zeros([2]), c)", "keras.Model([a, a], c)",
        "keras.Model([a, b], [L.Dense(3, name='q')(a), L.Dense(3, name='q')(b)])",
        "names(keras.Model.from_config(m.get_config()).layers)",
    ]),
    "a subclassed network": (SUBCLASSED, [
        "m.name", "names(m.layers)", "m.summary()", "m(tf.zeros([2, 4])).name", "names(m.weights)",
        "names(m.inputs)", "names(m.outputs)", "summary(m)", "m.get_config()", "m.input_shape",
    ]),
    "a layer of one's own": (LAYER, [
        "mine(tf.ones([2, 4])).name", "names(mine.weights)", "names(mine.trainable_weights)",
        "mine.get_config()", "mine.compute_output_shape((None, 4))", "K.get_value(mine.v)",
        "mine(np.zeros((2, 4), 'float32')).name", "value(mine(tf.ones([1, 4])))",
        "mine(tf.zeros([2, 5]))",
    ]),
    "a row of layers": ("s = keras.Sequential()", [
        "s.add(L.Dense(3, input_dim=4))", "s.add(L.Dense(2))", "names(s.inputs)",
        "names(s.outputs)", "s.input_names", "s.output_names", "s.built", "summary(s)", "s.pop()",
        "names(s.outputs)", "s.add(3)", "s.add(tf.layers.Dense(2))", "keras.Sequential().pop()",
        "plain(s.get_config())", "json.loads(s.to_json())", "s.name",
    ]),
    "a row without an input": ("s = keras.Sequential([L.Dense(3), L.Dense(2)])", [
        "s.built", "s.weights", "s.summary()", "s.inputs", "s.build((None, 4))", "s.built",
        "names(s.weights)", "summary(s)", "plain(s.get_config())",
        "keras.Sequential([L.Dense(1)])(tf.zeros([2, 3])).name",
    ]),
    "operations between layers": (
        "x = keras.Input((3,))\nm = keras.Model(x, L.Dense(2)(tf.nn.relu(x * 2 - 1)))\nfill(m)", [
            "summary(m)", "run(m, [numbers(2, 3)])", "names(m.layers)",
            "m(tf.zeros([2, 3])).name", "m.layers[1].trainable",
        ]),
    "what is not trained": (
        "x = keras.Input((4,))\nh = L.BatchNormalization(name='bn')(L.Dense(3, name='d')(x))\n"
        "m = keras.Model(x, L.Dense(1, name='e')(h))\nm.get_layer('d').trainable = False", [
            "names(m.weights)", "names(m.trainable_weights)", "names(m.non_trainable_weights)",
            "summary(m)", "setattr(m, 'trainable', False)", "names(m.trainable_weights)",
            "names(m.weights)", "m.get_layer('e').trainable", "m.updates",
        ]),
    "losses": (
        "m = keras.Sequential([L.Dense(2, kernel_regularizer=keras.regularizers.l1_l2(0.1, 0.2),\n"
        "    activity_regularizer='l1', input_shape=(3,)), L.ActivityRegularization(0.5)])\n"
        "fill(m)", [
            "names(m.losses)", "K.function(m.inputs, m.losses)([numbers(2, 3)])",
            "m.add_loss(lambda: tf.constant(3.0))", "m.add_loss(K.sum(m.output))",
            "names(m.losses)", "names(m.layers[0].get_losses_for(None))",
            "names(m.layers[0].get_losses_for(m.input))",
        ]),
    "losses and metrics beside the outputs": (BESIDE, [
        "names(m.layers)", "names(m.trainable_weights)", "names(m.weights)",
        "names(m.losses)", "names(m.metrics)", "len(m.updates)", "summary(m)",
        "names(m.get_losses_for(m.inputs))",
        "plain_all(m.get_config())", "run(m, [numbers(2, 3)])",
        "m.get_layer('add_loss').output.name",
        "m.compile('sgd', 'mse')", "m.metrics_names",
        "np.array(m.train_on_batch(numbers(4, 3), numbers(4, 2)))",
        "m.get_layer('side').get_weights()[0]",
        "names(again(m).layers)", "names(again(m).losses)", "names(again(m).metrics)",
        "again(m).predict(numbers(2, 3))", "sorted(names(keras.models.clone_model(m).layers))",
        "saved_and_loaded(m).evaluate(numbers(4, 3), numbers(4, 2), verbose=0)", "m(x).name",
        "names(m.losses)",
    ]),
    "no loss but those that are added": (ALONE, [
        "m.compile(keras.optimizers.SGD(0.01))", "m.metrics_names",
        "m.fit(numbers(4, 3), epochs=2, verbose=0).history['loss']",
        "m.evaluate(numbers(4, 3), numbers(4, 4), verbose=0)",
        "np.array(m.evaluate(numbers(4, 3), verbose=0))", "m.compile('sgd', metrics=['mae'])",
        "m.metrics_names",
        "keras.Model(x, h).compile('sgd')",
    ]),
    "a loss that comes after compile": (ALONE + "m.compile('sgd')", [
        "np.array(m.evaluate(numbers(4, 3), verbose=0))", "m.add_loss(K.sum(K.square(h)))",
        "np.array(m.evaluate(numbers(4, 3), verbose=0))",
        "m.compile('sgd')", "np.array(m.evaluate(numbers(4, 3), verbose=0))",
    ]),
    "a loss that comes after compile, before a step": (ALONE + "m.compile('sgd')", [
        "m.add_loss(K.sum(K.square(h)))", "np.array(m.evaluate(numbers(4, 3), verbose=0))",
    ]),
    "a layer's own metrics": (TELLING, [
        "names(m.metrics)", "names(telling.metrics)", "m.metrics_names",
        "np.array(m.evaluate(numbers(4, 3), numbers(4, 3), verbose=0))",
    ]),
    "wrong losses and metrics": (ALONE, [
        "m.add_metric(h, name='q')", "m.add_metric(h, aggregation='mean')",
        "m.add_metric(h, name='q', aggregation='sum')", "m.add_metric(keras.metrics.Mean()(h))",
        "m.add_loss(K.mean(L.Dense(1)(keras.Input((3,)))))", "L.Dense(1).add_metric(h, name='q')",
        "L.Dense(1).add_metric(h, aggregation='mean')",
        "L.Dense(1).add_metric(h, name='q', aggregation='sum')",
    ]),
    "a loss beside a row": (
        "s = keras.Sequential([L.Dense(3, input_shape=(2,)), L.Dense(1)])\n"
        "s.add_loss(tf.reduce_mean(L.Dense(1, name='side')(s.layers[0].output)))", [
            "names(s.layers)", "names(s.trainable_weights)", "names(s.losses)", "summary(s)",
        ]),
    "masks": (
        "s = keras.Sequential([L.Embedding(6, 3, mask_zero=True, input_length=4),\n"
        "    L.LSTM(2, return_sequences=True), L.Bidirectional(L.GRU(2)), L.Dense(1)])\nfill(s)", [
            "summary(s)", "run(s, [np.array([[1, 2, 0, 0], [0, 3, 4, 5]])])", "names(s.weights)",
        ]),
    "a recurrent layer that keeps its states": (
        "s = keras.Sequential([L.LSTM(2, stateful=True, batch_input_shape=(2, 4, 3))])\nfill(s)\n"
        "f = K.function(s.inputs, s.outputs, s.state_updates)", [
            "f([numbers(2, 4, 3)])", "f([numbers(2, 4, 3)])", "s.reset_states()",
            "f([numbers(2, 4, 3)])", "len(s.weights)", "len(s.updates)",
            "L.LSTM(2, stateful=True)(keras.Input((4, 3)))",
        ]),
    "names": ("pass", [
        "L.Dense(2).name", "L.Dense(2).name", "keras.Input((2,)).name", "L.Conv2D(1, 1).name",
        "K.clear_session()", "L.Dense(2).name", "keras.Input((2,)).name", "K.get_uid('dense')",
        "L.Activation('linear')(keras.Input((2,))).name", "K.set_learning_phase(0)",
        "L.Dropout(0.5)(keras.Input((2,))).name",
    ]),
    "wrong layers": ("x = keras.Input((4,), name='x')", [
        "L.Dense(3)(keras.Input((None,)))", "L.Conv2D(3, 3)(x)", "L.LSTM(3)(x)",
        "L.Dense(3, foo=1)", "L.Dense(3).input", "L.Dense(3).count_params()",
        "L.Dense(2, activation='zz')", "L.Dense(2, kernel_initializer='zz')",
        "L.concatenate([x])", "L.add([x])", "L.add([x, keras.Input((3,))])",
        "L.concatenate([keras.Input((3, 4)), keras.Input((5, 3))])", "keras.Input()",
        "L.Permute((1, 3))", "L.RNN(3)", "L.Bidirectional(L.LSTM(2), merge_mode='zz')",
        "L.Dense(2)(tf.zeros([2, 3], tf.int32))", "L.UpSampling2D(interpolation='zz')",
        "L.TimeDistributed(3)", "L.ReLU(negative_slope=-1.0)", "K.set_floatx('int32')",
    ]),
}  # fmt: skip


def numbers(*shape):
    """Return an array of numbers between -1 and 1 that repeat never."""
    return np.sin(np.arange(int(np.prod(shape)), dtype="float64")).reshape(shape)


def tools(tf):
    """Return what expressions may use."""
    keras = tf.keras

    def fill(model):
        model.set_weights([numbers(*w.shape) ** 2 for w in model.get_weights()])

    def run(model, values):
        return keras.backend.function(model.inputs, model.outputs)(values)

    def summary(model, **options):
        lines = []
        model.summary(print_fn=lines.append, **options)
        return lines

    def again(model):
        made = keras.models.model_from_json(model.to_json())
        made.set_weights(model.get_weights())
        return made

    def saved_and_loaded(model):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.h5")
            model.save(path)
            return keras.models.load_model(path)

    return {
        "saved_and_loaded": saved_and_loaded, "plain_all": lambda told: json.loads(
            json.dumps(told, default=lambda each: np.asarray(each).tolist())),
        "tf": tf, "keras": keras, "K": keras.backend, "L": keras.layers, "np": np, "json": json,
        "fill": fill, "run": run, "summary": summary, "again": again, "numbers": numbers,
        "names": lambda found: [each.name for each in found], "value": keras.backend.eval,
        "plain": lambda told: json.loads(json.dumps(told, default=list)),
    }  # fmt: skip


def answers(tf, lines, expressions):
    """Return what each expression says."""
    tf.keras.backend.clear_session()
    space = tools(tf)
    exec(lines, space)
    return [said(expression, space) for expression in expressions]


def said(expression, space):
    """Return a value as JSON keeps it; of an error its class."""
    try:
        found = eval(expression, space)
    except Exception as error:
        return type(error).__name__
    return _plain(found)


def _plain(found):
    if isinstance(found, (list, tuple)):
        return [_plain(each) for each in found]
    if isinstance(found, (np.ndarray, np.generic)):
        return np.asarray(found, "float64").round(4).tolist()
    return found if isinstance(found, (dict, str, int, float, type(None))) else "an object"


def main():
    """Print what TensorFlow says of all cases."""
    import tensorflow as tf

    tf.logging.set_verbosity("ERROR")
    print(json.dumps({name: answers(tf, *case) for name, case in CASES.items()}))


if __name__ == "__main__":
    main()
