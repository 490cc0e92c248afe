"""The GPUs that a task of a SLURM step sees."""

import os

import pytest

from tfdist.launch.ranks.gpus import take_own_gpus

STEP = {
    "SLURM_STEP_NODELIST": "n1", "SLURM_STEP_TASKS_PER_NODE": "2", "SLURM_PROCID": "1",
}  # fmt: skip
SHARES = [
    pytest.param({"CUDA_VISIBLE_DEVICES": "0,1,2,3"}, "2,3", id="an equal share of its node's"),
    pytest.param(
        {"CUDA_VISIBLE_DEVICES": "5", "SLURM_GPUS_PER_TASK": "1"}, "5", id="what SLURM gave it"
    ),
    pytest.param({"CUDA_VISIBLE_DEVICES": "0"}, "0", id="fewer than tasks: they share it"),
    pytest.param(
        {"CUDA_VISIBLE_DEVICES": "0,1", "SLURM_DISTRIBUTION": "arbitrary"}, "0,1",
        id="nobody knows which tasks a node has",
    ),
    pytest.param({}, None, id="none"),
]  # fmt: skip


@pytest.mark.parametrize(("more", "seen"), SHARES)
def test_a_task_sees_its_own(more, seen, monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    for name, value in (STEP | more).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", more.get("CUDA_VISIBLE_DEVICES", ""))
    take_own_gpus({"ps": 1, "worker": 1})
    assert (os.environ["CUDA_VISIBLE_DEVICES"] or None) == seen
