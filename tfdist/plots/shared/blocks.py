"""Loops and conds among placed nodes: which there are, what is in them, and which are opened."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple, Protocol

from tfdist.plots.shared.machinery import machinery_of
from tfdist.session.blocks import COND, LOOP, TRUE, Block
from tfdist.tracing.device_names import device_order, short_device

Path = tuple[Block, ...]  # blocks around something, from the outside


class Placed(Protocol):
    """A node, where it runs, and why.

    Attributes:
      name: unique in its graph.
      op: type of the op.
      requested: device asked for, "" for none.
      device: full name of the device it runs on, "" if none can run it.
      reason: a short sentence.
      inputs: names of nodes it takes outputs of; "^name" or "name:1" are read too.

    It may have `within`, the loops and sides of conds around it (`session.blocks`).
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


def blocks_around(node: Placed) -> Path:
    """Return the loops, conds and sides of conds that a node is in, from the outside."""
    found: Path = getattr(node, "within", ())
    return found


def block_paths(node: Placed) -> list[Path]:
    """Return the path of each loop and cond that a node is in, from the outside."""
    around = blocks_around(node)
    return [around[: i + 1] for i, block in enumerate(around) if block.kind in (LOOP, COND)]


def members_of(nodes: Iterable[Placed]) -> dict[Path, list[Placed]]:
    """Return the nodes of each loop and cond, those inside it included; outer ones come first."""
    found: dict[Path, list[Placed]] = {}
    for node in nodes:
        for path in block_paths(node):
            found.setdefault(path, []).append(node)
    return found


def open_paths(nodes: Iterable[Placed], opened: Iterable[str]) -> frozenset[Path]:
    """Return the loops and conds to open: those of these names, and those around them.

    Args:
      nodes: of one graph.
      opened: names, with "*" for any letters.
    """
    patterns = tuple(opened)
    found: set[Path] = set()
    for paths in {tuple(block_paths(node)) for node in nodes} if patterns else ():
        for i, path in enumerate(paths):
            if any(fnmatchcase(path[-1].name, pattern) for pattern in patterns):
                found.update(paths[: i + 1])
    return frozenset(found)


def closed_path(node: Placed, opened: frozenset[Path]) -> Path:
    """Return the path of the outermost loop or cond around a node that is not open, or ()."""
    return next((path for path in block_paths(node) if path not in opened), ())


def unknown_names(nodes: Iterable[Placed], opened: Iterable[str]) -> list[str]:
    """Return those of `opened` that no loop and no cond is called."""
    names = {path[-1].name for path in members_of(nodes)}
    return [each for each in opened if not any(fnmatchcase(name, each) for name in names)]


def closed_blocks(nodes: Iterable[Placed], opened: Iterable[str]) -> dict[Path, list[Placed]]:
    """Return the nodes of each loop and cond that is not open, but not in another such one."""
    nodes = list(nodes)
    paths = open_paths(nodes, opened)
    found: dict[Path, list[Placed]] = {}
    for node in nodes:
        path = closed_path(node, paths)
        if path:
            found.setdefault(path, []).append(node)
    return found


def from_inside(path: Path, nodes: Iterable[Placed]) -> list[Placed]:
    """Return the nodes of a loop or cond as if nothing were around it."""
    outer = len(path) - 1
    return [
        _Inner(n.name, n.op, n.requested, n.device, n.reason, n.inputs, blocks_around(n)[outer:])
        for n in nodes
    ]


class _Inner(NamedTuple):
    """A `Placed` node, seen from inside of what is around it."""

    name: str
    op: str
    requested: str
    device: str
    reason: str
    inputs: Sequence[str]
    within: Path


def block_title(
    block: Block, nodes: Sequence[Placed], rounds: Mapping[str, str] | None = None
) -> str:
    """Return what a loop or cond is, in a phrase: "loop while: 9 nodes on ..., 10 rounds".

    Args:
      block: a loop or a cond.
      nodes: what is in it.
      rounds: how often loops went round, by name, where that is known.
    """
    devices = sorted({node.device for node in nodes}, key=device_order)
    where = " and ".join(short_device(device) or "no device" for device in devices)
    count = f"{len(nodes)} node{'s' * (len(nodes) > 1)}"
    told = (rounds or {}).get(block.name, "") if block.kind == LOOP else ""
    return f"{block_name(block)}: {count} on {where}" + (f", {told}" if told else "")


def block_lines(path: Path, nodes: Sequence[Placed]) -> list[str]:
    """Return what is in a loop or cond, but not in those inside it, in words.

    Args:
      path: of the loop or cond.
      nodes: what is in it.
    """
    found: dict[tuple[str, str], list[Placed]] = {}
    for node in nodes:
        inside = blocks_around(node)[len(path) :]
        if len(inside) == sum(block.kind not in (LOOP, COND) for block in inside):
            side = _side_title(inside[-1]) if inside else ""
            found.setdefault((node.device, side), []).append(node)
    ordered = sorted(found.items(), key=lambda item: (item[0][1], device_order(item[0][0])))
    machinery = machinery_of(nodes)
    return [_line(device, side, members, machinery) for (device, side), members in ordered]


def block_name(block: Block) -> str:
    """Return what stands over a loop, a cond or a side: "loop while", "cond", "if true"."""
    if block.kind not in (LOOP, COND):
        return _side_title(block)
    return block.name if block.name == block.kind else f"{block.kind} {block.name}"


def _side_title(side: Block) -> str:
    return "if true" if side.kind == TRUE else "if false"


def _line(
    device: str, side: str, members: Sequence[Placed], machinery: Collection[tuple[str, str]]
) -> str:
    own = [node.name for node in members if (node.name, node.op) not in machinery]
    hidden = len(members) - len(own)
    quiet = [f"{hidden} node{'s' * (hidden > 1)} of control flow"] if hidden else []
    place = ", ".join(filter(None, [side, short_device(device) or "no device"]))
    return f"{place}: {', '.join([*own, *quiet])}"
