"""Function inlining: calls become the nodes of the bodies.

Whoever calls a function keeps its name, as an `Identity`, `IdentityN` or `NoOp` that gives the
results; the body's nodes are called CALL/NODE and ask for the body's device, refined from the
caller's. `If` and `Case` become Switch and Merge, `While` a loop (`branching`), so that what comes
after sees TensorFlow 1's nodes only.

A call runs when its control inputs have run, and its node waits for all that its body does to
state. A node of the body that takes nothing from within it, a constant say, waits for the call's
gate: something that is dead, or in the loop, when the call is. As in TensorFlow 1.15, what a body
does to state (its stateful nodes, its control results) happens whenever it is called, the rest
where a result needs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfdist.base import devices
from tfdist.base.aliases import AttrValue
from tfdist.base.dtypes import DType
from tfdist.errors import InvalidArgumentError
from tfdist.graph.functions import Library, NameAttrList
from tfdist.graph.records import Node
from tfdist.plan.functions import branching
from tfdist.plan.functions.inliner import Form, Inliner, Place


def inline(
    nodes: Sequence[Node],
    library: Library,
    graph: Mapping[str, Node] | None = None,
    is_placed: bool = False,
) -> tuple[Node, ...]:
    """Return `nodes` with the bodies of functions instead of calls.

    Args:
      nodes: new nodes of a graph.
      library: the functions that they may call.
      graph: the nodes that are there already, by name.
      is_placed: whether the nodes have devices already; a body stays on its caller's then.

    Raises:
      InvalidArgumentError: a function is missing, does not fit its call, or calls itself.
      NotFoundError: a function has a node of an op that is not known here.
    """
    if not any(node.op in FORMS or node.op in library.functions for node in nodes):
        return tuple(nodes)
    inliner = Inliner(nodes, library, graph or {}, FORMS, _by_name)
    inliner.add_all(nodes, is_placed)
    return tuple(inliner.made)


def _by_name(inliner: Inliner, node: Node, place: Place) -> None:
    _call(inliner, node, NameAttrList(node.op, node.attrs), place)


def _by_attribute(inliner: Inliner, node: Node, place: Place) -> None:
    _call(inliner, node, node.attrs["f"], place)


def _gradient(inliner: Inliner, node: Node, place: Place) -> None:
    _call(inliner, node, inliner.bodies.gradient(node.attrs["f"]), place)


def _elsewhere(inliner: Inliner, node: Node, place: Place) -> None:
    """Run a function on the device that the first input names.

    What no constant names must be the device of the call: that is seen when it runs.
    """
    maker = inliner.node(node.inputs[0][0])
    while maker is not None and maker.op == "Identity":
        maker = inliner.node(maker.inputs[0][0])
    call = node._replace(inputs=node.inputs[1:])
    if maker is not None and maker.op == "Const":
        target = maker.attrs["value"].item()
        call = call._replace(device=devices.merge(node.device, target.decode()))
    else:
        told = node.inputs[:1]
        here = inliner.new("target", "_RemoteTarget", told, place, node, node.control)
        call = call._replace(control=(*node.control, here))
    _call(inliner, call, node.attrs["f"], place)


FORMS: dict[str, Form] = {
    "PartitionedCall": _by_attribute,
    "StatefulPartitionedCall": _by_attribute,
    "RemoteCall": _elsewhere,
    "SymbolicGradient": _gradient,
    "If": branching.branch,
    "StatelessIf": branching.branch,
    "_If": branching.branch,
    "Case": branching.case,
    "StatelessCase": branching.case,
    "While": branching.loop,
    "StatelessWhile": branching.loop,
    "_While": branching.loop,
}


def _call(inliner: Inliner, node: Node, function: NameAttrList, place: Place) -> None:
    body = inliner.bodies.needed(function, place.chain).body
    is_by_name = node.op == function.name
    types = body.inputs if is_by_name else node.attrs["Tin"]
    if len(node.inputs) != len(types):
        raise InvalidArgumentError(f"it takes {len(types)} inputs, but has {len(node.inputs)}")
    inner = inliner.within(node, place, **_gate(inliner, node, types, place))
    ran = inliner.run(function, node.inputs, types, inner)
    inliner.finish(node, ran, body.outputs if is_by_name else node.attrs["Tout"], place)


def _gate(
    inliner: Inliner, node: Node, types: Sequence[DType], place: Place
) -> dict[str, AttrValue]:
    """Return what gates the body of a call, as changes of its place."""
    gate = node.control or place.gate
    if node.name in place.in_flow and node.inputs:
        # values tell if the call is dead, and its iteration; what control inputs wait for may not
        gate = tuple(
            [
                inliner.new("input", "Identity", [each], place, node, node.control, each[0], T=T)
                for each, T in zip(node.inputs, types, strict=True)
            ]
        )
    if len(gate) > 1:
        gate = (inliner.new("inputs", "NoOp", (), place, node, gate),)
    return {"gate": gate, "outside": place.outside.union(node.inputs if node.control else ())}
