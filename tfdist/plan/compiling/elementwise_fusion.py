"""Loop fusion: chains of elementwise nodes that run as one loop over their elements.

NumPy goes over memory once for each node, and takes memory for what only the next node takes. Nodes
that say what they compute of each element (`OpDef.elementwise`) become one node, if all but the
last give what only the others take, and all results have the shape of the last one.

See `fused_loop` for what runs. A trace shows what each node does: traced steps have no such loops.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from tfdist.base import dtypes, machine_code
from tfdist.graph.op_def import ElementRule, hand_on
from tfdist.graph.records import FUSED, Node
from tfdist.plan.branch_predicates import guard_of, needs
from tfdist.plan.compiling.copies import WRAPPER
from tfdist.plan.compiling.fused_loop import Chain, Step, cost, operations, renamed
from tfdist.plan.compiling.node_bindings import NodeBindings, runs_on_cpu
from tfdist.plan.prune import Endpoint

_FLOATS = (dtypes.float32, dtypes.float64)
_MOST_NODES = 32  # of a chain: to compile more takes longer than several loops cost
_MOST_ARRAYS = 6  # compilers look whether one may lie over the result, for no more than some
_MOST_NUMBERS = 12  # each takes a tenth of a microsecond
_OWN_LOOP = 9  # passes that take as long as the loop of a function alone
_LIKELY = 128  # elements of a dimension that is not known
_HANDED_ON = ElementRule("x", broadcasts=False, functions={})
_LEAST = 20_000  # nanoseconds of NumPy that are worth the call of a loop


def fuse_elementwise(
    bindings: NodeBindings, nodes: Iterable[Node], kept: Collection[Endpoint] = ()
) -> list[Node]:
    """Return nodes with one in the place of each chain that is worth a loop.

    Args:
      bindings: what is known of them.
      nodes: in an order that works, and still does.
      kept: tensors that are taken after that.
    """
    nodes = list(nodes)
    if not machine_code.is_possible():
        return nodes
    chains = [chain for chain in _Chains(bindings, nodes, kept).all() if _is_worth(bindings, chain)]
    fused = {chain.last.name: chain.node() for chain in chains}
    gone = {node.name for chain in chains for node in chain.nodes[1:]}
    return [fused.get(node.name, node) for node in nodes if node.name not in gone]


def chain_of(bindings: NodeBindings, node: Node) -> Chain:
    """Return what a node computes that stands for a chain."""
    numbers: dict[Endpoint, int] = {each: number for number, each in enumerate(node.inputs)}
    steps = []
    for each in members(node):
        formula, names = _formula(bindings, each)
        takes = tuple([numbers[endpoint] for endpoint in each.inputs[: len(names)]])
        rule = each.op_def.element_rule or _HANDED_ON
        functions = tuple(rule.functions.items())
        steps.append(Step(renamed(formula, names, takes), takes, rule.broadcasts, functions))
        numbers[each.name, 0] = len(numbers)
    types = [bindings.dtype(endpoint) for endpoint in (*node.inputs, (node.name, 0))]
    return Chain(tuple(steps), tuple([np.dtype(each.as_numpy_dtype) for each in types if each]))


def members(node: Node) -> Sequence[Node]:
    """Return the nodes of a chain, in order, of which another stands for all."""
    found: Sequence[Node] = node.attrs["nodes"]
    return found


class _Found:
    """A chain that is being found, from its end.

    Attributes:
      nodes: the last one first.
      operands: the tensors that it takes.
    """

    def __init__(self, bindings: NodeBindings, last: Node, operands: Iterable[Endpoint]) -> None:
        self._bindings = bindings
        self.nodes = [last]
        self.operands = dict.fromkeys(operands)

    @property
    def last(self) -> Node:
        """Return the node that gives the result."""
        return self.nodes[0]

    def takes(self, node: Node, operands: Iterable[Endpoint]) -> bool:
        """Return whether there is room for a node; it is taken."""
        found = {**self.operands, **dict.fromkeys(operands)}
        del found[node.name, 0]
        if len(self.nodes) == _MOST_NODES or not _are_few(self._bindings, found):
            return False
        self.nodes.append(node)
        self.operands = found
        return True

    def node(self) -> Node:
        """Return the node that stands for all, with the name of the last one."""
        control = dict.fromkeys(name for node in self.nodes[::-1] for name in node.control)
        attrs = {"nodes": tuple(self.nodes[::-1]), "T": self.last.attrs["T"], "Tin": []}
        return Node(
            self.last.name,
            FUSED,
            tuple(self.operands),
            tuple(control),
            self.last.device,
            attrs,
            self.last.shapes,
        )


def _are_few(bindings: NodeBindings, operands: Collection[Endpoint]) -> bool:
    numbers = sum(bindings.shape(endpoint) == () for endpoint in operands)
    return numbers <= _MOST_NUMBERS and len(operands) - numbers <= _MOST_ARRAYS


class _Chains:
    """Finds the chains of a unit, or of an iteration of a loop."""

    def __init__(
        self, bindings: NodeBindings, nodes: Sequence[Node], kept: Collection[Endpoint]
    ) -> None:
        self._bindings, self._nodes, self._kept = bindings, nodes, kept
        self._consumers: dict[Endpoint, list[Node]] = {}
        for node in nodes:
            for endpoint in needs(node):
                self._consumers.setdefault(endpoint, []).append(node)

    def all(self) -> list[_Found]:
        """Return chains, of one node perhaps."""
        found: dict[str, _Found] = {}  # by the names of their nodes
        for node in reversed(self._nodes):
            formula, names = _formula(self._bindings, node) if self._may_be(node) else ("", ())
            operands = node.inputs[: len(names)]
            if not formula or any(map(self._bindings.is_variable, operands)):
                continue
            chain = self._chain_around(node, found)
            if chain is not None and chain.takes(node, operands):
                found[node.name] = chain
            elif operations(formula) and self._bindings.dtype((node.name, 0)) in _FLOATS:
                found[node.name] = _Found(self._bindings, node, operands)
        return list(dict.fromkeys(found.values()))

    def _may_be(self, node: Node) -> bool:
        """Return whether a node may be in a chain, if it says what it computes of each element."""
        return (
            node.attrs.get("T") in _FLOATS
            and _is_long(self._bindings, node, _MOST_NODES)
            and not guard_of(node)
            and WRAPPER not in node.attrs
            and runs_on_cpu(node)
        )

    def _chain_around(self, node: Node, found: dict[str, _Found]) -> _Found | None:
        """Return the chain to which all belong that take the result, if the node may be in it."""
        endpoint = node.name, 0
        consumers = self._consumers.get(endpoint, [])
        if not consumers or endpoint in self._bindings.layout.slots or endpoint in self._kept:
            return None
        chain = found.get(consumers[0].name)
        if chain is None or any(found.get(each.name) is not chain for each in consumers):
            return None
        last = chain.last
        is_alike = (
            node.device == last.device
            and self._bindings.shape(endpoint) == self._bindings.shape((last.name, 0))
            and not (node.op == "AddN" and any(each.op == "AddN" for each in consumers))
            and node.attrs.get("T") is last.attrs["T"]
        )
        return chain if is_alike else None


def _formula(bindings: NodeBindings, node: Node) -> tuple[str, list[str]]:
    """Return what a node computes of each element, "" if it says nothing, and its inputs' names."""
    if node.op == "Identity" or bindings.specialized(node) is hand_on:
        return "x", ["x"]
    rule = node.op_def.element_rule
    if rule is None:
        return "", []
    formula = rule.formula
    if callable(formula):
        formula = formula(bindings.known(node)) or ""
    names = []
    for arg in node.op_def.signature.inputs:
        count = arg.count(node.attrs)
        names += [f"{arg.name}{i}" for i in range(count)] if arg.is_list else [arg.name]
    return formula, names


def _is_worth(bindings: NodeBindings, chain: _Found) -> bool:
    """Return whether NumPy takes so long for several passes that a loop is worth its call."""
    passes = sum(operations(_formula(bindings, node)[0]) for node in chain.nodes)
    rules = [node.op_def.element_rule for node in chain.nodes]
    called = sum(len(rule.functions) for rule in rules if rule)
    return passes > 1 and _is_long(bindings, chain.last, passes + called * _OWN_LOOP)


def _is_long(bindings: NodeBindings, node: Node, passes: int) -> bool:
    """Return whether so many passes over the result of a node, an array, take long enough."""
    shape = bindings.shape((node.name, 0))
    if not shape:
        return False
    return cost(passes, math.prod([each or _LIKELY for each in shape])) > _LEAST
