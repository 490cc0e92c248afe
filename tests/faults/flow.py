"""A checker: how elements went through a FIFO queue that many clients fill and empty at a time.

Whoever is killed leaves one call of unknown outcome: a put of which a beginning may have happened,
or a take that may have removed as many elements as it was to give.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

Element = tuple[int, int]  # its producer's number, and its own: 0, 1, 2, ... for each producer


@dataclass
class Producer:
    """What a producer was told, that put its elements in.

    Attributes:
      acknowledged: how many of them it was told are inside.
      pending: how many more the call under way was to put; 0 if none was.
    """

    acknowledged: int = 0
    pending: int = 0

    def hear(self, line: str) -> None:
        """Follow what it printed: "put 3", then "done" or "refused"."""
        word, _, rest = line.partition(" ")
        if word == "put":
            self.pending = int(rest)
            return
        self.acknowledged += self.pending if word == "done" else 0
        self.pending = 0


@dataclass
class Trainer:
    """What a trainer was given.

    Attributes:
      taken: elements, in order.
      pending: how many the call under way was to take; 0 if none was.
    """

    taken: list[Element] = field(default_factory=list)
    pending: int = 0

    def hear(self, line: str) -> None:
        """Follow what it printed: "take 2", then "got 0:7 1:3" or "refused"."""
        word, _, rest = line.partition(" ")
        if word == "take":
            self.pending = int(rest)
            return
        pairs = [each.partition(":") for each in rest.split()]
        assert word != "got" or len(pairs) == self.pending, f"{self.pending} wanted: {line}"
        self.taken += [(int(producer), int(number)) for producer, _, number in pairs]
        self.pending = 0


@dataclass(frozen=True)
class Flow:
    """How many elements went where: put = taken + inside + lost.

    Attributes:
      put: went in, as far as anybody saw.
      untold: of these were not acknowledged, for their producer was killed.
      taken: trainers wrote down.
      inside: are left.
      lost: went to trainers that were killed before they could write them down.
    """

    put: int
    untold: int
    taken: int
    inside: int
    lost: int


def check_flow(
    producers: Mapping[int, Producer], trainers: Sequence[Trainer], inside: Sequence[Element]
) -> Flow:
    """Check that no element is lost, doubled or out of order, but for calls of unknown outcome.

    Args:
      producers: all that there were, by their numbers.
      trainers: all that there were.
      inside: what is left in the queue, in order.

    Raises:
      AssertionError: an element came twice, out of its producer's order or from nowhere, or more
        are lost than takes of unknown outcome explain.
    """
    taken = [each for trainer in trainers for each in trainer.taken]
    for elements in (*(trainer.taken for trainer in trainers), inside):
        _check_order(elements)
    seen, left = _by_producer([*taken, *inside]), _by_producer(inside)
    assert set(seen) <= set(producers), f"elements came of producers {set(seen) - set(producers)}"
    takes = [trainer.pending for trainer in trainers if trainer.pending]
    put = lost = 0
    for number, producer in producers.items():
        numbers = sorted(seen.get(number, []))
        count = _count(number, producer, numbers, left.get(number, []))
        missing = sorted(set(range(count)) - set(numbers))
        gaps = sum(later - earlier > 1 for earlier, later in pairwise([-2, *missing]))
        assert gaps <= len(takes), f"{gaps} takes of producer {number} are lost: {missing}"
        put, lost = put + count, lost + len(missing)
    assert lost <= sum(takes), f"{lost} elements are lost, {sum(takes)} may be"
    untold = put - sum(each.acknowledged for each in producers.values())
    flow = Flow(put, untold, len(taken), len(inside), lost)
    assert flow.put == flow.taken + flow.inside + flow.lost, str(flow)
    return flow


def _count(number: int, producer: Producer, seen: Sequence[int], left: Sequence[int]) -> int:
    """Return how many elements a producer has put in at least.

    Args:
      number: of the producer.
      producer: what it was told.
      seen: of its elements, sorted.
      left: of these, inside the queue.
    """
    assert len(seen) == len(set(seen)), f"elements of producer {number} came twice"
    assert list(left) == list(seen)[len(seen) - len(left) :], (
        f"of producer {number}, {left[0]} is inside, a later one was taken"
    )
    count = max([producer.acknowledged, *(each + 1 for each in seen[-1:])])
    most = producer.acknowledged + producer.pending
    assert count <= most, f"producer {number} put {most} elements at most, but {count - 1} came"
    return count


def _by_producer(elements: Iterable[Element]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for producer, number in elements:
        found.setdefault(producer, []).append(number)
    return found


def _check_order(elements: Sequence[Element]) -> None:
    for producer, numbers in _by_producer(elements).items():
        for earlier, later in pairwise(numbers):
            assert earlier != later, f"element {later} of producer {producer} came twice"
            assert earlier < later, f"of producer {producer}, {later} came after {earlier}"
