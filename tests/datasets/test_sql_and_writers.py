"""What goes between pipelines and files or databases, beside what `pipelines.py` compares."""

import sqlite3

import numpy as np
import pytest

import tfdist as tf

D = tf.data.Dataset
EARLY = tf.contrib.data
FEATURES = {"x": tf.FixedLenFeature([], tf.int64), "list": tf.VarLenFeature(tf.int64)}


def elements(tensors):
    """Return what comes to the end, by a session of its own."""
    found = []
    with tf.Session() as session:
        while True:
            try:
                found.append(session.run(tensors))
            except tf.errors.OutOfRangeError:
                return found


def of(dataset):
    """Return the elements of a dataset."""
    return elements(dataset.make_one_shot_iterator().get_next())


@pytest.mark.parametrize("compression", [None, "", "GZIP", "ZLIB"])
def test_strings_are_written_as_records(tmp_path, compression):
    name = str(tmp_path / "records")
    writer = tf.data.experimental.TFRecordWriter(name, compression)
    written = writer.write(D.range(3).map(tf.as_string))
    with tf.Session() as session:
        assert session.run(written) is None
        assert session.run(written) is None  # once more, from the beginning
    assert of(tf.data.TFRecordDataset(name, compression)) == [b"0", b"1", b"2"]


def test_what_comes_before_an_error_is_written(tmp_path):
    name = str(tmp_path / "records")
    numbers = D.range(4).map(lambda x: tf.as_string(6 // (x - 2)))
    written = tf.data.experimental.TFRecordWriter(name).write(numbers)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="by zero"):
        session.run(written)
    assert of(tf.data.TFRecordDataset(name)) == [b"-3", b"-6"]


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: D.range(3), "produces shape () and types"),
        (lambda: D.from_tensors(["a", "b"]), "produces shape (2,) and types"),
        (lambda: D.from_tensors(("a", "b")), "produces shape ((), ()) and types"),
        (lambda: 3, "`dataset` must be a `tf.data.Dataset` object."),
    ],
)
def test_only_scalar_strings_become_records(build, text):
    with pytest.raises(TypeError) as raised:
        tf.data.experimental.TFRecordWriter("records").write(build())
    assert text in str(raised.value)


@pytest.fixture
def examples(tmp_path):
    """Write four examples; returns the name of their file."""
    name = str(tmp_path / "examples")
    with tf.python_io.TFRecordWriter(name) as writer:
        for number in range(4):
            feature = {
                "x": tf.train.Feature(int64_list=tf.train.Int64List(value=[number])),
                "list": tf.train.Feature(int64_list=tf.train.Int64List(value=range(number))),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())
    return name


def test_batches_of_features_as_tensors(examples):
    batch = EARLY.read_batch_features(examples, 3, FEATURES, randomize_input=False, num_epochs=1)
    found = elements(batch)
    assert [each["x"].tolist() for each in found] == [[0, 1, 2], [3]]
    assert [each["list"].values.tolist() for each in found] == [[0, 0, 1], [0, 1, 2]]
    assert [each["list"].dense_shape.tolist() for each in found] == [[3, 2], [1, 3]]


def test_batches_of_features_without_end_are_full(examples):
    batch = EARLY.read_batch_features(
        examples, 3, FEATURES, tf.data.TFRecordDataset, ["", 1000], randomize_input=True
    )
    assert batch["x"].shape.as_list() == [3]
    with tf.Session() as session:
        found = np.concatenate([session.run(batch["x"]) for _ in range(20)])
    assert set(found.tolist()) == {0, 1, 2, 3}


def test_a_reducer_sums_a_dataset_up():
    def total(key):
        return {"sum": np.int64(0), "key": key}

    def added(state, x):
        return {"sum": state["sum"] + x, "key": state["key"]}

    reducer = EARLY.Reducer(total, added, lambda state: state["sum"] * 10)
    results = [EARLY.reduce_dataset(D.range(count), reducer) for count in (5, 0)]
    with tf.Session() as session:  # TensorFlow does not ask `finalize_func` either
        assert session.run(results) == [{"sum": 10, "key": 0}, {"sum": 0, "key": 0}]
    with pytest.raises(TypeError, match=r"`dataset` must be a `tf\.data\.Dataset` object\."):
        EARLY.reduce_dataset(3, reducer)


@pytest.fixture
def database(tmp_path):
    """Make a database with a table of unlike values; returns its name."""
    name = str(tmp_path / "table.db")
    connection = sqlite3.connect(name)
    with connection:
        connection.execute("CREATE TABLE cells (whole INTEGER, words TEXT, real REAL)")
        rows = [(2**40 + 5, "x", 1.5), (3, "17", None), (None, None, 7.0), (-1, "2.5", 2.5)]
        connection.executemany("INSERT INTO cells VALUES (?, ?, ?)", rows)
    connection.close()
    return name


@pytest.mark.parametrize(
    ("column", "dtype", "wanted"),
    [
        ("whole", tf.int64, [2**40 + 5, 3, 0, -1]),
        ("whole", tf.int32, [5, 3, 0, -1]),
        ("whole", tf.uint8, [5, 3, 0, 255]),
        ("whole", tf.bool, [True, True, False, True]),
        ("whole", tf.string, [b"1099511627781", b"3", b"", b"-1"]),
        ("real", tf.int32, [1, 0, 7, 2]),
        ("real", tf.string, [b"1.5", b"", b"7.0", b"2.5"]),
    ],
)
def test_columns_have_the_type_that_is_asked_for(database, column, dtype, wanted):
    rows = tf.data.experimental.SqlDataset(
        "sqlite", database, f"SELECT {column} FROM cells", (dtype,)
    )
    assert [value for (value,) in of(rows)] == wanted
