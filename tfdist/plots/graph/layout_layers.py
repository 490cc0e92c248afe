"""Layers of one frame of a graph's picture: which item stands in which, in what order, and where.

Sugiyama's way: every item stands below all that it takes; an edge over several layers has a place
of its own in each, so that it passes beside the items there; sweeps down and up put everything
near the mean of its neighbours (barycentre), first in order, then in inches.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from tfdist.plots.shared.placed_nodes import levels

BESIDE = 0.16  # inches between two items of a layer
LANE = 0.09  # inches for an edge that passes
SWEEPS = 8
STRAIGHT = 6.0  # how much more an edge over several layers wants to be straight


@dataclass(frozen=True)
class Level:
    """What stands in one frame.

    Attributes:
      widths: of its items, in inches.
      top: positions of the items that are its upper ports, where edges come in.
      bottom: those where edges leave.
      edges: (source, target, key): edges of one key share their way.
      shifts: (item, key) -> inches from an item's middle to where edges of that key touch it.
      limit: inches that a layer should not be wider than.
    """

    widths: Sequence[float]
    top: frozenset[int]
    bottom: frozenset[int]
    edges: Sequence[tuple[int, int, int]]
    shifts: Mapping[tuple[int, int], float]
    limit: float


@dataclass
class Cell:
    """An item, or the place of an edge that passes, in a layer.

    Attributes:
      item: position of the item, -1 for an edge.
      width: inches.
      x: of its middle.
      ups: (cell, x of its end from that cell's middle, x of its own end) above.
      downs: the same below.
    """

    item: int
    width: float
    x: float = 0.0
    ups: list[tuple[int, float, float]] = field(default_factory=list)
    downs: list[tuple[int, float, float]] = field(default_factory=list)


@dataclass
class Layers:
    """Where everything in a frame stands from left to right.

    Attributes:
      cells: those of the items first, in their order.
      layer_of: number of the layer of each cell.
      rows: cells of each layer, from left to right.
      ways: for each edge its cells, from its source to its target; of an edge that goes up, the
        layers in between are in falling order.
    """

    cells: list[Cell]
    layer_of: list[int]
    rows: list[list[int]]
    ways: list[tuple[int, ...]]


@dataclass(frozen=True)
class _Item:
    inputs: tuple[int, ...]


def arrange_layers(level: Level) -> Layers:
    """Return the layers of a frame."""
    layer_of = _layers(level)
    found = _with_passing(level, layer_of)
    _order(found)
    _place(found)
    return found


def _layers(level: Level) -> list[int]:
    """Return the layer of each item: below what it takes, near its takers, where there is room."""
    count = len(level.widths)
    inner = [i for i in range(count) if i not in level.top and i not in level.bottom]
    inputs: list[dict[int, None]] = [{} for _ in range(count)]
    for source, target, _ in level.edges:
        if source not in level.top and target not in level.bottom and source != target:
            inputs[target][source] = None
    position = {item: k for k, item in enumerate(inner)}
    wanted = levels([_Item(tuple(position[j] for j in inputs[i])) for i in inner])
    row: dict[int, int] = {}
    taken: dict[int, float] = {}
    for k in sorted(range(len(inner)), key=lambda k: (wanted[k], k)):
        item = inner[k]
        above = [row[j] + 1 for j in inputs[item] if j in row and wanted[position[j]] < wanted[k]]
        number = max([wanted[k], *above])
        room = level.limit - level.widths[item]
        while taken.get(number, 0.0) > max(room, 0.0):
            number += 1
        taken[number] = taken.get(number, 0.0) + level.widths[item] + BESIDE
        row[item] = number
    numbers = {number: k for k, number in enumerate(sorted(set(row.values())))}
    last = len(numbers) + 1
    return [
        0 if i in level.top else last if i in level.bottom else numbers[row[i]] + 1
        for i in range(count)
    ]


def _with_passing(level: Level, layer_of: list[int]) -> Layers:
    """Return the layers with a cell for each edge in each layer that it passes."""
    cells = [Cell(i, width) for i, width in enumerate(level.widths)]
    numbers = list(layer_of)
    passing: dict[tuple[int, ...], int] = {}
    ways = []
    for source, target, key in level.edges:
        first, last = layer_of[source], layer_of[target]
        goes_up = last <= first
        between = range(first, last - 1, -1) if goes_up else range(first + 1, last)
        way = [source]
        for number in between:
            # one that goes up has a way of its own
            name = (key, source, number, target) if goes_up else (key, source, number)
            if name not in passing:
                passing[name] = len(cells)
                cells.append(Cell(-1, LANE))
                numbers.append(number)
            way.append(passing[name])
        ways.append((*way, target))
    _connect(level, cells, ways, numbers)
    rows: list[list[int]] = [[] for _ in range(max(numbers, default=-1) + 1)]
    for i, number in enumerate(numbers):
        rows[number].append(i)
    return Layers(cells, numbers, rows, ways)


def _connect(
    level: Level, cells: list[Cell], ways: Sequence[tuple[int, ...]], numbers: Sequence[int]
) -> None:
    known: set[tuple[int, int, int]] = set()
    for (_, _, key), way in zip(level.edges, ways, strict=True):
        for one, other in pairwise(way):
            upper, lower = (one, other) if numbers[one] <= numbers[other] else (other, one)
            if (upper, lower, key) in known or numbers[upper] == numbers[lower]:
                continue
            known.add((upper, lower, key))
            out = level.shifts.get((cells[upper].item, key), 0.0)
            into = level.shifts.get((cells[lower].item, key), 0.0)
            cells[upper].downs.append((lower, into, out))
            cells[lower].ups.append((upper, out, into))


def _order(found: Layers) -> None:
    """Order each layer by the mean place of neighbours; the order with fewest crossings stays."""
    place = [0.0] * len(found.cells)
    for row in found.rows:
        _number(row, place)
    best, fewest = [list(row) for row in found.rows], crossings(found)
    for sweep in range(SWEEPS):
        downwards = sweep % 2 == 0
        for row in found.rows if downwards else reversed(found.rows):
            means = {i: _mean(found.cells[i], place, downwards, place[i]) for i in row}
            row.sort(key=means.__getitem__)
            _number(row, place)
        count = crossings(found)
        if count < fewest:
            best, fewest = [list(row) for row in found.rows], count
        if not fewest:
            break
    found.rows[:] = best


def _number(row: Sequence[int], place: list[float]) -> None:
    for k, i in enumerate(row):
        place[i] = (k + 0.5) / len(row)


def _mean(cell: Cell, place: Sequence[float], upper: bool, otherwise: float) -> float:
    near = cell.ups if upper else cell.downs
    if not near:
        return otherwise
    # where an edge touches a wide frame counts a little, to bring its ports in order
    return sum(place[i] + 0.01 * (shift - own) for i, shift, own in near) / len(near)


def crossings(found: Layers) -> int:
    """Return how often edges cross between layers."""
    total = 0
    for row, following in pairwise(found.rows):
        place = {i: k for k, i in enumerate(following)}
        ends = [
            (place[j], shift)
            for i in row
            for j, shift, _ in sorted(
                found.cells[i].downs, key=lambda each: (each[2], place.get(each[0], 0))
            )
            if j in place
        ]
        total += _inversions(ends)
    return total


def _inversions(values: Sequence[tuple[int, float]]) -> int:
    """Return how many pairs stand in falling order, by merging."""
    if len(values) < 2:
        return 0
    seen: list[tuple[int, float]] = []
    total = 0
    for value in values:
        total += len(seen) - bisect_right(seen, value)
        insort(seen, value)
    return total


def _place(found: Layers) -> None:
    """Set `x` of every cell: near its neighbours, and without overlaps."""
    for row in found.rows:
        x = 0.0
        for i in row:
            found.cells[i].x = x + found.cells[i].width / 2
            x += found.cells[i].width + BESIDE
        for i in row:
            found.cells[i].x -= (x - BESIDE) / 2
    for sweep in range(2 * SWEEPS):
        downwards = sweep % 2 == 0
        for row in found.rows if downwards else reversed(found.rows):
            _place_row(found.cells, row, downwards, both=sweep >= SWEEPS)
    left = min((cell.x - cell.width / 2 for cell in found.cells), default=0.0)
    for cell in found.cells:
        cell.x -= left


def _place_row(cells: list[Cell], row: Sequence[int], upper: bool, both: bool) -> None:
    wanted, weights = [], []
    for i in row:
        x, weight = _wanted(cells, cells[i], upper, both)
        wanted.append(x)
        weights.append(weight)
    gaps = [_apart(cells[i], cells[j]) for i, j in pairwise(row)]
    for i, x in zip(row, without_overlaps(wanted, weights, gaps), strict=True):
        cells[i].x = x


def _wanted(cells: Sequence[Cell], cell: Cell, upper: bool, both: bool) -> tuple[float, float]:
    near = [*cell.ups, *cell.downs] if both else cell.ups if upper else cell.downs
    total = weight = 0.0
    for i, shift, own in near:
        each = STRAIGHT if cell.item < 0 and cells[i].item < 0 else 1.0
        total += each * (cells[i].x + shift - own)
        weight += each
    return (total / weight, weight) if weight else (cell.x, 0.05)


def _apart(one: Cell, other: Cell) -> float:
    beside = BESIDE if one.item >= 0 and other.item >= 0 else 0.05
    if one.item < 0 and other.item < 0:
        beside = 0.0
    return (one.width + other.width) / 2 + beside


def without_overlaps(
    wanted: Sequence[float], weights: Sequence[float], gaps: Sequence[float]
) -> list[float]:
    """Return the places nearest to the wanted ones, by least squares, at least `gaps` apart.

    Args:
      wanted: in inches, of things in a fixed order.
      weights: how much each counts.
      gaps: from each to the next.
    """
    offset, offsets = 0.0, [0.0]
    for gap in gaps:
        offset += gap
        offsets.append(offset)
    # without the gaps it is a rising sequence that is asked for: neighbours in falling order pool
    pools: list[tuple[float, float, int]] = []  # (mean, weight, count)
    for x, weight, shift in zip(wanted, weights, offsets, strict=False):
        mean, total, count = x - shift, weight, 1
        while pools and pools[-1][0] > mean:
            other, more, members = pools.pop()
            mean = (mean * total + other * more) / (total + more)
            total, count = total + more, count + members
        pools.append((mean, total, count))
    places = [mean for mean, _, count in pools for _ in range(count)]
    return [x + shift for x, shift in zip(places, offsets, strict=False)]
