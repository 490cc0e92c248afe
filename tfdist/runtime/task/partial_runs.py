"""The partial runs of a master: found by their handles, until they or their session end."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Protocol

from tfdist.base.aliases import TensorValue
from tfdist.cluster.master import SessionState
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import Wait
from tfdist.plan.partial import ClientRendezvous, partial_plan
from tfdist.plan.prune import Endpoint
from tfdist.plan.step_plan import Signature, StepPlan
from tfdist.runtime.step.async_driver import Runner
from tfdist.runtime.step.caller_thread_runner import CallerThreadRunner
from tfdist.runtime.step.interrupts import deferred_interrupts, interruption
from tfdist.runtime.step.partial_run import Outcome, PartialRun
from tfdist.runtime.step.peers import Peers
from tfdist.runtime.step.requests import PreparedStep, StepResult
from tfdist.runtime.step.step import CANCEL, Step

_NOT_SET_UP = "Must run PartialRunSetup before performing partial runs"
_NOT_SET_UP_HERE = "Must run 'setup' before performing partial runs!"


class StepMaster(Protocol):
    """What partial runs ask of their master (`runtime.task.master.Master`)."""

    task: str

    @property
    def peers(self) -> Peers:
        """Return what reaches the tasks."""

    def session(self, handle: str) -> SessionState:
        """Return an open session."""

    def check_session(self, handle: str) -> None:
        """Raise AbortedError if the session is not open."""

    def register(self, session: SessionState, plan: StepPlan) -> PreparedStep:
        """Register a plan on its tasks."""

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
        """Run a step without a thread that waits for it."""

    def end_step(self, prepared: PreparedStep, step_id: int) -> None:
        """Let the tasks forget a step."""


class PartialRuns:
    """The partial runs of a master.

    Args:
      master: runs their steps (a `runtime.task.master.Master`).
    """

    def __init__(self, master: StepMaster) -> None:
        self._master = master
        self._prepared: dict[str, dict[Signature, PreparedStep]] = {}  # by session
        self._open: dict[str, dict[str, PartialRun]] = {}  # by session and handle
        self._numbers = itertools.count()

    def set_up(self, session: str, signature: Signature, runner: Runner | None = None) -> str:
        """Plan a partial run; it begins when it is fed or fetched first.

        Args:
          session: its handle.
          signature: all that will be fed and fetched.
          runner: resumes the step; by default whoever calls `go_on`.

        Returns:
          The handle of the run.

        Raises:
          AbortedError: the session is gone.
          OpError: there is no such step.
        """
        state = self._master.session(session)
        device = state.client_device
        rendezvous_keys = ClientRendezvous(device, state.incarnations.get(device, 0))
        prepared = self._prepared.setdefault(session, {})
        if signature not in prepared:
            plan = partial_plan(state.plan(signature), state.nodes, rendezvous_keys)
            prepared[signature] = self._master.register(state, plan)
        name = str(next(self._numbers))
        run = PartialRun(
            prepared[signature], state.nodes, rendezvous_keys, self, runner or CallerThreadRunner()
        )
        self._open.setdefault(session, {})[name] = run
        self._master.check_session(session)
        return name

    def find(self, session: str, name: str) -> PartialRun:
        """Return a partial run; InvalidArgumentError if there is none, or none any more."""
        return self._found(session, name, _NOT_SET_UP)

    def _found(self, session: str, name: str, otherwise: str) -> PartialRun:
        self._master.check_session(session)
        found = self._open.get(session, {}).get(name)
        if found is None:
            raise InvalidArgumentError(otherwise)
        return found

    def go_on(
        self,
        session: str,
        name: str,
        feeds: dict[Endpoint, TensorValue],
        fetches: tuple[Endpoint, ...],
        timeout: float | None,
    ) -> list[TensorValue]:
        """Feed and fetch some tensors of a partial run, on the calling thread.

        Args:
          session: its handle.
          name: what `set_up` returned.
          feeds: values by tensor.
          fetches: in the order of the values.
          timeout: seconds, None for no limit.

        Raises:
          OpError: what a kernel raised, or why the run was stopped.
          KeyboardInterrupt: Ctrl-C, which ends the run; nothing that it waited for is lost.
        """
        run = self._found(session, name, _NOT_SET_UP_HERE)
        outcomes: list[Outcome] = []
        with deferred_interrupts(lambda: run.abort(interruption())):
            run.go_on(feeds, fetches, outcomes.append)
            runner = run.runner
            assert isinstance(runner, CallerThreadRunner)  # it was set up with none of its own
            if not runner.run_until(lambda: bool(outcomes), timeout):
                run.time_out(timeout or 0)
                runner.run_until(lambda: bool(outcomes))
        outcome = outcomes.pop()
        if not isinstance(outcome, BaseException):
            return outcome
        try:
            raise outcome
        finally:
            del outcome  # else the error would keep itself

    def close(self, session: str) -> None:
        """Let go of the partial runs of a session whose steps were aborted."""
        self._prepared.pop(session, None)
        for run in self._open.pop(session, {}).values():
            if isinstance(run.runner, CallerThreadRunner):  # nobody else may come any more
                run.runner.run_until(partial(getattr, run, "has_stopped"), 2 * CANCEL)

    # what a `PartialRun` asks for

    def begin(self, run: PartialRun) -> None:
        """Start the step of a run."""
        prepared = run.prepared

        def ended(outcome: StepResult | BaseException) -> None:
            run.end(outcome)
            assert run.step is not None
            self._master.end_step(prepared, run.step.step_id)

        try:
            self._master.run_step_async(prepared, [], None, False, run.runner, ended, run.watch)
        except BaseException as error:
            if run.step is not None:
                ended(error)
            raise

    def wait(self, step: Step, key: str) -> Wait:
        """Return the wait for what the step leaves under `key`."""
        return self._master.peers.receive(self._master.task, step.step_id, key)

    def feed(self, step: Step, key: str, value: TensorValue) -> None:
        """Leave a value for the step."""
        self._master.peers.send(step.step_id, key, value)

    def forget(self, run: PartialRun) -> None:
        """Find a run no more."""
        for name, each in list(self._open.get(run.prepared.handle, {}).items()):
            if each is run:
                self._open[run.prepared.handle].pop(name, None)
