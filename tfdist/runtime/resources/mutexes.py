"""Mutexes: whoever holds one keeps all others out, until it is let go.

`MutexState` is a pure table as `QueueState` is; `Mutex` is that with a lock around it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field

from tfdist.runtime.resources.locked_resource import Completion, LockedResource, ResourceWait
from tfdist.runtime.resources.wait_info import ResourceInfo, Waiting


class Hold:
    """What the holder of a mutex has, the value of a variant tensor.

    It is let go once: by the node that consumes it, or else when the step that has it drops it,
    which a step that failed does.

    Args:
      mutex: that is held.
    """

    __slots__ = ("_mutex",)

    shape = ()

    def __init__(self, mutex: Mutex) -> None:
        self._mutex: Mutex | None = mutex

    def let_go(self) -> None:
        """Let the next one in."""
        mutex, self._mutex = self._mutex, None
        if mutex is not None:
            mutex.change(mutex.state.let_go)

    def __del__(self) -> None:
        self.let_go()

    def __repr__(self) -> str:
        return "<Hold on a mutex>" if self._mutex else "<Hold on a mutex, let go>"


@dataclass(eq=False)
class MutexState:
    """Whether somebody is in, and who waits.

    Attributes:
      name: for messages.
      is_held: whether somebody is in.
      line: those who wait, the first one first.
    """

    name: str
    container: str = ""
    is_held: bool = False
    line: deque[Hashable] = field(default_factory=deque)

    def enter(self, who: Hashable) -> list[Completion]:
        """Let `who` in, or stand in line."""
        self.line.append(who)
        return self._settle()

    def let_go(self) -> list[Completion]:
        """Let the next one in."""
        self.is_held = False
        return self._settle()

    def _settle(self) -> list[Completion]:
        if self.is_held or not self.line:
            return []
        self.is_held = True
        return [(self.line.popleft(), None)]

    def cancel(self, who: Hashable) -> tuple[bool, list[Completion]]:
        """Let `who` leave the line; returns whether it stood there, and who is served by that."""
        if who not in self.line:
            return False, []
        self.line.remove(who)
        return True, []

    def give_back(self, outcome: object) -> list[Completion]:
        """Let the next one in: who was to be in does not want it any more."""
        return self.let_go()

    def info(self) -> ResourceInfo:
        """Return what is to be told of this moment."""
        consumers = tuple(Waiting(each, 1) for each in self.line)
        return ResourceInfo("Mutex", self.name, self.container, int(not self.is_held), 1,
                     consumers=consumers)  # fmt: skip


class Mutex(LockedResource[MutexState]):
    """A mutex that steps of any session wait for.

    Args:
      name: for messages.
      container: in which it is found.
    """

    def __init__(self, name: str, container: str = "") -> None:
        super().__init__(MutexState(name, container=container))

    def enter(self) -> ResourceWait:
        """Return the wait for being in; who is told makes a `Hold`."""
        return _Entry(self, "lock", self.state.enter)

    def hold_on(self) -> Hold:
        """Return what whoever is in has."""
        return Hold(self)

    def describe(self, wait: ResourceWait) -> str:
        """Return what `wait` waits for."""
        return f"lock of critical section {self.name!r} waits until another step has left it"


class _Entry(ResourceWait):
    __slots__ = ()

    resource: Mutex

    def give_back(self, outcome: object) -> None:
        """Let the next one in, unless this one is not in either."""
        if not isinstance(outcome, BaseException):
            self.resource.change(self.resource.state.let_go)
