"""Staging areas: small buffers on a device, from which elements leave in order or by key.

The machines are pure tables as `QueueState` is; `Stage` is one with a lock around it, and so is
`map_staging.MapStage`. An element is a list of components.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tfdist.base.aliases import Outcome, TensorValue
from tfdist.base.dtypes import DType
from tfdist.errors import InvalidArgumentError, ResourceExhaustedError
from tfdist.runtime.resources.exhausted import check_growth
from tfdist.runtime.resources.locked_resource import (
    Completion,
    LockedResource,
    ResourceWait,
)
from tfdist.runtime.resources.wait_info import ResourceInfo, Waiting


@dataclass(eq=False)
class Waiter:
    """Somebody in line: `attempt` returns its outcome, or `NOT_YET`."""

    who: Hashable
    attempt: Callable[[], Any]


NOT_YET = object()


@dataclass(eq=False)
class StagingState:
    """What the two kinds of staging areas have in common: bounds, and two lines.

    Attributes:
      name: for messages.
      capacity: how many elements it holds at most; 0 if there is no bound.
      memory_limit: how many bytes; 0 if there is no bound.
      memory: how many bytes it holds.
    """

    name: str
    capacity: int = 0
    memory_limit: int = 0
    kind: str = "StagingArea"
    container: str = ""
    memory: int = 0
    puts: deque[Waiter] = field(default_factory=deque)
    gets: deque[Waiter] = field(default_factory=deque)

    def size(self) -> int:
        """Return the number of elements that can leave."""
        raise NotImplementedError

    def has_room(self, nbytes: int, elements: int = 1) -> bool:
        """Return whether so many bytes, in so many new elements, find room."""
        fits = not self.memory_limit or self.memory + nbytes <= self.memory_limit
        return fits and (not self.capacity or self.size() + elements <= self.capacity)

    def stand(
        self, line: deque[Waiter], who: Hashable, attempt: Callable[[], Outcome]
    ) -> list[Completion]:
        """Let `who` stand in a line; returns who is served."""
        line.append(Waiter(who, attempt))
        return self.settle()

    def settle(self) -> list[Completion]:
        """Let everyone go on who can."""
        done: list[Completion] = []
        while self._pass(self.puts, done) or self._pass(self.gets, done):
            pass
        return done

    def _pass(self, line: deque[Waiter], done: list[Completion]) -> bool:
        """Serve the first in a line who can be served; returns whether there was one."""
        for waiter in line:
            try:
                outcome = waiter.attempt()
            except (InvalidArgumentError, ResourceExhaustedError) as error:
                outcome = error
            if outcome is not NOT_YET:
                line.remove(waiter)
                done.append((waiter.who, outcome))
                return True
        return False

    def cancel(self, who: Hashable) -> tuple[bool, list[Completion]]:
        """Let `who` leave its line; returns whether it stood there, and who is served by that."""
        for line in (self.puts, self.gets):
            for waiter in line:
                if waiter.who is who:
                    line.remove(waiter)
                    return True, self.settle()
        return False, []

    def check_size(self, nbytes: int) -> None:
        """Raise ResourceExhaustedError if so many bytes can never find room."""
        if self.memory_limit and nbytes > self.memory_limit:
            raise ResourceExhaustedError(
                f"Attempted to insert tensors with combined size of '{nbytes}' bytes into Staging "
                f"Area with a memory limit of '{self.memory_limit}': {self.name!r}"
            )

    def clear(self) -> list[Completion]:
        """Forget all elements."""
        raise NotImplementedError

    def give_back(self, outcome: Outcome) -> list[Completion]:
        """Take back what came when nobody wanted it any more."""
        raise NotImplementedError

    def info(self) -> ResourceInfo:
        """Return what is to be told of this moment."""
        return ResourceInfo(
            self.kind,
            self.name,
            self.container,
            self.size(),
            self.capacity or -1,
            producers=tuple(Waiting(each.who, 1) for each in self.puts),
            consumers=tuple(Waiting(each.who, 1) for each in self.gets),
        )


def size_of(components: Sequence[TensorValue]) -> int:
    """Return the bytes of arrays; of strings, of the references to them."""
    return sum(getattr(each, "nbytes", 0) for each in components)


@dataclass(eq=False)
class StageState(StagingState):
    """Elements that leave in the order in which they came."""

    elements: deque[Sequence[Any]] = field(default_factory=deque)

    def size(self) -> int:
        """See `StagingState.size`."""
        return len(self.elements)

    def put(self, who: Hashable, element: Sequence[TensorValue]) -> list[Completion]:
        """Let `who` put an element."""
        nbytes = size_of(element)

        def attempt() -> Outcome:
            self.check_size(nbytes)
            if not self.has_room(nbytes):
                return NOT_YET
            self.elements.append(element)
            self.memory += nbytes
            return None

        return self.stand(self.puts, who, attempt)

    def get(self, who: Hashable) -> list[Completion]:
        """Let `who` take the first element."""

        def attempt() -> Outcome:
            if not self.elements:
                return NOT_YET
            element = self.elements.popleft()
            self.memory -= size_of(element)
            return element

        return self.stand(self.gets, who, attempt)

    def peek(self, who: Hashable, index: int) -> list[Completion]:
        """Let `who` see the element at `index`, counted from the first."""

        def attempt() -> Outcome:
            return self.elements[index] if index < len(self.elements) else NOT_YET

        return self.stand(self.gets, who, attempt)

    def clear(self) -> list[Completion]:
        """Forget all elements."""
        self.elements.clear()
        self.memory = 0
        return self.settle()

    def give_back(self, element: Sequence[TensorValue]) -> list[Completion]:
        """Put an element that came too late to the front again."""
        self.elements.appendleft(element)
        self.memory += size_of(element)
        return self.settle()


S = TypeVar("S", bound=StagingState, covariant=True)


class LockedStaging(LockedResource[S]):
    """A staging area that steps of any session can wait for.

    Args:
      state: the machine.
      dtypes: of the components.
    """

    def __init__(self, state: S, dtypes: Sequence[DType]) -> None:
        super().__init__(state)
        self.dtypes = dtypes

    def size(self) -> int:
        """Return the number of elements that can leave."""
        with self.lock:
            return self.state.size()

    def clear(self) -> None:
        """Forget all elements."""
        self.change(self.state.clear)

    def describe(self, wait: ResourceWait) -> str:
        """Return what `wait` waits for."""
        with self.lock:
            state, info = self.state, self.state.info()
        wanted = "room" if wait.call == "put" else "an element"
        bounds = [f" of {state.capacity}"] if state.capacity else []
        bounds += [f", {state.memory} of {state.memory_limit} bytes"] if state.memory_limit else []
        return (
            f"{wait.call} on staging area {self.name!r} waits for {wanted} "
            f"(it holds {info.fill}{''.join(bounds)})"
        )


class Peek(ResourceWait):
    """A wait for something that is seen and stays."""

    __slots__ = ()

    def give_back(self, outcome: Outcome) -> None:
        """Do nothing: nothing was taken."""


class Stage(LockedStaging[StageState]):
    """A staging area whose elements leave in order.

    Args:
      name: for messages.
      dtypes: of the components.
      capacity: how many elements it holds at most; 0 if there is no bound.
      memory_limit: how many bytes; 0 if there is no bound.
      container: in which it is found.
    """

    def __init__(
        self,
        name: str,
        dtypes: Sequence[DType],
        capacity: int,
        memory_limit: int,
        container: str = "",
    ) -> None:
        state = StageState(name, capacity, memory_limit, container=container)
        super().__init__(state, dtypes)

    def put(self, element: Sequence[TensorValue]) -> ResourceWait:
        """Return the wait for putting an element."""
        check_growth("staging area", self.name)
        return ResourceWait(self, "put", lambda who: self.state.put(who, element))

    def get(self) -> ResourceWait:
        """Return the wait for the first element."""
        return ResourceWait(self, "get", self.state.get)

    def peek(self, index: int) -> ResourceWait:
        """Return the wait for seeing the element at `index`."""
        return Peek(self, f"peek({index})", lambda who: self.state.peek(who, index))
