"""State that outlives steps: variables and queues, by container, kind and name."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tfdist.errors import FailedPreconditionError
from tfdist.graph.op_def import PENDING
from tfdist.runtime.queue_state import Completion, QueueState


class Variable:
    """A variable's value, or None before it is initialised.

    The array is never written in place: who has read it keeps what was read.
    """

    __slots__ = ("lock", "name", "value")

    def __init__(self, name: str) -> None:
        self.name = name
        self.value: Any = None
        self.lock = threading.Lock()

    def read(self) -> Any:
        """Return the value; FailedPreconditionError before it is initialised."""
        value = self.value
        if value is None:
            raise FailedPreconditionError(
                f"attempting to use uninitialized value {self.name}; run its initializer first, "
                "as in session.run(tf.global_variables_initializer())"
            )
        return value

    def assign(self, value: Any) -> None:
        """Set the value."""
        self.value = value

    def update(self, function: Callable[[Any], Any]) -> Any:
        """Set the value to `function` of it, whole: concurrent updates are not lost."""
        with self.lock:
            self.value = value = function(self.read())
        return value


class Queue:
    """A queue that steps of any session can wait for: `QueueState` with a lock around it."""

    def __init__(self, name: str, capacity: int, dtypes: list[Any], shapes: list[Any]) -> None:
        self.name = name
        self.dtypes = dtypes
        self.shapes = shapes
        self.state = QueueState(name, capacity)
        self.lock = threading.Lock()

    def put(self, elements: list[Any]) -> QueueWait:
        """Return the wait for putting `elements`."""
        return QueueWait(self, "enqueue", lambda who: self.state.put(who, elements))

    def take(self, count: int, up_to: bool = False) -> QueueWait:
        """Return the wait for `count` elements; fewer from a closed queue if `up_to`."""
        name = "dequeue" if count == 1 else f"dequeue_many({count})"
        return QueueWait(self, name, lambda who: self.state.take(who, count, up_to))

    def close(self, cancel_pending: bool) -> None:
        """Close the queue; see `QueueState.close`."""
        with self.lock:
            served = self.state.close(cancel_pending)
        _tell(served)

    def size(self) -> int:
        """Return the number of elements in the queue."""
        with self.lock:
            return len(self.state.elements)

    @property
    def closed(self) -> bool:
        """Return whether the queue was closed."""
        return self.state.closed


class QueueWait:
    """One enqueue or dequeue that may have to wait (a `graph.op_def.Wait`)."""

    __slots__ = ("_begin", "_done", "_name", "_queue")

    def __init__(self, queue: Queue, name: str, begin: Callable[[Any], list[Completion]]) -> None:
        self._queue, self._name, self._begin = queue, name, begin
        self._done: Callable[[Any], None] | None = None

    def start(self, done: Callable[[Any], None]) -> Any:
        """Stand in line; see `Wait.start`."""
        self._done = done
        with self._queue.lock:
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

    def finish(self, outcome: Any) -> None:
        """Give the outcome to whoever started this wait."""
        if self._done is not None:
            self._done(outcome)

    def cancel(self) -> bool:
        """Leave the line; see `Wait.cancel`."""
        with self._queue.lock:
            found, served = self._queue.state.cancel(self)
        _tell(served)
        return found

    def give_back(self, outcome: Any) -> None:
        """Return elements that came when nobody wanted them any more."""
        if isinstance(outcome, list):
            with self._queue.lock:
                served = self._queue.state.give_back(outcome)
            _tell(served)

    def describe(self) -> str:
        """Return what is waited for."""
        state = self._queue.state
        with self._queue.lock:
            missing = state.missing(self)
        what = "element" if self._name.startswith("dequeue") else "free place"
        plural = "" if missing == 1 else "s"
        bound = f" of {state.capacity}" * (state.capacity >= 0)
        return (
            f"{self._name} on queue {self._queue.name!r} waits for {missing} more {what}{plural} "
            f"(it holds {len(state.elements)}{bound})"
        )


def _tell(served: Iterable[Completion]) -> None:
    for who, outcome in served:
        who.finish(outcome)


_KINDS: dict[str, Any] = {"variable": Variable, "queue": Queue, "counter": itertools.count}
DEFAULT_CONTAINER = "localhost"


class Resources:
    """All state of a task."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], Any] = {}
        self._lock = threading.Lock()

    def find(self, kind: str, container: str, name: str, make: Callable[[Any], Any]) -> Any:
        """Return the resource of that name; `make(class of the kind)` if it is new."""
        key = (container or DEFAULT_CONTAINER, kind, name)
        found = self._found.get(key)
        if found is not None:
            return found
        with self._lock:
            return self._found.get(key) or self._found.setdefault(key, make(_KINDS[kind]))

    def clear(self, containers: Iterable[str] = ()) -> None:
        """Forget what is in `containers`; everything if none is named."""
        names = set(containers)
        with self._lock:
            gone = [key for key in self._found if not names or key[0] in names]
            for key in gone:
                del self._found[key]

    def rows(self) -> list[tuple[str, str, str, Any]]:
        """Return (container, kind, name, resource) of everything, sorted."""
        with self._lock:
            return sorted((*key, value) for key, value in self._found.items())


class Generators:
    """Random generators, one per node, which live as long as the session."""

    def __init__(self) -> None:
        self._made: dict[str, np.random.Generator] = {}

    def find(self, node: str, seed: int, seed2: int) -> np.random.Generator:
        """Return the node's generator; a fresh unpredictable one if both seeds are 0."""
        made = self._made.get(node)
        if made is None:
            entropy = None if not (seed or seed2) else [seed & _MASK, seed2 & _MASK]
            made = self._made.setdefault(node, np.random.default_rng(entropy))
        return made


_MASK = 2**64 - 1  # seeds may be negative; NumPy takes none below 0
