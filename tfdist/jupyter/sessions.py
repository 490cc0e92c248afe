"""Which session runs what a magic is given: the user's own, or one on the user's cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfdist.errors import UnavailableError
from tfdist.graph.scopes import get_default_graph
from tfdist.graph.stacks import get_default_session
from tfdist.launch.clusters import find_cluster, running_clusters
from tfdist.launch.task_names import parse_task, short_name
from tfdist.runtime.task.addresses import normal_address
from tfdist.session.session import Session


@contextmanager
def session_for(what: Any = None, target: str | None = None) -> Iterator[Session]:
    """Yield a session for a graph element: the one asked for, else the default one, else a new one.

    A new session is on the first worker of the cluster that was started last, or a local one if no
    cluster runs; it is closed afterwards.

    Args:
      what: graph element or structure of them; by default the default graph is run.
      target: task ("worker:1", "/job:worker/task:1"), "grpc://HOST:PORT", or "local".

    Raises:
      ValueError: `target` is none of those, or no cluster has that task.
      UnavailableError: a process of the cluster has ended: a new session would wait for it.
    """
    graph = graph_of(what)
    default: Any = get_default_session()
    if target is None and default is not None and default.graph is graph:
        yield default
        return
    found = target_of(target)
    _check_processes(found)
    session = Session(found, graph=graph)
    try:
        yield session
    finally:
        session.close()


def _check_processes(target: str) -> None:
    """Raise UnavailableError if a process has ended of a cluster that this kernel started."""
    ours = [each.servers for each in running_clusters() if each.kind == "processes"]
    meant = next((each for each in ours if target in {server.target for server in each}), ())
    ended = [server for server in meant if not server.is_running]
    if ended:
        name = short_name(ended[0].task_name)
        raise UnavailableError(
            f"{name} has ended, and a new session needs all tasks of its cluster; %cluster tells "
            f"how it ended, %cluster restart {name} starts it anew"
        )


def target_of(task: str | None) -> str:
    """Return the target of a session on `task`, as `session_for` takes it."""
    if task is not None and (task.startswith("grpc://") or task in ("", "local")):
        return task.removeprefix("local")
    cluster = find_cluster()
    if task is None:
        return cluster.target() if cluster else ""
    try:
        job, index = parse_task(task)
    except ValueError:
        raise ValueError(
            f"{task!r} is no task: try worker:1, /job:worker/task:1 or grpc://..."
        ) from None
    if cluster is None:
        raise ValueError(f"no cluster runs, so there is no task {task}; try %cluster start")
    return cluster.target(job, index)


def task_of(target: str) -> str:
    """Return the task that a session's target names: "/job:worker/task:0"; "" is "this process"."""
    if not target:
        return "this process"
    address = normal_address(target.removeprefix("grpc://"))
    servers = (server for cluster in running_clusters() for server in cluster.servers)
    return next((s.task_name for s in servers if normal_address(s.address) == address), target)


def graph_of(what: Any) -> Any:
    """Return the graph of a graph element or of the first one in a structure."""
    if isinstance(what, dict):
        what = list(what.values())
    if isinstance(what, list | tuple):
        return graph_of(what[0]) if what else get_default_graph()
    return getattr(what, "graph", None) or get_default_graph()
