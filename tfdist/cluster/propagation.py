"""Cluster spec propagation: the tasks of one session under the names of its cluster_def.

A server is started as one task of one cluster. A session whose `ConfigProto.cluster_def` is set
has a cluster of its own: its tasks are servers by their addresses, whatever names they were
started with, and keep what is its own apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tfdist.base.devices import DeviceSpec
from tfdist.cluster.spec import ClusterSpec
from tfdist.errors import InvalidArgumentError
from tfdist.protos import pb


class PropagatedCluster(NamedTuple):
    """The cluster of one session.

    Attributes:
      own: the name in it of the task that it is propagated to.
      addresses: address of every task, by name.
    """

    own: str
    addresses: dict[str, str]


def cluster_for_task(cluster: ClusterSpec, job: str, index: int) -> PropagatedCluster:
    """Return the cluster as it is propagated to the task that is to be `index` of `job` there."""
    names = {_name(each, number): address for each, number, address in cluster.tasks()}
    return PropagatedCluster(_name(job, index), names)


def cluster_for_master(
    cluster: ClusterSpec, task: str, address: str, normal: Callable[[str], str]
) -> PropagatedCluster:
    """Return a cluster as the master of a session knows it.

    Args:
      cluster: that the client tells.
      task: name that the master's server was started with.
      address: of the master.
      normal: makes two spellings of an address equal.

    Raises:
      InvalidArgumentError: the master is not in it, or twice, or under the name that it has.
    """
    text = str(cluster.as_cluster_def())
    own = [(job, i) for job, i, where in cluster.tasks() if normal(where) == normal(address)]
    if not own:
        raise InvalidArgumentError(
            f"The master (current machine) is not included in the provided cluster_def. {text}"
        )
    if len(own) > 1:
        raise InvalidArgumentError(
            "Found multiple matching tasks that correspond to the master. Master target: "
            f"'grpc://{address}'. ClusterDef: {text}"
        )
    [(job, index)] = own
    if _name(job, index) == task:
        raise InvalidArgumentError(
            "The ClusterSpec names the job and task index to be the same names that were provided "
            f"when the server booted. This is currently not allowed. Job: {job}, task index: "
            f"{index}"
        )
    return cluster_for_task(cluster, job, index)


def server_def(cluster: PropagatedCluster, task: str) -> pb.ServerDef:
    """Return what tells `task` of a cluster."""
    found = pb.ServerDef(protocol="grpc")
    jobs: dict[str, pb.JobDef] = {}
    for name, address in cluster.addresses.items():
        spec = DeviceSpec.from_string(name)
        assert spec.job is not None
        if spec.job not in jobs:
            jobs[spec.job] = found.cluster.job.add(name=spec.job)
        jobs[spec.job].tasks[spec.task] = address
        if name == task:
            found.job_name, found.task_index = spec.job, spec.task
    return found


def _name(job: str, index: int) -> str:
    return DeviceSpec(job=job, replica=0, task=index).to_string()
