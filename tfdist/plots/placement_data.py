"""Placed nodes as pictures and tables need them: by device, by depth, or folded by scope."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tfdist.tracing.rows import device_order


class Placed(Protocol):
    """A node, where it runs, and why.

    Attributes:
      name: unique in its graph.
      op: type of the op.
      requested: device asked for, "" for none.
      device: full name of the device it runs on, "" if none can run it.
      reason: a short sentence.
      inputs: names of nodes it takes outputs of; "^name" or "name:1" are read too.
    """

    @property
    def name(self) -> str: ...
    @property
    def op(self) -> str: ...
    @property
    def requested(self) -> str: ...
    @property
    def device(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def inputs(self) -> Sequence[str]: ...


@dataclass(frozen=True)
class Group:
    """Nodes drawn as one box: one node, or all of one scope on one device.

    Attributes:
      name: of the node or the scope.
      device: where all of them run.
      op: type of the op, or "5 nodes".
      inputs: positions of the groups it takes outputs of, each once, itself left out.
    """

    name: str
    device: str
    op: str
    inputs: tuple[int, ...]


def by_device(nodes: Iterable[Placed]) -> dict[str, list[Placed]]:
    """Return the nodes of each device, devices in natural order."""
    found: dict[str, list[Placed]] = {}
    for node in nodes:
        found.setdefault(node.device, []).append(node)
    return {device: found[device] for device in sorted(found, key=device_order)}


def fold(nodes: Sequence[Placed], most: int) -> list[Group]:
    """Return at most `most` groups: single nodes, or scopes as deep as the limit lets them be.

    Above the limit even for outermost scopes, the rest of each device is one group.
    """
    depth = max((node.name.count("/") for node in nodes), default=0) + 1
    keys = [(node.device, node.name) for node in nodes]
    while len(set(keys)) > most and depth > 1:
        depth -= 1
        keys = [(node.device, "/".join(node.name.split("/")[:depth])) for node in nodes]
    if len(set(keys)) > most:
        keys = _rest(keys, most)
    return _groups(nodes, keys)


def levels(groups: Sequence[Group]) -> list[int]:
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


def _rest(keys: Sequence[tuple[str, str]], most: int) -> list[tuple[str, str]]:
    devices = len({device for device, _ in keys})
    kept = set(list(dict.fromkeys(keys))[: max(most - devices, 0)])
    return [key if key in kept else (key[0], "everything else") for key in keys]


def _groups(nodes: Sequence[Placed], keys: Sequence[tuple[str, str]]) -> list[Group]:
    position = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    home = {node.name: position[key] for node, key in zip(nodes, keys, strict=True)}
    members: dict[tuple[str, str], list[Placed]] = {}
    for node, key in zip(nodes, keys, strict=True):
        members.setdefault(key, []).append(node)
    return [_group(key, members[key], home) for key in position]


def _group(key: tuple[str, str], members: Sequence[Placed], home: Mapping[str, int]) -> Group:
    device, name = key
    itself = home[members[0].name]
    taken = (home.get(node_of(each)) for node in members for each in node.inputs)
    inputs = tuple(dict.fromkeys(i for i in taken if i is not None and i != itself))
    if len(members) == 1:
        return Group(members[0].name, device, members[0].op, inputs)
    return Group(name, device, f"{len(members)} nodes", inputs)


def _descend(root: int, groups: Sequence[Group], level: dict[int, int]) -> None:
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
