"""Clusters whose servers all live in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfdist.launch.clusters import DEFAULT_NAME, Cluster, TaskRow
from tfdist.launch.outcome import Outcome, Wanted, start
from tfdist.wire.server import Server, start_servers


class LocalCluster(Cluster):
    """Servers of this process that form one cluster.

    Attributes:
      name: by which it is found again.
      jobs: number of tasks by job.
      servers: sorted by job and task.
      cpus: CPU devices of each task.
    """

    kind = "in kernel"
    servers: Sequence[Server]

    def __init__(
        self, name: str, jobs: Mapping[str, int], servers: Sequence[Server], cpus: int = 1
    ) -> None:
        super().__init__(name, jobs, cpus)
        self.servers = tuple(servers)
        for server in self.servers:
            self._resources.callback(server.stop)

    def status(self) -> list[TaskRow]:
        """Return one row per task."""
        devices = tuple(f"cpu:{i}" for i in range(self.cpus))
        return [
            TaskRow(s.task_name, "up" if s.is_running else "stopped", devices, s.address)
            for s in self.servers
        ]


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
    return start(Wanted(jobs, name, port, cpus, LocalCluster.kind), _make, replace)


def _make(wanted: Wanted) -> LocalCluster:
    first, count = wanted.port, len(wanted.tasks)
    ports = None if first is None else list(range(first, first + count))
    servers = start_servers(wanted.jobs, ports, wanted.cpus)
    return LocalCluster(wanted.name, wanted.jobs, servers, wanted.cpus)
