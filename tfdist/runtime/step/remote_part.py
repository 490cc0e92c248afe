"""The part of a step that another process runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class RemotePart:
    """A partition of a step that runs in another process.

    Attributes:
      cancel: tells the other process to stop; `end` follows.
      ask_waits: asks the processes of several parts what waits there (`tracing.waits.Wait`).
      task: which runs it.
      outcome: what `end` was told: an error, or the partition's statistics if it was traced.
    """

    __slots__ = ("_step", "ask_waits", "cancel", "outcome", "task")

    def __init__(self, step: Any) -> None:
        self._step = step
        self.cancel: Callable[[], None] = _nobody
        self.ask_waits: Callable[[list[str], int], list[Any]] = _nobody
        self.task = ""
        self.outcome: Any = None

    def end(self, outcome: Any) -> None:
        """Take the other process's answer, from any thread, and wake the driver."""
        self.outcome = outcome
        self._step.ready.append(self)
        self._step.wake()


def _nobody(*_: Any) -> Any:
    """Stand in for what cancels and asks before there is somebody to ask."""
    return ()
