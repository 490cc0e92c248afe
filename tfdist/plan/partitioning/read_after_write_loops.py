"""Read-after-write in loops: reads of a variable see what earlier iterations made of it.

In TensorFlow the `NAME/read` of a reference variable hands on the variable's own memory, through an
`Enter` into all iterations of a loop, too. A loop that changes the variable finds the new value
there:

    def round(i):
        with tf.control_dependencies([tf.assign_sub(v, 0.1 * v)]):  # of what v is by now
            return i + 1

Here a read is a value. So that both find the same, who takes it in such a loop, on the device of
the variable, gets a read of its own in every iteration, when all else that it takes is there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from tfdist.graph.records import ENTERS, MERGES, Node
from tfdist.plan.partitioning.read_after_write import changes_of, consumers_of, is_read, variable_of
from tfdist.plan.prune import Endpoint, prune


def reads_after_writes_in_loops(
    nodes: list[Node], device_of: Callable[[str], str], fed: Collection[Endpoint]
) -> tuple[list[Node], dict[str, str]]:
    """Return the nodes of a step with reads in loops, and the reads that are new.

    Args:
      nodes: that the step needs, inputs first.
      device_of: the device of a node.
      fed: what enters the step.

    Returns:
      The nodes, inputs first; and for each new read the name of the one that it was made after.
    """
    if not any(node.op == "RefEnter" for node in nodes):
        return nodes, {}
    named = {node.name: node for node in nodes}
    changes = changes_of(named)
    inside = _references(changes, named)
    consumers, copies = consumers_of(nodes), dict[str, str]()
    for enter in nodes:
        read = _read_behind(enter, named)
        if read is None or not is_read(read, changes, fed):
            continue
        reference = inside.get((read.inputs[0][0], enter.attrs["frame_name"]))
        if reference is None:
            continue
        for consumer in sorted(consumers.get(enter.name, ())):
            if _may_take(named[consumer], enter) and device_of(consumer) == device_of(read.name):
                copy = f"{enter.name}/fresh_{len(copies)}"
                copies[copy] = read.name
                named[copy], named[consumer] = _with_own(
                    read, copy, reference, named[consumer], enter
                )
    return (prune(named, _needed(named, nodes), fed) if copies else nodes), copies


def _references(
    changes: Mapping[str, list[str]], named: Mapping[str, Node]
) -> dict[tuple[str, str], str]:
    """Return by variable and frame the `RefEnter` through which a change in a loop finds it."""
    found: dict[tuple[str, str], str] = {}
    for variable, those in changes.items():
        for change in those:
            name = change
            while name != variable:
                node = named[name]
                if node.op == "RefEnter":
                    found[variable, node.attrs["frame_name"]] = name
                name = _reference(node, variable, named)
    return found


def _reference(node: Node, variable: str, named: Mapping[str, Node]) -> str:
    """Return the input by which `node` refers to `variable`."""
    return next(
        name
        for arg, (name, _) in zip(node.op_def.signature.inputs, node.inputs, strict=False)
        if arg.is_ref and variable_of(name, named) == variable
    )


def _read_behind(enter: Node, named: Mapping[str, Node]) -> Node | None:
    """Return what an `Enter`, perhaps by others, gives to all iterations of a loop."""
    node: Node | None = enter
    while node is not None and node.op == "Enter" and node.attrs["is_constant"]:
        node = named.get(node.inputs[0][0])
    return None if node is enter else node


def _may_take(consumer: Node, enter: Node) -> bool:
    return consumer.op not in (*ENTERS, *MERGES) and (enter.name, 0) in consumer.inputs


def _with_own(
    read: Node, copy: str, reference: str, consumer: Node, enter: Node
) -> tuple[Node, Node]:
    """Return a read for `consumer` in a loop, and `consumer` with its value."""
    others = [name for name, _ in consumer.inputs if name != enter.name]
    control = tuple(dict.fromkeys((*others, *consumer.control)))
    inputs = tuple(
        (copy, 0) if name == enter.name else (name, port) for name, port in consumer.inputs
    )
    own = read._replace(name=copy, inputs=((reference, 0),), control=control)
    return own, consumer._replace(inputs=inputs)


def _needed(named: Mapping[str, Node], nodes: list[Node]) -> list[str]:
    """Return the names of all but the constants of loops that nobody takes any more."""
    taken = consumers_of(named.values())
    enters = {node.name for node in nodes if node.op == "Enter" and node.name not in taken}
    return [name for name in named if name not in enters]
