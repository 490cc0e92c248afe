"""The tasks of a session's own cluster, under the names that it has for them.

Source: docs/wire.md section 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfdist.cluster.propagation import PropagatedCluster, server_def
from tfdist.protos import pb
from tfdist.runtime.devices.local_devices import Device
from tfdist.runtime.task.alias import renamed
from tfdist.runtime.task.peers import DirectPeers, LocalTask
from tfdist.wire.common.timeouts import timeouts
from tfdist.wire.peers.remote_peers import RemotePeers
from tfdist.wire.service_methods import WORKER, ask


class ServerPeers(RemotePeers):
    """The tasks of a server's cluster, and of those that its sessions have; see `RemotePeers`."""

    def __init__(
        self, addresses: Mapping[str, str], own: tuple[str, LocalTask], direct: bool = True
    ) -> None:
        super().__init__(addresses, own, direct)

    def renamed(self, cluster: PropagatedCluster) -> RenamedPeers:
        """See `Peers`."""
        return RenamedPeers(cluster, self._own, self._direct)


class RenamedPeers(RemotePeers):
    """The tasks of a cluster that a client tells (`runtime.step.peers.Peers`).

    Args:
      cluster: the cluster.
      own: the task that these peers belong to.
      direct: whether tasks of this process are called directly.
    """

    def __init__(self, cluster: PropagatedCluster, own: LocalTask, direct: bool) -> None:
        near = _NearPeers(cluster, own)
        super().__init__(cluster.addresses, (cluster.own, own), direct, near)
        self._cluster = cluster

    def _devices_in(self, task: str, answer: memoryview) -> list[Device]:
        devices = super()._devices_in(task, answer)
        return [renamed(device, task) for device in devices]

    def _server_def(self, task: str) -> pb.ServerDef:
        return server_def(self._cluster, task)

    def close_session(self, task: str, handle: str) -> None:
        """See `Peers`; waits a moment for the task, for these peers end with the session."""
        link = self._links.known(task)
        if self._is_near(task):
            self._near.close_session(task, handle)
        elif link is not None and link.is_connected:
            request = pb.DeleteWorkerSessionRequest(session_handle=handle)
            path = f"{WORKER}DeleteWorkerSession"
            ask(link, path, request, pb.DeleteWorkerSessionResponse, timeouts().cancel)


class _NearPeers(DirectPeers):
    """Those of them that are in this process."""

    def __init__(self, cluster: PropagatedCluster, own: LocalTask) -> None:
        super().__init__(cluster.addresses, (cluster.own, own))
        self._cluster = cluster

    def devices(self, tasks: Sequence[str], seconds: float | None) -> list[Device]:
        """See `Peers`."""
        return [renamed(d, task) for task in tasks for d in self._called(task).devices]

    def open_session(
        self, tasks: Sequence[str], handle: str, isolated: bool, legacy_frames: bool = False
    ) -> None:
        """See `Peers`."""
        for task in tasks:
            propagated = self._cluster._replace(own=task)
            self._called(task).open_session(handle, isolated, legacy_frames, propagated)
