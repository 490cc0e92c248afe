"""The nodes of a graph as the graph's picture needs them: plain records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tfdist.plots.shared.placed_nodes import node_of

TIMES = "\u00d7"  # between the sizes of a shape


class Taken(NamedTuple):
    """A tensor that a node takes.

    Attributes:
      node: whose output it is.
      port: number of the output.
      shape: "128x784", "?" for a size that is not known, "" where nothing is known; of a scalar
        "scalar".
    """

    node: str
    port: int
    shape: str


class GraphNode(NamedTuple):
    """A node of a graph.

    Attributes:
      name: unique in its graph.
      op: type of the op.
      device: where it is, or is asked to be; "" for anywhere.
      inputs: tensors that it takes.
      controls: names of the nodes after which it runs.
    """

    name: str
    op: str
    device: str
    inputs: tuple[Taken, ...]
    controls: tuple[str, ...]


def graph_nodes(graph: Any, devices: Mapping[str, str] | None = None) -> list[GraphNode]:
    """Return the nodes of a graph, in its order.

    Args:
      graph: a `Graph`, a `GraphDef`, or nodes that were read before.
      devices: where nodes are, by name; of the others, what was asked for stands.
    """
    if hasattr(graph, "get_operations"):
        found = [_from_operation(op) for op in graph.get_operations()]
    elif hasattr(graph, "node"):
        found = _from_graph_def(graph)
    else:
        found = list(graph)
    placed = devices or {}
    return [node._replace(device=placed.get(node.name, node.device)) for node in found]


def around(nodes: Sequence[GraphNode], names: Iterable[str]) -> list[GraphNode]:
    """Return those nodes that are in `names`, what they take, and what takes from them."""
    wanted = set(names)
    near = set(wanted)
    for node in nodes:
        sources = {*(taken.node for taken in node.inputs), *node.controls}
        if node.name in wanted:
            near |= sources
        elif sources & wanted:
            near.add(node.name)
    return [node for node in nodes if node.name in near]


def shape_text(sizes: Sequence[int | None] | None) -> str:
    """Return a shape as it stands on an edge: "128x784", "?x10", "scalar"; "" if unknown."""
    if sizes is None:
        return ""
    return TIMES.join("?" if size is None else str(size) for size in sizes) or "scalar"


def _from_operation(op: Any) -> GraphNode:
    taken = tuple(
        Taken(tensor.op.name, tensor.value_index, shape_text(tensor.plain_shape))
        for tensor in op.inputs
    )
    return GraphNode(op.name, op.type, op.device, taken, tuple(c.name for c in op.control_inputs))


def _from_graph_def(graph_def: Any) -> list[GraphNode]:
    shapes = {
        node.name: [_proto_shape(each) for each in node.attr["_output_shapes"].list.shape]
        for node in graph_def.node
        if "_output_shapes" in node.attr
    }
    return [
        GraphNode(
            node.name,
            node.op,
            node.device,
            tuple(_taken(name, shapes) for name in node.input if not name.startswith("^")),
            tuple(name[1:] for name in node.input if name.startswith("^")),
        )
        for node in graph_def.node
    ]


def _taken(name: str, shapes: Mapping[str, Sequence[str]]) -> Taken:
    port = int(name.partition(":")[2] or 0)
    known = shapes.get(node_of(name), ())
    return Taken(node_of(name), port, known[port] if port < len(known) else "")


def _proto_shape(shape: Any) -> str:
    if shape.unknown_rank:
        return ""
    return shape_text([None if dim.size < 0 else dim.size for dim in shape.dim])
