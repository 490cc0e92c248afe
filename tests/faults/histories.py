"""Checkers: whether what clients were told fits what is there, as etcd's and Jepsen's tests ask.

An operation was acknowledged, or it failed, or its client was killed before it knew: then it may
have happened, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


def check_counter(value: float, acknowledged: int, unknown: int) -> None:
    """Check a counter that clients raised by one.

    Args:
      value: that it has in the end.
      acknowledged: how often a client was told that it was raised.
      unknown: how often a client does not know.

    Raises:
      AssertionError: an acknowledged increment is lost, or one happened twice.
    """
    assert acknowledged <= value <= acknowledged + unknown, (
        f"the counter is {value:g}; {acknowledged} increments were acknowledged, {unknown} more "
        "may have happened"
    )


def check_fifo(taken: Sequence[int], inside: Sequence[int], put: int, unknown_takes: int) -> None:
    """Check a FIFO queue into which 0, 1, 2, ... were put.

    Args:
      taken: what clients were given, in order.
      inside: what is left in the queue, in order.
      put: how many were put in.
      unknown_takes: how many takes ended without the client knowing whether it got something.

    Raises:
      AssertionError: an element is lost, doubled, or out of order.
    """
    seen = [*taken, *inside]
    assert seen == sorted(set(seen)), f"elements came twice or out of order: {seen}"
    assert set(seen) <= set(range(put)), f"elements came that nobody put in: {seen}"
    missing = put - len(seen)
    assert missing <= unknown_takes, (
        f"{missing} of {put} elements are lost, {unknown_takes} may be: {seen}"
    )


@dataclass
class QueueModel:
    """What a FIFO queue holds, as far as the only client at a time was told.

    Attributes:
      inside: its elements.
      pending: the operation under way: ("put", element), ("take", None), or None.
    """

    inside: list[int]
    pending: tuple[str, int | None] | None = None

    def begin(self, operation: str, element: int | None = None) -> None:
        """Note that a client began an operation."""
        self.pending = (operation, element)

    def end(self, element: int) -> None:
        """Note that a client was told what it put, or took."""
        assert self.pending is not None
        operation, _ = self.pending
        if operation == "put":
            self.inside.append(element)
        else:
            assert self.inside, f"{element} was taken from an empty queue"
            assert self.inside[0] == element, f"{element} was taken before {self.inside[0]}"
            self.inside.pop(0)
        self.pending = None

    def settle(self, inside: Sequence[int]) -> bool:
        """Compare with what is really inside after the client was killed.

        Returns:
          Whether the operation under way had happened.

        Raises:
          AssertionError: neither that it had nor that it had not explains what is inside.
        """
        happened = self._if_it_happened()
        assert list(inside) in (self.inside, happened), (
            f"the queue holds {list(inside)}; told: {self.inside}, under way: {self.pending}"
        )
        applied = list(inside) != self.inside
        self.inside, self.pending = list(inside), None
        return applied

    def _if_it_happened(self) -> list[int]:
        match self.pending:
            case ("put", int(element)):
                return [*self.inside, element]
            case ("take", _):
                return self.inside[1:]
        return self.inside


@dataclass
class Counts:
    """How often a counter was raised: what clients were told, and what they do not know."""

    acknowledged: int = 0
    unknown: int = 0


def replay(queue: QueueModel, counts: Counts, lines: Iterable[str]) -> None:
    """Let the models follow what a client printed until it was killed.

    Args:
      queue: follows "put 3", "done 3"; "take", "done 1".
      counts: follows "add", "added".
      lines: the client's.
    """
    adds = 0
    for line in lines:
        word, _, number = line.partition(" ")
        match word:
            case "add":
                adds += 1
            case "added":
                counts.acknowledged += 1
                adds -= 1
            case "done":
                queue.end(int(number))
            case _:
                queue.begin(word, int(number) if number else None)
    counts.unknown += adds
