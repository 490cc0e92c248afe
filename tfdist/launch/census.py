"""Taking a census of this process's tasks, of a server's cluster, or of a cluster by name.

Whoever takes one again and again keeps a `CensusTaker`: its links stay open, and servers send only
what has changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tfdist.launch.attached_cluster import spec_of
from tfdist.launch.clusters import Cluster, find_cluster, running_clusters
from tfdist.runtime.task.masters import local_masters, reach_of
from tfdist.runtime.task.peers import task_at
from tfdist.tracing.census import Census, merged

LIMIT = 0.45  # seconds in which there is an answer, whoever is lost
_TARGET = re.compile(r"(grpc://)?[^/=]+:\d+")

Source = Callable[[bool], Census]


class CensusTaker:
    """Takes the census of a cluster as often as it is wanted.

    Args:
      target: "grpc://HOST:PORT" of a server, which asks its cluster; what `attach` takes, such as
        the name of a cluster; a cluster, server or session. By default all that this process's
        sessions and clusters reach.

    Raises:
      OpError: no cluster of that name runs.
    """

    def __init__(self, target: Any = None) -> None:
        named = target is None or isinstance(target, str)
        self._target = target if named else _what(target)
        if isinstance(self._target, str) and not _TARGET.fullmatch(self._target):
            self._target = _addresses(self._target) if self._target else None
        self._links: dict[str, Any] = {}
        self._earlier: dict[str, Census] = {}

    def take(self, holdings: bool = False) -> Census:
        """Return what the tasks tell now; no step waits for it.

        Args:
          holdings: whether variables and other resources are told one by one.
        """
        if isinstance(self._target, str):
            return self._of_cluster_at(self._target.removeprefix("grpc://"), holdings)
        if self._target is not None:
            return self._of_tasks(self._target, holdings)
        return self._of_all(holdings)

    def close(self) -> None:
        """Let go of all links."""
        links, self._links = self._links, {}
        for link in links.values():
            link.close()

    def _of_all(self, holdings: bool) -> Census:
        masters = [master for master in local_masters() if master.is_open]
        found = [master.census(holdings) for master in masters]
        found += [each.census_everywhere(holdings) for each in reach_of(masters).values()]
        known = {master.reach for master in masters}
        for cluster in running_clusters():
            if not any(server.address in known for server in cluster.servers):
                found.append(self._of_tasks(_addresses_in(cluster), holdings))
        return merged(found)

    def _of_cluster_at(self, address: str, holdings: bool) -> Census:
        task = task_at(address)
        if task is not None:
            return task.master.census_everywhere(holdings)
        return self._asked({f"grpc://{address}": address}, holdings, whole_cluster=True)

    def _of_tasks(self, addresses: Mapping[str, str], holdings: bool) -> Census:
        near = {name: task_at(where) for name, where in addresses.items()}
        far = {name: where for name, where in addresses.items() if near[name] is None}
        found = [task.census(holdings) for task in near.values() if task is not None]
        return merged([*found, *([self._asked(far, holdings)] if far else [])])

    def _asked(
        self, addresses: Mapping[str, str], holdings: bool, whole_cluster: bool = False
    ) -> Census:
        from tfdist.protos import pb
        from tfdist.wire.peers.census import ask_census  # gRPC takes long to import
        from tfdist.wire.peers.link import open_link

        for name, where in addresses.items():
            if name not in self._links:
                self._links[name] = open_link(where)
        links = {name: self._links[name] for name in addresses}
        request = pb.CensusRequest(whole_cluster=whole_cluster, holdings=holdings)
        told = ask_census(links, LIMIT, request, self._earlier)
        self._earlier.update(told)
        return merged(told.values())


def take_census(target: Any = None, holdings: bool = False) -> Census:
    """Return one census; for the arguments see `CensusTaker`."""
    taker = CensusTaker(target)
    try:
        return taker.take(holdings)
    finally:
        taker.close()


def about(target: Any) -> str:
    """Return " of" what a census is taken of, "" for all that this process reaches."""
    if target is None:
        return ""
    if isinstance(target, Cluster):
        return f" of cluster {target.name!r}"
    return f" of {target}" if isinstance(target, str) else f" of a {type(target).__name__}"


def _what(target: Any) -> Any:
    """Return the addresses of a cluster's tasks, or the target of a server or session."""
    return _addresses_in(target) if hasattr(target, "servers") else target.target


def _addresses_in(cluster: Any) -> dict[str, str]:
    return {server.task_name: server.address for server in cluster.servers}


def _addresses(name: str) -> dict[str, str]:
    known = find_cluster(name)
    if known is not None:
        return _addresses_in(known)
    return {f"/job:{job}/task:{index}": where for job, index, where in spec_of(name).tasks()}
