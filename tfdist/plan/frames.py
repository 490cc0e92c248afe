"""Frames: which loop each node of a graph runs in, read off the graph.

A frame is known by its path, the names of the loops around it from the outside; the path of what
is outside of all loops is empty. `Enter` runs in the outer frame and gives to the inner one,
`Exit` the other way round; every other node runs where its inputs are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tfdist.errors import InvalidArgumentError
from tfdist.graph.records import CONTROL_FLOW, ENTERS, EXITS, Node
from tfdist.plan.prune import Endpoint

Path = tuple[str, ...]

_MASK = (1 << 64) - 1
_MULTIPLIER = 0xC6A4A7935BD1E995
_SEED = 0xDECAFCAFFE


class Frames(NamedTuple):
    """Where nodes run.

    Attributes:
      runs_in: for each node, the path of the frame in which it runs.
      gives_to: for each node, the path of the frame in which its outputs live.
    """

    runs_in: dict[str, Path]
    gives_to: dict[str, Path]


def has_control_flow(nodes: Iterable[Node]) -> bool:
    """Return whether there are branches or loops among `nodes`."""
    return any(node.op in CONTROL_FLOW for node in nodes)


def frames_of(nodes: Iterable[Node]) -> Frames:
    """Return the frames of `nodes`.

    Args:
      nodes: inputs first, but for what comes round a loop.

    Raises:
      InvalidArgumentError: a node takes inputs from several frames, or leaves one that it is
        not in.
    """
    frames = Frames({}, {})
    for node in nodes:
        path = _path(node, frames.gives_to)
        frames.runs_in[node.name] = path
        frames.gives_to[node.name] = _given(node, path)
    return frames


def _path(node: Node, gives_to: Mapping[str, Path]) -> Path:
    """Return the path of the frame that the inputs of `node` are in."""
    found: Path = ()
    source = ""
    for name in (*(name for name, _ in node.inputs), *node.control):
        path = gives_to.get(name)
        if path is None:  # comes round the loop, or from a feed
            continue
        if source and path != found:
            raise InvalidArgumentError(
                f"{node.name!r} ({node.op}) has inputs from different frames: {source!r} is in "
                f"{_show(found)}, {name!r} in {_show(path)}"
            )
        found, source = path, name
    return found


def _show(path: Path) -> str:
    return f"loop {'/'.join(path)!r}" if path else "no loop"


def _given(node: Node, path: Path) -> Path:
    if node.op in ENTERS:
        return (*path, node.attrs["frame_name"].decode())
    if node.op in EXITS:
        if not path:
            raise InvalidArgumentError(f"{node.name!r} leaves a loop that it is not in")
        return path[:-1]
    return path


def loop_conditions(
    nodes: Iterable[Node], gives_to: Mapping[str, Path]
) -> dict[Path, tuple[Endpoint, int]]:
    """Return for each loop its condition, and how many of its rounds may overlap."""
    conditions: dict[Path, Endpoint] = {}
    parallel: dict[Path, int] = {}
    for node in nodes:
        path = gives_to[node.name]
        if node.op == "LoopCond":
            conditions[path] = (node.name, 0)
        elif node.op in ENTERS:
            parallel[path] = max(parallel.get(path, 1), node.attrs["parallel_iterations"])
    return {path: (found, parallel[path]) for path, found in conditions.items()}


def frame_number(parent: int, parent_round: int, name: str) -> int:
    """Return the number of a running frame, as TensorFlow writes it into keys of transfers.

    Args:
      parent: number of the frame around it, 0 for none.
      parent_round: the round in which that one stands.
      name: of the frame.

    Source: WIRE.md section 5.3.
    """
    return _combined(parent, _combined(parent_round, _hash(name.encode())))


def _combined(a: int, b: int) -> int:
    return (a ^ (b + 0x9E3779B97F4A7800 + (a << 10) + (a >> 4))) & _MASK


def _hash(data: bytes) -> int:
    """Return the 64-bit MurmurHash2 (variant A) of `data`."""
    value = _SEED ^ (len(data) * _MULTIPLIER & _MASK)
    whole = len(data) & ~7
    for start in range(0, whole, 8):
        block = int.from_bytes(data[start : start + 8], "little") * _MULTIPLIER & _MASK
        block = (block ^ block >> 47) * _MULTIPLIER & _MASK
        value = (value ^ block) * _MULTIPLIER & _MASK
    if whole < len(data):
        value = (value ^ int.from_bytes(data[whole:], "little")) * _MULTIPLIER & _MASK
    value = (value ^ value >> 47) * _MULTIPLIER & _MASK
    return value ^ value >> 47
