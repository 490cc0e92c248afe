"""The master of a task: runs steps of the sessions over its cluster.

It keeps what a step needs at hand, so that a step whose signature is known costs no planning.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable

from tfdist.base.aliases import TensorValue
from tfdist.cluster.master import SessionState
from tfdist.errors import OpError
from tfdist.plan.step_plan import Signature, StepPlan, output_types
from tfdist.runtime.devices.kernel_threads import tuner_for
from tfdist.runtime.step.async_driver import Runner, drive_async
from tfdist.runtime.step.driver import drive
from tfdist.runtime.step.in_flight import report_of_graph, report_of_step
from tfdist.runtime.step.parallel import is_light, is_usual
from tfdist.runtime.step.peers import OwnPeers
from tfdist.runtime.step.requests import PreparedStep, StepResult
from tfdist.runtime.step.run import Run
from tfdist.runtime.step.snapshot import Snapshot
from tfdist.runtime.step.step import Step
from tfdist.runtime.step.step_results import outcome_of, result_of
from tfdist.runtime.step.unit_costs import UnitCost
from tfdist.runtime.task.master_sessions import MasterSessions
from tfdist.runtime.task.masters import list_master
from tfdist.runtime.task.partial_runs import PartialRuns
from tfdist.tracing import calls
from tfdist.tracing.census import Census
from tfdist.tracing.census import merged as census_union
from tfdist.tracing.waits import Report, merged


class Master(MasterSessions):
    """Runs the steps of sessions over the tasks of a cluster.

    Args:
      task: name of the task that this master belongs to.
      tasks: names of all tasks of the cluster.
      peers: reaches them, this one included.
    """

    def __init__(self, task: str, tasks: tuple[str, ...], peers: OwnPeers) -> None:
        super().__init__(task, tasks, peers)
        self._prepared: dict[str, dict[Signature, PreparedStep]] = {}
        self._active: dict[str, dict[int, Step]] = {}
        self._step_ids = itertools.count(int.from_bytes(os.urandom(8)) >> 9)
        self.partial_runs = PartialRuns(self)
        list_master(self)

    def unit_costs(self, handle: str) -> list[UnitCost]:
        """Return what units of a session's steps took lately, on all its tasks."""
        peers = self._peers_of(handle)
        tasks = dict.fromkeys(device.spec.task_name for device in self.devices(handle))
        return [cost for task in tasks for cost in peers.unit_costs(task, handle)]

    def is_running(self, handle: str) -> bool:
        """Return whether a step of a session runs."""
        return bool(self._active.get(handle))

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
    def is_busy(self) -> bool:
        """Return whether a step runs, or a session is being closed."""
        return bool(self._closing) or any(list(self._active.values()))

    def _begin_session(self, handle: str) -> None:
        self._prepared[handle], self._active[handle] = {}, {}

    def _cancel_steps(self, handle: str, error: OpError) -> None:
        self._prepared.pop(handle, None)
        active = self._active.get(handle, {})
        for step in list(active.values()):  # which are there until they have ended
            step.abort(type(error)(error.message))
        self.partial_runs.close(handle)
        if not active:
            self._active.pop(handle, None)
