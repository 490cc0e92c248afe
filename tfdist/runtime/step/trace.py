"""What a traced step noted of its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tfdist.graph.records import Node
from tfdist.plan.program import Program
from tfdist.runtime.step.run import Run
from tfdist.tracing.loop_iterations import OUTSIDE, Rounds


class NodeTrace(NamedTuple):
    """One node's run in a traced step; times in nanoseconds since the epoch.

    `node` is None for the beginning of a partition on `device`; `result` describes what the node
    gave, as `descriptions.describe` does; `token_executor` says in which round of which loops it
    ran.
    """

    device: str
    node: Node | None
    start: int
    end: int
    result: Any
    rounds: Rounds = OUTSIDE


def trace(runs: Iterable[Run]) -> list[NodeTrace]:
    """Return the notes of all runs, each partition's beginning told of each of its devices."""
    found = []
    for run in runs:
        for node, *told in run.notes:  # what ran in a loop says at the end in which round
            if node is None:
                names = dict.fromkeys(node.device for node in _nodes(run.program))
                found += [NodeTrace(name, None, *told) for name in names]
            else:
                found.append(NodeTrace(node.device, node, *told))
    return found


def _nodes(program: Program) -> Iterator[Node]:
    """Yield the nodes of a program, then those in its loops."""
    for nodes in program.nodes:
        yield from nodes
    if program.frame is not None:
        for inner in program.frame.inner.values():
            yield from _nodes(inner)
