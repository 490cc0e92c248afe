"""The same pipelines on a real TensorFlow: what it makes of them, as JSON.

This file runs on real TensorFlow's own Python, by its path, and imports nothing of ours but
`pipelines.py` and `coordination.py` beside it. To store what it says, so that comparing needs no
real TensorFlow:

    python -m tests.training.differential "COMMAND THAT RUNS REAL TENSORFLOW 1.15's PYTHON"
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected_1_15.json")
MOST = 12  # elements of a pipeline without an end
COLLECTIONS = ("local_variables", "queue_runners", "summaries", "trainable_variables", "variables")
PATIENCE = 5_000  # milliseconds for one that gives nothing


def outcome(tf, environment, source):
    """Return what a pipeline gives: its nodes, collections, static shapes, and its elements."""
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(7)
        try:
            made = eval(source, environment(tf))
            fetched = made.dequeue() if hasattr(made, "dequeue") else made
        except Exception as error:
            return {"error": [type(error).__name__, str(error)]}
        found = {
            "nodes": nodes_of(tf, graph),
            "collections": collections_of(tf, graph),
            "fetched": static(fetched),
        }
        found.update(elements(tf, fetched))
    return found


def nodes_of(tf, graph):
    """Return nodes as text: name, op, inputs, and attributes."""
    return [node_text(tf, node) for node in graph.as_graph_def().node]


def node_text(tf, node):
    attrs = [
        f"{key}={attr_text(tf, node.attr[key])}"
        for key in sorted(node.attr)
        if not key.startswith("_") or key == "_class"
    ]
    device = " on " + node.device if node.device else ""
    inputs, attrs = ", ".join(node.input), "; ".join(attrs)
    return f"{node.name} = {node.op}({inputs}) [{attrs}]{device}"


def attr_text(tf, value):
    if value.WhichOneof("value") == "tensor":
        array = tf.make_ndarray(value.tensor)
        value = json.dumps(array.tolist(), default=lambda b: b.decode())
        return f"{array.dtype} {value}"
    return " ".join(str(value).split())


def collections_of(tf, graph):
    """Return what stands in the collections, as text."""
    return {
        key: [member_text(each) for each in graph.get_collection(key)]
        for key in sorted(map(str, graph.get_all_collection_keys()))
        if key in COLLECTIONS
    }


def member_text(member):
    if hasattr(member, "enqueue_ops"):
        return " ".join(str(member.to_proto()).split())
    return member.name


def static(structure):
    """Return types and static shapes of a structure of tensors as text."""
    if isinstance(structure, dict):
        parts = ", ".join(f"{key}: {static(structure[key])}" for key in sorted(structure))
        return "{" + parts + "}"
    if type(structure) in (list, tuple):
        return f"{type(structure).__name__}({', '.join(map(static, structure))})"
    shape = structure.get_shape()
    dims = "?" if shape.ndims is None else shape.as_list()
    return f"{type(structure).__name__} {structure.dtype.name} {dims}"


def elements(tf, fetched):
    """Return the elements, and what ended them."""
    values, end = [], "still going"
    bound = tf.RunOptions(timeout_in_ms=PATIENCE)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        try:
            for _ in range(MOST):
                values.append(plain(session.run(fetched, options=bound)))
        except Exception as error:
            end = type(error).__name__ + ": " + getattr(error, "message", str(error)).split("\n")[0]
        coordinator.request_stop()
        try:
            coordinator.join(threads, stop_grace_period_secs=PATIENCE / 1000)
        except Exception as error:
            end += " / " + type(error).__name__
    return {"elements": values, "end": end}


def plain(value):
    """Return an element as JSON can hold it, with the types of arrays."""
    if isinstance(value, dict):
        return {key: plain(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    array = np.asarray(value, object) if isinstance(value, bytes) else np.asarray(value)
    flat = [simple(each) for each in array.reshape(-1).tolist()]
    return [str(array.dtype), list(array.shape), flat]


def simple(element):
    return element.decode("latin-1") if isinstance(element, bytes) else element


def everything(tf):
    """Return the outcomes of all pipelines and programs."""
    import coordination
    import pipelines

    found = {line: outcome(tf, pipelines.environment, line) for line in pipelines.lines()}
    for name, program in coordination.PROGRAMS.items():
        found[name] = program(tf)
    return found


def store(command):
    """Ask a real TensorFlow and store what it says."""
    said = subprocess.run(
        [*shlex.split(command), os.path.abspath(__file__), "tell"],
        check=True, stdout=subprocess.PIPE,
    ).stdout  # fmt: skip
    outcomes = json.loads(said)
    nodes = sorted({node for each in outcomes.values() for node in nodes_in(each)})
    numbers = {node: number for number, node in enumerate(nodes)}
    for each in outcomes.values():
        nodes_in(each)[:] = [numbers[node] for node in nodes_in(each)]
    with open(EXPECTED, "w") as file:
        lines = ",\n".join(json.dumps(node) for node in nodes)
        rows = [f"{json.dumps(key)}: {json.dumps(each)}" for key, each in outcomes.items()]
        file.write("[[\n" + lines + "\n], {\n" + ",\n".join(rows) + "\n}]\n")


def expected():
    """Return what is stored, by line and by name of the program."""
    with open(EXPECTED) as file:
        nodes, outcomes = json.load(file)
    for each in outcomes.values():
        nodes_in(each)[:] = [nodes[number] for number in nodes_in(each)]
    return outcomes


def nodes_in(found):
    """Return the list of nodes in an outcome; an empty one if it has none."""
    return found.get("nodes", []) if isinstance(found, dict) else []


def main():
    if sys.argv[1:] != ["tell"]:
        store(sys.argv[1])
        return
    sys.path.insert(0, HERE)
    import tensorflow

    tf = tensorflow.compat.v1
    tf.logging.set_verbosity(tf.logging.FATAL)
    json.dump(everything(tf), sys.stdout)


if __name__ == "__main__":
    main()
