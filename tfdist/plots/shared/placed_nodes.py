"""Placed nodes as pictures and tables need them: by device, by depth, or folded into groups.

A loop or cond is one group, unless it is to be opened; beyond a limit, so are the nodes of a scope.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from tfdist.plots.shared.blocks import Path, Placed, blocks_around, closed_path, open_paths
from tfdist.plots.shared.machinery import machinery_of
from tfdist.session.blocks import Block
from tfdist.tracing.device_names import device_order


@dataclass(frozen=True)
class Group:
    """Nodes drawn as one box: one node, all of one scope on one device, or a loop or cond.

    Attributes:
      name: of the node, the scope, the loop or the cond.
      device: where all of them run; of a loop or cond, the first of its devices.
      op: type of the op, or "5 nodes".
      inputs: positions of the groups it takes outputs of, each once, itself left out.
      devices: where its nodes run.
      crossing: those of `inputs` from which something crosses between devices.
      around: the open loops, conds and sides that it is in, from the outside.
      block: the loop or cond that it is, closed; None for nodes.
      is_quiet: whether the user made none of it.
      members: names of its nodes.
    """

    name: str
    device: str
    op: str
    inputs: tuple[int, ...]
    devices: tuple[str, ...] = ()
    crossing: frozenset[int] = frozenset()
    around: Path = ()
    block: Block | None = None
    is_quiet: bool = False
    members: tuple[str, ...] = ()


class Key(NamedTuple):
    """What the nodes of one group have in common."""

    around: Path
    block: Block | None
    device: str
    name: str


class HasInputs(Protocol):
    """Something in a graph, with the positions of what it takes from."""

    @property
    def inputs(self) -> tuple[int, ...]: ...


def by_device(nodes: Iterable[Placed]) -> dict[str, list[Placed]]:
    """Return the nodes of each device, devices in natural order."""
    found: dict[str, list[Placed]] = {}
    for node in nodes:
        found.setdefault(node.device, []).append(node)
    return {device: found[device] for device in sorted(found, key=device_order)}


def fold(nodes: Sequence[Placed], most: int, opened: Iterable[str] = ()) -> list[Group]:
    """Return at most `most` groups: single nodes, or scopes as deep as the limit lets them be.

    Above the limit even for outermost scopes, the rest of each device is one group.

    Args:
      nodes: of one graph.
      most: groups, if that can be.
      opened: names of loops and conds whose inside is wanted, with "*" for any letters.
    """
    paths = open_paths(nodes, opened)
    whole = [_key(node, paths) for node in nodes]
    depth = max((key.name.count("/") for key in whole), default=0) + 1
    keys = whole
    while len(set(keys)) > most and depth > 1:
        depth -= 1
        keys = [_cut(key, depth) for key in whole]
    if len(set(keys)) > most:
        keys = _rest(keys, most)
    return _groups(nodes, keys)


def levels(groups: Sequence[HasInputs]) -> list[int]:
    """Return for each group the row it belongs to, counted from the top.

    It is below all that the group takes and right above its first taker: what is taken late stands
    late. An edge that closes a loop counts for nothing.
    """
    level: dict[int, int] = {}
    for root in range(len(groups)):
        _descend(root, groups, level)
    first_taker: dict[int, int] = {}
    for i in sorted(level, key=lambda i: -level[i]):
        level[i] = max(first_taker.get(i, level[i] + 1) - 1, level[i])
        for j in groups[i].inputs:
            if level[j] < level[i]:
                first_taker[j] = min(first_taker.get(j, level[i]), level[i])
    top = min(level.values(), default=0)  # not 0 if all of it is one loop
    return [level[i] - top for i in range(len(groups))]


def node_of(name: str) -> str:
    """Return the node's name in "^node", "node:1" or "node"."""
    return name.lstrip("^").partition(":")[0]


def _key(node: Placed, paths: frozenset[Path]) -> Key:
    """Return the key of a single node, or of the closed loop or cond that it is in."""
    closed = closed_path(node, paths)
    if closed:
        return Key(closed[:-1], closed[-1], "", closed[-1].name)
    return Key(blocks_around(node), None, node.device, node.name)


def _cut(key: Key, depth: int) -> Key:
    return key if key.block else key._replace(name="/".join(key.name.split("/")[:depth]))


def _rest(keys: Sequence[Key], most: int) -> list[Key]:
    places = len({(key.around, key.device) for key in keys})
    kept = set(list(dict.fromkeys(keys))[: max(most - places, 0)])
    return [
        key if key in kept or key.block else key._replace(name="everything else") for key in keys
    ]


def _groups(nodes: Sequence[Placed], keys: Sequence[Key]) -> list[Group]:
    position = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    home = {node.name: position[key] for node, key in zip(nodes, keys, strict=True)}
    device = {node.name: node.device for node in nodes}
    machinery = machinery_of(nodes)
    members: dict[Key, list[Placed]] = {}
    for node, key in zip(nodes, keys, strict=True):
        members.setdefault(key, []).append(node)
    return [_group(key, members[key], home, device, machinery) for key in position]


def _group(
    key: Key,
    members: Sequence[Placed],
    home: Mapping[str, int],
    device: Mapping[str, str],
    machinery: Collection[tuple[str, str]],
) -> Group:
    itself = home[members[0].name]
    taken = [
        (home[name], device[name] != node.device)
        for node in members
        for name in map(node_of, node.inputs)
        if home.get(name, itself) != itself
    ]
    is_one = len(members) == 1 and key.block is None
    devices = tuple(sorted({node.device for node in members}, key=device_order))
    return Group(
        name=members[0].name if is_one else key.name,
        device=devices[0],
        op=members[0].op if is_one else f"{len(members)} node{'s' * (len(members) > 1)}",
        inputs=tuple(dict.fromkeys(i for i, _ in taken)),
        devices=devices,
        crossing=frozenset(i for i, crosses in taken if crosses),
        around=key.around,
        block=key.block,
        is_quiet=key.block is None and all((n.name, n.op) in machinery for n in members),
        members=tuple(node.name for node in members),
    )


def _descend(root: int, groups: Sequence[HasInputs], level: dict[int, int]) -> None:
    """Set the level of `root` and all above it, without recursion: graphs are deep."""
    stack = [root]
    open_now: set[int] = set()
    while stack:
        top = stack[-1]
        above = [i for i in groups[top].inputs if i not in level and i not in open_now]
        if top not in level and top not in open_now and above:
            open_now.add(top)
            stack += above
            continue
        stack.pop()
        open_now.discard(top)
        level[top] = max((level[i] + 1 for i in groups[top].inputs if i in level), default=0)
