"""Which of TensorFlow's module paths leads where.

Programs import from everywhere in TensorFlow, `tensorflow.python` too. A path stands for the first
of these that knows it: a module of `HOMES`; the messages, for what is in `tensorflow.core`; a
public namespace, as `tensorflow.compat.v1.train`; all public names, for a module anywhere in
`tensorflow.python`, whose names are public somewhere else as a rule.
"""

from __future__ import annotations

ROOT = "tensorflow"
VERSION = "1.15.5"  # whose behaviour this is

_PROGRAMS = "tfdist.programs"

# Module of TensorFlow -> module of ours.
HOMES = {
    "tensorflow.app": f"{_PROGRAMS}.app",
    "tensorflow.contrib.learn.python.learn.datasets.mnist": f"{_PROGRAMS}.input_data",
    "tensorflow.examples.tutorials.mnist.input_data": f"{_PROGRAMS}.input_data",
    "tensorflow.examples.tutorials.mnist.mnist": f"{_PROGRAMS}.mnist",
    "tensorflow.flags": f"{_PROGRAMS}.flags",
    "tensorflow.gfile": f"{_PROGRAMS}.gfile",
    "tensorflow.logging": f"{_PROGRAMS}.logs",
    "tensorflow.models.rnn.rnn": "tfdist.api.nn",
    "tensorflow.models.rnn.rnn_cell": "tfdist.api.rnn_cell",
    "tensorflow.models.rnn.seq2seq": "tfdist.api.contrib_legacy_seq2seq",
    "tensorflow.python.client.device_lib": "tfdist.session.device_lib",
    "tensorflow.python.client.timeline": "tfdist.tracing.timeline",
    "tensorflow.python.framework.dtypes": "tfdist.base.dtypes",
    "tensorflow.python.framework.errors": "tfdist.errors",
    "tensorflow.python.framework.errors_impl": "tfdist.errors",
    "tensorflow.python.lib.io.tf_record": "tfdist.api.python_io",
    "tensorflow.python.ops.rnn": "tfdist.api.nn",
    "tensorflow.python.ops.rnn_cell": "tfdist.api.rnn_cell",
    "tensorflow.python.ops.rnn_cell_impl": "tfdist.api.rnn_cell",
    "tensorflow.python.ops.seq2seq": "tfdist.api.contrib_legacy_seq2seq",
    "tensorflow.python.platform.app": f"{_PROGRAMS}.app",
    "tensorflow.python.platform.flags": f"{_PROGRAMS}.flags",
    "tensorflow.python.platform.gfile": f"{_PROGRAMS}.gfile",
    "tensorflow.python.platform.tf_logging": f"{_PROGRAMS}.logs",
    "tensorflow.python.training.moving_averages": "tfdist.training.moving_averages",
    "tensorflow.python.training.slot_creator": "tfdist.training.slots",
    "tensorflow.python.training.training_ops": "tfdist.ops.training_ops",
    "tensorflow.python_io": "tfdist.api.python_io",
}

# The same, for modules whose other names are public ones.
BESIDES = {"tensorflow.python.framework.ops": "tfdist.training.collection_defs"}

MESSAGES = "tensorflow.core"

# Public namespaces besides tf itself, in which names of `tensorflow.python` are looked for.
NAMESPACES = (
    "train", "nn", "math", "data", "summary", "layers", "losses", "metrics", "linalg", "debugging",
    "initializers", "graph_util", "gfile", "python_io", "image", "test", "app",
)  # fmt: skip

# Packages that hold modules, and nothing else that programs use.
PACKAGES = frozenset(
    ".".join(path.split(".")[:depth]) for path in HOMES for depth in range(2, path.count(".") + 1)
)

# Packages deeper in `tensorflow.python` that have modules.
_DEEP = (
    "tensorflow.python.data.ops", "tensorflow.python.lib.io", "tensorflow.python.ops.losses",
    "tensorflow.python.summary.writer",
)  # fmt: skip


def public_path(path: str) -> str:
    """Return the public namespace of a path in tf.contrib, `tensorflow.contrib.layers` for
    `tensorflow.contrib.layers.python.layers.regularizers`; other paths as they are."""
    return path.partition(".python")[0] if path.startswith("tensorflow.contrib.") else path


def is_inner(path: str) -> bool:
    """Return whether there may be a module at a path of `tensorflow.python`."""
    package = path.rpartition(".")[0]
    is_deep = path in _DEEP or package in _DEEP
    return path.startswith("tensorflow.python.") and (is_deep or package.count(".") <= 2)
