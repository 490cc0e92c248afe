"""Clusters whose servers all live in this process, known by name.

Starting is a question with four answers: started, reused (the same cluster runs already), replaced
(on request), or failed, with the cause and what to do about it. A cell that is run again therefore
does no harm. A cluster lives until it is stopped or the process ends, whether or not a variable
still holds it.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tfdist.cluster.spec import ClusterSpec
from tfdist.errors import OpError
from tfdist.wire.server import Server, start_servers

DEFAULT_NAME = "main"

_clusters: dict[str, LocalCluster] = {}  # running ones, in the order of their start
_lock = threading.RLock()


@dataclass(frozen=True)
class TaskRow:
    """One line of a cluster's status.

    Attributes:
      task: "/job:ps/task:0".
      state: "up" or "stopped".
      devices: names of its devices, in short: "cpu:0".
      address: "127.0.0.1:2222".
    """

    task: str
    state: str
    devices: tuple[str, ...]
    address: str


class LocalCluster:
    """Servers of this process that form one cluster.

    Attributes:
      name: by which it is found again.
      jobs: number of tasks by job.
      servers: sorted by job and task.
      cpus: CPU devices of each task.
    """

    def __init__(
        self, name: str, jobs: Mapping[str, int], servers: Sequence[Server], cpus: int = 1
    ) -> None:
        self.name = name
        self.jobs = dict(sorted(jobs.items()))
        self.servers = tuple(servers)
        self.cpus = cpus
        # runs at the end of the process too: no port and no thread is left behind
        self._stop_servers = weakref.finalize(self, _stop_all, self.servers)

    @property
    def spec(self) -> ClusterSpec:
        """Return the cluster's tasks and addresses."""
        addresses: dict[str, list[str]] = {job: [] for job in self.jobs}
        for server in self.servers:
            addresses[_job(server)].append(server.address)
        return ClusterSpec(addresses)

    @property
    def is_running(self) -> bool:
        """Return whether all its servers run."""
        return all(server.is_running for server in self.servers)

    def target(self, job: str | None = None, task: int = 0) -> str:
        """Return "grpc://..." of a task, for `tf.Session`.

        Args:
          job: by default "worker", or the first job if there is no such one.
          task: index in the job.

        Raises:
          ValueError: there is no such task; the message names those that there are.
        """
        job = job or ("worker" if "worker" in self.jobs else next(iter(self.jobs)))
        wanted = f"/job:{job}/task:{task}"
        for server in self.servers:
            if server.task_name == wanted:
                return server.target
        names = ", ".join(server.task_name for server in self.servers)
        raise ValueError(f"no task {wanted} in cluster {self.name!r}; it has {names}")

    def status(self) -> list[TaskRow]:
        """Return one row per task."""
        devices = tuple(f"cpu:{i}" for i in range(self.cpus))
        return [
            TaskRow(s.task_name, "up" if s.is_running else "stopped", devices, s.address)
            for s in self.servers
        ]

    def stop(self) -> None:
        """Stop all servers and free their ports; sessions that use them are aborted."""
        with _lock:
            if _clusters.get(self.name) is self:
                del _clusters[self.name]
        self._stop_servers()

    def __enter__(self) -> LocalCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        state = "running" if self.is_running else "stopped"
        return f"<LocalCluster {self.name!r} {jobs_text(self.jobs)} {state}>"


@dataclass(frozen=True)
class Outcome:
    """What `start_local_cluster` came to.

    Attributes:
      word: "started", "reused", "replaced" or "failed".
      cluster: that runs now, or None.
      cause: why it failed, or "".
      remedy: what to do about it, or "".
    """

    word: str
    cluster: LocalCluster | None
    cause: str = ""
    remedy: str = ""

    def require(self) -> LocalCluster:
        """Return the cluster; RuntimeError with cause and remedy if there is none."""
        if self.cluster is None:
            raise RuntimeError(str(self))
        return self.cluster

    def __str__(self) -> str:
        """Return one line."""
        if self.cluster is None:
            return f"{self.word}: {self.cause}; {self.remedy}"
        return f"{self.word} cluster {self.cluster.name!r} ({jobs_text(self.cluster.jobs)})"


def start_local_cluster(
    jobs: Mapping[str, int],
    name: str = DEFAULT_NAME,
    port: int | None = None,
    cpus: int = 1,
    replace: bool = False,
) -> Outcome:
    """Start all tasks of a cluster in this process, or find it running.

    Args:
      jobs: number of tasks by job, such as {"ps": 1, "worker": 2}.
      name: one cluster of a name runs at a time.
      port: of the first task, the others take the next ones; by default free ones are taken.
      cpus: CPU devices of each task.
      replace: whether a cluster of that name is stopped first.

    Raises:
      ValueError: there is no task, or a number makes no sense.
    """
    _check(jobs, port, cpus)
    with _lock:
        running = find_cluster(name)
        if running is not None and not replace:
            return _reuse(running, jobs, port, cpus)
        if running is not None:
            running.stop()
        outcome = _start(jobs, name, port, cpus)
        if outcome.cluster is not None:
            _clusters[name] = outcome.cluster
            return Outcome("replaced" if running else "started", outcome.cluster)
        return outcome


def find_cluster(name: str | None = None) -> LocalCluster | None:
    """Return the running cluster `name`, by default the one that was started last, or None."""
    with _lock:
        for key, cluster in list(_clusters.items()):
            if not cluster.is_running:  # its servers were stopped one by one
                del _clusters[key]
                cluster.stop()
        if name is None:
            return next(reversed(_clusters.values()), None)
        return _clusters.get(name)


def running_clusters() -> list[LocalCluster]:
    """Return the clusters that run, in the order of their start."""
    find_cluster()
    with _lock:
        return list(_clusters.values())


def jobs_text(jobs: Mapping[str, int]) -> str:
    """Return jobs as one types them: "ps=1 worker=2"."""
    return " ".join(f"{job}={count}" for job, count in sorted(jobs.items()))


def _check(jobs: Mapping[str, int], port: int | None, cpus: int) -> None:
    tasks = sum(jobs.values())
    if not jobs or min(jobs.values()) < 1:
        raise ValueError(f"each job needs a task or more, such as ps=1 worker=2; got {dict(jobs)}")
    if cpus < 1:
        raise ValueError(f"each task needs a CPU device or more, got {cpus}")
    if port is not None and not 0 < port <= 65536 - tasks:
        raise ValueError(f"ports {port} to {port + tasks - 1} do not exist; the last is 65535")


def _reuse(running: LocalCluster, jobs: Mapping[str, int], port: int | None, cpus: int) -> Outcome:
    same = running.jobs == dict(jobs) and running.cpus == cpus
    if same and port in (None, _port(running.servers[0])):
        return Outcome("reused", running)
    at = f" at port {_port(running.servers[0])}" if same else ""
    devices = f" with {running.cpus} CPU devices each" if running.cpus != cpus else ""
    return Outcome(
        "failed",
        None,
        f"cluster {running.name!r} runs already, as {jobs_text(running.jobs)}{at}{devices}",
        "--replace stops it first, --name starts another beside it",
    )


def _start(jobs: Mapping[str, int], name: str, port: int | None, cpus: int) -> Outcome:
    ports = None if port is None else list(range(port, port + sum(jobs.values())))
    try:
        servers = start_servers(jobs, ports, cpus)
    except (OpError, OSError) as error:
        cause = getattr(error, "message", "") or str(error)
        return Outcome("failed", None, cause, "--port takes another first port; without, free ones")
    return Outcome("started", LocalCluster(name, jobs, servers, cpus))


def _stop_all(servers: Sequence[Any]) -> None:
    for server in servers:
        server.stop()


def _job(server: Server) -> str:
    return server.server_def.job_name  # type: ignore[no-any-return]


def _port(server: Server) -> int:
    return int(server.address.rpartition(":")[2])
