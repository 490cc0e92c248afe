"""Barriers: the components of an element come one by one, under its key, and leave together.

`BarrierState` is a pure table as `QueueState` is; `Barrier` is that with a lock around it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tfdist.base.aliases import Outcome, TensorValue
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import CancelledError, InvalidArgumentError, OutOfRangeError
from tfdist.runtime.resources.locked_resource import Completion, LockedResource, ResourceWait
from tfdist.runtime.resources.wait_info import ResourceInfo, Waiting

FIRST_INDEX = -(2**63)  # TensorFlow numbers the insertions of new keys from here


class Element(NamedTuple):
    """A key with its components, None for those that have not come yet."""

    number: int
    key: bytes
    components: list[Any]


@dataclass(eq=False)
class Taker:
    """Somebody in line for whole elements."""

    who: Hashable
    wanted: int
    up_to: bool


@dataclass(eq=False)
class BarrierState:
    """Elements that are whole, elements that are not, and who waits.

    Attributes:
      components: how many an element has.
      incomplete: elements by key.
      ready: whole ones, in the order in which their keys came.
      insertions: how many calls brought new keys.
    """

    name: str
    components: int
    container: str = ""
    incomplete: dict[bytes, Element] = field(default_factory=dict)
    ready: list[Element] = field(default_factory=list)
    takers: deque[Taker] = field(default_factory=deque)
    insertions: int = 0
    closed: bool = False
    is_cancelled: bool = False

    def insert(
        self, component: int, pairs: Sequence[tuple[bytes, TensorValue]]
    ) -> list[Completion]:
        """Add a component to the elements of some keys.

        Raises:
          InvalidArgumentError: a key has that component already; none is added.
          CancelledError: the barrier is closed and a key is new, or its wait was cancelled.
        """
        self._check(component, pairs)
        if any(key not in self.incomplete for key, _ in pairs):
            self.insertions += 1
        for key, value in pairs:
            element = self.incomplete.get(key) or self._new(key)
            element.components[component] = value
            if all(each is not None for each in element.components):
                self.ready.append(self.incomplete.pop(key))
        self.ready.sort(key=lambda element: element.number)
        return self._serve()

    def _check(self, component: int, pairs: Sequence[tuple[bytes, TensorValue]]) -> None:
        seen = set()
        for key, _ in pairs:
            element = self.incomplete.get(key)
            if self.is_cancelled or (self.closed and element is None):
                raise CancelledError(
                    f"Barrier {self.name!r} is closed, but attempted to insert a brand new key: "
                    f"{key.decode(errors='replace')}. Pending enqueues cancelled: "
                    f"{int(self.is_cancelled)}. Number of incomplete keys: {len(self.incomplete)}."
                )
            if key in seen or (element is not None and element.components[component] is not None):
                raise InvalidArgumentError(
                    f"Key {key.decode(errors='replace')} already has a value for component "
                    f"{component} in barrier {self.name!r}"
                )
            seen.add(key)

    def _new(self, key: bytes) -> Element:
        number = FIRST_INDEX + self.insertions - 1
        self.incomplete[key] = element = Element(number, key, [None] * self.components)
        return element

    def take(self, who: Hashable, wanted: int, up_to: bool = False) -> list[Completion]:
        """Let `who` take `wanted` whole elements; fewer of a closed barrier if `up_to`."""
        self.takers.append(Taker(who, wanted, up_to))
        return self._serve()

    def close(self, cancel_pending: bool = False) -> list[Completion]:
        """Take no new keys; no more components either if `cancel_pending`."""
        self.closed = True
        if cancel_pending:
            self.is_cancelled = True
            self.incomplete.clear()
        return self._serve()

    def cancel(self, who: Hashable) -> tuple[bool, list[Completion]]:
        """Let `who` leave the line; returns whether it stood there, and who is served by that."""
        for taker in self.takers:
            if taker.who is who:
                self.takers.remove(taker)
                return True, self._serve()
        return False, []

    def give_back(self, elements: list[Element]) -> list[Completion]:
        """Take back whole elements that came when nobody wanted them any more."""
        self.ready = elements + self.ready
        return self._serve()

    def info(self) -> ResourceInfo:
        """Return what is to be told of this moment."""
        waiting = tuple(Waiting(each.who, each.wanted - len(self.ready)) for each in self.takers)
        return ResourceInfo(
            "Barrier",
            self.name,
            self.container,
            len(self.ready),
            closed=self.closed,
            consumers=waiting,
        )

    def _serve(self) -> list[Completion]:
        done: list[Completion] = []
        while self.takers:
            taker = self.takers[0]
            enough = len(self.ready) >= taker.wanted
            if not enough and not self._is_over(taker):
                break
            self.takers.popleft()
            done.append((taker.who, self._outcome(taker, enough)))
        return done

    def _is_over(self, taker: Taker) -> bool:
        """Return whether the barrier is closed, and more than it has is not worth waiting for."""
        if taker.up_to and (self.ready or self.incomplete):
            return self.closed and bool(self.ready)
        return self.closed and len(self.ready) + len(self.incomplete) < taker.wanted

    def _outcome(self, taker: Taker, enough: bool) -> Outcome:
        if not enough and not (taker.up_to and self.ready):
            return OutOfRangeError(
                f"Barrier {self.name!r} is closed and has insufficient elements (requested "
                f"{taker.wanted}, total size {len(self.ready) + len(self.incomplete)})"
            )
        taken, self.ready = self.ready[: taker.wanted], self.ready[taker.wanted :]
        return taken


class Barrier(LockedResource[BarrierState]):
    """A barrier that steps of any session can wait for.

    Args:
      name: for messages.
      dtypes: of the components.
      shapes: of the components, plain; [] if they are not known.
      container: in which it is found.
    """

    def __init__(
        self, name: str, dtypes: Sequence[DType], shapes: Sequence[Shape], container: str = ""
    ) -> None:
        super().__init__(BarrierState(name, len(dtypes), container))
        self.dtypes, self.shapes = dtypes, shapes

    def insert(self, component: int, pairs: Sequence[tuple[bytes, TensorValue]]) -> None:
        """Add a component to the elements of some keys; see `BarrierState.insert`."""
        self.change(lambda: self.state.insert(component, pairs))

    def take(self, count: int, up_to: bool) -> ResourceWait:
        """Return the wait for `count` whole elements."""
        name = f"take_many({count})"
        return ResourceWait(self, name, lambda who: self.state.take(who, count, up_to))

    def close(self, cancel_pending: bool) -> None:
        """Close the barrier; see `BarrierState.close`.

        Raises:
          CancelledError: it was closed before, and there is nothing to cancel.
        """
        if self.state.closed and not cancel_pending:
            raise CancelledError(f"Barrier {self.name!r} is already closed.")
        self.change(lambda: self.state.close(cancel_pending))

    def ready_size(self) -> int:
        """Return the number of whole elements."""
        with self.lock:
            return len(self.state.ready)

    def incomplete_size(self) -> int:
        """Return the number of elements that lack a component."""
        with self.lock:
            return len(self.state.incomplete)

    def describe(self, wait: ResourceWait) -> str:
        """Return what `wait` waits for."""
        with self.lock:
            info, incomplete = self.state.info(), len(self.state.incomplete)
        missing = next((each.missing for each in info.consumers if each.who is wait), 0)
        plural = "" if missing == 1 else "s"
        return (
            f"{wait.call} on barrier {self.name!r} waits for {missing} more whole "
            f"element{plural} (it holds {info.fill}, and {incomplete} that lack a component)"
        )
