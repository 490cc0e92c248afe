"""The master of a task: opens sessions over its cluster and runs their steps.

The shell of `cluster.master`: holds the lock and the state, carries out instructions, and keeps
what a step needs at hand, so that a step whose signature is known costs no planning.
"""

from __future__ import annotations

import itertools
import random
import threading
import time
import weakref
from typing import Any, NamedTuple

import numpy as np

from tfdist.base.devices import DeviceSpec
from tfdist.cluster import master as machine
from tfdist.cluster.master import MasterState, SessionState
from tfdist.errors import OpError
from tfdist.graph.records import Node
from tfdist.plan.partition import Signature, StepPlan
from tfdist.plan.place import Placement, rank
from tfdist.runtime import blas
from tfdist.runtime.blas import ThreadTuner
from tfdist.runtime.resources import Variable
from tfdist.runtime.run import Run
from tfdist.runtime.step import Step


class SessionOptions(NamedTuple):
    """What a session asks of its master.

    Attributes:
      soft_placement: `ConfigProto.allow_soft_placement`.
      default_device: "cluster" puts unpinned nodes on the cluster's first task, "master" on the
        master's own.
      device_filters: tasks that the session spans ("/job:ps", ...); all if empty.
    """

    soft_placement: bool = False
    default_device: str = "cluster"
    device_filters: tuple[str, ...] = ()


class NodeTrace(NamedTuple):
    """One node's run in a traced step; times in nanoseconds since the epoch.

    `node` is None for the beginning of a partition on `device`; `result` describes what the node
    gave, as `descriptions.describe` does.
    """

    device: str
    node: Node | None
    start: int
    end: int
    result: Any


class StepResult(NamedTuple):
    """What a step gives: fetched values in the signature's order, and a trace if asked for."""

    values: list[Any]
    trace: list[NodeTrace]


class PreparedStep(NamedTuple):
    """A step that is planned and registered.

    Attributes:
      handle: of the session.
      parts: (task, name of the registered partition), the client's task first.
      plan: what each task does.
      keeps_feeds: whether a kernel may hold on to an array that it is given.
      tuner: chooses the number of threads; None if no kernel takes several.
    """

    handle: str
    parts: tuple[tuple[str, str], ...]
    plan: StepPlan
    keeps_feeds: bool
    tuner: ThreadTuner | None


_masters: weakref.WeakSet[Master] = weakref.WeakSet()
_masters_lock = threading.Lock()


def waiting_now() -> list[tuple[Node, str]]:
    """Return the nodes of all running steps of this process that wait, each with what for."""
    with _masters_lock:
        masters = list(_masters)
    return [each for master in masters for each in master.waits()]


class Master:
    """Sessions over the tasks of a cluster.

    Args:
      task: name of the task that this master belongs to.
      tasks: names of all tasks of the cluster.
      peers: reaches them, this one included.
    """

    def __init__(self, task: str, tasks: tuple[str, ...], peers: Any) -> None:
        self.task = task
        self._tasks = tasks
        self._peers = peers
        self._state = MasterState()
        self._lock = threading.Lock()
        self._prepared: dict[str, dict[Signature, PreparedStep]] = {}
        self._active: dict[str, dict[int, Step]] = {}
        self._step_ids = itertools.count(random.getrandbits(55))
        with _masters_lock:
            _masters.add(self)

    def create_session(self, options: SessionOptions) -> str:
        """Open a session; returns its handle.

        Raises:
          UnavailableError: a task that the session spans is not there.
        """
        tasks = self._session_tasks(options.device_filters)
        devices = [device for task in tasks for device in self._peers.devices(task)]
        own = next(device.name for device in devices if device.name.startswith(f"{self.task}/"))
        first = self.task if options.default_device == "master" else None
        session = SessionState(
            handle=f"{random.getrandbits(64):016x}",
            tasks=tasks,
            devices=tuple(rank([device.spec for device in devices], first)),
            client_device=own,
            incarnations={device.name: device.incarnation for device in devices},
            soft_placement=options.soft_placement,
        )
        self._prepared[session.handle], self._active[session.handle] = {}, {}
        self._handle(machine.SessionRequested(session))
        return session.handle

    def _session_tasks(self, filters: tuple[str, ...]) -> tuple[str, ...]:
        wanted = [DeviceSpec.from_string(text) for text in filters]
        others = [
            task
            for task in self._tasks
            if task != self.task
            and (not wanted or any(w.matches(DeviceSpec.from_string(task)) for w in wanted))
        ]
        return (self.task, *others)

    def extend_session(self, handle: str, nodes: tuple[Node, ...], version: int) -> int:
        """Add nodes to a session's graph; returns the new version.

        Raises:
          AbortedError: the session is gone, or `version` is not its graph's.
          InvalidArgumentError: a node's name is taken, or its input missing.
        """
        self._handle(machine.GraphExtended(handle, nodes, version))
        return self._state.session(handle).version

    def placement(self, handle: str) -> dict[str, Placement]:
        """Return the device of each node of a session's graph, and why."""
        return dict(self._state.session(handle).placement)

    def devices(self, handle: str) -> list[Any]:
        """Return the devices that a session spans (`devices.Device`), by job and task."""
        spanned = self._state.session(handle).tasks
        tasks = [task for task in self._tasks if task in spanned]
        return [device for task in tasks for device in self._peers.devices(task)]

    def prepare(self, handle: str, signature: Signature) -> PreparedStep:
        """Return the step of `signature`, planned and registered on its tasks.

        Raises:
          AbortedError: the session is gone.
          OpError: there is no such step, as when a node has no device.
        """
        known = self._prepared.get(handle, {})
        session = self._state.session(handle)
        if signature not in known:
            plan = session.plan(signature)
            parts = tuple(
                (part.task, self._peers.register(part.task, handle, part))
                for part in plan.partitions
            )
            ops = {node.op_def for part in plan.partitions for node in part.nodes}
            known[signature] = PreparedStep(
                handle,
                parts,
                plan,
                keeps_feeds=any(op_def.keeps_inputs for op_def in ops),
                tuner=ThreadTuner() if any(op_def.takes_threads for op_def in ops) else None,
            )
        return known[signature]

    def run_step(
        self, prepared: PreparedStep, feeds: list[Any], timeout: float | None, traced: bool
    ) -> StepResult:
        """Run a step on the calling thread.

        Args:
          prepared: what `prepare` returned.
          feeds: values in the order of the signature's feeds.
          timeout: seconds, None for no limit.
          traced: whether to note every node.

        Raises:
          OpError: what a kernel raised, or why the step was stopped.
          KeyboardInterrupt: Ctrl-C; nothing that the step waited for is lost.
        """
        step = Step(next(self._step_ids), time.time_ns if traced else None, timeout)
        active = self._begin(prepared.handle, step)
        runs: list[Run] = []
        try:
            self._start(prepared, step, feeds, runs)
            interruptible = any(r.program.is_stateful or r.program.can_block for r in runs)
            with np.errstate(all="ignore"):
                if prepared.tuner is None:
                    step.drive(interruptible)
                else:
                    _drive_tuned(step, interruptible, prepared.tuner)
            values = runs[0].fetch(Variable.read)
        finally:
            active.pop(step.step_id, None)
            for run in runs:
                run.values.clear()  # a run stands in its own values: dead arrays would stay
            if len(prepared.parts) > 1:
                self._end_step(prepared, step.step_id)
        return StepResult(values, _trace(runs) if traced else [])

    def _begin(self, handle: str, step: Step) -> dict[int, Step]:
        active = self._active.get(handle, {})
        active[step.step_id] = step
        # whoever closes a session ends it first and then its steps: seen open from here, it will
        # find this step
        self._state.session(handle)
        return active

    def _start(self, prepared: PreparedStep, step: Step, feeds: list[Any], runs: list[Run]) -> None:
        for task, graph in prepared.parts:
            runs.append(self._peers.start(task, prepared.handle, graph, step, feeds))
            feeds = []  # they enter at the client's task, which comes first

    def _end_step(self, prepared: PreparedStep, step_id: int) -> None:
        for task, _ in prepared.parts:
            try:
                self._peers.end_step(task, step_id)
            except OpError:
                pass  # a task that is gone has forgotten the step already

    def close_session(self, handle: str) -> None:
        """Close a session; its blocked steps end with CancelledError."""
        self._handle(machine.SessionClosed(handle))

    def reset(self, containers: tuple[str, ...] = ()) -> None:
        """Abort all sessions and clear `containers` (all of them if none is named) everywhere."""
        self._handle(machine.ClusterReset(self._tasks, containers))

    def lose_task(self, task: str, reason: str) -> None:
        """Abort the sessions that span a task which is gone."""
        self._handle(machine.TaskLost(task, reason))

    def waits(self) -> list[tuple[Node, str]]:
        """Return the nodes of all running steps that wait now, each with what for."""
        steps = [step for active in list(self._active.values()) for step in list(active.values())]
        return [each for step in steps for each in step.waits()]

    def wait_idle(self, seconds: float) -> bool:
        """Wait until no step runs, `seconds` at most; returns whether none does."""
        deadline = time.monotonic() + seconds
        while any(list(self._active.values())) and time.monotonic() < deadline:
            time.sleep(0.005)
        return not any(list(self._active.values()))

    def _handle(self, event: Any) -> None:
        with self._lock:
            self._state, instructions = machine.handle(self._state, event)
        for instruction in instructions:
            self._carry_out(instruction)

    def _carry_out(self, instruction: machine.Instruction) -> None:
        match instruction:
            case machine.OpenWorkerSession(task, handle):
                self._peers.open_session(task, handle)
            case machine.CloseWorkerSession(task, handle):
                self._close_worker_session(task, handle)
            case machine.CancelSteps(handle, error):
                self._cancel_steps(handle, error)
            case machine.ClearContainers(task, containers):
                self._peers.clear(task, containers)

    def _close_worker_session(self, task: str, handle: str) -> None:
        try:
            self._peers.close_session(task, handle)
        except OpError:
            pass  # a task that is gone has forgotten the session already

    def _cancel_steps(self, handle: str, error: OpError) -> None:
        self._prepared.pop(handle, None)
        for step in list(self._active.pop(handle, {}).values()):
            step.abort(type(error)(error.message))


def _drive_tuned(step: Step, interruptible: bool, tuner: ThreadTuner) -> None:
    single = tuner.choose()
    start = time.perf_counter()
    with blas.threads(single):
        step.drive(interruptible)
    if not step.slept:  # waiting for others says nothing about threads
        tuner.record(single, time.perf_counter() - start)


def _trace(runs: list[Run]) -> list[NodeTrace]:
    """Return the notes of all runs, each partition's beginning told of each of its devices."""
    found = []
    for run in runs:
        for node, start, end, result in run.notes:
            if node is None:
                names = dict.fromkeys(n.device for nodes in run.program.nodes for n in nodes)
                found += [NodeTrace(name, None, start, end, None) for name in names]
            else:
                found.append(NodeTrace(node.device, node, start, end, result))
    return found
