"""One frame of a graph's picture: heights of its layers, places of its items, ways of its edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tfdist.plots.graph.layout_layers import LANE, Layers, Level
from tfdist.plots.graph.layout_shapes import (
    ENTRIES,
    HEADING,
    INSET,
    LEAST_GAP,
    MOST_GAP,
    TURN,
    Block,
    GraphFrame,
    Wire,
    moved,
)
from tfdist.plots.graph.letter_widths import heading_width
from tfdist.plots.graph.scopes_data import Part


@dataclass
class Plan:
    """A frame's items and edges.

    Attributes:
      level: as `layout_layers` takes them: children first, then ports.
      targets: leaves to which each edge goes.
      ports: leaf of each upper and lower port, in the order of the items.
    """

    level: Level
    targets: list[set[int]]
    ports: list[int]


def plan_of(
    blocks: Sequence[Block],
    home: Mapping[int, int],
    links: Sequence[tuple[int, int]],
    limit: float,
) -> Plan:
    """Return the items and edges of a frame; see `layout_graph.layout_graph`."""
    upper = list(dict.fromkeys(u for u, v in links if u not in home and v in home))
    lower = list(dict.fromkeys(u for u, v in links if u in home and v not in home))
    first = len(blocks)
    place_in = {leaf: first + k for k, leaf in enumerate(upper)}
    place_out = {leaf: first + len(upper) + k for k, leaf in enumerate(lower)}
    edges: dict[tuple[int, int, int], set[int]] = {}
    for u, v in links:
        source = home[u] if u in home else place_in.get(u, -1)
        target = home[v] if v in home else place_out.get(u, -1)
        if source != target and source >= 0 and target >= 0:
            edges.setdefault((source, target, u), set()).add(v)
    shifts = {
        (i, leaf): x - block.width / 2
        for i, block in enumerate(blocks)
        for leaf, x in [*block.ins.items(), *block.outs.items()]
    }
    widths = [*(block.width for block in blocks), *[LANE] * (len(upper) + len(lower))]
    level = Level(
        widths,
        frozenset(place_in.values()),
        frozenset(place_out.values()),
        list(edges),
        shifts,
        limit,
    )
    return Plan(level, list(edges.values()), [*upper, *lower])


class Frame:
    """Puts one frame together: heights of its layers, places of its items, ways of its edges."""

    def __init__(
        self, part: Part, blocks: Sequence[Block], plan: Plan, layers: Layers, depth: int
    ) -> None:
        self._part, self._blocks, self._plan, self._layers = part, blocks, plan, layers
        self._depth = depth
        self._entries = self._spread()
        inset, head = (INSET, HEADING) if depth else (0.0, 0.0)
        inner = max((cell.x + cell.width / 2 for cell in layers.cells), default=0.0)
        self._width = max(inner + 2 * inset, heading_width(part) if depth else 0.0)
        shift = (self._width - inner) / 2
        for cell in layers.cells:
            cell.x += shift
        self._bands = self._rows(head)

    def block(self) -> Block:
        """Return the frame with all that is in it."""
        height = self._bands[-1][1] if self._bands else 0.0
        found = Block(self._width, height)
        if self._depth:
            found.frames.append(GraphFrame(self._part, self._depth - 1, 0, 0, self._width, height))
        for i, block in enumerate(self._blocks):
            cell = self._layers.cells[i]
            shifted = moved(block, cell.x - block.width / 2, self._top(i))
            found.boxes += shifted.boxes
            found.frames += shifted.frames
            found.wires += shifted.wires
        found.wires += self._wires()
        first = len(self._blocks)
        for k, leaf in enumerate(self._plan.ports):
            is_in = first + k in self._plan.level.top
            (found.ins if is_in else found.outs)[leaf] = self._layers.cells[first + k].x
        return found

    def _rows(self, head: float) -> list[tuple[float, float]]:
        """Return where each layer begins and ends."""
        y, found = 0.0, []
        turn = 0.75 * TURN if any(self._goes_up(way) for way in self._layers.ways) else 0.0
        last = len(self._layers.rows) - 1
        for number, row in enumerate(self._layers.rows):
            height = max((self._height(self._layers.cells[i].item) for i in row), default=0.0)
            if number == 1:
                y = max(y, head + (0.04 if self._depth else 0.0) + turn)
            found.append((y, y + height))
            y += height + (self._gap(number) if number < last else 0.0)
        if found and not self._plan.level.bottom:
            y += turn + (INSET if self._depth else 0.0)
            found.append((y, y))
        return found

    def _height(self, item: int) -> float:
        return self._blocks[item].height if 0 <= item < len(self._blocks) else 0.0

    def _gap(self, number: int) -> float:
        """Return the height of the gap below a layer."""
        cells = self._layers.cells
        slanted = sum(
            abs(cells[j].x + shift - cells[i].x - own) > 0.05
            for i in self._layers.rows[number]
            for j, shift, own in cells[i].downs
        )
        least = LEAST_GAP if number else 0.2
        if number == 0 and not self._layers.rows[0]:
            return 0.0
        return min(least + 0.012 * slanted, MOST_GAP)

    def _top(self, item: int) -> float:
        """Return the upper border of an item: it stands in the middle of its layer."""
        top, bottom = self._bands[self._layers.layer_of[item]]
        return (top + bottom - self._height(item)) / 2

    def _spread(self) -> dict[tuple[int, int], float]:
        """Return where edges enter boxes: (item, cell before) -> inches from the item's x."""
        arriving: dict[int, set[int]] = {}
        for way in self._layers.ways:
            if self._leaf(way[-1]) >= 0:
                arriving.setdefault(way[-1], set()).add(way[-2])
        found = {}
        for item, members in arriving.items():
            ordered = sorted(members, key=lambda i: self._layers.cells[i].x)
            step = min(ENTRIES, self._blocks[item].width * 0.8 / len(ordered))
            for k, i in enumerate(ordered):
                found[item, i] = (k - (len(ordered) - 1) / 2) * step
        return found

    def _wires(self) -> list[Wire]:
        pieces: dict[tuple[int, int, int, bool], set[int]] = {}
        edges = zip(self._plan.level.edges, self._plan.targets, self._layers.ways, strict=True)
        for (_, _, key), targets, way in edges:
            for one, other in pairwise(way):
                pieces.setdefault((key, one, other, self._goes_up(way)), set()).update(targets)
        return [self._wire(*piece, frozenset(targets)) for piece, targets in pieces.items()]

    def _wire(self, key: int, one: int, other: int, goes_up: bool, targets: frozenset[int]) -> Wire:
        upper, lower = (
            self._bands[self._layers.layer_of[one]],
            self._bands[self._layers.layer_of[other]],
        )
        begins, ends = self._is_item(one), self._is_item(other)
        x0 = self._x(one, key, None)
        x1 = self._x(other, key, one)
        start = (x0, self._bottom(one) if begins else upper[0 if goes_up else 1])
        leave, enter = (x0, upper[1]), (x1, lower[0])
        end = (x1, self._top(other) if ends else lower[1])
        bend = 0.0
        if goes_up and begins:  # turns round below its source
            leave, enter, end, bend = (x0, upper[1]), (x1, lower[1]), (x1, lower[0]), TURN
        elif goes_up and ends:  # and again above its target
            leave, enter, bend = (x0, upper[0]), (x1, lower[0]), -TURN
        elif goes_up:
            leave, enter, end = (x0, upper[0]), (x1, lower[1]), (x1, lower[0])
        leaf = self._leaf(other)
        return Wire(key, targets, (start, leave, enter, end), bend, leaf)

    def _goes_up(self, way: Sequence[int]) -> bool:
        return self._layers.layer_of[way[-1]] <= self._layers.layer_of[way[0]]

    def _is_item(self, cell: int) -> bool:
        return cell < len(self._plan.level.widths)

    def _leaf(self, cell: int) -> int:
        if cell >= len(self._blocks) or self._part_of(cell).parts:
            return -1
        return self._blocks[cell].boxes[0].leaf

    def _part_of(self, cell: int) -> Part:
        return self._part.parts[cell]

    def _bottom(self, item: int) -> float:
        return self._top(item) + self._height(item)

    def _x(self, cell: int, key: int, before: int | None) -> float:
        """Return where an edge touches a cell, `before` being the one that it comes from."""
        shift = self._plan.level.shifts.get((cell, key))
        if shift is None:
            shift = 0.0 if before is None else self._entries.get((cell, before), 0.0)
        return self._layers.cells[cell].x + shift
