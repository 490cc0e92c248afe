"""Reads of a variable that see what a step makes of it.

In TensorFlow the `NAME/read` of a reference variable hands on the variable's own memory: whoever
takes it after an assignment finds the new value there, though the read itself does not wait for the
assignment. Here a read is a value. So that both find the same, a read is made to wait for a change
for which all of those wait that take it:

    with tf.control_dependencies([tf.assign(v, 50)]):
        doubled = v * 2  # "mul/y" waits for the assignment, "v/read" does not
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from tfdist.graph.records import NEXT_ITERATIONS, SWITCHES, Node
from tfdist.plan.prune import Endpoint, prune

VARIABLES = ("Variable", "VariableV2")
_LOOKING = ("IsVariableInitialized", "RefSwitch", "RefEnter", "RefIdentity")


def fresh_reads(
    nodes: list[Node], fetches: Iterable[Endpoint], fed: Collection[Endpoint]
) -> list[Node]:
    """Return the nodes of a step, with what reads are to wait for, inputs first.

    Args:
      nodes: that the step needs, inputs first.
      fetches: what leaves the step; such a read waits for nothing more.
      fed: what enters it.
    """
    named = {node.name: node for node in nodes}
    changes = _changes(named)
    fetched = {name for name, _ in fetches}
    reads = [node for node in nodes if _is_read(node, changes, fed) and node.name not in fetched]
    if not reads:
        return nodes
    takers = _takers(nodes)
    perhaps = _after([node.name for node in nodes if node.op in SWITCHES], takers, named)
    waiting: dict[str, Node] = {}
    for variable, changing in changes.items():
        mine = [read for read in reads if read.inputs[0][0] == variable]
        for change in changing if mine else ():
            if change not in perhaps:  # it may be left out, and the read with it
                after = _after([change], takers, named)
                for read in mine:
                    if takers.get(read.name) and takers[read.name] <= after:
                        known = waiting.get(read.name, read)
                        waiting[read.name] = known._replace(control=(*known.control, change))
    return prune(named | waiting, named, fed) if waiting else nodes


def _is_read(node: Node, changes: Mapping[str, list[str]], fed: Collection[Endpoint]) -> bool:
    return (
        node.op == "Identity"
        and not node.control
        and node.inputs[0][0] in changes
        and node.inputs[0] not in fed
        and (node.name, 0) not in fed
    )


def _changes(named: Mapping[str, Node]) -> dict[str, list[str]]:
    """Return the nodes that change each variable."""
    found: dict[str, list[str]] = {}
    for node in named.values():
        signature = node.op_def.signature
        if node.op in _LOOKING or not any(arg.is_ref for arg in signature.inputs):
            continue
        for arg, (name, _) in zip(signature.inputs, node.inputs, strict=False):
            variable = _variable(name, named) if arg.is_ref else None
            if variable is not None:
                found.setdefault(variable, []).append(node.name)
    return found


def _variable(name: str, named: Mapping[str, Node]) -> str | None:
    """Return the variable behind a reference, through what hands it on; None if there is none."""
    while name in named and named[name].op not in VARIABLES:
        node = named[name]
        first = node.op_def.signature.inputs[:1]
        if not first or not first[0].is_ref:
            return None
        name = node.inputs[0][0]
    return name if name in named else None


def _takers(nodes: Iterable[Node]) -> dict[str, set[str]]:
    """Return the nodes that wait for each node."""
    found: dict[str, set[str]] = {}
    for node in nodes:
        for name in (*(name for name, _ in node.inputs), *node.control):
            found.setdefault(name, set()).add(node.name)
    return found


def _after(
    first: Iterable[str], takers: Mapping[str, set[str]], named: Mapping[str, Node]
) -> set[str]:
    """Return all nodes that wait for one of `first`, in the same round of a loop."""
    found: set[str] = set()
    stack = list(first)
    while stack:
        for name in takers.get(stack.pop(), ()):
            if name not in found and named[name].op not in NEXT_ITERATIONS:
                found.add(name)
                stack.append(name)
    return found
