"""The calls of a step as a sequence diagram: a lifeline for each who takes part, arrows between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tfdist.plots.shared.device_colours import device_colours
from tfdist.plots.shared.palette import WIDTH, new_figure, tint
from tfdist.plots.shared.tables import duration_text
from tfdist.plots.shared.themes import faint, ink, panel, shade
from tfdist.plots.timeline.rpc_layout import (
    MOST_DRAWN,
    Activity,
    Line,
    RpcsLayout,
    layout_rpcs,
)
from tfdist.tracing.calls import CLIENT, MASTER, RpcCall
from tfdist.tracing.device_names import short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINE = 0.235  # inches
CHARACTER = 0.075  # inches of a label
COLUMN = 1.05  # inches between lifelines, at least
HEAD = 0.68  # inches: names and legend
WIDE = 0.09  # of an activity, as a share of the room between lifelines
CALL: dict[str, Any] = {"linestyle": "-"}
ANSWER: dict[str, Any] = {"linestyle": (0, (4, 2))}
ALIGNED: dict[int, Any] = {1: "left", -1: "right"}  # by whether an arrow points to the right
ARROWS = {False: "-|>", True: "->"}  # by whether it is an answer

DERIVED = (
    "times of calls marked ~ are derived from the statistics: a task's part from its beginning to "
    "the end of its last node"
)
DIRECT = (
    "Servers of one process call each other directly, and tfdist's processes of one host keep a "
    "way for tensors open: these are the calls of the protocol that this stands for."
)


def rpcs_figure(calls: Sequence[RpcCall]) -> Figure:
    """Return a matplotlib `Figure` of a step's calls.

    Args:
      calls: of one step, from `tfdist.tracing.calls.calls_of`.
    """
    layout = layout_rpcs(calls, most_lines=MOST_DRAWN)
    count = layout.down(len(layout.lines))
    width = max(WIDTH, COLUMN * (len(layout.names) + 1))
    figure, axes = new_figure(HEAD + LINE * (count + 2), width)
    axes.set_axis_off()
    axes.set_xlim(-0.62, max(len(layout.names) - 1, 1) + 0.42)
    axes.set_ylim(count + 0.2, -2.15)
    colours = device_colours([name for name in layout.names if name not in (CLIENT, MASTER)])
    for number, name in enumerate(layout.names):
        title = layout.titles[number].replace(", ", "\n") or short_name(name)
        _draw_lifeline(axes, number, title, count, colours.get(name, faint()))
    for activity in layout.activities:
        name = layout.names[activity.lifeline]
        at = layout.down(activity.first), layout.down(activity.last)
        _draw_activity(axes, activity, at, colours.get(name, faint()))
    for number, line in enumerate(layout.lines):
        _draw_line(axes, layout.down(number), line, room=width / (len(layout.names) + 1))
    if layout.left_out:
        _draw_gap(axes, layout)
    _draw_legend(figure, layout)
    return figure


def rpcs_sentence(calls: Sequence[RpcCall]) -> str:
    """Return one sentence on a step's calls, the same in every run of the step."""
    if not calls:
        return "Calls of a step: none are known."
    counts = Counter(call.method for call in calls)
    told = ", ".join(f"{count} {method}" for method, count in sorted(counts.items()))
    return f"Calls of a step: {told}."


def rpcs_text(calls: Sequence[RpcCall]) -> str:
    """Return the diagram as numbered lines."""
    layout = layout_rpcs(calls)
    cells = [_cells(line, layout.names) for line in layout.lines]
    widths = [max((len(row[i]) for row in cells), default=0) for i in range(4)]
    lines = [
        f"{number:3}  {when.rjust(widths[0])}  {source.rjust(widths[1])} {arrow} "
        f"{target.ljust(widths[3])}  {label}".rstrip()
        for number, (when, source, arrow, target, label) in enumerate(cells, 1)
    ]
    alike = [
        f"{name} stands for {title}."
        for name, title in zip(layout.names, layout.titles, strict=True)
        if title
    ]
    return "\n".join([*lines, *alike, *rpcs_notes(calls, layout.left_out)])


def rpcs_notes(calls: Iterable[RpcCall], left_out: int = 0) -> list[str]:
    """Return what has to be known of the diagram: what is derived, what is not there."""
    notes = [f"{left_out} more arrows are not drawn."] if left_out else []
    notes += [f"The {DERIVED}."] if any(call.is_derived for call in calls) else []
    return [*notes, DIRECT]


def when_text(time_us: float) -> str:
    """Return a time since the step's beginning."""
    return f"{'-' if time_us < 0 else '+'}{duration_text(abs(time_us))}"


def _cells(line: Line, names: Sequence[str]) -> tuple[str, str, str, str, str]:
    left, right = sorted((line.start, line.end))
    arrow = "->" if line.start <= line.end else "<-"
    is_answer = f"{line.call.method} answered: {line.label}".rstrip(": ")
    label = is_answer if line.is_answer else line.label
    return _when(line), names[left], arrow, names[right], label


def _when(line: Line) -> str:
    return ("~" if line.call.is_derived else "") + when_text(line.time_us)


def _draw_lifeline(axes: Axes, number: int, title: str, count: int, colour: str) -> None:
    axes.plot([number, number], [-1.0, count], color=faint(), linewidth=0.8, zorder=1)
    box = {"boxstyle": "round,pad=0.35", "facecolor": panel(), "edgecolor": colour}
    axes.text(
        number, -1.4, title, ha="center", va="center", fontsize=9, color=ink(), zorder=6,
        bbox=box | {"linewidth": 1.6},
    )  # fmt: skip


def _draw_gap(axes: Axes, layout: RpcsLayout) -> None:
    """Say what is left out, where it is."""
    axes.axhspan(layout.gap - 0.45, layout.gap + 0.45, color=shade(), zorder=3)
    axes.text(
        (len(layout.names) - 1) / 2, layout.gap,
        f"{layout.left_out} more arrows are not drawn: they are in the text",
        ha="center", va="center", fontsize=8, color=ink(), zorder=6,
    )  # fmt: skip


def _draw_activity(axes: Axes, activity: Activity, lines: tuple[int, int], colour: str) -> None:
    from matplotlib.patches import Rectangle

    left = activity.lifeline - WIDE / 2 + 0.6 * WIDE * activity.depth
    corner, height = (left, lines[0]), lines[1] - lines[0]
    axes.add_patch(
        Rectangle(
            corner, WIDE, height, facecolor=tint(colour), edgecolor=colour, linewidth=0.9,
            zorder=2 + 0.01 * activity.depth,
        )
    )  # fmt: skip


def _draw_line(axes: Axes, number: int, line: Line, room: float) -> None:
    """Draw an arrow; `room` is that between two lifelines, in inches."""
    from matplotlib.patheffects import withStroke

    colour = faint() if line.call.is_derived else ink()
    style = ANSWER if line.is_answer else CALL
    axes.annotate(
        "",
        xy=(line.end, number),
        xytext=(line.start, number),
        arrowprops={
            "arrowstyle": ARROWS[line.is_answer], "color": colour, "linewidth": 1.0,
            "shrinkA": 4, "shrinkB": 4, **style,
        },
        zorder=4,
    )  # fmt: skip
    forward = 1 if line.end > line.start else -1
    fits = len(line.label) * CHARACTER < room  # else it begins at its lifeline, as the arrow does
    text = axes.text(
        line.start + forward * (0.5 if fits else 0.08), number - 0.1, line.label,
        ha="center" if fits else ALIGNED[forward],
        va="bottom", fontsize=7.5, color=ink(), zorder=5,
    )  # fmt: skip
    text.set_path_effects([withStroke(linewidth=2.4, foreground=panel())])
    axes.text(-0.6, number, _when(line), ha="left", va="center", fontsize=7.5, color=faint())


def _draw_legend(figure: Figure, layout: RpcsLayout) -> None:
    from matplotlib.lines import Line2D

    keys = [
        Line2D([], [], color=ink(), linewidth=1.0, marker=">", markersize=5, label="call", **CALL),
        Line2D([], [], color=ink(), linewidth=1.0, label="answer: bytes, time", **ANSWER),
    ]
    if any(line.call.is_derived for line in layout.lines):
        keys.append(Line2D([], [], color=faint(), linewidth=1.0, label="~ derived", **CALL))
    figure.legend(
        handles=keys, loc="outside lower center", ncols=3, fontsize=8, frameon=False,
        labelcolor=ink(),
    )  # fmt: skip
