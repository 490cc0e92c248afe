"""`Iterator`: an iterator of a task, which the steps of any session ask in turn."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from collections.abc import Iterator as PythonIterator
from typing import Any

from tfdist.base.aliases import Outcome
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.graph.op_def import PENDING
from tfdist.runtime.resources.prefetch_threads import Threads
from tfdist.runtime.resources.wait_info import WaitInfo


class Iterator:
    """The lock around the generator of a pipeline: one step drives it at a time.

    Attributes:
      name: by which the task finds it.
      container: where.
      dtypes: of the components of its elements.
      shapes: of these, as far as they are known.
      pipeline: what its generators share, and the generator; None before it is initialised.
        Whoever drives one that is replaced goes on with it.
      factory: of a one-shot iterator, the function that makes its dataset.
      threads: makes those that make elements ahead.
    """

    def __init__(
        self, name: str, dtypes: Sequence[DType], shapes: Sequence[Shape], container: str = ""
    ) -> None:
        self.name, self.dtypes, self.shapes = name, dtypes, shapes
        self.container = container or "localhost"
        self.pipeline: tuple[Any, PythonIterator[Any]] | None = None
        self.factory: Any = None
        self.threads = Threads(name)
        self._lock = threading.Lock()
        self._is_busy = self._is_closed = False
        self._line: deque[Turn] = deque()

    def enter(self) -> Turn | None:
        """Begin to drive the pipeline; returns what to wait for if another step drives it."""
        with self._lock:
            if self._is_busy:
                return Turn(self)
            self._is_busy = True
            return None

    def leave(self) -> None:
        """Let the next step in line drive the pipeline."""
        with self._lock:
            following = self._line.popleft() if self._line else None
            self._is_busy = following is not None
            gone = self._given_up()
        del gone
        if following is not None:
            following.finish()

    def close(self) -> None:
        """End the pipeline, as soon as no step drives it."""
        with self._lock:
            self._is_closed = True
            gone = self._given_up()
        del gone  # its generators end here, outside of the lock

    def _given_up(self) -> Outcome:
        """Return the pipeline that nobody will drive any more, None as long as somebody may."""
        if self._is_busy or not self._is_closed:
            return None
        gone, self.pipeline = self.pipeline, None
        return gone


class Turn:
    """The wait for one's turn (a `graph.op_def.Wait`)."""

    __slots__ = ("_done", "_iterator")

    def __init__(self, iterator: Iterator) -> None:
        self._iterator = iterator
        self._done: Callable[[Any], None] | None = None

    def start(self, done: Callable[[Outcome], None]) -> Outcome:
        """See `Wait.start`."""
        iterator, self._done = self._iterator, done
        with iterator._lock:
            if iterator._is_busy:
                iterator._line.append(self)
                return PENDING
            iterator._is_busy = True
        return None

    def finish(self) -> None:
        """Tell that it is one's turn."""
        if self._done is not None:
            self._done(None)

    def cancel(self) -> bool:
        """See `Wait.cancel`."""
        with self._iterator._lock:
            if self not in self._iterator._line:
                return False
            self._iterator._line.remove(self)
            return True

    def give_back(self, outcome: Outcome) -> None:
        """Let others have a turn that came when nobody wanted it any more."""
        self._iterator.leave()

    def describe(self) -> str:
        """See `Wait.describe`."""
        return f"an element of iterator {self._iterator.name!r}, which another step asks now"

    def info(self) -> WaitInfo:
        """See `Wait.info`."""
        return WaitInfo("iterator")
