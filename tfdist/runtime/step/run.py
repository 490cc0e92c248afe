"""`Run`: one partition in one step: its values, its dependents, and how values leave it."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base.aliases import TaskResource, TensorValue
from tfdist.errors import (
    CancelledError,
    DeadlineExceededError,
    InvalidArgumentError,
    OpError,
    ResourceExhaustedError,
)
from tfdist.graph.op_def import DEAD, PENDING
from tfdist.graph.records import Node
from tfdist.plan.compiling.program import Fetch, Program, Units
from tfdist.plan.segment import ENVIRONMENT, FIRST_VALUE, NOTE
from tfdist.runtime.resources.shared_work import share
from tfdist.runtime.step.followers import Follower
from tfdist.runtime.step.rendezvous import NO_LOOP, Rendezvous
from tfdist.runtime.step.seams import ReadyItem, SessionState, StepState, TaskState

_LARGE = 1 << 24  # bytes
_TOGETHER = 3_000_000  # nanoseconds; what a run sends that takes less leaves at its end


class Run:
    """One partition in one step: its values, and what its kernels can reach (the environment).

    Attributes:
      step: the step it belongs to.
      task: the worker that it runs on.
      session: the worker's state of the session.
      node: the node that an interpreted unit runs now.
      tag: names the loop and iteration that it is, as keys of transfers do.
      notes: of a traced step, in order of ends: a node, its start and its end, what it gave; then,
        if it waited, when the last wait ended; and in a loop (after 0 if it did not) the round.
    """

    __slots__ = (
        "_dead",
        "node",
        "notes",
        "pending",
        "program",
        "remaining",
        "session",
        "step",
        "tag",
        "task",
        "values",
    )

    def __init__(
        self, step: StepState, task: TaskState, session: SessionState, program: Program
    ) -> None:
        self.step, self.task, self.session, self.program = step, task, session, program
        self.values = values = list(program.template)
        values[ENVIRONMENT] = self
        self.pending = list(program.pending)
        self.remaining = len(program.functions)
        self.tag = NO_LOOP
        self._dead: set[int] | None = None  # units that nothing but dead values reach
        self.node: Node | None = None
        self.notes: list[Any] = []
        values[NOTE] = self.notes.append

    def begin(self, feeds: list[TensorValue]) -> list[tuple[Run, int]]:
        """Take the feeds; returns the units that are ready."""
        program = self.program
        self.values[FIRST_VALUE : FIRST_VALUE + program.feed_count] = feeds
        return [(self, unit) for unit in program.start]

    def skip(self, units: Units, count: int, ready: deque[ReadyItem]) -> bool:
        """Note that the first `count` units of a pass have ended; returns whether all have."""
        if count == len(units):
            return True
        pending = self.pending
        self.remaining -= count
        for unit, _ in units[:count]:
            for dependent in self.program.dependents[unit]:
                pending[dependent] -= 1
        ready.extend([(self, unit) for unit, _ in units[count:] if not pending[unit]])
        return False

    def complete(self, unit: int, ready: deque[ReadyItem]) -> bool:
        """Note that a unit has ended, and what is ready then; returns whether all have ended."""
        if self._dead is not None:
            return self._complete_half_dead(unit, ready)
        pending = self.pending
        for dependent in self.program.dependents[unit]:
            pending[dependent] -= 1
            if not pending[dependent]:
                ready.append((self, dependent))
        self.remaining -= 1
        return not self.remaining

    def drop(self) -> None:
        """Let go of the values: a run stands in its own, and dead arrays would stay."""
        self.values.clear()

    def check(self, node: Node) -> None:
        """Raise CancelledError if the step is to end; `node` calls it once an iteration."""
        if self.is_over():
            self.tell(node)
            raise CancelledError("the step was stopped within a loop")

    def is_over(self) -> bool:
        """Return whether the step is to end, because of its deadline perhaps."""
        step = self.step
        if step.deadline is not None and time.monotonic() > step.deadline:
            step.time_out()
        return step.error is not None

    def tell(self, node: Node) -> None:
        """If the step took too long, or too much, let its error name what was computed."""
        if isinstance(self.step.error, DeadlineExceededError | ResourceExhaustedError):
            self.step.error.at_node(node.name, node.device)

    def deliver(self, rendezvous: Rendezvous) -> None:
        """Let what was sent to other processes leave now, or soon with more."""
        rendezvous.deliver()

    def hand_on(self, rendezvous: Rendezvous, follower: Follower, key: str) -> None:
        """Hand to a follower what was left for it, unless somebody has asked for it already.

        What a short run sends leaves together in the end; a long one's values are waited for.
        """
        value = rendezvous.give(key, follower)
        if value is not PENDING:
            program = self.program
            is_long = not program.is_compiled or sum(program.costs) > _TOGETHER
            self.step.hand_on(follower, key, value, is_long)

    def kill(self, unit: int) -> None:
        """Note that a unit received a dead value: what depends on it does not run."""
        self._dead = self._dead or set()
        self._dead.add(unit)

    def _complete_half_dead(self, unit: int, ready: deque[ReadyItem]) -> bool:
        """Do as `complete`; what is dead ends at once, and tells other tasks."""
        assert self._dead is not None
        ended = [unit]
        while ended:
            unit = ended.pop()
            for dependent in self.program.dependents[unit]:
                if unit in self._dead:
                    self._dead.add(dependent)
                self.pending[dependent] -= 1
                if self.pending[dependent]:
                    continue
                if dependent in self._dead:
                    self.program.send_dead[dependent](self.values)
                    ended.append(dependent)
                else:
                    ready.append((self, dependent))
            self.remaining -= 1
        return not self.remaining

    def fetch(
        self, read: Callable[[TensorValue], TensorValue], private: bool = True
    ) -> list[TensorValue]:
        """Return the fetched values.

        Args:
          read: of a variable, its value.
          private: whether nobody else must hold them, so that the caller may write to them.

        Raises:
          InvalidArgumentError: one of them is dead, for its branch was not taken.
        """
        for position, fetched in enumerate(self.program.fetches):
            if self.values[fetched.place] is DEAD or self.values[fetched.place] is None:
                raise _dead_fetch(position, fetched)
        take, snapshot = (_private, _snapshot) if private else (_shared, _read)
        return [
            take(self.values, place)
            if variable is None
            else snapshot(self.values[place], variable, read)
            for place, variable, _ in self.program.fetches
        ]


def _dead_fetch(position: int, fetched: Fetch) -> OpError:
    name, port = fetched.endpoint
    return InvalidArgumentError(
        f"Retval[{position}] does not have value: {name}:{port} is on a branch that this step did "
        "not take; fetch the result of the tf.cond instead"
    ).at_node(name, "")


def _shared(values: list[TensorValue], place: int) -> TensorValue:
    return values[place]


def _private(values: list[TensorValue], place: int) -> TensorValue:
    value = values[place]
    if type(value) is not np.ndarray:
        return value
    if value.ndim == 0:
        return value[()]
    values[place] = None
    # two references: this variable and the argument of getrefcount
    if value.base is None and sys.getrefcount(value) == 2 and value.flags.owndata:
        return value
    return _copied(value)


def _copied(value: TensorValue) -> TensorValue:
    """Return a copy; threads make that of a large array, half of whose time is page faults."""
    if value.nbytes < _LARGE or value.ndim == 0 or len(value) < 2:
        return value.copy()
    copy = np.empty_like(value)

    def work(start: int, end: int) -> None:
        np.copyto(copy[start:end], value[start:end])

    share(work, len(value), value.size // len(value))
    return copy


def _read(
    resource: TaskResource, variable: Node, read: Callable[[TensorValue], TensorValue]
) -> TaskResource:
    try:
        return read(resource)
    except OpError as error:
        raise error.at_node(variable.name, variable.device) from None


def _snapshot(
    resource: TaskResource, variable: Node, read: Callable[[TensorValue], TensorValue]
) -> TaskResource:
    value = _read(resource, variable, read)
    return _copied(value) if type(value) is np.ndarray else value
