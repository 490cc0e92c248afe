"""What a queue does, as a pure table: no lock, no thread.

Producers and consumers stand in two lines. Each call below moves what can be moved and returns the
completions: (who, outcome) of everyone who is now served, in order. An outcome is a list of
elements for a consumer, None for a producer, or the error that ends the wait.

A consumer of many elements collects them one by one from the front, so that it can want more than
the queue holds; if it gives up, they go back to the front in their order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tfdist.errors import CancelledError, OutOfRangeError

Completion = tuple[Any, Any]


@dataclass
class Put:
    """A producer in line, with the elements that it has still to put."""

    who: Hashable
    elements: deque[Any]


@dataclass
class Take:
    """A consumer in line."""

    who: Hashable
    wanted: int
    up_to: bool  # whether fewer are enough once the queue is closed
    got: list[Any] = field(default_factory=list)


@dataclass
class QueueState:
    """A first-in-first-out queue of at most `capacity` elements (-1: without bound)."""

    name: str
    capacity: int
    elements: deque[Any] = field(default_factory=deque)
    puts: deque[Put] = field(default_factory=deque)
    takes: deque[Take] = field(default_factory=deque)
    closed: bool = False

    def put(self, who: Hashable, elements: Sequence[Any]) -> list[Completion]:
        """Let `who` put `elements`."""
        if self.closed:
            return [(who, CancelledError(f"queue {self.name!r} is closed"))]
        self.puts.append(Put(who, deque(elements)))
        return self._settle()

    def take(self, who: Hashable, wanted: int, up_to: bool = False) -> list[Completion]:
        """Let `who` take `wanted` elements; fewer from a closed queue if `up_to`."""
        self.takes.append(Take(who, wanted, up_to))
        return self._settle()

    def close(self, cancel_pending: bool = False) -> list[Completion]:
        """Take no more elements, but those of producers in line unless `cancel_pending`."""
        self.closed = True
        done: list[Completion] = []
        if cancel_pending:
            why = f"queue {self.name!r} was closed before this enqueue found room"
            done = [(put.who, CancelledError(why)) for put in self.puts]
            self.puts.clear()
        return done + self._settle()

    def cancel(self, who: Hashable) -> tuple[bool, list[Completion]]:
        """Let `who` leave its line; returns whether it stood there, and who is served by that."""
        for put in self.puts:
            if put.who is who:
                self.puts.remove(put)
                return True, self._settle()
        for take in self.takes:
            if take.who is who:
                self.takes.remove(take)
                return True, self.give_back(take.got)
        return False, []

    def give_back(self, elements: Sequence[Any]) -> list[Completion]:
        """Put `elements`, which had been taken, to the front again."""
        self.elements.extendleft(reversed(elements))
        return self._settle()

    def missing(self, who: Hashable) -> int:
        """Return how many elements or places `who` still waits for; 0 if it is not in line."""
        for put in self.puts:
            if put.who is who:
                return len(put.elements)
        return next((t.wanted - len(t.got) for t in self.takes if t.who is who), 0)

    def _settle(self) -> list[Completion]:
        """Move elements until nobody can go on."""
        done: list[Completion] = []
        while self._admit(done) or self._serve(done):
            pass
        if self.closed and not self.puts:
            self._dismiss(done)
        return done

    def _admit(self, done: list[Completion]) -> bool:
        moved = False
        while self.puts and (self.capacity < 0 or len(self.elements) < self.capacity):
            put = self.puts[0]
            if put.elements:
                self.elements.append(put.elements.popleft())
            if not put.elements:
                self.puts.popleft()
                done.append((put.who, None))
            moved = True
        return moved

    def _serve(self, done: list[Completion]) -> bool:
        moved = False
        while self.takes and (self.elements or self.takes[0].wanted <= len(self.takes[0].got)):
            take = self.takes[0]
            while self.elements and len(take.got) < take.wanted:
                take.got.append(self.elements.popleft())
                moved = True
            if len(take.got) < take.wanted:
                break
            self.takes.popleft()
            done.append((take.who, take.got))
        return moved

    def _dismiss(self, done: list[Completion]) -> None:
        """Answer the consumers of a closed queue, who would wait for ever."""
        while self.takes:
            take = self.takes.popleft()
            if take.up_to and take.got:
                done.append((take.who, take.got))
                continue
            self.elements.extendleft(reversed(take.got))
            why = (
                f"queue {self.name!r} is closed and has insufficient elements (requested "
                f"{take.wanted}, current size {len(self.elements)})"
            )
            done.append((take.who, OutOfRangeError(why)))
