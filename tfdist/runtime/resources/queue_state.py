"""The state machine of a queue, as a pure table: no lock, no thread.

Backpressure: a queue that is full lets its producers wait. They and the consumers stand in two
lines. Each call below moves what can be moved and returns the
completions: (who, outcome) of everyone who is now served, in order. An outcome is a batch of
elements for a consumer, None for a producer, or the error that ends the wait. What a batch is, and
in which order elements leave, is the store's business (`queue_stores`).

A consumer of many elements collects them as they come, so that it can want more than the queue
holds; if it gives up, they go back to where they were.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from tfdist.errors import CancelledError, OutOfRangeError
from tfdist.runtime.resources.queue_stores import Batch, Fifo, Store
from tfdist.runtime.resources.wait_info import ResourceInfo, Waiting

Completion = tuple[Any, Any]


@dataclass(eq=False)
class Put:
    """A producer in line, with the elements that it has still to put."""

    who: Hashable
    elements: Batch


@dataclass(eq=False)
class Take:
    """A consumer in line."""

    who: Hashable
    wanted: int
    up_to: bool  # whether fewer are enough once the queue is closed
    got: Batch = ()


@dataclass(eq=False)
class QueueState:
    """A queue of at most `capacity` elements (-1: without bound).

    Attributes:
      min_after_dequeue: how many elements nobody gets while it is open.
      kind: the class that programs make.
    """

    name: str
    capacity: int
    elements: Store = field(default_factory=Fifo)
    min_after_dequeue: int = 0
    kind: str = "FIFOQueue"
    container: str = ""
    puts: deque[Put] = field(default_factory=deque)
    takes: deque[Take] = field(default_factory=deque)
    closed: bool = False

    def admits(self, count: int) -> bool:
        """Return whether who puts `count` elements now need not wait."""
        fits = self.capacity < 0 or len(self.elements) + count <= self.capacity
        return fits and not (self.closed or self.puts)

    def gives(self, count: int) -> bool:
        """Return whether who takes `count` elements now, 1 at least, need not wait."""
        kept = 0 if self.closed else self.min_after_dequeue
        return not self.takes and 0 < count <= len(self.elements) - kept

    def accept(self, elements: Batch, done: list[Completion]) -> None:
        """Take `elements`, if `admits` says so; what that completes is added to `done`."""
        self.elements.add(elements)
        if self.takes:
            self._serve(done)

    def give(self, count: int, done: list[Completion]) -> Batch:
        """Return `count` elements, if `gives` says so; what that completes is added to `done`."""
        taken = self.elements.take(count)
        if self.puts:
            self._admit(done)
        return taken

    def put(self, who: Hashable, elements: Batch) -> list[Completion]:
        """Let `who` put `elements`."""
        if self.closed:
            return [(who, CancelledError(f"{self.kind} {self.name!r} is closed."))]
        if self.admits(len(elements)):
            done: list[Completion] = [(who, None)]
            self.accept(elements, done)
            return done
        self.puts.append(Put(who, elements))
        return self._settle()

    def take(self, who: Hashable, wanted: int, up_to: bool = False) -> list[Completion]:
        """Let `who` take `wanted` elements; fewer from a closed queue if `up_to`."""
        if self.gives(wanted):
            served: list[Completion] = []
            taken = self.give(wanted, served)
            return [(who, taken), *served]
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

    def give_back(self, elements: Batch) -> list[Completion]:
        """Put `elements`, which had been taken, to the front again."""
        if len(elements):
            self.elements.give_back(elements)
        return self._settle()

    def missing(self, who: Hashable) -> int:
        """Return how many elements or places `who` still waits for; 0 if it is not in line."""
        for put in self.puts:
            if put.who is who:
                return len(put.elements)
        for take in self.takes:
            if take.who is who:
                return self._missing(take)
        return 0

    def info(self) -> ResourceInfo:
        """Return what is to be told of this moment."""
        return ResourceInfo(
            self.kind,
            self.name,
            self.container,
            len(self.elements),
            self.capacity,
            self.min_after_dequeue,
            self.closed,
            tuple(Waiting(put.who, len(put.elements)) for put in self.puts),
            tuple(Waiting(take.who, self._missing(take)) for take in self.takes),
        )

    def _missing(self, take: Take) -> int:
        inside = len(self.elements)
        kept = 0 if self.closed else min(self.min_after_dequeue, inside)
        lacking = 0 if self.closed else self.min_after_dequeue - kept
        return take.wanted - len(take.got) + lacking

    @property
    def _room(self) -> int:
        return sys.maxsize if self.capacity < 0 else self.capacity - len(self.elements)

    @property
    def _free(self) -> int:
        """Return how many elements may be taken now."""
        return len(self.elements) - (0 if self.closed else self.min_after_dequeue)

    def _settle(self) -> list[Completion]:
        """Move elements until nobody can go on."""
        done: list[Completion] = []
        while self._admit(done) or self._serve(done):
            pass
        while self.closed and not self.puts and self.takes:
            self._dismiss(done)
            self._serve(done)
        return done

    def _admit(self, done: list[Completion]) -> bool:
        room, moved = self._room, False
        while room > 0 and self.puts:
            put = self.puts[0]
            batch, size = put.elements, len(put.elements)
            if size <= room:
                self.puts.popleft()
                done.append((put.who, None))
            else:
                batch, put.elements = batch[:room], batch[room:]
            self.elements.add(batch)
            room -= size
            moved = True
        return moved

    def _serve(self, done: list[Completion]) -> bool:
        moved = False
        while self.takes:
            take = self.takes[0]
            missing = take.wanted - len(take.got)
            count = min(missing, self._now(missing))
            if count > 0:
                self._collect(take, count, missing)
                moved = True
            if count < missing:
                break
            self.takes.popleft()
            done.append((take.who, take.got))
        return moved

    def _collect(self, take: Take, count: int, missing: int) -> None:
        new = self.elements.take(count)
        if len(take.got):
            take.got += new
        else:
            take.got = new if count == missing else new[:]  # its own, for more will be added

    def _now(self, missing: int) -> int:
        """Return how many elements the first in line gets at once."""
        is_full = 0 <= self.capacity <= len(self.elements)
        waits = not self.elements.is_piecemeal and self._free < missing
        return 0 if waits and not (is_full or self.closed) else self._free

    def _dismiss(self, done: list[Completion]) -> None:
        """Answer the first consumer of a closed queue, who would wait for ever."""
        take = self.takes.popleft()
        wanted, got = take.wanted, len(take.got)
        if take.up_to and got and self.elements.gives_fewer:
            done.append((take.who, take.got))
            return
        if take.up_to:
            wanted -= got  # TensorFlow's PriorityQueue loses what it had collected
        elif got:
            self.elements.give_back(take.got)
        why = (
            f"{self.kind} {self.name!r} is closed and has insufficient elements (requested "
            f"{wanted}, current size {len(self.elements)})"
        )
        done.append((take.who, OutOfRangeError(why)))
