"""Control-flow frames: which loop each node of a graph runs in, read off the graph.

A frame is known by its path, the names of the loops around it from the outside; the path of what
is outside of all loops is empty. `Enter` runs in the outer frame and gives to the inner one,
`Exit` the other way round; every other node runs where its inputs are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from tfdist.errors import InvalidArgumentError
from tfdist.graph.records import CONTROL_FLOW, ENTERS, EXITS, MERGES, NEXT_ITERATIONS, Node
from tfdist.plan.prune import Endpoint

Path = tuple[str, ...]

DEEPEST = 100  # loops in loops: no program of people has ten, and planning calls itself for each

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


def frames_of(nodes: Iterable[Node], fed: Collection[Endpoint] = ()) -> Frames:
    """Return the frames of `nodes`.

    Args:
      nodes: inputs first, but for the back edges of loops.
      fed: tensors that are given; they are outside of all loops.

    Raises:
      InvalidArgumentError: a node takes inputs from several frames, or leaves one that it is
        not in.
    """
    frames = Frames({}, {})
    merges = []
    for node in nodes:
        path = _path(node, frames.gives_to, fed)
        frames.runs_in[node.name] = path
        frames.gives_to[node.name] = _given(node, path)
        if node.op in MERGES:
            merges.append(node)
    for node in merges:  # now that the frames of the back edges' sources are known
        _path(node, frames.gives_to, fed)
    return frames


def _path(node: Node, gives_to: Mapping[str, Path], fed: Collection[Endpoint]) -> Path:
    """Return the path of the frame that the inputs of `node` are in."""
    found: Path = ()
    source = ""
    for name, port in (*node.inputs, *((name, -1) for name in node.control)):
        path = () if (name, port) in fed else gives_to.get(name)
        if path is None:  # a back edge of the loop
            continue
        if source and path != found:
            raise InvalidArgumentError(
                f"{node.name!r} ({node.op}) has inputs from different frames: {source!r} is in "
                f"{show(found)}, {name!r} in {show(path)}"
            ).at_node(node.name, node.device)
        found, source = path, name
    return found


def show(path: Path) -> str:
    """Return how an error calls what is in a frame."""
    return f"loop {'/'.join(path)!r}" if path else "no loop"


def _given(node: Node, path: Path) -> Path:
    if node.op in ENTERS:
        if len(path) == DEEPEST:
            text = f"{node.name!r} ({node.op}): loops may be {DEEPEST} deep in each other at most"
            raise InvalidArgumentError(text).at_node(node.name, node.device)
        return (*path, frame_name(node))
    if node.op in EXITS or node.op in NEXT_ITERATIONS:
        if not path:
            raise InvalidArgumentError(
                f"{node.name!r} ({node.op}) leaves a loop or an iteration that it is not in"
            ).at_node(node.name, node.device)
        return path[:-1] if node.op in EXITS else path
    return path


def frame_name(enter: Node) -> str:
    """Return the name of the frame that an `Enter` leads into."""
    name: bytes = enter.attrs["frame_name"]
    if not name:
        text = f"{enter.name!r} ({enter.op}) must have a frame name"
        raise InvalidArgumentError(text).at_node(enter.name, enter.device)
    return name.decode(errors="backslashreplace")  # a message may hold any bytes


def loop_conditions(
    nodes: Iterable[Node], gives_to: Mapping[str, Path]
) -> dict[Path, tuple[Endpoint, int]]:
    """Return for each loop its condition, and its `parallel_iterations`.

    Raises:
      InvalidArgumentError: a loop has two conditions.
    """
    conditions: dict[Path, Endpoint] = {}
    parallel: dict[Path, int] = {}
    for node in nodes:
        path = gives_to[node.name]
        if node.op == "LoopCond":
            if path in conditions:
                raise InvalidArgumentError(
                    f"{show(path)} has more than one LoopCond: {conditions[path][0]!r} and "
                    f"{node.name!r}"
                )
            conditions[path] = (node.name, 0)
        elif node.op in ENTERS:
            parallel[path] = max(parallel.get(path, 1), node.attrs["parallel_iterations"])
    return {path: (found, parallel.get(path, 1)) for path, found in conditions.items()}


def frame_number(parent: int, parent_iteration: int, name: str) -> int:
    """Return the number of a running frame, as TensorFlow writes it into rendezvous keys.

    Args:
      parent: number of the frame around it, 0 for none.
      parent_iteration: the iteration in which that one stands.
      name: of the frame.

    Source: docs/wire.md section 5.3.
    """
    return _combined(parent, _combined(parent_iteration, _hash(name.encode())))


def legacy_frame_number(path: str) -> int:
    """Return the number of a running frame as TensorFlow 1.15 writes it.

    Args:
      path: ";ITERATION;NAME" of each frame from the outermost one on.
    """
    return _hash(path.encode())


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
