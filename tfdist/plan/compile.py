"""From a partition to a `Program`: units as functions, and what follows what.

A unit is a function of one list, the values of a run: `values[0]` is the run's environment,
`values[1]` where a traced run notes its nodes, then come feeds and the values that cross units.
`interpret` walks the records, `generate` writes Python; the choice is the runtime's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tfdist.graph.records import Node
from tfdist.plan.generate import generate
from tfdist.plan.interpret import begin, interpret
from tfdist.plan.partition import Partition, output_types
from tfdist.plan.segment import Layout, Unit, lay_out, segments, singles
from tfdist.plan.wiring import Binding, Lines, Wiring, scalar_or_array

UNMEASURED = -1


class Program(NamedTuple):
    """A partition, ready to run.

    Attributes:
      functions: for each unit a function of a run's values; for a waiting one, a function that
        returns its generator.
      waits: for each unit, whether it waits.
      stores: for a waiting unit, where its outputs go (None for an output nobody takes).
      dependents: for each unit, the units that wait for it.
      pending: for each unit, the number of units it waits for.
      start: units that wait for none.
      template: a run's values at its start.
      feed_count: number of feeds; they stand behind environment and note.
      fetches: places of the fetched values, each with the node of a variable that stands there,
        whose value is to be read, or None.
      nodes: for each unit, its nodes.
      lines: for a compiled unit, which node stands on which line, to find who raised.
      is_compiled: whether Python was generated.
      can_block: whether a run may have to wait.
      is_stateful: whether a run leaves something behind in the task.
      costs: nanoseconds that each unit took lately, `UNMEASURED` before it ran; whoever runs the
        program writes them.
    """

    functions: tuple[Callable[..., Any], ...]
    waits: tuple[bool, ...]
    stores: tuple[tuple[int | None, ...], ...]
    dependents: tuple[tuple[int, ...], ...]
    pending: tuple[int, ...]
    start: tuple[int, ...]
    template: tuple[Any, ...]
    feed_count: int
    fetches: tuple[tuple[int, Node | None], ...]
    nodes: tuple[tuple[Node, ...], ...]
    lines: tuple[Lines, ...]
    is_compiled: bool
    can_block: bool
    is_stateful: bool
    costs: list[int]


def build_program(
    partition: Partition,
    binding: Binding,
    *,
    compiled: bool = True,
    grouped: bool = True,
    traced: bool = False,
) -> Program:
    """Return `partition`, ready to run.

    Args:
      partition: what to run.
      binding: what the code calls.
      compiled: whether to generate Python, or to interpret the records.
      grouped: whether to form segments; one unit per node otherwise.
      traced: whether each node notes when it ran and what it made.

    Raises:
      InvalidArgumentError: a node has no kernel for its device's type.
    """
    units = (segments if grouped else singles)(partition)
    layout = lay_out(partition, units, keep_all=not compiled)
    wiring = Wiring(layout, binding, traced)
    make = generate if compiled else interpret
    made = [begin(wiring, unit) if unit.waits else make(wiring, unit) for unit in layout.units]
    nodes = partition.nodes
    return Program(
        functions=tuple(function for function, _ in made),
        lines=tuple(lines for _, lines in made),
        waits=tuple(unit.waits for unit in layout.units),
        stores=tuple(_stores(layout, unit) if unit.waits else () for unit in layout.units),
        dependents=layout.dependents,
        pending=layout.pending,
        start=tuple(i for i, count in enumerate(layout.pending) if not count),
        template=_template(layout),
        feed_count=len(partition.feeds),
        fetches=tuple(_fetches(wiring)),
        nodes=tuple(unit.nodes for unit in layout.units),
        is_compiled=compiled,
        can_block=any(unit.waits for unit in layout.units),
        costs=[0 if unit.waits else UNMEASURED for unit in layout.units],
        is_stateful=any(node.op_def.is_stateful or _takes_reference(node) for node in nodes),
    )


def _takes_reference(node: Node) -> bool:
    return any(arg.is_ref for arg in node.op_def.signature.inputs)


def _template(layout: Layout) -> tuple[Any, ...]:
    values: list[Any] = [None] * layout.size
    for unit in layout.units:
        for node in unit.nodes:
            place = layout.slots.get((node.name, 0))
            if node.op == "Const" and place is not None:
                values[place] = scalar_or_array(node.attrs["value"])
    return tuple(values)


def _fetches(wiring: Wiring) -> Iterator[tuple[int, Node | None]]:
    nodes = {node.name: node for node in wiring.layout.partition.nodes}
    for endpoint in wiring.layout.partition.fetches:
        variable = nodes[endpoint[0]] if wiring.is_variable(endpoint) else None
        yield wiring.layout.slots[endpoint], variable


def _stores(layout: Layout, unit: Unit) -> tuple[int | None, ...]:
    node = unit.nodes[0]
    return tuple(layout.slots.get((node.name, i)) for i in range(len(output_types(node))))
