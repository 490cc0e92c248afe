"""Task: one master and one worker, and how they are found."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tfdist.base.devices import DeviceSpec
from tfdist.runtime.devices import cpu_devices
from tfdist.runtime.master import Master
from tfdist.runtime.peers import DirectPeers, publish_task, tasks_here, withdraw_task
from tfdist.runtime.worker import Worker


class Task:
    """One task of a cluster, in this process.

    Args:
      job: its job.
      index: its index in the job.
      addresses: address of every task of the cluster, by task name, this one included.
      cpus: number of CPU devices.
    """

    def __init__(self, job: str, index: int, addresses: Mapping[str, str], cpus: int = 1) -> None:
        self.name = task_name(job, index)
        self.peers = DirectPeers(addresses, (self.name, self))
        executor = os.environ.get("TFDIST_EXECUTOR", "auto")
        self.worker = Worker(cpu_devices(job, index, cpus), self.peers, executor)
        self.master = Master(self.name, tuple(addresses), self.peers)

    @property
    def address(self) -> str:
        """Return where others find the task."""
        return self.peers.addresses[self.name]

    def start(self) -> None:
        """Let others in this process find the task."""
        publish_task(self.address, self)

    def stop(self, reason: str = "its server was stopped") -> None:
        """Be found no more, and abort the sessions that span the task."""
        others = [
            task for task in tasks_here() if task.peers.addresses.get(self.name) == self.address
        ]
        withdraw_task(self.address, self)
        for task in {self, *others}:
            task.master.lose_task(self.name, reason)


def task_name(job: str, index: int) -> str:
    """Return "/job:J/replica:0/task:I"."""
    return DeviceSpec(job=job, replica=0, task=index).to_string()


def local_task(cpus: int = 1) -> Task:
    """Return a task that is a cluster of its own, for a session without target."""
    return Task("localhost", 0, {task_name("localhost", 0): ""}, cpus)
