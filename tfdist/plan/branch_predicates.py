"""Branch predicates (guards): which of them decide whether a node runs, as far as the graph tells.

Behind output 1 of a `Switch` everything runs only if its predicate is true, behind output 0 only
if it is false; a `Merge` of both sides ends that. What cannot be proven so is left to tokens.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import heappop, heappush

from tfdist.graph.records import ENTERS, EXITS, MERGES, SWITCHES, Node
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


def guarded(
    nodes: Iterable[Node],
    fed: Collection[Endpoint] = (),
    sources: Iterable[Node] = (),
    before: Iterable[Node] = (),
) -> list[Node]:
    """Return `nodes` with their guards, in an order that keeps equal guards together.

    Args:
      nodes: of one frame, inputs first.
      fed: tensors that are given, and there whatever runs.
      sources: nodes that always run, and give what `nodes` take from elsewhere.
      before: guarded nodes that have run.

    Raises:
      NotProvenError: a `Merge` does not join the two sides of one predicate.
    """
    finder = _Finder(fed, sources, before)
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


def always_run(nodes: Sequence[Node], frames: Frames, fed: Collection[Endpoint]) -> set[str]:
    """Return the nodes outside of loops that run in every step, as far as can be proven.

    Args:
      nodes: inputs first.
      frames: where they run.
      fed: tensors that are given.
    """
    results = _results(nodes)
    finder = _Finder(fed)
    certain: set[str] = set()
    entered: dict[Path, tuple[Endpoint, ...]] = {}
    for node in nodes:
        path = frames.runs_in[node.name]
        if path:
            if len(path) > 1 or node.name not in results:
                continue
            node = node._replace(inputs=entered[path])  # alive if all that enters is
        elif node.op in ENTERS:
            into = frames.gives_to[node.name]
            entered[into] = (*entered.get(into, ()), (node.name, 0))
        if finder.is_alive(node) and not frames.gives_to[node.name]:
            certain.add(node.name)
    return certain


def _results(nodes: Iterable[Node]) -> set[str]:
    """Return the Exits by which the variables of loops leave them in the end."""
    conditions: set[str] = set()
    ends: set[Endpoint] = set()
    results: set[str] = set()
    for node in nodes:
        if node.op == "LoopCond":
            conditions.add(node.name)
        elif node.op in SWITCHES and node.inputs[1][0] in conditions:
            ends.add((node.name, 0))
        elif node.op in EXITS and node.inputs[0] in ends:
            results.add(node.name)
    return results


class _Finder:
    """Finds guards, node by node."""

    def __init__(
        self,
        fed: Collection[Endpoint],
        sources: Iterable[Node] = (),
        before: Iterable[Node] = (),
    ) -> None:
        self._fed = fed
        self._nodes = {node.name: node for node in before}
        self._variables = {node.name for node in (*sources, *before) if _is_variable(node)}

    def add(self, node: Node) -> Node:
        """Return `node` with its guard."""
        if _is_variable(node):
            self._variables.add(node.name)
        found = self._merged(node) if node.op in MERGES else self._joined(node, node.inputs)
        if node.op in SWITCHES:
            pred = self._predicate(node)
            if any(pred == each for each, _ in guard_of(found)):
                raise NotProvenError(f"{node.name} is in a branch of its own predicate")
            found = node._replace(attrs={**found.attrs, "_predicate": pred})
        self._nodes[node.name] = found
        return found

    def is_alive(self, node: Node) -> bool:
        """Take `node`, if all that it needs was taken; returns whether it always runs."""
        names = [name for name, port in node.inputs if (name, port) not in self._fed]
        if not self._nodes.keys() >= {*names, *node.control}:
            return False
        try:
            return not guard_of(self.add(node))
        except NotProvenError:
            return False

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

    def _predicate(self, switch: Node) -> Endpoint:
        """Return the tensor of which the predicate of a `Switch` is a mere copy."""
        endpoint = switch.inputs[1]
        if self._may_change(endpoint):
            raise NotProvenError(f"{switch.name} reads a variable, which may change")
        while endpoint not in self._fed:
            node = self._nodes.get(endpoint[0])
            if node is None or node.op != "Identity" or self._may_change(node.inputs[0]):
                break
            endpoint = node.inputs[0]
        return endpoint

    def _may_change(self, endpoint: Endpoint) -> bool:
        """Return whether a variable stands at `endpoint`: a copy has the value of one moment."""
        return endpoint[0] in self._variables and endpoint not in self._fed


def _is_variable(node: Node) -> bool:
    """Return whether `node` gives variables, not only their values."""
    return any(arg.is_ref for arg in node.op_def.signature.outputs)


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
