"""What the steps in flight wait for, and what they will do: their records, made when asked for.

Nothing is noted for it while steps run: who asks looks at them from another thread, and what is
seen may have changed when it is told.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Protocol

from tfdist.cluster.master import SessionState
from tfdist.graph.records import Node
from tfdist.plan.compiling.program import NONBLOCKING_PASS
from tfdist.plan.resource_uses import ResourceUse, awaited_by, resource_uses_in, sends_in
from tfdist.plan.step_plan import Signature
from tfdist.runtime.resources.wait_info import ResourceInfo, WaitInfo
from tfdist.runtime.step.continuation import Continuation, Item
from tfdist.runtime.step.held_unit import HeldUnit
from tfdist.runtime.step.remote_part import RemotePart
from tfdist.runtime.step.run import Run
from tfdist.runtime.step.seams import StepState
from tfdist.runtime.step.snapshot import Snapshot, Told
from tfdist.tracing.waits import (
    PendingOp,
    Report,
    ResourceStatus,
    StepStatus,
    Wait,
    key_of,
    merged,
    tensor_key,
)

_UNNAMED = WaitInfo("other")
_OWN = ("queue", "accumulator", "barrier")  # a session's own, if nobody gave it a name
_DEFAULT_CONTAINER = "localhost"


class StepInFlight(StepState, Protocol):
    """What is looked at of a step (`step.Step`)."""

    signature: Signature | None
    timeout: float | None
    began: float
    runs: list[Run]
    waiting: dict[Continuation | HeldUnit, float]
    in_nonblocking_pass: Run | None


def report_of_step(
    step: StepInFlight, snapshot: Snapshot, session: str = "", master: str = ""
) -> Report:
    """Return what a step does in this process.

    Args:
      step: the step.
      snapshot: of all steps that are told of together.
      session: handle of its session.
      master: task whose master runs it; "" if that is in another process.
    """
    runs = list(step.runs)
    computed = snapshot.computing(step)
    busy = {task for _, task in computed}
    parts = [_Part(step, run, run.task.name in busy, snapshot).report() for run in runs]
    handles = [session, *(run.task.handle_of(run.session) for run in runs)]
    now = StepStatus(
        step.step_id,
        next(filter(None, handles), ""),
        master,
        () if step.signature is None else (*step.signature.fetch_names, *step.signature.targets),
        time.monotonic() - step.began,
        step.timeout or 0.0,
        tuple(f"{node.name} on {task}" for node, task in computed),
    )
    return merged([Report((now,)), *parts])


def waits_of_step(step: StepInFlight) -> list[Wait]:
    """Return what waits for a step in this process; what came just now cannot say it yet."""
    snapshot = Snapshot()
    waits = [wait for run in list(step.runs) for wait in _Part(step, run, False, snapshot).waits()]
    return list({wait.place: wait for wait in waits if wait.text}.values())


def report_of_graph(session: SessionState) -> Report:
    """Return which nodes of a session's graph (`cluster.master`) could end waits if they ran."""
    return Report(deeds=tuple(_pending_ops_of_graph(session)))


def _pending_ops_of_graph(session: SessionState) -> Iterator[PendingOp]:
    for use in resource_uses_in(session.nodes):
        placed = session.placement.get(use.node.name)
        if placed is None or not placed.device:
            continue
        task = _task_of(placed.device)
        key = _key(task, use, session.handle, session.isolated)
        for what in use.gives:
            yield PendingOp(key_of(what, key), use.node.name, use.node.op, task, 0, session.handle)


def _task_of(device: str) -> str:
    return device.partition("/device:")[0]


def _key(task: str, use: ResourceUse, session: str, isolated: bool) -> str:
    """Return the key of what a node fills or empties, as it is named before it is there."""
    attrs = use.maker.attrs
    name = attrs["shared_name"].decode() or use.maker.name
    is_own = isolated or (use.kind in _OWN and not attrs["shared_name"])
    return resource_key(
        task, attrs["container"].decode(), use.kind, session if is_own else "", name
    )


def resource_key(task: str, container: str, kind: str, session: str, name: str) -> str:
    """Return the key of a `ResourceStatus`; `session` owns it, if it is not ""."""
    return " ".join(filter(None, [task, container or _DEFAULT_CONTAINER, kind, session, name]))


def resource_status(key: str, task: str, info: ResourceInfo) -> ResourceStatus:
    """Return the record of a queue or the like, from what it tells."""
    return ResourceStatus(
        key,
        info.kind,
        info.name,
        task,
        info.fill,
        info.capacity,
        info.container,
        info.min_after_dequeue,
        info.closed,
        len(info.producers),
        len(info.consumers),
    )


class _Part:
    """What one task of this process does in a step; it may be busy computing now."""

    def __init__(self, step: StepInFlight, run: Run, is_busy: bool, snapshot: Snapshot) -> None:
        self._step, self._run, self._is_busy, self._glance = step, run, is_busy, snapshot
        self._task: str = run.task.name
        self._session: str = run.task.handle_of(run.session)
        self._nodes: Mapping[str, Node] = {
            each.name: each for each in run.session.nodes_of(run.program)
        }
        waiting: dict[Continuation | HeldUnit, float] = dict(step.waiting)
        self._waiting = {
            each.node.name: (each, since)
            for each, since in waiting.items()
            if each.run.task is run.task
        }
        self._ready = {name for item in list(step.ready) for name in _names_of(item)}
        if step.in_nonblocking_pass is run:
            self._ready.update(self._nodes)

    def waits(self) -> list[Wait]:
        """Return the records of what waits."""
        return [self._wait(node, since)[0] for node, since in self._waiting.values()]

    def report(self) -> Report:
        """Return the records."""
        told = [self._wait(node, since) for node, since in self._waiting.values()]
        stocks = {stock.key: stock for _, stock in told if stock is not None}
        waits = tuple(wait for wait, _ in told)
        return Report((), waits, tuple(stocks.values()), tuple(self._pending_ops()))

    def _wait(
        self, continuation: Continuation | HeldUnit, since: float
    ) -> tuple[Wait, ResourceStatus | None]:
        node, wait = continuation.node, continuation.wait
        info: WaitInfo = _UNNAMED if wait is None else self._glance.wait(wait)  # None: just now
        stock = None if info.resource is None else self._stock(info.resource)
        needs = key_of(info.needs, stock.key) if stock is not None and info.needs else ""
        record = Wait(
            self._step.step_id,
            self._task,
            node.name,
            node.op,
            node.device,
            info.kind,
            "" if wait is None else wait.describe(),
            time.monotonic() - since,
            needs or (tensor_key(self._step.step_id, info.tensor) if info.tensor else ""),
            info.missing,
            "" if stock is None else stock.key,
            info.tensor,
            info.source,
        )
        return record, stock

    def _stock(self, resource: Told) -> ResourceStatus:
        info = self._glance.info(resource)
        return resource_status(self._key_of(resource, info), self._task, info)

    def _key_of(self, resource: Told, info: ResourceInfo) -> str:
        session = self._run.session
        own = session.own_prefix
        found = self._glance.place(resource, session.resources)
        if found is None:
            return f"{self._task} {info.name} {id(resource)}"  # its container was cleared
        container, kind, name = found
        owner = self._session if name.startswith(own) or self._is_isolated else ""
        return resource_key(self._task, container, kind, owner, name.removeprefix(own))

    @property
    def _is_isolated(self) -> bool:
        return self._run.session.resources is not self._run.task.resources

    def _pending_ops(self) -> Iterator[PendingOp]:
        for use in resource_uses_in(self._nodes):
            key = _key(self._task, use, self._session, self._is_isolated)
            for what in use.gives:
                yield from self._pending_op(use.node, key_of(what, key))
        for node, tensor in sends_in(self._nodes):
            yield from self._pending_op(node, tensor_key(self._step.step_id, tensor))

    def _pending_op(self, node: Node, gives: str) -> Iterator[PendingOp]:
        if not self._has_ended(node.name):
            behind = awaited_by(self._nodes, node.name, self._waiting)
            step = self._step.step_id
            yield PendingOp(gives, node.name, node.op, self._task, step, self._session, behind)

    def _has_ended(self, name: str) -> bool:
        """Return whether a node has run, which is not said of what may run just now.

        Of what is inside of loops it is never said.
        """
        if name in self._waiting or name in self._ready:
            return False
        program, pending = self._run.program, self._run.pending
        return any(
            not pending[unit]
            and (program.waits[unit] or not self._is_busy)
            and any(node.name == name for node in nodes)
            for unit, nodes in enumerate(program.nodes)
        )


def _names_of(item: Item) -> Iterator[str]:
    """Yield the names of the nodes that an item of a step's ready list stands for."""
    if not isinstance(item, RemotePart):
        run, unit = item if isinstance(item, tuple) else (item.run, item.unit)
        units = (
            run.program.nodes if unit == NONBLOCKING_PASS else run.program.nodes[unit : unit + 1]
        )
        yield from (node.name for nodes in units for node in nodes)
