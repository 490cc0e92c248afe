"""Stills of a step player: one moment over its placed graph, and a film strip of several.

They have the boxes and edges of the placement picture. A strip is small: only what happens has a
name in it, and the lanes below say where in the step its moments are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from tfdist.plots.placement.layout import Box
from tfdist.plots.player.lanes import LANE, draw_lanes, waiting_colour
from tfdist.plots.player.scene import (
    Scene,
    Shot,
    block_title,
    blocks,
    caption,
    notes,
    phrase,
    shot,
    telling_moments,
    way_inside,
)
from tfdist.plots.shared.device_colours import device_colours
from tfdist.plots.shared.palette import WIDTH, ink_on, tint
from tfdist.plots.shared.routes import BOX, Point
from tfdist.plots.shared.short_names import shorten
from tfdist.plots.shared.tables import bytes_text, duration_text
from tfdist.plots.shared.themes import faint, ink, panel, shade
from tfdist.tracing.steps.device_activity import (
    QUEUES,
    WAITS,
    Status,
    asked_us,
    spoken_device,
    status_at,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TALLEST = 4.2  # inches of a panel of a strip
MANY = 150  # edges; more are all alike: thin, without dashes
CROWD = 24  # tensors on their way; of more, only some have their sizes told
FEW = 10  # letters in a box of a strip
HEADLINE = 0.2  # inches: a line of a caption
_NUMBERS = "①②③④⑤⑥⑦⑧⑨"


class Size(NamedTuple):
    """How large letters are, in points, and whether all boxes have names."""

    name: float
    small: float
    is_whole: bool


WHOLE = Size(8.0, 7.0, True)
SMALL = Size(6.5, 5.8, False)


def moment_figure(scene: Scene, moment: float) -> Figure:
    """Return a matplotlib `Figure` of one moment, in microseconds since the step's beginning."""
    layout = scene.layout
    width = max(layout.right - layout.left, WIDTH)
    figure, (above, below) = _figure(scene, width, [[layout.height]])
    _draw_panel(above[0], scene, shot(scene, moment), WHOLE)
    _write_caption(above[0], caption(scene, moment), int(width * 14.5))
    draw_lanes(below, scene, [moment], [""])
    return figure


def strip_figure(scene: Scene, moments: Sequence[float] = ()) -> Figure:
    """Return a film strip of several moments; by default of those in which most is to be seen."""
    moments = sorted(moments) or telling_moments(scene)
    layout = scene.layout
    width = max(layout.right - layout.left, WIDTH)
    across = 2 if len(moments) > 1 else 1
    height = min(layout.height / across + 0.15, TALLEST)
    rows = [[height] * across for _ in range(0, len(moments), across)]
    figure, (above, below) = _figure(scene, width, rows)
    for number, (axes, moment) in enumerate(zip(above, moments, strict=False)):
        _draw_panel(axes, scene, shot(scene, moment), SMALL)
        text = f"{_NUMBERS[number]}  {caption(scene, moment)}"
        _write_caption(axes, text, int(width / across * 14), lines=3)
    for axes in above[len(moments) :]:
        axes.set_visible(False)
    draw_lanes(below, scene, moments, _NUMBERS[: len(moments)])
    return figure


def _figure(
    scene: Scene, width: float, rows: Sequence[Sequence[float]]
) -> tuple[Figure, tuple[list[Axes], Axes]]:
    """Return a figure with rows of panels of so many inches, and lanes below."""
    from matplotlib.figure import Figure

    lanes = 0.55 + LANE * len(scene.doing) + 0.16 * len(notes(scene))
    heights = [*(row[0] + 3.2 * HEADLINE for row in rows), lanes]
    figure = Figure((width, sum(heights)), facecolor=panel(), layout="constrained")
    engine: Any = figure.get_layout_engine()
    engine.set(hspace=0.01, h_pad=0.04)
    across = len(rows[0])
    grid = figure.add_gridspec(len(heights), across, height_ratios=heights)
    above = [
        figure.add_subplot(grid[i, k], facecolor=panel())
        for i in range(len(rows))
        for k in range(across)
    ]
    return figure, (above, figure.add_subplot(grid[len(rows), :], facecolor=panel()))


def _write_caption(axes: Axes, text: str, letters: int, lines: int = 2) -> None:
    written = wrap(text, letters)
    if len(written) > lines:
        written = [*written[: lines - 1], written[lines - 1][: letters - 1] + "…"]
    axes.set_title("\n".join(written), loc="left", fontsize=7.8, color=ink(), linespacing=1.25)


def _draw_panel(axes: Axes, scene: Scene, seen: Shot, size: Size) -> None:
    layout = scene.layout
    axes.set_axis_off()
    axes.set_xlim(layout.left, layout.right)
    axes.set_ylim(layout.height, 0)
    colours = device_colours([device for device, _, _ in layout.columns])
    for number, (device, left, width) in enumerate(layout.columns):
        status = status_at(scene.doing.get(device, [Status(0.0, "to come")]), seen.moment)
        _draw_column(axes, (left, width), layout.height, colours[device], number % 2 == 0)
        told = phrase(scene, status) if size.is_whole else ""
        _write_head(axes, (left, width), spoken_device(device), told, status, size)
    are_many = len(layout.edges) > MANY
    for edge in layout.edges:
        _draw_edge(axes, edge.corners, edge.crosses and not are_many, edge.source in seen.done)
    for i in range(len(layout.boxes)):
        _draw_box(axes, scene, i, seen, colours, size)
    for number, (event, share) in enumerate(seen.moving):
        _draw_travel(axes, scene, event, share, colours, size, number < CROWD)


def _draw_column(
    axes: Axes, place: tuple[float, float], height: float, colour: str, is_shaded: bool
) -> None:
    from matplotlib.patches import Rectangle

    left, width = place
    face = shade() if is_shaded else panel()
    axes.add_patch(Rectangle((left, 0), width, height, facecolor=face, linewidth=0, zorder=0))
    axes.add_patch(Rectangle((left, 0), width, 0.07, facecolor=colour, linewidth=0, zorder=1))


def _write_head(
    axes: Axes, place: tuple[float, float], name: str, told: str, status: Status, size: Size
) -> None:
    """Write the name of a column's device, and what it does where there is room."""
    left, width = place
    style: dict[str, Any] = {"ha": "center", "va": "center", "clip_on": True}
    middle, letters = left + width / 2, int(width * 15.5)
    y = 0.19 if told else 0.25
    axes.text(middle, y, name, fontsize=size.name + 1, color=ink(), weight="bold", **style)
    if told:
        is_waiting = status.state in (WAITS, QUEUES)
        colour = waiting_colour() if is_waiting else ink() if status.row >= 0 else faint()
        text = told if len(told) <= letters else told[: letters - 1] + "…"
        axes.text(middle, 0.36, text, fontsize=size.small, color=colour, **style)


def _draw_edge(axes: Axes, corners: Sequence[Point], crosses: bool, is_over: bool) -> None:
    xs, ys = zip(*corners, strict=True)
    style: dict[str, Any] = {"color": faint(), "linewidth": 0.8}
    if crosses:
        style = {"color": ink(), "linewidth": 1.1, "linestyle": (0, (4, 1.5))}
    alpha = 0.9 if is_over else 0.4
    axes.plot(xs, ys, zorder=2, alpha=alpha, solid_joinstyle="round", **style)


def _draw_box(
    axes: Axes, scene: Scene, i: int, seen: Shot, colours: dict[str, str], size: Size
) -> None:
    """Draw a box: full of its colour while it computes, pale before, with a tick afterwards."""
    box = scene.layout.boxes[i]
    computing, waits, is_over = seen.computing.get(i), seen.waiting.get(i), i in seen.done
    device = scene.events[computing[0]].row.device if computing else box.group.device
    colour = colours.get(device, faint())
    face = colour if computing else tint(colour, 0.3 if i in seen.begun else 0.07)
    if box.group.is_quiet and not computing:
        face = panel()
    line: dict[str, Any] = {
        "edgecolor": ink() if computing else tint(colour, 1.0 if i in seen.begun else 0.55)
    }
    width = 1.8 if computing else 1.2
    _add_box(axes, box, face, linewidth=width, linestyle="-" if i in seen.begun else ":", **line)
    if computing or waits is not None or size.is_whole:
        text = ink_on(colour) if computing else ink() if i in seen.begun else faint()
        _write_in_box(axes, box, block_title(scene, i), text, size, bool(computing))
    if waits is not None:
        _draw_wait(axes, box, _waited(scene, waits, seen.moment), size)
    elif is_over and not computing:
        _badge(axes, box, "✓", tint(colour, 1.0), size)
    if computing and (rounds := str(scene.events[computing[0]].row.rounds)):
        left, top = box.spot.x - box.spot.width / 2, box.spot.y - BOX[1] / 2
        _pill(axes, (left, top), f"round {rounds}", colour, size, "left")


def _add_box(axes: Axes, box: Box, face: str, grown: float = 0.0, **line: Any) -> None:
    from matplotlib.patches import FancyBboxPatch

    width, height = box.spot.width + 2 * grown, BOX[1] + 2 * grown
    corner = (box.spot.x - width / 2, box.spot.y - height / 2)
    rounding = 0.01 if box.group.block else 0.06
    style = f"round,pad=0,rounding_size={rounding}"
    axes.add_patch(
        FancyBboxPatch(corner, width, height, boxstyle=style, facecolor=face, zorder=4, **line)
    )


def _write_in_box(axes: Axes, box: Box, title: str, colour: str, size: Size, is_lit: bool) -> None:
    style: dict[str, Any] = {"ha": "center", "va": "center", "color": colour, "zorder": 6}
    weight = "bold" if is_lit else "normal"
    shift = -0.075 if size.is_whole else 0.0
    name = shorten(title, 22) if size.is_whole else _stem(title, int(FEW * box.spot.width / BOX[0]))
    points = size.name * min(1.0, 17 / max(len(name), 1)) if size.is_whole else size.name
    axes.text(box.spot.x, box.spot.y + shift, name, fontsize=points, weight=weight, **style)
    if size.is_whole:
        below = shorten(box.group.op, 24)
        axes.text(box.spot.x, box.spot.y + 0.085, below, fontsize=size.small - 0.5, **style)


def _stem(name: str, most: int) -> str:
    """Return the last part of a name, its end left out if it is long."""
    last = name.rpartition("/")[2]
    return last if len(last) <= most else last[: most - 1] + "…"


def _draw_wait(axes: Axes, box: Box, told: str, size: Size) -> None:
    red = waiting_colour()
    _add_box(axes, box, "none", 0.03, edgecolor=red, linewidth=1.8, linestyle=(0, (4, 1.5)))
    above = 0.06 if size.is_whole else 0.13
    corner = (box.spot.x + box.spot.width / 2 + 0.03, box.spot.y - BOX[1] / 2 - above)
    _pill(axes, corner, told, red, size, "right")


def _waited(scene: Scene, event: int, moment: float) -> str:
    row = scene.events[event].row
    since = max(asked_us(row), status_at(scene.doing[row.device], moment).start_us)
    told = "at a queue" if blocks(scene, scene.events[event]) else "waits"
    return f"{told} {duration_text(moment - since)}"


def _badge(axes: Axes, box: Box, text: str, colour: str, size: Size) -> None:
    corner = (box.spot.x + box.spot.width / 2 - 0.02, box.spot.y - BOX[1] / 2 + 0.02)
    axes.plot(*corner, marker="o", markersize=size.small + 0.5, color=panel(), zorder=5,
              markeredgecolor=colour, markeredgewidth=0.8)  # fmt: skip
    style: dict[str, Any] = {"ha": "center", "va": "center", "color": ink(), "zorder": 6}
    axes.text(*corner, text, fontsize=size.small - 1.2, weight="bold", **style)


def _pill(axes: Axes, place: Point, text: str, colour: str, size: Size, side: str) -> None:
    ground = {"facecolor": colour, "edgecolor": panel(), "boxstyle": "round,pad=0.25"}
    style: dict[str, Any] = {"va": "center", "color": ink_on(colour), "weight": "bold"}
    axes.text(*place, text, ha=side, fontsize=size.small - 0.4, zorder=8, bbox=ground, **style)


def _draw_travel(
    axes: Axes,
    scene: Scene,
    event: int,
    share: float,
    colours: dict[str, str],
    size: Size,
    is_told: bool,
) -> None:
    """Draw a tensor on its way: what is behind it and, if there is room, how large it is."""
    found = scene.events[event]
    colour = colours.get(found.row.source, faint())
    ways = [scene.layout.edges[i].corners for i in found.edges] or way_inside(scene, found)
    for number, way in enumerate(ways):
        behind = _beginning(way, share)
        xs, ys = zip(*behind, strict=True)
        axes.plot(xs, ys, color=colour, linewidth=2.2, zorder=7, solid_capstyle="round")
        axes.plot(xs[-1], ys[-1], marker="o", markersize=size.small, color=colour, zorder=7,
                  markeredgecolor=panel(), markeredgewidth=1.0)  # fmt: skip
        if is_told and found.row.bytes and not number:
            place = (xs[-1] + 0.1, ys[-1])
            _pill(axes, place, bytes_text(found.row.bytes), colour, size, "left")


def _beginning(way: Sequence[Point], share: float) -> list[Point]:
    """Return the corners of the first `share` of a way."""
    lengths = [abs(x1 - x0) + abs(y1 - y0) for (x0, y0), (x1, y1) in pairwise(way)]
    left = share * sum(lengths)
    found = [way[0]]
    for length, ((x0, y0), (x1, y1)) in zip(lengths, pairwise(way), strict=True):
        part = min(left / length, 1.0) if length else 1.0
        found.append((x0 + part * (x1 - x0), y0 + part * (y1 - y0)))
        left -= length
        if left <= 0:
            break
    return found
