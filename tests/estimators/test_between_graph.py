"""A training whose tasks are processes: chief, two workers, a parameter server, an evaluator."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import tfdist as tf
from tfdist.launch.ports import KeptPorts

PROGRAM = Path(__file__).parent / "between_graph.py"
TASKS = [("ps", 0), ("chief", 0), ("worker", 0), ("worker", 1), ("evaluator", 0)]
STEPS = 60
LAYERS = ["guess/bias", "guess/kernel", "hidden/bias", "hidden/kernel"]

# What 1.15.5 has of the same program in a checkpoint.
VARIABLES = sorted([
    "beta1_power", "beta2_power", "global_step",
    *[f"{name}{slot}" for name in LAYERS for slot in ("", "/Adam", "/Adam_1")],
])  # fmt: skip


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Run all tasks to their end; returns the folder, and what each but the last one said."""
    folder = tmp_path_factory.mktemp("model")
    kept = KeptPorts(4)
    ports = [f"127.0.0.1:{port}" for port in kept.numbers]
    kept.let_servers_bind()
    cluster = {"chief": ports[:1], "worker": ports[1:3], "ps": ports[3:]}
    processes = {task: start(cluster, task, folder) for task in TASKS}
    try:
        said = {
            task: process.communicate(timeout=60)[0]
            for task, process in processes.items()
            if task[0] != "ps"
        }
        assert {task: processes[task].returncode for task in said} == dict.fromkeys(said, 0), said
    finally:
        for process in processes.values():
            process.kill()
            process.communicate()
        kept.close()
    return folder, said


def start(cluster, task, folder):
    """Start the process of a task."""
    config = {"cluster": cluster, "task": {"type": task[0], "index": task[1]}}
    command = [sys.executable, "-m", "tfdist", "run", str(PROGRAM), str(folder), str(STEPS)]
    return subprocess.Popen(
        command,
        env={**os.environ, "TF_CONFIG": json.dumps(config)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.slow
def test_every_task_comes_to_its_end(trained):
    _, said = trained
    assert all(f"{job} {index} has ended" in text for (job, index), text in said.items())


@pytest.mark.slow
def test_the_chief_writes_checkpoints_that_have_tensorflows_names(trained):
    folder, _ = trained
    path = tf.train.latest_checkpoint(str(folder))
    assert int(path.rpartition("-")[2]) >= STEPS
    assert [name for name, _ in tf.train.list_variables(path)] == VARIABLES


@pytest.mark.slow
def test_the_folder_has_tensorflows_files(trained):
    folder, _ = trained
    found = Counter(kind(path) for path in folder.iterdir() if path.is_file())
    checkpoints = found["model.ckpt.meta"]
    assert checkpoints >= 2
    assert found == {
        "checkpoint": 1, "events.out.tfevents": 1, "graph.pbtxt": 1,
        "model.ckpt.meta": checkpoints, "model.ckpt.index": checkpoints,
        "model.ckpt.data-00000-of-00001": checkpoints,
    }  # fmt: skip


def kind(path):
    """Return a file's name without steps, times and machines."""
    name = path.name
    if name.startswith("events."):
        return "events.out.tfevents"
    step, _, ending = name.removeprefix("model.ckpt-").partition(".")
    return f"model.ckpt.{ending}" if step.isdigit() else name


@pytest.mark.slow
def test_the_evaluator_tells_of_the_last_step(trained):
    folder, said = trained
    [path] = (folder / "eval").iterdir()
    [*_, last] = tags_by_step(path).items()
    assert last[0] >= STEPS
    assert {"error", "loss", "checkpoint_path"} <= last[1]
    assert "Exiting evaluation" in said["evaluator", 0]


def tags_by_step(path):
    """Return the tags of an event file's summaries by step."""
    found = {}
    for event in tf.train.summary_iterator(str(path)):
        if event.HasField("summary"):
            tags = {value.tag for value in event.summary.value}
            found.setdefault(event.step, set()).update(tags)
    return found


@pytest.mark.slow
def test_workers_share_the_variables_of_the_parameter_server(trained):
    _, said = trained
    losses = [
        float(line.split(": ")[1].rstrip("."))
        for text in said.values()
        for line in text.splitlines()
        if "Loss for final step" in line
    ]
    assert len(losses) == 3
    assert max(losses) < 1.0  # of 2.3 and more before
