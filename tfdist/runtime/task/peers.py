"""Peers: how a task reaches the others, and the tasks that live in this process.

`Peers` is the one interface between tasks. Here it is a direct call; `wire.peers.remote_peers`
sends messages to the same methods. It is never called with a task's lock held.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tfdist.cluster.propagation import PropagatedCluster
from tfdist.errors import InvalidArgumentError, UnavailableError
from tfdist.plan.partition import Partition
from tfdist.runtime.step.rendezvous import Rendezvous
from tfdist.runtime.step.run import Run
from tfdist.runtime.step.step import Step
from tfdist.tracing.census import Census
from tfdist.tracing.waits import Report, Unreachable

ABSENT = "it was not started, or was stopped"


class Peers(Protocol):
    """The other tasks of a cluster, by name."""

    @property
    def addresses(self) -> Mapping[str, str]:
        """Return the address of every task of the cluster, by its name."""

    def devices(self, tasks: Sequence[str], seconds: float | None) -> list[Any]:
        """Return the devices (`devices.Device`) of tasks, once all of them are there.

        Args:
          tasks: in the order of the result.
          seconds: to wait for them at most; by default as long as the peers think fit.

        Raises:
          UnavailableError: a task is not there; all that are missing are named.
        """

    def open_session(self, task: str, handle: str, isolated: bool) -> None:
        """Let the task keep state for a session, with variables of its own if it is isolated."""

    def close_session(self, task: str, handle: str) -> None:
        """Let the task forget a session."""

    def register(self, task: str, handle: str, partition: Partition) -> str:
        """Give the task its part of a step; returns the name to run it by."""

    def start(self, task: str, handle: str, graph: str, step: Step, feeds: list[Any]) -> Run | None:
        """Let the task begin its part of a step; returns the run if it is one of this process."""

    def receive(self, task: str, step_id: int, key: str) -> Any:
        """Return the wait for a value that the task sends in a step."""

    def send(self, step_id: int, key: str, value: Any) -> None:
        """Leave a value of a step on the task that these peers belong to."""

    def end_step(self, task: str, step_id: int) -> None:
        """Let the task forget a step."""

    def clear(self, task: str, containers: Sequence[str]) -> None:
        """Let the task forget the state in `containers`, all of it if none is named."""

    def reports(self, tasks: Sequence[str]) -> list[Report]:
        """Return what tasks tell of steps in flight; who is silent has a report that says so."""

    def censuses(self, tasks: Sequence[str], holdings: bool) -> list[Census]:
        """Return what tasks tell of themselves; who is silent has a census that says so."""

    def renamed(self, cluster: PropagatedCluster) -> Peers:
        """Return the peers of the same task in the cluster of one session."""

    def close(self) -> None:
        """Let go of the ways to other tasks."""


class DirectPeers:
    """Tasks of this process, called directly.

    Args:
      addresses: address by task name; a task is looked up when it is called, so that it may
        start later and be replaced by another one at the same address.
      own: name and task that these peers belong to, which needs no look-up.
    """

    def __init__(self, addresses: Mapping[str, str], own: tuple[str, Any]) -> None:
        self.addresses = {name: normal_address(address) for name, address in addresses.items()}
        self._own_name, self._own = own

    def _worker(self, task: str) -> Any:
        if task == self._own_name:
            return self._own.worker
        return find_task(self.addresses[task], task).worker

    def close(self) -> None:
        """Let go of the ways to other tasks; here there are none."""

    def renamed(self, cluster: PropagatedCluster) -> Peers:
        """See `Peers`."""
        raise InvalidArgumentError(
            "ConfigProto.cluster_def needs a session at a server that others can reach; this "
            f"session's own task is {self._own_name}"
        )

    def devices(self, tasks: Sequence[str], seconds: float | None) -> list[Any]:
        """See `Peers`."""
        return [device for task in tasks for device in self._worker(task).devices]

    def open_session(
        self, task: str, handle: str, isolated: bool, legacy_frames: bool = False
    ) -> None:
        """See `Peers`; `legacy_frames` is the worker's."""
        self._worker(task).open_session(handle, isolated, legacy_frames)

    def close_session(self, task: str, handle: str) -> None:
        """See `Peers`."""
        self._worker(task).close_session(handle)

    def register(self, task: str, handle: str, partition: Partition) -> str:
        """See `Peers`."""
        return self._worker(task).register(handle, partition)  # type: ignore[no-any-return]

    def start(self, task: str, handle: str, graph: str, step: Step, feeds: list[Any]) -> Run | None:
        """See `Peers`."""
        return self._worker(task).start(handle, graph, step, feeds)  # type: ignore[no-any-return]

    def receive(self, task: str, step_id: int, key: str) -> Any:
        """See `Peers`."""
        return self.rendezvous(task, step_id).receive(key)

    def send(self, step_id: int, key: str, value: Any) -> None:
        """See `Peers`."""
        self.rendezvous(self._own_name, step_id).send(key, value)

    def rendezvous(self, task: str, step_id: int) -> Rendezvous:
        """Return the rendezvous of a step on a task."""
        return self._worker(task).rendezvous(step_id)  # type: ignore[no-any-return]

    def end_step(self, task: str, step_id: int) -> None:
        """See `Peers`."""
        self._worker(task).end_step(step_id)

    def clear(self, task: str, containers: Sequence[str]) -> None:
        """See `Peers`."""
        self._worker(task).clear(containers)

    def reports(self, tasks: Sequence[str]) -> list[Report]:
        """See `Peers`."""
        return [self._report(task) for task in tasks]

    def _report(self, task: str) -> Report:
        if task == self._own_name:
            return self._own.report()  # type: ignore[no-any-return]
        found = task_at(self.addresses[task])
        if found is None:
            return Report(silent=(Unreachable(task, ABSENT),))
        return found.report()  # type: ignore[no-any-return]

    def censuses(self, tasks: Sequence[str], holdings: bool) -> list[Census]:
        """See `Peers`."""
        return [self._census(task, holdings) for task in tasks]

    def _census(self, task: str, holdings: bool) -> Census:
        found = self._own if task == self._own_name else task_at(self.addresses[task])
        if found is None:
            return Census(silent=(Unreachable(task, ABSENT),))
        return found.census(holdings)  # type: ignore[no-any-return]


_tasks: dict[str, Any] = {}
_stand_ins: dict[str, str] = {}  # address elsewhere -> the one here that stands for it
_lock = threading.Lock()


def publish_task(address: str, task: Any) -> None:
    """Let `task` be found at `address` by everyone in this process."""
    with _lock:
        _tasks[normal_address(address)] = task


def withdraw_task(address: str, task: Any) -> None:
    """Undo `publish_task`."""
    with _lock:
        if _tasks.get(normal_address(address)) is task:
            del _tasks[normal_address(address)]


def stand_in(addresses: Mapping[str, str]) -> None:
    """Have addresses of this host stand for others, until `stand_down`.

    Args:
      addresses: those of this host, by those elsewhere.

    Raises:
      ValueError: another one stands for it already; nothing is changed then.
    """
    with _lock:
        for foreign in addresses:
            if foreign in _stand_ins:
                raise ValueError(f"{_stand_ins[foreign]} stands for {foreign} already")
        _stand_ins.update(addresses)


def stand_down(addresses: Mapping[str, str]) -> None:
    """Undo `stand_in`."""
    with _lock:
        for foreign in addresses:
            _stand_ins.pop(foreign, None)


def local_tasks() -> list[Any]:
    """Return the tasks of this process that can be found."""
    with _lock:
        return list(_tasks.values())


def find_task(address: str, name: str = "") -> Any:
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


def task_at(address: str) -> Any:
    """Return the task of this process at `address`, or None."""
    return _tasks.get(address) or _tasks.get(normal_address(address))


_HERE = {"localhost", "0.0.0.0", "[::1]", "[::]"}


def normal_address(address: str) -> str:
    """Return `address` with the names of this host's loopback, and of all interfaces, made one.

    An address that a task of this host stands for is that task's.
    """
    address = _stand_ins.get(address, address)
    host, colon, port = address.rpartition(":")
    return f"127.0.0.1:{port}" if colon and host in _HERE else address
