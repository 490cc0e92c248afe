"""The same calls and samples on a real TensorFlow: what it makes of them, as JSON.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours but `calls.py` and `samples/` beside it; `test_differential.py` starts it, and compares. It
reads {"ops": [names]} from stdin and writes one JSON object: "calls", "samples", "signatures".

To store what it says, so that the comparison needs no real TensorFlow:

    python -m tests.ops.differential "COMMAND THAT RUNS REAL TENSORFLOW 1.15's PYTHON"
"""

from __future__ import annotations

import functools
import json
import os
import shlex
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected_1_15.json")


def calls(table):
    """Return the lines of a table that are not empty."""
    return [line for line in table.splitlines() if line]


def environment(tf):
    """Return the names that the calls use."""

    def unknown(value, shape=None):
        value = np.asarray(value)
        defaults = {np.dtype(np.float64): np.float32, np.dtype(np.int64): np.int32}
        value = value.astype(defaults.get(value.dtype, value.dtype))
        return tf.placeholder_with_default(value, shape)

    def on(device, value):
        with tf.device(device):
            return tf.constant(value)

    def gradient(function, value):
        x = unknown(value, np.shape(value))
        y = function(x)
        dims = y.shape.as_list()
        weights = None
        if None not in dims:
            count = int(np.prod(dims))
            weights = tf.constant(np.arange(1, 1 + count, dtype=np.float32).reshape(dims))
        result = tf.convert_to_tensor(tf.gradients(y, x, weights)[0])
        result.set_shape(x.shape)
        return result

    def sparse(values, shape=(3, 4), indices=((0, 1), (2, 0))):
        return tf.SparseTensor(indices, values, shape)

    def parts(sparse):
        return [sparse.indices, sparse.values, sparse.dense_shape]

    def several(*sparse):
        return tf.stack([tf.serialize_sparse(each) for each in sparse])

    return {
        "tf": tf, "np": np, "unknown": unknown, "on": on, "gradient": gradient,
        "sparse": sparse, "parts": parts, "several": several, "v2": Second(),
    }  # fmt: skip


class Second:
    """The names of version 2, which `tf.compat.v1` of 1.15 does not lead to."""

    def __getattr__(self, name):
        module = "tfdist" if "tfdist" in sys.modules else "tensorflow"
        return getattr(sys.modules[module].compat.v2, name)


def outcome(tf, source, evaluate):
    """Return what a call gives: nodes and outputs, or the class of the error."""
    graph = tf.Graph()
    with graph.as_default():
        try:
            result = eval(source, environment(tf))
        except Exception as error:
            return {"error": type(error).__name__, "phrase": phrase(error)}
        return described(graph, result, evaluate)


def phrase(error):
    """Return what an error says, without the node that it is of."""
    text = str(error).partition("\n")[0].partition("[[")[0]
    return text.partition(" for '")[0].strip(" .\t")


def described(graph, result, evaluate):
    """Return the nodes of `graph`, and types, static shapes and values of a call's result.

    An output is [type, static shape] or [type, static shape, shape, elements].
    """
    nodes = " | ".join(op.name + " " + op.type for op in graph.get_operations())
    results = list(result) if isinstance(result, (list, tuple)) else [result]
    if not all(hasattr(each, "graph") for each in results):
        return {"nodes": nodes, "text": str(result)}
    found = {
        "nodes": nodes,
        "outputs": [static(each) for each in results if hasattr(each, "dtype")],
    }
    if any(is_random(op) for op in graph.get_operations()):
        return found
    try:
        values = evaluate(graph, results)
    except Exception as error:
        found["run_error"] = type(error).__name__
        found["run_phrase"] = phrase(error)
        return found
    for output, value in zip(found["outputs"], [v for v in values if v is not None]):  # noqa: B905
        output += plain(value)
    return found


def is_random(op):
    """Return whether an operation draws numbers."""
    return op.type in RANDOM or ("Random" in op.type and op.type != "RandomGammaGrad")


# the numbers of what is kept mean something on their task only
RANDOM = (
    "TruncatedNormal", "Multinomial", "AddSparseToTensorsMap", "AddManySparseToTensorsMap",
    "FixedUnigramCandidateSampler", "FractionalAvgPool", "FractionalMaxPool",
    "LearnedUnigramCandidateSampler", "LogUniformCandidateSampler", "UniformCandidateSampler",
    "SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2",
)  # fmt: skip


def static(tensor):
    """Return type and static shape of a tensor."""
    shape = tensor.shape
    return [tensor.dtype.base_dtype.name, None if shape.ndims is None else shape.as_list()]


def plain(value):
    """Return shape and elements of a value, as JSON can hold them."""
    array = np.asarray(value, object) if isinstance(value, bytes) else np.asarray(value)
    if array.dtype.names:  # quantised numbers
        array = array[array.dtype.names[0]]
    return [list(array.shape), [plain_element(each) for each in array.reshape(-1)]]


def plain_element(element):
    if isinstance(element, bytes):
        return element.decode("latin-1")
    if isinstance(element, (bool, np.bool_)):
        return bool(element)
    if isinstance(element, (int, np.integer)):
        return int(element)
    if np.iscomplexobj(element):
        return [plain_element(element.real), plain_element(element.imag)]
    return float(f"{float(element):.9g}")


def sample_outcome(tf, name, inputs, attrs, evaluate):
    """Return what real TensorFlow's op `name` makes of a sample; None if it has no such op."""
    if name not in op_defs():
        return None
    graph = tf.Graph()
    with graph.as_default():
        names = [arg.name for arg in op_defs()[name].input_arg]
        values = [tensors(tf, value) for value in inputs]
        try:
            given = dict(defaults(op_defs()[name]), **attrs)
            result = apply_op()(name, **dict(zip(names, values)), **given)  # noqa: B905
        except Exception as error:
            return {"error": str(error)[:200]}
        found = described(graph, flattened(result), evaluate)
    del found["nodes"]
    return found


def flattened(result):
    """Return an op's outputs with those of its lists in their places."""
    if not isinstance(result, (list, tuple)):
        return result
    parts = [each if isinstance(each, list) else [each] for each in result]
    return [each for part in parts for each in part]


def tensors(tf, value):
    if isinstance(value, list):
        return [tf.constant(each) for each in value]
    return tf.constant(value)


def defaults(op):
    """Yield name and default of each attribute that the inputs do not imply."""
    implied = set()
    for arg in op.input_arg:
        implied |= {arg.type_attr, arg.number_attr, arg.type_list_attr}
    for attr in op.attr:
        if attr.name not in implied and attr.HasField("default_value"):
            kind = attr.default_value.WhichOneof("value")
            value = getattr(attr.default_value, kind)
            yield attr.name, list(value.i) if kind == "list" else value


@functools.lru_cache(maxsize=None)  # noqa: UP033  Python 3.7 has no `cache`
def apply_op():
    """Return real TensorFlow's function that adds a node of any op."""
    from tensorflow.python.framework import op_def_library

    if hasattr(op_def_library, "apply_op"):
        return op_def_library.apply_op
    from tensorflow.core.framework import op_def_pb2

    library = op_def_library.OpDefLibrary()
    library.add_op_list(op_def_pb2.OpList(op=op_defs().values()))
    return library.apply_op


@functools.lru_cache(maxsize=None)  # noqa: UP033  Python 3.7 has no `cache`
def op_defs():
    """Return real TensorFlow's registry: name -> OpDef message."""
    from tensorflow.core.framework import op_def_pb2

    try:
        from tensorflow.python import pywrap_tensorflow as library

        buffer = library.TF_GetBuffer(library.TF_GetAllOpList())
    except AttributeError:
        from tensorflow.python.client import pywrap_tf_session as library

        buffer = library.TF_GetBuffer(library.TF_GetAllOpList())
    return {op.name: op for op in op_def_pb2.OpList.FromString(buffer).op}


def signature(tf, name):
    """Return inputs, outputs, attributes and statefulness of an op; None if it is not there."""
    op = op_defs().get(name)
    if op is None:
        return None
    return {
        "inputs": [argument(tf, arg) for arg in op.input_arg],
        "outputs": [argument(tf, arg) for arg in op.output_arg],
        "attrs": dict(attribute(tf, attr) for attr in op.attr),
        "stateful": op.is_stateful,
    }


def argument(tf, arg):
    """Return "name: type" as our signatures write it."""
    kind = arg.type_list_attr or arg.type_attr or tf.as_dtype(arg.type).name
    kind = f"Ref({kind})" if arg.is_ref else kind
    return f"{arg.name}: {arg.number_attr}*{kind}" if arg.number_attr else f"{arg.name}: {kind}"


def attribute(tf, attr):
    """Return an attribute's name, and its type, default and allowed values as text."""
    default = None
    if attr.HasField("default_value"):
        kind = attr.default_value.WhichOneof("value")
        default = getattr(attr.default_value, kind)
        default = tf.as_dtype(default).name if kind == "type" else plain_default(kind, default)
    allowed = [tf.as_dtype(each).name for each in attr.allowed_values.list.type]
    allowed += [each.decode() for each in attr.allowed_values.list.s]
    return attr.name, [attr.type, default, " ".join(sorted(allowed))]


def plain_default(kind, value):
    if kind == "s":
        return value.decode("latin-1")
    if kind in ("i", "f", "b"):
        return value
    return " ".join(str(value).split())


def say_all(sources):
    """Print what this Python's TensorFlow makes of calls, as JSON: a line for each, by its name."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    tf = tf.compat.v1
    tf.logging.set_verbosity(tf.logging.ERROR)

    def evaluate(graph, results):
        with tf.Session(graph=graph) as session:
            return session.run(results)

    found = {name: outcome(tf, source, evaluate) for name, source in sources.items()}
    lines = [json.dumps(key) + ": " + json.dumps(value) for key, value in found.items()]
    print("{\n" + ",\n".join(lines) + "\n}")


def main():
    """Write what this Python's TensorFlow makes of everything."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import warnings

    warnings.filterwarnings("ignore")
    import tensorflow as tf

    if not tf.__version__.startswith("1"):
        tf.compat.v1.disable_eager_execution()
    else:
        # ops of contrib are there once these are loaded
        _ = tf.contrib.seq2seq.gather_tree, tf.contrib.image.transform
        _ = tf.contrib.resampler.resampler
    tf = tf.compat.v1
    tf.logging.set_verbosity(tf.logging.ERROR)
    from calls import CALLS, MESSAGES, VALUES
    from samples import SAMPLES, samples_of

    def evaluate(graph, results):
        with tf.Session(graph=graph, config=tf.ConfigProto(device_count={"CPU": 2})) as session:
            return session.run(results)

    ops = json.load(sys.stdin)["ops"]
    sources = calls(CALLS + VALUES)
    json.dump({
        "calls": {source: outcome(tf, source, evaluate) for source in sources},
        "messages": {source: outcome(tf, source, evaluate) for source in calls(MESSAGES)},
        "samples": {
            f"{name}-{number}": sample_outcome(tf, name, inputs, attrs, evaluate)
            for name in SAMPLES
            for number, (inputs, attrs) in enumerate(samples_of(name))
            if name in ops and name != "Const"
        },
        "signatures": {name: signature(tf, name) for name in ops},
    }, sys.stdout)  # fmt: skip


def run_real(command, ops):
    """Return what a real TensorFlow says.

    Args:
      command: what runs its Python, as in a shell.
      ops: names of the ops whose signatures are wanted.
    """
    script = shlex.split(command) + [os.path.abspath(__file__)]  # noqa: RUF005
    job = json.dumps({"ops": sorted(ops)})
    done = subprocess.run(script, input=job, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)


def compact(said):
    """Return JSON text with a line for each call, sample and signature."""
    parts = []
    for part, rows in said.items():
        lines = [
            f"{json.dumps(key)}: {json.dumps(row, separators=(',', ':'))}"
            for key, row in rows.items()
        ]
        parts.append(json.dumps(part) + ": {\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def store(command):
    """Write the expectations that are compared with where no real TensorFlow is."""
    from tests.ops.test_every_op import REGISTRY

    said = compact(run_real(command, REGISTRY))
    with open(EXPECTED, "w", encoding="utf-8") as file:
        file.write(said)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        store(sys.argv[1])
    else:
        main()
