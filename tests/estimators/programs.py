"""Programs of columns and estimators whose results 1.15.5 is asked for: name -> function of tf.

Real TensorFlow 1.15 reads this file too, by its path: nothing of ours is imported, and Python 3.7
will do. Variables get numbers of their own, where they would be random.
"""

import os
import tempfile

import numpy as np

RAW = {
    "a": [[1.0], [2.0], [3.0]],
    "b": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
    "s": [["x"], ["y"], ["x"]],
    "i": [[1], [0], [2]],
    "m": [[1, 2], [2, -1], [0, 0]],
    "ms": [["x", "y"], ["y", ""], ["z", "z"]],
    "w": [[0.5, 1.0], [2.0, 0.0], [1.0, 3.0]],
}


class Columns:
    """The columns that the programs use."""

    def __init__(self, tf):
        fc = self.fc = tf.feature_column
        self.a, self.b = fc.numeric_column("a"), fc.numeric_column("b", shape=2)
        self.buckets = fc.bucketized_column(self.a, [1.5, 2.5])
        self.one = fc.categorical_column_with_identity("i", 3)
        self.many = fc.categorical_column_with_identity("m", 3)
        self.hashed = fc.categorical_column_with_hash_bucket("ms", 5)
        self.hashed_ids = fc.categorical_column_with_hash_bucket("m", 4, tf.int64)
        self.weighted = fc.weighted_categorical_column(self.many, "w")
        self.crossed = fc.crossed_column(["s", self.buckets, self.many], 7)
        self.listed = fc.categorical_column_with_vocabulary_list("ms", ["x", "y"])
        self.unlisted = fc.categorical_column_with_vocabulary_list(
            "ms", ["x", "q"], num_oov_buckets=2
        )


# Name -> function of Columns to the columns of an input layer.
INPUTS = {
    "numbers are side by side": lambda c: [c.b, c.a],
    "numbers are normalised": lambda c: [
        c.fc.numeric_column("b", 2, normalizer_fn=lambda x: x * 2)
    ],
    "numbers are in buckets": lambda c: [c.buckets, c.fc.bucketized_column(c.b, [2.0, 4.0])],
    "ids have ones": lambda c: [c.fc.indicator_column(c.one), c.fc.indicator_column(c.many)],
    "words are hashed": lambda c: [c.fc.indicator_column(c.hashed)],
    "integers are hashed as words": lambda c: [c.fc.indicator_column(c.hashed_ids)],
    "ids have weights": lambda c: [c.fc.indicator_column(c.weighted)],
    "features are crossed": lambda c: [c.fc.indicator_column(c.crossed)],
    "words of a vocabulary": lambda c: [c.fc.indicator_column(c.listed)],
    "words outside a vocabulary": lambda c: [c.fc.indicator_column(c.unlisted)],
    "vectors are averaged": lambda c: [c.fc.embedding_column(c.many, 2)],
    "vectors are added": lambda c: [c.fc.embedding_column(c.many, 2, "sum")],
    "vectors are averaged by roots": lambda c: [c.fc.embedding_column(c.weighted, 2, "sqrtn")],
    "vectors are cut": lambda c: [c.fc.embedding_column(c.many, 2, max_norm=0.3)],
    "vectors are not learned": lambda c: [c.fc.embedding_column(c.many, 2, trainable=False)],
    "vectors of one table": lambda c: c.fc.shared_embedding_columns([c.one, c.many], 2),
    "no columns": lambda c: [],
    "categories alone": lambda c: [c.one],
    "one column twice": lambda c: [c.a, c.a],
    "no such feature": lambda c: [c.fc.numeric_column("nobody")],
}

# The same, of a linear model.
LINEAR = {
    "numbers and ids": lambda c: [c.a, c.b, c.many],
    "buckets and crosses": lambda c: [c.buckets, c.crossed],
    "weights of ids": lambda c: [c.weighted],
    "vectors": lambda c: [c.a, c.fc.embedding_column(c.many, 2)],
    "vectors of one table twice": lambda c: c.fc.shared_embedding_columns([c.one, c.many], 2),
}

# Name -> function of tf.feature_column that raises.
ERRORS = {
    "a shape of nothing": lambda fc: fc.numeric_column("a", shape=(0,)),
    "a shape of words": lambda fc: fc.numeric_column("a", shape="x"),
    "a normalizer that is none": lambda fc: fc.numeric_column("a", normalizer_fn=3),
    "a key that is none": lambda fc: fc.numeric_column(3),
    "defaults of another shape": lambda fc: fc.numeric_column("a", 2, default_value=[1.0] * 3),
    "boundaries in no order": lambda fc: fc.bucketized_column(fc.numeric_column("a"), [2, 1]),
    "no boundaries": lambda fc: fc.bucketized_column(fc.numeric_column("a"), []),
    "no ids": lambda fc: fc.categorical_column_with_identity("i", 0),
    "a default out of range": lambda fc: fc.categorical_column_with_identity("i", 3, 3),
    "no buckets": lambda fc: fc.categorical_column_with_hash_bucket("i", 0),
    "a cross of one": lambda fc: fc.crossed_column(["a"], 3),
    "vectors of nothing": lambda fc: fc.embedding_column(
        fc.categorical_column_with_identity("i", 3), 0
    ),
    "an empty vocabulary": lambda fc: fc.categorical_column_with_vocabulary_list("v", []),
    "a word twice": lambda fc: fc.categorical_column_with_vocabulary_list("v", ["a", "a"]),
    "no file": lambda fc: fc.categorical_column_with_vocabulary_file("v", ""),
}


def layered(tf, layer, columns):
    """Return the values of a layer and its variables, or the error that it raises."""
    features = {name: tf.constant(value) for name, value in RAW.items()}
    try:
        made = layer(features, columns)
    except ValueError as error:
        return type(error).__name__
    variables = tf.global_variables()
    trained = set(tf.trainable_variables())
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for variable in variables:
            dims = variable.shape.as_list()
            variable.load((np.arange(np.prod(dims)) + 1.0).reshape(dims) / 8, session)
        values = session.run(made)
    return [
        np.round(values.astype(np.float64), 5).tolist(),
        [[each.name, each.shape.as_list(), each in trained] for each in variables],
    ]


def raised(tf, make):
    """Return the class and the beginning of the words of an error."""
    try:
        make(tf.feature_column)
    except (ValueError, TypeError) as error:
        return f"{type(error).__name__}: {str(error)[:40]}"
    return None


X = np.linspace(-1, 1, 24).astype(np.float32).reshape(12, 2)
NUMBERS = (X[:, :1] * 2 - X[:, 1:] + 0.5).astype(np.float32)
TWO = (NUMBERS[:, 0] > 0.5).astype(np.int64)
THREE = np.arange(12) % 3
NAMES = np.array(["a", "b", "c"])[THREE]
WEIGHTS = np.linspace(0.5, 2, 12).astype(np.float32).reshape(12, 1)


def batches(tf, labels, epochs):
    """Return an input function of batches of six."""

    def rows():
        features = {"x": X, "w": WEIGHTS, "id": THREE.reshape(12, 1)}
        return tf.data.Dataset.from_tensor_slices((features, labels)).batch(6).repeat(epochs)

    return rows


def columns_of(tf):
    """Return a column of numbers, and one of ids."""
    fc = tf.feature_column
    return fc.numeric_column("x", shape=2), fc.categorical_column_with_identity("id", 3)


# Name -> (function of tf, columns and folder to an estimator, labels). Variables begin with 0.
CANNED = {
    "weights of examples": (
        lambda tf, c, d: tf.estimator.LinearClassifier(c, d, weight_column="w"), TWO,
    ),
    "three classes of words": (
        lambda tf, c, d: tf.estimator.LinearClassifier(
            c, d, n_classes=3, label_vocabulary=["a", "b", "c"]
        ), NAMES,
    ),
    "numbers": (lambda tf, c, d: tf.estimator.LinearRegressor(c, d), NUMBERS),
    "a linear part alone": (
        lambda tf, c, d: tf.estimator.DNNLinearCombinedClassifier(d, linear_feature_columns=c), TWO,
    ),
    "a bias": (lambda tf, c, d: tf.estimator.BaselineClassifier(d, n_classes=3), THREE),
}  # fmt: skip


def trained(tf, make, labels):
    """Return metrics after five steps, the first prediction, and the names of variables."""
    with tempfile.TemporaryDirectory() as folder:
        made = make(tf, columns_of(tf), folder)
        made.train(batches(tf, labels, None), steps=5)
        metrics = made.evaluate(batches(tf, labels, 1))
        first = next(made.predict(batches(tf, labels, 1)))
        slots = ("Ftrl", "Ftrl_1", "Adagrad")  # 1.15.5 says of which part of a variable
        names = [n for n in made.get_variable_names() if n.rpartition("/")[2] not in slots]
        files = sorted({kind(name) for name in os.listdir(folder) if "-00001-of" not in name})
        tf.summary.FileWriterCache.clear()
    return {
        "metrics": {name: rounded(value) for name, value in metrics.items()},
        "first": {name: rounded(value) for name, value in first.items()},
        "variables": names,
        "files": files,
    }


def rounded(value):
    """Return numbers with four digits, and words as text."""
    value = np.asarray(value)
    if value.dtype.kind in "OS":
        return [each.decode() for each in value.reshape(-1)]
    return np.round(value.astype(np.float64), 4).tolist()


def kind(name):
    """Return the name of a file without time, machine and number of parts."""
    return name.partition(".tfevents")[0].partition("-of-")[0]


PROGRAMS = {}
for _name, _columns in INPUTS.items():
    PROGRAMS["input layer: " + _name] = lambda tf, columns=_columns: layered(
        tf, tf.feature_column.input_layer, columns(Columns(tf))
    )
for _name, _columns in LINEAR.items():
    PROGRAMS["linear model: " + _name] = lambda tf, columns=_columns: layered(
        tf, tf.feature_column.linear_model, columns(Columns(tf))
    )
for _name, _make in ERRORS.items():
    PROGRAMS["error: " + _name] = lambda tf, make=_make: raised(tf, make)
for _name, _pair in CANNED.items():
    PROGRAMS["estimator: " + _name] = lambda tf, pair=_pair: trained(tf, *pair)
