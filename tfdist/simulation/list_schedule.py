"""Placement by list scheduling: node by node, each where it would end first.

Two orders. "ready" takes nodes as they become ready in the simulation: the greedy placer that
Abadi et al. describe in section 3.2.1 of "TensorFlow: large-scale machine learning on
heterogeneous distributed systems" (2015). "rank" takes those first from which the way to the end is
longest: HEFT, of Topcuoglu et al., "Performance-effective and low-complexity task scheduling for
heterogeneous computing" (2002).
"""

from __future__ import annotations

from dataclasses import replace
from heapq import heapify, heappop, heappush

from tfdist.errors import ResourceExhaustedError
from tfdist.simulation.placement_problem import CONTROL, Edge, PlacementProblem

READY, RANK = ORDERS = ("ready", "rank")


def list_schedule(problem: PlacementProblem, order: str, weight: float = 1.0) -> list[int]:
    """Return the device of each node.

    Args:
      problem: what is to be placed; limits of memory hold.
      order: one of `ORDERS`.
      weight: what a transfer counts, of what it costs: above 1 fewer are made.

    Raises:
      ResourceExhaustedError: what some group keeps fits on no device.
    """
    return _Schedule(problem, order, weight).run()


def upward_ranks(problem: PlacementProblem) -> list[float]:
    """Return for each node the microseconds of the longest way from it to the end."""
    links, share = problem.links, 1 - 1 / len(problem.devices)
    ranks = [0.0] * len(problem.names)
    for node in reversed(range(len(ranks))):
        beyond = 0.0
        for taker, port in problem.outputs[node]:
            size = problem.edge_bytes.get((node, port), 0)
            crossing = (links.transfer_us + links.byte_us * size) * share
            beyond = max(beyond, crossing + ranks[taker])
        ranks[node] = problem.cost_us[node] + beyond
    return ranks


class _Schedule:
    """A schedule while it grows."""

    def __init__(self, problem: PlacementProblem, order: str, weight: float) -> None:
        self._problem, self._links = problem, problem.links
        lane_us = self._links.ask_us + self._links.take_us
        self._lane_us = lane_us * weight
        self._ranks = upward_ranks(problem) if order == RANK else None
        devices = range(len(problem.devices))
        begin = self._links.begin_us
        self._free = [0.0 if each == problem.client else begin for each in devices]
        self._kept = [0] * len(problem.devices)
        self._group_device: dict[int, int] = {}
        self._placed = [0] * len(problem.names)
        self._end = [0.0] * len(problem.names)
        self._there: dict[tuple[Edge, int], float] = {}

    def run(self) -> list[int]:
        """Return the device of each node."""
        problem = self._problem
        waiting = [len({maker for maker, _ in edges}) for edges in problem.inputs]
        heap = [(self._turn(node), node) for node, n in enumerate(waiting) if not n]
        heapify(heap)
        while heap:
            _, node = heappop(heap)
            self._place(node)
            for taker in {taker for taker, _ in problem.outputs[node]}:
                waiting[taker] -= 1
                if not waiting[taker]:
                    heappush(heap, (self._turn(taker), taker))
        return self._placed

    def _turn(self, node: int) -> float:
        if self._ranks is not None:
            return -self._ranks[node]
        return max((self._end[maker] for maker, _ in self._problem.inputs[node]), default=0.0)

    def _place(self, node: int) -> None:
        group = self._problem.groups[node]
        if group not in self._group_device:
            self._group_device[group] = device = self._best(node, group)
            if self._problem.limit_bytes:
                self._kept[device] += self._problem.state_bytes[group]
        device = self._group_device[group]
        self._end[node] = self._free[device] = self._end_on(node, device)
        self._placed[node] = device
        for edge in self._problem.inputs[node]:
            if self._placed[edge[0]] != device:
                self._there.setdefault((edge, device), self._arrival(edge, device))

    def _best(self, node: int, group: int) -> int:
        problem = self._problem
        fitting = [each for each in problem.allowed[group] if self._has_room(group, each)]
        if not fitting:
            raise ResourceExhaustedError(
                f"what {problem.names[node]} keeps, {problem.state_bytes[group]:,} bytes, fits on "
                f"none of {', '.join(problem.devices[each] for each in problem.allowed[group])}"
            )
        return min(fitting, key=lambda each: (self._end_on(node, each), each != problem.client))

    def _has_room(self, group: int, device: int) -> bool:
        limits = self._problem.limit_bytes
        return not limits or (
            self._kept[device] + self._problem.state_bytes[group] <= limits[device]
        )

    def _end_on(self, node: int, device: int) -> float:
        """Return when a node would end on a device, with what it would have to ask for."""
        start, asking = self._free[device], 0.0
        for edge in self._problem.inputs[node]:
            there = self._end[edge[0]]
            if self._placed[edge[0]] != device:
                known = self._there.get((edge, device))
                there = self._arrival(edge, device) if known is None else known
                asking += self._lane_us if known is None else 0.0
            start = max(start, there)
        return max(start, self._free[device] + asking) + self._problem.cost_us[node]

    def _arrival(self, edge: Edge, device: int) -> float:
        problem, links, maker = self._problem, self._links, edge[0]
        size = problem.edge_bytes.get(edge, 0)
        way = problem.way_us(self._placed[maker], device, size)
        busy = links.send_us + (links.send_byte_us + links.take_byte_us) * size
        return self._end[maker] + way + busy + self._lane_us


def contracted(problem: PlacementProblem) -> tuple[PlacementProblem, list[int]]:
    """Return a smaller problem whose nodes stand for chains and cheap nodes, and which for which.

    A node joins the one that all its inputs come from, if that gives to nobody else or it costs
    less than a transfer. No circles arise: such a node only looks back at one.

    Returns:
      (problem, for each node its number there).
    """
    links = problem.links
    cheap = links.ask_us + links.take_us + links.send_us
    alone = [len(members) == 1 for members in problem.members]
    takers = [len({taker for taker, _ in edges}) for edges in problem.outputs]
    stands_for: list[int] = []
    costs: list[float] = []
    groups: list[int] = []
    for node, edges in enumerate(problem.inputs):
        group, above = problem.groups[node], {stands_for[maker] for maker, _ in edges}
        joins = -1
        if len(above) == 1 and alone[group]:
            (joins,) = above
            is_chain = all(takers[maker] == 1 for maker, _ in edges)
            is_freer = set(problem.allowed[groups[joins]]) <= set(problem.allowed[group])
            if not is_freer or not (is_chain or problem.cost_us[node] < cheap):
                joins = -1
        if joins < 0:
            joins = len(costs)
            costs.append(0.0)
            groups.append(group)
        costs[joins] += problem.cost_us[node]
        stands_for.append(joins)
    inputs, sizes = _joined_edges(problem, stands_for, len(costs))
    renumbered = {group: i for i, group in enumerate(dict.fromkeys(groups))}
    smaller = replace(
        problem,
        names=tuple([str(i) for i in range(len(costs))]),
        cost_us=tuple(costs),
        inputs=inputs,
        edge_bytes=sizes,
        groups=tuple([renumbered[group] for group in groups]),
        allowed=tuple([problem.allowed[group] for group in renumbered]),
        state_bytes=tuple([problem.state_bytes[group] for group in renumbered]),
    )
    return smaller, stands_for


def _joined_edges(
    problem: PlacementProblem, stands_for: list[int], count: int
) -> tuple[tuple[tuple[Edge, ...], ...], dict[Edge, int]]:
    """Return the edges between what stands for several nodes; each tensor has a port of its own."""
    ports: dict[Edge, Edge] = {}
    sizes: dict[Edge, int] = {}
    inputs: list[dict[Edge, None]] = [{} for _ in range(count)]
    for node, edges in enumerate(problem.inputs):
        for edge in edges:
            maker, taker = stands_for[edge[0]], stands_for[node]
            if maker != taker:
                port = CONTROL if edge[1] == CONTROL else len(ports)
                joined = ports.setdefault(edge, (maker, port))
                sizes[joined] = problem.edge_bytes.get(edge, 0)
                inputs[taker][joined] = None
    return tuple([tuple(each) for each in inputs]), sizes
