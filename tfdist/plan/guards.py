"""Guards: on which predicates it depends whether a node runs, as far as the graph tells.

Behind output 1 of a `Switch` everything runs only if its predicate is true, behind output 0 only
if it is false; a `Merge` of both sides ends that. What cannot be proven so is left to tokens.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import heappop, heappush

from tfdist.graph.records import EXITS, MERGES, SWITCHES, Node
from tfdist.plan.frames import Frames, Path
from tfdist.plan.prune import Endpoint

# Predicates with the value that each must have; outer branches first.
Guard = tuple[tuple[Endpoint, bool], ...]

GUARD = "_guard"  # the attribute that holds it


class NotProvenError(Exception):
    """The graph has branches or loops that cannot be shown to be Python's `if` and `while`."""


def guard_of(node: Node) -> Guard:
    """Return what must hold for `node` to run."""
    found: Guard = node.attrs.get(GUARD, ())
    return found


def guarded(nodes: Iterable[Node], fed: Collection[Endpoint]) -> list[Node]:
    """Return `nodes` with their guards, in an order that keeps equal guards together.

    Args:
      nodes: of one frame, inputs first; what makes other inputs always runs.
      fed: tensors that are given, and there whatever runs.

    Raises:
      NotProvenError: a `Merge` does not join the two sides of one predicate.
    """
    finder = _Finder(fed)
    return _grouped([finder.add(node) for node in nodes])


def guards_after(nodes: Iterable[Node]) -> dict[Endpoint, Guard]:
    """Return the guards of tensors that not every run makes, from guarded `nodes`."""
    found = {}
    for node in nodes:
        for port in range(2 if node.op in SWITCHES else 1):
            found[node.name, port] = output_guard(node, port)
    return {endpoint: guard for endpoint, guard in found.items() if guard}


def output_guard(node: Node, port: int) -> Guard:
    """Return what must hold for an output of a guarded node to be alive."""
    if node.op in SWITCHES:
        return (*guard_of(node), (predicate(node), bool(port)))
    return guard_of(node)


def predicate(switch: Node) -> Endpoint:
    """Return the predicate of a guarded `Switch`, under the name that guards use."""
    found: Endpoint = switch.attrs["_predicate"]
    return found


def always_run(nodes: Iterable[Node], frames: Frames, fed: Collection[Endpoint]) -> set[str]:
    """Return the nodes outside of loops that run in every step, as far as can be proven.

    Args:
      nodes: inputs first.
      frames: where they run.
      fed: tensors that are given.
    """
    finder = _Finder(fed)
    certain: set[str] = set()
    entered_alive: dict[Path, bool] = {}
    for node in nodes:
        if frames.gives_to[node.name]:
            if not frames.runs_in[node.name]:  # an Enter
                path = frames.gives_to[node.name]
                alive = finder.is_alive(node, certain)
                entered_alive[path] = entered_alive.get(path, True) and alive
        elif node.op in EXITS:
            if entered_alive[frames.runs_in[node.name]]:
                certain.add(node.name)
        elif finder.is_alive(node, certain):
            certain.add(node.name)
    return certain


class _Finder:
    """Finds guards, node by node."""

    def __init__(self, fed: Collection[Endpoint]) -> None:
        self._fed = fed
        self._nodes: dict[str, Node] = {}

    def add(self, node: Node) -> Node:
        """Return `node` with its guard."""
        found = self._merged(node) if node.op in MERGES else self._joined(node, node.inputs)
        if node.op in SWITCHES:
            found = node._replace(
                attrs={**found.attrs, "_predicate": self._original(node.inputs[1])}
            )
        self._nodes[node.name] = found
        return found

    def is_alive(self, node: Node, certain: Collection[str]) -> bool:
        """Take `node`; returns whether it always runs, if `certain` are known to."""
        try:
            found = self.add(node)
        except NotProvenError:
            return False
        if guard_of(found):
            return False
        sources = [name for name, port in node.inputs if (name, port) not in self._fed]
        if node.op in MERGES:  # its two sides are guarded, it is not
            sources = [name for name in sources if name not in self._nodes]
        return all(name in certain for name in (*sources, *node.control))

    def _joined(self, node: Node, inputs: Iterable[Endpoint]) -> Node:
        """Return `node`, which runs if all its inputs are alive."""
        parts: dict[tuple[Endpoint, bool], None] = {}
        for endpoint in inputs:
            parts.update(dict.fromkeys(self._guard(endpoint)))
        for name in node.control:
            if name in self._nodes:
                parts.update(dict.fromkeys(guard_of(self._nodes[name])))
        if len({pred for pred, _ in parts}) < len(parts):
            raise NotProvenError(f"{node.name} would need a predicate to be both true and false")
        return _with_guard(node, tuple(parts))

    def _merged(self, node: Node) -> Node:
        """Return a `Merge`, which always runs inside of what surrounds its two sides."""
        if len(node.inputs) != 2:
            raise NotProvenError(f"{node.name} joins {len(node.inputs)} ways")
        sides = [dict(self._guard(endpoint)) for endpoint in node.inputs]
        apart = [pred for pred in sides[0] if sides[1].get(pred, sides[0][pred]) != sides[0][pred]]
        if len(apart) != 1:
            raise NotProvenError(f"{node.name} does not join the two sides of one predicate")
        pred = apart[0]
        first_if = sides[0].pop(pred)
        sides[1].pop(pred)
        if sides[0] != sides[1]:
            raise NotProvenError(f"{node.name} joins ways that depend on more than {pred}")
        found = self._joined(node, ())
        parts = {**sides[0], **dict(guard_of(found))}
        merged = _with_guard(node, tuple(parts.items()))
        return merged._replace(attrs={**merged.attrs, "_choice": (pred, first_if)})

    def _guard(self, endpoint: Endpoint) -> Guard:
        node = self._nodes.get(endpoint[0])
        return () if node is None or endpoint in self._fed else output_guard(node, endpoint[1])

    def _original(self, endpoint: Endpoint) -> Endpoint:
        """Return the tensor of which `endpoint` is a mere copy."""
        while endpoint not in self._fed:
            node = self._nodes.get(endpoint[0])
            if node is None or node.op != "Identity":
                break
            endpoint = node.inputs[0]
        return endpoint


def _with_guard(node: Node, guard: Guard) -> Node:
    return node._replace(attrs={**node.attrs, GUARD: guard}) if guard else node


def choice(merge: Node) -> tuple[Endpoint, bool]:
    """Return the predicate of a guarded `Merge`, and its value if the first input is alive."""
    found: tuple[Endpoint, bool] = merge.attrs["_choice"]
    return found


def needs(node: Node) -> tuple[Endpoint, ...]:
    """Return what a guarded node takes: its inputs, and the predicates of its guard."""
    extra = tuple([pred for pred, _ in guard_of(node)])
    if "_choice" in node.attrs:
        extra = (*extra, choice(node)[0])
    return (*node.inputs, *extra) if extra else node.inputs


def _grouped(nodes: Sequence[Node]) -> list[Node]:
    """Return `nodes` inputs first, those of one guard together where that can be."""
    index = {node.name: i for i, node in enumerate(nodes)}
    waits, following = _edges(nodes, index)
    ready: dict[Guard, list[int]] = {}
    for i, count in enumerate(waits):
        if not count:
            heappush(ready.setdefault(guard_of(nodes[i]), []), i)
    order: list[Node] = []
    guard: Guard = ()
    while ready:
        if guard not in ready:
            guard = min(ready, key=lambda each: ready[each][0])
        i = heappop(ready[guard])
        if not ready[guard]:
            del ready[guard]
        order.append(nodes[i])
        for j in following[i]:
            waits[j] -= 1
            if not waits[j]:
                heappush(ready.setdefault(guard_of(nodes[j]), []), j)
    if len(order) < len(nodes):
        raise NotProvenError("a loop takes what it gives")
    return order


def _edges(nodes: Sequence[Node], index: Mapping[str, int]) -> tuple[list[int], list[list[int]]]:
    waits = [0] * len(nodes)
    following: list[list[int]] = [[] for _ in nodes]
    for i, node in enumerate(nodes):
        names = {name for name, _ in needs(node)} | set(node.control)
        for name in names & index.keys():
            waits[i] += 1
            following[index[name]].append(i)
    return waits, following
