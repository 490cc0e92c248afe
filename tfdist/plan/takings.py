"""Values between units that nobody keeps: the last unit that takes one leaves nothing behind.

What one unit gives to another has a place among the values of the run. If it stayed there to the
end of the step, so would its memory; and a variable's array, once read, would be copied by an
update in the same step, for updates write in place only what nobody else holds. So a unit loads
such a value into a name of its own. If it is the only one, it clears the place; else units count,
and the last one does.

Two threads that count at once can lose one of their two counts. Then the value stays to the end.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tfdist.base.dtypes import resource, string, variant
from tfdist.graph.records import Node
from tfdist.plan.guards import needs
from tfdist.plan.prune import Endpoint
from tfdist.plan.wiring import Wiring

_SMALL = 4096  # bytes; what is for sure smaller may stay, for loading it takes time, too
_OF_ANY_SIZE = {string, variant}


class Taking(NamedTuple):
    """How a unit takes a value.

    Attributes:
      place: where the value stands.
      left: where it stands how many units are still to take it; 0 if this is the only one.
    """

    place: int
    left: int


class Takings(NamedTuple):
    """What the units of a program take.

    Attributes:
      of_unit: for each unit, the values that it takes, and how.
      counts: what stands behind the values of a run at its start: how many take what.
    """

    of_unit: tuple[dict[Endpoint, Taking], ...]
    counts: tuple[int, ...]


def takings_of(wiring: Wiring) -> Takings:
    """Return what units take out of the values of a run, which are as `wiring` says."""
    layout = wiring.layout
    of_unit: tuple[dict[Endpoint, Taking], ...] = tuple({} for _ in layout.units)
    counts: list[int] = []
    if wiring.traced:  # its notes are about values as they are
        return Takings(of_unit, ())
    makers = {node.name: node for unit in layout.units for node in unit.nodes}
    kept = {*layout.partition.fetches, *layout.partition.feeds}
    for endpoint, units in _takers(wiring).items():
        if endpoint in kept or not _is_worth(wiring, makers[endpoint[0]], endpoint):
            continue
        if any(layout.units[unit].waits for unit in units):  # which may begin twice
            continue
        left = 0
        if len(units) > 1:
            left = layout.size + len(counts)
            counts.append(len(units))
        for unit in units:
            of_unit[unit][endpoint] = Taking(layout.slots[endpoint], left)
    return Takings(of_unit, tuple(counts))


def is_small(wiring: Wiring, endpoint: Endpoint) -> bool:
    """Return whether a tensor takes for sure so little memory that it may stay."""
    shape, dtype = wiring.shape(endpoint), wiring.dtype(endpoint)
    if dtype is not None and (dtype.is_ref or dtype == resource):
        return True  # what stands there is not the value
    if shape is None or None in shape or dtype is None or dtype.base_dtype in _OF_ANY_SIZE:
        return False
    return math.prod(shape, start=dtype.size) < _SMALL  # type: ignore[arg-type]


def _takers(wiring: Wiring) -> dict[Endpoint, list[int]]:
    """Return the units that take each value from another one."""
    found: dict[Endpoint, list[int]] = {}
    for i, unit in enumerate(wiring.layout.units):
        made = {node.name for node in unit.nodes}
        taken = {each for node in unit.nodes for each in needs(node) if each[0] not in made}
        for endpoint in taken:
            found.setdefault(endpoint, []).append(i)
    return found


def _is_worth(wiring: Wiring, maker: Node, endpoint: Endpoint) -> bool:
    """Return whether the value is made by each run, and may be large."""
    lasts = maker.op == "Const" or maker.op_def.finds_resource  # a dash makes these once
    return not lasts and not is_small(wiring, endpoint)
