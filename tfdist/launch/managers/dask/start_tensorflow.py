"""`start_tensorflow`, for programs that were written for dask-tensorflow (2017).

There, each Dask worker's process had a server of TensorFlow; here, the server is a child of the
worker, and `worker.tensorflow_server` tells how it is reached.

Source: https://github.com/dask/dask-tensorflow, README (the names, and what they return).
"""

from __future__ import annotations

from dataclasses import dataclass
from queue import Queue

from tfdist.cluster.spec import ClusterSpec
from tfdist.launch.managers.cluster import ManagedCluster
from tfdist.launch.managers.dask.client import DaskClient
from tfdist.launch.managers.dask.manager import DaskManager
from tfdist.launch.managers.dask.task import DaskWorker
from tfdist.launch.managers.on import ManagedFactory
from tfdist.launch.outcome import ClusterRequest, start
from tfdist.launch.task_names import split_task


@dataclass(frozen=True)
class ServerHere:
    """The server that is a Dask worker's.

    Attributes:
      job_name: of its task.
      task_index: of its task.
      target: "grpc://HOST:PORT", for `tf.Session`.
    """

    job_name: str
    task_index: int
    target: str


def start_tensorflow(
    client: DaskClient, name: str = "main", **jobs: int
) -> tuple[ClusterSpec, dict[str, list[str]]]:
    """Start a cluster on Dask; each of its workers gets `tensorflow_server` and `tensorflow_queue`.

    Args:
      client: of dask.distributed.
      name: of the cluster, which `%cluster stop NAME` stops.
      jobs: number of tasks by job; by default as many workers as Dask has.

    Returns:
      The cluster's addresses, and the addresses of Dask's workers, by job in the order of tasks.

    Raises:
      RuntimeError: it does not start.

    Example:
      tf_spec, dask_spec = start_tensorflow(client, ps=1, worker=2)
      client.submit(train, workers=dask_spec["worker"][0])
    """
    wanted = jobs or {"worker": len(client.scheduler_info(n_workers=-1)["workers"])}
    manager = DaskManager(client)
    cluster = start(ClusterRequest(wanted, name), ManagedFactory(manager)).require()
    assert isinstance(cluster, ManagedCluster)
    assert isinstance(cluster.manager, DaskManager)
    workers: dict[str, list[str]] = {}
    for server in cluster.servers:
        job, index = split_task(server.task_name)
        worker = cluster.manager.worker_of(server.task_name)
        workers.setdefault(job, []).append(worker)
        client.run(_give, ServerHere(job, index, server.target), workers=[worker])
    return cluster.spec, workers


def _give(server: ServerHere, dask_worker: DaskWorker) -> None:
    """Let a worker know its server; run there, Dask gives the worker."""
    dask_worker.tensorflow_server = server
    dask_worker.tensorflow_queue = Queue()
