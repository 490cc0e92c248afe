"""Ways of a placement picture's edges around its boxes: down, across between two rows, down again.

Every edge leaves at the bottom of a box and enters at the top of another. It runs across only in
the gaps between rows and down only where no box stands, so it never hides behind a box that it has
nothing to do with. Edges of one source share their way; those of different sources run beside each
other, as far as there is room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

Point = tuple[float, float]

BOX = (1.36, 0.36)  # inches
ROW = 0.64  # inches
_CLEARANCE = 0.03  # inches between an edge and a box that it passes
_APART = 0.04  # inches between edges of different sources that run side by side
_TRACKS = (0.0, -0.05, 0.05, -0.1, 0.1)  # inches from the middle of a gap
_LANES = (0.0, 0.05, 0.1, 0.15, 0.2)  # inches from the nearest way down beside a box
_ENTRIES = 0.16  # inches between two edges that enter one box


@dataclass(frozen=True)
class Spot:
    """Where a box stands: its centre in inches from the top left, its row, and its width."""

    x: float
    y: float
    row: int
    width: float = BOX[0]

    def nearest(self, x: float) -> float:
        """Return where an edge to or from `x` touches it: at its centre, unless it is wide."""
        reach = (self.width - BOX[0]) / 2
        return min(max(x, self.x - reach), self.x + reach)


def routes(spots: Sequence[Spot], edges: Sequence[tuple[int, int]]) -> list[tuple[Point, ...]]:
    """Return the corners of each edge, from the bottom of its source to the top of its target.

    Args:
      spots: of the boxes.
      edges: (source, target), positions in `spots`.
    """
    rows: dict[int, list[Spot]] = {}
    for spot in spots:
        rows.setdefault(spot.row, []).append(spot)
    found, across, down = [], _Taken(), _Taken()
    for (source, target), enter in zip(edges, _entries(spots, edges), strict=True):
        passed = _passed(spots[source], spots[target], rows)
        way = _route(_Edge(source, spots[source], spots[target], enter), passed, across, down)
        found.append(_without_repeats(way))
    return found


class _Edge(NamedTuple):
    """An edge: its source by position, and where it is, its target, and where it enters that."""

    owner: int
    source: Spot
    target: Spot
    enter: float

    @property
    def leave(self) -> float:
        return self.source.nearest(self.enter)


class _Taken:
    """Straight lines of one direction that edges run along already."""

    def __init__(self) -> None:
        self._lines: list[tuple[float, float, float, int]] = []

    def first_free(self, places: Sequence[float], start: float, end: float, owner: int) -> float:
        """Take the first of `places` where no edge of another source runs beside, or the first.

        Args:
          places: where the line could run, the best first.
          start: of the line.
          end: of the line.
          owner: the edge's source.
        """
        place = next((p for p in places if self.is_free(p, start, end, owner)), places[0])
        self.take(place, start, end, owner)
        return place

    def take(self, place: float, start: float, end: float, owner: int) -> None:
        """Let an edge run along here."""
        if start != end:
            self._lines.append((place, min(start, end), max(start, end), owner))

    def is_free(self, place: float, start: float, end: float, owner: int) -> bool:
        """Return whether no edge of another source runs along here."""
        low, high = min(start, end), max(start, end)
        return not any(
            other != owner
            and abs(at - place) < _APART
            and low < end + _APART
            and start < high + _APART
            for at, start, end, other in self._lines
        )


def _passed(source: Spot, target: Spot, rows: dict[int, list[Spot]]) -> list[Spot]:
    """Return the boxes beside which an edge goes down."""
    first, last = sorted((source.row + 1, target.row))
    found = [spot for row in range(first, last) for spot in rows.get(row, ())]
    is_loop = target.row <= source.row  # it passes both of its own rows too
    return [*found, source, target] if is_loop else found


def _route(edge: _Edge, passed: Sequence[Spot], across: _Taken, down: _Taken) -> list[Point]:
    source, target, enter, leave = edge.source, edge.target, edge.enter, edge.leave
    bottom, top = source.y + BOX[1] / 2, target.y - BOX[1] / 2
    ways = _ways_down(passed, leave, enter)
    x = down.first_free(ways, source.y + ROW / 2, target.y - ROW / 2, edge.owner)
    if target.row == source.row + 1:  # one gap: one line across
        x = enter
    tracks = _tracks(source.y + ROW / 2, down, leave, bottom, edge.owner)
    below = across.first_free(tracks, leave, x, edge.owner)
    above = below
    if x != enter:
        tracks = _tracks(target.y - ROW / 2, down, enter, top, edge.owner)
        above = across.first_free(tracks, x, enter, edge.owner)
    down.take(leave, bottom, below, edge.owner)
    down.take(enter, above, top, edge.owner)
    return [
        (leave, bottom),
        (leave, below),
        (x, below),
        (x, above),
        (enter, above),
        (enter, top),
    ]


def _tracks(middle: float, down: _Taken, x: float, box: float, owner: int) -> list[float]:
    """Return where an edge can run across in a gap; at `x` it goes on to the border of a box."""
    tracks = [middle + track for track in _TRACKS]
    return [y for y in tracks if down.is_free(x, y, box, owner)] or tracks


def _ways_down(passed: Sequence[Spot], start: float, end: float) -> list[float]:
    """Return where an edge can go down: right over its target, under its source, or beside boxes.

    The best come first; if a box is everywhere, over the target.
    """

    def free(x: float) -> bool:
        return all(abs(x - other.x) >= other.width / 2 + _CLEARANCE for other in passed)

    def beside(lane: float) -> list[float]:
        reach = _CLEARANCE + 0.005 + lane
        found = [spot.x + side * (spot.width / 2 + reach) for spot in passed for side in (-1, 1)]
        return sorted(found, key=lambda x: abs(x - start) + abs(x - end))

    candidates = (end, start, *(x for lane in _LANES for x in beside(lane)))
    return [x for x in candidates if free(x)] or [end]


def _entries(spots: Sequence[Spot], edges: Sequence[tuple[int, int]]) -> list[float]:
    """Return where each edge enters its target: side by side, as their sources stand."""
    arriving: dict[int, list[int]] = {}
    for i, (_, target) in enumerate(edges):
        arriving.setdefault(target, []).append(i)
    found = [0.0] * len(edges)
    for target, members in arriving.items():
        members.sort(key=lambda i: spots[edges[i][0]].x)
        step = min(_ENTRIES, BOX[0] * 0.8 / len(members))
        for k, i in enumerate(members):
            middle = spots[target].nearest(spots[edges[i][0]].x)
            found[i] = middle + (k - (len(members) - 1) / 2) * step
    return found


def _without_repeats(points: Sequence[Point]) -> tuple[Point, ...]:
    kept = [points[0]]
    for point in points[1:]:
        if point != kept[-1]:
            kept.append(point)
    return tuple(kept)
