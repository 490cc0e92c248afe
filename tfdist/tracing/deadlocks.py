"""Deadlock detection in the wait-for graph: which waits will end, and which not; pure.

A wait can end if one of those who give what it needs can go on: if all that waits before the giver
can end. What is left over when no more can be said to end is stuck; among the stuck, a chain that
comes back to where it began is a deadlock. Of what is not known, no such thing is said.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tfdist.tracing.waits import PendingOp, Place, Report, Wait


class DeadlockAnalysis(NamedTuple):
    """What follows from a report.

    Attributes:
      givers: for each wait, what steps in flight will do to end it.
      stuck: the waits that nothing in flight will end.
      cycles: the deadlocks: waits of which each waits for the next one, the last for the first.
    """

    givers: Mapping[Place, tuple[PendingOp, ...]]
    stuck: frozenset[Place]
    cycles: tuple[tuple[Place, ...], ...]


def analyze_deadlocks(report: Report) -> DeadlockAnalysis:
    """Return which waits of a report are stuck, and the deadlocks among them.

    Example: two steps, each of which fills the queue that the other one waits for, later.
      >>> waits = (
      ...     Wait(1, "w", "a", "", "", "queue", "", needs="elements of p", stock="p"),
      ...     Wait(2, "w", "b", "", "", "queue", "", needs="elements of q", stock="q"),
      ... )
      >>> deeds = (
      ...     PendingOp("elements of q", "x", "", "w", 1, behind=("a",)),
      ...     PendingOp("elements of p", "y", "", "w", 2, behind=("b",)),
      ... )
      >>> analyze_deadlocks(Report(waits=waits, deeds=deeds)).cycles
      (((1, 'w', 'a'), (2, 'w', 'b')),)
    """
    waits = {wait.place: wait for wait in report.waits}
    by_key: dict[str, list[PendingOp]] = {}
    for pending in report.deeds:
        if pending.step:
            by_key.setdefault(pending.gives, []).append(pending)
    givers = {place: tuple(by_key.get(wait.needs, ())) for place, wait in waits.items()}
    stuck = _stuck(waits, givers)
    blockers = {place: _blockers(givers[place], stuck) for place in waits if place in stuck}
    return DeadlockAnalysis(givers, stuck, _cycles(blockers))


def _stuck(
    waits: Mapping[Place, Wait], givers: Mapping[Place, Sequence[PendingOp]]
) -> frozenset[Place]:
    """Return what is left when all is taken away that can end."""
    left = set(waits)
    while True:
        ending = {
            place
            for place in left
            if _is_open(waits[place], givers[place])
            or any(not left.intersection(before(pending)) for pending in givers[place])
        }
        if not ending:
            return frozenset(left)
        left -= ending


def _is_open(wait: Wait, givers: Sequence[PendingOp]) -> bool:
    """Return whether it is not known who could end a wait: of a queue, its own task knows."""
    return not wait.needs or not (wait.stock or givers)


def before(pending: PendingOp) -> list[Place]:
    """Return the places of what waits before a pending op."""
    return [(pending.step, pending.task, name) for name in pending.behind]


def _blockers(givers: Sequence[PendingOp], stuck: frozenset[Place]) -> list[Place]:
    found = (place for pending in givers for place in before(pending) if place in stuck)
    return list(dict.fromkeys(found))


def _cycles(blockers: Mapping[Place, Sequence[Place]]) -> tuple[tuple[Place, ...], ...]:
    """Return a shortest cycle through each place that is in one; a place is in one of them."""
    found: list[tuple[Place, ...]] = []
    seen: set[Place] = set()
    for place in sorted(blockers):
        cycle = () if place in seen else _shortest_cycle(place, blockers)
        if cycle and not seen.intersection(cycle):
            found.append(cycle)
        seen.update(cycle)
    return tuple(found)


def _shortest_cycle(start: Place, blockers: Mapping[Place, Sequence[Place]]) -> tuple[Place, ...]:
    paths: deque[tuple[Place, ...]] = deque([(start,)])
    reached = {start}
    while paths:
        path = paths.popleft()
        for following in blockers[path[-1]]:
            if following == start:
                return path
            if following not in reached:
                reached.add(following)
                paths.append((*path, following))
    return ()
