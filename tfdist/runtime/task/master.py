"""The master of a task: opens sessions over its cluster and runs their steps.

The shell of `cluster.master`: holds the lock and the state, carries out instructions, and keeps
what a step needs at hand, so that a step whose signature is known costs no planning.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable, Hashable

from tfdist.base.aliases import TensorValue
from tfdist.cluster import master as machine
from tfdist.cluster.device_filters import session_tasks
from tfdist.cluster.master import MasterState, SessionState
from tfdist.cluster.propagation import cluster_for_master
from tfdist.cluster.spec import ClusterSpec
from tfdist.errors import OpError
from tfdist.graph.functions import NO_FUNCTIONS, Library
from tfdist.graph.records import Node
from tfdist.plan.place import rank
from tfdist.plan.place_reasons import Placement
from tfdist.plan.step_plan import Signature, StepPlan, output_types
from tfdist.runtime.devices.kernel_threads import tuner_for
from tfdist.runtime.devices.local_devices import Device
from tfdist.runtime.step.async_driver import Runner, drive_async
from tfdist.runtime.step.driver import drive
from tfdist.runtime.step.in_flight import report_of_graph, report_of_step
from tfdist.runtime.step.parallel import is_light, is_usual
from tfdist.runtime.step.peers import OwnPeers, Peers
from tfdist.runtime.step.requests import PreparedStep, SessionOptions, StepResult
from tfdist.runtime.step.run import Run
from tfdist.runtime.step.snapshot import Snapshot
from tfdist.runtime.step.step import Step
from tfdist.runtime.step.step_results import outcome_of, result_of
from tfdist.runtime.step.unit_costs import UnitCost
from tfdist.runtime.task.addresses import normal_address
from tfdist.runtime.task.masters import list_master
from tfdist.runtime.task.partial_runs import PartialRuns
from tfdist.tracing import calls
from tfdist.tracing.census import Census
from tfdist.tracing.census import merged as census_union
from tfdist.tracing.waits import Report, merged


class Master:
    """Sessions over the tasks of a cluster.

    Args:
      task: name of the task that this master belongs to.
      tasks: names of all tasks of the cluster.
      peers: reaches them, this one included.
    """

    def __init__(self, task: str, tasks: tuple[str, ...], peers: OwnPeers) -> None:
        self.task, self.peers = task, peers
        self._tasks = tasks
        self._state = MasterState()
        self._lock = threading.Lock()
        self._prepared: dict[str, dict[Signature, PreparedStep]] = {}
        self._active: dict[str, dict[int, Step]] = {}
        self._devices: dict[str, list[Device]] = {}
        self._own_peers: dict[str, Peers] = {}  # of sessions that have clusters of their own
        self._closing = 0  # how many sessions are being closed
        self._step_ids = itertools.count(int.from_bytes(os.urandom(8)) >> 9)
        self.partial_runs = PartialRuns(self)
        list_master(self)

    def create_session(self, options: SessionOptions) -> str:
        """Open a session; returns its handle.

        Raises:
          UnavailableError: a task that the session spans is not there.
        """
        peers: Peers = self.peers
        names: tuple[str, ...] = (self.task, *self._tasks)
        if options.cluster is not None:
            peers, names = self._in_cluster(options.cluster)
        tasks = session_tasks(names, options.device_filters)
        try:
            devices = peers.devices(tasks, options.timeout)
        except BaseException:
            if peers is not self.peers:
                peers.close()
            raise
        session = self._new_session(tasks, devices, options)
        self._prepared[session.handle], self._active[session.handle] = {}, {}
        order = {task: place for place, task in enumerate(names[1:])}
        self._devices[session.handle] = sorted(devices, key=lambda d: order[d.spec.task_name])
        if options.cluster is not None:
            self._own_peers[session.handle] = peers
        try:
            self._handle(machine.SessionRequested(session))
            self.check_session(session.handle)
        except BaseException:  # a reset may have ended it before its tasks had opened it
            self.close_session(session.handle)
            for task in tasks:
                self._close_worker_session(task, session.handle)
            raise
        return session.handle

    def _in_cluster(self, cluster: ClusterSpec) -> tuple[Peers, tuple[str, ...]]:
        """Return the peers in a session's own cluster, and the tasks' names, this one's first."""
        found = cluster_for_master(
            cluster, self.task, self.peers.addresses[self.task], normal_address
        )
        return self.peers.renamed(found), (found.own, *found.addresses)

    def _new_session(
        self, tasks: tuple[str, ...], devices: list[Device], options: SessionOptions
    ) -> SessionState:
        own = next(device.name for device in devices if device.name.startswith(f"{tasks[0]}/"))
        first = tasks[0] if options.default_device == "master" else None
        return SessionState(
            handle=os.urandom(8).hex(),
            tasks=tasks,
            devices=tuple(rank([device.spec for device in devices], first)),
            client_device=own,
            incarnations={device.name: device.incarnation for device in devices},
            soft_placement=options.soft_placement,
            isolated=options.isolated or options.cluster is not None,
            as_bfloat16=options.as_bfloat16,
        )

    def extend_session(
        self,
        handle: str,
        nodes: tuple[Node, ...],
        version: int,
        is_foreign: bool = False,
        library: Library = NO_FUNCTIONS,
    ) -> int:
        """Add nodes to a session's graph; returns the new version.

        Args:
          handle: of the session.
          nodes: in any order.
          version: of the graph so far.
          is_foreign: whether they come from another process, and have to be checked.
          library: the functions that they call.

        Raises:
          AbortedError: the session is gone, or `version` is not its graph's.
          InvalidArgumentError: a node's name is taken, its input missing, or it cannot be run.
        """
        self._handle(machine.GraphExtended(handle, nodes, version, is_foreign, library))
        return self._state.session(handle).version

    def placement(self, handle: str) -> dict[str, Placement]:
        """Return the device of each node of a session's graph, and why."""
        return dict(self._state.session(handle).placement)

    def unit_costs(self, handle: str) -> list[UnitCost]:
        """Return what units of a session's steps took lately, on all its tasks."""
        peers = self._peers_of(handle)
        tasks = dict.fromkeys(device.spec.task_name for device in self.devices(handle))
        return [cost for task in tasks for cost in peers.unit_costs(task, handle)]

    def devices(self, handle: str) -> list[Device]:
        """Return the devices that a session spans (`devices.Device`), by job and task."""
        devices = self._devices.get(handle, [])
        self.check_session(handle)
        return list(devices)

    def session(self, handle: str) -> SessionState:
        """Return an open session; AbortedError if it is not."""
        return self._state.session(handle)

    def has_session(self, handle: str) -> bool:
        """Return whether a session is open."""
        return handle in self._state.sessions

    def is_running(self, handle: str) -> bool:
        """Return whether a step of a session runs."""
        return bool(self._active.get(handle))

    def check_session(self, handle: str) -> None:
        """Raise AbortedError if the session is not open."""
        self._state.session(handle)

    def is_prepared(self, handle: str, signature: Signature) -> bool:
        """Return whether `prepare` would return at once."""
        return signature in self._prepared.get(handle, {})

    def prepare(self, handle: str, signature: Signature) -> PreparedStep:
        """Return the step of `signature`, planned and registered on its tasks.

        Raises:
          AbortedError: the session is gone.
          OpError: there is no such step, as when a node has no device.
        """
        known = self._prepared.get(handle, {})
        session = self._state.session(handle)
        if signature not in known:
            known[signature] = self.register(session, session.plan(signature))
        return known[signature]

    def register(self, session: SessionState, plan: StepPlan) -> PreparedStep:
        """Register a plan on its tasks."""
        peers = self._peers_of(session.handle)
        called = time.time_ns()
        names = peers.register(
            session.handle,
            plan.partitions,
            lambda task: calls.note(session.handle, "RegisterGraph", task, called),
        )
        nodes = [node for part in plan.partitions for node in part.nodes]
        return PreparedStep(
            session.handle,
            tuple(zip((part.task for part in plan.partitions), names, strict=True)),
            plan,
            peers,
            keeps_feeds=any(node.op_def.keeps_inputs for node in nodes),
            tuner=tuner_for(nodes),
            feed_types=tuple(
                output_types(session.nodes[name])[port].base_dtype
                for name, port in plan.signature.feeds
            ),
        )

    def run_step(
        self,
        prepared: PreparedStep,
        feeds: list[TensorValue],
        timeout: float | None,
        traced: bool,
        again: Callable[[], bool] | None = None,
    ) -> StepResult:
        """Run a step on the calling thread.

        Args:
          prepared: what `prepare` returned.
          feeds: values in the order of the signature's feeds.
          timeout: seconds, None for no limit.
          traced: whether to note every node.
          again: asked after a step that did not have to wait, whether to run the next one at once.

        Raises:
          OpError: what a kernel raised, or why the step was stopped.
          KeyboardInterrupt: Ctrl-C; nothing that the step waited for is lost.
        """
        step, runs = self._begin(prepared, timeout, traced)
        if again is not None and len(prepared.parts) == 1:  # several would not repeat together
            step.again = again
        try:
            self._start(prepared, step, feeds, runs)
            interruptible = len(runs) < len(prepared.parts) or any(
                run.program.is_stateful or run.program.can_block for run in runs
            )
            drive(step, interruptible, prepared.tuner)
            return result_of(step, runs)
        finally:
            self._finish(prepared, step, runs)

    def run_step_async(
        self,
        prepared: PreparedStep,
        feeds: list[TensorValue],
        timeout: float | None,
        traced: bool,
        runner: Runner,
        ended: Callable[[StepResult | BaseException], None],
        begun: Callable[[Step], None] | None = None,
    ) -> Step:
        """Run a step without a thread that waits for it.

        Args:
          prepared: what `prepare` returned.
          feeds: values in the order of the signature's feeds.
          timeout: seconds, None for no limit.
          traced: whether to note every node.
          runner: resumes the step when something it waits for is there.
          ended: called once, on some thread, with a StepResult or an error; the values are the
            step's own: to be read only.
          begun: called with the step before anything of it runs.

        Returns:
          The step, which `abort` ends.

        Raises:
          OpError: the step could not be started.
        """
        step, runs = self._begin(prepared, timeout, traced)

        def conclude(error: BaseException | None) -> None:
            try:
                ended(error or outcome_of(step, runs))
            finally:
                self._finish(prepared, step, runs)

        try:
            if begun is not None:
                begun(step)
            self._start(prepared, step, feeds, runs)
        except BaseException:
            self._finish(prepared, step, runs)
            raise
        is_small = not feeds or not runs or is_usual(runs[0].program, feeds)
        light = is_small and all(is_light(run.program) for run in runs)
        drive_async(step, runner, conclude, light, prepared.tuner)
        return step

    def _begin(
        self, prepared: PreparedStep, timeout: float | None, traced: bool
    ) -> tuple[Step, list[Run]]:
        step = Step(next(self._step_ids), time.time_ns if traced else None, timeout)
        step.signature = prepared.plan.signature
        active = self._active.get(prepared.handle, {})
        active[step.step_id] = step
        try:
            # whoever closes a session ends it first and then its steps: seen open from here, it
            # will find this step
            self._state.session(prepared.handle)
        except BaseException:
            self._forget(prepared, step)
            raise
        return step, []

    def _start(
        self, prepared: PreparedStep, step: Step, feeds: list[TensorValue], runs: list[Run]
    ) -> None:
        try:
            for task, graph in prepared.parts:
                run = prepared.peers.start(task, prepared.handle, graph, step, feeds)
                if run is not None:
                    runs.append(run)
                feeds = []  # they enter at the client's task, which comes first
        except BaseException:
            step.abandon()
            raise

    def _finish(self, prepared: PreparedStep, step: Step, runs: list[Run]) -> None:
        self._forget(prepared, step)
        for run in runs:
            run.drop()
        if len(prepared.parts) > 1:
            self.end_step(prepared, step.step_id)

    def _forget(self, prepared: PreparedStep, step: Step) -> None:
        active = self._active.get(prepared.handle, {})
        active.pop(step.step_id, None)
        if not active and prepared.handle not in self._prepared:  # the session was closed
            self._active.pop(prepared.handle, None)

    def end_step(self, prepared: PreparedStep, step_id: int) -> None:
        """Let the tasks forget a step."""
        for task, _ in prepared.parts:
            called = time.time_ns() if calls.listening else 0
            try:
                prepared.peers.end_step(task, step_id)
            except OpError:
                pass  # a task that is gone has forgotten the step already
            if called:
                calls.note(prepared.handle, calls.CLEANUP, task, called)

    def close_session(self, handle: str) -> None:
        """Close a session; its blocked steps end with CancelledError."""
        self._close(machine.SessionClosed(handle))

    def abandon_session(self, handle: str, why: str) -> None:
        """Close a session whose client is gone; who still asks for it is told `why`."""
        self._close(machine.SessionAbandoned(handle, why))

    def _close(self, event: machine.SessionClosed | machine.SessionAbandoned) -> None:
        with self._lock:
            self._closing += 1
        try:
            self._handle(event)
        finally:
            with self._lock:
                self._closing -= 1

    def reset(self, containers: tuple[str, ...] = ()) -> None:
        """Abort all sessions and clear `containers` (all of them if none is named) everywhere."""
        self._handle(machine.ClusterReset(self._tasks, containers))

    def lose_task(self, task: str, reason: str) -> None:
        """Abort the sessions that span a task which is gone."""
        self._handle(machine.TaskLost(task, reason))
        if task == self.task:  # which has other names in sessions with clusters of their own
            for handle in list(self._own_peers):
                self._handle(machine.TaskLost(self._state.session(handle).tasks[0], reason))

    def steps(self) -> list[Step]:
        """Return the steps that this master runs."""
        return [step for active in list(self._active.values()) for step in list(active.values())]

    def report(self) -> Report:
        """Return what is known in this process of the steps that this master runs."""
        snapshot = Snapshot()
        steps = [
            report_of_step(step, snapshot, handle, self.task)
            for handle, active in list(self._active.items())
            for step in list(active.values())
        ]
        return merged([*steps, *map(report_of_graph, self._state.sessions.values())])

    def report_everywhere(self) -> Report:
        """Return what all tasks of the cluster tell of steps in flight, within a moment."""
        return merged(self.peers.reports(self._tasks))

    def census(self, holdings: bool = False) -> Census:
        """Return what this master's own task tells of itself."""
        return census_union(self.peers.censuses([self.task], holdings))

    def census_everywhere(self, holdings: bool = False) -> Census:
        """Return what all tasks of the cluster tell of themselves, within a moment."""
        return census_union(self.peers.censuses(self._tasks, holdings))

    @property
    def is_open(self) -> bool:
        """Return whether a session is open, or others may open one."""
        return bool(self._state.sessions) or self.peers.addresses != {self.task: ""}

    @property
    def reach(self) -> Hashable:
        """Return who answers `report_everywhere`: the same for the tasks of one cluster."""
        return tuple(sorted(self.peers.addresses.items()))

    @property
    def is_busy(self) -> bool:
        """Return whether a step runs, or a session is being closed."""
        return bool(self._closing) or any(list(self._active.values()))

    def _handle(self, event: machine.Event) -> None:
        with self._lock:
            self._state, instructions = machine.handle(self._state, event)
        for instruction in instructions:
            self._carry_out(instruction)
        for handle in [each for each in self._own_peers if each not in self._state.sessions]:
            peers = self._own_peers.pop(handle, None)
            if peers is not None:
                peers.close()

    def _peers_of(self, handle: str) -> Peers:
        return self._own_peers.get(handle, self.peers)

    def _carry_out(self, instruction: machine.Instruction) -> None:
        match instruction:
            case machine.OpenWorkerSessions(tasks, handle, isolated):
                self._peers_of(handle).open_session(tasks, handle, isolated)
            case machine.CloseWorkerSession(task, handle):
                self._close_worker_session(task, handle)
            case machine.CancelSteps(handle, error):
                self._cancel_steps(handle, error)
            case machine.ClearContainers(task, containers):
                self.peers.clear(task, containers)

    def _close_worker_session(self, task: str, handle: str) -> None:
        try:
            self._peers_of(handle).close_session(task, handle)
        except OpError:
            pass  # a task that is gone has forgotten the session already

    def _cancel_steps(self, handle: str, error: OpError) -> None:
        self._prepared.pop(handle, None)
        self._devices.pop(handle, None)
        active = self._active.get(handle, {})
        for step in list(active.values()):  # which are there until they have ended
            step.abort(type(error)(error.message))
        self.partial_runs.close(handle)
        if not active:
            self._active.pop(handle, None)
