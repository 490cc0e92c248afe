"""Asking what steps wait for: those of this process's sessions, of a server, or of a cluster."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tfdist.errors import OpError
from tfdist.launch.attached_cluster import spec_of
from tfdist.launch.clusters import find_cluster, running_clusters
from tfdist.runtime.task.masters import local_masters, reach_of
from tfdist.runtime.task.peers import task_at
from tfdist.session.connection import graph_of_session
from tfdist.tracing.waits import Report, Wait, merged

if TYPE_CHECKING:
    from tfdist.wire.peers.link import Link

LIMIT = 0.48  # seconds in which there is an answer, whoever is lost
_TARGET = re.compile(r"(grpc://)?[^/=]+:\d+")

Asker = Callable[[], Report]


def report(target: Any = None) -> Report:
    """Return what is known of steps in flight; no step is kept waiting for it.

    Args:
      target: "grpc://HOST:PORT" of a server, which asks its cluster; what `attach` takes, such as
        the name of a cluster; a cluster, server or session. By default this process's sessions,
        servers and clusters.

    Raises:
      OpError: no cluster of that name runs.
    """
    found = merged(_together(_askers(target)))
    return found._replace(waits=tuple(map(_with_line, found.waits, _sessions(found))))


def _askers(target: Any) -> list[Asker]:
    target = target if target is None or isinstance(target, str) else _name_of(target)
    if not target:
        return [*_of_this_process(), *_of_running_clusters()]
    if isinstance(target, str) and _TARGET.fullmatch(target):
        return [_of_cluster_at(target.removeprefix("grpc://"))]
    return _of_tasks(target if not isinstance(target, str) else _addresses(target))


def _name_of(target: Any) -> Any:
    """Return the target of a server or session, or the addresses of a cluster's tasks."""
    if hasattr(target, "servers"):
        return {server.task_name: server.address for server in target.servers}
    return target.target


def _addresses(name: str) -> dict[str, str]:
    known = find_cluster(name)
    if known is not None:
        return {server.task_name: server.address for server in known.servers}
    return {f"/job:{job}/task:{index}": where for job, index, where in spec_of(name).tasks()}


def _of_this_process() -> list[Asker]:
    masters = local_masters()
    here = [master.report for master in masters]
    return [*here, *(master.report_everywhere for master in reach_of(masters).values())]


def _of_running_clusters() -> list[Asker]:
    """Return who asks the tasks of clusters whose sessions are all elsewhere."""
    known = {master.reach for master in local_masters()}
    return [
        asker
        for cluster in running_clusters()
        if not any(server.address in known for server in cluster.servers)
        for asker in _of_tasks(
            {
                server.task_name: server.address
                for server in cluster.servers
                if task_at(server.address) is None
            }
        )
    ]


def _of_cluster_at(address: str) -> Asker:
    task = task_at(address)
    if task is not None:
        return task.master.report_everywhere
    links = _links_to({f"grpc://{address}": address})
    return lambda: _asked(links, whole_cluster=True)


def _of_tasks(addresses: dict[str, str]) -> list[Asker]:
    tasks = {name: task_at(where) for name, where in addresses.items()}  # once: one may end
    near: list[Asker] = [task.report for task in tasks.values() if task is not None]
    far = {name: where for name, where in addresses.items() if tasks[name] is None}
    links = _links_to(far)
    return [*near, *([lambda: _asked(links)] if links else [])]


def _links_to(addresses: dict[str, str]) -> dict[str, Link]:
    """Return the way to each; `_asked` closes them.

    Raises:
      OpError: this process has no certificate of use to show there; see `own_identity`.
    """
    from tfdist.wire.peers.link import open_link  # gRPC takes long to import

    return {name: open_link(where) for name, where in addresses.items()}


def _asked(links: dict[str, Link], whole_cluster: bool = False) -> Report:
    from tfdist.wire.peers.why import CLUSTER, ask_why

    try:
        return merged(ask_why(links, CLUSTER, whole_cluster).values())
    finally:
        for link in links.values():
            link.close()


def _together(askers: Sequence[Asker]) -> Iterable[Report]:
    """Return what all askers give within the limit; they ask at the same time."""
    found: list[Report] = []
    threads = [
        threading.Thread(target=_add, args=(found, asker), name="tfdist-why", daemon=True)
        for asker in askers[1:]
    ]
    deadline = time.monotonic() + LIMIT
    for thread in threads:
        thread.start()
    for asker in askers[:1]:
        _add(found, asker)
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return list(found)


def _add(found: list[Report], asker: Asker) -> None:
    try:
        found.append(asker())
    except OpError:
        pass  # a session that was closed just now


def _sessions(found: Report) -> list[str]:
    sessions = {step.step: step.session for step in found.steps}
    return [sessions.get(wait.step, "") for wait in found.waits]


def _with_line(wait: Wait, session: str) -> Wait:
    """Return `wait` with the line that made its node, if this process has the graph."""
    graph = graph_of_session(session)
    op = None if graph is None else graph._by_name.get(wait.node)
    return wait if op is None else wait._replace(line=op.created_at)
