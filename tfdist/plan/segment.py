"""Segments: what a partition can run without waiting, as large as possible.

A node that can wait (a dequeue, a `_Recv`) is a unit of its own. The others are grouped by the
set of waiting nodes above them: all that depends on the same waits can start at the same moment.
Groups cannot depend on each other in a circle, for along a path such sets only grow. A `_Send`
stands right behind what it sends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tfdist.graph.records import SENDS, Node
from tfdist.plan.branch_predicates import needs
from tfdist.plan.prune import Endpoint
from tfdist.plan.step_plan import Partition, output_types

# The first places of a run's values: its environment, and where a traced run notes its nodes.
ENVIRONMENT, NOTE, FIRST_VALUE = 0, 1, 2


@dataclass(frozen=True)
class Unit:
    """Nodes that run together, in order; one node alone if it waits."""

    nodes: tuple[Node, ...]
    waits: bool


@dataclass(frozen=True)
class Layout:
    """Units, what follows what, and where values that cross units are kept.

    Attributes:
      partition: what was laid out.
      units: what runs.
      dependents: for each unit, those that wait for it.
      pending: for each unit, how many it waits for.
      slots: slot of each value that a unit gives to another or to the caller.
      size: number of slots.
    """

    partition: Partition
    units: tuple[Unit, ...]
    dependents: tuple[tuple[int, ...], ...]
    pending: tuple[int, ...]
    slots: dict[Endpoint, int]
    size: int


def segments(partition: Partition) -> list[Unit]:
    """Return the largest units of `partition`."""
    above: dict[str, int] = {}  # node -> set of waiting nodes above it, as bits
    groups: dict[int, list[Node]] = {}
    units: list[Unit] = []
    bit = 1
    for node in _sends_early(partition.nodes):
        mask = 0
        for name, _ in needs(node):
            mask |= above.get(name, 0)
        for name in node.control:
            mask |= above.get(name, 0)
        if node.op_def.waits:
            units.append(Unit((node,), True))
            mask |= bit
            bit <<= 1
        else:
            groups.setdefault(mask, []).append(node)
        above[node.name] = mask
    return units + [Unit(tuple(nodes), False) for nodes in groups.values()]


def singles(partition: Partition) -> list[Unit]:
    """Return one unit per node: what the interpreter runs."""
    return [Unit((node,), node.op_def.waits) for node in partition.nodes]


def _sends_early(nodes: Sequence[Node]) -> Iterable[Node]:
    sends: dict[str, list[Node]] = {}
    for node in nodes:
        if node.op in SENDS:
            sends.setdefault(node.inputs[0][0], []).append(node)
    if not sends:
        return nodes
    known = {node.name for node in nodes}
    order = [send for name, group in sends.items() if name not in known for send in group]
    for node in nodes:
        if node.op not in SENDS:
            order.append(node)
            order += sends.get(node.name, ())
    return order


def lay_out(partition: Partition, units: Sequence[Unit], keep_all: bool = False) -> Layout:
    """Return `units` with their dependencies and the places of the values between them.

    Args:
      partition: what the units are of.
      units: what runs.
      keep_all: whether every value gets a place, also those used inside one unit only.
    """
    unit_of = {node.name: i for i, unit in enumerate(units) for node in unit.nodes}
    slots = {endpoint: FIRST_VALUE + i for i, endpoint in enumerate(partition.feeds)}
    fed = set(partition.feeds)
    above: list[set[int]] = [set() for _ in units]
    for i, unit in enumerate(units):
        for node in unit.nodes:
            for endpoint in needs(node):
                if endpoint not in fed and unit_of[endpoint[0]] != i:
                    above[i].add(unit_of[endpoint[0]])
                    slots.setdefault(endpoint, FIRST_VALUE + len(slots))
            above[i].update([unit_of[name] for name in node.control if unit_of[name] != i])
    for endpoint in _all_outputs(units) if keep_all else partition.fetches:
        slots.setdefault(endpoint, FIRST_VALUE + len(slots))
    return Layout(
        partition,
        tuple(units),
        _dependents(above),
        tuple(map(len, above)),
        slots,
        FIRST_VALUE + len(slots),
    )


def _all_outputs(units: Sequence[Unit]) -> Iterator[Endpoint]:
    for unit in units:
        for node in unit.nodes:
            for port in range(len(output_types(node))):
                yield node.name, port


def _dependents(needs: Sequence[set[int]]) -> tuple[tuple[int, ...], ...]:
    following: list[list[int]] = [[] for _ in needs]
    for i, needed in enumerate(needs):
        for j in needed:
            following[j].append(i)
    return tuple(map(tuple, following))
