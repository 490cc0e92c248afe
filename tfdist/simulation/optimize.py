"""The best placement that a portfolio of schedules and a local search find.

Every candidate is judged by the same simulation. All nodes on one device are always a candidate,
and the present placement is: the result is never predicted to be slower than either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tfdist.errors import ResourceExhaustedError
from tfdist.simulation.list_schedule import ORDERS, contracted, list_schedule
from tfdist.simulation.placement_problem import PlacementProblem
from tfdist.simulation.step import simulate_step

WEIGHTS = (1.0, 3.0, 10.0, 0.3)  # of transfers, in list schedules
PRESENT, ONE_DEVICE = "as it is", "one device"

Remaining = Callable[[], float]


@dataclass(frozen=True)
class Candidate:
    """A placement.

    Attributes:
      placed: the device of each node, by number.
      span_us: what the simulated step takes.
      method: what found it.
    """

    placed: tuple[int, ...]
    span_us: float
    method: str


def optimize(
    problem: PlacementProblem,
    present: Sequence[int],
    rng: np.random.Generator,
    remaining: Remaining,
) -> Candidate:
    """Return the placement whose simulated step is shortest.

    Args:
      problem: nodes, devices and costs.
      present: the device of each node now.
      rng: for the local search.
      remaining: returns how much of the time that the search may take is left, from 1 down to 0.
    """
    best = min(_candidates(problem, present, remaining), key=lambda each: each.span_us)
    smaller, stands_for = contracted(problem)
    start = [0] * len(smaller.names)
    for node, joined in enumerate(stands_for):
        start[joined] = best.placed[node]
    half = remaining() / 2
    found, tries = local_search(smaller, start, rng, lambda: remaining() - half)
    moved = _judged(problem, [found[joined] for joined in stands_for], f"{tries} moves of chains")
    best = _better(problem, best, moved)
    found, tries = local_search(problem, best.placed, rng, remaining)
    return _better(problem, best, _judged(problem, found, f"{tries} moves of nodes"))


def _better(problem: PlacementProblem, best: Candidate, other: Candidate) -> Candidate:
    """Return the second candidate if it is faster and has room, and tell of both ways."""
    if other.span_us >= best.span_us or not _has_room(problem, other.placed):
        return best
    return replace(other, method=f"{best.method}; {other.method}")


def _candidates(
    problem: PlacementProblem, present: Sequence[int], remaining: Remaining
) -> Iterator[Candidate]:
    yield _judged(problem, present, PRESENT)
    together = [_nearest(problem, group) for group in problem.groups]
    if _has_room(problem, together):
        yield _judged(problem, together, ONE_DEVICE)
    smaller, stands_for = contracted(problem)
    for weight in WEIGHTS:
        for order in ORDERS:
            for name, each in (("chains", smaller), ("nodes", problem)):
                if remaining() < 0.3:
                    return
                try:
                    placed = list_schedule(each, order, weight)
                except ResourceExhaustedError:
                    continue
                if each is smaller:
                    placed = [placed[joined] for joined in stands_for]
                yield _judged(problem, placed, f"{order}, {name}, transfers x{weight:g}")


def _judged(problem: PlacementProblem, placed: Sequence[int], method: str) -> Candidate:
    return Candidate(tuple(placed), simulate_step(problem, placed).span_us, method)


def _nearest(problem: PlacementProblem, group: int) -> int:
    """Return the client's device, or the first that a group may have."""
    allowed = problem.allowed[group]
    return problem.client if problem.client in allowed else allowed[0]


def _has_room(problem: PlacementProblem, placed: Sequence[int]) -> bool:
    """Return whether what groups keep fits on the devices."""
    if not problem.limit_bytes:
        return True
    kept = [0] * len(problem.devices)
    for group, members in enumerate(problem.members):
        if members:
            kept[placed[members[0]]] += problem.state_bytes[group]
    return all(size <= limit for size, limit in zip(kept, problem.limit_bytes, strict=True))


def local_search(
    problem: PlacementProblem,
    start: Sequence[int],
    rng: np.random.Generator,
    remaining: Remaining,
) -> tuple[list[int], int]:
    """Move groups while that shortens the step; returns the placement and how many moves it tried.

    A move takes a group to a neighbour's device or to any, exchanges two groups, or takes some of
    the neighbours along. Costly groups are tried more often.
    """
    search = _Search(problem, start, rng)
    while search.can_move and remaining() > 0:
        search.try_move()
    return search.placed, search.tries


class _Search:
    """A local search: its best placement so far."""

    def __init__(
        self, problem: PlacementProblem, start: Sequence[int], rng: np.random.Generator
    ) -> None:
        self._problem, self._rng = problem, rng
        self.placed = list(start)
        self.tries = 0
        self._span_us = simulate_step(problem, start).span_us
        self._movable = problem.movable
        costs = [
            30.0 + sum(problem.cost_us[node] for node in problem.members[group])
            for group in self._movable
        ]
        self._chances = np.cumsum(costs) / (sum(costs) or 1.0)
        self._neighbours = {group: _neighbours(problem, group) for group in self._movable}

    @property
    def can_move(self) -> bool:
        """Return whether any group may be elsewhere."""
        return bool(self._movable)

    def try_move(self) -> None:
        """Try one move, and keep it if the step gets shorter."""
        moves = self._moves(self._pick())
        if not moves or any(d not in self._problem.allowed[g] for g, d in moves.items()):
            return
        before = {group: self._device(group) for group in moves}
        self._move(moves)
        self.tries += 1
        span = simulate_step(self._problem, self.placed).span_us
        if span < self._span_us and _has_room(self._problem, self.placed):
            self._span_us = span
        else:
            self._move(before)

    def _moves(self, group: int) -> dict[int, int]:
        """Return a device for each group of a random move."""
        near, here, kind = self._neighbours[group], self._device(group), self._rng.random()
        others = [each for each in self._problem.allowed[group] if each != here]
        device = others[int(self._rng.integers(len(others)))]
        if kind < 0.4 and near:
            beside = self._device(near[int(self._rng.integers(len(near)))])
            return {group: beside if beside in others else device}
        if kind < 0.6:
            other = self._pick()
            there = self._device(other)
            return {} if there == here else {group: there, other: here}
        moves = {group: device}
        if kind < 0.8:
            along = [each for each in near if self._device(each) == here]
            moves |= {
                each: device
                for each in along
                if device in self._problem.allowed[each] and self._rng.random() < 0.5
            }
        return moves

    def _pick(self) -> int:
        place = int(np.searchsorted(self._chances, self._rng.random()))
        return self._movable[min(place, len(self._movable) - 1)]

    def _device(self, group: int) -> int:
        return self.placed[self._problem.members[group][0]]

    def _move(self, moves: dict[int, int]) -> None:
        for group, device in moves.items():
            for node in self._problem.members[group]:
                self.placed[node] = device


def _neighbours(problem: PlacementProblem, group: int) -> list[int]:
    """Return the groups that give to a group or take from it."""
    found: dict[int, None] = {}
    for node in problem.members[group]:
        for other, _ in (*problem.inputs[node], *problem.outputs[node]):
            found[problem.groups[other]] = None
    found.pop(group, None)
    return list(found)
