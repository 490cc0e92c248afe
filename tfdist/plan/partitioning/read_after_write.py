"""Read-after-write: reads of a variable that see what a step makes of it.

In TensorFlow the `NAME/read` of a reference variable hands on the variable's own memory: whoever
takes it after an assignment finds the new value there, though the read itself does not wait for the
assignment. Here a read is a value. So that both find the same, those who take it and wait for a
change get a read that waits for it, too:

    with tf.control_dependencies([tf.assign(v, 50)]):
        doubled = v * 2  # "mul/y" waits for the assignment, "v/read" does not
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from tfdist.graph.records import NEXT_ITERATIONS, SWITCHES, Node
from tfdist.plan.prune import Endpoint, prune

VARIABLES = ("Variable", "VariableV2")
_LOOKING = ("IsVariableInitialized", "RefSwitch", "RefEnter", "RefIdentity")


def reads_after_writes(
    nodes: list[Node], fetches: Iterable[Endpoint], fed: Collection[Endpoint]
) -> tuple[list[Node], dict[str, str]]:
    """Return the nodes of a step with reads that wait for changes, and the reads that are new.

    Consumers that wait for other changes than the rest get a read of their own.

    Args:
      nodes: that the step needs, inputs first.
      fetches: what leaves the step; such a read itself waits for nothing more.
      fed: what enters it.

    Returns:
      The nodes, inputs first; and for each new read the name of the one that it was made after.
    """
    named = {node.name: node for node in nodes}
    changes = changes_of(named)
    reads = [node for node in nodes if is_read(node, changes, fed)]
    if not reads:
        return nodes, {}
    consumers = consumers_of(nodes)
    awaited = _awaited(reads, changes, consumers, named)
    fetched = {name for name, _ in fetches}
    changed: dict[str, Node] = {}
    copies: dict[str, str] = {}
    for name, waiting in awaited.items():
        rest = consumers[name] - waiting.keys()
        groups = _groups(waiting)
        if len(groups) == 1 and not rest and name not in fetched:
            changed[name] = _after_changes(named[name], *groups)
            continue
        for number, (control, group) in enumerate(groups.items()):
            copy = f"{name}/fresh_{number}"
            copies[copy] = name
            changed[copy] = _after_changes(named[name], control)._replace(name=copy)
            for consumer in group:
                changed[consumer] = _taking(changed.get(consumer, named[consumer]), name, copy)
    return (prune(named | changed, named, fed) if changed else nodes), copies


def _awaited(
    reads: Iterable[Node],
    changes: Mapping[str, list[str]],
    consumers: Mapping[str, set[str]],
    named: Mapping[str, Node],
) -> dict[str, dict[str, list[str]]]:
    """Return by read, by those that take its value, the changes of its variable they wait for."""
    perhaps = after_nodes(
        [node.name for node in named.values() if node.op in SWITCHES], consumers, named
    )
    found: dict[str, dict[str, list[str]]] = {}
    by_variable: dict[str, list[Node]] = {}
    for read in reads:
        by_variable.setdefault(read.inputs[0][0], []).append(read)
    for variable, mine in by_variable.items():
        for change in changes[variable]:
            if change in perhaps:  # it may be left out, and the read with it
                continue
            after = after_nodes([change], consumers, named)
            for read in mine:
                for consumer in consumers.get(read.name, set()) & after:
                    if (read.name, 0) in named[consumer].inputs:
                        found.setdefault(read.name, {}).setdefault(consumer, []).append(change)
    return found


def _groups(waiting: Mapping[str, list[str]]) -> dict[tuple[str, ...], list[str]]:
    """Return the consumers that wait for the same changes."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for consumer, changes in sorted(waiting.items()):
        groups.setdefault(tuple(changes), []).append(consumer)
    return groups


def _after_changes(read: Node, changes: tuple[str, ...]) -> Node:
    return read._replace(control=(*read.control, *changes))


def _taking(consumer: Node, read: str, copy: str) -> Node:
    """Return `consumer` with the value of another read."""
    inputs = tuple((copy, port) if name == read else (name, port) for name, port in consumer.inputs)
    return consumer._replace(inputs=inputs)


def is_read(node: Node, changes: Mapping[str, list[str]], fed: Collection[Endpoint]) -> bool:
    """Return whether a node reads a variable that the step changes, and waits for nothing."""
    return (
        node.op == "Identity"
        and not node.control
        and node.inputs[0][0] in changes
        and node.inputs[0] not in fed
        and (node.name, 0) not in fed
    )


def changes_of(named: Mapping[str, Node]) -> dict[str, list[str]]:
    """Return the nodes that change each variable."""
    found: dict[str, list[str]] = {}
    for node in named.values():
        signature = node.op_def.signature
        if node.op in _LOOKING or not any(arg.is_ref for arg in signature.inputs):
            continue
        for arg, (name, _) in zip(signature.inputs, node.inputs, strict=False):
            variable = variable_of(name, named) if arg.is_ref else None
            if variable is not None:
                found.setdefault(variable, []).append(node.name)
    return found


def variable_of(name: str, named: Mapping[str, Node]) -> str | None:
    """Return the variable behind a reference, through what hands it on; None if there is none."""
    while name in named and named[name].op not in VARIABLES:
        node = named[name]
        first = node.op_def.signature.inputs[:1]
        if not first or not first[0].is_ref:
            return None
        name = node.inputs[0][0]
    return name if name in named else None


def consumers_of(nodes: Iterable[Node]) -> dict[str, set[str]]:
    """Return the nodes that wait for each node."""
    found: dict[str, set[str]] = {}
    for node in nodes:
        for name in (*(name for name, _ in node.inputs), *node.control):
            found.setdefault(name, set()).add(node.name)
    return found


def after_nodes(
    first: Iterable[str], consumers: Mapping[str, set[str]], named: Mapping[str, Node]
) -> set[str]:
    """Return all nodes that wait for one of `first`, in the same iteration of a loop."""
    found: set[str] = set()
    stack = list(first)
    while stack:
        for name in consumers.get(stack.pop(), ()):
            if name not in found and named[name].op not in NEXT_ITERATIONS:
                found.add(name)
                stack.append(name)
    return found
