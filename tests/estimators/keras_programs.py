"""Programs of tf.keras.estimator whose results 1.15.5 is asked for: name -> function of tf.

Real TensorFlow 1.15 reads this file too, by its path: nothing of ours is imported, and Python 3.7
will do.
"""

import os
import tempfile

import numpy as np

X = np.array([[1, 2], [3, 4], [-1, 0.5], [0, 1]], "float32")
Y = np.eye(3, dtype="float32")[[0, 1, 2, 1]]


def rows(tf, features, labels=Y, repeat=1):
    """Return an input function of batches of two."""
    return lambda: tf.data.Dataset.from_tensor_slices((features, labels)).repeat(repeat).batch(2)


def classifier(tf, optimizer, metrics=("accuracy",)):
    """Return a compiled model of one layer, whose weights are known."""
    keras = tf.keras
    first = tf.constant_initializer(np.arange(1, 7).reshape(2, 3) / 10.0)
    x = keras.Input((2,), name="x")
    y = keras.layers.Dense(3, "softmax", kernel_initializer=first, name="out")(x)
    model = keras.Model(x, y)
    model.compile(optimizer, "categorical_crossentropy", metrics=list(metrics))
    return model


def stored(tf, folder):
    """Return what the latest checkpoint of a folder has, by name."""
    found = tf.train.load_checkpoint(folder)
    return {name: found.get_tensor(name).tolist() for name, _ in tf.train.list_variables(folder)}


def results(made, *args, **kwargs):
    """Return what an evaluation says, as numbers."""
    return {name: float(value) for name, value in made.evaluate(*args, **kwargs).items()}


def guesses(made, data):
    return [{key: each[key].tolist() for key in each} for each in made.predict(data)]


def estimator(tf, model, **kwargs):
    kwargs.setdefault("model_dir", tempfile.mkdtemp())
    return tf.keras.estimator.model_to_estimator(model, **kwargs)


def lived(tf, model, data):
    """Return what a model says before it is trained, what it has learned, and says then."""
    made = estimator(tf, model)
    told = [stored(tf, os.path.join(made.model_dir, "keras")), results(made, data)]
    made.train(data).train(data)
    return [*told, stored(tf, made.model_dir), results(made, data), guesses(made, data)]


def optimizers(tf):
    kinds = [
        tf.keras.optimizers.SGD(0.1, momentum=0.9, clipnorm=0.5), "adam", "rmsprop",
        tf.train.AdagradOptimizer(0.1), tf.train.AdamOptimizer(0.1),
        tf.keras.optimizers.SGD(tf.keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)),
    ]  # fmt: skip
    found = []
    for kind in kinds:
        with tf.Graph().as_default():
            found.append(lived(tf, classifier(tf, kind), rows(tf, {"x": X})))
    return found


def learned_before(tf):
    """A model that was fitted: its weights go on, its optimizer begins anew."""
    model = classifier(tf, tf.keras.optimizers.SGD(0.1, momentum=0.9))
    model.fit(X, Y, batch_size=4, epochs=2, verbose=0)
    return lived(tf, model, rows(tf, {"x": X}))


def normalized(tf):
    """A model that was fitted: its moving means begin anew."""
    keras = tf.keras
    first = tf.constant_initializer(np.arange(1, 7).reshape(2, 3) / 10.0)
    model = keras.Sequential([
        keras.layers.BatchNormalization(input_shape=(2,)),
        keras.layers.Dense(3, "softmax", kernel_initializer=first,
                           kernel_regularizer=keras.regularizers.l2(0.1)),
    ])  # fmt: skip
    own = keras.metrics.SparseCategoricalAccuracy(name="own")
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy", own])
    labels = np.array([0, 1, 2, 1])
    model.fit(X, labels, batch_size=4, epochs=5, verbose=0)
    return lived(tf, model, rows(tf, X.astype("float64"), labels))


def two_ends(tf, *settings):
    """Return a model of two inputs and two outputs."""
    layers, first = tf.keras.layers, tf.constant_initializer(0.2)
    a, b = tf.keras.Input((2,), name="a"), tf.keras.Input((1,), name="b")
    both = layers.concatenate([a, b])
    ends = [layers.Dense(1, kernel_initializer=first, name=name)(both) for name in "pq"]
    model = tf.keras.Model([a, b], ends)
    model.compile("sgd", *settings)
    return model


def named_ends(tf):
    data = rows(tf, {"b": X[:, :1], "a": X}, {"p": X.sum(1, keepdims=True), "q": X[:, 1:]})
    return lived(tf, two_ends(tf, "mse", ["mae"], [1.0, 0.5]), data)


def listed_ends(tf):
    data = rows(tf, (X, X[:, :1]), (X.sum(1, keepdims=True), X[:, 1:]))
    return lived(tf, two_ends(tf, {"p": "mse", "q": "mae"}, {"p": ["mae", "mse"]}), data)


def weighted(tf):
    features = {"features": X, "sample_weights": np.array([1, 2, 0, 1], "float32")}
    made = estimator(tf, classifier(tf, "sgd"))
    made.train(rows(tf, features))
    return [stored(tf, made.model_dir), results(made, rows(tf, features))]


def flat_labels(tf):
    """Labels of shape [2] for outputs of shape [2, 1]: no metric compares each with each."""
    first, layers = tf.constant_initializer(0.2), tf.keras.layers
    layer = layers.Dense(1, input_shape=(2,), activation="sigmoid", kernel_initializer=first)
    model = tf.keras.Sequential([layer])
    model.compile("sgd", "mse", metrics=["mae"])
    data = rows(tf, X, np.array([0, 1, 1, 0], "float32"))
    return results(estimator(tf, model).train(data), data)


def not_built(tf):
    keras = tf.keras
    layer = keras.layers.Dense(3, kernel_initializer=tf.constant_initializer(0.2))
    model = keras.Sequential([layer])
    model.compile("sgd", "mse")
    made = estimator(tf, model)
    made.train(rows(tf, X))
    listed = sorted(os.listdir(made.model_dir))
    return ["keras" in listed, stored(tf, made.model_dir), guesses(made, rows(tf, X))]


def trained_and_evaluated(tf):
    config = tf.estimator.RunConfig(save_checkpoints_steps=2, model_dir=tempfile.mkdtemp())
    made = estimator(tf, classifier(tf, "adam"), config=config, model_dir=None)
    data = rows(tf, {"x": X}, repeat=4)
    specs = tf.estimator.TrainSpec(data, max_steps=5), tf.estimator.EvalSpec(data, steps=2)
    found, _ = tf.estimator.train_and_evaluate(made, *specs)
    return {name: float(value) for name, value in found.items()}


def exported(tf):
    made = estimator(tf, classifier(tf, "sgd")).train(rows(tf, {"x": X}))
    serving = tf.estimator.export.build_raw_serving_input_receiver_fn(
        {"x": tf.placeholder(tf.float32, [None, 2])}
    )
    path = made.export_saved_model(tempfile.mkdtemp(), serving)
    with tf.Session(graph=tf.Graph()) as session:
        graph = tf.saved_model.loader.load(session, ["serve"], path)
        (key,) = graph.signature_def
        signature = graph.signature_def[key]
        names = [signature.inputs["x"].name, signature.outputs["out"].name]
        value = session.run(names[1], {names[0]: X})
    return [key, signature.method_name, names, value.tolist()]


def from_file(tf):
    path = os.path.join(tempfile.mkdtemp(), "model.h5")
    classifier(tf, "adam").save(path)
    made = estimator(tf, None, keras_model_path=path).train(rows(tf, {"x": X}))
    return [stored(tf, made.model_dir), results(made, rows(tf, {"x": X}))]


def same_folder(tf):
    """The first checkpoint of a folder stays: a second estimator goes on from it."""
    model, folder = classifier(tf, "sgd"), tempfile.mkdtemp()
    estimator(tf, model, model_dir=folder)
    model.set_weights([each + 1 for each in model.get_weights()])
    return results(estimator(tf, model, model_dir=folder), rows(tf, {"x": X}))


def strategies(tf):
    config = tf.estimator.RunConfig(train_distribute=tf.distribute.MirroredStrategy(["/cpu:0"]))
    made = estimator(tf, classifier(tf, "adam"), config=config)
    made.train(rows(tf, {"x": X}, repeat=3))
    return [stored(tf, made.model_dir), results(made, rows(tf, {"x": X}))]


def told(call):
    """Return the class of an error, and its first words."""
    try:
        call()
    except Exception as error:
        return [type(error).__name__, str(error).strip("\"'").split("\\n")[0][:50]]
    return "no error"


def errors(tf):
    keras = tf.keras
    model = classifier(tf, "sgd")
    made = estimator(tf, model)
    new = keras.Sequential([keras.layers.Dense(3, input_shape=(2,))])
    calls = [
        lambda: estimator(tf, new), lambda: estimator(tf, None),
        lambda: estimator(tf, None, keras_model_path="/nowhere/model.h5"),
        lambda: estimator(tf, model, checkpoint_format="other"),
        lambda: estimator(tf, model, config={"a": 1}),
        lambda: made.train(rows(tf, {"y": X})), lambda: made.train(rows(tf, {"x": X, "y": X})),
        lambda: made.train(rows(tf, {"x": X}, {"y": Y})),
    ]  # fmt: skip
    return [told(call) for call in calls]


PROGRAMS = {
    "keras " + each.__name__.replace("_", " "): each
    for each in (
        optimizers, learned_before, normalized, named_ends, listed_ends, weighted,
        flat_labels, not_built, trained_and_evaluated, exported, from_file,
        same_folder, strategies, errors,
    )
}  # fmt: skip
