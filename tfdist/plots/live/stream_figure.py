"""The picture of a task stream: a lane for each task over the time of the watch, and its process.

A lane is filled from below by what its task did in each interval: computing is solid, moving and
waiting are hatched, idle is empty. Processors and memory stand on the right, at the first of the
tasks that a process has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from tfdist.plots.live.stream import TaskStream
from tfdist.plots.shared.device_colours import device_colours
from tfdist.plots.shared.palette import HATCHES, new_figure, tint
from tfdist.plots.shared.short_names import shorten
from tfdist.plots.shared.tables import bytes_text
from tfdist.plots.shared.themes import faint, ink, panel, shade
from tfdist.plots.timeline.figure import time_scale
from tfdist.tracing.census_history import Point
from tfdist.tracing.device_names import plain_task, short_name
from tfdist.tracing.intervals import (
    COMPUTING,
    MOVING,
    STATES,
    WAITING,
    Interval,
    intervals,
)
from tfdist.tracing.zoom import refined

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 9.0  # inches, as all sizes
HEAD, AXIS, LEGEND = 0.34, 0.32, 0.3
ROW, LOW_ROW = 0.56, 0.36  # heights of a task's row; of many tasks
FEW = 8  # tasks
LANES = (1.25, 6.05)  # where the columns begin and end
PROCESSORS, MEMORY = (6.25, 7.45), (7.65, 8.85)
MOST_ROWS = 40
STATE_HATCHES = {COMPUTING: "", MOVING: HATCHES["transfer"], WAITING: HATCHES["queue"]}
SILENT = "\\\\\\"  # hatch where a task did not tell
_AROUND = 60.0  # seconds before and after what is shown, in which an interval of it may begin
Shown = tuple[float, float]  # seconds since the watch began, from and to
Side = Literal["left", "center", "right"]
_STRENGTHS = {COMPUTING: 1.0, MOVING: 0.45, WAITING: 0.2}  # of the hue on the ground
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600)  # seconds between two marks


def stream_figure(stream: TaskStream, begin: float = 0.0, end: float | None = None) -> Figure:
    """Return a matplotlib `Figure` of a task stream, or of some seconds of it.

    Args:
      stream: what was seen; where steps were traced a mark stands, and what their nodes did.
      begin: seconds since the watch began.
      end: the same; by default its end.
    """
    names = stream.tasks[:MOST_ROWS]
    row = ROW if len(names) <= FEW else LOW_ROW
    height = HEAD + max(len(names), 1) * row + AXIS + LEGEND
    figure, axes = new_figure(height, WIDTH)
    figure.set_layout_engine("none")
    axes.set_position((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(height, 0)
    until = stream.history.seconds if end is None else end
    shown = begin, max(until, begin + 1e-6)
    _draw_titles(axes)
    colours = device_colours([plain_task(name) for name in names])
    for i, (name, colour) in enumerate(zip(names, colours.values(), strict=True)):
        place = HEAD + i * row, row
        _draw_ground(axes, name, place, colour, i % 2 == 0)
        _draw_lane(axes, _found(stream, name, shown), place, colour, shown)
        _draw_silences(axes, stream.silences(name), place, shown)
        _draw_process(axes, stream, name, place, colour)
    _draw_axis(axes, HEAD + max(len(names), 1) * row, shown)
    marked = [each for each in stream.traced if each.end > shown[0] and each.begin < shown[1]]
    for each in marked:
        x = _across((each.begin + each.end) / 2, shown)
        axes.plot([x], [HEAD - 0.05], marker="v", markersize=5, color=ink(), zorder=6)
    is_silent = any(map(stream.silences, names))
    _draw_legend(axes, height - LEGEND / 2, bool(marked), is_silent)
    return figure


def _found(stream: TaskStream, name: str, shown: Shown) -> list[Interval]:
    """Return what a task did in the seconds that are shown."""
    found = intervals(stream.history, name, begin=shown[0] - _AROUND, end=shown[1] + _AROUND)
    return [
        each._replace(begin=max(each.begin, shown[0]), end=min(each.end, shown[1]))
        for each in refined(found, name, stream.traced)
        if each.end > shown[0] and each.begin < shown[1]
    ]


def time_marks(span: float, most: int = 8) -> list[float]:
    """Return the seconds that are marked on an axis of so many, from 0 on."""
    sizes = (part * 10.0**power for power in range(-7, 0) for part in (1, 2, 5))
    step = next((each for each in (*sizes, *_STEPS) if span / each <= most), span / most)
    return [i * step for i in range(int(span / step + 1e-9) + 1)]


def mark_text(seconds: float, span: float) -> str:
    """Return a moment of a watch as text: "40 s", "2:05" where it takes minutes."""
    if span < 120:
        size, unit = time_scale(1e6 * span)
        return f"{1e6 * seconds / size:.4g} {unit}"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"


def stairs(found: Sequence[Interval], state: str) -> tuple[list[float], list[float], list[float]]:
    """Return the edge of one state in a lane: seconds, and the share below and up to it.

    Where a task did not tell there is nothing.
    """
    place = STATES.index(state)
    across: list[float] = []
    below: list[float] = []
    above: list[float] = []
    for each in found:
        low = sum(each.shares[:place])
        high = low + each.shares[place]
        if across and across[-1] < each.begin:
            across += [across[-1], each.begin]
            below += [0.0, 0.0]
            above += [0.0, 0.0]
        across += [each.begin, each.end]
        below += [low, low]
        above += [high, high]
    return across, below, above


def _write(
    axes: Axes, x: float, y: float, text: str, size: float, colour: str = "", side: Side = "left"
) -> None:
    shown = axes.text(x, y, text, fontsize=size, color=colour or ink(), va="center", zorder=6)
    shown.set_horizontalalignment(side)


def _draw_titles(axes: Axes) -> None:
    titles = (
        (LANES[0], "what each task did"),
        (PROCESSORS[0], "processors"),
        (MEMORY[0], "memory"),
    )
    for x, text in titles:
        _write(axes, x, HEAD / 2, text, 8, faint())


def _draw_ground(
    axes: Axes, name: str, place: tuple[float, float], colour: str, band: bool
) -> None:
    from matplotlib.patches import Rectangle

    top, row = place
    if band:
        axes.add_patch(Rectangle((0, top), WIDTH, row, facecolor=shade(), edgecolor="none"))
    axes.add_patch(Rectangle((0.1, top + row / 2 - 0.065), 0.13, 0.13, facecolor=colour))
    _write(axes, 0.3, top + row / 2, shorten(short_name(name), 14), 8)


def _draw_process(
    axes: Axes, stream: TaskStream, name: str, place: tuple[float, float], colour: str
) -> None:
    """Draw processors and memory over the whole watch, at the first task of a process."""
    inside = place[0] + 0.05, place[1] - 0.1
    busy, nbytes = stream.process_texts(name)
    seconds = stream.history.seconds
    _draw_curve(axes, stream.processors(name), PROCESSORS, inside, colour, busy, seconds)
    held = stream.history.process_bytes(name)
    text = bytes_text(round(held[-1][1])) if held else nbytes
    _draw_curve(axes, held, MEMORY, inside, colour, text, seconds)


def _across(seconds: float, shown: Shown) -> float:
    """Return where a moment stands in a lane."""
    left, right = LANES
    return left + (right - left) * (seconds - shown[0]) / (shown[1] - shown[0])


def _draw_lane(
    axes: Axes, found: Sequence[Interval], place: tuple[float, float], colour: str, shown: Shown
) -> None:
    height = place[1] - 0.1
    base = place[0] + 0.05 + height
    axes.plot(LANES, [base, base], color=faint(), linewidth=0.6, zorder=2)
    for state, hatch in STATE_HATCHES.items():
        across, below, above = stairs(found, state)
        if any(high > low for low, high in zip(below, above, strict=True)):
            axes.fill_between(
                [_across(each, shown) for each in across],
                [base - height * each for each in below],
                [base - height * each for each in above],
                facecolor=tint(colour, _STRENGTHS[state]),
                edgecolor=panel() if state == COMPUTING else colour,
                hatch=hatch, linewidth=0, zorder=3,
            )  # fmt: skip


def _draw_silences(
    axes: Axes, found: Sequence[Shown], place: tuple[float, float], shown: Shown
) -> None:
    """Hatch the lane where its task did not tell."""
    from matplotlib.patches import Rectangle

    for begin, end in found:
        left, right = (_across(min(max(x, shown[0]), shown[1]), shown) for x in (begin, end))
        if right > left:
            corner, height = (left, place[0] + 0.05), place[1] - 0.1
            box = Rectangle(corner, right - left, height, hatch=SILENT, linewidth=0, fill=False)
            box.set_edgecolor(tint(faint(), 0.5))
            axes.add_patch(box)


def _draw_curve(
    axes: Axes,
    points: Sequence[Point],
    column: tuple[float, float],
    inside: tuple[float, float],
    colour: str,
    text: str,
    span: float,
) -> None:
    """Draw how something of a process went, from nothing to its own most; the last value beside."""
    top, height = inside
    left, right = column[0], column[1] - 0.52
    base = top + height
    if len(points) > 1:
        most = max(value for _, value in points) or 1.0
        across = [left + (right - left) * when / (span or 1.0) for when, _ in points]
        heights = [base - 0.92 * height * value / most for _, value in points]
        axes.fill_between(across, heights, base, color=tint(colour), linewidth=0, zorder=3)
        axes.plot(across, heights, color=colour, linewidth=1.1, zorder=4)
    if text:
        _write(axes, right + 0.06, top + height / 2, text, 7, "" if points else faint())


def _draw_axis(axes: Axes, y: float, shown: Shown) -> None:
    span = shown[1] - shown[0]
    if shown[0]:  # times are told from here on
        _write(axes, LANES[0] - 0.12, y + 0.15, f"{shown[0]:.2f} s +", 7, faint(), "right")
    for each in time_marks(span):
        x = _across(shown[0] + each, shown)
        axes.plot([x, x], [y, y + 0.05], color=faint(), linewidth=0.8)
        _write(axes, x, y + 0.15, mark_text(each, span), 7, faint(), "center")


def _draw_legend(axes: Axes, y: float, is_traced: bool, is_silent: bool) -> None:
    from matplotlib.patches import Rectangle

    x = LANES[0]
    looks = [(state, hatch, _STRENGTHS[state]) for state, hatch in STATE_HATCHES.items()]
    for text, hatch, strength in [*looks, *[("did not tell", SILENT, 0.0)] * is_silent]:
        box = Rectangle((x, y - 0.07), 0.26, 0.14, hatch=hatch, linewidth=0.5, edgecolor=ink())
        box.set_facecolor(tint(faint(), strength))
        axes.add_patch(box)
        _write(axes, x + 0.33, y, text, 8)
        x += 1.15
    _write(axes, x, y, "empty: idle" + "; ▾ a traced step" * is_traced, 8)
