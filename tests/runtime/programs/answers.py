"""What real TensorFlow makes of the programs in this folder.

This file runs on real TensorFlow's own Python (3.7 or later), from the project's root; then it
writes what each program returns, as JSON. To store what that says, so that the comparison needs no
real TensorFlow:

    python -m tests.runtime.programs.answers "COMMAND THAT RUNS REAL TENSORFLOW 1.15's PYTHON"
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys

from tests.runtime.programs import (  # noqa: F401  they note their programs
    branches,
    branches_over_tasks,
    loop_effects,
    loops,
    loops_over_tasks,
)
from tests.runtime.programs.registry import PROGRAMS, Place, plain

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "answers_1_15.json")

# What TensorFlow 1.15 never ends if the devices differ: it runs these on one.
ON_ONE_DEVICE = {"before_and_after_a_loop_over_tasks", "loop_that_waits_for_a_dependency_elsewhere"}


def answers():
    """Return what this Python's TensorFlow makes of the programs."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import warnings

    warnings.filterwarnings("ignore")
    import tensorflow as tf

    if not tf.__version__.startswith("1"):
        tf.compat.v1.disable_v2_behavior()
    tf = tf.compat.v1
    tf.logging.set_verbosity(tf.logging.ERROR)
    config = tf.ConfigProto(device_count={"CPU": 3})
    found = {}
    for name, function in PROGRAMS.items():
        devices = ["/cpu:0"] * 3 if name in ON_ONE_DEVICE else ["/cpu:0", "/cpu:1", "/cpu:2"]
        with tf.Graph().as_default() as graph, tf.Session(graph=graph, config=config) as session:
            found[name] = plain(function(tf, Place(*devices), session.run))
    return found


def ask(command):
    """Return what a real TensorFlow says; `command` runs its Python, as in a shell."""
    script = shlex.split(command) + ["-m", "tests.runtime.programs.answers"]  # noqa: RUF005
    root = os.path.join(HERE, "..", "..", "..")
    done = subprocess.run(script, stdout=subprocess.PIPE, check=True, text=True, cwd=root)
    return json.loads(done.stdout)


def store(command):
    """Write the answers that are compared with where no real TensorFlow is."""
    rows = [
        f"{json.dumps(name)}: {json.dumps(said, separators=(',', ':'))}"
        for name, said in ask(command).items()
    ]
    with open(EXPECTED, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        store(sys.argv[1])
    else:
        json.dump(answers(), sys.stdout)
