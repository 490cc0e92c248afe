"""What is written on the edges of a graph's picture, where there is room: shapes of tensors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tfdist.plots.graph.layout import GraphLayout
from tfdist.plots.graph.layout_shapes import HEADING, Wire
from tfdist.plots.graph.letter_widths import SMALL, heading_width
from tfdist.plots.graph.scopes_data import Folded, Link
from tfdist.plots.shared.palette import text_width
from tfdist.plots.shared.routes import Point

HIGH = 0.11  # inches: a line of small letters
STEPS = 10  # points of a curve that are looked at
Rectangle = tuple[float, float, float, float]  # left, top, right, bottom


def labels(layout: GraphLayout, folded: Folded) -> list[tuple[float, float, str]]:
    """Return (x, y, text) for each edge with room for it: no other edge or label is hidden."""
    ways = [list(points_of(wire)) for wire in layout.wires]
    cells: dict[tuple[int, int], list[tuple[int, Point]]] = {}
    for i, way in enumerate(ways):
        for point in way:
            cells.setdefault(_cell(point), []).append((i, point))
    taken: list[Rectangle] = [
        (box.left, box.top, box.left + box.width, box.top + box.height) for box in layout.boxes
    ]
    taken += [
        (each.left, each.top, each.left + heading_width(each.part), each.top + HEADING)
        for each in layout.frames
    ]
    found = []
    for i, wire in enumerate(layout.wires):
        if wire.into < 0:
            continue
        text = label(folded.links[wire.source, wire.into])
        place = _place(wire, text, i, cells, taken) if text else None
        if place:
            found.append((*place, text))
    return found


def label(link: Link) -> str:
    """Return the shape of an edge's tensor, or how many there are; "" for no tensor."""
    if len(link.tensors) > 1:
        return f"{len(link.tensors)} tensors"
    return link.shapes[0] if link.shapes and len(link.shapes[0]) <= 16 else ""


def points_of(wire: Wire) -> Iterator[Point]:
    """Return points along a wire, close to each other."""
    start, _, _, end = wire.points
    yield start
    a, b, c, d = wire.curve()
    for k in range(STEPS + 1):
        t = k / STEPS
        s = 1 - t
        w = (s**3, 3 * s * s * t, 3 * s * t * t, t**3)
        yield (
            w[0] * a[0] + w[1] * b[0] + w[2] * c[0] + w[3] * d[0],
            w[0] * a[1] + w[1] * b[1] + w[2] * c[1] + w[3] * d[1],
        )
    yield end


def _place(
    wire: Wire,
    text: str,
    number: int,
    cells: dict[tuple[int, int], list[tuple[int, Point]]],
    taken: list[Rectangle],
) -> Point | None:
    half = text_width(text, SMALL) / 2 + 0.03
    along = list(points_of(wire))
    for k in (6, 5, 7, 4, 8, 9, 3):
        x, y = along[k + 1]
        rectangle = (x - half, y - HIGH / 2, x + half, y + HIGH / 2)
        if any(_overlap(rectangle, other) for other in taken):
            continue
        near = _near(rectangle, cells)
        if any(i != number and _holds(rectangle, point) for i, point in near):
            continue
        taken.append(rectangle)
        return x, y
    return None


def _near(
    rectangle: Rectangle, cells: dict[tuple[int, int], list[tuple[int, Point]]]
) -> Iterable[tuple[int, Point]]:
    left, top = _cell(rectangle[:2])
    right, bottom = _cell(rectangle[2:])
    for column in range(left, right + 1):
        for row in range(top, bottom + 1):
            yield from cells.get((column, row), ())


def _cell(point: tuple[float, ...]) -> tuple[int, int]:
    return int(point[0] // 0.5), int(point[1] // 0.25)


def _overlap(one: Rectangle, other: Rectangle) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _holds(rectangle: Rectangle, point: Point) -> bool:
    return rectangle[0] < point[0] < rectangle[2] and rectangle[1] < point[1] < rectangle[3]
