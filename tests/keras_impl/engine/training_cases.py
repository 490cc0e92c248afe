"""Programs that train with tf.keras and say what they found; run by tfdist, and by TensorFlow.

As a program, `python training_cases.py > expected_training_1_15.json` stores what TensorFlow 1.15.5
says. Where one fails, the class of its error is what it says.
"""

import contextlib
import io
import json
import random
import re

import numpy as np

rng = np.random.RandomState(0)
X = rng.randn(20, 4).astype("f")
Y = rng.randint(0, 3, 20)
ONE_HOT, REAL, YES = np.eye(3, dtype="f")[Y], rng.randn(20, 1).astype("f"), (Y > 0).astype("f")
KERNELS = {3: [rng.randn(4, 5), rng.randn(5, 3)], 1: [rng.randn(4, 5), rng.randn(5, 1)]}
WEIGHTS = rng.uniform(0.5, 2, 20).astype("f")
P = rng.uniform(0.05, 0.95, (6, 3)).astype("f")
R = rng.randn(6, 3).astype("f")
T = rng.randint(0, 2, (6, 3)).astype("f")
C = np.eye(3, dtype="f")[[0, 2, 1, 1, 0, 2]]
S = np.array([[0], [2], [1], [1], [0], [2]])
W = np.array([1, 0, 2, 0.5, 1, 1], "f")
SPARSE = "sparse_categorical_crossentropy"


def wanted(name):
    return S if name.lower().startswith("sparse") else C if "ategorical" in name else T


# losses, metrics, optimizers

LOSSES = (
    "mean_squared_error mean_absolute_error mean_absolute_percentage_error hinge squared_hinge "
    "mean_squared_logarithmic_error categorical_hinge logcosh categorical_crossentropy poisson "
    "sparse_categorical_crossentropy binary_crossentropy kullback_leibler_divergence "
    "cosine_similarity"
).split()
LOSS_CLASSES = (
    "BinaryCrossentropy CategoricalCrossentropy CosineSimilarity Huber MeanSquaredError"
).split()
METRICS = [
    ("Mean", {}), ("Sum", {}), ("BinaryAccuracy", {"threshold": 0.3}), ("CategoricalAccuracy", {}),
    ("SparseCategoricalAccuracy", {}), ("TopKCategoricalAccuracy", {"k": 2}), ("AUC", {}),
    ("SparseTopKCategoricalAccuracy", {"k": 2}), ("AUC", {"curve": "PR", "num_thresholds": 9}),
    ("AUC", {"summation_method": "minoring"}), ("Precision", {"thresholds": [0.3, 0.6]}),
    ("Precision", {"top_k": 2}), ("Recall", {}), ("TrueNegatives", {"thresholds": [0.2, 0.8]}),
    ("SensitivityAtSpecificity", {"specificity": 0.5}), ("RootMeanSquaredError", {}),
    ("CosineSimilarity", {}), ("SpecificityAtSensitivity", {"sensitivity": 0.5}),
]  # fmt: skip
OPTIMIZERS = [
    ("SGD", {}), ("SGD", {"lr": 0.1, "momentum": 0.9}), ("SGD", {"clipnorm": 0.5, "decay": 0.5}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True}), ("RMSprop", {}),
    ("RMSprop", {"centered": True}), ("RMSprop", {"momentum": 0.5}), ("Adagrad", {}),
    ("Adadelta", {"lr": 1.0}), ("Adam", {"lr": 0.1}), ("Adam", {"lr": 0.1, "amsgrad": True}),
    ("Adamax", {"lr": 0.1}), ("Nadam", {"lr": 0.1}), ("Ftrl", {"learning_rate": 0.1}),
    ("SGD", {"clipvalue": 0.1}),
]  # fmt: skip


def loss_of(tf, session, name):
    function = getattr(tf.keras.losses, name)
    both = [function(tf.constant(wanted(name)), tf.constant(found)) for found in (P, R)]
    return session.run(both)


def loss_object_of(tf, session, name):
    kind, target = getattr(tf.keras.losses, name), tf.constant(wanted(name))
    each = [
        kind()(target, P), kind()(target, P, sample_weight=W), kind(reduction="sum")(target, P),
        kind(reduction="none")(target, P, sample_weight=W),
    ]  # fmt: skip
    return session.run(each), kind().get_config()


def metric_of(tf, session, name, settings):
    """What it is after one batch, after two, and when it has started anew."""
    found = []
    for weight in (None, W):
        metric = getattr(tf.keras.metrics, name)(**settings)
        args = (P,) if name in ("Mean", "Sum") else (wanted(name), P)
        value = metric(*args, sample_weight=weight)
        session.run([each.initializer for each in metric.variables])
        found += [session.run(value), session.run(value)]
        metric.reset_states()
        found += [
            session.run(value),
            metric.name,
            [each.shape.as_list() for each in metric.weights],
        ]
    return found


def steps_of(tf, session, name, settings):
    """Variables and the optimizer's own after three steps, one gradient of which is sparse."""
    start = np.random.RandomState(1)
    values = [start.randn(*shape).astype("f") for shape in ((3, 2), (4, 2), (2,))]
    w, rows, b = (
        tf.Variable(values[place], name="web"[place], use_resource=True) for place in range(3)
    )
    found = tf.nn.embedding_lookup(rows, [0, 2, 0]) * w + b
    optimizer = getattr(tf.keras.optimizers, name)(**settings)
    update = optimizer.get_updates(tf.reduce_sum(tf.square(found - 1.0)), [w, rows, b])
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run(update)
    names = [each.name for each in optimizer.weights]
    return session.run([w, rows, b]), names, session.run(optimizer.weights), optimizer.get_config()


# models


def row(keras, classes=3, last="softmax"):
    layers = [
        keras.layers.Dense(5, activation="relu", input_shape=(4,)),
        keras.layers.Dense(classes, activation=last),
    ]
    model = keras.Sequential(layers)
    first, second = KERNELS[classes]
    model.set_weights([first, np.zeros(5), second, np.zeros(classes)])
    return model


def compiled(keras, loss=SPARSE, optimizer="sgd", classes=3, last="softmax", **options):
    model = row(keras, classes, last)
    options.setdefault("metrics", ["accuracy"])
    model.compile(optimizer, loss, **options)
    return model


def fitted(model, x=X, y=Y, **options):
    options.setdefault("verbose", 2)
    options.setdefault("epochs", 2)
    if y is not None:
        options.setdefault("batch_size", 8)
        options.setdefault("shuffle", False)
        history = model.fit(x, y, **options)
    else:
        history = model.fit(x, **options)
    return history.history, model.get_weights()[2:]


def two(keras):
    a, b = keras.layers.Input((4,), name="a"), keras.layers.Input((4,), name="b")
    kind, number = keras.layers.Dense(3, activation="softmax", name="kind"), keras.layers.Dense(1)
    model = keras.Model([a, b], [kind(keras.layers.concatenate([a, b])), number(b)])
    start = np.random.RandomState(2)
    model.set_weights([start.randn(*each.shape) for each in model.get_weights()])
    return model


def two_outputs(tf):
    model = two(tf.keras)
    model.compile(
        "sgd", {"kind": SPARSE, "dense": "mse"}, metrics={"kind": "accuracy", "dense": ["mae"]},
        loss_weights={"dense": 0.5},
    )  # fmt: skip
    history, weights = fitted(model, {"a": X, "b": X * 0.5}, {"kind": Y, "dense": REAL})
    found = model.predict([X, X], batch_size=7)
    return history, weights, model.metrics_names, [each[:2] for each in found]


def batches(tf):
    model = compiled(tf.keras)
    return (
        model.train_on_batch(X, Y), model.train_on_batch(X, Y, class_weight={0: 1, 1: 2, 2: 0.5}),
        model.test_on_batch(X, Y, sample_weight=WEIGHTS), model.predict_on_batch(X[:2]),
    )  # fmt: skip


def evaluated(tf):
    model = compiled(tf.keras, "mse", classes=1, last="linear", metrics=["mae"])
    rows = [model.evaluate(X, REAL, 7, 0), model.evaluate(X, REAL, 7, 0, sample_weight=WEIGHTS)]
    return rows, model.predict(X, batch_size=6)[:2], model.metrics_names


def regularized(tf):
    keras = tf.keras
    i = keras.layers.Input((4,))
    layer = keras.layers.Dense(1, kernel_regularizer=keras.regularizers.l2(0.1))
    model = keras.Model(i, layer(i))
    model.set_weights([KERNELS[3][0][:, :1], np.zeros(1)])
    model.compile("sgd", "mse")
    return fitted(model, X, REAL)[0], model.get_weights(), model.evaluate(X, REAL, verbose=0)


def from_dataset(tf):
    dataset = tf.data.Dataset.from_tensor_slices((X, Y.astype("i8"))).batch(8)
    model = compiled(tf.keras)
    return fitted(model, dataset, None), model.evaluate(dataset, verbose=0)


def from_endless(tf):
    dataset = tf.data.Dataset.from_tensor_slices((X, Y.astype("i8"))).batch(5).repeat()
    options = {"steps_per_epoch": 3, "validation_data": dataset, "validation_steps": 2}
    model = compiled(tf.keras)
    return fitted(model, dataset, None, **options), model.predict(dataset, steps=2).shape


def pieces():
    while True:
        for start in range(0, 20, 5):
            yield X[start : start + 5], Y[start : start + 5]


def from_generator(tf):
    return fitted(compiled(tf.keras), pieces(), None, steps_per_epoch=4)


def own_parts(tf):
    def own_loss(y_true, y_pred):
        return tf.reduce_mean(tf.square(y_true - y_pred))

    def own_metric(y_true, y_pred):
        return tf.reduce_max(y_pred)

    return fitted(compiled(tf.keras, own_loss, "rmsprop", metrics=[own_metric]), X, ONE_HOT)


def objects(tf):
    keras = tf.keras
    loss = keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1)
    metrics = [keras.metrics.CategoricalAccuracy(), keras.metrics.AUC(name="area"), "mse"]
    return fitted(compiled(keras, loss, keras.optimizers.Adam(0.1), metrics=metrics), X, ONE_HOT)


def stopped(tf):
    callback = tf.keras.callbacks.EarlyStopping(
        "loss", min_delta=100, patience=1, verbose=1, restore_best_weights=True
    )
    return fitted(compiled(tf.keras), epochs=6, callbacks=[callback]), callback.stopped_epoch


def slower(tf):
    callbacks = [
        tf.keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5, verbose=1),
        tf.keras.callbacks.ReduceLROnPlateau("loss", 0.2, 1, verbose=1, min_delta=10),
    ]
    return fitted(compiled(tf.keras), epochs=3, callbacks=callbacks)


def heard(tf):
    """What a callback hears, in order."""
    told = []

    class Hears(tf.keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            told.append(["begin", sorted(self.params)])

        def on_train_batch_end(self, batch, logs=None):
            told.append([batch, sorted(logs)])

        def on_test_begin(self, logs=None):
            told.append("test")

        def on_epoch_end(self, epoch, logs=None):
            told.append([epoch, sorted(logs)])
            self.model.stop_training = epoch == 1

    fitted(compiled(tf.keras), epochs=5, callbacks=[Hears()], validation_data=(X, Y), verbose=0)
    return told


FITS = {
    "a line an epoch": lambda tf: fitted(compiled(tf.keras)),
    "a bar": lambda tf: fitted(compiled(tf.keras), verbose=1, batch_size=10),
    "several metrics and validation data": lambda tf: fitted(
        compiled(tf.keras, "categorical_crossentropy", metrics=["acc", "ce", "mse"]), X, ONE_HOT,
        epochs=1, validation_data=(X[:6], ONE_HOT[:6]),
    ),
    "a part is validated": lambda tf: fitted(
        compiled(tf.keras, "binary_crossentropy", classes=1, last="sigmoid"), X, YES,
        validation_split=0.25,
    ),
    "classes have weights": lambda tf: fitted(
        compiled(tf.keras, weighted_metrics=["acc"]), class_weight={0: 1.0, 1: 2.0, 2: 0.5}
    ),
    "samples have weights": lambda tf: fitted(compiled(tf.keras), sample_weight=WEIGHTS),
    "later epochs": lambda tf: fitted(
        compiled(tf.keras), initial_epoch=2, epochs=4, validation_data=(X, Y), validation_freq=2
    ),
    "an optimizer of tf.train": lambda tf: fitted(
        compiled(tf.keras, optimizer=tf.train.GradientDescentOptimizer(0.1))
    ),
    "two outputs": two_outputs, "single batches": batches, "evaluation": evaluated,
    "a regularizer": regularized, "a dataset": from_dataset, "an endless dataset": from_endless,
    "a generator": from_generator, "own loss and metric": own_parts, "objects": objects,
    "early stopping": stopped, "learning rates": slower, "callbacks": heard,
}  # fmt: skip

WRONG = {
    "not compiled": lambda tf: row(tf.keras).fit(X, Y),
    "x of another shape": lambda tf: compiled(tf.keras).fit(X[:, :3], Y),
    "fewer targets": lambda tf: compiled(tf.keras).fit(X, Y[:5]),
    "unknown loss": lambda tf: compiled(tf.keras, "nope"),
    "unknown optimizer": lambda tf: compiled(tf.keras, optimizer="nope"),
    "unknown metric": lambda tf: compiled(tf.keras, metrics=["nope"]),
    "no loss": lambda tf: row(tf.keras).compile("sgd"),
    "classes where rows are wanted": lambda tf: compiled(
        tf.keras, "categorical_crossentropy"
    ).fit(X, Y),
    "rows where numbers are wanted": lambda tf: compiled(
        tf.keras, "mse", classes=1
    ).fit(X, ONE_HOT),
    "an input is missing": lambda tf: two(tf.keras).predict({"a": X}),
    "unknown output": lambda tf: two(tf.keras).compile("sgd", {"nope": "mse"}),
    "a loss too few": lambda tf: two(tf.keras).compile("sgd", ["mse"]),
    "endless without steps": lambda tf: compiled(tf.keras).fit(pieces()),
    "batch size of a generator": lambda tf: compiled(tf.keras).fit(
        pieces(), batch_size=3, steps_per_epoch=1
    ),
    "weights of other length": lambda tf: compiled(tf.keras).fit(X, Y, sample_weight=np.ones(3)),
    "unknown argument": lambda tf: compiled(tf.keras).fit(X, Y, foo=1),
    "a class without weight": lambda tf: compiled(tf.keras).fit(
        X, Y, class_weight={0: 1.0}, verbose=0
    ),
    "a label too large": lambda tf: compiled(tf.keras).fit(X, Y + 5, verbose=0),
    "momentum of 2": lambda tf: tf.keras.optimizers.SGD(momentum=2.0),
    "unknown setting": lambda tf: tf.keras.optimizers.SGD(foo=1),
    "unknown reduction": lambda tf: tf.keras.losses.Hinge(reduction="x"),
    "threshold of 2": lambda tf: tf.keras.metrics.Precision(thresholds=2.0),
}  # fmt: skip


def grams(tf):
    random.seed(3)
    return tf.keras.preprocessing.sequence.skipgrams([1, 2, 3, 0, 4], 6, seed=4)


def tokens(tf, **settings):
    tokenizer = tf.keras.preprocessing.text.Tokenizer(**settings)
    tokenizer.fit_on_texts(["The cat, the dog!", "A cat sat on the mat", "dog dog cat"])
    rows = [tokenizer.texts_to_matrix(["the cat the dog", ""], mode) for mode in ("tfidf", "freq")]
    return tokenizer.word_index, tokenizer.texts_to_sequences(["the cat ran", "zebra"]), rows


PREPARED = {
    "padding": lambda tf: tf.keras.preprocessing.sequence.pad_sequences([[1, 2, 3], [4], []]),
    "padding behind": lambda tf: tf.keras.preprocessing.sequence.pad_sequences(
        [[1, 2, 3], [4]], 2, padding="post", truncating="post", value=9
    ),
    "rare words": lambda tf: tf.keras.preprocessing.sequence.make_sampling_table(6),
    "pairs of words": grams,
    "words": tokens,
    "few words": lambda tf: tokens(tf, num_words=4, oov_token="<u>"),
    "characters": lambda tf: tokens(tf, char_level=True),
    "classes": lambda tf: tf.keras.utils.to_categorical([[0], [2]], 4),
    "norms": lambda tf: tf.keras.utils.normalize(np.arange(6.0).reshape(2, 3)),
}  # fmt: skip

CASES = {}
for _name in LOSSES:
    CASES["loss " + _name] = lambda tf, s, n=_name: loss_of(tf, s, n)
for _name in LOSS_CLASSES:
    CASES["loss " + _name] = lambda tf, s, n=_name: loss_object_of(tf, s, n)
for _name, _given in METRICS:
    CASES[f"metric {_name} {_given}"] = lambda tf, s, n=_name, g=_given: metric_of(tf, s, n, g)
for _name, _given in OPTIMIZERS:
    CASES[f"{_name} {_given}"] = lambda tf, s, n=_name, g=_given: steps_of(tf, s, n, g)
for _kind, _table in (("fit", FITS), ("wrong", WRONG), ("prepared", PREPARED)):
    for _name, _function in _table.items():
        CASES[_kind + ": " + _name] = lambda tf, s, f=_function: f(tf)


def answer(tf, name):
    """Return what a case says, and what it prints, in a fresh graph and session."""
    printed = io.StringIO()
    with tf.Graph().as_default(), tf.Session() as session, contextlib.redirect_stdout(printed):
        try:
            found = plain(CASES[name](tf, session))
        except Exception as error:
            found = type(error).__name__
    return [found, shown(printed.getvalue())]


def shown(text):
    """Return what was printed, without times."""
    text = re.sub(r"\d+(us|ms|s)/(sample|step)", r"T/\2", text)
    text = re.sub(r"ETA: [\d:s]+", "ETA", re.sub(r"- \d+s", "- Ts", text))
    return re.sub("\x08+", "<", text)


def plain(value):
    """Return a value as JSON has it, floats with six digits."""
    if isinstance(value, dict):
        return {str(key): plain(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.6g}")
    return value.item() if isinstance(value, np.generic) else value


if __name__ == "__main__":
    import tensorflow

    tensorflow.logging.set_verbosity(tensorflow.logging.ERROR)
    print(json.dumps({name: answer(tensorflow, name) for name in CASES}))
