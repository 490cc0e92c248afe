"""Liveness analysis of values between units: the last use of one frees its slot.

What one unit gives to another has a slot among the values of the run. If it stayed there to the
end of the step, so would its memory; and a variable's array, once read, would be copied by an
update in the same step, for updates write in place only what nobody else holds. So a unit loads
such a value into a name of its own. If it is the only consumer, it clears the slot; else units
count down the uses left, and the last one does.

The count is not atomic: two threads may lose one of two decrements. Then the value stays to the
end.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tfdist.base.dtypes import resource, string, variant
from tfdist.graph.records import Node
from tfdist.plan.branch_predicates import needs
from tfdist.plan.compiling.node_bindings import NodeBindings
from tfdist.plan.prune import Endpoint

_SMALL = 4096  # bytes; what is for sure smaller may stay, for loading it takes time, too
_OF_ANY_SIZE = {string, variant}


class Load(NamedTuple):
    """How a unit loads a value.

    Attributes:
      place: the slot of the value.
      left: the slot of the count of uses left; 0 if this is the only use.
    """

    place: int
    left: int


class Liveness(NamedTuple):
    """Which values die in which units of a program.

    Attributes:
      of_unit: for each unit, the values that it loads, and how.
      counts: the use counts, in slots behind the values of a run at its start.
    """

    of_unit: tuple[dict[Endpoint, Load], ...]
    counts: tuple[int, ...]


def liveness_of(bindings: NodeBindings) -> Liveness:
    """Return the liveness of a run's values, whose slots are as `node_bindings` says."""
    layout = bindings.layout
    of_unit: tuple[dict[Endpoint, Load], ...] = tuple({} for _ in layout.units)
    counts: list[int] = []
    if bindings.traced:  # its notes are about values as they are
        return Liveness(of_unit, ())
    makers = {node.name: node for unit in layout.units for node in unit.nodes}
    kept = {*layout.partition.fetches, *layout.partition.feeds}
    for endpoint, units in _consumers(bindings).items():
        if endpoint in kept or not _is_worth(bindings, makers[endpoint[0]], endpoint):
            continue
        if any(layout.units[unit].waits for unit in units):  # which may begin twice
            continue
        left = 0
        if len(units) > 1:
            left = layout.size + len(counts)
            counts.append(len(units))
        for unit in units:
            of_unit[unit][endpoint] = Load(layout.slots[endpoint], left)
    return Liveness(of_unit, tuple(counts))


def is_small(bindings: NodeBindings, endpoint: Endpoint) -> bool:
    """Return whether a tensor takes for sure so little memory that it may stay."""
    shape, dtype = bindings.full_shape(endpoint), bindings.dtype(endpoint)
    if dtype is not None and (dtype.is_ref or dtype == resource):
        return True  # what stands there is not the value
    if shape is None or dtype is None or dtype.base_dtype in _OF_ANY_SIZE:
        return False
    return math.prod(shape, start=dtype.size) < _SMALL


def _consumers(bindings: NodeBindings) -> dict[Endpoint, list[int]]:
    """Return the units that take each value from another one."""
    found: dict[Endpoint, list[int]] = {}
    for i, unit in enumerate(bindings.layout.units):
        made = {node.name for node in unit.nodes}
        taken = {each for node in unit.nodes for each in needs(node) if each[0] not in made}
        for endpoint in taken:
            found.setdefault(endpoint, []).append(i)
    return found


def _is_worth(bindings: NodeBindings, maker: Node, endpoint: Endpoint) -> bool:
    """Return whether the value is made by each run, and may be large."""
    lasts = (
        maker.op == "Const" or maker.op_def.finds_resource
    )  # a non-blocking pass makes these once
    return not lasts and not is_small(bindings, endpoint)
