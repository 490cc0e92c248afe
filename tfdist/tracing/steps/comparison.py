"""Two traces of steps side by side: what took longer, what is gone or new, what moved.

A node is matched by its name, a transfer by its tensor and the task that received it. Times are
those of all runs of a node together, where it ran in a loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tfdist.tracing.steps.aggregates import NodeSum, node_sums
from tfdist.tracing.steps.device_activity import spoken_device
from tfdist.tracing.steps.node_row import COMPUTE, QUEUE, TRANSFER, NodeRow

SAME = 0.02  # share of the longer step's time in which two steps count as equally long
DID = {COMPUTE: "computed", QUEUE: "was at", TRANSFER: "received"}
A_SHARE = 0.1  # of the whole difference that a node makes, at least, to be told in the sentence


@dataclass(frozen=True, slots=True)
class Pair:
    """A node or transfer of both traces, or of one.

    Attributes:
      a: what it was in the first trace, or None.
      b: what it was in the second, or None.
    """

    a: NodeSum | None
    b: NodeSum | None

    @property
    def row(self) -> NodeRow:
        """Return its first run, of the second trace if it is there."""
        either = self.b or self.a
        assert either is not None
        return either.row

    @property
    def is_transfer(self) -> bool:
        """Return whether it is a tensor that crossed."""
        return self.row.kind == TRANSFER

    @property
    def change_us(self) -> float:
        """Return the microseconds by which it took longer in the second trace."""
        return _took(self.b) - _took(self.a)

    @property
    def ratio(self) -> float | None:
        """Return how many times as long it took in the second trace; None if that is no number."""
        return _took(self.b) / _took(self.a) if self.a and self.b and _took(self.a) else None

    @property
    def has_moved(self) -> bool:
        """Return whether it ran on another device."""
        both = self.a is not None and self.b is not None
        return both and self.a.row.device != self.b.row.device  # type: ignore[union-attr]


@dataclass(frozen=True)
class Comparison:
    """What two steps have in common and what not.

    Attributes:
      pairs: of nodes and transfers, the greatest change first.
      spans_us: how long each step took.
      names: of the traces, for sentences.
    """

    pairs: tuple[Pair, ...]
    spans_us: tuple[float, float]
    names: tuple[str, str] = ("A", "B")

    @property
    def changed(self) -> list[Pair]:
        """Return the nodes and transfers of both steps, the greatest change first."""
        return [pair for pair in self.pairs if pair.a and pair.b]

    @property
    def moved(self) -> list[Pair]:
        """Return the nodes that ran on another device."""
        return [pair for pair in self.pairs if pair.has_moved and not pair.is_transfer]

    @property
    def gone(self) -> list[Pair]:
        """Return what the second step has no more."""
        return [pair for pair in self.pairs if pair.b is None]

    @property
    def new(self) -> list[Pair]:
        """Return what only the second step has."""
        return [pair for pair in self.pairs if pair.a is None]

    def sentence(self, duration: Any = None) -> str:
        """Return what the difference is, the most important thing first.

        Args:
          duration: makes a text of microseconds; without it no times are told.
        """
        told = [*self._slower(duration), *self._counted()]
        return (
            f"{self._whole(duration)}: {'; '.join(told)}." if told else f"{self._whole(duration)}."
        )

    def _whole(self, duration: Any) -> str:
        a, b = self.spans_us
        first, second = self.names
        if duration is None:
            return f"{second} beside {first}"
        if abs(b - a) <= SAME * max(a, b):
            return f"{second} took as long as {first} ({duration(b)})"
        more = "more" if b > a else "less"
        return f"{second} took {duration(abs(b - a))} {more} than {first}"

    def _slower(self, duration: Any) -> list[str]:
        """Return what the node did that made most of the difference, if one did."""
        a, b = self.spans_us
        if duration is None or abs(b - a) <= SAME * max(a, b):
            return []
        same_way = (p for p in self.changed if p.change_us * (b - a) >= A_SHARE * (b - a) ** 2)
        found = next(same_way, None)
        if found is None:
            return []
        did = DID[found.row.kind]
        where = spoken_device(found.row.device)
        took = times_text(found.ratio) or f"in {duration(found.change_us)} more"
        return [f"{where} {did} {found.row.name} {took}"]

    def _counted(self) -> list[str]:
        told = []
        for is_transfer, noun in ((True, "transfer"), (False, "node")):
            more = sum(pair.is_transfer is is_transfer for pair in self.new)
            fewer = sum(pair.is_transfer is is_transfer for pair in self.gone)
            if more and fewer:
                told.append(f"{_count(fewer, noun)} gone, {more} new")
            elif more or fewer:
                told.append(f"{_count(more or fewer, noun)} {'more' if more else 'fewer'}")
        if self.moved:
            told.append(f"{_count(len(self.moved), 'node')} on another device")
        return told


def compare(
    a: Sequence[NodeRow], b: Sequence[NodeRow], names: tuple[str, str] = ("A", "B")
) -> Comparison:
    """Return what two steps have in common and what not.

    Args:
      a: rows of the first step.
      b: rows of the second.
      names: of both, for sentences.
    """
    first, second = _by_identity(a), _by_identity(b)
    pairs = [Pair(first.get(key), second.get(key)) for key in dict.fromkeys([*first, *second])]
    pairs.sort(key=lambda pair: (-abs(pair.change_us), pair.row.device, pair.row.name))
    return Comparison(tuple(pairs), (_span(a), _span(b)), names)


def times_text(ratio: float | None) -> str:
    """Return a ratio of times in words: "in half the time", "in 2.1 times the time"."""
    if ratio is None:
        return ""
    if 0.45 <= ratio <= 0.55:
        return "in half the time"
    return f"in {ratio:.0%} of the time" if ratio < 1 else f"in {ratio:.3g} times the time"


def _by_identity(step_rows: Iterable[NodeRow]) -> dict[tuple[Any, ...], NodeSum]:
    """Return the sums by what is the same in both steps: the second of one name is another one."""
    found: dict[tuple[Any, ...], NodeSum] = {}
    for each in node_sums(step_rows):
        row, number = each.row, 0
        to = row.device if row.kind == TRANSFER else ""
        while (row.name, to, row.rounds.loops, number) in found:
            number += 1
        found[row.name, to, row.rounds.loops, number] = each
    return found


def _took(each: NodeSum | None) -> float:
    return each.total_us if each else 0.0


def _span(step_rows: Iterable[NodeRow]) -> float:
    return max((row.end_us for row in step_rows), default=0.0)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
