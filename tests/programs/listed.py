"""Small programs of users that real TensorFlow and ours run, and what comes of them.

`listed/*.txt` hold the programs, with an empty line between two: the first line, after `#`, says
what is tried; the last line is the result. This file runs on real TensorFlow's own Python (3.7 or
later), by its path, and imports nothing of ours. To store what 1.15.5 says of one file or all:

    PYTHON_OF_1.15 tests/programs/listed.py [NAME ...]
"""

import ast
import json
import os
import sys
import tempfile

import numpy as np

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "listed")


def names():
    """Return the names of all files of programs."""
    return sorted(name[:-4] for name in os.listdir(FOLDER) if name.endswith(".txt"))


def programs(name):
    """Return {what is tried: program} of a file."""
    with open(os.path.join(FOLDER, name + ".txt"), encoding="utf-8") as file:
        blocks = [block.strip("\n") for block in file.read().split("\n\n") if block.strip()]
    return {block.split("\n", 1)[0].lstrip("# "): block.split("\n", 1)[1] for block in blocks}


def expected_file(name):
    """Return where what 1.15.5 said is kept."""
    return os.path.join(FOLDER, name + "_1_15.json")


def outcome(tf, program):
    """Return {"result": ...} of a program, with the values of tensors, or {"error": class}."""
    graph = tf.Graph()
    tree = ast.parse(program)
    last = ast.Expression(tree.body.pop().value)
    tf.keras.backend.clear_session()
    with graph.as_default(), tempfile.TemporaryDirectory() as folder:
        given = {"tf": tf, "np": np, "graph": graph, "folder": folder}
        try:
            exec(compile(tree, "program", "exec"), given)
            result = eval(compile(last, "program", "eval"), given)
            return {"result": plain(valued(tf, graph, result))}
        except Exception as error:
            return {"error": type(error).__name__}
        finally:
            tf.summary.FileWriterCache.clear()


def valued(tf, graph, result):
    """Return the result with values for its tensors."""
    if is_tensor(result):
        return run(tf, graph, result)
    if isinstance(result, (list, tuple)) and any(map(is_tensor, result)):
        tensors = [each for each in result if is_tensor(each)]
        values = iter(run(tf, graph, tensors))
        return [next(values) if is_tensor(each) else each for each in result]
    return result


def is_tensor(value):
    return hasattr(value, "dtype") and hasattr(value, "op")


def run(tf, graph, fetches):
    with tf.Session(graph=graph) as session:
        with graph.as_default():
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return session.run(fetches)


def plain(value):
    """Return a value as JSON can hold it; arrays as [type, shape, elements]."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return [str(value.dtype), list(value.shape), [number(each) for each in value.reshape(-1)]]
    return number(value)


def number(value):
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if value is None or isinstance(value, str):
        return value
    try:
        return float(format(float(value), ".7g"))
    except (TypeError, ValueError):
        return type(value).__name__


def main(wanted):
    """Store what this Python's TensorFlow says."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    for name in wanted:
        lines = [
            json.dumps(tried) + ": " + json.dumps(outcome(tf, program))
            for tried, program in programs(name).items()
        ]
        with open(expected_file(name), "w", encoding="utf-8") as file:
            file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1:] or names())
