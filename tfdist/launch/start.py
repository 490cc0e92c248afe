"""`start_cluster`: the one way to start a cluster, wherever its servers are to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tfdist.cluster.spec import ClusterSpec
from tfdist.errors import NotFoundError
from tfdist.launch.clusters import DEFAULT_NAME
from tfdist.launch.engines import TENSORFLOW, TFDIST, required_python
from tfdist.launch.local_cluster import LocalCluster
from tfdist.launch.managers.on import KERNEL, PROCESSES, ManagedFactory, On, manager_on
from tfdist.launch.outcome import ClusterRequest, Outcome, start
from tfdist.launch.private_network import why_no_network
from tfdist.launch.process_cluster import ProcessCluster
from tfdist.launch.server_process import START_TIMEOUT
from tfdist.runtime.devices.local_devices import device_options


def why_no_tensorflow(python: str | None = None) -> str:
    """Return why `start_cluster` cannot have servers of TensorFlow here, or "" if it can.

    Whether the interpreter really has TensorFlow is seen when it starts.

    Args:
      python: see `start_cluster`.
    """
    try:
        required_python(python)
    except NotFoundError as error:
        return error.message
    return why_no_network()


def start_cluster(
    jobs: Mapping[str, int],
    name: str = DEFAULT_NAME,
    port: int | None = None,
    cpus: int = 1,
    replace: bool = False,
    processes: bool = False,
    timeout: float = START_TIMEOUT,
    engine: str | Mapping[str, str] = TFDIST,
    python: str | None = None,
    trust_network: bool = False,
    progress: Callable[[str], None] = lambda sentence: None,
    gpus: int | None = None,
    foreign: ClusterSpec | None = None,
    on: On = KERNEL,
    keep: bool = False,
) -> Outcome:
    """Start all tasks of a cluster, or find it running.

    Of a running one, tasks that had a process and have ended since are started anew.

    Args:
      jobs: number of tasks by job, such as {"ps": 1, "worker": 2}.
      name: one cluster of a name runs at a time.
      port: of the first task, the others take the next ones; by default free ones are taken.
      cpus: CPU devices of each task.
      replace: whether a cluster of that name is stopped first.
      processes: whether each server gets a process of its own; by default all are in this one.
      timeout: seconds that a process may take to be ready.
      engine: what serves: "tfdist", or "tensorflow" itself; or one of them by job, such as
        {"worker": "tensorflow"}. Where there is TensorFlow, all tasks have processes. Its servers
        do whatever anyone who reaches them sends, so they share a private network that lets in
        this user only.
      python: interpreter that has TensorFlow. By default the first that the environment variable
        TFDIST_TENSORFLOW names, or this one.
      trust_network: whether servers of TensorFlow may listen on all interfaces of this machine.
      progress: gets a sentence now and then while servers of TensorFlow start, which takes seconds.
      gpus: simulated GPUs of each task, for lessons on machines without a card; by default as many
        as the environment variable TFDIST_SIMULATED_GPUS says.
      foreign: a cluster somewhere else with the same tasks, for which this one stands: see
        `foreign.start_local`.
      on: where its tasks run: "kernel" or "processes" on this host; or what a cluster manager
        starts on others: "dask://HOST:PORT", "slurm", ..., or a `managers.seam.ClusterManager`.
      keep: whether its tasks stay when this process ends; Dask's may.

    Raises:
      ValueError: there is no task, or a number, an engine or a manager makes no sense.
    """
    gpus = device_options().simulated if gpus is None else gpus
    wanted = ClusterRequest(
        jobs, name, port, cpus, timeout, engine, python, trust_network, progress, gpus, foreign
    )
    wanted.check()
    manager, is_mixed = manager_on(on), TENSORFLOW in wanted.engines.values()
    if manager is None:
        if keep:
            raise ValueError("tasks of this host end with this process; those on Dask may stay")
        alone = processes or is_mixed or on == PROCESSES
        return start(wanted, ProcessCluster if alone else LocalCluster, replace)
    if is_mixed:
        raise ValueError(
            f"a cluster on {manager.name} is encrypted, and TensorFlow's own servers show no "
            "certificates and run anybody's graphs: leave out engines; or start such servers by "
            "hand in a network that you trust, with TFDIST_REMOTE=plain for all, and attach them"
        )
    if processes or foreign is not None:
        raise ValueError(
            f"a cluster on {manager.name} has servers of tfdist in processes of their own: leave "
            "out processes and the cluster that it would stand for"
        )
    if keep:
        manager.stay()
    return start(wanted, ManagedFactory(manager), replace)
