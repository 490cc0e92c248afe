"""Shapes of a graph's picture, added to a panel in ways that cost little: there are hundreds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfdist.plots.graph.layout_shapes import Wire
from tfdist.plots.graph.scopes_data import Folded, Link
from tfdist.plots.shared.themes import faint, ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes

THICKEST = 4.0  # points
HEAD = 0.07  # inches: an arrow's head


def add_rectangle(
    axes: Axes,
    place: tuple[float, float, float, float],
    face: str,
    edge: str = "none",
    round: float = 0.0,
    width: float = 0.0,
    zorder: float = 1.0,
    hatch: str = "",
) -> None:
    """Draw a rectangle.

    Args:
      axes: the panel.
      place: left, top, width, height.
      face: colour inside, or "none".
      edge: colour of its border, and of the hatch.
      round: radius of its corners.
      width: of its border, in points.
      zorder: what is higher hides what is lower.
      hatch: pattern inside.
    """
    from matplotlib.patches import FancyBboxPatch, Rectangle

    left, top, wide, high = place
    look: dict[str, Any] = {"facecolor": face, "edgecolor": edge, "linewidth": width}
    patch: FancyBboxPatch | Rectangle
    if round:
        style = f"round,pad=0,rounding_size={round}"
        patch = FancyBboxPatch((left, top), wide, high, boxstyle=style, **look)
    else:
        patch = Rectangle((left, top), wide, high, hatch=hatch or None, **look)
    patch.set_zorder(zorder)
    axes.add_artist(patch)  # add_patch would look for the limits of the panel, which are known


def together(folded: Folded, wire: Wire) -> Link:
    """Return what goes through a wire."""
    found = [folded.links[wire.source, target] for target in wire.targets]
    tensors = frozenset(tensor for link in found for tensor in link.tensors)
    return Link(tensors, (), sum(link.controls for link in found))


def draw_wires(axes: Axes, wires: Sequence[tuple[Wire, Link]]) -> None:
    """Draw the ways of edges, and the heads of arrows where they enter a box."""
    from matplotlib.collections import PathCollection, PolyCollection

    widths = [_width(link) for _, link in wires]
    colours = [ink() if len(link.tensors) > 1 else faint() for _, link in wires]
    axes.add_collection(
        PathCollection(
            [_path(wire) for wire, _ in wires],
            facecolors="none",
            edgecolors=colours,
            linewidths=widths,
            linestyles=["-" if link.tensors else (0, (1, 2)) for _, link in wires],
            zorder=3,
        ),
        autolim=False,
    )
    heads = [(w.points[3], c, s) for (w, _), c, s in zip(wires, colours, widths, strict=True)
             if w.into >= 0]  # fmt: skip
    axes.add_collection(
        PolyCollection(
            [_head(end, width) for end, _, width in heads],
            facecolors=[colour for _, colour, _ in heads],
            linewidths=0,
            zorder=3.5,
        ),
        autolim=False,
    )


def _width(link: Link) -> float:
    """Return the width of a line, in points: the thicker the more tensors it stands for."""
    return min(0.9 + 0.5 * math.pow(max(len(link.tensors) - 1, 0), 0.6), THICKEST)


def _path(wire: Wire) -> Any:
    from matplotlib.path import Path

    start, _, _, (x, y) = wire.points
    tip = (x, y - HEAD / 2) if wire.into >= 0 else (x, y)
    codes = [Path.MOVETO, Path.LINETO, *[Path.CURVE4] * 3, Path.LINETO]
    return Path([start, *wire.curve(), tip], codes)


def _head(end: tuple[float, float], width: float) -> list[tuple[float, float]]:
    x, y = end
    half = HEAD / 2 + width / 150
    return [(x - half, y - HEAD - width / 100), (x + half, y - HEAD - width / 100), (x, y - 0.005)]
