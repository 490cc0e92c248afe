"""The picture of a placement: a column per device, boxes for nodes, arrows for edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfdist.plots.layout_placement import MOST_BOXES, Box, Edge, PlacementLayout, layout_placement
from tfdist.plots.layout_timeline import shorten
from tfdist.plots.palette import FAINT, INK, PANEL, SHADE, device_colours, new_figure, tint
from tfdist.plots.placement_data import Placed
from tfdist.plots.routes import BOX
from tfdist.tracing.rows import short_device

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEGEND = 0.35  # inches
MARGIN = 0.03  # inches: from a name to the border of its box
LOCAL: dict[str, Any] = {"color": FAINT, "linewidth": 0.9}
CROSSING: dict[str, Any] = {"color": INK, "linewidth": 1.5, "linestyle": (0, (4, 1.5))}


def placement_figure(nodes: Sequence[Placed], most: int = MOST_BOXES) -> Figure:
    """Return a matplotlib `Figure` of placed nodes.

    Args:
      nodes: from `Session.placement`, or anything with the same fields.
      most: boxes to draw; beyond, the nodes of a scope on one device are drawn as one.
    """
    layout = layout_placement(nodes, most)
    figure, axes = new_figure(layout.height + LEGEND, layout.width)
    axes.set_axis_off()
    axes.set_xlim(0, layout.width)
    axes.set_ylim(layout.height, 0)
    colours = device_colours([device for device, _, _ in layout.columns])
    for number, (device, left, width) in enumerate(layout.columns):
        _draw_column(axes, device, left, width, layout.height, colours[device], number % 2 == 0)
    for edge in layout.edges:
        _draw_edge(axes, edge)
    for box in layout.boxes:
        _draw_box(axes, box, colours[box.group.device])
    _draw_legend(figure, layout)
    return figure


def _draw_column(
    axes: Axes, device: str, left: float, width: float, height: float, colour: str, shaded: bool
) -> None:
    from matplotlib.patches import Rectangle

    face = SHADE if shaded else PANEL
    axes.add_patch(Rectangle((left, 0), width, height, facecolor=face, linewidth=0, zorder=0))
    axes.add_patch(Rectangle((left, 0), width, 0.07, facecolor=colour, linewidth=0, zorder=1))
    axes.text(
        left + width / 2,
        0.24,
        short_device(device) or "no device",
        ha="center",
        va="center",
        fontsize=9.5,
        color=INK,
        weight="bold",
    )


def _draw_box(axes: Axes, box: Box, colour: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    width, height = BOX
    axes.add_patch(
        FancyBboxPatch(
            (box.spot.x - width / 2, box.spot.y - height / 2),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.06",
            facecolor=tint(colour, 0.22),
            edgecolor=colour,
            linewidth=1.4,
            zorder=4,
        )
    )
    for text, shift, largest, weight in (
        (shorten(box.group.name, 22), -0.075, 8.0, "bold"),
        (shorten(box.group.op, 24), 0.085, 7.0, "normal"),
    ):
        axes.text(
            box.spot.x,
            box.spot.y + shift,
            text,
            ha="center",
            va="center",
            fontsize=_fitting(text, largest, weight),
            color=INK,
            weight=weight,
            zorder=5,
            clip_on=True,
        )


def _fitting(text: str, largest: float, weight: str) -> float:
    """Return the size of letters, in points, at which `text` stays inside its box."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    font = get_font(findfont(FontProperties(weight=weight)))
    font.set_size(largest, 720)  # ten times as fine: small letters are widened to whole pixels
    font.set_text(text)
    width = font.get_width_height()[0] / 640  # FreeType counts in 64ths
    room = 72 * (BOX[0] - 2 * MARGIN)
    return largest * min(1.0, room / max(width, 1.0))


def _draw_edge(axes: Axes, edge: Edge) -> None:
    style = CROSSING if edge.crosses else LOCAL
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


def _draw_legend(figure: Figure, layout: PlacementLayout) -> None:
    from matplotlib.lines import Line2D

    keys = {
        "edge on one device": Line2D([], [], marker="v", markersize=4, **LOCAL),
        "edge between devices: a transfer": Line2D([], [], marker="v", markersize=5, **CROSSING),
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
            labelcolor=INK,
        )
