"""The interpreter's units (reference executor): records are walked, every value has a slot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from tfdist.base.aliases import TensorValue
from tfdist.graph.op_def import DEAD, Rule
from tfdist.graph.records import MERGES, SENDS, Node
from tfdist.plan.compiling.node_bindings import (
    Input,
    Lines,
    NodeBindings,
    bound,
    kernel_of,
    scalar_or_array,
)
from tfdist.plan.compiling.program import Fetch
from tfdist.plan.segment import ENVIRONMENT, NOTE, Unit

Values = list[Any]


def interpret(bindings: NodeBindings, unit: Unit) -> tuple[Callable[[Values], None], Lines]:
    """Return a function that runs the nodes of `unit` one after the other."""
    if len(unit.nodes) == 1 and not bindings.traced:
        return _only(bindings, unit.nodes[0]), _lines(bindings, unit)
    steps = [(node, call_of(bindings, node), _store(bindings, node)) for node in unit.nodes]
    clock, traced, describe = bindings.callbacks.clock, bindings.traced, bindings.callbacks.describe

    def run(values: Values) -> None:
        environment = values[ENVIRONMENT]
        for node, call, store in steps:
            environment.node = node
            start = clock() if traced else 0
            result = call(values)
            if traced:
                values[NOTE]((node, start, clock(), describe(result)))
            store(values, result)

    return run, _lines(bindings, unit)


def _only(bindings: NodeBindings, node: Node) -> Callable[[Values], None]:
    """Return a function that runs `node`."""
    call, store = call_of(bindings, node), _store(bindings, node)
    if not node.op_def.has_one_output:

        def run(values: Values) -> None:
            values[ENVIRONMENT].node = node
            store(values, call(values))

        return run
    place = bindings.layout.slots[node.name, 0]

    def run_for_one(values: Values) -> None:
        values[ENVIRONMENT].node = node
        values[place] = call(values)

    return run_for_one


def begin(bindings: NodeBindings, unit: Unit) -> tuple[Callable[[Values], TensorValue], Lines]:
    """Return a function that starts the generator of the waiting node in `unit`."""
    return call_of(bindings, unit.nodes[0]), _lines(bindings, unit)


def _lines(bindings: NodeBindings, unit: Unit) -> Lines:
    """Return where the inputs of the nodes stand."""
    slots = bindings.layout.slots
    return Lines(
        operands={node.name: [f"v[{slots[each]}]" for each in node.inputs] for node in unit.nodes}
    )


def send_dead(bindings: NodeBindings, unit: Unit) -> Callable[[Values], None]:
    """Return a function that sends dead tensors for what the dead `unit` would send."""
    sends = [node for node in unit.nodes if node.op in SENDS]
    if not sends:
        return _nothing
    context = bindings.callbacks.context
    kernels = [(node, bound(node, kernel_of(node))) for node in sends]

    def tell(values: Values) -> None:
        for node, kernel in kernels:
            kernel(context(values[ENVIRONMENT], node), DEAD)

    return tell


def _nothing(values: Values) -> None:
    """Send nothing: the unit has no sends."""


def fetches_of(bindings: NodeBindings) -> tuple[Fetch, ...]:
    """Return where the fetched values stand."""
    nodes = {node.name: node for node in bindings.layout.partition.nodes}
    return tuple(
        Fetch(
            bindings.layout.slots[endpoint],
            nodes[endpoint[0]] if bindings.is_variable(endpoint) else None,
            endpoint,
        )
        for endpoint in bindings.layout.partition.fetches
    )


def call_of(
    bindings: NodeBindings, node: Node, rule: Rule | None = None
) -> Callable[[Values], TensorValue]:
    """Return a function from a run's values to the result of a node's kernel: `rule`, if given."""
    if node.op == "Const":
        value = scalar_or_array(node.attrs["value"])
        return lambda values: value
    rule = rule or kernel_of(node)
    kernel, context = bindings.kernel(node, rule), bindings.callbacks.context
    if not rule.takes_context:
        return _plain_call(bindings, node, kernel)
    gather = _gatherer(bindings, node)
    return lambda values: kernel(context(values[ENVIRONMENT], node), *gather(values))


def _plain_call(
    bindings: NodeBindings, node: Node, kernel: TensorValue
) -> Callable[[Values], TensorValue]:
    inputs = bindings.inputs(node)
    if _is_handle_and_list(inputs):
        [[_, [(handle, _)]], [_, tensors]] = inputs
        at, rest = (
            bindings.layout.slots[handle],
            [bindings.layout.slots[each] for each, _ in tensors],
        )
        return lambda values: kernel(values[at], [values[place] for place in rest])
    if any(is_list or tensors[0][1] for is_list, tensors in inputs):
        gather = _gatherer(bindings, node)
        return lambda values: kernel(*gather(values))
    places = [bindings.layout.slots[tensors[0][0]] for _, tensors in inputs]
    if not places:
        return lambda values: kernel()
    take = itemgetter(*places)
    if len(places) == 1:
        return lambda values: kernel(take(values))
    return lambda values: kernel(*take(values))


def _is_handle_and_list(inputs: Sequence[Input]) -> bool:
    """Return whether these are the inputs of an enqueue: quick, for it runs for each element."""
    return [each.is_list for each in inputs] == [False, True] and not any(
        wanted for each in inputs for _, wanted in each.tensors
    )


def _gatherer(bindings: NodeBindings, node: Node) -> Callable[[Values], list[TensorValue]]:
    slots, read = bindings.layout.slots, bindings.callbacks.read
    if node.op in MERGES or node.op in SENDS:  # which take dead values, too
        read = _read_alive(read)
    plan = [
        (is_list, [(slots[endpoint], wanted) for endpoint, wanted in tensors])
        for is_list, tensors in bindings.inputs(node)
    ]

    def gather(values: Values) -> list[TensorValue]:
        arguments: list[Any] = []
        for is_list, part in plan:
            found = [read(values[place]) if wanted else values[place] for place, wanted in part]
            arguments.append(found if is_list else found[0])
        return arguments

    return gather


def _read_alive(read: Callable[[TensorValue], TensorValue]) -> Callable[[TensorValue], TensorValue]:
    return lambda variable: variable if variable is DEAD else read(variable)


def _store(bindings: NodeBindings, node: Node) -> Callable[[Values, TensorValue], None]:
    slots = bindings.layout.slots
    places = [slots[node.name, port] for port in range(bindings.output_count(node))]
    if node.op_def.has_one_output:
        place = places[0]
        return lambda values, result: values.__setitem__(place, result)

    def store(values: Values, result: TensorValue) -> None:
        for place, value in zip(places, result or (), strict=True):
            values[place] = value

    return store
