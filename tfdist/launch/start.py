"""`start_cluster`: the one way to start a cluster, wherever its servers are to run."""

from __future__ import annotations

from collections.abc import Mapping

from tfdist.launch.clusters import DEFAULT_NAME
from tfdist.launch.local_cluster import LocalCluster
from tfdist.launch.outcome import Outcome, Wanted, start
from tfdist.launch.process_cluster import ProcessCluster
from tfdist.launch.server_process import START_TIMEOUT


def start_cluster(
    jobs: Mapping[str, int],
    name: str = DEFAULT_NAME,
    port: int | None = None,
    cpus: int = 1,
    replace: bool = False,
    processes: bool = False,
    timeout: float = START_TIMEOUT,
) -> Outcome:
    """Start all tasks of a cluster on this host, or find it running.

    Of a running one, tasks that had a process and have ended since are started anew.

    Args:
      jobs: number of tasks by job, such as {"ps": 1, "worker": 2}.
      name: one cluster of a name runs at a time.
      port: of the first task, the others take the next ones; by default free ones are taken.
      cpus: CPU devices of each task.
      replace: whether a cluster of that name is stopped first.
      processes: whether each server gets a process of its own; by default all are in this one.
      timeout: seconds that a process may take to be ready.

    Raises:
      ValueError: there is no task, or a number makes no sense.
    """
    kind = ProcessCluster if processes else LocalCluster
    return start(Wanted(jobs, name, port, cpus, timeout), kind, replace)
