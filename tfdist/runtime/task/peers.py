"""The tasks that live in this process: how they are found, and called directly."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from tfdist.base.aliases import TensorValue
from tfdist.cluster.propagation import PropagatedCluster
from tfdist.errors import InvalidArgumentError, UnavailableError
from tfdist.graph.op_def import Wait
from tfdist.plan.step_plan import Partition
from tfdist.runtime.devices.local_devices import Device
from tfdist.runtime.disturbances.waits import DisturbedReceive, Thaw, go_across
from tfdist.runtime.step.peers import Peers
from tfdist.runtime.step.rendezvous import Rendezvous
from tfdist.runtime.step.run import Run
from tfdist.runtime.step.step import Step
from tfdist.runtime.step.unit_costs import UnitCost
from tfdist.runtime.task.addresses import normal_address
from tfdist.runtime.task.master import Master
from tfdist.runtime.task.worker import Worker
from tfdist.tracing.census import Census
from tfdist.tracing.waits import Report, Unreachable

ABSENT = "it was not started, or was stopped"
_BOUND = 12.0  # seconds


class LocalTask(Protocol):
    """A task of this process, as others in it see it (`task.task.Task`)."""

    name: str
    worker: Worker
    master: Master

    @property
    def peers(self) -> Peers:
        """Return what reaches the other tasks."""

    @property
    def address(self) -> str:
        """Return where others find the task."""

    def report(self) -> Report:
        """Return what is known of steps in flight."""

    def census(self, holdings: bool = False) -> Census:
        """Return what the task tells of itself."""


class DirectPeers:
    """Tasks of this process, called directly.

    Args:
      addresses: address by task name; a task is looked up when it is called, so that it may
        start later and be replaced by another one at the same address.
      own: name and task that these peers belong to, which needs no look-up.

    Attributes:
      bound: seconds after which a task that cannot be reached is given up.
    """

    bound = _BOUND

    def __init__(self, addresses: Mapping[str, str], own: tuple[str, LocalTask]) -> None:
        self.addresses = {name: normal_address(address) for name, address in addresses.items()}
        self._own_name, self._own = own

    def _worker(self, task: str) -> Worker:
        if task == self._own_name:
            return self._own.worker
        return find_task(self.addresses[task], task).worker

    def _called(self, task: str) -> Worker:
        """Return the worker of a task, as soon as a call may reach it."""
        disturber = self._own.worker.disturber
        if disturber is not None:
            go_across(disturber, disturber.ends(*self._ends(self._own_name, task)))
        return self._worker(task)

    def _ends(self, source: str, target: str) -> tuple[str, str]:
        return self.addresses[source], self.addresses[target]

    def close(self) -> None:
        """Let go of the ways to other tasks; here there are none."""

    def renamed(self, cluster: PropagatedCluster) -> Peers:
        """See `Peers`."""
        raise InvalidArgumentError(
            "ConfigProto.cluster_def needs a session at a server that others can reach; this "
            f"session's own task is {self._own_name}"
        )

    def devices(self, tasks: Sequence[str], seconds: float | None) -> list[Device]:
        """See `Peers`."""
        return [device for task in tasks for device in self._called(task).devices]

    def open_session(
        self, tasks: Sequence[str], handle: str, isolated: bool, legacy_frames: bool = False
    ) -> None:
        """See `Peers`; `legacy_frames` is the worker's."""
        for task in tasks:
            self._called(task).open_session(handle, isolated, legacy_frames)

    def close_session(self, task: str, handle: str) -> None:
        """See `Peers`."""
        self._worker(task).close_session(handle)

    def register(
        self, handle: str, partitions: Sequence[Partition], told: Callable[[str], None]
    ) -> list[str]:
        """See `Peers`."""
        names = []
        for each in partitions:
            names.append(self._worker(each.task).register(handle, each))
            told(each.task)
        return names

    def start(
        self, task: str, handle: str, graph: str, step: Step, feeds: list[TensorValue]
    ) -> Run | None:
        """See `Peers`."""
        run = self._worker(task).start(handle, graph, step, feeds)
        disturber = self._own.worker.disturber
        if disturber is not None and task != self._own_name:
            ends = disturber.ends(*self._ends(self._own_name, task))
            if disturber.passage(ends).may_stop:
                step.hold_back(run, Thaw(disturber, ends))
        return run

    def receive(self, task: str, step_id: int, key: str, session: str = "") -> Wait:
        """See `Peers`."""
        wait = self.rendezvous(task, step_id).receive(key)
        if self._own.worker.disturber is None:
            return wait
        return self.disturbed(wait, task)

    def disturbed(self, wait: Wait, task: str) -> Wait:
        """See `Peers`."""
        disturber = self._own.worker.disturber
        if disturber is None or task == self._own_name:
            return wait
        return DisturbedReceive(wait, disturber, disturber.ends(*self._ends(task, self._own_name)))

    def send(self, step_id: int, key: str, value: TensorValue) -> None:
        """See `Peers`."""
        self.rendezvous(self._own_name, step_id).send(key, value)

    def rendezvous(self, task: str, step_id: int) -> Rendezvous:
        """Return the rendezvous of a step on a task."""
        return self._worker(task).rendezvous(step_id)

    def end_step(self, task: str, step_id: int) -> None:
        """See `Peers`."""
        self._worker(task).end_step(step_id)

    def clear(self, task: str, containers: Sequence[str]) -> None:
        """See `Peers`."""
        self._called(task).clear(containers)

    def reports(self, tasks: Sequence[str]) -> list[Report]:
        """See `Peers`."""
        return [self._report(task) for task in tasks]

    def _report(self, task: str) -> Report:
        if task == self._own_name:
            return self._own.report()
        found = task_at(self.addresses[task])
        if found is None:
            return Report(silent=(Unreachable(task, ABSENT),))
        return found.report()

    def unit_costs(self, task: str, handle: str) -> list[UnitCost]:
        """See `Peers`."""
        return self._called(task).unit_costs(handle)

    def censuses(self, tasks: Sequence[str], holdings: bool) -> list[Census]:
        """See `Peers`."""
        return [self._census(task, holdings) for task in tasks]

    def _census(self, task: str, holdings: bool) -> Census:
        found = self._own if task == self._own_name else task_at(self.addresses[task])
        if found is None:
            return Census(silent=(Unreachable(task, ABSENT),))
        return found.census(holdings)


_tasks: dict[str, LocalTask] = {}
_lock = threading.Lock()


def publish_task(address: str, task: LocalTask) -> None:
    """Let `task` be found at `address` by everyone in this process."""
    with _lock:
        _tasks[normal_address(address)] = task


def withdraw_task(address: str, task: LocalTask) -> None:
    """Undo `publish_task`."""
    with _lock:
        if _tasks.get(normal_address(address)) is task:
            del _tasks[normal_address(address)]


def local_tasks() -> list[LocalTask]:
    """Return the tasks of this process that can be found."""
    with _lock:
        return list(_tasks.values())


def find_task(address: str, name: str = "") -> LocalTask:
    """Return the task at `address`.

    Raises:
      UnavailableError: no server of this process is there.
    """
    found = task_at(address)
    if found is None:
        there = ", ".join(sorted(_tasks)) or "none"
        raise UnavailableError(
            f"no server answers at {address}{f' ({name})' if name else ''}: it was not started in "
            f"this process, or was stopped (servers of this process: {there})"
        )
    return found


def task_at(address: str) -> LocalTask | None:
    """Return the task of this process at `address`, or None."""
    return _tasks.get(address) or _tasks.get(normal_address(address))
