"""Task: one master and one worker, and how they are found."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from tfdist.base.devices import DeviceSpec
from tfdist.base.settings import setting
from tfdist.errors import AbortedError
from tfdist.runtime.devices.gpus import task_devices
from tfdist.runtime.devices.local_devices import USUAL, DeviceOptions
from tfdist.runtime.disturbances.disturber import Disturber
from tfdist.runtime.step.peers import OwnPeers
from tfdist.runtime.task.census import census_of
from tfdist.runtime.task.master import Master
from tfdist.runtime.task.masters import unlist_master
from tfdist.runtime.task.peers import DirectPeers, local_tasks, publish_task, withdraw_task
from tfdist.runtime.task.worker import Worker
from tfdist.tracing.census import Census
from tfdist.tracing.device_names import short_name
from tfdist.tracing.disturbances import Disturbance
from tfdist.tracing.waits import Report, merged


class Task:
    """One task of a cluster, in this process.

    Args:
      job: its job.
      index: its index in the job.
      addresses: address of every task of the cluster, by task name, this one included.
      options: which devices it has.
      make_peers: of addresses and (name, task) makes what reaches the others; by default they
        are tasks of this process.

    Attributes:
      may_be_disturbed: whether another process may: the one that started this one.
    """

    may_be_disturbed = False

    def __init__(
        self,
        job: str,
        index: int,
        addresses: Mapping[str, str],
        options: DeviceOptions = USUAL,
        make_peers: Callable[..., OwnPeers] = DirectPeers,
    ) -> None:
        self.name = task_name(job, index)
        self.peers = make_peers(addresses, (self.name, self))
        executor = setting("TFDIST_EXECUTOR")
        self.worker = Worker(task_devices(job, index, options), self.peers, executor)
        self.master = Master(self.name, tuple(addresses), self.peers)

    @property
    def address(self) -> str:
        """Return where others find the task."""
        return self.peers.addresses[self.name]

    def start(self) -> None:
        """Let others in this process find the task."""
        publish_task(self.address, self)

    def wait_idle(self, seconds: float) -> bool:
        """Wait until nothing runs here, `seconds` at most; returns whether nothing does."""
        deadline = time.monotonic() + seconds
        while self.is_busy and time.monotonic() < deadline:
            time.sleep(0.005)
        return not self.is_busy

    def report(self) -> Report:
        """Return what is known here of steps in flight."""
        disturber = self.worker.disturber
        wrong = () if disturber is None else disturber.disturbances
        return merged([Report(disturbances=wrong), self.master.report(), self.worker.report()])

    def disturb(self, disturbances: Sequence[Disturbance]) -> None:
        """Let these things be wrong on purpose, and no others, until the next call."""
        disturber = self.worker.disturber
        if disturber is None and disturbances:
            names = {where: short_name(name) for name, where in self.peers.addresses.items()}
            disturber = Disturber(names, short_name(self.name), self.peers.bound)
        if disturber is not None:
            self.worker.disturber = disturber if disturbances else None
            disturber.tell(disturbances)

    def census(self, holdings: bool = False) -> Census:
        """Return what the task tells of itself; see `runtime.task.census.census_of`."""
        return census_of(self, holdings)

    @property
    def is_busy(self) -> bool:
        """Return whether a step or a partition runs."""
        return self.master.is_busy or self.worker.is_busy

    def stop(self, reason: str = "its server was stopped") -> None:
        """Be found no more, and abort the sessions that span the task."""
        others = [
            task for task in local_tasks() if task.peers.addresses.get(self.name) == self.address
        ]
        withdraw_task(self.address, self)
        unlist_master(self.master)
        for task in {self, *others}:
            task.master.lose_task(self.name, reason)
        self.disturb(())
        self.worker.stop(AbortedError(f"{self.name} is gone: {reason}"))
        self.peers.close()


def task_name(job: str, index: int) -> str:
    """Return "/job:J/replica:0/task:I"."""
    return DeviceSpec(job=job, replica=0, task=index).to_string()


def local_task(options: DeviceOptions = USUAL) -> Task:
    """Return a task that is a cluster of its own, for a session without target."""
    return Task("localhost", 0, {task_name("localhost", 0): ""}, options)
