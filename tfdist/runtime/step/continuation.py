"""Continuations: where a step goes on with a unit that waits, once what it waits for has come."""

from __future__ import annotations

from time import monotonic, perf_counter_ns
from typing import TypeAlias

import numpy as np

from tfdist.base.aliases import Outcome, TensorValue
from tfdist.graph.op_def import DEAD, PENDING, Wait
from tfdist.graph.records import RECEIVES, Node
from tfdist.plan.segment import NOTE
from tfdist.runtime.disturbances.waits import DisturbedReceive
from tfdist.runtime.resources.queue_rows import Rows
from tfdist.runtime.step.context import task_of
from tfdist.runtime.step.descriptions import describe
from tfdist.runtime.step.held_unit import HeldUnit
from tfdist.runtime.step.parallel import Ended
from tfdist.runtime.step.remote_part import RemotePart
from tfdist.runtime.step.run import Run

_GIANT = 1 << 20  # bytes; a step that takes so many may compute longer than such steps do


class Continuation:
    """A node whose kernel is a generator, from its first wait to its result.

    Attributes:
      wait: what it waits for (a `graph.op_def.Wait`).
      ended: whether the outcome of a wait was told.
    """

    __slots__ = (
        "_came",
        "_generator",
        "_outcome",
        "_receives",
        "_since",
        "_step",
        "ended",
        "run",
        "unit",
        "wait",
    )

    def __init__(self, run: Run, unit: int) -> None:
        self.run, self.unit = run, unit
        self._step = step = run.step
        self._since = step.clock() if step.clock else 0
        self._came = 0  # when the last outcome was told, if the step is traced
        program = run.program
        self._generator = program.functions[unit](run.values)
        self._receives = program.nodes[unit][0].op in RECEIVES
        self._outcome: Outcome = None
        self.wait: Wait | None = None
        self.ended = False

    @property
    def node(self) -> Node:
        """Return the node."""
        return self.run.program.nodes[self.unit][0]

    def done(self, outcome: Outcome) -> None:
        """Take the outcome of the wait, from any thread, and wake the driver."""
        if self.run.task.disturber is not None and self._is_held_up(outcome):
            return
        step = self._step
        if step.clock:
            self._came = step.clock()
        self._outcome, self.ended = outcome, True
        step.took_large_input = step.took_large_input or _is_large(outcome)
        step.ready.append(self)
        step.wake()

    def _is_held_up(self, outcome: Outcome) -> bool:
        """Return whether a tensor that was asked for before its way was disturbed comes later."""
        wait = self.wait
        if wait is None or type(wait) is DisturbedReceive or isinstance(outcome, BaseException):
            return False
        source = wait.info().source
        held = self.run.task.peers.disturbed(wait, task_of(source)) if source else wait
        if not isinstance(held, DisturbedReceive):
            return False
        self.wait = held
        held.take_over(self.done, outcome)
        return True

    def resume(self) -> bool:
        """Go on with the outcome that was told; returns whether the kernel has ended."""
        if self._step.waiting.pop(self, None) is not None:
            self.run.task.counters.end_wait(monotonic())
        return self.proceed(self._take())

    def proceed(self, outcome: Outcome) -> bool:
        """Drive the kernel until it ends or has to wait; returns whether it has ended.

        Args:
          outcome: of its last wait; None at its beginning.
        """
        waiting = self._step.waiting
        while True:
            try:
                if isinstance(outcome, BaseException):
                    self.wait = self._generator.throw(outcome)
                elif outcome is not None and not self._receives:
                    self.wait = self._computed(outcome)
                else:
                    self.wait = self._generator.send(outcome)
            except StopIteration as stop:
                self.wait = None  # it has `done`, and that has this continuation
                self._store(stop.value)
                return True
            except BaseException:
                outcome = self.wait = None
                raise  # through this frame: it and an outcome in it would keep each other
            waiting[self] = since = monotonic()
            try:
                outcome = self.wait.start(self.done)
            except BaseException:
                del waiting[self]
                raise
            if outcome is PENDING:
                self.run.task.counters.begin_wait(since)
                return False
            del waiting[self]

    def _computed(self, outcome: Outcome) -> Wait:
        """Give the kernel an outcome; what it takes is counted, for it may put batches together."""
        counters = self.run.task.counters
        began, before = perf_counter_ns(), counters.computed
        try:
            wait: Wait = self._generator.send(outcome)
            return wait
        finally:  # less what was counted meanwhile: units of functions that it calls
            spent = perf_counter_ns() - began - (counters.computed - before)
            if spent > 0:
                counters.computed += spent

    def give_back(self) -> None:
        """Put what came too late back to where it was taken, if that can be done."""
        give_back = getattr(self.wait, "give_back", None)
        if give_back is not None:
            give_back(self._outcome)

    def give_up(self) -> bool:
        """Return whether the wait was given up; False if its outcome came first."""
        assert self.wait is not None
        return self.wait.cancel()

    def close(self) -> None:
        """End the kernel where it waits."""
        self._generator.close()
        self.wait = None

    def _take(self) -> Outcome:
        """Return the outcome, and keep it no more."""
        outcome, self._outcome = self._outcome, None
        return outcome

    def _store(self, result: TensorValue) -> None:
        run, node = self.run, self.node
        clock = self._step.clock
        if clock:
            run.values[NOTE]((node, self._since, clock(), describe(result), self._came))
        if result is DEAD:
            run.kill(self.unit)
        results = [result] if node.op_def.has_one_output else result or ()
        for place, value in zip(run.program.stores[self.unit], results, strict=True):
            if place is not None:
                run.values[place] = value


def _is_large(outcome: Outcome) -> bool:
    """Return whether a wait brought a large array, or elements as large as the first one."""
    if type(outcome) is np.ndarray:
        return outcome.nbytes > _GIANT
    if type(outcome) is not Rows or not len(outcome):
        return False
    return len(outcome) * sum(getattr(each, "nbytes", 0) for each in outcome.first()) > _GIANT


# What stands on a step's ready list: a unit, or what has ended elsewhere.
Item: TypeAlias = tuple[Run, int] | Continuation | HeldUnit | Ended | RemotePart
