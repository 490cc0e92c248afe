"""Arguments of public functions, classes and methods: names, order and defaults.

`signatures_1_15.txt` has 1.15.5's, a line for each name: what it is called, then its arguments, as
`name`, `name=default`, `*`, `**`. This file runs on real TensorFlow's own Python (3.7 or later), by
its path, and imports nothing of ours. To write the table anew:

    PYTHON_OF_1.15 tests/signatures.py

`signatures_otherwise.txt` names those that differ.
"""

import inspect
import os

FOLDER = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(FOLDER, "signatures_1_15.txt")
OTHERWISE = os.path.join(FOLDER, "signatures_otherwise.txt")

SPACES = (
    "", "app", "audio", "bitwise", "compat", "config", "data", "data.experimental", "debugging",
    "distributions", "errors", "estimator", "estimator.export", "estimator.inputs",
    "feature_column", "gfile", "graph_util", "image", "initializers", "io", "io.gfile", "keras",
    "keras.activations", "keras.backend", "keras.callbacks", "keras.initializers", "keras.layers",
    "keras.losses", "keras.models", "keras.optimizers", "keras.preprocessing.image",
    "keras.preprocessing.sequence", "keras.preprocessing.text", "keras.utils", "layers", "linalg",
    "logging", "lookup", "losses", "manip", "math", "metrics", "nest", "nn", "nn.rnn_cell",
    "python_io", "quantization", "queue", "ragged", "random", "saved_model", "sets", "signal",
    "sparse", "strings", "summary", "sysconfig", "test", "train", "contrib.crf", "contrib.data",
    "contrib.framework", "contrib.image", "contrib.layers", "contrib.learn", "contrib.lookup",
    "contrib.losses", "contrib.metrics", "contrib.opt", "contrib.rnn", "contrib.seq2seq",
    "contrib.slim", "contrib.staging", "contrib.summary", "contrib.training", "contrib.util",
)  # fmt: skip
WITH_METHODS = (
    "Graph", "Session", "InteractiveSession", "Variable", "Tensor", "Operation", "DeviceSpec",
    "TensorShape", "TensorArray", "FIFOQueue", "data.Dataset", "estimator.Estimator",
    "keras.Model", "keras.Sequential", "summary.FileWriter", "train.ClusterSpec",
    "train.Coordinator", "train.ExponentialMovingAverage", "train.MonitoredSession",
    "train.Optimizer", "train.QueueRunner", "train.Saver", "train.Scaffold", "train.Server",
    "train.SessionManager", "train.Supervisor", "train.SyncReplicasOptimizer", "VariableScope",
)  # fmt: skip


def found(tf, path):
    """Return what stands at a path; AttributeError if nothing does."""
    value = tf
    for part in path.split(".") if path else ():
        value = getattr(value, part)
    return value


def arguments(function):
    """Return [(name, default)] of what a function or class takes, None if that is not told.

    A default is "" if there is none, and "?" if it is no plain value.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [_told(each) for each in parameters if each.name != "self"]


def _told(parameter):
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
    if parameter.kind in stars:
        return stars[parameter.kind], ""
    if parameter.default is parameter.empty:
        return parameter.name, ""
    return parameter.name, _shown(parameter.default)


def _shown(value):
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "[{}]".format("/".join(map(_shown, value)))
    return repr(value.name) if type(value).__name__ == "DType" else "?"


def names(tf):
    """Return the paths of all functions and classes in SPACES, and of methods."""
    for space in SPACES:
        home = found(tf, space)
        for name in dir(home):
            value = getattr(home, name, None)
            if name[0] != "_" and callable(value) and not hasattr(value, "DESCRIPTOR"):
                yield (space + "." if space else "") + name
    for path in WITH_METHODS:
        for name in dir(found(tf, path)):
            if name[0] != "_" and callable(getattr(found(tf, path), name, None)):
                yield path + "." + name


def table():
    """Return {path: [(name, default)]} of 1.15.5."""
    with open(TABLE, encoding="utf-8") as file:
        lines = [line.rstrip("\n").partition(": ") for line in file]
    return {
        path: [tuple(each.partition("=")[::2]) for each in told.split(", ") if each]
        for path, _, told in lines
    }


def main():
    """Write the table with what this Python's TensorFlow takes."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    with open(TABLE, "w", encoding="utf-8") as file:
        for path in names(tf):
            told = arguments(found(tf, path))
            if told is not None:
                parts = [name + ("=" + default if default else "") for name, default in told]
                file.write("{}: {}\n".format(path, ", ".join(parts)))


if __name__ == "__main__":
    main()
