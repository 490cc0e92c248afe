"""How programs with variables in parts are run, on real TensorFlow and on ours; imports neither.

See `part_programs.py` and `tests/ops/nn/embedding_programs.py`, which real TensorFlow's own Python
(3.7 and on) runs by their paths.
"""

import json
import sys

import numpy as np


def numbers(shape, dtype=None, partition_info=None):
    """Initializer: different numbers, which know where their part stands in the whole."""
    whole = [int(dim) for dim in (partition_info.full_shape if partition_info else shape)]
    offset = partition_info.var_offset if partition_info else [0] * len(shape)
    values = np.arange(np.prod(whole), dtype=np.float32).reshape(whole)
    return values[tuple(slice(o, o + int(n)) for o, n in zip(offset, shape))]  # noqa: B905


def split(tf, name="v", shape=(5, 3), parts=2, axis=0, **more):
    """Return a partitioned variable whose elements are all different."""
    return tf.get_variable(
        name, list(shape), initializer=more.pop("initializer", numbers),
        partitioner=tf.fixed_size_partitioner(parts, axis), **more,
    )  # fmt: skip


def info(part):
    """Return what savers are told of a part."""
    slice_info = part._save_slice_info
    return [slice_info.full_name, list(slice_info.full_shape), list(slice_info.var_offset),
            list(slice_info.var_shape), slice_info.spec]  # fmt: skip


def outcome(tf, programs, name):
    """Return what a program gives: its nodes, facts and values, or an error."""
    graph = tf.Graph()
    with graph.as_default():
        try:
            facts = programs[name](tf)
        except Exception as error:
            return {"error": type(error).__name__}
        found = {"nodes": [node(op) for op in graph.get_operations() if is_compared(op)]}
        with tf.Session() as session:
            if any("Initializer" in op.name or op.type.startswith("Var")
                   for op in graph.get_operations()) and "task" not in str(found):  # fmt: skip
                session.run(tf.global_variables_initializer())
                for variable in tf.get_collection("mine"):
                    session.run(variable.initializer)
            found["facts"] = [fact(tf, session, each) for each in facts]
    return found


def is_compared(op):
    """Return whether a node must be there: gradients that nobody needs are not made here."""
    return not op.name.startswith(("gradients", "GradientDescent/"))


def node(op):
    """Return name, type, device, inputs and groups of a node in one line."""
    groups = []
    try:
        groups = [each.decode() for each in op.get_attr("_class")]
    except ValueError:
        pass
    inputs = [each.name for each in op.inputs] + ["^" + each.name for each in op.control_inputs]
    parts = [op.name, op.type, op.device or "-", *inputs, *["@" + each for each in sorted(groups)]]
    return " ".join(parts)


def fact(tf, session, value):
    """Return a fact as JSON can hold it: a tensor as its value."""
    if isinstance(value, (list, tuple)):
        return [fact(tf, session, each) for each in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "as_tensor"):
        value = list(value)
        return fact(tf, session, value)
    if isinstance(value, tf.Operation):
        return [value.name]
    if hasattr(value, "op") and hasattr(value, "eval"):
        if "task" in value.op.device:
            return value.name
        try:
            found = np.asarray(session.run(value))
        except tf.errors.OpError as error:
            return [value.name, type(error).__name__]
        known = "" if "grad" in value.name else str(value.shape)  # 1.15.5 folds constants there
        return [value.name, known, found.dtype.name, list(found.shape),
                [plain(each) for each in found.reshape(-1)]]  # fmt: skip
    return str(value)


def plain(element):
    """Return an element as JSON can hold it."""
    return float(f"{element:.6g}") if isinstance(element, np.floating) else element.item()


def main(programs):
    """Write what this Python's TensorFlow makes of everything."""
    import os

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    tf = tf.compat.v1
    tf.logging.set_verbosity(tf.logging.ERROR)
    lines = [
        json.dumps(name) + ": " + json.dumps(outcome(tf, programs, name), separators=(",", ":"))
        for name in programs
    ]
    sys.stdout.write("{\n" + ",\n".join(lines) + "\n}\n")
