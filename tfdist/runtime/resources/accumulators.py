"""Accumulators: gradients are added up until somebody takes their mean, or their sum.

`AccumulatorState` is a pure table as `QueueState` is; `Accumulator` is that with a lock around it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Protocol

from tfdist.base.aliases import Outcome, TensorValue
from tfdist.runtime.resources.locked_resource import Completion, LockedResource, ResourceWait
from tfdist.runtime.resources.wait_info import ResourceInfo, Waiting


class Total(Protocol):
    """What gradients add up to: dense or sparse."""

    def add(self, gradient: TensorValue) -> None:
        """Add a gradient; InvalidArgumentError if it does not fit those before."""

    def take(self, divisor: int) -> TensorValue:
        """Return the total divided by `divisor`, and begin anew."""


@dataclass(eq=False)
class Taker:
    """Somebody in line for gradients."""

    who: Hashable
    wanted: int


@dataclass(eq=False)
class AccumulatorState:
    """Gradients of the current step, and who waits for them.

    Attributes:
      name: for messages.
      total: of the gradients.
      is_mean: whether it is divided by their number when it is taken.
      step: the current one; gradients of earlier ones are dropped.
      count: how many gradients are in `total`.
    """

    name: str
    total: Total
    is_mean: bool = True
    kind: str = "ConditionalAccumulator"
    container: str = ""
    step: int = 0
    count: int = 0
    takers: deque[Taker] = field(default_factory=deque)

    def apply(self, gradient: TensorValue, step: int) -> list[Completion]:
        """Add a gradient that was computed in `step`; what is stale is dropped."""
        if step < self.step:
            return []
        self.total.add(gradient)
        self.count += 1
        return self._serve()

    def take(self, who: Hashable, wanted: int) -> list[Completion]:
        """Let `who` take what adds up from `wanted` gradients at least."""
        self.takers.append(Taker(who, wanted))
        return self._serve()

    def set_step(self, step: int) -> None:
        """Set the current step; it never goes back."""
        self.step = max(self.step, step)

    def cancel(self, who: Hashable) -> tuple[bool, list[Completion]]:
        """Let `who` leave the line; returns whether it stood there, and who is served by that."""
        for taker in self.takers:
            if taker.who is who:
                self.takers.remove(taker)
                return True, self._serve()
        return False, []

    def give_back(self, outcome: Outcome) -> list[Completion]:
        """Drop a mean that came too late: gradients of a step that is over are stale."""
        return []

    def info(self) -> ResourceInfo:
        """Return what is to be told of this moment."""
        waiting = tuple(Waiting(each.who, max(each.wanted - self.count, 0)) for each in self.takers)
        return ResourceInfo(self.kind, self.name, self.container, self.count, consumers=waiting)

    def _serve(self) -> list[Completion]:
        done: list[Completion] = []
        while self.takers and self.count >= self.takers[0].wanted:
            taken = self.total.take(self.count if self.is_mean else 1)
            done.append((self.takers.popleft().who, taken))
            self.count = 0
            self.step += 1
        return done


class Accumulator(LockedResource[AccumulatorState]):
    """An accumulator that steps of any session can wait for.

    Args:
      name: for messages.
      total: what gradients add up to, at first nothing.
      is_mean: whether it gives the mean instead of the sum.
      kind: the class that programs make.
      container: in which it is found.
      identity: what another node must ask for as well to get this one.
    """

    def __init__(
        self,
        name: str,
        total: Total,
        is_mean: bool,
        kind: str,
        container: str = "",
        identity: TensorValue = None,
    ) -> None:
        super().__init__(AccumulatorState(name, total, is_mean, kind, container))
        self.identity = identity

    def apply(self, gradient: TensorValue, step: int) -> None:
        """Add a gradient; see `AccumulatorState.apply`."""
        self.change(lambda: self.state.apply(gradient, step))

    def take(self, wanted: int) -> ResourceWait:
        """Return the wait for what adds up from `wanted` gradients at least."""
        return ResourceWait(self, f"take_grad({wanted})", lambda who: self.state.take(who, wanted))

    def set_step(self, step: int) -> None:
        """Set the current step; see `AccumulatorState.set_step`."""
        with self.lock:
            self.state.set_step(step)

    def count(self) -> int:
        """Return how many gradients it holds."""
        count: int = self.state.count
        return count

    def describe(self, wait: ResourceWait) -> str:
        """Return what `wait` waits for."""
        info = self.info()
        missing = next((each.missing for each in info.consumers if each.who is wait), 0)
        plural = "" if missing == 1 else "s"
        return (
            f"{wait.call} on accumulator {self.name!r} waits for {missing} more "
            f"gradient{plural} of step {self.state.step} (it holds {info.fill})"
        )
