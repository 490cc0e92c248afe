"""The part of a step that another process runs."""

from __future__ import annotations

from collections.abc import Callable

from tfdist.base.aliases import Outcome
from tfdist.runtime.step.seams import StepState
from tfdist.tracing.waits import Wait


class RemotePart:
    """A partition of a step that runs in another process.

    Attributes:
      cancel: tells the other process to stop; `end` follows.
      ask_waits: asks the processes of several parts what waits there (`tracing.waits.Wait`).
      task: which runs it.
      outcome: what `end` was told: an error, or the partition's statistics if it was traced.
    """

    __slots__ = ("_step", "ask_waits", "cancel", "outcome", "task")

    def __init__(self, step: StepState) -> None:
        self._step = step
        self.cancel: Callable[[], None] = _nobody
        self.ask_waits: Callable[[list[str], int], list[Wait]] = _no_waits
        self.task = ""
        self.outcome: Outcome = None

    def end(self, outcome: Outcome) -> None:
        """Take the other process's answer, from any thread, and wake the driver."""
        self.outcome = outcome
        self._step.ready.append(self)
        self._step.wake()


def _nobody() -> None:
    """Stand in for what cancels before there is somebody to tell."""


def _no_waits(tasks: list[str], step_id: int) -> list[Wait]:
    """Stand in for what asks before there is somebody to ask."""
    return []
