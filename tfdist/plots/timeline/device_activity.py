"""What each device did in many runs of a step: stacked bars with their spread, a strip of times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfdist.plots.shared.device_colours import device_colours
from tfdist.plots.shared.palette import HATCHES, WIDTH, tint
from tfdist.plots.shared.tables import Table, duration_text
from tfdist.plots.shared.themes import faint, ink, panel, shade
from tfdist.plots.timeline.figure import time_scale
from tfdist.tracing.device_names import short_device
from tfdist.tracing.steps.node_row import NodeRow
from tfdist.tracing.steps.spread import (
    BUSY,
    IDLE,
    READY,
    RECEIVING,
    STATES,
    WAITING,
    DeviceSpread,
    device_spreads,
    spread,
    step_us,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BAR = 0.42  # inches
STRIP = 1.15  # inches
REST = 1.25  # inches: axes' names and the legend
DRAWN = STATES[:-1]  # all but idle
MARKS = {BUSY: "#", READY: "o", RECEIVING: "/", WAITING: ".", IDLE: " "}
LEVELS = "▁▂▃▄▅▆▇█"
STATE_HATCHES = {
    BUSY: "", READY: "xx", RECEIVING: HATCHES["transfer"], WAITING: HATCHES["queue"], IDLE: "",
}  # fmt: skip
HEADER = tuple(f"{state}{what}" for state in DRAWN for what in (", median", " 10-90 %"))


def devices_figure(steps: Sequence[Sequence[NodeRow]]) -> Figure:
    """Return a matplotlib `Figure` of many runs of a step.

    Args:
      steps: rows of each run.
    """
    from matplotlib.figure import Figure

    spreads = device_spreads(steps)
    height = BAR * len(spreads) + STRIP + REST
    figure = Figure(figsize=(WIDTH, height), facecolor=panel(), layout="constrained")
    bars, strip = figure.subplots(2, 1, height_ratios=[BAR * len(spreads), STRIP])
    _draw_bars(bars, spreads)
    _draw_strip(strip, [step_us(step) for step in steps])
    _draw_legend(figure, spreads)
    return figure


def devices_sentence(steps: Sequence[Sequence[NodeRow]], times: bool = True) -> str:
    """Return one sentence on many runs: how many, how long, and which device computed most."""
    counted = f"{len(steps)} runs" if len(steps) > 1 else "1 run"
    spreads = device_spreads(steps)
    if not times or not spreads:
        return f"{counted} of a step on {len(spreads)} devices."
    took = spread([step_us(step) for step in steps])
    busiest = max(spreads, key=_computing)
    share = _computing(busiest) / took.median if took.median else 0.0
    return (
        f"{counted}; half of them took {duration_text(took.median)} or less "
        f"(10-90 %: {range_text(took.low, took.high)}); "
        f"{short_device(busiest.device)} computed most, {share:.0%} of the time."
    )


def devices_table(spreads: Sequence[DeviceSpread]) -> Table:
    """Return what each device did, in medians, and how far the runs were apart."""
    cells = []
    for each in spreads:
        told = [each.states[state] for state in DRAWN]
        texts = [(duration_text(s.median), range_text(s.low, s.high)) for s in told]
        cells.append((short_device(each.device), *(text for both in texts for text in both)))
    return Table(("device", *HEADER), tuple(cells), frozenset(range(1, 1 + len(HEADER))))


def devices_text(steps: Sequence[Sequence[NodeRow]], width: int = 60) -> str:
    """Return the medians as lines of text, then the time of each run as a line of marks."""
    spreads = device_spreads(steps)
    span = max((_whole(each) for each in spreads), default=0.0) or 1.0
    names = max((len(short_device(each.device)) for each in spreads), default=0)
    lines = []
    for each in spreads:
        marks = "".join(
            MARKS[state] * round(each.states[state].median / span * width) for state in STATES
        )
        lines.append(f"{short_device(each.device).ljust(names)} |{marks[:width].ljust(width)}|")
    legend = ", ".join(f"{mark} {state}" for state, mark in MARKS.items() if mark.strip())
    times = [step_us(step) for step in steps]
    strip = f"runs, the longest {duration_text(max(times))}: {_strip(times)}"
    return "\n".join([f"{duration_text(span)} from left to right; {legend}", *lines, strip])


def _strip(times: Sequence[float]) -> str:
    """Return a mark for each run, as high as it was long."""
    top = max(times) or 1.0
    return "".join(LEVELS[round(time / top * (len(LEVELS) - 1))] for time in times)


def range_text(low: float, high: float) -> str:
    """Return two durations as a range: "1.2 to 3.4 ms"."""
    first, second = duration_text(low), duration_text(high)
    number, _, unit = first.partition(" ")
    return f"{number} to {second}" if second.endswith(f" {unit}") else f"{first} to {second}"


def _draw_bars(axes: Axes, spreads: Sequence[DeviceSpread]) -> None:
    size, unit = time_scale(max((_whole(each) for each in spreads), default=0.0))
    colours = device_colours([each.device for each in spreads])
    for place, each in enumerate(spreads):
        left = 0.0
        for state in DRAWN:
            part = each.states[state]
            _draw_part(axes, place, left / size, part.median / size, state, colours[each.device])
            left += part.median
            if part.median > 0:
                reach = [(left - part.median + bound) / size for bound in (part.low, part.high)]
                _draw_reach(axes, place, reach, state)
    _prepare(axes)
    axes.set_yticks(range(len(spreads)), [short_device(each.device) for each in spreads])
    axes.set_ylim(len(spreads) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.set_xlabel(f"{unit} of a run, medians; lines: 10 to 90 % of the runs", **_small())


def _draw_part(axes: Axes, place: int, left: float, width: float, state: str, colour: str) -> None:
    axes.barh(
        place, width, 0.62, left, edgecolor=ink(), linewidth=0.6, hatch=STATE_HATCHES[state],
        facecolor=colour if state == BUSY else tint(colour), zorder=2,
    )  # fmt: skip


def _draw_reach(axes: Axes, place: int, reach: Sequence[float], state: str) -> None:
    """Draw how far the end of a part was apart in the runs, each state at a height of its own."""
    height = place + 0.24 - 0.16 * DRAWN.index(state)
    from matplotlib.patheffects import withStroke

    (line,) = axes.plot(
        reach, [height] * 2, color=ink(), linewidth=1.3, marker="|", markersize=6, zorder=5
    )
    line.set_path_effects([withStroke(linewidth=3.2, foreground=panel())])


def _draw_strip(axes: Axes, times: Sequence[float]) -> None:
    size, unit = time_scale(max(times, default=0.0))
    took = spread(times)
    axes.axhspan(took.low / size, took.high / size, color=shade(), zorder=0)
    axes.axhline(took.median / size, color=faint(), linewidth=1.0, linestyle=(0, (4, 2)), zorder=1)
    axes.plot(
        range(1, len(times) + 1),
        [t / size for t in times],
        ".",
        color=ink(),
        markersize=4,
        zorder=3,
    )
    _prepare(axes)
    axes.spines["left"].set_visible(True)
    axes.spines["left"].set_color(faint())
    axes.set_ylim(bottom=0)
    axes.set_ylabel(f"{unit} a run", **_small())
    axes.set_xlabel("run; dashed: median, shaded: 10 to 90 %", **_small())
    axes.locator_params(axis="x", integer=True)


def _prepare(axes: Axes) -> None:
    axes.set_facecolor(panel())
    for side in ("top", "left", "right"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(faint())
    axes.tick_params(colors=ink(), labelsize=8)


def _small() -> dict[str, Any]:
    return {"fontsize": 8, "color": ink()}


def _draw_legend(figure: Figure, spreads: Sequence[DeviceSpread]) -> None:
    from matplotlib.patches import Patch

    shown = [state for state in DRAWN if any(each.states[state].median for each in spreads)]
    keys = [
        Patch(
            facecolor=faint() if state == BUSY else tint(faint()), edgecolor=ink(), linewidth=0.6,
            hatch=STATE_HATCHES[state], label=state,
        )
        for state in shown
    ]  # fmt: skip
    if keys:
        figure.legend(
            handles=keys, loc="outside lower center", ncols=len(DRAWN), fontsize=8, frameon=False,
            labelcolor=ink(),
        )  # fmt: skip


def _computing(each: DeviceSpread) -> float:
    return each.states[BUSY].median


def _whole(each: DeviceSpread) -> float:
    return sum(part.median for part in each.states.values())
