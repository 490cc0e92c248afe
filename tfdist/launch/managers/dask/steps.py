"""Steps as Dask tasks: values come from Dask's futures, and what a step gives stays on the cluster.

A step runs in the process of the Dask worker that has the session's task, so that neither what it
is fed nor what it fetches comes through the client; Dask's task stream shows it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from hashlib import sha256
from itertools import count
from typing import Any, TypeAlias

from tfdist.graph.graph import Graph
from tfdist.graph.graph_import import import_graph_def
from tfdist.launch.clusters import running_clusters
from tfdist.launch.managers.cluster import ManagedCluster
from tfdist.launch.managers.dask.client import DaskClient, DaskFuture
from tfdist.protos import pb
from tfdist.session.session import Session
from tfdist.wire.common.identity import Identity
from tfdist.wire.common.tls import own_identity, use_identity

MOST = 4  # sessions that a worker keeps open
Key = tuple[str, str]
Fetches: TypeAlias = Any  # what `Session.run` fetches: in lists, tuples and dicts
Feeds: TypeAlias = Mapping[Any, Any]  # values by tensor or name

_sessions: OrderedDict[Key, Session] = OrderedDict()  # of this worker, the latest last
_lock = threading.Lock()
_numbers = count()  # of the steps of this process


def run_on_dask(
    session: Session, fetches: Fetches, feed_dict: Feeds | None = None, client: DaskClient = None
) -> DaskFuture:
    """Have a step run by Dask, and return the future of what `session.run` would return.

    Args:
      session: to a task of a cluster; its graph and its target count.
      fetches: tensors, operations or their names, in lists, tuples and dicts.
      feed_dict: values, or Dask's futures or delayed values of them, by tensor or name.
      client: of dask.distributed; by default the current one.

    Raises:
      ValueError: the session has no target, which only this process can reach; or no client.

    Example:
      total = run_on_dask(session, loss, {images: future_of_a_block})
      total.result()
    """
    import distributed

    dask: DaskClient = distributed
    target = session.target
    if not target:
        raise ValueError("run_on_dask: the session is of this process; name a task's target")
    client = client or dask.default_client()
    address = target.removeprefix("grpc://")
    shown = own_identity(address)
    keys = None if shown is None else (shown.key, shown.certificate, shown.authority)
    graph = session.graph.as_graph_def().SerializeToString()
    digest = sha256(graph).hexdigest()
    feeds = {_name(each): value for each, value in (feed_dict or {}).items()}
    values = [client.compute(v) if hasattr(v, "__dask_graph__") else v for v in feeds.values()]
    worker = _worker_of(address)
    return client.submit(
        run_step, target, digest, client.scatter(graph, hash=True), keys, _names(fetches),
        list(feeds), *values,
        key=f"tfdist-step-{digest[:8]}-{next(_numbers)}", pure=False,
        workers=[worker] if worker else None, allow_other_workers=bool(worker),
    )  # fmt: skip


def run_step(
    target: str,
    digest: str,
    graph: bytes,
    keys: tuple[bytes, bytes, bytes] | None,
    fetches: Fetches,
    feeds: list[str],
    *values: object,
) -> Fetches:
    """Run a step on a worker of Dask; see `run_on_dask`.

    Args:
      target: of the session.
      digest: of the graph, by which its session is found again.
      graph: GraphDef.
      keys: key, certificate and authority (PEM) to show the target; None where it asks for none.
      fetches: names, in lists, tuples and dicts.
      feeds: names of what is fed.
      values: that are fed.
    """
    if keys is not None:
        use_identity(Identity(*keys), at=[target.removeprefix("grpc://")])
    session = _session((target, digest), graph)
    return session.run(fetches, dict(zip(feeds, values, strict=True)))


def _session(key: Key, graph: bytes) -> Session:
    """Return the open session of a target and a graph."""
    with _lock:
        if key not in _sessions:
            built = Graph()
            with built.as_default():
                import_graph_def(pb.GraphDef.FromString(graph), name="")
            _sessions[key] = Session(key[0], graph=built)
        _sessions.move_to_end(key)
        old = [_sessions.popitem(last=False)[1] for _ in range(len(_sessions) - MOST)]
    for session in old:
        session.close()
    return _sessions[key]


def _worker_of(address: str) -> str:
    """Return the Dask worker whose task of a cluster of this process has an address, or ""."""
    for cluster in running_clusters():
        workers = getattr(getattr(cluster, "manager", None), "worker_of", None)
        if isinstance(cluster, ManagedCluster) and workers is not None:
            for server in cluster.servers:
                if server.address == address:
                    return str(workers(server.task_name))
    return ""


def _names(fetches: Fetches) -> Fetches:
    """Return the names of fetches, in their form."""
    if isinstance(fetches, Mapping):
        return {key: _names(each) for key, each in fetches.items()}
    if isinstance(fetches, list | tuple):
        return type(fetches)(map(_names, fetches))
    return _name(fetches)


def _name(fetch: object) -> str:
    return str(getattr(fetch, "name", fetch))
