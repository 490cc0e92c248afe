"""`LockedResource`: a pure state machine with a lock around it, and the steps that wait for it.

A machine's calls return completions, (who, outcome), of everyone who is served by them. Here who is
a `ResourceWait`; outcomes are told when the lock is free again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Generic, Protocol, TypeVar

from tfdist.base.aliases import Outcome
from tfdist.graph.op_def import PENDING
from tfdist.runtime.resources.wait_info import ResourceInfo, WaitInfo

Completion = tuple[Any, Outcome]  # who stood in line, and what that brought

_A_LITTLE = 2e-5  # seconds


class StateMachine(Protocol):
    """What a resource asks of the machine in it, whatever else that can do."""

    @property
    def name(self) -> str:
        """Return the name by which messages speak of it."""

    def cancel(self, who: Hashable) -> tuple[bool, list[Completion]]:
        """Let `who` leave its line; returns whether it stood there, and who is served by that."""

    def give_back(self, outcome: Outcome) -> list[Completion]:
        """Take back what came when nobody wanted it any more."""

    def info(self) -> ResourceInfo:
        """Return what is to be told of this moment."""


M = TypeVar("M", bound=StateMachine, covariant=True)


class LockedResource(Generic[M]):
    """A machine that steps of any session use, and wait for.

    Attributes:
      state: the machine.
      lock: held while it works.
    """

    def __init__(self, state: M) -> None:
        self.state = state
        self.lock = threading.Lock()

    @property
    def name(self) -> str:
        """Return the name by which messages speak of it."""
        return self.state.name

    def hold(self) -> None:
        """Take the lock, for what runs thousands of times a second; `lock.release` follows.

        Avoids a lock convoy. Who blocks on a lock is given it before it has the interpreter.
        Whoever has that and wants the lock again blocks in turn, and so on for ever: each call
        costs a switch of threads. Here a thread that comes at the wrong moment looks again a little
        later.
        """
        while not self.lock.acquire(blocking=False):
            time.sleep(_A_LITTLE)

    def wait(self, call: str, begin: Callable[[ResourceWait], list[Completion]]) -> ResourceWait:
        """Return a wait that begins with `begin(the wait)`; `call` names it in messages."""
        return ResourceWait(self, call, begin)

    def change(self, function: Callable[[], list[Completion]]) -> None:
        """Let the machine do something that nobody waits for."""
        with self.lock:
            served = function()
        tell(served)

    def info(self) -> ResourceInfo:
        """Return what is to be told of this moment."""
        with self.lock:
            return self.state.info()

    def describe(self, wait: ResourceWait) -> str:
        """Return what `wait` waits for."""
        raise NotImplementedError


class ResourceWait:
    """One call that may have to wait (a `graph.op_def.Wait`).

    Attributes:
      resource: whose machine it waits for.
      call: what it does, for messages.
    """

    __slots__ = ("_begin", "_done", "call", "resource")

    def __init__(
        self,
        resource: LockedResource[StateMachine],
        call: str,
        begin: Callable[[ResourceWait], list[Completion]],
    ) -> None:
        self.resource, self.call, self._begin = resource, call, begin
        self._done: Callable[[Outcome], None] | None = None

    def start(self, done: Callable[[Outcome], None]) -> Outcome:
        """Stand in line; see `Wait.start`."""
        self._done = done
        with self.resource.lock:
            served = self._begin(self)
        if len(served) == 1 and served[0][0] is self:
            return served[0][1]
        outcome = PENDING
        for who, result in served:
            if who is self:
                outcome = result
            else:
                who.finish(result)
        return outcome

    def finish(self, outcome: Outcome) -> None:
        """Give the outcome to whoever started this wait."""
        if self._done is not None:
            self._done(outcome)

    def cancel(self) -> bool:
        """Leave the line; see `Wait.cancel`."""
        with self.resource.lock:
            found, served = self.resource.state.cancel(self)
        tell(served)
        return found

    def give_back(self, outcome: Outcome) -> None:
        """Return what came when nobody wanted it any more."""
        if outcome is not None and not isinstance(outcome, BaseException):
            self.resource.change(lambda: self.resource.state.give_back(outcome))

    def describe(self) -> str:
        """Return what is waited for."""
        return self.resource.describe(self)

    def info(self) -> WaitInfo:
        """See `Wait.info`."""
        return WaitInfo("other", resource=self.resource, who=self)


def tell(served: Iterable[Completion]) -> None:
    """Tell everyone their outcomes; no lock is held."""
    for who, outcome in served:
        who.finish(outcome)
