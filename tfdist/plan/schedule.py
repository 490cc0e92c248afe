"""The order of a compiled unit's nodes: what frees memory runs at once.

A unit's nodes stand in the order of a search from the fetches up, which makes early what is far
above, and holds it until it is used. Here a node is moved up to where the last of its inputs is
made, if what it makes takes no more memory than what dies by it, and if nobody can see when it
runs. For that, a sum of many tensors is taken apart: each is added when it is there. So the
gradient of a weight that is used in a hundred places takes the memory of one, not of a hundred.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from tfdist.base import dtypes
from tfdist.graph.records import Node
from tfdist.plan.guards import guard_of, needs
from tfdist.plan.prune import Endpoint
from tfdist.plan.wiring import Wiring

_NUMBERS = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)


def schedule(wiring: Wiring, nodes: Iterable[Node]) -> tuple[Node, ...]:
    """Return the nodes of a unit in an order that holds little.

    Args:
      wiring: what is known of them; learns of the sums of two that others are taken apart to.
      nodes: in an order that works.
    """
    order = _Order(wiring, [part for node in nodes for part in _parts(wiring, node)])
    return tuple(order.all())


def _parts(wiring: Wiring, node: Node) -> Iterator[Node]:
    """Return a sum as sums of two that give the same bits, any other node as it is."""
    if not _is_long_sum(wiring, node):
        yield node
        return
    total, *terms = node.inputs
    attrs = {**node.attrs, "N": 2}
    for position, term in enumerate(terms[:-1]):
        name = f"{node.name}:{position}"  # no node of a graph can have it
        part = node._replace(name=name, inputs=(total, term), control=(), attrs=attrs)
        wiring.adopt(part, node)
        yield part
        total = (name, 0)
    yield node._replace(inputs=(total, terms[-1]), attrs=attrs)


def _is_long_sum(wiring: Wiring, node: Node) -> bool:
    """Return whether `node` adds more than two arrays that are for sure of one shape."""
    result = (node.name, 0)
    return (
        node.op == "AddN"
        and len(node.inputs) > 2
        and wiring.dtype(result) in _NUMBERS
        and _size(wiring, result) < math.inf
        and all(wiring.shape(each) == wiring.shape(result) for each in node.inputs)
        and _takes_values(wiring, node)
    )


def _takes_values(wiring: Wiring, node: Node) -> bool:
    """Return whether `node` takes no variable, whose value depends on the moment."""
    return not any(map(wiring.is_variable, node.inputs))


def _size(wiring: Wiring, endpoint: Endpoint) -> float:
    """Return the bytes of a tensor; infinite where they are not known."""
    shape, dtype = wiring.shape(endpoint), wiring.dtype(endpoint)
    if shape is None or None in shape or dtype not in _NUMBERS:
        return math.inf
    return float(math.prod(shape, start=dtype.size))  # type: ignore[arg-type]


class _Order:
    """Nodes that are put in order."""

    def __init__(self, wiring: Wiring, nodes: Sequence[Node]) -> None:
        self._wiring, self._nodes = wiring, nodes
        self._above = {node.name: {name for name, _ in needs(node)} for node in nodes}
        self._takers: dict[str, list[Node]] = {}
        self._uses: dict[Endpoint, int] = {}
        self._taken: set[str] = set()
        for node in nodes:
            self._enter(node)

    def _enter(self, node: Node) -> None:
        above = self._above[node.name]
        above.update(node.control)
        above &= self._above.keys()
        for name in above:
            self._takers.setdefault(name, []).append(node)
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
        takers = self._takers.get(node.name, ())
        for taker in takers:
            self._above[taker.name].discard(node.name)
        found = [taker for taker in takers if self._is_due(taker, node)]
        self._taken.update([taker.name for taker in found])
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
        return is_plain and _takes_values(self._wiring, node)

    def _saves(self, node: Node) -> bool:
        """Return whether at least as many bytes die by `node` as it makes."""
        outputs = [(node.name, port) for port in range(self._wiring.output_count(node))]
        dying = [endpoint for endpoint in set(node.inputs) if self._dies(endpoint)]
        made, freed = (sum(_size(self._wiring, e) for e in ends) for ends in (outputs, dying))
        return made <= freed and made < math.inf

    def _dies(self, endpoint: Endpoint) -> bool:
        """Return whether the one node that is still to take a tensor is its end."""
        return (
            self._uses[endpoint] == 1
            and endpoint[0] in self._above
            and endpoint not in self._wiring.layout.slots
            and self._wiring.constant(endpoint) is None
        )
