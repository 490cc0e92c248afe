"""Stacked gradients: the gradient of a weight that many steps use, computed at once.

An unrolled recurrent cell multiplies by the same weights, and adds the same bias, in every step.
Their gradients are sums of as many products, or sums over rows, each of few rows. With what these
take stacked, one below the other, one product gives the same, in a fraction of the time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from tfdist.base import dtypes
from tfdist.graph.op_def import hand_on
from tfdist.graph.records import Node, constant_node
from tfdist.plan.branch_predicates import guard_of, needs
from tfdist.plan.compiling.node_bindings import NodeBindings
from tfdist.plan.prune import Endpoint

_FEWEST = 3  # terms
_MOST_NUMBERS = 1 << 22  # of all that is stacked, which is kept until the last one is there
_MOST_WORK = 1 << 24  # multiplications of one product: of more, the sum is a small part
_TYPES = (dtypes.float32, dtypes.float64)


def stack_gradients(bindings: NodeBindings, nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes of a unit with single products and sums in the place of sums of many.

    Args:
      bindings: what is known of them; learns of nodes that come to them.
      nodes: in an order that works, and still does.
    """
    nodes = list(nodes)
    stacker = _Stacker(bindings, nodes)
    found = [each for node in nodes for each in stacker.replaced(node)]
    return [node for node in found if node.name not in stacker.gone]


class _Stacker:
    """Finds what can be stacked in a unit.

    Attributes:
      gone: the names of nodes that nobody needs any more.
    """

    def __init__(self, bindings: NodeBindings, nodes: Sequence[Node]) -> None:
        self.gone: set[str] = set()
        self._bindings = bindings
        self._nodes = {node.name: node for node in nodes}
        self._uses = Counter([endpoint for node in nodes for endpoint in needs(node)])
        self._stacks: dict[tuple[Endpoint, ...], Endpoint] = {}

    def replaced(self, total: Node) -> list[Node]:
        """Return what stands in the place of a sum, or the node itself."""
        if total.op != "AddN" or len(total.inputs) < _FEWEST or total.attrs["T"] not in _TYPES:
            return [total]
        paths = [self._path(endpoint) for endpoint in total.inputs]
        terms = [path[-1] for path in paths if path]
        if len(terms) < len(paths) or len({term.op for term in terms}) > 1:
            return [total]
        count = _TERMS[terms[0].op].stacked
        factors = [map(self._source, term.inputs[:count]) for term in terms]
        columns = list(zip(*factors, strict=True))
        if not self._is_worth(columns):
            return [total]
        self.gone.update([each.name for path in paths for each in path])
        made: list[Node] = []
        inputs = tuple([self._stacked(total.name, column, made) for column in columns])
        rest = terms[-1].inputs[count:]
        made.append(
            terms[-1]._replace(name=total.name, inputs=inputs + rest, control=total.control)
        )
        return made

    def _path(self, endpoint: Endpoint) -> list[Node]:
        """Return the nodes up to a term that nobody else takes; nothing if there is none."""
        path: list[Node] = []
        while self._is_private(endpoint):
            node = self._nodes[endpoint[0]]
            path.append(node)
            if node.op in _TERMS:
                return path if _TERMS[node.op].fits(self._bindings, node) else []
            if not self._hands_on(node):
                break
            endpoint = node.inputs[0]
        return []

    def _hands_on(self, node: Node) -> bool:
        return node.op == "Identity" or self._bindings.specialized(node) is hand_on

    def _source(self, endpoint: Endpoint) -> Endpoint:
        """Return the tensor that another one is: gradients are handed on by nodes of their own."""
        node = self._nodes.get(endpoint[0])
        while node is not None and self._hands_on(node) and not guard_of(node):
            if self._bindings.is_variable(node.inputs[0]):
                break
            endpoint = node.inputs[0]
            node = self._nodes.get(endpoint[0])
        return endpoint

    def _is_private(self, endpoint: Endpoint) -> bool:
        """Return whether a node of this unit makes a tensor in every run, for one consumer."""
        node = self._nodes.get(endpoint[0])
        return (
            node is not None
            and self._uses[endpoint] == 1
            and endpoint not in self._bindings.layout.slots
            and not guard_of(node)
            and not any(map(self._bindings.is_variable, node.inputs))
        )

    def _is_worth(self, columns: Sequence[Sequence[Endpoint]]) -> bool:
        """Return whether matrices of known sizes are so small that one product is quicker."""
        sizes = [[self._bindings.full_shape(endpoint) for endpoint in row] for row in columns]
        known = [[size for size in row if size is not None and len(size) == 2] for row in sizes]
        if known != sizes:
            return False
        work = max(_work(term) for term in zip(*known, strict=True))
        kept = sum(math.prod(size) for row in known for size in row)
        return work <= _MOST_WORK and kept <= _MOST_NUMBERS

    def _stacked(self, name: str, endpoints: tuple[Endpoint, ...], made: list[Node]) -> Endpoint:
        """Return matrices one below the other; the nodes that are needed for it come to `made`."""
        if endpoints not in self._stacks:
            number = len(self._stacks)
            axis, stack = f"{name}:axis{number}", f"{name}:stack{number}"
            dtype, device = self._bindings.dtype(endpoints[0]), self._nodes[name].device
            attrs = {"N": len(endpoints), "T": dtype, "Tidx": dtypes.int32}
            inputs, shape = (*endpoints, (axis, 0)), self._shape_of(endpoints)
            made.append(constant_node(axis, np.zeros((), np.int32), dtypes.int32, device))
            made.append(Node(stack, "ConcatV2", inputs, (), device, attrs, (shape,)))
            for node in made[-2:]:
                self._bindings.adopt(node)
            self._stacks[endpoints] = stack, 0
        return self._stacks[endpoints]

    def _shape_of(self, endpoints: Sequence[Endpoint]) -> tuple[int, ...]:
        """Return the shape of matrices one below the other."""
        shapes = [self._bindings.full_shape(endpoint) or () for endpoint in endpoints]
        return (sum(shape[0] for shape in shapes), *shapes[0][1:])


def _work(term: Sequence[tuple[int, ...]]) -> int:
    """Return how many multiplications a product takes, or additions a sum."""
    return math.prod([term[0][0], *[columns for _, columns in term]])


class _Term(NamedTuple):
    """What an op may be stacked by.

    Attributes:
      stacked: how many of its inputs, the first ones.
      fits: whether a node is meant.
    """

    stacked: int
    fits: Callable[[NodeBindings, Node], bool]


def _is_turned_product(bindings: NodeBindings, node: Node) -> bool:
    return bool(node.attrs["transpose_a"] and not node.attrs["transpose_b"])


def _is_sum_of_rows(bindings: NodeBindings, node: Node) -> bool:
    axis = bindings.constant(node.inputs[1])
    return axis is not None and np.ravel(axis).tolist() == [0] and not node.attrs["keep_dims"]


_TERMS = {
    "MatMul": _Term(2, _is_turned_product),
    "Sum": _Term(1, _is_sum_of_rows),
    "BiasAddGrad": _Term(1, lambda bindings, node: node.attrs["data_format"] == b"NHWC"),
}
