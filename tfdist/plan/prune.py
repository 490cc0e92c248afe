"""Pruning: the nodes that a step needs, inputs first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from tfdist.errors import InvalidArgumentError, NotFoundError
from tfdist.graph.records import MERGES, Node, comes_round

Endpoint = tuple[str, int]


def prune(
    graph: Mapping[str, Node], roots: Iterable[str], fed: Collection[Endpoint] = ()
) -> list[Node]:
    """Return the nodes that `roots` need, in an order in which inputs come first.

    What comes round a loop comes after the `Merge` that takes it.

    Feeding replaces an edge, not the op: a fed node is left out unless it is needed for another
    of its outputs or as a dependency.

    Args:
      graph: all nodes by name.
      roots: names of fetched nodes and targets.
      fed: (node, output) whose values are given.

    Raises:
      NotFoundError: a name is not in the graph.
      InvalidArgumentError: nodes depend on each other in a circle.
    """
    order: list[Node] = []
    done: dict[str, bool] = {}  # False while its inputs are being visited
    stack: list[tuple[str, bool]] = [(name, False) for name in reversed(list(roots))]
    rounds: list[str] = []  # what comes round loops, and has not been looked at yet
    while stack or rounds:
        name, inputs_done = stack.pop() if stack else (rounds.pop(), False)
        if inputs_done:
            done[name] = True
            order.append(graph[name])
            continue
        if name in done:
            if not done[name]:
                raise InvalidArgumentError(f"node {name!r} depends on itself")
            continue
        if name not in graph:
            raise NotFoundError(f"node {name!r} is not in the graph of {len(graph)} nodes")
        done[name] = False
        stack.append((name, True))
        above, later = _needs(graph, graph[name], fed)
        rounds += later
        stack += [(needed, False) for needed in above if not done.get(needed, False)]
    return order


def _needs(
    graph: Mapping[str, Node], node: Node, fed: Collection[Endpoint]
) -> tuple[list[str], list[str]]:
    """Return the nodes that `node` waits for, the last to visit first, and what comes round."""
    names = [endpoint[0] for endpoint in node.inputs if endpoint not in fed]
    rounds = []
    if node.op in MERGES:
        rounds = [name for name in names if comes_round(node, graph.get(name))]
        names = [name for name in names if name not in rounds]
    names += [name for name in node.control if not _is_fed_placeholder(graph, name, fed)]
    names.reverse()
    return names, rounds


def _is_fed_placeholder(graph: Mapping[str, Node], name: str, fed: Collection[Endpoint]) -> bool:
    """Return whether `name` has nothing to do in this step: its value is there already."""
    return (name, 0) in fed and name in graph and graph[name].op == "Placeholder"
