"""The cluster that a step of a SLURM job makes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping

from tfdist.cluster.spec import ClusterSpec
from tfdist.launch.cluster_resolver.resolver import AskedResolver, Config
from tfdist.launch.slurm_environment import (
    expand_counts,
    number,
    read_nodes,
    read_rank,
    required,
    task_hosts,
)

_VISIBLE = "CUDA_VISIBLE_DEVICES"


class SlurmClusterResolver(AskedResolver):
    """The cluster of the tasks that `srun` started, this process one of them.

    Ranks are given to the jobs in the order of their names; the tasks of one node listen at
    `port_base`, `port_base + 1` and so on. Ranks that go round the nodes (--distribution=cyclic or
    plane) are followed, which TensorFlow's does not do.

    Args:
      jobs: {job: number of tasks}; by default all tasks are workers.
      port_base: port of the first task of each node.
      gpus_per_node: GPUs that the tasks of a node share; by default those that
        CUDA_VISIBLE_DEVICES names, or as many as SLURM gave the step.
      gpus_per_task: of them, for each task; by default what SLURM was asked for, or an equal share.
      tasks_per_node: a number, or {host: number}, instead of what SLURM says.
      auto_set_gpu: whether `cluster_spec` sets CUDA_VISIBLE_DEVICES to this task's own GPUs.
      rpc_layer: stands before "://" in targets.

    Raises:
      RuntimeError: this is no task of a step, `jobs` are not as many tasks as there are, or there
        are not as many GPUs.
      ValueError: a variable of SLURM's, or a number, makes no sense.

    Example:
      >>> os.environ.update(
      ...     {
      ...         "SLURM_PROCID": "2",
      ...         "SLURM_STEP_NODELIST": "n[1-2]",
      ...         "SLURM_STEP_TASKS_PER_NODE": "2,1",
      ...     }
      ... )
      >>> slurm = distribute.cluster_resolver.SlurmClusterResolver({"ps": 1, "worker": 2})
      >>> slurm.cluster_spec().as_dict()
      {'ps': ['n1:8888'], 'worker': ['n1:8889', 'n2:8888']}
      >>> slurm.get_task_info(), slurm.master()
      (('worker', 1), 'grpc://n2:8888')
      >>> for name in [each for each in os.environ if each.startswith("SLURM_")]:
      ...     del os.environ[name]
    """

    def __init__(
        self,
        jobs: Mapping[str, int] | None = None,
        port_base: int = 8888,
        gpus_per_node: int | None = None,
        gpus_per_task: int | None = None,
        tasks_per_node: int | Mapping[str, int] | None = None,
        auto_set_gpu: bool = True,
        rpc_layer: str | None = "grpc",
    ) -> None:
        environment = dict(os.environ)
        self._rank = read_rank(environment)
        self._hosts = _hosts(tasks_per_node, environment)
        self._jobs = _jobs(jobs, len(self._hosts))
        self._port_base, self._auto_set_gpu = port_base, auto_set_gpu
        most = max(Counter(self._hosts).values())
        self._gpus, self._gpus_per_task = _gpus(gpus_per_node, gpus_per_task, most, environment)
        super().__init__(rpc_layer)

    def cluster_spec(self) -> ClusterSpec:
        """Return the addresses of all tasks, and note which one this process is.

        Raises:
          RuntimeError: the step has no such rank.
        """
        if self._rank >= len(self._hosts):
            raise RuntimeError(
                f"SLURM_PROCID is {self._rank}, but the nodes have {len(self._hosts)} tasks"
            )
        tasks = [(job, task) for job, count in self._jobs.items() for task in range(count)]
        found: dict[str, list[str]] = {job: [] for job in self._jobs}
        for (job, _), (host, local) in zip(tasks, _numbered(self._hosts), strict=True):
            found[job].append(f"{host}:{self._port_base + local}")
        self.task_type, self.task_id = tasks[self._rank]
        if self._auto_set_gpu and self._gpus_per_task:
            os.environ[_VISIBLE] = ",".join(self._own_gpus())
        return ClusterSpec(found)

    def _own_gpus(self) -> list[str]:
        """Return the GPUs of this task: SLURM may already show it no others."""
        if len(self._gpus) <= self._gpus_per_task:
            return self._gpus
        first = _numbered(self._hosts)[self._rank][1] * self._gpus_per_task
        return self._gpus[first : first + self._gpus_per_task]

    def get_task_info(self) -> tuple[str | None, int | None]:
        """Return job and index of this task; None of each before `cluster_spec` is called."""
        return self.task_type, self.task_id

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Config = None
    ) -> dict[str, int]:
        """Return how many GPUs each task has."""
        return {"GPU": self._gpus_per_task}


def _hosts(
    tasks_per_node: int | Mapping[str, int] | None, environment: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the node of each rank."""
    if isinstance(tasks_per_node, Mapping):
        nodes = tuple(sorted(tasks_per_node))
        counts = tuple(tasks_per_node[node] for node in nodes)
    else:
        nodes = read_nodes(environment)
        counts = (
            expand_counts(required(environment, "SLURM_STEP_TASKS_PER_NODE"))
            if tasks_per_node is None
            else (int(tasks_per_node),) * len(nodes)
        )
    if tasks_per_node is not None:  # these ranks are not those that SLURM started
        environment = {name: environment[name] for name in environment if name != "SLURM_GTIDS"}
    found = task_hosts(nodes, counts, environment)
    if not found:
        raise RuntimeError(
            f"SLURM does not tell which rank is on which of the nodes {', '.join(nodes)} "
            f"(SLURM_DISTRIBUTION={environment.get('SLURM_DISTRIBUTION', '')}); wanted a step with "
            "--distribution=block, cyclic or plane"
        )
    return found


def _jobs(jobs: Mapping[str, int] | None, size: int) -> dict[str, int]:
    """Return how many tasks each job has, in the order in which ranks are given out."""
    found = {"worker": size} if jobs is None else dict(sorted(jobs.items()))
    if any(count < 0 for count in found.values()):
        raise ValueError(f"a job has zero tasks or more, got {found}")
    if sum(found.values()) != size:
        raise RuntimeError(f"Requested {sum(found.values())} tasks but only {size} were assigned.")
    return found


def _gpus(
    per_node: int | None, per_task: int | None, most: int, environment: Mapping[str, str]
) -> tuple[list[str], int]:
    """Return the GPUs that the tasks of this node share, and how many of them each has.

    Args:
      per_node, per_task: what was asked for.
      most: tasks of the node that has most.
      environment: says what there is.
    """
    visible = [each for each in environment.get(_VISIBLE, "").split(",") if each]
    bound = number(environment, "SLURM_GPUS_PER_TASK")
    if per_node is None and per_task is None and bound:
        return visible or [str(each) for each in range(bound)], bound
    if per_node is None:
        per_node = len(visible) or number(environment, "SLURM_GPUS_ON_NODE") or 0
    if per_task is None:
        per_task = per_node // most
    if per_task * most > per_node:
        raise RuntimeError(
            "Requested more GPUs per node than available. "
            f"{most} tasks with {per_task} GPUs each share {per_node}"
        )
    return visible if len(visible) >= per_node else [str(i) for i in range(per_node)], per_task


def _numbered(hosts: tuple[str, ...]) -> list[tuple[str, int]]:
    """Return each rank's host, and how many ranks before it have the same one."""
    seen: Counter[str] = Counter()
    found = []
    for host in hosts:
        found.append((host, seen[host]))
        seen[host] += 1
    return found
