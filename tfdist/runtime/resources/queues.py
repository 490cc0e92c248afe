"""`Queue`: `QueueState` with a lock around it, and what it holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdist.base.aliases import TensorValue
from tfdist.base.dtypes import DType
from tfdist.base.room import ROOM
from tfdist.base.shuffling import words_of
from tfdist.base.tensor_shape import ShapeLike
from tfdist.errors import CancelledError
from tfdist.graph.op_def import PENDING
from tfdist.runtime.resources.exhausted import check_growth
from tfdist.runtime.resources.locked_resource import LockedResource, ResourceWait, tell
from tfdist.runtime.resources.queue_rows import Pool, Rows, no_rows
from tfdist.runtime.resources.queue_state import QueueState
from tfdist.runtime.resources.queue_stores import Fifo, Heap, Shuffle, Store


class Queue(LockedResource[QueueState]):
    """A queue that steps of any session can wait for.

    Args:
      name: for messages.
      capacity: how many elements it holds at most; -1 if there is no bound.
      dtypes: of the components.
      shapes: of the components, plain; [] if they are not known.
      kind: the class that programs make.
      container: in which it is found.
      min_after_dequeue: how many stay in while it is open.
      seeds: two numbers, for a queue that shuffles.

    Attributes:
      accepted: the attribute of the node that asked last, and was found to fit.
    """

    def __init__(
        self,
        name: str,
        capacity: int,
        dtypes: Sequence[DType],
        shapes: Sequence[ShapeLike],
        kind: str = "FIFOQueue",
        container: str = "",
        min_after_dequeue: int = 0,
        seeds: tuple[int, int] = (0, 0),
    ) -> None:
        self.kind, self.dtypes, self.shapes = kind, dtypes, shapes
        self.seeds = seeds
        self.accepted: Any = None
        store = _store(kind, dtypes, shapes, seeds)
        super().__init__(QueueState(name, capacity, store, min_after_dequeue, kind, container))

    def put(self, elements: TensorValue) -> ResourceWait:
        """Return the wait for putting a batch of elements."""
        check_growth("queue", self.name)
        return ResourceWait(self, "enqueue", lambda who: self.state.put(who, elements))

    def put_one(self, components: Sequence[TensorValue]) -> ResourceWait:
        """Return the wait for putting one element."""
        return self.put(Rows.one(components))

    def put_many(self, components: Sequence[TensorValue]) -> ResourceWait:
        """Return the wait for putting the rows of arrays."""
        return self.put(Rows.many(components))

    def take(self, count: int, up_to: bool = False) -> ResourceWait:
        """Return the wait for `count` elements; fewer from a closed queue if `up_to`."""
        name = "dequeue" if count == 1 else f"dequeue_many({count})"
        return ResourceWait(self, name, lambda who: self.state.take(who, count, up_to))

    def put_now(self, components: Sequence[TensorValue]) -> TensorValue:
        """Put one element if there is room; returns `PENDING` if that has to wait."""
        if ROOM.is_short:
            check_growth("queue", self.name)
        served: list[Any] = []
        self.hold()
        try:
            if not self.state.admits(1):
                return PENDING
            self.state.accept(Rows.one(components), served)
        finally:
            self.lock.release()
        if served:
            tell(served)
        return None

    def take_now(self, count: int) -> TensorValue:
        """Return `count` elements, 1 at least; `PENDING` if they have to be waited for."""
        served: list[Any] = []
        self.hold()
        try:
            if not self.state.gives(count):
                return PENDING
            taken = self.state.give(count, served)
        finally:
            self.lock.release()
        if served:
            tell(served)
        return taken

    def together(self, elements: Rows | None) -> list[TensorValue]:
        """Return each component of `elements`, None for no elements, as one array."""
        if elements is None:
            return no_rows(self.dtypes, self.shapes)
        return elements.padded(self.shapes) if self.kind == _PADDING else elements.stacked()

    def close(self, cancel_pending: bool) -> None:
        """Close the queue; see `QueueState.close`.

        Raises:
          CancelledError: it was closed before, and there is nothing to cancel.
        """
        if self.state.closed and not cancel_pending:
            raise CancelledError(f"{self.kind} {self.name!r} is already closed.")
        self.change(lambda: self.state.close(cancel_pending))

    def size(self) -> int:
        """Return the number of elements in the queue."""
        with self.lock:
            return len(self.state.elements)

    @property
    def closed(self) -> bool:
        """Return whether the queue was closed."""
        closed: bool = self.state.closed
        return closed

    def describe(self, wait: ResourceWait) -> str:
        """Return what `wait` waits for."""
        state = self.state
        with self.lock:
            missing, size = state.missing(wait), len(state.elements)
        what = "element" if wait.call.startswith("dequeue") else "free place"
        plural = "" if missing == 1 else "s"
        bound = f" of {state.capacity}" * (state.capacity >= 0)
        least = state.min_after_dequeue
        kept = f", and keeps {least} of them until it is closed" * (least > 0 and not state.closed)
        return (
            f"{wait.call} on queue {self.name!r} waits for {missing} more {what}{plural} "
            f"(it holds {size}{bound}{kept})"
        )


_PADDING = "PaddingFIFOQueue"


def _store(
    kind: str, dtypes: Sequence[DType], shapes: Sequence[ShapeLike], seeds: tuple[int, int]
) -> Store:
    if kind == "PriorityQueue":
        return Heap(_priority)
    if kind != "RandomShuffleQueue":
        return Fifo()
    words = words_of(*seeds)
    if not shapes or any(shape is None or None in shape for shape in shapes):
        return Shuffle(words)
    return Pool(words, [np.dtype(each.as_numpy_dtype) for each in dtypes], shapes)


def _priority(element: Rows) -> int:
    [(priority, *_)] = element
    return int(priority)
