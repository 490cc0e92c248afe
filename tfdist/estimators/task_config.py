"""What TF_CONFIG says of a process, as estimators understand it: its cluster, role and folder.

Source: TF 1.15 API documentation, tf.estimator.RunConfig; rules and messages by experiment.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from tfdist.cluster.spec import ClusterSpec

__all__ = ["TaskConfig", "TaskType", "task_config"]


class TaskType:
    """What a task of a cluster does.

    Attributes:
      CHIEF: trains, initialises and saves.
      MASTER: the same, and evaluates.
      PS: holds variables.
      WORKER: trains.
      EVALUATOR: stands beside the cluster and evaluates checkpoints.
    """

    CHIEF = "chief"
    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    EVALUATOR = "evaluator"


class TaskConfig(NamedTuple):
    """What a process is.

    Attributes:
      cluster_spec: ClusterSpec; empty for a process alone, and for an evaluator.
      task_type: one of `TaskType`, or another name of a job.
      task_id: index in the job.
      master: target of its sessions.
      num_ps_replicas: how many parameter servers there are.
      num_worker_replicas: how many tasks train.
      global_id_in_cluster: number of the task, the chief being 0.
      is_chief: whether it initialises and saves.
      service: what TF_CONFIG has under "service".
      model_dir: what TF_CONFIG has under "model_dir".
    """

    cluster_spec: ClusterSpec
    task_type: str = TaskType.WORKER
    task_id: int = 0
    master: str = ""
    num_ps_replicas: int = 0
    num_worker_replicas: int = 1
    global_id_in_cluster: int | None = 0
    is_chief: bool = True
    service: Any = None
    model_dir: str | None = None


# Jobs in the order in which tasks are numbered; others come in between.
_FIRST = (TaskType.CHIEF, TaskType.MASTER, TaskType.WORKER)
_LEADERS = (TaskType.CHIEF, TaskType.MASTER)


def task_config(text: str | None) -> TaskConfig:
    """Return what `text`, the value of TF_CONFIG, says of this process.

    Raises:
      ValueError: it contradicts itself, or is no JSON.
      TypeError: "service" is no dict.
    """
    document = _document(text)
    service, folder = document.get("service"), document.get("model_dir")
    if service is not None and not isinstance(service, dict):
        raise TypeError(f'If "service" is set in TF_CONFIG, it must be a dict. Given {service!r}')
    if folder == "":
        raise ValueError("model_dir in TF_CONFIG should be non-empty.")
    found = _alone(document) if not document.get("cluster") else _in_cluster(document)
    return found._replace(service=service, model_dir=folder)


def legacy_task_config(text: str | None) -> TaskConfig:
    """Return what TF_CONFIG says, as tf.contrib.learn understands it: worker 0 may be the chief."""
    document = _document(text)
    jobs = document.get("cluster") or {}
    job, index = _task(document["task"]) if jobs and document.get("task") else ("", 0)
    if not jobs or any(leader in jobs for leader in _LEADERS) or job == TaskType.EVALUATOR:
        return task_config(text)
    spec = ClusterSpec(jobs)
    _check_task(spec, job, index)
    return TaskConfig(
        spec, job, index, document.get("session_master", _target(spec, job, index)),
        spec.num_tasks(TaskType.PS) if TaskType.PS in spec.jobs else 0,
        spec.num_tasks(TaskType.WORKER) if TaskType.WORKER in spec.jobs else 0,
        _number(spec, job, index), (job, index) == (TaskType.WORKER, 0),
    )  # fmt: skip


def _document(text: str | None) -> Mapping[str, Any]:
    try:
        found = json.loads(text or "{}")
    except ValueError as error:
        raise ValueError(f"TF_CONFIG is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"TF_CONFIG must be a JSON object, given {found!r}")
    return found


def _alone(document: Mapping[str, Any]) -> TaskConfig:
    task = document.get("task") or {}
    if task.get("type", TaskType.WORKER) != TaskType.WORKER:
        raise ValueError('If "cluster" is not set in TF_CONFIG, task type must be WORKER.')
    if int(task.get("index", 0)) != 0:
        raise ValueError('If "cluster" is not set in TF_CONFIG, task index must be 0.')
    return TaskConfig(ClusterSpec({}), master=document.get("session_master", ""))


def _in_cluster(document: Mapping[str, Any]) -> TaskConfig:
    spec = ClusterSpec(document["cluster"])
    job, index = _task(document.get("task") or {})
    if job == TaskType.EVALUATOR:
        return TaskConfig(
            ClusterSpec({}), job, index, num_worker_replicas=0,
            global_id_in_cluster=None, is_chief=False,
        )  # fmt: skip
    leader = _leader(spec)
    _check_task(spec, job, index)
    workers = spec.num_tasks(TaskType.WORKER) if TaskType.WORKER in spec.jobs else 0
    return TaskConfig(
        spec, job, index, document.get("session_master", _target(spec, job, index)),
        spec.num_tasks(TaskType.PS) if TaskType.PS in spec.jobs else 0,
        workers + 1, _number(spec, job, index), job == leader,
    )  # fmt: skip


def _task(task: Mapping[str, Any]) -> tuple[str, int]:
    job, index = task.get("type"), task.get("index")
    if not job:
        raise ValueError('If "cluster" is set in TF_CONFIG, task type must be set.')
    if index is None:
        raise ValueError('If "cluster" is set in TF_CONFIG, task index must be set.')
    if int(index) < 0:
        raise ValueError("Task index must be non-negative number.")
    return str(job), int(index)


def _leader(spec: ClusterSpec) -> str:
    """Return the job of the one that initialises and saves."""
    found = [job for job in _LEADERS if job in spec.jobs]
    if len(found) > 1:
        raise ValueError("If `master` node exists in `cluster`, job `chief` is not supported.")
    if not found:
        raise ValueError('If "cluster" is set in TF_CONFIG, it must have one "chief" node.')
    if spec.num_tasks(found[0]) > 1:
        raise ValueError(f'The "cluster" in TF_CONFIG must have only one "{found[0]}" node.')
    return found[0]


def _check_task(spec: ClusterSpec, job: str, index: int) -> None:
    if job not in spec.jobs:
        wrong = f"{job} is not a valid task_type"
    elif index not in spec.task_indices(job):
        wrong = f"{index} is not a valid task_id for task_type {job}"
    else:
        return
    raise ValueError(
        f"{wrong} in the cluster_spec:\n{spec}\n\n"
        "Note that these values may be coming from the TF_CONFIG environment variable."
    )


def _target(spec: ClusterSpec, job: str, index: int) -> str:
    """Return a session's target: none if the cluster is this task alone."""
    if len(list(spec.tasks())) == 1:
        return ""
    return f"grpc://{spec.task_address(job, index)}"


def _number(spec: ClusterSpec, job: str, index: int) -> int:
    """Return a task's number: the chief, the workers, all others by name, parameter servers."""

    def order(name: str) -> tuple[int, str]:
        if name in _FIRST:
            return _FIRST.index(name), name
        return len(_FIRST) + (name == TaskType.PS), name

    jobs = sorted(spec.jobs, key=order)
    return sum(spec.num_tasks(each) for each in jobs[: jobs.index(job)]) + index
