"""A partial run: one step that is fed and fetched in several calls.

Its step waits for what is fed as for what other tasks send (`plan.partial`). What it gives is kept
here until a call asks for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from tfdist.base.aliases import TensorValue
from tfdist.errors import DeadlineExceededError, InvalidArgumentError
from tfdist.graph.op_def import DEAD, PENDING, Wait
from tfdist.graph.records import Node
from tfdist.plan.partial import ClientRendezvous, missing_feed, show
from tfdist.plan.prune import Endpoint
from tfdist.plan.step_plan import Signature
from tfdist.runtime.step.async_driver import Runner
from tfdist.runtime.step.requests import PreparedStep, StepResult
from tfdist.runtime.step.step import Step

Outcome = list[Any] | BaseException  # values of fetches, or why there are none


class _Ask:
    """One call that waits for fetches.

    Attributes:
      fetches: what it wants.
      done: takes the values.
      is_last: whether nothing is left to feed or fetch after it: it waits for the step's end.
    """

    def __init__(
        self, fetches: Sequence[Endpoint], done: Callable[[Outcome], None], is_last: bool
    ) -> None:
        self.fetches, self.done, self.is_last = fetches, done, is_last


class Runs(Protocol):
    """What starts, feeds and finds partial runs (`runtime.task.partial_runs.PartialRuns`)."""

    def begin(self, run: PartialRun) -> None:
        """Start the step of a run."""

    def wait(self, step: Step, key: str) -> Wait:
        """Return the wait for what the step leaves under `key`."""

    def feed(self, step: Step, key: str, value: TensorValue) -> None:
        """Leave a value for the step."""

    def forget(self, run: PartialRun) -> None:
        """Find a run no more."""


class PartialRun:
    """One step that is fed and fetched in several calls, from any thread.

    Args:
      prepared: the step.
      nodes: of the session's graph, by name.
      rendezvous_keys: where it is fed and fetched.
      runs: start and feed the step, and find this run (`runtime.task.partial_runs.PartialRuns`).
      runner: resumes the step.

    Attributes:
      prepared: the step.
      runner: resumes the step.
      step: None before it begins.
      is_over: whether no call will get anything from it any more.
    """

    def __init__(
        self,
        prepared: PreparedStep,
        nodes: Mapping[str, Node],
        rendezvous_keys: ClientRendezvous,
        runs: Runs,
        runner: Runner,
    ) -> None:
        self.prepared, self.runner, self.is_over = prepared, runner, False
        self._nodes, self._rendezvous_keys, self._runs = nodes, rendezvous_keys, runs
        self._unfed = dict.fromkeys(self.signature.feeds)
        self._unfetched = dict.fromkeys(self.signature.fetches)
        self._arrived: dict[Endpoint, Any] = {}
        self._asks: list[_Ask] = []
        self.step: Step | None = None
        self._is_begun = self._has_ended = False
        self._error: BaseException | None = None
        self._lock = threading.RLock()

    @property
    def signature(self) -> Signature:
        """Return all that is fed and fetched."""
        return self.prepared.signature

    @property
    def has_stopped(self) -> bool:
        """Return whether its step does not run, or never did."""
        return self._has_ended or not self._is_begun

    def go_on(
        self,
        feeds: Mapping[Endpoint, TensorValue],
        fetches: Sequence[Endpoint],
        done: Callable[[Outcome], None],
    ) -> None:
        """Feed some tensors, and fetch others as soon as they are there.

        Args:
          feeds: values by tensor.
          fetches: in the order of the values.
          done: called once, on some thread, with the values or an error, after which the run is
            over.

        Raises:
          InvalidArgumentError: a feed or fetch was not set up, came already, or needs others; the
            run goes on.
        """
        with self._lock:
            self._check(feeds, fetches)
            for endpoint in feeds:
                self._unfed.pop(endpoint)
            for endpoint in fetches:
                self._unfetched.pop(endpoint, None)
            is_last = not self._unfed and not self._unfetched
            self._asks.append(_Ask(fetches, done, is_last))
            begins, self._is_begun = not self._is_begun, True
        if begins:
            self._begin()
        if not self._has_ended:
            for endpoint, value in feeds.items():
                assert self.step is not None
                self._runs.feed(self.step, self._rendezvous_keys.key(endpoint), value)
        self._answer()

    def _check(self, feeds: Mapping[Endpoint, TensorValue], fetches: Sequence[Endpoint]) -> None:
        for what, given, known, pending in (
            ("feed", tuple(feeds), self.signature.feeds, self._unfed),
            ("fetch", fetches, self.signature.fetches, self._unfetched),
        ):
            for endpoint in given:
                if endpoint not in known:
                    raise InvalidArgumentError(
                        f"The {what} {show(endpoint)} was not specified in partial_run_setup."
                    )
                if endpoint not in pending:
                    told = "fed" if what == "feed" else "fetched"
                    raise InvalidArgumentError(
                        f"The {what} {show(endpoint)} has already been {told}."
                    )
        unfed = [endpoint for endpoint in self._unfed if endpoint not in feeds]
        missing = missing_feed(self._nodes, fetches, self.signature, unfed)
        if missing is not None:
            raise InvalidArgumentError(
                f"Fetch {show(missing)} can't be computed from the feeds that have been fed so far."
            )

    def _begin(self) -> None:
        try:
            self._runs.begin(self)
        except Exception as error:
            self.end(error)

    def watch(self, step: Step) -> None:
        """Note the step before it runs, and take what it gives from the beginning."""
        self.step = step
        for endpoint in self.signature.fetches:
            wait = self._runs.wait(step, self._rendezvous_keys.key(endpoint))
            found = wait.start(partial(self._arrive, endpoint))
            if found is not PENDING:
                self._arrive(endpoint, found)

    def _arrive(self, endpoint: Endpoint, value: TensorValue) -> None:
        if isinstance(value, BaseException):  # the step has ended, and tells why itself
            return
        with self._lock:
            self._arrived[endpoint] = _own(value)
        self._answer()

    def end(self, outcome: StepResult | BaseException) -> None:
        """Take what became of the step: an error, or all went well."""
        with self._lock:
            self._has_ended = True
            if isinstance(outcome, BaseException):
                self._error = self._error or outcome
        self._answer()

    def _answer(self) -> None:
        """Answer the calls whose values are all there."""
        while True:
            with self._lock:
                ask = next((each for each in self._asks if self._is_due(each)), None)
                if ask is None:
                    return
                self._asks.remove(ask)
                outcome = self._outcome(ask)
                self.is_over = self.is_over or ask.is_last or isinstance(outcome, BaseException)
            if self.is_over:
                self._runs.forget(self)
            if isinstance(outcome, BaseException):
                self.abort(outcome)
            ask.done(outcome)
            del ask, outcome  # an error would keep them, and itself

    def _is_due(self, ask: _Ask) -> bool:
        if self._error is not None or any(self._arrived.get(e) is DEAD for e in ask.fetches):
            return True
        is_there = all(endpoint in self._arrived for endpoint in ask.fetches)
        return is_there and (self._has_ended or not ask.is_last)

    def _outcome(self, ask: _Ask) -> Outcome:
        if self._error is not None:
            return self._error
        found = {endpoint: self._arrived.pop(endpoint) for endpoint in dict.fromkeys(ask.fetches)}
        for endpoint, value in found.items():
            if value is DEAD:
                return InvalidArgumentError(
                    f"The tensor returned for {show(endpoint)} was not valid."
                )
        return [found[endpoint] for endpoint in ask.fetches]

    def abort(self, error: BaseException) -> None:
        """End the step, if it still runs."""
        if self.step is not None and not self._has_ended:
            self.step.abort(error)

    def time_out(self, seconds: float) -> None:
        """End the step because a call took longer than it may."""
        waits = "; ".join(wait.told for wait in self.step.waits()) if self.step else ""
        self.abort(
            DeadlineExceededError(
                f"the partial run gave nothing within its timeout of {1000 * seconds:.0f} ms; it "
                f"waits for: {waits or 'nothing, it still computes'}"
            )
        )


def _own(value: TensorValue) -> TensorValue:
    """Return a value that its caller may write to, as a run would give it."""
    if type(value) is not np.ndarray:
        return value
    return value[()] if value.ndim == 0 else value.copy()
