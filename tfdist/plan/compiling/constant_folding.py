"""Constant folding: what depends on constants only is computed when a step is compiled.

Gradients of concatenations, transpositions and reductions compute with shapes, and masks are made
of ones, in every step anew. Such a node becomes a constant, if it leaves nothing behind, always
runs and makes little. One that fails is left as it is, for the error is that of a step which runs
it.

So it is inside of loops, whose constants wait for the round that they are taken in.

The size of what is still to come may be known; it waits for that all the same, so that who counts
elements does not count one that never comes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator

import numpy as np

from tfdist.base import dtypes
from tfdist.base.aliases import Array, TensorValue
from tfdist.base.shapes import Shape
from tfdist.graph.records import CONTROL_FLOW, COPY, Node, constant_node
from tfdist.graph.refusals import checked
from tfdist.plan.branch_predicates import guard_of, needs
from tfdist.plan.compiling.copies import WRAPPER
from tfdist.plan.compiling.node_bindings import bound, kernel_of, scalar_or_array
from tfdist.plan.lower import LOOP, loop_of
from tfdist.plan.prune import Endpoint
from tfdist.plan.step_plan import Partition, output_types

_MOST_ELEMENTS = 1 << 16  # of all outputs of a node; a step keeps them as long as it is known
_OF_A_SHAPE = {"Rank", "Shape", "ShapeN", "Size"}  # these look at no number of what they take
# Programs have a default value for what is to be computed all the same.
_NEVER = CONTROL_FLOW | {COPY, "PlaceholderWithDefault"}
_NO_VALUES = {dtypes.resource, dtypes.variant}


def fold_constants(partition: Partition) -> Partition:
    """Return `partition` with constants in the place of what is always the same."""
    return _Folder(partition).folded()


class _Folder:
    """Goes through a partition once, inputs first."""

    def __init__(self, partition: Partition) -> None:
        self._partition = partition
        self._fed = set(partition.feeds)
        self._named = set(partition.fetches)  # what is asked for by name
        self._name_predicates(partition.nodes)
        self._values: dict[Endpoint, TensorValue] = {}
        self._after: dict[Endpoint, frozenset[str]] = {}  # what a constant waits for
        self._names: dict[Endpoint, Endpoint] = {}  # of outputs that have become nodes
        self._shapes: dict[str, tuple[Shape, ...]] = {}

    def folded(self) -> Partition:
        """Return the partition with what has become constants."""
        nodes = [each for node in self._partition.nodes for each in self._replaced(node)]
        return self._partition._replace(nodes=tuple(nodes))

    def _replaced(self, node: Node) -> Iterable[Node]:
        self._shapes[node.name] = node.shapes
        made = self._results(node) if self._may_fold(node) else None
        if made is not None:
            return self._constants(node, made)
        if node.op == "Const" and not node.control:
            self._values[node.name, 0] = scalar_or_array(node.attrs["value"])
        if node.op == LOOP:
            node = self._with_folded_rounds(node)
        return [node.taking(self._names)]

    def _name_predicates(self, nodes: Iterable[Node]) -> None:
        """Let what branches are chosen by keep its name: guards say it, not inputs."""
        self._named.update([each for node in nodes for each in needs(node)[len(node.inputs) :]])

    def _with_folded_rounds(self, node: Node) -> Node:
        """Return a loop with what each of its rounds computes anew as constants."""
        loop = loop_of(node)
        ends = (loop.condition, *(variable.next for variable in loop.variables))
        self._named.update([each for end in ends for each in end.inputs])
        rounds = (*loop.head, *loop.body)
        self._name_predicates(rounds)
        made = {each.name: self._in_a_round(each) for each in rounds}

        def folded(nodes: Iterable[Node]) -> tuple[Node, ...]:
            return tuple(new for old in nodes for new in made.get(old.name, [old]))

        loop = loop._replace(
            head=folded(loop.head), body=folded(loop.body), inner=folded(loop.inner)
        )
        return node._replace(attrs={**node.attrs, "loop": loop})

    def _in_a_round(self, node: Node) -> list[Node]:
        if node.op == "Const" and not guard_of(node):
            self._values[node.name, 0] = scalar_or_array(node.attrs["value"])
            self._after[node.name, 0] = frozenset(node.control)
        return list(self._replaced(node))

    def _constants(self, node: Node, values: list[Array]) -> Iterator[Node]:
        """Yield a constant for each output of `node`."""
        after = frozenset[str]().union(*[self._waits_for(node, each) for each in node.inputs])
        for port, (value, dtype) in enumerate(zip(values, output_types(node), strict=True)):
            name = f"{node.name}:{port}" if port else node.name  # no node of a graph can have it
            self._names[node.name, port] = name, 0
            self._values[node.name, port] = scalar_or_array(value)
            self._after[node.name, port] = after
            yield constant_node(name, value, dtype, node.device, tuple(sorted(after)))

    def _waits_for(self, node: Node, endpoint: Endpoint) -> frozenset[str]:
        """Return the nodes that have to run before a constant in the place of `node` is taken."""
        if endpoint in self._values:
            return self._after.get(endpoint, frozenset())
        return frozenset([endpoint[0]])  # only its shape is known

    def _may_fold(self, node: Node) -> bool:
        """Return whether a node always gives the same, leaves nothing behind and makes little."""
        op_def = node.op_def
        return (
            bool(node.inputs)
            and not node.control
            and node.op not in _NEVER
            and WRAPPER not in node.attrs
            and not op_def.is_stateful
            and not op_def.may_run_on
            and self._are_known(node)
            and self._is_little(node)
        )

    def _are_known(self, node: Node) -> bool:
        if node.op in _OF_A_SHAPE:
            return all(
                each not in self._fed and _is_full(self._shape(each)) for each in node.inputs
            )
        return all(each in self._values and each not in self._fed for each in node.inputs)

    def _shape(self, endpoint: Endpoint) -> Shape:
        shapes = self._shapes.get(endpoint[0])
        return shapes[endpoint[1]] if shapes else None

    def _is_little(self, node: Node) -> bool:
        types = output_types(node)
        later = {(node.name, port) for port in range(1, len(types))}
        return (
            bool(types)
            and all(not dtype.is_ref and dtype not in _NO_VALUES for dtype in types)
            and len(node.shapes) == len(types)
            and all(map(_is_full, node.shapes))
            and sum(map(math.prod, node.shapes)) <= _MOST_ELEMENTS  # type: ignore[arg-type]
            and later.isdisjoint(self._named)
            and self._fed.isdisjoint(later | {(node.name, 0)})
        )

    def _results(self, node: Node) -> list[Array] | None:
        """Return what the kernel makes, None if it cannot be asked here or fails."""
        rule = kernel_of(node)
        if rule.takes_context or rule.waits:
            return None
        kernel = checked(bound(node, rule), node.op_def, node.attrs, takes_context=False)
        try:
            with np.errstate(all="ignore"):
                made = kernel(*self._arguments(node))
        except Exception:
            return None
        made = [made] if node.op_def.has_one_output else made
        return [
            np.asarray(each, dtype.as_numpy_dtype)
            for each, dtype in zip(made, output_types(node), strict=True)
        ]

    def _arguments(self, node: Node) -> Iterator[TensorValue | list[TensorValue]]:
        flat = iter(node.inputs)
        for arg in node.op_def.signature.inputs:
            values = [
                self._value(node, each) for each in itertools.islice(flat, arg.count(node.attrs))
            ]
            yield values if arg.is_list else values[0]

    def _value(self, node: Node, endpoint: Endpoint) -> TensorValue:
        if node.op in _OF_A_SHAPE and endpoint not in self._values:
            return np.broadcast_to(np.int8(0), self._shape(endpoint))  # type: ignore[arg-type]
        return self._values[endpoint]


def _is_full(shape: Shape) -> bool:
    return shape is not None and None not in shape
