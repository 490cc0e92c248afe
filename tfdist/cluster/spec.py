"""ClusterSpec: which tasks there are, by job, and their addresses.

Source: TF 1.15 API documentation, tf.train.ClusterSpec.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from tfdist.protos import pb

# A job's addresses: a list, or a dict by index where tasks are left out.
Tasks: TypeAlias = Any

# What says which tasks there are: jobs by name, each with its addresses, in a list or by index.
ClusterLike: TypeAlias = "Mapping[str, Tasks] | pb.ClusterDef | ClusterSpec"


class ClusterSpec:
    """The jobs of a cluster, each with the network addresses of its tasks.

    Args:
      cluster: a dict from job names to lists of addresses ("host:port"), or to dicts from task
        index to address where some tasks are left out; a ClusterDef message; or a ClusterSpec.

    Raises:
      TypeError: it is none of these, or an address is not a string.

    Example:
      >>> spec = ClusterSpec({"ps": ["ps0:2222"], "worker": ["w0:2222", "w1:2222"]})
      >>> spec.jobs, spec.num_tasks("worker"), spec.task_address("worker", 1)
      (['ps', 'worker'], 2, 'w1:2222')
    """

    def __init__(self, cluster: ClusterLike) -> None:
        self._jobs: dict[str, dict[int, str]] = {
            job: dict(sorted(tasks.items())) for job, tasks in sorted(_tasks_by_job(cluster))
        }

    @property
    def jobs(self) -> list[str]:
        """Return the names of the jobs, sorted."""
        return list(self._jobs)

    def num_tasks(self, job_name: str) -> int:
        """Return the number of tasks of a job; ValueError if there is no such job."""
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """Return the task indices of a job, sorted; ValueError if there is no such job."""
        return list(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """Return the address of a task; ValueError if there is no such job or task."""
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise ValueError(
                f"no task with index {task_index!r} in job {job_name!r}; it has {list(tasks)}"
            )
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """Return the addresses of a job by task index, None where a task is left out."""
        tasks = self._job(job_name)
        return [tasks.get(index) for index in range(max(tasks, default=-1) + 1)]

    def as_dict(self) -> dict[str, Tasks]:
        """Return a dict from job names to lists, or to dicts where tasks are left out."""
        return {
            job: list(tasks.values()) if list(tasks) == list(range(len(tasks))) else dict(tasks)
            for job, tasks in self._jobs.items()
        }

    def as_cluster_def(self) -> pb.ClusterDef:
        """Return a ClusterDef message."""
        return pb.ClusterDef(
            job=[pb.JobDef(name=job, tasks=tasks) for job, tasks in self._jobs.items()]
        )

    def tasks(self) -> Iterator[tuple[str, int, str]]:
        """Yield (job, index, address) of every task, sorted."""
        for job, tasks in self._jobs.items():
            for index, address in tasks.items():
                yield job, index, address

    def _job(self, name: str) -> dict[int, str]:
        if name not in self._jobs:
            raise ValueError(f"No such job in cluster: {name!r}; it has {self.jobs}")
        return self._jobs[name]

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    def __hash__(self) -> int:
        return hash(tuple(self.tasks()))

    def __repr__(self) -> str:
        return f"ClusterSpec({self.as_dict()!r})"

    __str__ = __repr__


def warn_of_shared_addresses(cluster: ClusterSpec) -> None:
    """Warn of tasks that cannot both be there, once; TensorFlow 1.15 starts such a cluster, too."""
    tasks_at: dict[str, list[str]] = {}
    for job, index, address in cluster.tasks():
        if not address.endswith(":0"):  # which asks for any free port
            tasks_at.setdefault(address, []).append(f"/job:{job}/task:{index}")
    for address, tasks in tasks_at.items():
        if len(tasks) > 1:
            _warn(f"{' and '.join(tasks)} have the same address {address}")


@functools.cache
def _warn(what: str) -> None:
    warnings.warn(
        f"{what}: one server answers there, by the name that it was started with, and ops on the "
        "other task fail; give each task a port of its own",
        stacklevel=4,
    )


def _tasks_by_job(cluster: ClusterLike) -> Iterator[tuple[str, dict[int, str]]]:
    if isinstance(cluster, ClusterSpec):
        yield from ((job, dict(tasks)) for job, tasks in cluster._jobs.items())
    elif isinstance(cluster, Mapping):
        for job, tasks in cluster.items():
            yield _text(job, "a job's name"), _tasks(job, tasks)
    elif hasattr(cluster, "job"):
        yield from ((job.name, dict(job.tasks)) for job in cluster.job)
    else:
        raise TypeError(
            "a cluster is a dict from job names to lists of addresses, a ClusterDef or a "
            f"ClusterSpec; got {cluster!r}"
        )


def _tasks(job: str, tasks: object) -> dict[int, str]:
    if isinstance(tasks, list | tuple):
        tasks = dict(enumerate(tasks))
    if not isinstance(tasks, Mapping):
        raise TypeError(
            f"the tasks of job {job!r} are a list of addresses or a dict from index to address; "
            f"got {tasks!r}"
        )
    if not all(isinstance(index, int) for index in tasks):
        raise TypeError(f"the task indices of job {job!r} must be ints, got {list(tasks)}")
    what = f"an address of job {job!r}"
    return {index: _text(address, what) for index, address in tasks.items()}


def _text(value: object, what: str) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string such as 'host:2222', got {value!r}")
    return value
