"""The non-blocking pass, a step's fast path: all units in sequence, as long as none has to wait.

A step on queues rarely blocks: there is an element, there is room. Such a step needs no ready
list, no generator and no wait; it runs like a function. The first unit that would block ends the
pass, and what is left is scheduled the usual way.

A session that repeats a step reuses the values of the pass before. Units that only look up queues
or readers are idempotent: they come first, and need not run again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence

from tfdist.base.aliases import TensorValue
from tfdist.graph.op_def import PENDING, Rule
from tfdist.plan.compiling.interpret import Values, call_of
from tfdist.plan.compiling.node_bindings import NodeBindings, kernel_of
from tfdist.plan.compiling.program import NonblockingPass
from tfdist.plan.segment import Layout, Unit


def nonblocking_pass_of(
    bindings: NodeBindings,
    functions: Sequence[Callable[..., TensorValue]],
    stores: Sequence[tuple[int | None, ...]],
) -> NonblockingPass | None:
    """Return the non-blocking pass of a program.

    Args:
      bindings: of the program.
      functions: of its units.
      stores: slots of the outputs of those that wait.

    Returns:
      None, if no unit waits, or one has no non-blocking kernel.
    """
    layout = bindings.layout
    rules = {i: _rule_of(unit) for i, unit in enumerate(layout.units) if unit.waits}
    if bindings.traced or not rules or None in rules.values():
        return None
    idempotent = [
        i for i, count in enumerate(layout.pending) if not count and _is_idempotent(layout, i)
    ]
    units = [
        (i, _nonblocking(bindings, i, rule, stores[i]) if (rule := rules.get(i)) else functions[i])
        for i in _order(layout, idempotent)
    ]
    return NonblockingPass(tuple(units), len(idempotent))


def _is_idempotent(layout: Layout, i: int) -> bool:
    nodes = layout.units[i].nodes
    return all(node.op_def.finds_resource or node.op == "Const" for node in nodes)


def _rule_of(unit: Unit) -> Rule | None:
    """Return a waiting unit's non-blocking kernel; none for a device with a kernel of its own."""
    op_def = unit.nodes[0].op_def
    return op_def.prompt_rule if kernel_of(unit.nodes[0]) is op_def.kernels.get("CPU") else None


def _order(layout: Layout, idempotent: Sequence[int]) -> Iterator[int]:
    """Yield the units, the idempotent ones first: they need no others."""
    pending = list(layout.pending)
    others = (i for i, count in enumerate(pending) if not count and i not in idempotent)
    ready = deque([*idempotent, *others])
    while ready:
        unit = ready.popleft()
        yield unit
        for dependent in layout.dependents[unit]:
            pending[dependent] -= 1
            if not pending[dependent]:
                ready.append(dependent)


def _nonblocking(
    bindings: NodeBindings, unit: int, rule: Rule, store: tuple[int | None, ...]
) -> Callable[[Values], TensorValue]:
    """Return a function that runs a waiting unit, or returns `PENDING` if that would block."""
    node = bindings.layout.units[unit].nodes[0]
    call = call_of(bindings, node, rule)
    if all(place is None for place in store):
        return call
    is_one = node.op_def.has_one_output

    def run(values: Values) -> TensorValue:
        result = call(values)
        if result is PENDING:
            return PENDING
        for place, value in zip(store, [result] if is_one else result, strict=True):
            if place is not None:
                values[place] = value
        return None

    return run
