"""Blocks: the loops and the sides of conds that a node is in, read off the graph.

What runs in a loop has its frame (`plan.frames`). What runs on one side of a cond takes, directly
or not, one output of a `Switch`; a `Merge` ends that. The nodes that lead into a block and out of
it count as its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tfdist.errors import InvalidArgumentError
from tfdist.graph.records import EXITS, MERGES, SWITCHES, Node, is_back_edge
from tfdist.plan.frames import Frames, Path, frames_of, has_control_flow
from tfdist.tracing.steps.loop_iterations import loop_name

LOOP, COND, TRUE, FALSE = KINDS = ("loop", "cond", "true", "false")

_PREDICATE = "pred_id"  # how `cond` names what all its Switches look at


class Block(NamedTuple):
    """A loop, a cond, or one side of a cond.

    Attributes:
      kind: "loop", "cond", or the predicate with which the side runs: "true" or "false".
      name: of the loop or the cond: the scope it was made in.
    """

    kind: str
    name: str


class _Side(NamedTuple):
    """What must hold for a node to run: the side of a cond that stands so deep in loops."""

    cond: str
    kind: str
    depth: int


_Sides = tuple[_Side, ...]


def blocks_of(nodes: Iterable[Node]) -> dict[str, tuple[Block, ...]]:
    """Return for each node in a loop or cond the blocks around it, from the outside.

    Args:
      nodes: inputs first, but for what comes round a loop; of entangled ones nothing is told.
    """
    nodes = list(nodes)
    if not has_control_flow(nodes):
        return {}
    try:
        frames = frames_of(nodes)
    except InvalidArgumentError:  # said when it is run
        return {}
    finder = _Finder(nodes, frames)
    return {node.name: found for node in nodes if (found := finder.blocks(node))}


class _Finder:
    """Finds the sides that nodes are on, node by node."""

    def __init__(self, nodes: list[Node], frames: Frames) -> None:
        self._frames = frames
        self._nodes = {node.name: node for node in nodes}
        self._conds = self._find_conds(nodes)
        self._taken: dict[str, set[int]] = {}  # outputs of Switches that somebody takes
        for name, port in (each for node in nodes for each in node.inputs):
            self._taken.setdefault(name, set()).add(port)
        self._seen: dict[str, int] = {}  # conds, numbered as they begin
        self._sides: dict[str, _Sides] = {}
        self._closes: dict[str, _Side] = {}  # for a Merge, the cond that it ends
        for node in nodes:
            self._sides[node.name] = self._find_sides(node)

    def blocks(self, node: Node) -> tuple[Block, ...]:
        """Return the blocks around a node."""
        path = max(self._frames.runs_in[node.name], self._frames.gives_to[node.name], key=len)
        return _nested(path, self._sides[node.name], self._border(node))

    def _find_conds(self, nodes: Iterable[Node]) -> dict[str, str]:
        """Return the name of the cond of each Switch and of each predicate made for one.

        All Switches of a cond look at one predicate, but for those that start its sides: these
        look at what that one is a copy of, where there is a copy.
        """
        found: dict[str, str] = {}
        starts: dict[str, str] = {}
        switches = [node for node in nodes if node.op in SWITCHES and not self._is_of_loop(node)]
        for node in switches:
            if node.inputs[0] == node.inputs[1]:
                found[node.name] = _scope(node.name)
                starts.setdefault(node.inputs[1][0], _scope(node.name))
        for node in switches:
            pred = node.inputs[1][0]
            if pred.rpartition("/")[2] == _PREDICATE:
                found[pred] = _scope(pred)
            found.setdefault(node.name, found.get(pred) or starts.get(pred, pred))
        return found

    def _is_of_loop(self, switch: Node) -> bool:
        pred = self._nodes.get(switch.inputs[1][0])
        return pred is not None and pred.op == "LoopCond"

    def _find_sides(self, node: Node) -> _Sides:
        sides = [self._side_of(endpoint) for endpoint in node.inputs if endpoint[0] in self._sides]
        if node.op in MERGES and not self._is_loop(node):
            common = [each for each in sides[0] if all(each in other for other in sides)]
            ended = [each for other in sides for each in other if each not in common]
            self._closes.update({node.name: ended[0]} if ended else {})
            return tuple(common)
        sides += [self._sides[name] for name in node.control if name in self._sides]
        found = sorted({each for other in sides for each in other}, key=self._rank)
        outside = len(self._frames.gives_to[node.name])
        return tuple(each for each in found if node.op not in EXITS or each.depth <= outside)

    def _side_of(self, endpoint: tuple[str, int]) -> _Sides:
        """Return what must hold for a tensor to be alive."""
        name, port = endpoint
        if self._nodes[name].op not in SWITCHES or name not in self._conds:
            return self._sides[name]
        depth = len(self._frames.runs_in[name])
        self._seen.setdefault(self._conds[name], len(self._seen))
        return *self._sides[name], _Side(self._conds[name], (FALSE, TRUE)[port], depth)

    def _rank(self, side: _Side) -> tuple[int, str]:
        """Return a sort key, by which outer conds come before those inside."""
        return self._seen[side.cond], side.kind

    def _is_loop(self, merge: Node) -> bool:
        makers = [self._nodes.get(name) for name, _ in merge.inputs]
        return not all(makers) or any(is_back_edge(merge, maker) for maker in makers)

    def _border(self, node: Node) -> _Sides:
        """Return the cond that a node leads into or out of: as a side, if it is of one alone."""
        depth = len(self._frames.runs_in[node.name])
        if node.name in self._closes:
            return (self._closes[node.name]._replace(kind=COND),)
        if node.name not in self._conds:
            return ()
        taken = self._taken.get(node.name, set()) if node.op in SWITCHES else set()
        kind = (FALSE, TRUE)[taken.copy().pop()] if len(taken) == 1 else COND
        return (_Side(self._conds[node.name], kind, depth),)


def _nested(path: Path, sides: _Sides, border: _Sides) -> tuple[Block, ...]:
    found: list[Block] = []
    for depth in range(len(path) + 1):
        for side in (*sides, *border):
            if side.depth == depth:
                found.append(Block(COND, side.cond))
                found += [Block(side.kind, side.cond)] if side.kind != COND else []
        found += [Block(LOOP, loop_name(name)) for name in path[depth : depth + 1]]
    return tuple(found)


def _scope(name: str) -> str:
    return name.rpartition("/")[0] or name
