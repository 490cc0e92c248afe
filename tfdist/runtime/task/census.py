"""Taking the census of a task: its records are made when somebody asks, from another thread.

Steps count as they go (`runtime.step.counters`); all else is read off what is there. No lock is
held longer than it takes to look at one queue.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator

from tfdist.base.aliases import TaskResource
from tfdist.runtime.resources.inplace_values import InplaceValue
from tfdist.runtime.resources.locked_resource import LockedResource, StateMachine
from tfdist.runtime.resources.staging import size_of
from tfdist.runtime.resources.wait_info import ResourceInfo
from tfdist.runtime.step.in_flight import resource_key, resource_status
from tfdist.runtime.step.step import Step
from tfdist.runtime.task.activity import activity_of
from tfdist.runtime.task.masters import SessionMaster, local_masters
from tfdist.runtime.task.peers import LocalTask
from tfdist.tracing.census import Allocation, Census, TaskStatus, Traffic, Waiter, merged
from tfdist.tracing.waits import ResourceStatus

_VARIABLES = {"variable": "variable", "resource variable": "variable"}
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def census_of(task: LocalTask, holdings: bool = False) -> Census:
    """Return what a task (`runtime.task.task.Task`) of this process tells of itself.

    Args:
      task: the task.
      holdings: whether its variables and other resources are told one by one.
    """
    steps = _steps_on(task)
    state = _State(task, _waiting(steps))
    state.look()
    return merged(
        [
            Census(
                (_task_now(task, state, len(steps)),),
                tuple(state.stocks),
                tuple(state.waiters),
                tuple(_traffic(task)),
                tuple(state.holdings if holdings else ()),
            )
        ]
    )


def _steps_on(task: LocalTask) -> list[Step]:
    """Return the steps in flight that the task takes part in."""
    counters = task.worker.counters
    ours = (step for master in local_masters() for step in master_steps(master))
    there = [step for step in ours if any(r.task.counters is counters for r in list(step.runs))]
    return [*there, *task.worker.steps()]


def master_steps(master: SessionMaster) -> Iterable[Step]:
    """Return the steps in flight of a master, none if that is in another process."""
    return master.steps() if hasattr(master, "steps") else ()


def _waiting(steps: Iterable[Step]) -> dict[int, tuple[str, float]]:
    """Return the name of each node that waits, and since when, by the identity of its wait."""
    return {
        id(each.wait): (each.node.name, since)
        for step in steps
        for each, since in dict(step.waiting).items()
    }


def _task_now(task: LocalTask, state: _State, in_flight: int) -> TaskStatus:
    worker = task.worker
    activity = activity_of(worker.counters)
    return TaskStatus(
        task.name,
        worker.devices[0].incarnation,
        tuple(each.name.partition("/device:")[2].lower() for each in worker.devices),
        os.getpid(),
        process_bytes(),
        state.variables,
        state.variable_bytes,
        state.resource_bytes,
        len(worker.states()) - 1,
        max(worker.counters.steps - in_flight, 0),
        in_flight,
        time.monotonic(),
        time.process_time(),
        *activity,
    )


def process_bytes() -> int:
    """Return the memory that this process has now, 0 where that is not told."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * _PAGE
    except OSError:
        return 0


def _traffic(task: LocalTask) -> Iterator[Traffic]:
    for target, (tensors, nbytes) in list(task.worker.counters.sent.items()):
        if target != task.name:  # one of its devices to another one
            yield Traffic(task.name, target, tensors, nbytes)


class _State:
    """What a task keeps, looked through once."""

    def __init__(self, task: LocalTask, waiting: dict[int, tuple[str, float]]) -> None:
        self._task, self._waiting = task, waiting
        self._now = time.monotonic()
        self.stocks: list[ResourceStatus] = []
        self.waiters: list[Waiter] = []
        self.holdings: list[Allocation] = []
        self.variables = self.variable_bytes = self.resource_bytes = 0

    def look(self) -> None:
        """Look through the task's state, and that of sessions that have their own."""
        owners = {prefix: handle for handle, _, prefix in self._task.worker.states() if prefix}
        seen = set()
        for handle, resources, _ in self._task.worker.states():
            if id(resources) not in seen:
                seen.add(id(resources))
                for container, kind, name, found in resources.items():
                    owner, name = _owned(name, owners) or (handle, name)
                    self._take(container, kind, (owner, name), found)

    def _take(self, container: str, kind: str, owned: tuple[str, str], found: TaskResource) -> None:
        owner, name = owned
        nbytes, about = 0, ""
        if isinstance(found, InplaceValue):
            nbytes, about = _of_variable(found)
            self.variables += bool(about)
            self.variable_bytes += nbytes
        elif isinstance(found, LockedResource):
            key = resource_key(self._task.name, container, kind, owner, name)
            nbytes = self._take_stock(key, found)
            self.resource_bytes += nbytes
        named = _VARIABLES.get(kind, kind)
        shown = "" if container == "localhost" else container
        self.holdings.append(Allocation(self._task.name, named, name, nbytes, about, shown))

    def _take_stock(self, key: str, found: LockedResource[StateMachine]) -> int:
        info, element = _looked_at(found)
        self.stocks.append(resource_status(key, self._task.name, info))
        for needs, line in (("room", info.producers), ("elements", info.consumers)):
            for who, missing in line:
                node, since = self._waiting.get(id(who), ("", self._now))
                seconds = self._now - since
                self.waiters.append(Waiter(key, node, self._task.name, needs, missing, seconds))
        return element


def _owned(name: str, owners: dict[str, str]) -> tuple[str, str] | None:
    """Return the handle of the session whose own a resource is, and the name without its mark."""
    if name.startswith("_"):
        prefix = f"_{name[1:].partition('_')[0]}_"
        if prefix in owners:
            return owners[prefix], name.removeprefix(prefix)
    return None


def _of_variable(kept: InplaceValue) -> tuple[int, str]:
    """Return the bytes of a variable's value, and what it is; (0, "") if there is none."""
    value = kept.value
    if value is None:
        value = kept.taken  # an update has it out
    if value is None:
        return 0, ""
    shape = ",".join(map(str, getattr(value, "shape", ())))
    return getattr(value, "nbytes", 0), f"{getattr(value, 'dtype', 'string')}[{shape}]"


def _looked_at(found: LockedResource[StateMachine]) -> tuple[ResourceInfo, int]:
    """Return the info of a queue or the like, and about how many bytes are in it."""
    with found.lock:
        info: ResourceInfo = found.state.info()
        return info, _bytes_in(found.state, info)


def _bytes_in(state: StateMachine, info: ResourceInfo) -> int:
    if hasattr(state, "memory"):  # a staging area
        return int(state.memory)
    elements = getattr(state, "elements", None)
    if not info.fill or elements is None or "Priority" in info.kind:  # which sorts to be read
        return 0
    return info.fill * size_of(next(iter(elements)))
