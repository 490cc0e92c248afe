"""Compilation of a partition to a `Program`: units as functions, and the dependencies between them.

`interpret` walks the records, `generate` writes Python; the choice is the runtime's. What has
branches or loops runs by `tokens`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfdist.base.aliases import TensorValue
from tfdist.plan.compiling.constant_folding import fold_constants
from tfdist.plan.compiling.generate import generate
from tfdist.plan.compiling.interpret import begin, fetches_of, interpret, send_dead
from tfdist.plan.compiling.node_bindings import (
    Lines,
    NodeBindings,
    RuntimeCallbacks,
    is_stateful,
    scalar_or_array,
)
from tfdist.plan.compiling.nonblocking_pass import nonblocking_pass_of
from tfdist.plan.compiling.program import UNMEASURED, Program
from tfdist.plan.compiling.sizes import has_data_dependent_sizes
from tfdist.plan.compiling.tokens import build_frames
from tfdist.plan.compiling.value_liveness import Liveness, Load, liveness_of
from tfdist.plan.frames import has_control_flow
from tfdist.plan.lower import Lowered, inner_nodes, lower
from tfdist.plan.prune import Endpoint
from tfdist.plan.segment import Layout, Unit, lay_out, segments, singles
from tfdist.plan.step_plan import Partition, output_types


def build_program(
    partition: Partition,
    callbacks: RuntimeCallbacks,
    *,
    compiled: bool = True,
    grouped: bool = True,
    traced: bool = False,
) -> Program:
    """Return `partition`, ready to run.

    Args:
      partition: what to run.
      callbacks: what the code calls.
      compiled: whether to generate Python, or to interpret the records.
      grouped: whether to form segments; one unit per node otherwise.
      traced: whether each node notes when it ran and what it made.

    Raises:
      InvalidArgumentError: a node has no kernel for its device's type.
    """
    shown, has_loops = partition.nodes, has_control_flow(partition.nodes)
    if has_loops:
        lowered, is_whole = lower(partition) if compiled else Lowered(partition, False)
        if is_whole or not traced:  # a trace shows every node of every iteration
            partition = lowered
        if not is_whole:
            return build_frames(partition, callbacks, traced)
    if compiled and not traced:  # a trace shows what each node does
        partition = fold_constants(partition)
    units = (segments if grouped else singles)(partition)
    layout = lay_out(partition, units, keep_all=not compiled)
    return _program(NodeBindings(layout, callbacks, traced, shown), compiled, has_loops)


def _program(bindings: NodeBindings, compiled: bool, has_loops: bool) -> Program:
    """Return the program of units that run once each, in the order of what they wait for."""
    layout, partition = bindings.layout, bindings.layout.partition
    loads = liveness_of(bindings) if compiled else Liveness(({},) * len(layout.units), ())
    made = [
        _made(bindings, unit, loads.of_unit[i], compiled) for i, unit in enumerate(layout.units)
    ]
    nodes = inner_nodes(partition.nodes)
    functions = tuple(function for function, _ in made)
    stores = tuple(_stores(layout, unit) if unit.waits else () for unit in layout.units)
    may_run_on = has_loops or any(node.op_def.may_run_on for node in nodes)
    return Program(
        functions=functions,
        lines=tuple(lines for _, lines in made),
        waits=tuple(unit.waits for unit in layout.units),
        stores=stores,
        dependents=layout.dependents,
        pending=layout.pending,
        start=tuple(i for i, count in enumerate(layout.pending) if not count),
        template=(*_template(layout), *loads.counts),
        feed_count=len(partition.feeds),
        fetches=fetches_of(bindings),
        send_dead=tuple(send_dead(bindings, unit) for unit in layout.units),
        nodes=tuple(unit.nodes for unit in layout.units),
        is_compiled=compiled,
        may_run_on=may_run_on,
        has_dynamic_sizes=has_data_dependent_sizes(partition),
        can_block=any(unit.waits for unit in layout.units),
        costs=[0 if unit.waits else UNMEASURED for unit in layout.units],
        fed=[0],
        kept={},
        is_stateful=is_stateful(nodes),
        nonblocking_pass=nonblocking_pass_of(bindings, functions, stores)
        if compiled and not may_run_on
        else None,
    )


def _made(
    bindings: NodeBindings, unit: Unit, loads: Mapping[Endpoint, Load], compiled: bool
) -> tuple[Callable[[list[TensorValue]], TensorValue], Lines]:
    """Return the function of a unit, and its lines."""
    if unit.waits:
        return begin(bindings, unit)
    return generate(bindings, unit, loads) if compiled else interpret(bindings, unit)


def _template(layout: Layout) -> tuple[TensorValue, ...]:
    values: list[Any] = [None] * layout.size
    for unit in layout.units:
        for node in unit.nodes:
            place = layout.slots.get((node.name, 0))
            if node.op == "Const" and place is not None:
                values[place] = scalar_or_array(node.attrs["value"])
    return tuple(values)


def _stores(layout: Layout, unit: Unit) -> tuple[int | None, ...]:
    node = unit.nodes[0]
    return tuple(layout.slots.get((node.name, i)) for i in range(len(output_types(node))))
