"""Where the boxes of a placement picture stand: plain data, computed without drawing anything.

Devices are columns, the graph runs from top to bottom: a notebook is narrow and scrolls down. A
box stands below all that it takes; when a cell of a column is full, below that. `routes` leads
the edges around the boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfdist.plots.palette import WIDTH
from tfdist.plots.placement_data import Group, Placed, fold, levels
from tfdist.plots.routes import BOX, ROW, Point, Spot, routes
from tfdist.tracing.rows import device_order

MOST_BOXES = 60
CELL = BOX[0] + 0.1  # inches: least width for a box and its margin
HEAD = 0.45  # inches: the columns' names


@dataclass(frozen=True)
class Box:
    """A node or scope, and where it stands."""

    group: Group
    spot: Spot


@dataclass(frozen=True)
class Edge:
    """A connection between two boxes, by their positions in the list.

    Attributes:
      source: whose output it is.
      target: who takes it.
      crosses: whether they run on different devices.
      corners: its way, in inches from the top left.
    """

    source: int
    target: int
    crosses: bool
    corners: tuple[Point, ...]


@dataclass(frozen=True)
class PlacementLayout:
    """Everything a placement picture shows; sizes in inches.

    Attributes:
      boxes: in the graph's order.
      edges: each once.
      columns: (device, left, width) from left to right.
      width: of the picture.
      height: of the picture.
    """

    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    columns: tuple[tuple[str, float, float], ...]
    width: float
    height: float


def layout_placement(nodes: Sequence[Placed], most: int = MOST_BOXES) -> PlacementLayout:
    """Return the layout of placed nodes; beyond `most` boxes, scopes are drawn as one."""
    groups = fold(nodes, most)
    devices = sorted({group.device for group in groups}, key=device_order)
    column = max(WIDTH / max(len(devices), 1), CELL)
    cells = _cells(groups, per_cell=max(int(column / CELL), 1))
    lefts = {device: i * column for i, device in enumerate(devices)}
    boxes = _boxes(groups, cells, lefts, column)
    edges = _edges(boxes)
    rows = max((row for _, row in cells), default=-1) + 1
    columns = tuple((device, left, column) for device, left in lefts.items())
    return PlacementLayout(
        boxes, edges, columns, max(len(devices), 1) * column, HEAD + ROW * rows + 0.1
    )


def _cells(groups: Sequence[Group], per_cell: int) -> dict[tuple[str, int], list[int]]:
    """Return the groups of each (device, row), at most `per_cell` in one."""
    wanted = levels(groups)
    row_of: dict[int, int] = {}
    cells: dict[tuple[str, int], list[int]] = {}
    for i in sorted(range(len(groups)), key=lambda i: wanted[i]):
        above = [row_of[j] + 1 for j in groups[i].inputs if j in row_of]
        row = max([wanted[i], *above])
        while len(cells.get((groups[i].device, row), ())) >= per_cell:
            row += 1
        row_of[i] = row
        cells.setdefault((groups[i].device, row), []).append(i)
    return cells


def _boxes(
    groups: Sequence[Group],
    cells: dict[tuple[str, int], list[int]],
    lefts: dict[str, float],
    column: float,
) -> tuple[Box, ...]:
    placed: dict[int, Box] = {}
    for (device, row), members in sorted(cells.items(), key=lambda cell: cell[0][1]):
        # beside each other as what they take stands beside each other: fewer crossings
        members = sorted(members, key=lambda i: (_middle(groups[i], placed), i))
        step = column / len(members)
        for k, i in enumerate(members):
            x = lefts[device] + (k + 0.5) * step
            placed[i] = Box(groups[i], Spot(x, HEAD + ROW * (row + 0.5), row))
    return tuple(placed[i] for i in range(len(groups)))


def _middle(group: Group, placed: dict[int, Box]) -> float:
    known = [placed[i].spot.x for i in group.inputs if i in placed]
    return sum(known) / len(known) if known else 0.0


def _edges(boxes: Sequence[Box]) -> tuple[Edge, ...]:
    ends = [(source, i) for i, box in enumerate(boxes) for source in box.group.inputs]
    ways = routes([box.spot for box in boxes], ends)
    return tuple(
        Edge(source, target, boxes[source].group.device != boxes[target].group.device, way)
        for (source, target), way in zip(ends, ways, strict=True)
    )
