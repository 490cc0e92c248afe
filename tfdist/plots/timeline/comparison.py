"""Two steps one above the other on one time axis, and the table of what differs most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfdist.plots.shared.device_colours import device_colours
from tfdist.plots.shared.palette import WIDTH
from tfdist.plots.shared.tables import Table, duration_text
from tfdist.plots.shared.themes import ink, panel
from tfdist.plots.text import timeline_text
from tfdist.plots.timeline.figure import draw_timeline, draw_timeline_legend, lanes_height
from tfdist.plots.timeline.layout import Bar, TimelineLayout, layout_timeline
from tfdist.tracing.device_names import short_device
from tfdist.tracing.steps.aggregates import NodeSum
from tfdist.tracing.steps.comparison import Comparison, Pair, compare
from tfdist.tracing.steps.node_row import NodeRow, devices

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 12
NUMBERED = 6  # of the greatest changes, those that have their number in the pictures
TITLE = 0.35  # inches
BELOW = 0.75  # inches for time axis and legend


def comparison_figure(
    a: Sequence[NodeRow], b: Sequence[NodeRow], names: tuple[str, str] = ("A", "B")
) -> Figure:
    """Return a matplotlib `Figure` of two steps.

    Args:
      a: rows of the first.
      b: rows of the second.
      names: of both.
    """
    from matplotlib.figure import Figure

    found = compare(a, b, names)
    span = max(found.spans_us)
    layouts = [layout_timeline(each, span) for each in (a, b)]
    lanes = [max(layout.lanes, 1) for layout in layouts]
    height = 2 * TITLE + BELOW + lanes_height(sum(lanes))
    figure = Figure(figsize=(WIDTH, height), facecolor=panel(), layout="constrained")
    all_axes = figure.subplots(2, 1, height_ratios=lanes)
    colours = device_colours(devices([*a, *b]))
    for axes, layout, name, took in zip(all_axes, layouts, names, found.spans_us, strict=True):
        _prepare(axes, f"{name}: {duration_text(took)}")
        draw_timeline(axes, layout, colours)
        _draw_numbers(axes, layout, found.pairs[:NUMBERED])
    all_axes[0].set_xlabel("")
    draw_timeline_legend(figure, layouts)
    return figure


def comparison_table(found: Comparison, most: int = MOST_ROWS, times: bool = True) -> Table:
    """Return what differs most, one row per node or transfer.

    Args:
      found: the comparison.
      most: rows to show; the note says how many were left out.
      times: whether to tell times; without, only what came, went or moved has rows.
    """
    pairs = [pair for pair in found.pairs if times or not (pair.a and pair.b) or pair.has_moved]
    first, second = found.names
    header = ("#", "node", "device", *((first, second, "change", "%") if times else ()), "")
    cells = [_cells(number, pair, times) for number, pair in enumerate(pairs[:most], 1)]
    left_out = len(pairs) - len(cells)
    note = f"{left_out} more nodes and transfers, which differ less" if left_out else ""
    numeric = {0, *range(3, 7)} if times else {0}
    return Table(header, tuple(cells), frozenset(numeric), note)


def comparison_text(a: Sequence[NodeRow], b: Sequence[NodeRow], names: tuple[str, str]) -> str:
    """Return both steps as lines of text."""
    drawn = zip(names, (a, b), strict=True)
    return "\n".join(f"{name}: {timeline_text(each)}" for name, each in drawn)


def _prepare(axes: Axes, title: str) -> None:
    axes.set_facecolor(panel())
    for side in ("top", "left", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(colors=ink(), labelsize=8)
    axes.set_title(title, loc="left", fontsize=9.5, weight="bold", color=ink(), pad=4)


def _draw_numbers(axes: Axes, layout: TimelineLayout, pairs: Sequence[Pair]) -> None:
    """Draw at bars the number of the table's row that is about them."""
    for number, pair in enumerate(pairs, 1):
        for bar in layout.bars:
            if any(_is_of(bar, each) for each in (pair.a, pair.b)):
                axes.text(
                    bar.start, bar.lane - 0.26, str(number), fontsize=6.5, weight="bold",
                    color=panel(), ha="center", va="center", zorder=8,
                    bbox={"boxstyle": "circle,pad=0.18", "facecolor": ink(), "edgecolor": panel()},
                )  # fmt: skip
                break  # the first run of a node in a loop stands for all


def _is_of(bar: Bar, each: NodeSum | None) -> bool:
    return each is not None and bar.row is each.row


def _cells(number: int, pair: Pair, times: bool) -> tuple[str, ...]:
    name = f"{pair.row.name} (received)" if pair.is_transfer else pair.row.name
    told: tuple[str, ...] = (str(number), name, _device(pair))
    if times:
        took = [duration_text(each.total_us) if each else "" for each in (pair.a, pair.b)]
        sign = "-" if pair.change_us < 0 else "+"
        percent = f"{pair.ratio - 1:+.0%}" if pair.ratio is not None else ""
        told = (*told, *took, f"{sign}{duration_text(abs(pair.change_us))}", percent)
    return (*told, _event(pair))


def _device(pair: Pair) -> str:
    if pair.has_moved and pair.a and pair.b:
        return f"{short_device(pair.a.row.device)} → {short_device(pair.b.row.device)}"
    return short_device(pair.row.device)


def _event(pair: Pair) -> str:
    if pair.a is None:
        return "new"
    if pair.b is None:
        return "gone"
    return "moved" if pair.has_moved else ""
