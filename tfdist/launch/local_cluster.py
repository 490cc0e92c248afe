"""Clusters whose servers all live in this process."""

from __future__ import annotations

from collections.abc import Sequence

from tfdist.launch.clusters import Cluster, TaskRow
from tfdist.launch.outcome import ClusterRequest
from tfdist.tracing.disturbances import Disturbance
from tfdist.wire.server import Server, start_servers


class LocalCluster(Cluster):
    """Servers of this process that form one cluster."""

    kind = "in kernel"
    servers: Sequence[Server]

    def __init__(self, wanted: ClusterRequest) -> None:
        first, count = wanted.port, len(wanted.tasks)
        ports = None if first is None else range(first, first + count)
        servers = start_servers(wanted.jobs, ports, wanted.cpus, gpus=wanted.gpus)
        super().__init__(wanted.name, wanted.jobs, wanted.cpus, wanted.gpus)
        self.servers = tuple(servers)
        for server in self.servers:
            self._resources.callback(server.stop)

    def _tell(self, disturbances: Sequence[Disturbance]) -> None:
        for server in self.servers:
            server.task.disturb(disturbances)

    def status(self) -> list[TaskRow]:
        """Return one row per task."""
        return [
            self._row(server, "up" if server.is_running else "stopped") for server in self.servers
        ]
