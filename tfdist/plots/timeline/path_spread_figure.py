"""The critical paths of many runs as a picture: a dot a run, in a row for each part of the path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfdist.plots.shared.palette import OKABE_ITO, new_figure
from tfdist.plots.shared.themes import faint, ink
from tfdist.plots.timeline.path_spread import part_text
from tfdist.tracing.steps.critical_path import CriticalPath
from tfdist.tracing.steps.path_spread import STEP, part_times
from tfdist.tracing.steps.spread import spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW = 0.34  # inches
REST = 0.75  # of a figure, above and below its rows
BAND = 0.36  # of a row: where the dots of a set are
MOST_WIDE = 5  # times the median of a step: what is farther to the right is drawn at the edge

Runs = Sequence[CriticalPath]


def spread_figure(sets: Sequence[tuple[str, Runs]]) -> Figure:
    """Return a matplotlib `Figure` of how long each part of the critical path was in each run.

    Args:
      sets: a name and the paths of its runs, for one set or for two.
    """
    numbers = [part_times(paths) for _, paths in sets]
    parts = [part for part in numbers[0] if any(any(each[part]) for each in numbers)]
    figure, axes = new_figure(height=REST + ROW * len(sets) * len(parts))
    edge = max(MOST_WIDE * spread(each[STEP]).median for each in numbers) / 1e3
    for i, part in enumerate(parts):
        if i % 2 == 0:
            axes.axhspan(i - 0.5, i + 0.5, color=faint(), alpha=0.1, linewidth=0)
        for k, each in enumerate(numbers):
            middle = i + (k - (len(sets) - 1) / 2) * 0.42
            _draw_runs(axes, middle, [min(us / 1e3, edge) for us in each[part]], OKABE_ITO[k])
    axes.set_yticks(range(len(parts)), [part_text(part) for part in parts], color=ink())
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(parts) - 0.5, -0.5)
    axes.set_xlim(left=0)
    cut = any(us / 1e3 > edge for each in numbers for us in each[STEP])
    told = "; what took longer is drawn at the right edge" if cut else ""
    axes.set_xlabel(f"ms; a dot is a run, a line the median{told}", fontsize=8, color=ink())
    if len(sets) > 1:
        _draw_legend(figure, [name for name, _ in sets])
    return figure


def _draw_runs(axes: Axes, middle: float, milliseconds: Sequence[float], colour: str) -> None:
    """Draw a dot for each run, in order from top to bottom, and the median."""
    count = len(milliseconds)
    heights = [middle + BAND * (i / max(count - 1, 1) - 0.5) for i in range(count)]
    axes.scatter(milliseconds, heights, s=14, color=colour, alpha=0.8, linewidths=0, zorder=3)
    at = spread(milliseconds).median
    ends = [middle - BAND / 2 - 0.03, middle + BAND / 2 + 0.03]
    axes.plot([at, at], ends, color=ink(), linewidth=1.6, zorder=4)


def _draw_legend(figure: Figure, names: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], marker="o", linestyle="", color=OKABE_ITO[k], label=name)
        for k, name in enumerate(names)
    ]
    figure.legend(
        handles=marks, loc="outside upper left", ncols=len(names), fontsize=8, frameon=False,
        labelcolor=ink(),
    )  # fmt: skip
