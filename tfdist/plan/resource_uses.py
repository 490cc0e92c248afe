"""Producers and consumers of queues, accumulators, barriers and staging areas: a graph's nodes.

Nothing runs by this: it is for the wait-for graph, which asks who could end a wait.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from tfdist.graph.records import CONTROL_FLOW, SENDS, Node

_IN, _OUT = ("elements",), ("room",)

# Op -> kind of resource, what the node gives to those who wait for that, place of the handle among
# its inputs. A queue that is closed ends the waits for its elements, too.
_USES: dict[str, tuple[str, tuple[str, ...], int]] = {
    **dict.fromkeys(("QueueEnqueue", "QueueEnqueueMany"), ("queue", _IN, 0)),
    **dict.fromkeys(("QueueDequeue", "QueueDequeueMany", "QueueDequeueUpTo"), ("queue", _OUT, 0)),
    **dict.fromkeys(("ReaderRead", "ReaderReadUpTo"), ("queue", _OUT, 1)),
    "QueueClose": ("queue", _IN, 0),
    "AccumulatorApplyGradient": ("accumulator", _IN, 0),
    "SparseAccumulatorApplyGradient": ("accumulator", _IN, 0),
    **dict.fromkeys(("BarrierInsertMany", "BarrierClose"), ("barrier", _IN, 0)),
    "Stage": ("stage", _IN, -1),
    "Unstage": ("stage", _OUT, -1),
    **dict.fromkeys(("MapStage", "OrderedMapStage"), ("map stage", _IN, -1)),
    **dict.fromkeys(
        ("MapUnstage", "MapUnstageNoKey", "OrderedMapUnstage", "OrderedMapUnstageNoKey"),
        ("map stage", _OUT, -1),
    ),
}

_HANDS_ON = CONTROL_FLOW | {"FakeQueue", "Identity", "RefIdentity"}


class ResourceUse(NamedTuple):
    """A node that fills or empties something.

    Attributes:
      node: the node.
      kind: of the resource, as a task keeps it.
      maker: the node whose attributes name it.
      gives: what others get by it: "elements", "room".
    """

    node: Node
    kind: str
    maker: Node
    gives: tuple[str, ...]


def resource_uses_in(nodes: Mapping[str, Node]) -> Iterator[ResourceUse]:
    """Yield the nodes that fill or empty something; not those whose handle comes from elsewhere."""
    for node in nodes.values():
        kind, gives, place = _USES.get(node.op.removesuffix("V2"), ("", (), 0))
        maker = _maker(nodes, node, place) if kind else None
        if maker is not None:
            yield ResourceUse(node, kind, maker, _with_cancelled(node, gives))


def _with_cancelled(node: Node, gives: tuple[str, ...]) -> tuple[str, ...]:
    """Add that who closes may send away those who wait for room."""
    return (*gives, *_OUT) if node.attrs.get("cancel_pending_enqueues") else gives


def _maker(nodes: Mapping[str, Node], node: Node, place: int) -> Node | None:
    if place < 0:  # it names the resource itself
        return node
    seen: set[str] = set()
    while place < len(node.inputs) and node.name not in seen:
        seen.add(node.name)
        found = nodes.get(node.inputs[place][0])
        if found is None:
            return None
        node, place = found, 0
        if node.op not in _HANDS_ON:
            return node if "shared_name" in node.attrs else None
    return None


def sends_in(nodes: Mapping[str, Node]) -> Iterator[tuple[Node, str]]:
    """Yield the nodes that send a tensor to another task, with the name that it is sent under."""
    for node in nodes.values():
        if node.op in SENDS:
            yield node, node.attrs["tensor_name"].decode()


def awaited_by(nodes: Mapping[str, Node], name: str, waiting: Collection[str]) -> tuple[str, ...]:
    """Return which of the nodes that wait come before node `name`, or are that node.

    Args:
      nodes: of one task's part of a step, by name.
      name: of one of them.
      waiting: names of those that wait.
    """
    found: list[str] = []
    ahead, seen = [name], {name}
    while ahead:
        name = ahead.pop()
        if name in waiting:
            found.append(name)
            continue
        node = nodes.get(name)
        if node is not None:
            before = {source for source, _ in node.inputs}.union(node.control) - seen
            seen |= before
            ahead.extend(before)
    return tuple(sorted(found))
