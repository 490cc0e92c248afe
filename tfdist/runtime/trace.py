"""What a traced step noted of its nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tfdist.graph.records import Node
from tfdist.runtime.run import Run


class NodeTrace(NamedTuple):
    """One node's run in a traced step; times in nanoseconds since the epoch.

    `node` is None for the beginning of a partition on `device`; `result` describes what the node
    gave, as `descriptions.describe` does.
    """

    device: str
    node: Node | None
    start: int
    end: int
    result: Any


def trace(runs: Iterable[Run]) -> list[NodeTrace]:
    """Return the notes of all runs, each partition's beginning told of each of its devices."""
    found = []
    for run in runs:
        for node, start, end, result in run.notes:
            if node is None:
                names = dict.fromkeys(n.device for nodes in run.program.nodes for n in nodes)
                found += [NodeTrace(name, None, start, end, None) for name in names]
            else:
                found.append(NodeTrace(node.device, node, start, end, result))
    return found
