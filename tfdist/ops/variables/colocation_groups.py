"""Colocation groups of variables that are still to be made: nodes that go where each goes."""

from __future__ import annotations

from tfdist.graph.graph import Graph
from tfdist.graph.operation import Operation


class class_of:
    """Gives nodes made inside the colocation group `label`, of a variable still to be made.

    Those that belong to a group already, as a slot does to that of its variable, stay there.
    """

    def __init__(self, graph: Graph, label: bytes) -> None:
        self._graph, self._label = graph, label

    def __enter__(self) -> None:
        self._version = self._graph.version

    def __exit__(self, *_: object) -> None:
        for op in self._graph.operations_since(self._version):
            join_group(op, self._label)


def join_group(op: Operation, label: bytes) -> None:
    """Let `op` stand in the colocation group `label`, if it stands in none."""
    if "_class" not in op._attrs:
        op._set_attr("_class", [label])
