"""Name scopes as a tree, and how much of it a picture shows.

A scope is a frame around what is in it down to a depth, and below that one box. Scopes beside each
other that are made alike, such as layer_1 to layer_9, are one box, unless the graph goes through
something else between them. What nearly everything is connected with (global_step, a node that runs
all initialisers) is set aside, as its edges would hide the others.
"""

from __future__ import annotations

from collections.abc import Sequence

from tfdist.plots.graph.data import GraphNode
from tfdist.plots.graph.scopes_data import Folded, Item, Link, Part, nodes_text, scope_tree
from tfdist.plots.graph.scopes_series import fewer, joined, least, runs, without_numbers

DEPTH = 2
MOST_NODES = 200  # boxes
COMFORTABLE = 40  # boxes up to which scopes are opened, if no number is asked for
MOST_IN_SCOPE = 24  # boxes in one frame; of a scope with more, one box stands for all
MANY = 9  # neighbours of what is set aside, at least
SHARE = 0.25  # of all boxes that are its neighbours, at least
WAITS_FOR = 3  # what a node that only waits, and is not waited for, is set aside from
FEW = 8  # nodes that a box can have to be set aside
_SAVING = {"SaveV2", "RestoreV2", "Save", "SaveSlices"}


def fold_graph(
    nodes: Sequence[GraphNode], depth: int = DEPTH, most: int | None = None, scope: str = ""
) -> Folded:
    """Return a graph with its scopes open down to `depth`, in at most `most` boxes.

    Args:
      nodes: of the graph.
      depth: 1 opens none of the scopes, 2 the outermost.
      most: boxes; without, there are at most 200, and no more scopes are opened beyond 40.
      scope: name of the scope to show; by default all.

    Raises:
      ValueError: there is no such scope.
    """
    tree = _scope(scope_tree(nodes), scope)
    whole = Part("", "", "", tuple(tree.members()))
    whole.parts = _Folding(nodes, most).parts(tree, depth)
    aside = _set_aside(nodes, whole)
    leaves = whole.leaves() if whole.parts else []
    return Folded(whole, leaves, links_between(nodes, leaves), aside)


def _scope(tree: Item, scope: str) -> Item:
    item: Item | None = tree
    for label in scope.split("/") if scope else ():
        item = item.items.get(label) if item else None
    if item is None or (scope and not item.items):
        raise ValueError(f"no scope is called {scope}; there are {_some(tree)}")
    return item


def _some(tree: Item) -> str:
    """Return some scopes in words."""
    names = [item.name for item in tree.items.values() if item.items]
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return (", ".join(names[:8]) or "none") + more


def links_between(
    nodes: Sequence[GraphNode], leaves: Sequence[Part]
) -> dict[tuple[int, int], Link]:
    """Return what goes between boxes, by their positions."""
    position = {node.name: i for i, node in enumerate(nodes)}
    home = {member: i for i, leaf in enumerate(leaves) for member in leaf.members}
    tensors: dict[tuple[int, int], dict[tuple[str, int], str]] = {}
    controls: dict[tuple[int, int], int] = {}
    for target, i in home.items():
        for taken in nodes[target].inputs:
            j = home.get(position.get(taken.node, -1), i)
            if j != i:
                tensors.setdefault((j, i), {})[taken.node, taken.port] = taken.shape
        for name in nodes[target].controls:
            j = home.get(position.get(name, -1), i)
            if j != i:
                controls[j, i] = controls.get((j, i), 0) + 1
    return {
        key: _link(tensors.get(key, {}), controls.get(key, 0)) for key in {**tensors, **controls}
    }


def _link(tensors: dict[tuple[str, int], str], controls: int) -> Link:
    shapes = tuple(dict.fromkeys(filter(None, tensors.values())))
    return Link(frozenset(tensors), shapes, controls)


class _Folding:
    """Which scopes are open: outer ones first, small ones before large ones, as long as they fit.

    Args:
      nodes: of the graph.
      most: boxes; see `fold_graph`.
    """

    def __init__(self, nodes: Sequence[GraphNode], most: int | None) -> None:
        self._nodes, self._most = nodes, most or MOST_NODES
        self._room = most or COMFORTABLE
        self._position = {node.name: i for i, node in enumerate(nodes)}
        self._item: dict[str, Item] = {}  # by the name of a part

    def parts(self, tree: Item, depth: int) -> list[Part]:
        """Return what is in the outermost frame."""
        found = self._inside(tree)
        if len(found) > self._most:
            found = fewer(found, self._most)
        count, level = len(found), list(found)
        for number in range(1, depth):
            following: list[Part] = []
            for alike in self._alike(level):
                inside = [self._opened(part, number + 1 < depth) for part in alike]
                more = sum(len(each) - 1 for each in inside if each)
                if count + more <= self._room:  # all that are alike, or none
                    count += more
                    for part, parts in zip(alike, inside, strict=True):
                        part.parts = parts
                        following += parts
            level = following
        return found

    def _alike(self, level: Sequence[Part]) -> list[list[Part]]:
        """Return parts with those of one kind together, small kinds first."""
        found: dict[tuple[str, str], list[Part]] = {}
        for part in level:
            found.setdefault((without_numbers(part.title), part.about), []).append(part)
        return sorted(found.values(), key=lambda alike: sum(len(p.members) for p in alike))

    def _opened(self, part: Part, with_ops: bool) -> list[Part]:
        """Return what a frame around a part would hold, nothing if it is to stay one box.

        A node that is a scope, too, with its constants and such, opens one step later.
        """
        item = self._item.get(part.name)
        if item is None or part.times > 1 or not item.items or (item.node >= 0 and not with_ops):
            return []
        if _saves(self._nodes, part):
            return []
        inside = self._inside(item)
        return inside if 1 < len(inside) <= MOST_IN_SCOPE else []

    def _inside(self, item: Item) -> list[Part]:
        found = [self._part(child, item.name) for child in item.items.values()]
        if item.node >= 0:
            node = self._nodes[item.node]
            found.append(Part(item.name + "/", f"({_last(node.name)})", node.op, (item.node,)))
        found.sort(key=lambda part: part.members[0])
        return self._with_series(found)

    def _part(self, item: Item, outer: str) -> Part:
        while item.node < 0 and len(item.items) == 1:  # a scope of nothing but a scope
            (item,) = item.items.values()
        members = tuple(item.members())
        title = item.name[len(outer) :].lstrip("/")
        self._item[item.name] = item
        if item.node < 0:
            return Part(item.name, title, nodes_text(len(members)), members)
        more = f" +{len(members) - 1}" if len(members) > 1 else ""
        return Part(item.name, title, self._nodes[item.node].op + more, members)

    def _with_series(self, parts: list[Part]) -> list[Part]:
        """Return `parts` with those as one that are made alike."""
        alike: dict[tuple[object, ...], list[int]] = {}
        for i, part in enumerate(parts):
            item = self._item.get(part.name)
            if item is not None:
                key = (without_numbers(part.title), self._made_of(part))
                alike.setdefault(key, []).append(i)
        groups = [group for group in alike.values() if len(group) >= least(parts[group[0]])]
        if not groups:
            return parts
        takers = self._takers(parts)
        found = [
            run
            for group in groups
            for run in runs(group, takers)
            if len(run) >= least(parts[group[0]])
        ]
        return joined(parts, found)

    def _made_of(self, part: Part) -> tuple[tuple[str, str], ...]:
        """Return what is in a part, apart from its name and from numbers in names."""
        names = (self._nodes[i].name.removeprefix(part.name) for i in part.members)
        return tuple(
            sorted(
                (without_numbers(name), self._nodes[i].op)
                for name, i in zip(names, part.members, strict=True)
            )
        )

    def _takers(self, parts: Sequence[Part]) -> list[set[int]]:
        """Return for each part those that take from it."""
        home = {member: i for i, part in enumerate(parts) for member in part.members}
        found: list[set[int]] = [set() for _ in parts]
        for member, i in home.items():
            node = self._nodes[member]
            for name in (*(taken.node for taken in node.inputs), *node.controls):
                j = home.get(self._position.get(name, -1), i)
                if j != i:
                    found[j].add(i)
        return found


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _set_aside(nodes: Sequence[GraphNode], whole: Part) -> list[tuple[Part, int, int]]:
    """Take out of `whole` what its edges are not drawn of, and return that."""
    leaves = whole.leaves() if whole.parts else []
    before: list[set[int]] = [set() for _ in leaves]
    after: list[set[int]] = [set() for _ in leaves]
    for source, target in links_between(nodes, leaves):
        before[target].add(source)
        after[source].add(target)
    found = [
        (leaf, len(before[i]), len(after[i]))
        for i, leaf in enumerate(leaves)
        if _is_aside(nodes, leaf, len(before[i]), len(after[i]), len(leaves))
    ]
    _remove(whole, {id(leaf) for leaf, _, _ in found})
    return found


def _is_aside(nodes: Sequence[GraphNode], leaf: Part, before: int, after: int, count: int) -> bool:
    if _saves(nodes, leaf) and count > 1:
        return True
    if {nodes[i].op for i in leaf.members} == {"NoOp"} and before >= WAITS_FOR and not after:
        return True
    neighbours = before + after
    return len(leaf.members) <= FEW and neighbours >= max(MANY, SHARE * count)


def _saves(nodes: Sequence[GraphNode], part: Part) -> bool:
    """Return whether a part is a saver: an outermost scope that writes or reads checkpoints."""
    return "/" not in part.name and any(nodes[i].op in _SAVING for i in part.members)


def _remove(part: Part, gone: set[int]) -> None:
    """Take boxes out of a frame and of those inside; frames with nothing left go, too."""
    kept = []
    for inner in part.parts:
        was_open = bool(inner.parts)
        _remove(inner, gone)
        if id(inner) not in gone and (inner.parts or not was_open):
            kept.append(inner)
    part.parts = kept
