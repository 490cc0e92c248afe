"""The reference executor's units: the records themselves are walked, every value has a place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.graph.records import Node
from tfdist.plan.segment import ENVIRONMENT, NOTE, Unit
from tfdist.plan.wiring import Lines, Wiring, bound, kernel_of, scalar_or_array

Values = list[Any]


def interpret(wiring: Wiring, unit: Unit) -> tuple[Callable[[Values], None], Lines]:
    """Return a function that runs the nodes of `unit` one after the other."""
    steps = [(node, _call(wiring, node), _store(wiring, node)) for node in unit.nodes]
    clock, traced, describe = wiring.binding.clock, wiring.traced, wiring.binding.describe

    def run(values: Values) -> None:
        environment = values[ENVIRONMENT]
        for node, call, store in steps:
            environment.node = node
            start = clock() if traced else 0
            result = call(values)
            if traced:
                values[NOTE]((node, start, clock(), describe(result)))
            store(values, result)

    return run, Lines()


def begin(wiring: Wiring, unit: Unit) -> tuple[Callable[[Values], Any], Lines]:
    """Return a function that starts the generator of the waiting node in `unit`."""
    return _call(wiring, unit.nodes[0]), Lines()


def _call(wiring: Wiring, node: Node) -> Callable[[Values], Any]:
    """Return a function from a run's values to the result of the kernel of `node`."""
    if node.op == "Const":
        value = scalar_or_array(node.attrs["value"])
        return lambda values: value
    rule = kernel_of(node)
    kernel, context = bound(node, rule), wiring.binding.context
    gather = _gatherer(wiring, node)
    if not rule.takes_context:
        return lambda values: kernel(*gather(values))
    return lambda values: kernel(context(values[ENVIRONMENT], node), *gather(values))


def _gatherer(wiring: Wiring, node: Node) -> Callable[[Values], list[Any]]:
    slots, read = wiring.layout.slots, wiring.binding.read
    plan = [
        (is_list, [(slots[endpoint], wanted) for endpoint, wanted in tensors])
        for is_list, tensors in wiring.inputs(node)
    ]

    def gather(values: Values) -> list[Any]:
        arguments: list[Any] = []
        for is_list, part in plan:
            found = [read(values[place]) if wanted else values[place] for place, wanted in part]
            arguments.append(found if is_list else found[0])
        return arguments

    return gather


def _store(wiring: Wiring, node: Node) -> Callable[[Values, Any], None]:
    slots = wiring.layout.slots
    places = [slots[node.name, port] for port in range(wiring.output_count(node))]
    if node.op_def.has_one_output:
        place = places[0]
        return lambda values, result: values.__setitem__(place, result)

    def store(values: Values, result: Any) -> None:
        for place, value in zip(places, result or (), strict=True):
            values[place] = value

    return store
