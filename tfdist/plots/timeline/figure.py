"""The picture of a step: lanes by device, bars by time, arrows where tensors crossed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tfdist.plots.shared.device_colours import device_colours
from tfdist.plots.shared.palette import HATCHES, ink_on, new_figure, tint
from tfdist.plots.shared.tables import duration_text
from tfdist.plots.shared.themes import faint, ink, panel, shade
from tfdist.plots.shared.time_axis_breaks import Cut
from tfdist.plots.text import step_notes
from tfdist.plots.timeline.layout import Arrow, Band, Bar, RoundBar, TimelineLayout, layout_timeline
from tfdist.tracing.device_names import short_device
from tfdist.tracing.steps.node_row import NodeRow, devices

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.path import Path

LANE = 0.25  # inches, where there are few
TALLEST = 5.6  # inches of all lanes together: with legend and notes no higher than a screen
NOTE = 0.14  # inches: a line below the time axis
DISTURBED: dict[str, Any] = {"linewidth": 1.6, "linestyle": (0, (2, 1)), "fill": False}
HELD: dict[str, Any] = {"linewidth": 0.6}
NAME = 8.0  # points: the largest letters of a bar's name
CROWD = 40  # arrows; more are drawn the fainter, for what they cross to be seen
SLIVER = 0.006  # of a step: what is narrower has no border
LEAST_HELD = 0.01  # of a step: what is seen of a tensor that has come and is not taken
WAITING: dict[str, Any] = {"linewidth": 1.3, "linestyle": (0, (1, 1.5)), "zorder": 2}
KIND_NAMES = {
    "compute": "computing",
    "queue": "at a queue (may wait)",
    "transfer": "receiving a tensor",
}


def timeline_figure(rows: Sequence[NodeRow]) -> Figure:
    """Return a matplotlib `Figure` of a step.

    Args:
      rows: of one step, from `tfdist.tracing.steps.rows.rows`.
    """
    layout = layout_timeline(rows)
    notes = [*layout.still_notes, *step_notes(rows)]
    figure, axes = new_figure(0.95 + lanes_height(layout.lanes) + NOTE * len(notes))
    draw_timeline(axes, layout, device_colours(devices(rows)), notes)
    draw_timeline_legend(figure, [layout])
    return figure


def lanes_height(count: int) -> float:
    """Return the inches that lanes take, all together: no more than a screen has."""
    return min(LANE * max(count, 1), TALLEST)


def draw_timeline(
    axes: Axes, layout: TimelineLayout, colours: Mapping[str, str], notes: Sequence[str] = ()
) -> None:
    """Draw the bars and arrows of a step.

    Args:
      axes: a bare panel.
      layout: of the step.
      colours: hue of each device.
      notes: lines below the time axis.
    """
    axes.set_xlim(-0.01 * layout.span_us, 1.01 * layout.span_us)
    axes.set_ylim(max(layout.lanes, 1) - 0.5, -0.5)
    for number, band in enumerate(layout.bands):
        size = _letters(layout, band.count, 9.0)
        _draw_band(axes, band, colours[band.device], number % 2 == 0, size)
    for cut in layout.cuts:
        _draw_cut(axes, cut, layout)
    for round_bar in layout.rounds:
        _draw_round(axes, round_bar)
    _draw_bars(axes, layout, colours)
    _write_names(axes, layout, colours)
    _draw_arrows(axes, layout.arrows)
    _draw_time_axis(axes, layout, notes)


def time_scale(span_us: float) -> tuple[float, str]:
    """Return (microseconds per unit, unit) in which a span reads well."""
    return next(
        ((size, unit) for size, unit in ((1e6, "s"), (1e3, "ms")) if span_us >= 2 * size),
        (1.0, "µs"),
    )


def _letters(layout: TimelineLayout, lanes: int, most: float) -> float:
    """Return the size of letters, in points, that stay inside so many lanes."""
    inches = lanes * lanes_height(layout.lanes) / max(layout.lanes, 1)
    return min(most, 0.86 * inches * 72)


def _draw_band(axes: Axes, band: Band, colour: str, shaded: bool, size: float) -> None:
    top, bottom = band.first - 0.5, band.first + band.count - 0.5
    axes.axhspan(top, bottom, color=shade() if shaded else panel(), zorder=0, linewidth=0)
    middle = (top + bottom) / 2
    across = axes.get_yaxis_transform()
    axes.plot(
        [-0.005] * 2,
        [top + 0.1, bottom - 0.1],
        color=colour,
        linewidth=4,
        clip_on=False,
        transform=across,
        solid_capstyle="butt",
    )
    axes.text(
        -0.014,
        middle,
        short_device(band.device),
        transform=across,
        ha="right",
        va="center",
        fontsize=size,
        color=ink(),
    )


def _draw_round(axes: Axes, bar: RoundBar) -> None:
    """Draw a bracket over a round, with its number."""
    foot, height = bar.lane + 0.4, 0.22
    corners = ([bar.start, bar.start, bar.end, bar.end], [foot, foot - height, foot - height, foot])
    axes.plot(*corners, color=faint(), linewidth=0.9, zorder=2, solid_joinstyle="miter")
    middle = (bar.start + bar.end) / 2
    text = axes.text(
        middle,
        bar.lane - 0.02,
        bar.label,
        ha="center",
        va="center",
        fontsize=7.5,
        color=ink(),
    )
    text.set_bbox({"facecolor": panel(), "edgecolor": "none", "pad": 0.6})


def _draw_cut(axes: Axes, cut: Cut, layout: TimelineLayout) -> None:
    """Draw where time is left out, and how much."""
    axes.axvspan(
        cut.start,
        cut.end,
        facecolor=panel(),
        edgecolor=faint(),
        hatch="xx",
        linewidth=0,
    )
    axes.text(
        (cut.start + cut.end) / 2,
        (layout.lanes - 1) / 2,
        f"{duration_text(cut.duration_us)} left out",
        rotation=90,
        ha="center",
        va="center",
        fontsize=7.5,
        color=ink(),
        bbox={"facecolor": panel(), "edgecolor": "none", "pad": 1.2},
        zorder=6,
    )


def _draw_bars(axes: Axes, layout: TimelineLayout, colours: Mapping[str, str]) -> None:
    """Draw the bars of each kind at once: there may be thousands."""
    from matplotlib.collections import PolyCollection

    by_kind: dict[str, list[Bar]] = {}
    for bar in layout.bars:
        by_kind.setdefault(bar.row.kind, []).append(bar)
    for kind, bars in by_kind.items():
        drawn = PolyCollection(
            [_corners(bar.start, bar.end, bar.lane, 0.34) for bar in bars],
            facecolors=[_face(bar, colours) for bar in bars],
            edgecolors=[faint() if bar.is_quiet else ink() for bar in bars],
            # the borders of slivers side by side would hide the slivers
            linewidths=[0.0 if b.width < SLIVER * layout.span_us else 0.6 for b in bars],
            hatch=HATCHES[kind],
            zorder=3,
        )
        drawn.set_hatch_linewidth(0.5)
        axes.add_collection(drawn, autolim=False)
    for bar in layout.bars:
        _draw_marks(axes, bar, colours[bar.row.device], layout.span_us)


def _corners(start: float, end: float, lane: float, half: float) -> list[tuple[float, float]]:
    return [(start, lane - half), (end, lane - half), (end, lane + half), (start, lane + half)]


def _face(bar: Bar, colours: Mapping[str, str]) -> str:
    if bar.is_quiet:
        return tint(faint())
    colour = colours[bar.row.device]
    return colour if bar.row.kind == "compute" else tint(colour)


def _draw_marks(axes: Axes, bar: Bar, colour: str, span: float) -> None:
    """Draw what was waited for, what is not taken, and what is disturbed."""
    from matplotlib.patches import Rectangle

    if _is_held(bar, span):
        place = (bar.end - bar.held, bar.lane - 0.34), bar.held, 0.68
        axes.add_artist(Rectangle(*place, facecolor=panel(), edgecolor=ink(), zorder=3.5, **HELD))
    if bar.row.disturbed:
        place = (bar.start, bar.lane - 0.42), bar.width, 0.84
        axes.add_artist(Rectangle(*place, edgecolor=ink(), zorder=4, **DISTURBED))
    if bar.waited:
        axes.plot([bar.start - bar.waited, bar.start], [bar.lane] * 2, color=colour, **WAITING)


def _is_held(bar: Bar, span: float) -> bool:
    """Return whether a tensor lay at its receiver so long that one sees it."""
    return bar.held > LEAST_HELD * span


def _write_names(axes: Axes, layout: TimelineLayout, colours: Mapping[str, str]) -> None:
    size = _letters(layout, 1, NAME)
    for bar in layout.bars:
        if bar.side != "none":
            _write_name(axes, bar, _face(bar, colours), layout.span_us, size)


def _write_name(axes: Axes, bar: Bar, face: str, span: float, size: float) -> None:
    """Write the name of a bar, which is filled with `face`, inside or beside it."""
    from matplotlib.patheffects import withStroke

    gap = 0.006 * span
    places = {
        "inside": (bar.start + bar.width / 2, "center", ink_on(face)),
        "right": (bar.start + bar.width + gap, "left", ink()),
        "left": (bar.start - gap, "right", ink()),
    }
    x, align, colour = places[bar.side]
    text = axes.text(
        x, bar.lane, bar.label, ha=align, va="center", fontsize=size, color=colour, zorder=5
    )
    if bar.side != "inside":  # a halo: arrows may pass behind it
        text.set_path_effects([withStroke(linewidth=2.2, foreground=panel())])
    if bar.side == "inside" and HATCHES[bar.row.kind]:  # letters on lines cannot be read
        text.set_bbox({"facecolor": panel(), "edgecolor": "none", "pad": 0.8})
        text.set_color(ink())


def _draw_arrows(axes: Axes, arrows: Sequence[Arrow]) -> None:
    """Draw curves from senders to receivers, from a bar's edge: names stand at its middle."""
    from matplotlib.collections import PathCollection

    if not arrows:
        return
    width, height = (abs(end - start) for start, end in (axes.get_xlim(), axes.get_ylim()))
    ways, tips = zip(*(_way(arrow, width / height) for arrow in arrows), strict=True)
    share = min(CROWD / len(arrows), 1.0)
    alpha, zorder = max(0.75 * share, 0.1), 4 if share == 1 else 2.5
    lines = PathCollection(
        ways, facecolors="none", edgecolors=ink(), linewidths=0.5 + 0.4 * share, alpha=alpha,
        zorder=zorder,
    )  # fmt: skip
    axes.add_collection(lines, autolim=False)
    for marker, downwards in (("v", True), ("^", False)):
        ends = [tip for tip, each in zip(tips, arrows, strict=True)
                if (each.end[1] > each.start[1]) is downwards]  # fmt: skip
        if ends:
            xs, ys = zip(*ends, strict=True)
            axes.plot(xs, ys, linestyle="", marker=marker, markersize=4, markeredgewidth=0,
                      color=ink(), alpha=alpha, zorder=zorder)  # fmt: skip


def _way(arrow: Arrow, scale: float) -> tuple[Path, tuple[float, float]]:
    """Return the curve of an arrow, and its end.

    Args:
      arrow: from sender to receiver.
      scale: how many microseconds are as long as a lane.
    """
    from matplotlib.path import Path

    (sent, above), (received, below) = arrow.start, arrow.end
    edge = 0.34 if below > above else -0.34
    start, end = (sent, above + edge), (received, below - 1.35 * edge)
    bow = 0.06 * scale * abs(below - above)
    middle = ((sent + received) / 2 + bow, (start[1] + end[1]) / 2)
    return Path([start, middle, end], [Path.MOVETO, Path.CURVE3, Path.CURVE3]), end


def _draw_time_axis(axes: Axes, layout: TimelineLayout, notes: Sequence[str]) -> None:
    size, unit = time_scale(layout.span_us)
    axes.set_xlim(-0.01 * layout.span_us, 1.01 * layout.span_us)
    axes.set_ylim(max(layout.lanes, 1) - 0.5, -0.5)
    axes.set_yticks([])
    ticks = [tick for piece in _pieces(layout) for tick in piece.ticks(size, layout.span_us)]
    axes.set_xticks([place for place, _ in ticks], [f"{time / size:g}" for _, time in ticks])
    axes.set_xlim(-0.01 * layout.span_us, 1.01 * layout.span_us)
    axes.set_xlabel("\n".join([f"{unit} since the step began", *notes]), fontsize=8, color=ink())
    axes.spines["bottom"].set_color(faint())


class _Piece(NamedTuple):
    """A piece of the time axis without a cut: from where to where, and what time it begins."""

    start: float
    end: float
    start_us: float

    def ticks(self, size: float, span: float) -> list[tuple[float, float]]:
        """Return (place, microseconds) of ticks, at round numbers of `size` microseconds."""
        from matplotlib.ticker import MaxNLocator

        first, last = self.start_us / size, (self.start_us + self.end - self.start) / size
        count = max(round(8 * (self.end - self.start) / span), 1)
        times = [size * tick for tick in MaxNLocator(count).tick_values(first, last)]
        places = [(self.start + time - self.start_us, time) for time in times]
        margin = 0.01 * span
        return [each for each in places if self.start - margin <= each[0] <= self.end + margin]


def _pieces(layout: TimelineLayout) -> list[_Piece]:
    starts = [(0.0, 0.0), *((cut.end, cut.start_us + cut.duration_us) for cut in layout.cuts)]
    ends = [*(cut.start for cut in layout.cuts), layout.span_us]
    return [_Piece(start, end, time) for (start, time), end in zip(starts, ends, strict=True)]


def draw_timeline_legend(
    figure: Figure, layouts: Sequence[TimelineLayout], lines: Mapping[str, str] | None = None
) -> None:
    """Draw what the hatches, lines and arrows of timelines mean, below them.

    Args:
      figure: with the timelines.
      layouts: of the timelines.
      lines: colours of further lines, by what they mean.
    """
    from matplotlib.lines import Line2D

    keys = list({key.get_label(): key for each in layouts for key in _legend_keys(each)}.values())
    for label, colour in (lines or {}).items():
        keys.append(Line2D([], [], color=colour, linewidth=2.2, label=label))
    if keys:
        figure.legend(
            handles=keys,
            loc="outside lower center",
            ncols=5,
            fontsize=8,
            frameon=False,
            labelcolor=ink(),
        )


def _legend_keys(layout: TimelineLayout) -> list[Patch | Line2D]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    shown = {bar.row.kind for bar in layout.bars}
    keys: list[Patch | Line2D] = [
        Patch(
            facecolor=faint() if kind == "compute" else tint(faint()),
            edgecolor=ink(),
            linewidth=0.6,
            hatch=HATCHES[kind],
            label=name,
        )
        for kind, name in KIND_NAMES.items()
        if kind in shown
    ]
    if any(bar.waited for bar in layout.bars):
        keys.append(Line2D([], [], color=faint(), label="asked for, not there yet", **WAITING))
    if any(_is_held(bar, layout.span_us) for bar in layout.bars):
        keys.append(Patch(facecolor=panel(), edgecolor=ink(), label="come, not taken yet", **HELD))
    if any(bar.row.disturbed for bar in layout.bars):
        keys.append(Patch(edgecolor=ink(), label="disturbed on purpose", **DISTURBED))
    if layout.arrows:
        keys.append(
            Line2D([], [], color=ink(), marker=">", linewidth=0.9, label="sent to received")
        )
    return keys
