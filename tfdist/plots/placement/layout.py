"""Where the boxes of a placement picture stand: plain data, computed without drawing anything.

Devices are columns, the graph runs from top to bottom: a notebook is narrow and scrolls down. A
box stands below all that it takes; when a cell of a column is full, below that. `routes` leads
the edges around the boxes. What is in an open loop or cond is arranged by itself first, and then
stands in a frame over the columns of its devices, as one tall box.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tfdist.plots.shared.blocks import Path, Placed, block_name
from tfdist.plots.shared.palette import WIDTH
from tfdist.plots.shared.placed_nodes import Group, fold, levels
from tfdist.plots.shared.routes import BOX, ROW, Point, Spot, routes
from tfdist.tracing.device_names import device_order

MOST_BOXES = 60
CELL = BOX[0] + 0.1  # inches: least width for a box and its margin
HEAD = 0.45  # inches: the columns' names
INSET = 0.09  # inches: of a frame in what is around it
BESIDE = 0.05  # inches between the outermost edge and the border
PASS = 0.3  # inches beside a closed loop or cond, for the edges that pass it


@dataclass(frozen=True)
class Box:
    """A node, scope, or closed loop or cond, and where it stands."""

    group: Group
    spot: Spot


@dataclass(frozen=True)
class Frame:
    """An open loop or cond, or one side of a cond; in inches from the top left.

    Attributes:
      path: the blocks that it is in, and itself.
      title: what stands over it.
      left: its left border.
      top: its upper border.
      right: its right border.
      bottom: its lower border.
    """

    path: Path
    title: str
    left: float
    top: float
    right: float
    bottom: float


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
      left: where the picture begins: at 0, or before, if edges go around on that side.
      right: where it ends.
      height: of the picture.
      frames: outer ones before those inside.
    """

    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    columns: tuple[tuple[str, float, float], ...]
    left: float
    right: float
    height: float
    frames: tuple[Frame, ...] = ()


def layout_placement(
    nodes: Sequence[Placed], most: int = MOST_BOXES, opened: Iterable[str] = ()
) -> PlacementLayout:
    """Return the layout of placed nodes; see `placement_data.fold`."""
    groups = fold(nodes, most, opened)
    devices = sorted({device for group in groups for device in group.devices}, key=device_order)
    inset = INSET * (1 + max((len(group.around) for group in groups), default=0))
    least = CELL + 2 * inset if inset > INSET else CELL
    width = max(WIDTH / max(len(devices), 1), least)
    grid = _Grid(devices, width, inset if inset > INSET else 0.0)
    arranged = _arrange(groups, (), grid)
    boxes = _boxes(groups, arranged.row_of, grid)
    columns = tuple((device, i * width, width) for i, device in enumerate(devices))
    height = HEAD + ROW * arranged.height + 0.1
    edges = _edges(boxes)
    sides = [x for edge in edges for x, _ in edge.corners]
    left = min([0.0, *(x - BESIDE for x in sides)])
    right = max([max(len(devices), 1) * width, *(x + BESIDE for x in sides)])
    frames = tuple(_frame(place, grid) for place in arranged.frames)
    return PlacementLayout(boxes, edges, columns, left, right, height, frames)


class _Grid:
    """The columns of a picture.

    Args:
      devices: from left to right.
      width: of a column, in inches.
      inset: inches at both sides of a column where frames have their borders.
    """

    def __init__(self, devices: Sequence[str], width: float, inset: float) -> None:
        self.width, self._inset = width, inset
        self._column = {device: i for i, device in enumerate(devices)}
        self.per_cell = max(int((width - 2 * inset) / CELL + 1e-9), 1)

    def columns(self, devices: Iterable[str]) -> range:
        """Return the columns from the first to the last of `devices`."""
        found = [self._column[device] for device in devices]
        return range(min(found), max(found) + 1)

    def place(self, columns: range, k: int, count: int) -> float:
        """Return the middle of the k-th of `count` boxes in a cell over `columns`."""
        room = len(columns) * self.width - 2 * self._inset
        return columns.start * self.width + self._inset + (k + 0.5) * room / count

    def span(self, columns: range, depth: int) -> tuple[float, float]:
        """Return the borders of a frame in `depth` others."""
        beside = INSET * (depth + 0.7)
        return columns.start * self.width + beside, columns.stop * self.width - beside


@dataclass(frozen=True)
class _Place:
    """The rows and columns of a frame."""

    path: Path
    row: int
    height: int
    columns: range

    def down(self, rows: int) -> _Place:
        return _Place(self.path, self.row + rows, self.height, self.columns)


@dataclass
class _Arranged:
    """What stands in one frame, or outside of all; rows count from its first one."""

    row_of: dict[int, int] = field(default_factory=dict)
    frames: list[_Place] = field(default_factory=list)
    height: int = 0
    columns: range = range(0)


@dataclass
class _Item:
    """What has a place of its own in a frame: a group, or a frame inside with all that is in it."""

    columns: range
    height: int = 1
    inside: _Arranged | None = None
    path: Path = ()
    inputs: tuple[int, ...] = ()

    @property
    def is_wide(self) -> bool:
        """Return whether nothing else can stand beside it."""
        return self.inside is not None or len(self.columns) > 1


def _arrange(groups: Sequence[Group], around: Path, grid: _Grid) -> _Arranged:
    """Return the rows of the groups in a frame, and of the frames inside."""
    depth = len(around)
    members = [i for i, group in enumerate(groups) if group.around[:depth] == around]
    item_of: dict[int, int] = {}
    items: list[_Item] = []
    inner: dict[Path, int] = {}
    for i in members:
        path = groups[i].around[: depth + 1]
        if path == around:
            item_of[i] = len(items)
            items.append(_Item(grid.columns(groups[i].devices)))
            continue
        if path not in inner:
            inner[path] = len(items)
            inside = _arrange(groups, path, grid)
            items.append(_Item(inside.columns, inside.height + 1, inside, path))
        item_of[i] = inner[path]
    _connect(items, item_of, groups)
    rows = _rows(items, grid.per_cell)
    return _gathered(items, rows, item_of)


def _connect(items: Sequence[_Item], item_of: Mapping[int, int], groups: Sequence[Group]) -> None:
    taken: list[dict[int, None]] = [{} for _ in items]
    for i, k in item_of.items():
        sources = (item_of[j] for j in groups[i].inputs if j in item_of)
        taken[k].update(dict.fromkeys(j for j in sources if j != k))
    for item, found in zip(items, taken, strict=True):
        item.inputs = tuple(found)


def _rows(items: Sequence[_Item], per_cell: int) -> list[int]:
    """Return the first row of each item: below what it takes, and where there is room."""
    wanted = levels(items)
    row_of: dict[int, int] = {}
    taken: dict[tuple[int, int], int] = {}  # (column, row) -> places that are taken
    for i in sorted(range(len(items)), key=lambda i: wanted[i]):
        item = items[i]
        row = max([wanted[i], *(row_of[j] + items[j].height for j in item.inputs if j in row_of)])
        needed = per_cell if item.is_wide else 1
        while any(taken.get(cell, 0) + needed > per_cell for cell in _cells(item, row)):
            row += 1
        for cell in _cells(item, row):
            taken[cell] = taken.get(cell, 0) + needed
        row_of[i] = row
    return [row_of[i] for i in range(len(items))]


def _cells(item: _Item, row: int) -> list[tuple[int, int]]:
    return [(column, r) for column in item.columns for r in range(row, row + item.height)]


def _gathered(items: Sequence[_Item], rows: Sequence[int], item_of: Mapping[int, int]) -> _Arranged:
    found = _Arranged()
    for item, row in zip(items, rows, strict=True):
        if item.inside is not None:
            found.frames.append(_Place(item.path, row, item.height, item.columns))
            found.frames += [place.down(row + 1) for place in item.inside.frames]
            found.row_of.update((i, row + 1 + r) for i, r in item.inside.row_of.items())
    found.row_of.update((i, rows[k]) for i, k in item_of.items() if items[k].inside is None)
    found.height = max(
        (row + item.height for item, row in zip(items, rows, strict=True)), default=0
    )
    starts = [item.columns.start for item in items] or [0]
    found.columns = range(min(starts), max([item.columns.stop for item in items] or [0]))
    return found


def _boxes(groups: Sequence[Group], row_of: Mapping[int, int], grid: _Grid) -> tuple[Box, ...]:
    cells: dict[tuple[int, range], list[int]] = {}
    for i, group in enumerate(groups):
        cells.setdefault((row_of[i], grid.columns(group.devices)), []).append(i)
    placed: dict[int, Box] = {}
    for (row, columns), members in sorted(cells.items(), key=lambda cell: cell[0][0]):
        # beside each other as what they take stands beside each other: fewer crossings
        members = sorted(members, key=lambda i: (_middle(groups[i], placed), i))
        for k, i in enumerate(members):
            x = grid.place(columns, k, len(members))
            wide = BOX[0] if len(columns) == 1 else len(columns) * grid.width - 2 * PASS
            placed[i] = Box(groups[i], Spot(x, HEAD + ROW * (row + 0.5), row, wide))
    return tuple(placed[i] for i in range(len(groups)))


def _middle(group: Group, placed: Mapping[int, Box]) -> float:
    known = [placed[i].spot.x for i in group.inputs if i in placed]
    return sum(known) / len(known) if known else 0.0


def _frame(place: _Place, grid: _Grid) -> Frame:
    depth = len(place.path) - 1
    left, right = grid.span(place.columns, depth)
    top = HEAD + ROW * (place.row + 0.32)
    bottom = HEAD + ROW * (place.row + place.height) + 0.075 - 0.03 * depth
    return Frame(place.path, block_name(place.path[-1]), left, top, right, bottom)


def _edges(boxes: Sequence[Box]) -> tuple[Edge, ...]:
    ends = [(source, i) for i, box in enumerate(boxes) for source in box.group.inputs]
    ways = routes([box.spot for box in boxes], ends)
    return tuple(
        Edge(source, target, source in boxes[target].group.crossing, way)
        for (source, target), way in zip(ends, ways, strict=True)
    )
