"""Clusters that this process knows by name, wherever their servers run.

`Cluster` is what all kinds have in common: servers of this kernel, servers in processes of their
own, and clusters that another process started. A cluster lives until it is stopped or the process
ends, whether or not a variable still holds it.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from tfdist.cluster.spec import ClusterSpec
from tfdist.errors import FailedPreconditionError, PermissionDeniedError, UnimplementedError
from tfdist.launch.cell_channel import CellResult
from tfdist.launch.connection_file import Connection, publish, withdraw
from tfdist.launch.disturbable import Disturbable
from tfdist.launch.engines import TFDIST, engine_by_job
from tfdist.launch.owner import this_process
from tfdist.launch.task_names import parse_task, split_task
from tfdist.runtime.task.addresses import stand_down, stand_in
from tfdist.tracing.disturbances import concerning
from tfdist.tracing.simulated import SIMULATED

DEFAULT_NAME = "main"
LOG_LINES = 20

_clusters: dict[str, Cluster] = {}  # running ones, in the order of their start
registry_lock = threading.RLock()  # of whoever starts or stops a cluster


@dataclass(frozen=True)
class TaskRow:
    """One line of a cluster's status.

    Attributes:
      task: "/job:ps/task:0".
      state: "up", "stopped", "exited (CODE)", "exited (SIGKILL)", "does not answer" or
        "crashed (SIGSEGV) in OP".
      devices: names of its devices, in short: "cpu:0".
      address: "127.0.0.1:2222".
      pid: of the task's own process, None where it has none or that is not known.
      runs: what serves it, "tfdist" or "TensorFlow", with a version if that is known; "" if
        nothing is known.
      foreign: address somewhere else that it stands for, "" if it does not.
      disturbed: what is wrong with it on purpose, as it was typed: "slow worker:1 3".
      host: that it runs on, "" for this one.
      id: what its cluster manager calls it, "" if it has none.
    """

    task: str
    state: str
    devices: tuple[str, ...]
    address: str
    pid: int | None = None
    runs: str = TFDIST
    foreign: str = ""
    disturbed: str = ""
    host: str = ""
    id: str = ""


class TaskServer(Protocol):
    """What a cluster knows of each server."""

    @property
    def task_name(self) -> str:
        """Return "/job:J/task:I"."""

    @property
    def address(self) -> str:
        """Return "HOST:PORT"."""

    @property
    def target(self) -> str:
        """Return "grpc://HOST:PORT"."""

    @property
    def is_running(self) -> bool:
        """Return whether it serves, as far as that is known without asking it."""


class Cluster(Disturbable):
    """Servers that form a cluster.

    Attributes:
      name: by which it is found again.
      jobs: number of tasks by job.
      servers: sorted by job and task.
      cpus: CPU devices of each task.
      gpus: simulated GPUs of each task.
      kind: where its servers run: "in kernel", "processes", "attached", or its manager's name.
      engines: "tfdist" or "tensorflow", by job.
      foreign: the cluster elsewhere that it stands for, or None.
    """

    kind = ""
    where = ""  # in a sentence about its start
    remedy = "`tfdist doctor` says whether servers can work here"
    _end = "was stopped; start one with %cluster start or start_cluster"
    servers: Sequence[TaskServer]

    def __init__(self, name: str, jobs: Mapping[str, int], cpus: int = 1, gpus: int = 0) -> None:
        self.name = name
        self.jobs = dict(sorted(jobs.items()))
        self.cpus, self.gpus = cpus, gpus
        self.engines = engine_by_job(jobs)
        self.foreign: ClusterSpec | None = None
        self._connection: Connection | None = None
        # closed at the end of the process too: no port, thread, process or file is left behind
        self._resources = ExitStack()
        self._close = weakref.finalize(self, _close, os.getpid(), self._resources)

    @property
    def spec(self) -> ClusterSpec:
        """Return the cluster's tasks and addresses."""
        addresses: dict[str, dict[int, str]] = {job: {} for job in self.jobs}
        for server in self.servers:
            job, index = split_task(server.task_name)
            addresses[job][index] = server.address
        return ClusterSpec(addresses)

    @property
    def is_running(self) -> bool:
        """Return whether sessions may use it."""
        return all(server.is_running for server in self.servers)

    def server(self, task: str) -> Any:
        """Return the server of a task: "worker:1", "/job:worker/task:1", or "ps" for its first.

        Raises:
          ValueError: there is no such task; the message names those that there are.
        """
        job, index = parse_task(task)
        wanted = f"/job:{job}/task:{index}"
        for server in self.servers:
            if server.task_name == wanted:
                return server
        names = ", ".join(server.task_name for server in self.servers)
        raise ValueError(f"no task {wanted} in cluster {self.name!r}; it has {names}")

    def target(self, job: str | None = None, task: int = 0) -> str:
        """Return "grpc://..." of a task, for `tf.Session`.

        Args:
          job: by default "worker", or the first job if there is no such one.
          task: index in the job.

        Raises:
          FailedPreconditionError: the cluster was stopped.
          ValueError: there is no such task; the message names those that there are.
        """
        if not self.is_running:
            raise FailedPreconditionError(f"cluster {self.name!r} {self._end}")
        job = job or ("worker" if "worker" in self.jobs else next(iter(self.jobs)))
        return self.server(f"{job}:{task}").target  # type: ignore[no-any-return]

    def status(self) -> list[TaskRow]:
        """Return one row per task."""
        raise NotImplementedError

    def _row(
        self, server: TaskServer, state: str, pid: int | None = None, runs: str = TFDIST
    ) -> TaskRow:
        devices = [f"cpu:{index}" for index in range(self.cpus)]
        devices += [f"gpu:{index} ({SIMULATED})" for index in range(self.gpus)]
        name, wrong = server.task_name, concerning(self.disturbances, server.task_name)
        foreign = self.foreign_address(name)
        return TaskRow(name, state, tuple(devices), server.address, pid, runs, foreign, wrong)

    def foreign_address(self, task: str) -> str:
        """Return the address elsewhere that a task stands for, "" if it does not."""
        return "" if self.foreign is None else self.foreign.task_address(*parse_task(task))

    def stand_for(self, foreign: ClusterSpec | None) -> None:
        """Have this process reach the servers by the addresses of a cluster elsewhere, too.

        Args:
          foreign: with the same tasks; None for no such cluster.

        Raises:
          ValueError: another cluster stands for one of them.
        """
        if foreign is None:
            return
        local = self.spec
        addresses = {where: local.task_address(job, i) for job, i, where in foreign.tasks()}
        stand_in(addresses)
        self._resources.callback(stand_down, addresses)
        self.foreign = foreign

    def logs(self, task: str | None = None, lines: int = LOG_LINES) -> list[str]:
        """Return the last lines that servers wrote.

        Args:
          task: see `server`; by default all, each line with its task before it.
          lines: of each task, at most.

        Raises:
          UnimplementedError: its servers have no logs here.
          ValueError: there is no such task.
        """
        raise self._only_processes("logs", "what tasks of a kernel write is shown in the notebook")

    def log_files(self, task: str | None = None) -> dict[str, Path]:
        """Return the files of logs by task, to be followed; see `logs`."""
        raise self._only_processes("logs -f", "its logs are no files here")

    def run_on(self, task: str, code: str, write: Callable[[str], None]) -> CellResult:
        """Run code in the process of a task; see `server` for names, and `CellChannel.run`.

        Raises:
          UnimplementedError: this process did not start the task in a process of its own.
          ValueError: there is no such task.
        """
        raise self._only_processes("%%on", "only servers that this kernel started run its code")

    def kill(self, task: str) -> None:
        """Kill the process of a task, as a fault would; see `server` for names.

        Raises:
          UnimplementedError: the task has no process of its own here.
          ValueError: there is no such task.
        """
        raise self._only_processes("kill", "tasks of a kernel end with it only")

    def restart(self, task: str) -> None:
        """Start a task anew at its address, without its variables; see `server` for names.

        Raises:
          UnimplementedError: the task has no process of its own here.
          ValueError: there is no such task.
          OpError: it does not start.
        """
        raise self._only_processes("restart", "tasks of a kernel live and end with it")

    def revive(self) -> str:
        """Start what has ended of a running cluster, and return a sentence about it, or ""."""
        return ""

    def stop(self) -> None:
        """Stop all servers and free their ports; sessions that use them are aborted."""
        with registry_lock:
            if _clusters.get(self.name) is self:
                del _clusters[self.name]
        self._close()

    def publish(self) -> str:
        """Write the connection file, and return why that is not possible, or ""."""
        path = self._connection.path if self._connection else None
        known = Connection(
            self.name, self.kind, self.spec, this_process(), self.cpus, self._processes(), path,
            self.gpus, self._identity(),
        )  # fmt: skip
        try:
            self._connection = publish(known)
        except (OSError, PermissionDeniedError) as error:
            return f"other notebooks cannot find it: {error}"
        if path is None:
            self._resources.callback(withdraw, self._connection)
        return ""

    def _identity(self) -> Path | None:
        """Return the folder of what other processes show its servers, None if they need nothing."""
        return None

    def _processes(self) -> dict[str, int]:
        """Return the process id of each task that has a process of its own."""
        return {}

    def _only_processes(self, what: str, why: str) -> UnimplementedError:
        return UnimplementedError(
            f"{what}: not for cluster {self.name!r} ({self.kind}): {why}; start a cluster with "
            "%cluster start --processes, or start_cluster(..., processes=True)"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        state = "running" if self.is_running else "stopped"
        return f"<{type(self).__name__} {self.name!r} {jobs_text(self.jobs)} {state}>"


def register(cluster: Cluster) -> None:
    """Know a cluster by its name until it is stopped."""
    with registry_lock:
        _clusters[cluster.name] = cluster


def find_cluster(name: str | None = None) -> Cluster | None:
    """Return the running cluster `name`, by default the one that was started last, or None."""
    with registry_lock:
        for key, cluster in list(_clusters.items()):
            if not cluster.is_running:  # its servers were stopped one by one
                del _clusters[key]
                cluster.stop()
        if name is None:
            return next(reversed(_clusters.values()), None)
        return _clusters.get(name)


def running_clusters() -> list[Cluster]:
    """Return the clusters that run, in the order of their start."""
    find_cluster()
    with registry_lock:
        return list(_clusters.values())


def jobs_text(jobs: Mapping[str, int]) -> str:
    """Return jobs as one types them: "ps=1 worker=2"."""
    return " ".join(f"{job}={count}" for job, count in sorted(jobs.items()))


def port_of(address: str) -> int:
    """Return the port of "HOST:PORT"."""
    return int(address.rpartition(":")[2])


def _close(owner: int, resources: ExitStack) -> None:
    if os.getpid() == owner:  # not in a child that was forked
        resources.close()
