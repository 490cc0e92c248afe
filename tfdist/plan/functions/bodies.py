"""Function bodies after dead code elimination: what calls of functions need of them.

A body is reduced to what its results need and to what does something to state: its stateful nodes,
calls that lead to such, and its control results.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import NamedTuple

from tfdist.errors import InvalidArgumentError, OpError
from tfdist.graph.functions import (
    Body,
    Library,
    NameAttrList,
    body_of,
    functions_in,
    make_gradient,
)
from tfdist.graph.op_def import lookup
from tfdist.graph.records import (
    ENTERS,
    EXITS,
    MERGES,
    NEXT_ITERATIONS,
    SWITCHES,
    Node,
    is_back_edge,
)

_DEEPEST = 64  # calls inside of calls


class Needed(NamedTuple):
    """What calls of a function need of it.

    Attributes:
      body: with the nodes that something needs; its control results are all nodes that must run.
      in_flow: names of the calls in it that stand in a branch or loop.
    """

    body: Body
    in_flow: frozenset[str]


class Bodies:
    """The bodies of a library's functions.

    Attributes:
      library: the functions; gradient functions come to it when they are asked for.

    Args:
      library: the functions.
      forms: ops that call functions by an attribute.
    """

    def __init__(self, library: Library, forms: Container[str]) -> None:
        self.library, self._forms = library, forms
        self._needed: dict[str, Needed] = {}
        self._acting: dict[str, bool] = {}
        self._sizes: dict[str, int] = {}

    def is_call(self, node: Node) -> bool:
        """Return whether `node` calls a function."""
        return node.op in self._forms or node.op in self.library.functions

    def needed(self, function: NameAttrList, chain: tuple[str, ...] = ()) -> Needed:
        """Return what a call of `function` needs of it.

        Raises:
          InvalidArgumentError: it is among those in `chain`, which are being called.
        """
        if function.name in chain:
            cycle = " -> ".join([*chain[chain.index(function.name) :], function.name])
            raise InvalidArgumentError(f"function {function.name!r} calls itself: {cycle}")
        if len(chain) > _DEEPEST:
            raise InvalidArgumentError(f"functions call each other {_DEEPEST} deep")
        found = self.library.find(function.name)
        key = self._key(function)
        if key not in self._needed:
            self._needed[key] = self._reduced(body_of(found, function.attrs, self.library))
        return self._needed[key]

    def _key(self, function: NameAttrList) -> str:
        has_attrs = self.library.find(function.name).signature.attrs
        return repr(function) if has_attrs else function.name

    def size(self, node: Node, chain: tuple[str, ...] = ()) -> int:
        """Return how many nodes `node` becomes at least.

        Each function is looked at once, however often it is called. What is wrong with one counts
        as nothing: it is told when it is called.

        Args:
          node: any.
          chain: functions that are being called.
        """
        if node.op in self.library.functions:
            called = [NameAttrList(node.op, node.attrs)]
        elif node.op in self._forms:
            called = [each for value in node.attrs.values() for each in functions_in(value)]
        else:
            return 1
        return 1 + sum(self._size_of_body(each, chain) for each in called)

    def _size_of_body(self, function: NameAttrList, chain: tuple[str, ...]) -> int:
        try:
            nodes, key = self.needed(function, chain).body.nodes, self._key(function)
        except (OpError, TypeError, ValueError):
            return 0
        if key not in self._sizes:
            inner = (*chain, function.name)
            self._sizes[key] = sum(self.size(node, inner) for node in nodes)
        return self._sizes[key]

    def gradient(self, function: NameAttrList) -> NameAttrList:
        """Return the function that gives the gradients of `function`."""
        if function.name in self.library.gradients:
            return NameAttrList(self.library.gradients[function.name])
        name, library = make_gradient(function, self.library)
        self.library = self.library.merged(library)
        return NameAttrList(name)

    def _reduced(self, body: Body) -> Needed:
        """Return `body` without what nobody needs."""
        nodes = {node.name: node for node in body.nodes}
        depths = depths_of(nodes, nodes)
        effects = [node.name for node in body.nodes if self._acts(node, ())]
        effects += [name for name in body.control_results if name in nodes]
        effects = _outside(effects, body.nodes, depths)
        stack = [*effects, *(name for name, _ in body.results)]
        found: set[str] = set()
        while stack:
            name = stack.pop()
            if name in nodes and name not in found:
                found.add(name)
                stack += [*(each for each, _ in nodes[name].inputs), *nodes[name].control]
        kept = tuple([node for node in body.nodes if node.name in found])
        calls = [node.name for node in kept if self.is_call(node) and depths[node.name]]
        return Needed(body._replace(nodes=kept, control_results=tuple(effects)), frozenset(calls))

    def _acts(self, node: Node, seen: tuple[str, ...]) -> bool:
        """Return whether a node of a body does something to state."""
        if node.op in self.library.functions:
            return self._function_acts(node.op, seen)
        if node.op in self._forms:
            called = [each for value in node.attrs.values() for each in functions_in(value)]
            return lookup(node.op).is_stateful and any(
                self._function_acts(each.name, seen) for each in called
            )
        return lookup(node.op).is_stateful

    def _function_acts(self, name: str, seen: tuple[str, ...]) -> bool:
        if name in seen or len(seen) > _DEEPEST:
            return False  # what is wrong with that is told when it is called
        if name not in self._acting:
            function = self.library.find(name)
            self._acting[name] = bool(function.control_results) or any(
                self._acts(node, (*seen, name)) for node in function.nodes
            )
        return self._acting[name]


def _outside(names: Iterable[str], nodes: Iterable[Node], depths: Mapping[str, int]) -> list[str]:
    """Return nodes outside of branches and loops that run when `names` have, if they do."""
    consumers: dict[str, list[str]] = {}
    for node in nodes:
        for name in (*(each for each, _ in node.inputs), *node.control):
            consumers.setdefault(name, []).append(node.name)
    found: dict[str, None] = {}
    seen: set[str] = set()
    stack = list(names)
    while stack:
        name = stack.pop()
        if not depths[name]:
            found[name] = None
        elif name not in seen:
            seen.add(name)
            stack += consumers.get(name, ())
    return list(found)


def depths_of(names: Iterable[str], nodes: Mapping[str, Node | None]) -> dict[str, int]:
    """Return in how many branches and loops the outputs of nodes stand.

    A Switch or Enter leads in, a Merge or Exit out again; those Switches and Merges that end and
    begin the iterations of a loop do neither.

    Args:
      names: of the nodes.
      nodes: with all that they need, by name.
    """
    depths: dict[str, int] = {}
    stack = [(name, False) for name in names]
    while stack:
        name, is_done = stack.pop()
        node = nodes.get(name)
        if node is None or (name in depths and not is_done):
            continue
        above = [each for each, _ in node.inputs if not is_back_edge(node, nodes.get(each))]
        above += node.control
        if is_done:
            deepest = max([depths.get(each, 0) for each in above], default=0)
            depths[name] = max(0, deepest + _step(node, nodes))
        else:
            depths[name] = 0  # in case that it depends on itself, which others will tell
            stack.append((name, True))
            stack += [(each, False) for each in above]
    return depths


def _step(node: Node, nodes: Mapping[str, Node | None]) -> int:
    """Return by how much what `node` gives is deeper in branches and loops than what it takes."""
    makers = [maker.op for name, _ in node.inputs if (maker := nodes.get(name)) is not None]
    if node.op in SWITCHES:
        return int("LoopCond" not in makers)
    if node.op in MERGES:
        return -int(not any(op in NEXT_ITERATIONS for op in makers))
    return int(node.op in ENTERS) - int(node.op in EXITS)
