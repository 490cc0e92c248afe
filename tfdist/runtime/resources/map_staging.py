"""Staging areas whose elements have keys, and may come and leave in parts.

`MapStageState` is a pure table as `QueueState` is; `MapStage` is that with a lock around it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tfdist.base.aliases import Outcome, TensorValue
from tfdist.base.dtypes import DType
from tfdist.errors import InvalidArgumentError
from tfdist.runtime.resources.exhausted import check_growth
from tfdist.runtime.resources.locked_resource import Completion, ResourceWait
from tfdist.runtime.resources.staging import NOT_YET, LockedStaging, Peek, StagingState, size_of

Parts = Mapping[int, Any]  # components by their positions


@dataclass(eq=False)
class MapStageState(StagingState):
    """Elements by key: those that are whole, and those that are not.

    Attributes:
      width: how many components an element has.
      is_ordered: whether who names no key gets the least one, and not the one that came first.
      whole: elements that can leave; a part of one may have left.
    """

    width: int = 1
    is_ordered: bool = False
    whole: dict[int, dict[int, Any]] = field(default_factory=dict)
    incomplete: dict[int, dict[int, Any]] = field(default_factory=dict)

    def size(self) -> int:
        """See `StagingState.size`."""
        return len(self.whole)

    def has_room(self, nbytes: int, elements: int = 1) -> bool:
        """See `StagingState.has_room`; what is not whole yet takes a place, too."""
        return super().has_room(nbytes, elements + len(self.incomplete))

    def put(self, who: Hashable, key: int, parts: Parts) -> list[Completion]:
        """Let `who` put components of an element."""
        nbytes = size_of(list(parts.values()))

        def attempt() -> Outcome:
            self.check_size(nbytes)
            self._check_new(key, parts)
            if not self.has_room(nbytes, int(key not in self.incomplete)):
                return NOT_YET
            self._put(key, parts)
            return None

        return self.stand(self.puts, who, attempt)

    def _check_new(self, key: int, parts: Parts) -> None:
        there = self.incomplete.get(key, {})
        for index in parts:
            if index in there:
                raise InvalidArgumentError(
                    f"The tensor for index '{index}' for key '{key}' was already initialized "
                    f"'{self.width}'."
                )
            if not 0 <= index < self.width:
                raise InvalidArgumentError(
                    f"Index '{index}' for key '{key}' was out of bounds '{self.width}'."
                )

    def _put(self, key: int, parts: Parts) -> None:
        element = self.incomplete.setdefault(key, {})
        element.update(parts)
        self.memory += size_of(list(parts.values()))
        if len(element) == self.width:
            del self.incomplete[key]
            if self.whole.setdefault(key, element) is not element:  # as in TensorFlow
                self.memory -= size_of(list(element.values()))

    def get(
        self, who: Hashable, key: int | None, indices: Sequence[int], peeks: bool = False
    ) -> list[Completion]:
        """Let `who` take components of a whole element, or see them.

        Args:
          who: gets the key and the components.
          key: of the element; None for any.
          indices: of the components.
          peeks: whether they stay.
        """

        def attempt() -> Outcome:
            found = self._any() if key is None else key
            if found not in self.whole:
                return NOT_YET
            return found, self._take(found, indices, peeks)

        return self.stand(self.gets, who, attempt)

    def _any(self) -> Outcome:
        return min(self.whole, default=None) if self.is_ordered else next(iter(self.whole), None)

    def _take(self, key: int, indices: Sequence[int], peeks: bool) -> list[TensorValue]:
        element = self.whole[key]
        for index in indices:
            if index not in element:
                raise InvalidArgumentError(
                    f"Tensor at index '{index}' for key '{key}' has already been removed."
                )
        taken = [element[index] for index in indices]
        if not peeks:
            self.memory -= size_of(taken)
            for index in indices:
                del element[index]
            if not element:
                del self.whole[key]
        return taken

    def clear(self) -> list[Completion]:
        """Forget all elements."""
        self.whole.clear()
        self.incomplete.clear()
        self.memory = 0
        return self.settle()

    def give_back(self, outcome: tuple[int, Parts]) -> list[Completion]:
        """Put components that came too late to where they were."""
        key, parts = outcome
        self.whole.setdefault(key, {}).update(parts)
        self.memory += size_of(list(parts.values()))
        return self.settle()


class Get(ResourceWait):
    """A wait for components, which knows where they belong."""

    __slots__ = ("indices",)

    indices: Sequence[int]

    def give_back(self, outcome: Outcome) -> None:
        """See `ResourceWait.give_back`."""
        if isinstance(outcome, tuple):
            key, values = outcome
            super().give_back((key, dict(zip(self.indices, values, strict=True))))


class MapStage(LockedStaging[MapStageState]):
    """A staging area whose elements have keys.

    Args:
      name: for messages.
      dtypes: of the components.
      capacity: how many elements it holds at most; 0 if there is no bound.
      memory_limit: how many bytes; 0 if there is no bound.
      is_ordered: see `MapStageState`.
      container: in which it is found.
    """

    def __init__(
        self,
        name: str,
        dtypes: Sequence[DType],
        capacity: int,
        memory_limit: int,
        is_ordered: bool,
        container: str = "",
    ) -> None:
        state = MapStageState(
            name,
            capacity,
            memory_limit,
            "MapStagingArea",
            container,
            width=len(dtypes),
            is_ordered=is_ordered,
        )
        super().__init__(state, dtypes)

    def put(self, key: int, parts: Parts) -> ResourceWait:
        """Return the wait for putting components of an element."""
        check_growth("staging area", self.name)
        return ResourceWait(self, "put", lambda who: self.state.put(who, key, parts))

    def get(self, key: int | None, indices: Sequence[int]) -> ResourceWait:
        """Return the wait for components of an element; any if `key` is None."""
        name = "get" if key is None else f"get({key})"
        wait = Get(self, name, lambda who: self.state.get(who, key, indices))
        wait.indices = indices
        return wait

    def peek(self, key: int, indices: Sequence[int]) -> ResourceWait:
        """Return the wait for seeing components of an element."""
        return Peek(self, f"peek({key})", lambda who: self.state.get(who, key, indices, True))

    def incomplete_size(self) -> int:
        """Return the number of elements that lack a component."""
        with self.lock:
            return len(self.state.incomplete)
