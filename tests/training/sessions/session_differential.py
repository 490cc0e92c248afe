"""Programs of sessions, hooks and supervisors on a real TensorFlow: what they give, as JSON.

This file runs on real TensorFlow 1.15.5's own Python, by its path, and imports nothing of ours but
what stands beside it. To store what it says, so that comparing needs no real TensorFlow:

    python -m tests.training.sessions.session_differential \\
        "COMMAND THAT RUNS REAL TENSORFLOW 1.15's PYTHON"
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected_sessions_1_15.json")
FILES = ("monitored_programs", "manager_programs", "hook_programs", "supervisor_programs")

# What is said in other words here, or with more of them: pattern -> what both are taken for.
SAME = [
    (r"(INFO An error was raised|WARNING A task is lost).*: (?=as if)", "LOST: "),
    (r"(DeadlineExceededError: Session was not ready) .*", r"\1"),
    (r"(INFO|WARNING) (Waiting for model to be ready)", r"\2"),
    (r"(Waiting for checkpoint to be available).*", r"\1"),
    (r"WARNING (It seems that global step|The global step stays).*", "STAYS"),
    (r"WARNING (An OutOfRangeError or|What FinalOpsHook runs).*", "END"),
    (r"RuntimeError: .*(More than one item in)( the)? collection.*", r"\1"),
    (r"(ValueError: When using replicas.*name: \"\w+\").*", r"\1"),
    (r"'_\d+_fifo_queue", "'fifo_queue"),
    (r"_GlobalStepWaiterHook", "GlobalStepWaiterHook"),
    (r"report_uninitialized_variables/boolean_mask/", "report_uninitialized_variables/"),
    (r"<\w+\.(\w+\.<locals>)", r"<\1"),  # the module of a class or function
    (r"<tests\.training\.sessions\.\w+\.", "<"),
]


def comparable(found):
    """Return an outcome with what is said in two ways said in one."""
    if isinstance(found, dict):
        return {key: comparable(value) for key, value in found.items()}
    if isinstance(found, list):
        return [comparable(each) for each in found]
    if isinstance(found, str):
        for pattern, word in SAME:
            found = re.sub(pattern, word, found)
    return found


def outcome(tf, program, kit):
    """Return what a program gives, in a graph of its own."""
    with tf.Graph().as_default():
        return json.loads(json.dumps(program(tf, kit)))


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
    import session_kit
    import tensorflow

    tf = tensorflow.compat.v1
    tf.logging.set_verbosity(tf.logging.FATAL)
    found = {}
    for file in FILES:
        for name, program in importlib.import_module(file).PROGRAMS.items():
            found[name] = outcome(tf, program, session_kit)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
