"""The picture of a placement: a column per device, boxes for nodes, arrows for edges.

A loop or cond is one box across the columns of its devices, or a frame around what is in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tfdist.plots.placement.layout import (
    MOST_BOXES,
    Box,
    Edge,
    Frame,
    PlacementLayout,
    layout_placement,
)
from tfdist.plots.shared.alike_tasks import without_alike
from tfdist.plots.shared.blocks import Placed, block_name
from tfdist.plots.shared.device_colours import device_colours
from tfdist.plots.shared.palette import new_figure, text_width, tint
from tfdist.plots.shared.routes import BOX
from tfdist.plots.shared.short_names import shorten
from tfdist.plots.shared.themes import faint, ink, panel, shade
from tfdist.session.blocks import FALSE, TRUE
from tfdist.tracing.device_names import short_device

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEGEND = 0.35  # inches
TALLEST = 7.0  # inches of a picture for which nobody asked for more
FEWEST = 8  # boxes, however high they stand
OPEN, CLOSED = "▾", "▸"  # before the names of loops and conds
MARGIN = 0.03  # inches: from a name to the border of its box


def placement_figure(
    nodes: Sequence[Placed],
    most: int = MOST_BOXES,
    opened: Iterable[str] = (),
    rounds: Mapping[str, str] | None = None,
) -> Figure:
    """Return a matplotlib `Figure` of placed nodes.

    Args:
      nodes: from `Session.placement`, or anything with the same fields.
      most: boxes to draw; beyond, the nodes of a scope on one device are drawn as one.
      opened: names of loops and conds to draw with their inside; "*" stands for any letters.
      rounds: what to say of loops, by name, such as "10 rounds".
    """
    nodes, titles = without_alike(nodes)
    layout = _as_high_as_a_screen(nodes, most, tuple(opened))
    figure, axes = new_figure(layout.height + LEGEND, layout.right - layout.left)
    axes.set_axis_off()
    axes.set_xlim(layout.left, layout.right)
    axes.set_ylim(layout.height, 0)
    colours = device_colours([device for device, _, _ in layout.columns])
    for number, (device, left, width) in enumerate(layout.columns):
        place = left, width, layout.height
        _draw_column(axes, device, place, colours[device], number % 2 == 0, titles[device])
    for frame in layout.frames:
        _draw_frame(axes, frame, (rounds or {}).get(frame.path[-1].name, ""))
    for edge in layout.edges:
        _draw_edge(axes, edge)
    for box in layout.boxes:
        if box.group.block is None:
            _draw_box(axes, box, colours[box.group.device])
        else:
            _draw_block(axes, box, layout, colours, (rounds or {}).get(box.group.name, ""))
    _draw_legend(figure, layout)
    return figure


def _as_high_as_a_screen(
    nodes: Sequence[Placed], most: int, opened: tuple[str, ...]
) -> PlacementLayout:
    """Return a layout of no more boxes than a screen shows, unless more are asked for."""
    layout = layout_placement(nodes, most, opened)
    while layout.height > TALLEST and FEWEST < most <= MOST_BOXES and not opened:
        most = max(most * 3 // 4, FEWEST)
        layout = layout_placement(nodes, most)
    return layout


def _draw_column(
    axes: Axes,
    device: str,
    place: tuple[float, float, float],
    colour: str,
    shaded: bool,
    title: str,
) -> None:
    """Draw the ground of a column, and over it its device, or what it stands for."""
    from matplotlib.patches import Rectangle

    left, width, height = place
    face = shade() if shaded else panel()
    axes.add_patch(Rectangle((left, 0), width, height, facecolor=face, linewidth=0, zorder=0))
    axes.add_patch(Rectangle((left, 0), width, 0.07, facecolor=colour, linewidth=0, zorder=1))
    name, size = _heading(title or short_device(device) or "no device", width)
    axes.text(
        left + width / 2,
        0.24,
        name,
        ha="center",
        va="center",
        fontsize=size,
        color=ink(),
        weight="bold",
    )


def _heading(name: str, width: float) -> tuple[str, float]:
    """Return a column's name, in two lines if one does not fit, and the size of its letters."""
    size = _fitting(name, 9.5, "bold", width)
    if size < 8.5 and ", " in name:  # of many that are alike
        return name.replace(", ", "\n"), 8.5
    task, _, device = name.rpartition("/")
    if size >= 8.5 or not task.startswith("/job"):
        return name, size
    return f"{task}\n{device}", min(_fitting(each, 9.0, "bold", width) for each in (task, device))


def _draw_frame(axes: Axes, frame: Frame, rounds: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    is_side = frame.path[-1].kind in (TRUE, FALSE)
    axes.add_patch(
        FancyBboxPatch(
            (frame.left, frame.top),
            frame.right - frame.left,
            frame.bottom - frame.top,
            boxstyle="round,pad=0,rounding_size=0.08",
            fill=False,
            edgecolor=faint() if is_side else ink(),
            linewidth=0.9 if is_side else 1.3,
            linestyle="--" if is_side else "-",
            zorder=1 + 0.05 * len(frame.path),
        )
    )
    _write_title(axes, frame, is_side, rounds)


def _write_title(axes: Axes, frame: Frame, is_side: bool, rounds: str) -> None:
    axes.text(
        frame.left + 0.1,
        frame.top + 0.14,
        frame.title if is_side else f"{OPEN} {frame.title}" + (f", {rounds}" if rounds else ""),
        ha="left",
        va="center",
        fontsize=8.5,
        color=ink(),
        weight="normal" if is_side else "bold",
        zorder=5,
        bbox={"facecolor": panel(), "edgecolor": "none", "pad": 1.0},
    )


def _draw_block(
    axes: Axes, box: Box, layout: PlacementLayout, colours: Mapping[str, str], rounds: str
) -> None:
    """Draw a closed loop or cond over the columns of its devices, tinted where it has nodes."""
    from matplotlib.patches import Rectangle

    assert box.group.block is not None
    left, right = box.spot.x - box.spot.width / 2, box.spot.x + box.spot.width / 2
    top, height = box.spot.y - BOX[1] / 2, BOX[1]
    line: dict[str, Any] = {"edgecolor": ink(), "zorder": 4, "linewidth": 1.3}
    axes.add_patch(Rectangle((left, top), right - left, height, facecolor=panel(), **line))
    for device, start, width in layout.columns:
        if device in box.group.devices:
            begin, end = max(start, left), min(start + width, right)
            face = tint(colours[device], 0.22)
            axes.add_patch(
                Rectangle((begin, top), end - begin, height, facecolor=face, linewidth=0, zorder=4)
            )
    axes.add_patch(Rectangle((left, top), right - left, height, fill=False, **line))
    title = f"{CLOSED} {shorten(block_name(box.group.block))}"
    _write_in_box(axes, box, title, box.group.op + (f", {rounds}" if rounds else ""))


def _draw_box(axes: Axes, box: Box, colour: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    width, height = BOX
    is_quiet = box.group.is_quiet
    axes.add_patch(
        FancyBboxPatch(
            (box.spot.x - width / 2, box.spot.y - height / 2),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.06",
            facecolor=panel() if is_quiet else tint(colour, 0.22),
            edgecolor=tint(colour) if is_quiet else colour,
            linewidth=0.8 if is_quiet else 1.4,
            zorder=4,
        )
    )
    _write_in_box(axes, box, shorten(box.group.name, 22), shorten(box.group.op, 24))


def _write_in_box(axes: Axes, box: Box, title: str, below: str) -> None:
    """Write two lines; what the user did not make is written quietly."""
    is_quiet = box.group.is_quiet
    for text, shift, largest, weight in (
        (title, -0.075, 7.0 if is_quiet else 8.0, "normal" if is_quiet else "bold"),
        (below, 0.085, 6.5 if is_quiet else 7.0, "normal"),
    ):
        axes.text(
            box.spot.x,
            box.spot.y + shift,
            text,
            ha="center",
            va="center",
            fontsize=_fitting(text, largest, weight, box.spot.width),
            color=faint() if is_quiet else ink(),
            weight=weight,
            zorder=5,
            clip_on=True,
        )


def _fitting(text: str, largest: float, weight: str, width: float) -> float:
    """Return the size of letters, in points, at which `text` stays inside its box."""
    taken = text_width(text, largest, weight)
    return largest * min(1.0, (width - 2 * MARGIN) / max(taken, 0.01))


def _draw_edge(axes: Axes, edge: Edge) -> None:
    style = _edge_style(edge.crosses)
    xs, ys = zip(*edge.corners, strict=True)
    level = 3 if edge.crosses else 2
    axes.plot(xs, [*ys[:-1], ys[-1] - 0.06], zorder=level, solid_joinstyle="round", **style)
    axes.plot(
        xs[-1],
        ys[-1] - 0.045,
        marker="v",
        markersize=5,
        color=style["color"],
        zorder=level,
        markeredgewidth=0,
    )


def _edge_style(crosses: bool) -> dict[str, Any]:
    if crosses:
        return {"color": ink(), "linewidth": 1.5, "linestyle": (0, (4, 1.5))}
    return {"color": faint(), "linewidth": 0.9}


def _draw_legend(figure: Figure, layout: PlacementLayout) -> None:
    from matplotlib.lines import Line2D

    keys = {
        "edge on one device": Line2D([], [], marker="v", markersize=4, **_edge_style(False)),
        "edge between devices: a transfer": Line2D(
            [], [], marker="v", markersize=5, **_edge_style(True)
        ),
    }
    shown = [
        name
        for name, crosses in zip(keys, (False, True), strict=True)
        if any(edge.crosses is crosses for edge in layout.edges)
    ]
    if shown:
        figure.legend(
            [keys[name] for name in shown],
            shown,
            loc="outside lower center",
            ncols=2,
            fontsize=8,
            frameon=False,
            labelcolor=ink(),
        )
