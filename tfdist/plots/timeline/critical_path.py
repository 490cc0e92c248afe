"""The critical path of a step: a sentence, tables, and its line through the timeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tfdist.plots.shared.device_colours import device_colours
from tfdist.plots.shared.palette import new_figure
from tfdist.plots.shared.short_names import shorten
from tfdist.plots.shared.tables import Table, duration_text
from tfdist.plots.shared.themes import ink, panel
from tfdist.plots.text import step_notes
from tfdist.plots.timeline.figure import (
    NOTE,
    draw_timeline,
    draw_timeline_legend,
    lanes_height,
)
from tfdist.plots.timeline.layout import Bar, TimelineLayout, layout_timeline
from tfdist.tracing.device_names import short_device
from tfdist.tracing.steps.critical_path import (
    CONTENTION,
    SCHEDULING,
    CriticalPath,
    PathShare,
    Segment,
)
from tfdist.tracing.steps.node_row import COMPUTE, QUEUE, TRANSFER, NodeRow, devices
from tfdist.tracing.steps.replay import LINK, NODE, Saving

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 15
MOST_SAVINGS = 8
NAMED = 0.1  # least share of a step of what the sentence names
LEAST = 0.01  # share of a step of a kind that it speaks of
COLOUR = "#D55E00"  # vermilion
KIND_TEXTS = {
    COMPUTE: "computing",
    TRANSFER: "transfers",
    QUEUE: "at queues",
    CONTENTION: "ready while other tasks ran",
    SCHEDULING: "being scheduled",
}

Step = tuple[Segment, ...]  # of one row: its waits, then its run


def critical_path_sentence(path: CriticalPath) -> str:
    """Return what the time of a step was, and which rows took a tenth of it or more.

    Args:
      path: of one step.
    """
    if not path.segments:
        return "Nothing ran: there is no critical path."
    span = path.span_us
    parts = [(kind, us / span) for kind, us in path.by_kind().items() if us >= LEAST * span]
    kinds = ", ".join(f"{share:.0%} {KIND_TEXTS[kind]}" for kind, share in parts)
    steps = sorted(_steps(path), key=_took, reverse=True)
    named = [f"{_took(each) / span:.0%} is {row_text(each[-1].row)}" for each in steps]
    large = [text for text, each in zip(named, steps, strict=True) if _took(each) >= NAMED * span]
    return f"Critical path of {duration_text(span)}: {kinds}. " + _listed(large)


def savings_sentence(savings: Sequence[Saving], span_us: float) -> str:
    """Return what would shorten a step most if it took half its time; "" if nothing would."""
    if not savings or savings[0].saved_us <= 0:
        return ""
    best = savings[0]
    share = best.saved_us / (span_us or 1.0)
    return f"Twice as fast, {saving_text(best)} would make the step {share:.0%} shorter."


def critical_path_table(path: CriticalPath, most: int = MOST_ROWS) -> Table:
    """Return one row per node and transfer on the path, in order of time.

    Args:
      path: of one step.
      most: rows to show: the longest.
    """
    steps, span = _steps(path), path.span_us or 1.0
    shown = set(sorted(range(len(steps)), key=lambda i: -_took(steps[i]))[:most])
    header = ("#", "node or transfer", "op", "on", "waited", "took", "of the step", "")
    cells = [(str(i), *_cells(each, span)) for i, each in enumerate(steps, 1) if i - 1 in shown]
    rest = [_took(each) for i, each in enumerate(steps) if i not in shown]
    note = f"{len(rest)} shorter ones, {duration_text(sum(rest))} together" if rest else ""
    return Table(header, tuple(cells), frozenset({0, 4, 5, 6}), note)


def shares_table(shares: Sequence[PathShare], runs: int, most: int = MOST_ROWS) -> Table:
    """Return what is on the critical paths of several runs.

    Args:
      shares: from `tracing.steps.critical_path.path_shares`.
      runs: how many there were.
      most: rows to show; the note says how many were left out.
    """
    header = ("#", "node or transfer", "on", "on the path", "median")
    cells = [
        (
            str(i),
            shorten(each.row.name),
            short_device(each.row.device),
            f"{each.runs} of {runs} runs",
            duration_text(each.median_us),
        )
        for i, each in enumerate(shares[:most], 1)
    ]
    left_out = len(shares) - len(cells)
    note = f"{left_out} more, which are shorter or rarer" if left_out else ""
    return Table(header, tuple(cells), frozenset({0, 3, 4}), note)


def savings_table(savings: Sequence[Saving], span_us: float, most: int = MOST_SAVINGS) -> Table:
    """Return how much shorter a step would be if each part took half its time.

    Args:
      savings: from `tracing.steps.replay.Replay.savings`.
      span_us: how long the step took.
      most: rows to show.
    """
    useful = [each for each in savings if each.saved_us > 0.001 * span_us]
    cells = [
        (
            each.kind,
            saving_text(each),
            duration_text(each.saved_us),
            f"{each.saved_us / span_us:.0%}",
        )
        for each in useful[:most]
    ]
    header = ("twice as fast", "", "the step is shorter by", "")
    return Table(header, tuple(cells), frozenset({2, 3}))


def saving_text(saving: Saving) -> str:
    """Return what is made faster: "mul on /job:ps/task:0", "all from A to B", "all on A"."""
    device = short_device(saving.device)
    if saving.kind == NODE:
        return f"{shorten(saving.name)} on {device}"
    if saving.kind == LINK:
        return f"all tensors from {short_device(saving.source)} to {device}"
    return f"all nodes on {device}"


def critical_path_figure(rows: Sequence[NodeRow], path: CriticalPath) -> Figure:
    """Return a matplotlib `Figure`: the timeline of a step with its critical path.

    Args:
      rows: of one step, from `tfdist.tracing.steps.rows.rows`.
      path: of the same step.
    """
    layout = layout_timeline(rows)
    notes = [*layout.still_notes, *step_notes(rows)]
    figure, axes = new_figure(0.95 + lanes_height(layout.lanes) + NOTE * len(notes))
    draw_timeline(axes, layout, device_colours(devices(rows)), notes)
    _draw_path(axes, layout, path)
    draw_timeline_legend(figure, [layout], {"critical path": COLOUR})
    return figure


def _draw_path(axes: Axes, layout: TimelineLayout, path: CriticalPath) -> None:
    """Draw a line through the bars of the path, as far as they are drawn: loops are excerpts."""
    bars: Mapping[int, Bar] = {id(bar.row): bar for bar in layout.bars}
    found = [bars[id(row)] for row in path.rows if id(row) in bars]
    points = [(x, bar.lane + 0.42) for bar in found for x in (bar.start, bar.row.end_us)]
    style: dict[str, Any] = {"zorder": 6, "solid_capstyle": "round", "solid_joinstyle": "round"}
    if points:
        xs, ys = zip(*points, strict=True)
        axes.plot(xs, ys, color=panel(), linewidth=4.0, alpha=0.8, **style)
        axes.plot(xs, ys, color=COLOUR, linewidth=2.2, **style)
    for bar in found:
        axes.plot([bar.start], [bar.lane + 0.42], marker=".", color=ink(), markersize=3, zorder=7)


def _steps(path: CriticalPath) -> list[Step]:
    """Return the segments of the path, those of one row together."""
    found: list[list[Segment]] = []
    for segment in path.segments:
        if found and found[-1][-1].row is segment.row:
            found[-1].append(segment)
        else:
            found.append([segment])
    return [tuple(each) for each in found]


def _took(step: Step) -> float:
    return step[-1].end_us - step[0].start_us


def _cells(step: Step, span: float) -> tuple[str, ...]:
    row, ran = step[-1].row, [each for each in step if each.kind == each.row.kind]
    waited = _took(step) - sum(each.duration_us for each in ran)
    return (
        shorten(row.name),
        row.op,
        short_device(row.device),
        duration_text(waited) if waited >= 0.05 else "",
        duration_text(_took(step) - waited),
        f"{_took(step) / span:.0%}",
        _reason(step),
    )


def _reason(step: Step) -> str:
    """Return what is to be said of a row: what ran instead of it, or why it is on the path."""
    held = [each for each in step if each.kind == CONTENTION]
    if held and sum(each.duration_us for each in held) > 0.1 * _took(step):
        longest = max(held, key=lambda each: each.duration_us)
        return f"waited while {shorten(longest.blocker)} ran"
    if step[-1].row.kind == TRANSFER:
        return f"from {short_device(step[-1].row.source)}"
    return "its task ran it before the next one" if step[-1].in_order else ""


def row_text(row: NodeRow) -> str:
    """Return what a row is, in a sentence: "the way of a from ps:0 to worker:0", "a on ps:0"."""
    if row.kind == TRANSFER:
        source, target = short_device(row.source), short_device(row.device)
        return f"the way of {shorten(row.name)} from {source} to {target}"
    return f"{shorten(row.name)} on {short_device(row.device)}"


def _listed(texts: Sequence[str]) -> str:
    if not texts:
        return "No node or transfer is a tenth of it."
    sentence = ", ".join(texts[:-1]) + " and " * (len(texts) > 1) + texts[-1]
    return f"{sentence}."
