"""Ways of a placement picture's edges around its boxes: down, across between two rows, down again.

Every edge leaves at the bottom of a box and enters at the top of another. It runs across only in
the gaps between rows and down only where no box stands, so it never hides behind a box that it has
nothing to do with. Edges of one source share their way; those of different sources run beside each
other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Point = tuple[float, float]

BOX = (1.36, 0.36)  # inches
ROW = 0.64  # inches
_CLEARANCE = 0.03  # inches between an edge and a box that it passes
_TRACKS = (0.0, -0.05, 0.05, -0.09, 0.09)  # inches from the middle of a gap
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
    entries = _entries(spots, edges)
    tracks = _tracks(spots, edges)
    rows: dict[int, list[Spot]] = {}
    for spot in spots:
        rows.setdefault(spot.row, []).append(spot)
    return [
        _without_repeats(_route(spots[source], spots[target], enter, tracks[source], rows))
        for (source, target), enter in zip(edges, entries, strict=True)
    ]


def _route(
    source: Spot, target: Spot, enter: float, track: float, rows: dict[int, list[Spot]]
) -> list[Point]:
    half = BOX[1] / 2
    below = source.y + ROW / 2 + track
    above = target.y - ROW / 2 + track
    first, last = sorted((source.row + 1, target.row))
    passed = [spot for row in range(first, last) for spot in rows.get(row, ())]
    if target.row <= source.row:  # a loop: it passes both of its own rows too
        passed += [source, target]
    leave = source.nearest(enter)
    down = _free(passed, leave, enter, abs(track))
    return [
        (leave, source.y + half),
        (leave, below),
        (down, below),
        (down, above),
        (enter, above),
        (enter, target.y - half),
    ]


def _free(passed: Sequence[Spot], start: float, end: float, apart: float) -> float:
    """Return where an edge can go down: right over its target, under its source, or between.

    Between boxes it keeps `apart` from where others would go, if there is room.
    """

    def free(x: float) -> bool:
        return all(abs(x - other.x) >= other.width / 2 + _CLEARANCE for other in passed)

    def beside(more: float) -> list[float]:
        reach = _CLEARANCE + 0.005 + more
        found = [spot.x + side * (spot.width / 2 + reach) for spot in passed for side in (-1, 1)]
        return sorted(found, key=lambda x: abs(x - start) + abs(x - end))

    candidates = (end, start, *beside(apart), *beside(0.0))
    return next((x for x in candidates if free(x)), end)


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


def _tracks(spots: Sequence[Spot], edges: Sequence[tuple[int, int]]) -> dict[int, float]:
    """Return a track for each source, those of one row on different ones as far as they go."""
    used: dict[int, int] = {}
    found: dict[int, float] = {}
    for source in sorted({source for source, _ in edges}, key=lambda i: spots[i].x):
        row = spots[source].row
        found[source] = _TRACKS[used.get(row, 0) % len(_TRACKS)]
        used[row] = used.get(row, 0) + 1
    return found


def _without_repeats(points: Sequence[Point]) -> tuple[Point, ...]:
    kept = [points[0]]
    for point in points[1:]:
        if point != kept[-1]:
            kept.append(point)
    return tuple(kept)
