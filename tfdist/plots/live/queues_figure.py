"""Pictures of queues: how full they are now, and how that went over a while."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfdist.plots.live.queues import holds_text, share, state_texts
from tfdist.plots.shared.device_colours import device_colours
from tfdist.plots.shared.palette import new_figure, tint
from tfdist.plots.shared.short_names import shorten
from tfdist.plots.shared.themes import faint, ink, panel, shade
from tfdist.tracing.census_history import CensusHistory
from tfdist.tracing.device_names import device_order, plain_task
from tfdist.tracing.waits import ResourceStatus

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_QUEUES = 12
ROW, FOOT, NAME, BAR = 0.44, 0.1, 3.0, 3.6  # inches: a row, below all, names, bars
CURVE_ROW, CURVE_FOOT = 1.0, 0.75
CLOSED = "////"
WAITS: dict[str, Any] = {
    "nodes that wait for room": (0, (4, 1.5)),
    "nodes that wait for elements": (0, (1, 1)),
}


def queues_figure(stocks: Sequence[ResourceStatus]) -> Figure:
    """Return a matplotlib `Figure`: a bar for each queue, full as far as the queue is."""
    shown = stocks[:MOST_QUEUES]
    height = max(len(shown), 1) * ROW + FOOT + ROW * (len(stocks) > len(shown))
    figure, axes = new_figure(height)
    width = float(figure.get_size_inches()[0])
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    colours = _colours(stocks)
    for row, stock in enumerate(shown):
        _draw_bar(axes, stock, (row + 0.5) * ROW + FOOT / 2, colours[stock.task])
    if len(stocks) > len(shown):
        left_out = f"{len(stocks) - len(shown)} more are in the table"
        axes.text(0.1, height - ROW / 2, left_out, fontsize=8, color=ink(), va="center")
    return figure


def _colours(stocks: Sequence[ResourceStatus]) -> dict[str, str]:
    return device_colours(sorted({stock.task for stock in stocks}, key=device_order))


def _draw_bar(axes: Axes, stock: ResourceStatus, y: float, colour: str) -> None:
    from matplotlib.patches import Rectangle

    title: dict[str, Any] = {"color": ink(), "va": "center"}
    axes.text(0.1, y - 0.09, shorten(stock.name, 34), fontsize=8.5, weight="bold", **title)
    about = f"{stock.kind} on {plain_task(stock.task)}"
    axes.text(0.1, y + 0.1, shorten(about, 48), fontsize=6.5, **title)
    corner = (NAME, y - 0.14)
    axes.add_patch(Rectangle(corner, BAR, 0.28, facecolor=shade(), edgecolor="none"))
    full = BAR * share(stock)
    axes.add_patch(Rectangle(corner, full, 0.28, facecolor=tint(colour), edgecolor="none"))
    style: dict[str, Any] = {"fill": False, "edgecolor": colour, "linewidth": 1.1}
    axes.add_patch(Rectangle(corner, BAR, 0.28, hatch=CLOSED if stock.closed else None, **style))
    axes.text(NAME + BAR + 0.12, y, _state(stock), fontsize=7.5, **title)


def _state(stock: ResourceStatus) -> str:
    return ", ".join([holds_text(stock), *state_texts(stock)])


def fills_figure(history: CensusHistory, stocks: Sequence[ResourceStatus]) -> Figure:
    """Return a matplotlib `Figure`: how the fill of queues went while they were watched.

    Args:
      history: of the watch.
      stocks: the queues that are drawn, `MOST_QUEUES` of them at most.
    """
    shown = stocks[:MOST_QUEUES]
    if not shown or len(history.samples) < 2:
        return queues_figure(shown)
    height = len(shown) * CURVE_ROW + CURVE_FOOT
    figure, first = new_figure(height)
    first.remove()
    figure.set_layout_engine("none")  # which would take seconds for many queues
    margins = _margins(height, float(figure.get_size_inches()[0]))
    grid = figure.subplots(len(shown), 1, sharex=True, squeeze=False, gridspec_kw=margins)
    colours = _colours(stocks)
    for axes, stock in zip(grid[:, 0], shown, strict=True):
        _draw_fills(axes, history, stock, colours[stock.task])
    last = grid[-1, 0]
    last.set_xlabel("seconds", fontsize=8, color=ink())
    last.set_xlim(0, max(history.seconds, 1e-3))
    _draw_legend(figure, shown)
    return figure


def _margins(height: float, width: float) -> dict[str, float]:
    """Return where the panels are, as parts of the whole, and the gap between two of them."""
    sides = {"left": 0.5 / width, "right": 1 - 0.15 / width}
    return {**sides, "bottom": CURVE_FOOT / height, "top": 1 - 0.25 / height, "hspace": 0.42}


def _draw_fills(axes: Axes, history: CensusHistory, stock: ResourceStatus, colour: str) -> None:
    seen = history.fills(stock.key)
    when = [*(seconds for seconds, _ in seen), history.seconds]
    states = [*(each for _, each in seen), seen[-1][1]]
    fills = [each.fill for each in states]
    _dress(axes)
    axes.fill_between(when, fills, step="post", color=tint(colour), linewidth=0)
    axes.step(when, fills, where="post", color=colour, linewidth=1.4)
    most = max([*fills, stock.capacity, 1])
    if stock.capacity >= 0:
        axes.axhline(stock.capacity, color=faint(), linewidth=1.0, linestyle=(0, (6, 2)))
    lines = ([each.producers for each in states], [each.consumers for each in states])
    for counts, dash in zip(lines, WAITS.values(), strict=True):
        if any(counts):
            most = max(most, *counts)
            axes.step(when, counts, where="post", color=ink(), linewidth=1.3, linestyle=dash)
    closed = [seconds for seconds, each in seen if each.closed]
    if closed:
        span = axes.axvspan(closed[0], history.seconds, facecolor="none", edgecolor=faint())
        span.set(hatch=CLOSED, linewidth=0, alpha=0.5)
    axes.set_ylim(0, most * 1.12)
    place = f"{stock.kind} on {plain_task(stock.task)}"
    title = f"{shorten(stock.name, 40)}  ({place}): {_state(stock)}"
    axes.set_title(title, fontsize=8, color=ink(), loc="left", pad=3)


def _dress(axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_facecolor(panel())
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(faint())
    axes.tick_params(colors=ink(), labelsize=7)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=4))


def _draw_legend(figure: Figure, stocks: Sequence[ResourceStatus]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    ground = faint()
    keys: dict[str, Any] = {
        "elements": Patch(facecolor=tint(ground), edgecolor=ground, linewidth=1.4),
        "capacity": Line2D([], [], color=ground, linewidth=1.0, linestyle=(0, (6, 2))),
        "closed": Patch(facecolor="none", edgecolor=ground, hatch=CLOSED, linewidth=0),
    }
    for name, dash in WAITS.items():
        keys[name] = Line2D([], [], color=ink(), linewidth=1.3, linestyle=dash)
    figure.legend(
        list(keys.values()),
        list(keys),
        loc="lower center",
        ncols=len(keys),
        fontsize=7.5,
        frameon=False,
        labelcolor=ink(),
    )
