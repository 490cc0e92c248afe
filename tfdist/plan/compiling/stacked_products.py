"""Stacked products: what an unrolled cell makes of its inputs, computed at once.

Where an unrolled recurrent cell multiplies the input of each step by the same weights, and these
inputs are the parts of one tensor, one product of all of them gives the same in a fraction of the
time: small products take longer to ask for than to compute, and no threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from tfdist.base import dtypes
from tfdist.graph.records import Node
from tfdist.plan.branch_predicates import guard_of
from tfdist.plan.compiling.node_bindings import NodeBindings
from tfdist.plan.prune import Endpoint

_FEWEST = 4  # products
_MOST_NUMBERS = 1 << 22  # of what is made, which is kept until the last one is taken
_MOST_WORK = 1 << 21  # multiplications of one product; larger ones take threads anyway
_TYPES = (dtypes.float32, dtypes.float64)


def stack_products(bindings: NodeBindings, nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes of a unit with one product in the place of those of all parts of a tensor.

    Args:
      bindings: what is known of them; learns of nodes that come to them.
      nodes: in an order that works, and still does.
    """
    nodes = list(nodes)
    makers = {node.name: node for node in nodes}
    groups = [group for group in _groups(nodes, makers) if _is_worth(bindings, makers, group)]
    if not groups:
        return nodes
    stacked = {group[0].name: _stacked(bindings, makers, group) for group in groups}
    parts = {
        (node.name, 0): (stacked[group[0].name][-1].name, node.inputs[0][1])
        for group in groups
        for node in group
    }
    gone = {name for name, _ in parts}
    found: list[Node] = []
    for node in nodes:
        if node.name not in gone:
            found.append(_renamed(node, parts))
        found += stacked.get(node.name, ())
    return _without_unused(found, {group[0].inputs[0][0] for group in groups}, bindings)


def _without_unused(nodes: Sequence[Node], names: set[str], bindings: NodeBindings) -> list[Node]:
    """Return the nodes but for those of `names` that nobody takes any more."""
    taken = {name for node in nodes for name, _ in node.inputs}
    taken.update(name for node in nodes for name in node.control)
    taken.update(name for name, _ in bindings.layout.slots)
    return [node for node in nodes if node.name not in names or node.name in taken]


def _groups(nodes: Sequence[Node], makers: dict[str, Node]) -> list[list[Node]]:
    """Return the products of all parts of one tensor by one factor each."""
    groups: dict[tuple[str, Endpoint, bool], list[Node]] = {}
    for node in nodes:
        if node.op != "MatMul" or node.attrs["transpose_a"] or node.attrs["T"] not in _TYPES:
            continue
        source, factor = node.inputs
        maker = makers.get(source[0])
        if maker is not None and maker.op == "Unpack" and not node.control and not guard_of(node):
            key = source[0], factor, node.attrs["transpose_b"]
            groups.setdefault(key, []).append(node)
    return list(groups.values())


def _is_worth(bindings: NodeBindings, makers: dict[str, Node], group: Sequence[Node]) -> bool:
    """Return whether one product for sure takes the place of all, and less time."""
    unpack, first = makers[group[0].inputs[0][0]], group[0]
    part, made = map(bindings.full_shape, (first.inputs[0], (first.name, 0)))
    if part is None or made is None or not len(part) == len(made) == 2:
        return False
    return (
        len({node.inputs[0][1] for node in group}) == len(group) == unpack.attrs["num"]
        and len(group) >= _FEWEST
        and unpack.attrs["axis"] == 0
        and not guard_of(unpack)
        and math.prod(part) * made[1] <= _MOST_WORK
        and len(group) * math.prod(made) <= _MOST_NUMBERS
        and not any((node.name, 0) in bindings.layout.slots for node in group)
    )


def _stacked(bindings: NodeBindings, makers: dict[str, Node], group: Sequence[Node]) -> list[Node]:
    """Return the nodes in the place of a group; the last one has a part for each of it."""
    first, unpack = group[0], makers[group[0].inputs[0][0]]
    count, dtype = len(group), first.attrs["T"]
    rows, inner = bindings.full_shape(first.inputs[0]) or ()
    _, columns = bindings.full_shape((first.name, 0)) or ()
    flat, product = f"{first.name}:flat", f"{first.name}:product"
    made = [
        *_reshaped(first, flat, unpack.inputs[0], (count * rows, inner)),
        first._replace(
            name=product,
            inputs=((flat, 0), first.inputs[1]),
            shapes=((count * rows, columns),),
        ),
        *_reshaped(first, f"{first.name}:apart", (product, 0), (count, rows, columns)),
        unpack._replace(
            name=f"{first.name}:each",
            inputs=((f"{first.name}:apart", 0),),
            attrs={"T": dtype, "num": count, "axis": 0},
            shapes=((rows, columns),) * count,
            control=(),
        ),
    ]
    for node in made:
        bindings.adopt(node)
    return made


def _reshaped(like: Node, name: str, source: Endpoint, sizes: tuple[int, ...]) -> list[Node]:
    """Return the nodes that give a tensor other sizes, on the device of a product."""
    value = np.array(sizes, np.int32)
    attrs = {"value": value, "dtype": dtypes.int32}
    constant = Node(f"{name}:sizes", "Const", (), (), like.device, attrs, (value.shape,))
    attrs = {"T": like.attrs["T"], "Tshape": dtypes.int32}
    inputs = source, (constant.name, 0)
    return [constant, Node(name, "Reshape", inputs, (), like.device, attrs, (sizes,))]


def _renamed(node: Node, parts: dict[Endpoint, Endpoint]) -> Node:
    """Return a node that takes parts of one product in the place of products."""
    if parts.keys().isdisjoint(node.inputs):
        return node
    return node._replace(inputs=tuple([parts.get(each, each) for each in node.inputs]))
