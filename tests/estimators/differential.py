"""Programs of columns and estimators on a real TensorFlow: what they give, as JSON.

This file runs on real TensorFlow 1.15.5's own Python, by its path, and imports nothing of ours but
what stands beside it. To store what it says, so that comparing needs no real TensorFlow:

    python -m tests.estimators.differential "COMMAND THAT RUNS REAL TENSORFLOW 1.15's PYTHON"
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected_1_15.json")


def outcome(tf, program):
    """Return what a program gives, in a graph of its own."""
    with tf.Graph().as_default():
        return json.loads(json.dumps(program(tf)))


def store(command):
    """Ask a real TensorFlow and store what it says."""
    said = subprocess.run(
        [*shlex.split(command), os.path.abspath(__file__), "tell"],
        check=True, stdout=subprocess.PIPE,
    ).stdout  # fmt: skip
    rows = [f"{json.dumps(key)}: {json.dumps(each)}" for key, each in json.loads(said).items()]
    with open(EXPECTED, "w") as file:
        file.write("{\n" + ",\n".join(rows) + "\n}\n")


def expected():
    """Return what is stored, by name of the program."""
    with open(EXPECTED) as file:
        return json.load(file)


def main():
    if sys.argv[1:] != ["tell"]:
        store(sys.argv[1])
        return
    sys.path.insert(0, HERE)
    import contrib_programs
    import keras_programs
    import programs
    import tensorflow

    tf = tensorflow.compat.v1
    tf.logging.set_verbosity(tf.logging.FATAL)
    found = {name: outcome(tf, program) for name, program in programs.PROGRAMS.items()}
    for name, program in [*contrib_programs.PROGRAMS.items(), *keras_programs.PROGRAMS.items()]:
        found[name] = outcome(tensorflow, program)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
