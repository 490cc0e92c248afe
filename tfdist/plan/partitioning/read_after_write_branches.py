"""Read-after-write in branches: reads of a variable see what the branch has made of it.

In TensorFlow the `NAME/read` of a reference variable hands on the variable's own memory, through a
`Switch` into a branch, too:

    def count():  # tf.cond(is_training, count, lambda: v + 0)
        with tf.control_dependencies([tf.assign_add(v, 1)]):
            return v + 0  # "cond/add" finds the new value, though "v/read" stands before the branch

Here a read is a value. So that both find the same, who takes it behind a change of its own branch,
on the device of the variable, gets a read of its own there, which waits for the change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from tfdist.graph.records import Node
from tfdist.plan.partitioning.read_after_write import (
    after_nodes,
    changes_of,
    consumers_of,
    is_read,
    variable_of,
)
from tfdist.plan.prune import Endpoint, prune


class _Change(NamedTuple):
    """A change in a branch: of which variable, and by which `RefSwitch` it refers to it."""

    name: str
    variable: str
    reference: Endpoint


def reads_after_writes_in_branches(
    nodes: list[Node], device_of: Callable[[str], str], fed: Collection[Endpoint]
) -> tuple[list[Node], dict[str, str]]:
    """Return the nodes of a step with reads in branches, and the reads that are new.

    Args:
      nodes: that the step needs, inputs first.
      device_of: the device of a node.
      fed: what enters the step.

    Returns:
      The nodes, inputs first; and for each new read the name of the one that it was made after.
    """
    if not any(node.op == "RefSwitch" for node in nodes):
        return nodes, {}
    named = {node.name: node for node in nodes}
    changes, consumers = changes_of(named), consumers_of(nodes)
    own: dict[tuple[str, Endpoint], Node] = {}
    origin: dict[str, str] = {}
    for change in _changes_in_branches(changes, named):
        after = after_nodes([change.name], consumers, named)
        for read, taken in _brought_in(change, changes, consumers, named, fed):
            behind = [
                consumer
                for consumer in sorted(consumers.get(taken[0], set()) & after)
                if taken in named[consumer].inputs and device_of(consumer) == device_of(read)
            ]
            for place in ((consumer, taken) for consumer in behind):
                fresh = named[read]._replace(name=f"{taken[0]}/fresh_{len(own)}", control=())
                made = own.get(place, fresh)
                control = (*made.control, change.name)
                own[place] = made._replace(inputs=(change.reference,), control=control)
                origin[made.name] = read
    for (consumer, taken), read_node in own.items():
        node = named[consumer]
        inputs = tuple((read_node.name, 0) if each == taken else each for each in node.inputs)
        named[consumer] = node._replace(inputs=inputs)
        named[read_node.name] = read_node
    return (prune(named, [node.name for node in nodes], fed) if own else nodes), origin


def _changes_in_branches(
    changes: Mapping[str, list[str]], named: Mapping[str, Node]
) -> Iterator[_Change]:
    """Yield the changes that take their reference from a `RefSwitch` of the variable itself."""
    for variable, those in changes.items():
        for change in those:
            node = named[change]
            for arg, taken in zip(node.op_def.signature.inputs, node.inputs, strict=False):
                switch = named.get(taken[0])
                if not arg.is_ref or switch is None or switch.op != "RefSwitch":
                    continue
                if switch.inputs[0][0] == variable == variable_of(taken[0], named):
                    yield _Change(change, variable, taken)


def _brought_in(
    change: _Change,
    changes: Mapping[str, list[str]],
    consumers: Mapping[str, set[str]],
    named: Mapping[str, Node],
    fed: Collection[Endpoint],
) -> Iterator[tuple[str, Endpoint]]:
    """Yield the reads of the variable, each with the tensor by which the change's branch has it."""
    switch, port = change.reference
    predicate = named[switch].inputs[1]
    for read in sorted(consumers.get(change.variable, set())):
        if not is_read(named[read], changes, fed):
            continue
        for name in sorted(consumers.get(read, set())):
            if named[name].op == "Switch" and named[name].inputs == ((read, 0), predicate):
                yield read, (name, port)
