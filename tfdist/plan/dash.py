"""The dash: all units of a program one after the other, as long as none has to wait.

A step on queues rarely has to wait: there is an element, there is room. Such a step needs no ready
list, no generator and no wait; it runs like a function. The first unit that would have to wait
ends the dash, and what is left goes the usual way.

A session that repeats a step makes a dash again and again with the same values. Units that only
find queues or readers come first, and need not run again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfdist.graph.op_def import PENDING, Rule
from tfdist.plan.interpret import Values, call_of
from tfdist.plan.program import Dash
from tfdist.plan.segment import Layout, Unit
from tfdist.plan.wiring import Wiring, kernel_of


def dash_of(
    wiring: Wiring,
    functions: Sequence[Callable[..., Any]],
    stores: Sequence[tuple[int | None, ...]],
) -> Dash | None:
    """Return the dash of a program.

    Args:
      wiring: of the program.
      functions: of its units.
      stores: where the outputs of those go that wait.

    Returns:
      None, if no unit waits, or one has no prompt kernel.
    """
    layout = wiring.layout
    rules = {i: _rule_of(unit) for i, unit in enumerate(layout.units) if unit.waits}
    if wiring.traced or not rules or None in rules.values():
        return None
    steady = [i for i, count in enumerate(layout.pending) if not count and _is_steady(layout, i)]
    units = [
        (i, _prompt(wiring, i, rule, stores[i]) if (rule := rules.get(i)) else functions[i])
        for i in _order(layout, steady)
    ]
    return Dash(tuple(units), len(steady))


def _is_steady(layout: Layout, i: int) -> bool:
    nodes = layout.units[i].nodes
    return all(node.op_def.finds_resource or node.op == "Const" for node in nodes)


def _rule_of(unit: Unit) -> Rule | None:
    """Return the prompt kernel of a waiting unit; none for a device with a kernel of its own."""
    op_def = unit.nodes[0].op_def
    return op_def.prompt_rule if kernel_of(unit.nodes[0]) is op_def.kernels.get("CPU") else None


def _order(layout: Layout, steady: Sequence[int]) -> Iterator[int]:
    """Yield the units, those that are steady first: they need no others."""
    pending = list(layout.pending)
    others = (i for i, count in enumerate(pending) if not count and i not in steady)
    ready = deque([*steady, *others])
    while ready:
        unit = ready.popleft()
        yield unit
        for dependent in layout.dependents[unit]:
            pending[dependent] -= 1
            if not pending[dependent]:
                ready.append(dependent)


def _prompt(
    wiring: Wiring, unit: int, rule: Rule, store: tuple[int | None, ...]
) -> Callable[[Values], Any]:
    """Return a function that runs a unit that may wait, or returns `PENDING`."""
    node = wiring.layout.units[unit].nodes[0]
    call = call_of(wiring, node, rule)
    if all(place is None for place in store):
        return call
    is_one = node.op_def.has_one_output

    def run(values: Values) -> Any:
        result = call(values)
        if result is PENDING:
            return PENDING
        for place, value in zip(store, [result] if is_one else result, strict=True):
            if place is not None:
                values[place] = value
        return None

    return run
