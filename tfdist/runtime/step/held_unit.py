"""A unit that may not begin: its task is frozen, or its master's call has not reached it."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from tfdist.base.aliases import Outcome
from tfdist.errors import OpError
from tfdist.graph.op_def import Wait
from tfdist.graph.records import Node
from tfdist.runtime.step.run import Run


class HeldUnit:
    """A unit that waits for its task; stands among a step's waits as a `Continuation` does.

    Args:
      run: that it belongs to.
      unit: that waits.
      wait: what it waits for.
      others: units that may begin together with it.

    Attributes:
      wait: what it waits for (a `graph.op_def.Wait`).
      ended: whether the outcome of that was told.
    """

    __slots__ = ("_others", "_outcome", "ended", "run", "unit", "wait")

    def __init__(self, run: Run, unit: int, wait: Wait, others: Sequence[int] = ()) -> None:
        self.run, self.unit, self.wait = run, unit, wait
        self._others = others
        self.ended = False
        self._outcome: Outcome = None

    @property
    def node(self) -> Node:
        """Return the first of its nodes."""
        return self.run.program.nodes[self.unit][0]

    def hold(self) -> None:
        """Wait; then the unit stands on the step's ready list."""
        self.run.step.waiting[self] = since = monotonic()
        self.run.task.counters.begin_wait(since)
        self.wait.start(self._done)

    def let_go(self) -> None:
        """End the wait; the units may begin.

        Raises:
          OpError: it waited too long.
        """
        if self.run.step.waiting.pop(self, None) is not None:
            self.run.task.counters.end_wait(monotonic())
        if isinstance(self._outcome, OpError):
            raise self._outcome
        self.run.step.ready.extend([(self.run, unit) for unit in self._others])

    def _done(self, outcome: Outcome) -> None:
        step = self.run.step
        self._outcome, self.ended = outcome, True
        step.ready.append(self)
        step.wake()

    def give_up(self) -> bool:
        """See `Continuation.give_up`."""
        return self.wait.cancel()

    def close(self) -> None:
        """See `Continuation.close`; nothing has begun."""
