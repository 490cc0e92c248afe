"""The resolver of SLURM's tasks says what that of TensorFlow 2.21 said, and more where it was mute.

`AS_THERE` holds answers that TensorFlow 2.21 gave; 1.15.5 took the same arguments, but asked
`scontrol` for the nodes and wanted GPUs for every task.
"""

import os

import pytest

import tfdist as tf

RESOLVER = tf.distribute.cluster_resolver.SlurmClusterResolver
JOBS = {"ps": 1, "worker": 2}
STEP = {
    "SLURM_PROCID": "0", "SLURM_STEP_NODELIST": "n[1-2]", "SLURM_STEP_TASKS_PER_NODE": "2,1",
    "CUDA_VISIBLE_DEVICES": "0,1",
}  # fmt: skip
TWO_EACH = {"SLURM_STEP_TASKS_PER_NODE": "2(x2)", "SLURM_PROCID": "1"}
SPEC = {"ps": ["n1:8888"], "worker": ["n1:8889", "n2:8888"]}
WIDE = {"ps": ["n1:8888"], "worker": ["n1:8889", "n2:8888", "n2:8889"]}


@pytest.fixture
def environment(monkeypatch):
    """Yield what sets the environment of a task."""
    for name in [each for each in os.environ if each.startswith("SLURM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")  # so that it comes back afterwards

    def set_all(told):
        for name, value in told.items():
            monkeypatch.setenv(name, value)

    return set_all


AS_THERE = {
    "by default ranks are given to jobs by name": ({}, {"jobs": JOBS}, SPEC, ("ps", 0), 1, "0"),
    "the order of jobs in the dict does not count":
        ({}, {"jobs": {"worker": 2, "ps": 1}}, SPEC, ("ps", 0), 1, "0"),
    "rank 1 is beside rank 0": ({"SLURM_PROCID": "1"}, {"jobs": JOBS}, SPEC, ("worker", 0), 1, "1"),
    "rank 2 is on the next node":
        ({"SLURM_PROCID": "2"}, {"jobs": JOBS}, SPEC, ("worker", 1), 1, "0"),
    "without jobs all are workers":
        ({}, {}, {"worker": ["n1:8888", "n1:8889", "n2:8888"]}, ("worker", 0), 1, "0"),
    "a job may have no task":
        ({}, {"jobs": {"ps": 0, "worker": 3}},
         {"ps": [], "worker": ["n1:8888", "n1:8889", "n2:8888"]}, ("worker", 0), 1, "0"),
    "tasks per node may be a number":
        ({}, {"jobs": {"ps": 1, "worker": 3}, "tasks_per_node": 2}, WIDE, ("ps", 0), 1, "0"),
    "tasks per node may be told by host, sorted":
        ({}, {"jobs": JOBS, "tasks_per_node": {"x2": 1, "x1": 2}},
         {"ps": ["x1:8888"], "worker": ["x1:8889", "x2:8888"]}, ("ps", 0), 1, "0"),
    "the ports may begin elsewhere":
        ({}, {"jobs": JOBS, "port_base": 1000},
         {"ps": ["n1:1000"], "worker": ["n1:1001", "n2:1000"]}, ("ps", 0), 1, "0"),
    "a task has its own GPUs":
        (TWO_EACH, {"jobs": {"ps": 1, "worker": 3}, "gpus_per_node": 4, "gpus_per_task": 2},
         WIDE, ("worker", 0), 2, "2,3"),
    "GPUs are left alone by wish":
        (TWO_EACH, {"jobs": {"ps": 1, "worker": 3}, "gpus_per_node": 4, "gpus_per_task": 2,
                    "auto_set_gpu": False}, WIDE, ("worker", 0), 2, "0,1"),
    "GPUs are shared by the tasks of the fullest node":
        ({"CUDA_VISIBLE_DEVICES": "0,1,2,3"}, {"jobs": JOBS}, SPEC, ("ps", 0), 2, "0,1"),
}  # fmt: skip

OURS = {
    "ranks may go round": (
        {"SLURM_DISTRIBUTION": "cyclic", "SLURM_PROCID": "1"}, {"jobs": JOBS},
        {"ps": ["n1:8888"], "worker": ["n2:8888", "n1:8889"]}, ("worker", 0), 1, "0"),
    "several brackets are a list of hosts": (
        {"SLURM_STEP_NODELIST": "r[1-2]c[3-4]", "SLURM_STEP_TASKS_PER_NODE": "1(x4)"}, {},
        {"worker": ["r1c3:8888", "r1c4:8888", "r2c3:8888", "r2c4:8888"]}, ("worker", 0), 2, "0,1"),
    "only visible GPUs are shared": (
        {"CUDA_VISIBLE_DEVICES": "4,5", "SLURM_PROCID": "1"}, {"jobs": JOBS}, SPEC, ("worker", 0),
        1, "5"),
    "GPUs that SLURM bound to the task are its own": (
        {"CUDA_VISIBLE_DEVICES": "0", "SLURM_GPUS_PER_TASK": "1", "SLURM_PROCID": "1"},
        {"jobs": JOBS}, SPEC, ("worker", 0), 1, "0"),
    "SLURM says how many GPUs there are": (
        {"CUDA_VISIBLE_DEVICES": "", "SLURM_GPUS_ON_NODE": "4"}, {"jobs": JOBS}, SPEC, ("ps", 0),
        2, "0,1"),
    "no GPU is no error": (
        {"CUDA_VISIBLE_DEVICES": ""}, {"jobs": JOBS}, SPEC, ("ps", 0), 0, ""),
}  # fmt: skip


@pytest.mark.parametrize("case", [*AS_THERE, *OURS])
def test_a_task_knows_its_cluster(environment, case):
    told, arguments, spec, task, gpus, visible = {**AS_THERE, **OURS}[case]
    environment({**STEP, **told})
    resolver = RESOLVER(**arguments)
    assert (resolver.get_task_info(), resolver.master()) == ((None, None), "")
    assert resolver.cluster_spec().as_dict() == spec
    assert resolver.get_task_info() == task == (resolver.task_type, resolver.task_id)
    job, index = task
    assert resolver.master() == f"grpc://{spec[job][index]}"
    assert resolver.num_accelerators() == {"GPU": gpus}
    assert os.environ["CUDA_VISIBLE_DEVICES"] == visible


def test_a_target_may_be_that_of_another_task(environment):
    environment(STEP)
    resolver = RESOLVER(JOBS)
    assert resolver.master("worker", 1) == "grpc://n2:8888"
    assert resolver.master("worker", 1, "x") == "x://n2:8888"
    assert resolver.master("worker") == "grpc://n1:8889"  # its own index: it was asked above
    assert RESOLVER(JOBS, rpc_layer=None).master("worker", 0) == "n1:8889"
    assert resolver.environment == ""


@pytest.mark.parametrize(
    ("told", "arguments", "error", "text"),
    [
        ({}, {"jobs": {"ps": 1}}, RuntimeError, "Requested 1 tasks but only 3 were assigned."),
        ({}, {"jobs": {"ps": 9}}, RuntimeError, "Requested 9 tasks but only 3 were assigned."),
        ({}, {"jobs": JOBS, "gpus_per_task": 2, "gpus_per_node": 2}, RuntimeError,
         "Requested more GPUs per node than available."),
        ({"SLURM_STEP_NODELIST": "n[1"}, {}, ValueError, 'Invalid hostlist format "n[1"'),
        ({"SLURM_STEP_TASKS_PER_NODE": "x"}, {}, ValueError,
         'Invalid tasks-per-node list format "x"'),
        ({}, {"jobs": {"ps": -1, "worker": 4}}, ValueError, "a job has zero tasks or more"),
        ({}, {"tasks_per_node": "2,1"}, ValueError, "invalid literal for int"),
        ({"SLURM_DISTRIBUTION": "arbitrary"}, {}, RuntimeError, "does not tell which rank"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_as_in_tensorflow(environment, told, arguments, error, text):
    environment({**STEP, **told})
    with pytest.raises(error) as caught:
        RESOLVER(**arguments)
    assert text in str(caught.value)


def test_a_rank_beyond_the_step_is_refused(environment):
    environment({**STEP, "SLURM_PROCID": "7"})
    with pytest.raises(RuntimeError, match="SLURM_PROCID is 7, but the nodes have 3 tasks"):
        RESOLVER(JOBS).cluster_spec()


def test_outside_of_a_step_it_is_said(environment):
    with pytest.raises(RuntimeError, match=r"SLURM_PROCID not found in environment\. Not"):
        RESOLVER(JOBS)
