"""What a traced step noted of its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tfdist.base.aliases import TensorLike
from tfdist.graph.records import RECEIVES, Node
from tfdist.plan.program import Program
from tfdist.runtime.step.run import Run
from tfdist.tracing.loop_iterations import OUTSIDE, Rounds

Note = tuple[Node | None, int, int, TensorLike, int, Rounds]
_REST = (0, OUTSIDE)  # of a note: nothing was awaited, and there is no loop around it
_SHORTEST = 4


class NodeTrace(NamedTuple):
    """One node's run in a traced step; times in nanoseconds since the epoch.

    `node` is None for the beginning of a partition on `device`; `result` describes what the node
    gave, as `descriptions.describe` does, or has the disturbances that were in force then;
    `token_executor` says in which round of which loops it ran. `ready` is when all that it takes
    was there, and `came` when what it waited for came: a tensor from another task, mostly; 0 if it
    never waited.
    """

    device: str
    node: Node | None
    start: int
    end: int
    result: Any
    came: int = 0
    rounds: Rounds = OUTSIDE
    ready: int = 0


def trace(runs: Iterable[Run]) -> list[NodeTrace]:
    """Return the notes of all runs, each partition's beginning told of each of its devices."""
    return [entry for run in runs for entry in _entries(run)]


def _entries(run: Run) -> Iterator[NodeTrace]:
    """Yield what a partition noted, with the time when all that a node takes was there.

    That is derived: whoever made it has noted its end before. In a loop, the last round that did.
    A tensor is there when it has come, though its task takes it later.
    """
    began, there = 0, dict[str, int]()
    for note in run.notes:
        node, start, end, result, came, rounds = _whole(note)
        if node is None:
            began = end
            names = dict.fromkeys(node.device for node in _nodes(run.program))
            yield from (NodeTrace(name, None, start, end, result) for name in names)
            continue
        ready = began
        for name, _ in node.inputs:
            ready = max(ready, there.get(name, 0))
        for name in node.control:
            ready = max(ready, there.get(name, 0))
        there[node.name] = came if came and node.op in RECEIVES else end
        yield NodeTrace(node.device, node, start, end, result, came, rounds, min(ready, start))


def _whole(note: tuple[TensorLike, ...]) -> Note:
    """Return a note of `Run.notes` with what a short one leaves out."""
    whole: TensorLike = (*note, *_REST[len(note) - _SHORTEST :])
    node, start, end, result, came, rounds = whole
    return node, start, end, result, came, rounds


def _nodes(program: Program) -> Iterator[Node]:
    """Yield the nodes of a program, then those in its loops."""
    for nodes in program.nodes:
        yield from nodes
    if program.frame is not None:
        for inner in program.frame.inner.values():
            yield from _nodes(inner)
