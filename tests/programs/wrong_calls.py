"""What comes of the wrong calls of `wrong_calls.txt`: classes of errors that programs catch.

A line there is the class of 1.15.5's error, "-" for none, and the statements. The names in them
are those of `environment`. This file runs on real TensorFlow's own Python (3.7 or later), by its
path, and imports nothing of ours. To write the classes of 1.15.5 anew:

    PYTHON_OF_1.15 tests/programs/wrong_calls.py

`wrong_calls_otherwise.txt` has, in the same form, the classes of those in which tfdist differs: it
takes more, it finds a fault earlier, or it names a fault where there an attribute of something
else is missing.
"""

import os
import tempfile

import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))
FILE = os.path.join(FOLDER, "wrong_calls.txt")
OTHERWISE = os.path.join(FOLDER, "wrong_calls_otherwise.txt")


def calls(name=FILE):
    """Return [(class of an error, statements)] of a file."""
    with open(name, encoding="utf-8") as file:
        return [tuple(line.rstrip("\n").split(" | ", 1)) for line in file]


def environment(tf, graph, folder):
    """Return the names that calls use."""
    other = tf.Graph()
    with other.as_default():
        o = tf.constant(1.0, name="o")
    return {
        "tf": tf, "np": np, "graph": graph, "folder": folder, "other": other, "o": o,
        "c": tf.constant([1.0, 2.0], name="c"),
        "x": tf.placeholder(tf.float32, [None, 2], name="x"),
        "p": tf.placeholder(tf.float32, name="p"), "i": tf.placeholder(tf.int32, [], name="i"),
        "v": tf.Variable([1.0, 2.0], name="v"), "im": tf.zeros([1, 4, 4, 3], name="im"),
        "d": tf.data.Dataset.range(3), "s": tf.Session(graph=graph),
    }  # fmt: skip


def error_of(tf, call):
    """Return the exception that a call raises, None if it raises none."""
    tf.keras.backend.clear_session()
    graph = tf.Graph()
    with tempfile.TemporaryDirectory() as folder, graph.as_default():
        names = environment(tf, graph, folder)
        try:
            exec(call, names)
        except (Exception, SystemExit) as error:
            return error
        finally:
            names["s"].close()
            tf.summary.FileWriterCache.clear()
    return None


def main():
    """Write the file anew with the classes that this Python's TensorFlow raises."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    tf.logging.set_verbosity(tf.logging.FATAL)
    found = [(call, error_of(tf, call)) for _, call in calls()]
    with open(FILE, "w", encoding="utf-8") as file:
        for call, error in found:
            file.write("{} | {}\n".format(type(error).__name__ if error else "-", call))


if __name__ == "__main__":
    main()
