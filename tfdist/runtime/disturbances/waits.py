"""What waits because of a disturbance, as `graph.op_def.Wait`s, and a call that is kept waiting."""

from __future__ import annotations

import threading
from collections.abc import Callable

from tfdist.base.aliases import Outcome
from tfdist.errors import OpError
from tfdist.graph.op_def import PENDING, Wait
from tfdist.runtime.disturbances.disturber import Crossing, Disturber, Ends
from tfdist.runtime.resources.wait_info import WaitInfo

_LOOK_UP = 0.1  # seconds: a signal that comes just before a wait does not end it


class DisturbedReceive:
    """The wait for a tensor whose way is disturbed, or was when it was asked for.

    Args:
      wait: for the tensor.
      disturber: of the task that receives.
      ends: the tasks.
    """

    def __init__(self, wait: Wait, disturber: Disturber, ends: Ends) -> None:
        self._wait, self._disturber, self._ends = wait, disturber, ends
        self._done: Callable[[Outcome], None] = _ignore
        self._outcome: Outcome = None
        self._crossing: Crossing | None = None

    def start(self, done: Callable[[Outcome], None]) -> Outcome:
        """See `Wait.start`."""
        self._done = done
        self._crossing = self._disturber.depart(self._ends, self._give, self._fail)
        outcome = self._wait.start(self._come)
        if outcome is not PENDING:
            self._come(outcome)
        return PENDING

    def take_over(self, done: Callable[[Outcome], None], outcome: Outcome) -> None:
        """Let what has come for somebody else come as this one's: `done` takes it in the end."""
        self._done = done
        self._crossing = self._disturber.depart(self._ends, self._give, self._fail)
        self._come(outcome)

    def _come(self, outcome: Outcome) -> None:
        self._outcome = outcome
        assert self._crossing is not None
        if isinstance(outcome, OpError):  # no tensor: the step has ended, or its sender failed
            if self._disturber.forget(self._crossing):
                self._give()
        else:
            self._disturber.arrive(self._crossing, getattr(outcome, "nbytes", 0))

    def _give(self) -> None:
        outcome, self._outcome = self._outcome, None
        self._done(outcome)

    def _fail(self, error: OpError) -> None:
        self._wait.cancel()
        self._done(error)

    def cancel(self) -> bool:
        """See `Wait.cancel`."""
        is_over = self._crossing is not None and not self._disturber.forget(self._crossing)
        if not is_over:
            self._wait.cancel()
        return not is_over

    def describe(self) -> str:
        """Return what is waited for, and what is wrong with its way."""
        worst = self._disturber.passage(self._ends).worst
        return self._wait.describe() + (f" ({worst.named})" if worst is not None else "")

    def info(self) -> WaitInfo:
        """See `Wait.info`."""
        info: WaitInfo = self._wait.info()
        return info


class Thaw:
    """The wait of what is to go on at a frozen task, or of a call that is to get through to one.

    Args:
      disturber: of a task.
      ends: twice the frozen task, or who calls and who is called.
    """

    def __init__(self, disturber: Disturber, ends: Ends) -> None:
        self._disturber, self._ends = disturber, ends
        self._crossing: Crossing | None = None

    @classmethod
    def of(cls, disturber: Disturber) -> Thaw:
        """Return the wait of what is to go on at a disturber's own task."""
        return cls(disturber, (disturber.own, disturber.own))

    def start(self, done: Callable[[Outcome], None]) -> Outcome:
        """See `Wait.start`; it brings None."""
        self._crossing = self._disturber.depart(self._ends, lambda: done(None), done)
        self._disturber.arrive(self._crossing)
        return PENDING

    def cancel(self) -> bool:
        """See `Wait.cancel`."""
        return self._crossing is None or self._disturber.forget(self._crossing)

    def describe(self) -> str:
        """Return by what the task is frozen, or the call held up."""
        worst = self._disturber.passage(self._ends).worst
        why = worst.named if worst is not None else "it goes on just now"
        source, target = self._ends
        return why if source == target else f"call of {source} to run it ({why})"

    def info(self) -> WaitInfo:
        """See `Wait.info`."""
        return WaitInfo("other")


def go_across(disturber: Disturber, ends: Ends) -> None:
    """Wait until a call may go from one task to another.

    Raises:
      UnavailableError: it may not within the bound.
    """
    told: list[OpError | None] = []
    is_over = threading.Event()

    def end(error: OpError | None = None) -> None:
        told.append(error)
        is_over.set()

    crossing = disturber.depart(ends, end, end)
    disturber.arrive(crossing)
    try:
        while not is_over.wait(_LOOK_UP):
            pass
    finally:
        disturber.forget(crossing)
    if told[0] is not None:
        raise told[0]


def _ignore(outcome: Outcome) -> None:
    """Stand in for a callback before there is one."""
