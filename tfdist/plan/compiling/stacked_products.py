"""Stacked products: what an unrolled cell makes of its inputs, computed at once.

Where an unrolled recurrent cell multiplies the input of each step by the same weights, and these
inputs are the parts of one tensor, one product of all of them gives the same in a fraction of the
time: small products take longer to ask for than to compute, and no threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from tfdist.base import dtypes
from tfdist.graph.records import Node, constant_node
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
    groups = [group for group in _groups(nodes) if _is_worth(bindings, group)]
    stacked = {group.first.name: _stacked(bindings, group) for group in groups}
    parts = {
        (node.name, 0): (stacked[group.first.name][-1].name, node.inputs[0][1])
        for group in groups
        for node in group.products
    }
    gone = {name for name, _ in parts}
    found: list[Node] = []
    for node in nodes:
        if node.name not in gone:
            found.append(node.taking(parts))
        found += stacked.get(node.name, ())
    return _without_unused(found, {group.unpack.name for group in groups}, bindings)


def _without_unused(nodes: Sequence[Node], names: set[str], bindings: NodeBindings) -> list[Node]:
    """Return the nodes but for those of `names` that nobody takes any more."""
    taken = {name for node in nodes for name, _ in node.inputs}
    taken.update(name for node in nodes for name in node.control)
    taken.update(name for name, _ in bindings.layout.slots)
    return [node for node in nodes if node.name not in names or node.name in taken]


class _Group(NamedTuple):
    """Products of parts of one tensor by one factor.

    Attributes:
      unpack: what gives the parts.
      products: in the order in which they run.
    """

    unpack: Node
    products: list[Node]

    @property
    def first(self) -> Node:
        """Return the product in whose place that of all stands."""
        return self.products[0]

    def sizes(self, bindings: NodeBindings) -> tuple[int, int, int] | None:
        """Return rows, inner size and columns of each product, None if they are not known."""
        part = bindings.full_shape(self.first.inputs[0])
        made = bindings.full_shape((self.first.name, 0))
        if part is None or made is None or not len(part) == len(made) == 2:
            return None
        return *part, made[1]


def _groups(nodes: Sequence[Node]) -> Iterable[_Group]:
    makers = {node.name: node for node in nodes}
    groups: dict[tuple[str, Endpoint, bool], _Group] = {}
    for node in nodes:
        if node.op != "MatMul" or node.attrs["transpose_a"] or node.attrs["T"] not in _TYPES:
            continue
        source, factor = node.inputs
        maker = makers.get(source[0])
        if maker is not None and maker.op == "Unpack" and not node.control and not guard_of(node):
            key = source[0], factor, node.attrs["transpose_b"]
            groups.setdefault(key, _Group(maker, [])).products.append(node)
    return groups.values()


def _is_worth(bindings: NodeBindings, group: _Group) -> bool:
    """Return whether one product for sure takes the place of all, and less time."""
    unpack, products = group
    sizes = group.sizes(bindings)
    if sizes is None:
        return False
    rows, _, columns = sizes
    return (
        len({node.inputs[0][1] for node in products}) == len(products) == unpack.attrs["num"]
        and len(products) >= _FEWEST
        and unpack.attrs["axis"] == 0
        and not guard_of(unpack)
        and math.prod(sizes) <= _MOST_WORK
        and len(products) * rows * columns <= _MOST_NUMBERS
        and not any((node.name, 0) in bindings.layout.slots for node in products)
    )


def _stacked(bindings: NodeBindings, group: _Group) -> list[Node]:
    """Return the nodes in the place of a group; the last one has a part for each of it."""
    first, count, sizes = group.first, len(group.products), group.sizes(bindings)
    assert sizes is not None
    rows, inner, columns = sizes
    flat, product, apart = [f"{first.name}:{each}" for each in ("flat", "product", "apart")]
    whole, all_rows = group.unpack.inputs[0], count * rows
    made = [
        *_reshaped(first, flat, whole, (all_rows, inner)),
        first._replace(
            name=product, inputs=((flat, 0), first.inputs[1]), shapes=((all_rows, columns),)
        ),
        *_reshaped(first, apart, (product, 0), (count, rows, columns)),
        group.unpack._replace(
            name=f"{first.name}:each",
            inputs=((apart, 0),),
            control=(),
            shapes=((rows, columns),) * count,
        ),
    ]
    for node in made:
        bindings.adopt(node)
    return made


def _reshaped(like: Node, name: str, source: Endpoint, sizes: tuple[int, ...]) -> list[Node]:
    """Return the nodes that give a tensor other sizes, on the device of a product."""
    value = np.array(sizes, np.int32)
    constant = constant_node(f"{name}:sizes", value, dtypes.int32, like.device)
    attrs = {"T": like.attrs["T"], "Tshape": dtypes.int32}
    inputs = source, (constant.name, 0)
    return [constant, Node(name, "Reshape", inputs, (), like.device, attrs, (sizes,))]
