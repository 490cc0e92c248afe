"""What a reader does, as a pure table: no lock, no thread, no file.

Steps that read stand in a line, and one at a time has its turn: it takes records of the item that
the reader is at, or, if there is none, waits for a queue to give the next item. The calls that move
the line return the completions, (who, outcome), of whoever is served by that.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

Completion = tuple[Any, Any]


@dataclass
class ReaderState:
    """A reader's line, counts, and the item it is at.

    Attributes:
      work: the item that it is at, or was at last; empty before the first one, and while the next
        one is waited for.
      started: how many items it took from queues.
      finished: how many of them it read to their ends.
      produced: how many records it gave.
    """

    work: bytes = b""
    started: int = 0
    finished: int = 0
    produced: int = 0
    is_taken: bool = False
    line: deque[Hashable] = field(default_factory=deque)

    def enter(self) -> bool:
        """Take the turn if nobody has it; returns whether that is so."""
        was_taken, self.is_taken = self.is_taken, True
        return not was_taken

    def stand(self, who: Hashable) -> list[Completion]:
        """Let `who` stand in line for the turn."""
        if self.enter():
            return [(who, None)]
        self.line.append(who)
        return []

    def leave(self) -> list[Completion]:
        """End the turn, and give it to the next in line."""
        self.is_taken = bool(self.line)
        return [(self.line.popleft(), None)] if self.line else []

    def cancel(self, who: Hashable) -> bool:
        """Let `who` leave the line; returns whether it stood there."""
        if who not in self.line:
            return False
        self.line.remove(who)
        return True

    def begin(self, work: bytes) -> None:
        """Go to an item that came from a queue."""
        self.work = work
        self.started += 1

    def reset(self) -> None:
        """Be at no item, and have read nothing yet; the line stays."""
        self.work = b""
        self.started = self.finished = self.produced = 0
