"""Memory-aware scheduling, the order of a compiled unit's nodes: what frees memory runs at once.

A unit's nodes stand in the order of a depth-first search from the fetches up, which makes early
what is far above, and holds it until it is used. Here a node is moved up to where the last of its
inputs is made, if what it makes takes no more memory than what dies by it, and if nobody can see
when it runs. For that, a sum of many tensors is taken apart: each is added when it is there. So the
gradient of a weight that is used in a hundred places takes the memory of one, not of a hundred.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from tfdist.base import dtypes
from tfdist.graph.records import Node
from tfdist.plan.branch_predicates import guard_of, needs
from tfdist.plan.compiling.elementwise_fusion import fuse_elementwise
from tfdist.plan.compiling.node_bindings import NodeBindings
from tfdist.plan.compiling.stacked_gradients import stack_gradients
from tfdist.plan.compiling.stacked_products import stack_products
from tfdist.plan.prune import Endpoint

_NUMBERS = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)


def schedule(bindings: NodeBindings, nodes: Iterable[Node]) -> tuple[Node, ...]:
    """Return the nodes of a unit in an order that holds little.

    Args:
      bindings: what is known of them; learns of the sums of two that others are taken apart to.
      nodes: in an order that works.
    """
    stacked = stack_gradients(bindings, stack_products(bindings, nodes))
    parts = [part for node in stacked for part in _parts(bindings, node)]
    return tuple(_Order(bindings, fuse_elementwise(bindings, parts)).all())


def _parts(bindings: NodeBindings, node: Node) -> Iterator[Node]:
    """Return a sum as sums of two that give the same bits, any other node as it is."""
    if not _is_long_sum(bindings, node):
        yield node
        return
    total, *terms = node.inputs
    attrs = {**node.attrs, "N": 2}
    for position, term in enumerate(terms[:-1]):
        name = f"{node.name}:{position}"  # no node of a graph can have it
        part = node._replace(name=name, inputs=(total, term), control=(), attrs=attrs)
        bindings.adopt(part)
        yield part
        total = (name, 0)
    yield node._replace(inputs=(total, terms[-1]), attrs=attrs)


def _is_long_sum(bindings: NodeBindings, node: Node) -> bool:
    """Return whether `node` adds more than two arrays that are for sure of one shape."""
    result = (node.name, 0)
    return (
        node.op == "AddN"
        and len(node.inputs) > 2
        and bindings.dtype(result) in _NUMBERS
        and _size(bindings, result) < math.inf
        and all(bindings.shape(each) == bindings.shape(result) for each in node.inputs)
        and _takes_values(bindings, node)
    )


def _takes_values(bindings: NodeBindings, node: Node) -> bool:
    """Return whether `node` takes no variable, whose value depends on the moment."""
    return not any(map(bindings.is_variable, node.inputs))


def _size(bindings: NodeBindings, endpoint: Endpoint) -> float:
    """Return the bytes of a tensor; infinite where they are not known."""
    shape, dtype = bindings.full_shape(endpoint), bindings.dtype(endpoint)
    if shape is None or dtype is None or dtype not in _NUMBERS:
        return math.inf
    return float(math.prod(shape, start=dtype.size))


class _Order:
    """Nodes that are put in order."""

    def __init__(self, bindings: NodeBindings, nodes: Sequence[Node]) -> None:
        self._bindings, self._nodes = bindings, nodes
        self._above = {node.name: {name for name, _ in needs(node)} for node in nodes}
        self._consumers: dict[str, list[Node]] = {}
        self._uses: dict[Endpoint, int] = {}
        self._taken: set[str] = set()
        for node in nodes:
            self._enter(node)

    def _enter(self, node: Node) -> None:
        above = self._above[node.name]
        above.update(node.control)
        above &= self._above.keys()
        for name in above:
            self._consumers.setdefault(name, []).append(node)
        for endpoint in set(node.inputs):
            self._uses[endpoint] = self._uses.get(endpoint, 0) + 1

    def all(self) -> Iterator[Node]:
        """Yield every node once, after all that it needs."""
        for first in self._nodes:
            ready = [] if first.name in self._taken else [first]
            self._taken.add(first.name)
            while ready:
                node = ready.pop()
                yield node
                ready += self._run(node)

    def _run(self, node: Node) -> list[Node]:
        """Take note that `node` has run; returns what should run now, the last one first."""
        for endpoint in set(node.inputs):
            self._uses[endpoint] -= 1
        consumers = self._consumers.get(node.name, ())
        for consumer in consumers:
            self._above[consumer.name].discard(node.name)
        found = [consumer for consumer in consumers if self._is_due(consumer, node)]
        self._taken.update([consumer.name for consumer in found])
        return found[::-1]

    def _is_due(self, node: Node, above: Node) -> bool:
        return (
            not self._above[node.name]
            and node.name not in self._taken
            and guard_of(node) == guard_of(above)
            and self._is_pure(node)
            and self._saves(node)
        )

    def _is_pure(self, node: Node) -> bool:
        signature = node.op_def.signature
        is_plain = not signature.stateful and not any(arg.is_ref for arg in signature.inputs)
        return is_plain and _takes_values(self._bindings, node)

    def _saves(self, node: Node) -> bool:
        """Return whether at least as many bytes die by `node` as it makes."""
        outputs = [(node.name, port) for port in range(self._bindings.output_count(node))]
        dying = [endpoint for endpoint in set(node.inputs) if self._dies(endpoint)]
        made, freed = (sum(_size(self._bindings, e) for e in ends) for ends in (outputs, dying))
        return made <= freed and made < math.inf

    def _dies(self, endpoint: Endpoint) -> bool:
        """Return whether the one node that is still to take a tensor is its end."""
        return (
            self._uses[endpoint] == 1
            and endpoint[0] in self._above
            and endpoint not in self._bindings.layout.slots
            and self._bindings.constant(endpoint) is None
        )
