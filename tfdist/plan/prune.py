"""Pruning (dead node elimination): the nodes that a step needs, in topological order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from tfdist.errors import InvalidArgumentError, NotFoundError
from tfdist.graph.records import MERGES, Node, is_back_edge

Endpoint = tuple[str, int]


def prune(
    graph: Mapping[str, Node], roots: Iterable[str], fed: Collection[Endpoint] = ()
) -> list[Node]:
    """Return the nodes that `roots` need, in an order in which inputs come first.

    The source of a back edge comes after the `Merge` that takes it.

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
    iterations: list[str] = []  # sources of back edges, not visited yet
    while stack or iterations:
        name, inputs_done = stack.pop() if stack else (iterations.pop(), False)
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
        iterations += later
        stack += [(needed, False) for needed in above if not done.get(needed, False)]
    return order


def _needs(
    graph: Mapping[str, Node], node: Node, fed: Collection[Endpoint]
) -> tuple[list[str], list[str]]:
    """Return the nodes that `node` waits for, last to visit first, and the back edges' sources."""
    names = [endpoint[0] for endpoint in node.inputs if endpoint not in fed]
    iterations = []
    if node.op in MERGES:
        iterations = [name for name in names if is_back_edge(node, graph.get(name))]
        names = [name for name in names if name not in iterations]
    names += [name for name in node.control if not _is_fed_placeholder(graph, name, fed)]
    names.reverse()
    return names, iterations


def _is_fed_placeholder(graph: Mapping[str, Node], name: str, fed: Collection[Endpoint]) -> bool:
    """Return whether `name` has nothing to do in this step: its value is there already."""
    return (name, 0) in fed and name in graph and graph[name].op == "Placeholder"
