"""What makes branches and loops go, beside what the user asked for: drawn, but quietly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from tfdist.graph.records import CONTROL_FLOW, RECEIVES, SENDS, SWITCHES

_OPS = CONTROL_FLOW | {*SENDS, *RECEIVES}
_GATE = "_cloop"  # how the nodes begin that let a task take part in a loop
_PIVOTS = ("switch_t", "switch_f", "pred_id")  # what `cond` makes for itself


class Named(Protocol):
    """A node of a graph or of a trace."""

    @property
    def name(self) -> str: ...
    @property
    def op(self) -> str: ...
    @property
    def inputs(self) -> Sequence[str]: ...


def machinery_of(nodes: Iterable[Named]) -> frozenset[tuple[str, str]]:
    """Return (name, op) of the nodes that only move values into, round and out of loops and conds.

    What is between a loop's `Switch` and its body is among them.
    """
    known = {(node.name, node.op): node for node in nodes}
    conditions = {name for name, op in known if op == "LoopCond"}
    leads_in = {
        node.name
        for node in known.values()
        if node.op in SWITCHES and any(_is_in(name, conditions) for name in node.inputs)
    }
    return frozenset(
        key
        for key, node in known.items()
        if _is_machinery(node)
        or (node.op == "Identity" and any(_is_in(name, leads_in) for name in node.inputs[:1]))
    )


def _is_in(name: str, names: set[str]) -> bool:
    return name.lstrip("^").partition(":")[0] in names


def _is_machinery(node: Named) -> bool:
    if node.op in _OPS or node.name.startswith(_GATE):
        return True
    return node.op == "Identity" and node.name.rpartition("/")[2] in _PIVOTS
