"""A cluster that is somewhere else, here: the same jobs and task numbers, on local ports.

A spec from Kubernetes names hosts that this machine cannot reach: "ps-0.ps.default.svc:2222". While
its stand-in runs, whoever in this process asks for such an address gets the local server.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tfdist.cluster.resolve import parse_cluster
from tfdist.cluster.spec import ClusterSpec
from tfdist.launch.outcome import Outcome
from tfdist.launch.start import start_cluster

HERE = ("127.0.0.1", "localhost", "0.0.0.0", "[::1]")  # these need no stand-in


def start_local(cluster: Any, **options: Any) -> Outcome:
    """Start the tasks of a cluster that is somewhere else on this host, or find them running.

    Sessions of this process reach the local servers by the cluster's own addresses, too, until it
    is stopped.

    Args:
      cluster: see `foreign_spec`.
      options: those of `start_cluster`, but jobs.

    Raises:
      ValueError: the cluster cannot be had here, or an option makes no sense.
      InvalidArgumentError: the text or the file is no cluster.
    """
    spec = foreign_spec(cluster)
    jobs = {job: spec.num_tasks(job) for job in spec.jobs}
    return start_cluster(jobs, foreign=spec, **options)


def foreign_spec(cluster: Any) -> ClusterSpec:
    """Return the spec of a cluster to be had here.

    Args:
      cluster: a ClusterSpec, ClusterDef or dict; the dict of a TF_CONFIG; JSON of a spec or of a
        TF_CONFIG; the path of such a file; "TF_CONFIG", for the variable of the environment.

    Raises:
      ValueError: it names this machine, an address twice, or leaves out task numbers.
      InvalidArgumentError: the text or the file is no cluster.
    """
    spec = _spec(cluster)
    known: dict[str, str] = {}
    for job, index, address in spec.tasks():
        task = f"/job:{job}/task:{index}"
        if address.rpartition(":")[0] in HERE:
            raise ValueError(
                f"{task} at {address} is on this machine already: start it as it is, with "
                f"tf.train.Server, or its jobs at other ports, with %cluster start {job}=N"
            )
        if address in known:
            raise ValueError(f"{known[address]} and {task} have one address, {address}")
        known[address] = task
    for job in spec.jobs:
        if spec.task_indices(job) != list(range(spec.num_tasks(job))):
            raise ValueError(
                f"job {job!r} has the tasks {spec.task_indices(job)} only; a cluster that starts "
                "here has all, from 0 on"
            )
    return spec


def _spec(cluster: Any) -> ClusterSpec:
    if isinstance(cluster, Mapping) and isinstance(cluster.get("cluster"), Mapping):
        cluster = cluster["cluster"]  # the dict of a TF_CONFIG
    if not isinstance(cluster, str):
        return ClusterSpec(cluster)
    text = os.environ.get("TF_CONFIG", "") if cluster == "TF_CONFIG" else cluster
    found = parse_cluster(text, cluster if len(cluster) < 60 else "the cluster", _read).cluster
    if found is None:
        raise ValueError('a TF_CONFIG without "cluster" says nothing of one')
    return found


def _read(path: str) -> str:
    return Path(path).expanduser().read_text(encoding="utf-8")
