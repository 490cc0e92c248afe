"""Boxes, frames and ways of edges in a graph's picture: plain data, in inches."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tfdist.plots.graph.scopes_data import Part
from tfdist.plots.shared.routes import BOX, Point

HEIGHT = BOX[1]  # inches: of a box
HEADING = 0.27  # inches: the heading of a frame
INSET = 0.12  # inches: between a frame and what is in it
LEAST_GAP, MOST_GAP = 0.3, 0.85  # inches between two layers
ENTRIES = 0.14  # inches between two edges that enter one box
STACK = 0.08  # inches that a series sticks out behind its box
TURN = 0.2  # inches that an edge reaches out where it turns round


@dataclass(frozen=True)
class GraphBox:
    """A box; in inches from the top left.

    Attributes:
      part: what it stands for.
      leaf: its position among the folded graph's leaves, -1 if it is set aside.
      left: its left border.
      top: its upper border.
      width: of it.
      height: of it.
    """

    part: Part
    leaf: int
    left: float
    top: float
    width: float
    height: float = HEIGHT


@dataclass(frozen=True)
class GraphFrame:
    """An open scope; in inches from the top left, `depth` frames are around it."""

    part: Part
    depth: int
    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True)
class Wire:
    """A piece of the way of edges: straight, then through a gap, then straight again.

    Attributes:
      source: leaf from which they come.
      targets: leaves to which they go.
      points: beginning, the two ends of the piece in the gap, end; in inches.
      bend: how far the piece in the gap reaches out of it: 0 for one from layer to layer, inches
        downwards or upwards (negative) for a turn.
      into: leaf that it enters, -1 for none.
    """

    source: int
    targets: frozenset[int]
    points: tuple[Point, Point, Point, Point]
    bend: float = 0.0
    into: int = -1

    def curve(self) -> tuple[Point, Point, Point, Point]:
        """Return the cubic curve of the piece in the gap."""
        _, (x0, y0), (x1, y1), _ = self.points
        if self.bend:
            return (x0, y0), (x0, y0 + self.bend), (x1, y1 + self.bend), (x1, y1)
        middle = (y0 + y1) / 2
        return (x0, y0), (x0, middle), (x1, middle), (x1, y1)


@dataclass
class Block:
    """What is in one frame, from its top left.

    Attributes:
      width: of the frame.
      height: of the frame.
      boxes: in it and in the frames inside.
      frames: inside; itself first.
      wires: in it.
      ins: where edges from a leaf outside come in: leaf -> x.
      outs: where edges from a leaf inside leave: leaf -> x.
    """

    width: float
    height: float
    boxes: list[GraphBox] = field(default_factory=list)
    frames: list[GraphFrame] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)
    ins: dict[int, float] = field(default_factory=dict)
    outs: dict[int, float] = field(default_factory=dict)


def moved(block: Block, x: float, y: float) -> Block:
    """Return a block further to the right and further down."""
    return Block(
        block.width,
        block.height,
        [replace(box, left=box.left + x, top=box.top + y) for box in block.boxes],
        [replace(each, left=each.left + x, top=each.top + y) for each in block.frames],
        [replace(wire, points=_shifted(wire.points, x, y)) for wire in block.wires],
        {leaf: at + x for leaf, at in block.ins.items()},
        {leaf: at + x for leaf, at in block.outs.items()},
    )


def _shifted(
    points: tuple[Point, Point, Point, Point], x: float, y: float
) -> tuple[Point, Point, Point, Point]:
    one, two, three, four = ((a + x, b + y) for a, b in points)
    return one, two, three, four
