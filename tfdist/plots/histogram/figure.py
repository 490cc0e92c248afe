"""Pictures of histograms: a small panel for each, or ridges over steps.

All panels are drawn in one set of axes, in inches from the top left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdist.plots.graph.data import shape_text
from tfdist.plots.histogram.data import GRADIENT, Histogram, number_text, share_text
from tfdist.plots.shared.palette import OKABE_ITO, WIDTH, new_figure, tint
from tfdist.plots.shared.short_names import shorten
from tfdist.plots.shared.themes import faint, ink, shade

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 4
PANEL = 1.62  # inches: height of one panel
RIDGES = 2.5  # inches: height of one panel with ridges
HIGH = 0.62  # inches: of the highest bar
SIDE = 0.12  # inches between a panel's border and its bars
HEAD = 0.6  # inches: a panel's texts
LEGEND = 0.36  # inches
MOST_PANELS = 48
MOST_RIDGES = 40
HATCHES = {GRADIENT: "////"}
RIDGE = 0.5  # inches: height of a ridge
FRONT = "the last step is in front"
LETTERS = 27  # of a name in a panel


def histogram_figure(histograms: Sequence[Histogram], digits: int = 3) -> Figure:
    """Return a matplotlib `Figure` with a small panel for each histogram.

    Args:
      histograms: a gradient is drawn beside its variable if it follows it.
      digits: of numbers.
    """
    shown = histograms[:MOST_PANELS]
    figure, axes = _canvas(len(shown), PANEL)
    for number, each in enumerate(shown):
        left, top = _place(number, PANEL)
        _frame(axes, left, top, PANEL)
        _texts(axes, left, top, each, digits)
        bottom = top + PANEL - 0.3
        _bars(axes, each, left + SIDE, bottom)
        _scale(axes, each.edges[0], each.edges[-1], left, bottom, digits, bool(each.counts.any()))
    _legend(figure, shown, len(histograms) - len(shown))
    return figure


def ridges_figure(rows: Sequence[tuple[int, Sequence[Histogram]]], digits: int = 3) -> Figure:
    """Return a matplotlib `Figure` of histograms over steps, the last ones in front.

    Args:
      rows: (step, histograms), the same ones in each row.
      digits: of numbers.
    """
    by_name: dict[tuple[str, str], list[tuple[int, Histogram]]] = {}
    for step, histograms in rows:
        for each in histograms:
            by_name.setdefault((each.name, each.kind), []).append((step, each))
    shown = list(by_name.values())[:MOST_PANELS]
    figure, axes = _canvas(len(shown), RIDGES)
    for number, series in enumerate(shown):
        left, top = _place(number, RIDGES)
        _frame(axes, left, top, RIDGES)
        _texts(axes, left, top, series[-1][1], digits)
        _ridges(axes, _some(series), left, top, digits)
    _legend(figure, [series[-1][1] for series in shown], len(by_name) - len(shown), FRONT)
    return figure


def _some(series: Sequence[Any]) -> list[Any]:
    """Return at most so many steps as can be told apart, the first and the last among them."""
    if len(series) <= MOST_RIDGES:
        return list(series)
    picked = np.linspace(0, len(series) - 1, MOST_RIDGES).round().astype(int)
    return [series[i] for i in picked]


def _canvas(count: int, height: float) -> tuple[Figure, Axes]:
    rows = max(-(-count // COLUMNS), 1)
    whole = rows * height + LEGEND
    figure, axes = new_figure(whole)
    figure.set_layout_engine("none")
    axes.set_position((0.0, LEGEND / whole, 1.0, 1 - LEGEND / whole))
    axes.set_axis_off()
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(rows * height, 0)
    return figure, axes


def _place(number: int, height: float) -> tuple[float, float]:
    return number % COLUMNS * WIDTH / COLUMNS, number // COLUMNS * height


def _frame(axes: Axes, left: float, top: float, height: float) -> None:
    from matplotlib.patches import Rectangle

    width = WIDTH / COLUMNS
    axes.add_artist(
        Rectangle(
            (left + 0.04, top + 0.04), width - 0.08, height - 0.08, facecolor=shade(), linewidth=0
        )
    )


def _texts(axes: Axes, left: float, top: float, each: Histogram, digits: int) -> None:
    x = left + SIDE
    name = shorten(each.name, LETTERS)
    axes.text(x, top + 0.16, name, fontsize=8, weight="bold", color=ink(), va="center")
    shape = f"{each.kind} {shape_text(each.shape)}"
    if each.zeros:
        shape += f", {share_text(each.zeros, each.size)} zeros"
    axes.text(x, top + 0.31, shape, fontsize=7, color=ink(), va="center")
    has_any = each.counts.any()
    told = "no values" if not each.size else ""
    if has_any:
        told = f"mean {number_text(each.mean, digits)}, std {number_text(each.std, digits)}"
    warning = each.warnings()
    axes.text(x, top + 0.45, told, fontsize=7, color=ink(), va="center")
    if warning:
        place = x + (WIDTH / COLUMNS - 2 * SIDE if has_any else 0.0)
        axes.text(place, top + (0.45 if not has_any else 0.58), f"! {warning}", fontsize=7.5,
                  weight="bold", color=ink(), va="center",
                  ha="right" if has_any else "left")  # fmt: skip


def colour_of(kind: str) -> str:
    """Return the hue of a kind: variables blue, gradients orange, others green."""
    return {"variable": OKABE_ITO[0], GRADIENT: OKABE_ITO[1]}.get(kind, OKABE_ITO[2])


def _bars(axes: Axes, each: Histogram, left: float, bottom: float) -> None:
    from matplotlib.patches import Polygon

    most = each.counts.max()
    if not most:
        return
    xs = left + np.linspace(0, _width(), len(each.counts) + 1)
    heights = bottom - each.counts / most * HIGH
    corners = [(xs[0], bottom)]
    for i, y in enumerate(heights):
        corners += [(xs[i], y), (xs[i + 1], y)]
    corners.append((xs[-1], bottom))
    colour = colour_of(each.kind)
    axes.add_artist(
        Polygon(
            corners,
            facecolor=tint(colour, 0.45),
            edgecolor=colour,
            hatch=HATCHES.get(each.kind),
            linewidth=1.0,
        )
    )
    x = left + _at(each.mean, each.edges[0], each.edges[-1])
    axes.plot([x, x], [bottom, bottom - HIGH - 0.03], color=ink(), linewidth=1.0, linestyle=":")


def _at(value: float, least: float, most: float) -> float:
    """Return where a value stands on a panel's scale, in inches; far numbers may overflow."""
    share = (value / 2 - least / 2) / (most / 2 - least / 2)
    return float(min(max(share, 0.0), 1.0) * _width())


def _width() -> float:
    return WIDTH / COLUMNS - 2 * SIDE


def _scale(
    axes: Axes, least: float, most: float, left: float, bottom: float, digits: int, has_any: bool
) -> None:
    x0, x1 = left + SIDE, left + SIDE + _width()
    axes.plot([x0, x1], [bottom, bottom], color=faint(), linewidth=0.8)
    if not has_any:
        return
    for x, value, side in ((x0, least, "left"), (x1, most, "right")):
        text = number_text(float(value), digits)
        axes.text(x, bottom + 0.1, text, fontsize=6.5, color=ink(), va="center", ha=side)
    if least < 0 < most and 0.25 < _at(0.0, least, most) / _width() < 0.75:
        x = x0 + _at(0.0, least, most)
        axes.plot([x, x], [bottom, bottom + 0.04], color=faint(), linewidth=0.8)
        axes.text(x, bottom + 0.1, "0", fontsize=6.5, color=ink(), va="center", ha="center")


def _ridges(
    axes: Axes, series: Sequence[tuple[int, Histogram]], left: float, top: float, digits: int
) -> None:
    from matplotlib.patches import Polygon

    known = [each for _, each in series if each.counts.any()]
    bottom = top + RIDGES - 0.3
    if not known:
        return
    least, most = min(each.least for each in known), max(each.most for each in known)
    if least == most:
        least, most = known[0].edges[0], known[0].edges[-1]
    edges = np.linspace(least, most, 61)
    counts = [each.rebinned(edges) for _, each in series]
    room = bottom - top - HEAD - 0.45
    step = room / max(len(series) - 1, 1)
    xs = left + SIDE + (np.arange(60) + 0.5) / 60 * (_width() - 0.3)
    colour = colour_of(series[0][1].kind)
    for i, ((number, each), c) in enumerate(zip(series, counts, strict=True)):
        y = bottom - room + i * step
        share = 0.15 + 0.6 * i / max(len(series) - 1, 1)
        heights = c / (c.max() or 1.0) * RIDGE  # each as high as the others: shapes are compared
        line = [(xs[0], y), *zip(xs, y - heights, strict=True), (xs[-1], y)]
        axes.add_artist(
            Polygon(line, facecolor=tint(colour, share), edgecolor=colour, linewidth=0.7,
                    linestyle="--" if each.kind == GRADIENT else "-", zorder=2 + 0.01 * i)
        )  # fmt: skip
        if i in (0, len(series) - 1) or len(series) <= 6:
            axes.text(xs[-1] + 0.05, y, f"{number:,}", fontsize=6.5, color=ink(), va="center")
    for x, value, side in ((xs[0], least, "left"), (xs[-1], most, "right")):
        text = number_text(float(value), digits)
        axes.text(x, bottom + 0.1, text, fontsize=6.5, color=ink(), va="center", ha=side)


def _legend(figure: Figure, shown: Sequence[Histogram], left_out: int, words: str = "mean") -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Patch(
            facecolor=tint(colour_of(kind), 0.45),
            edgecolor=colour_of(kind),
            hatch=HATCHES.get(kind),
            label=kind,
        )
        for kind in dict.fromkeys(each.kind for each in shown)
    ]
    handles.append(
        Line2D([], [], color=ink(), linestyle="" if words == FRONT else ":", label=words)
    )
    if left_out > 0:
        handles.append(Line2D([], [], linestyle="", label=f"{left_out} more are not drawn"))
    figure.legend(handles=handles, loc="lower center", ncols=5, fontsize=8, frameon=False,
                  labelcolor=ink())  # fmt: skip
