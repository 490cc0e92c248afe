"""Name scopes as a tree, and a graph folded for its picture: plain data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tfdist.plots.graph.data import GraphNode


@dataclass
class Item:
    """A node, a scope, or both: `add` is a node, and the scope of `add/y`.

    Attributes:
      name: in the graph; "" of the whole.
      node: position of the node of that name, -1 for none.
      items: what is in the scope, by the next part of the name.
    """

    name: str
    node: int = -1
    items: dict[str, Item] = field(default_factory=dict)

    def members(self) -> list[int]:
        """Return the positions of all its nodes."""
        found, stack = [], [self]
        while stack:
            item = stack.pop()
            found += [item.node] if item.node >= 0 else []
            stack += item.items.values()
        return sorted(found)


@dataclass
class Part:
    """What is drawn as one box, or, if it has parts, as a frame around them.

    Attributes:
      name: of the node, the scope, or the first of a series; "" of the whole.
      title: its name in what is around it.
      about: type of the op, or how many nodes there are.
      members: positions of its nodes.
      parts: in the frame.
      times: how many equal scopes it stands for.
    """

    name: str
    title: str
    about: str
    members: tuple[int, ...]
    parts: list[Part] = field(default_factory=list)
    times: int = 1

    def leaves(self) -> list[Part]:
        """Return the boxes in it, or itself if it is one."""
        return [leaf for part in self.parts for leaf in part.leaves()] if self.parts else [self]


@dataclass(frozen=True)
class Link:
    """What goes from one box to another.

    Attributes:
      tensors: (node, port) of each.
      shapes: of the tensors, each once.
      controls: number of control edges.
    """

    tensors: frozenset[tuple[str, int]]
    shapes: tuple[str, ...]
    controls: int


@dataclass(frozen=True)
class Folded:
    """A graph as it is drawn.

    Attributes:
      whole: the frame around all.
      leaves: its boxes.
      links: by positions in `leaves`.
      aside: boxes whose edges are not drawn: (box, how many it takes from, how many take from it).
    """

    whole: Part
    leaves: list[Part]
    links: dict[tuple[int, int], Link]
    aside: list[tuple[Part, int, int]]


def scope_tree(nodes: Iterable[GraphNode]) -> Item:
    """Return the tree of the scopes of nodes."""
    root = Item("")
    for position, node in enumerate(nodes):
        item, name = root, ""
        for label in node.name.split("/"):
            name = f"{name}/{label}" if name else label
            item = item.items.setdefault(label, Item(name))
        item.node = position
    return root


def nodes_text(count: int) -> str:
    """Return "1 node" or "5,000 nodes"."""
    return f"{count:,} node{'' if count == 1 else 's'}"
