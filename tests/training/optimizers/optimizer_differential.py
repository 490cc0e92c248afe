"""The same optimizers on a real TensorFlow: what it makes of them, as JSON.

This file runs on real TensorFlow's own Python, by its path, and imports nothing of ours but what
stands beside it. To store what it says, so that comparing needs no real TensorFlow:

    python -m tests.training.optimizers.optimizer_differential \\
        "COMMAND THAT RUNS TENSORFLOW 1.15's PYTHON"
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected_optimizers_1_15.json")


def everything(tf, averages, make):
    """Return the outcomes of all programs.

    Args:
      tf: the library.
      averages: its module that has `assign_moving_average`.
      make: function from an op's name and a dict of its inputs and attributes to its node.
    """
    import optimizer_programs
    import step_programs

    found = {}
    for line in optimizer_programs.OPTIMIZERS:
        for use_resource in (False, True):
            key = f"{line} {use_resource}"
            found[key] = trained(tf, optimizer_programs.program, line, use_resource)
    for line in optimizer_programs.SCHEDULES:
        found[line] = scheduled(tf, line)
    for program in optimizer_programs.AVERAGES:
        for use_resource in (False, True):
            key = f"{program.__name__} {use_resource}"
            found[key] = averaged(tf, averages, program, use_resource)
    for title, op, step, dtype in step_programs.cases():
        found[title] = step_programs.outcome(tf, make, op, step, dtype)
    return found


def trained(tf, program, line, use_resource):
    """Return nodes, slots and the variables after three steps of training."""
    with tf.Graph().as_default() as graph:
        optimizer, train = program(tf, line, use_resource)
        found = {
            "nodes": nodes_of(tf, graph, ("gradients/",)),
            "slots": optimizer.get_slot_names(),
            "variables": [variable.name for variable in optimizer.variables()],
        }
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(train)
            found["values"] = values_of(tf, session)
    return found


def scheduled(tf, line):
    """Return nodes and the rates of nine steps, or what is wrong."""
    with tf.Graph().as_default() as graph:
        step = tf.Variable(0, dtype=tf.int64, name="step")
        try:
            rate = eval("tf.train." + line, {"tf": tf, "step": step})
        except ValueError as error:
            return {"error": str(error)}
        nodes = nodes_of(tf, graph, ("step",))
        rates = []
        with tf.Session() as session:
            session.run(step.initializer)
            for now in range(9):
                rates.append(float(session.run(rate, {step: now})))
    return {"nodes": nodes, "name": rate.name, "rates": None if "noisy" in line else rates}


def averaged(tf, averages, program, use_resource):
    """Return nodes, what the program says, and the variables after three moves."""
    with tf.Graph().as_default() as graph:
        move, change, said = program(tf, averages, use_resource)
        nodes = nodes_of(tf, graph, ())
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(getattr(move, "op", move))
                session.run(change)
            return {"nodes": nodes, "said": said, "values": values_of(tf, session)}


def values_of(tf, session):
    return {v.name: session.run(v).tolist() for v in tf.global_variables()}


def nodes_of(tf, graph, without):
    """Return nodes as text: name, op, inputs, and attributes."""
    from differential import node_text  # of the folder above

    nodes = graph.as_graph_def().node
    return [node_text(tf, node) for node in nodes if not node.name.startswith(without)]


def store(command):
    """Ask a real TensorFlow and store what it says, each node once."""
    said = subprocess.run(
        [*shlex.split(command), os.path.abspath(__file__), "tell"],
        check=True, stdout=subprocess.PIPE,
    ).stdout  # fmt: skip
    outcomes = json.loads(said, parse_float=lambda digits: float(f"{float(digits):.9g}"))
    nodes = sorted({node for each in outcomes.values() for node in nodes_in(each)})
    numbers = {node: number for number, node in enumerate(nodes)}
    for each in outcomes.values():
        nodes_in(each)[:] = [numbers[node] for node in nodes_in(each)]
    with open(EXPECTED, "w") as file:
        lines = ",\n".join(json.dumps(node) for node in nodes)
        rows = [f"{json.dumps(key)}: {json.dumps(each)}" for key, each in outcomes.items()]
        file.write("[[\n" + lines + "\n], {\n" + ",\n".join(rows) + "\n}]\n")


def expected():
    """Return what is stored, by the program's text."""
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
    sys.path[:0] = [HERE, os.path.dirname(HERE)]
    import tensorflow
    from tensorflow.python.training import moving_averages

    tf = tensorflow.compat.v1
    tf.logging.set_verbosity(tf.logging.FATAL)

    def make(op, inputs):
        return getattr(tf.raw_ops, op)(**inputs)

    json.dump(everything(tf, moving_averages, make), sys.stdout)


if __name__ == "__main__":
    main()
