"""What is displayed, as MIME bundles: every one has a plain text that says the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from tfdist.cluster.spec import ClusterSpec
from tfdist.jupyter.html import details, image, paragraph, table_html
from tfdist.plots.placement.figure import placement_figure
from tfdist.plots.shared.blocks import (
    Placed,
    block_lines,
    block_title,
    closed_blocks,
    from_inside,
    members_of,
)
from tfdist.plots.shared.palette import device_colours, png
from tfdist.plots.shared.placed_nodes import by_device
from tfdist.plots.shared.tables import (
    Table,
    placement_table,
    rounds_table,
    step_table,
    totals_table,
)
from tfdist.plots.shared.themes import drawn
from tfdist.plots.text import (
    blocks_text,
    placement_sentence,
    rounds_sentence,
    timeline_sentence,
    timeline_text,
)
from tfdist.plots.timeline.figure import timeline_figure
from tfdist.tracing.rows import NodeRow, devices, short_device

if TYPE_CHECKING:
    from tfdist.plots.shared.palette import Figure

CSS_DOTS_PER_INCH = 96
MOST_INSIDES = 12  # loops and conds of a graph whose insides are drawn; of more, words tell


@dataclass(frozen=True)
class Bundle:
    """One output: what it is in each MIME type, and what is known about that."""

    data: dict[str, Any]
    metadata: dict[str, Any] = field(default_factory=dict)

    def text_only(self) -> Bundle:
        """Return the plain text alone."""
        return Bundle({"text/plain": self.data["text/plain"]})


@dataclass(frozen=True)
class Style:
    """How much is shown.

    Attributes:
      times: whether durations are shown; without them outputs are the same in every run.
      pictures: whether pictures are drawn.
      most_rows: of a table.
      most_boxes: of a placement picture.
      theme: of pictures; see `plots.shared.themes`.
    """

    times: bool = True
    pictures: bool = True
    most_rows: int = 200
    most_boxes: int = 60
    theme: str = "light"


def sentence_bundle(sentence: str) -> Bundle:
    """Return one sentence."""
    return Bundle({"text/plain": sentence, "text/html": paragraph(sentence)})


def lines_bundle(text: str) -> Bundle:
    """Return lines, each of them a paragraph."""
    html = "".join(map(paragraph, text.splitlines()))
    return Bundle({"text/plain": text, "text/html": html})


def table_bundle(
    table: Table, sentence: str = "", colours: Mapping[str, str] | None = None
) -> Bundle:
    """Return a table with a sentence above; see `html.table_html`."""
    text = "\n".join(filter(None, [sentence, str(table)]))
    return Bundle({"text/plain": text, "text/html": table_html(table, sentence, colours)})


def picture_bundle(figure: Figure, sentence: str, text: str = "") -> Bundle:
    """Return a picture as PNG; its alternative text is `sentence`, its twin both texts."""
    width, height = css_size(figure)
    about = {"alt": sentence, "width": width, "height": height}
    data = {"image/png": png(figure), "text/plain": "\n".join(filter(None, [sentence, text]))}
    return Bundle(data, {"image/png": about})


def css_size(figure: Figure) -> tuple[int, int]:
    """Return the width and height at which a notebook shows a picture."""
    width, height = figure.get_size_inches()
    return round(width * CSS_DOTS_PER_INCH), round(height * CSS_DOTS_PER_INCH)


class Traced(Protocol):
    """A `trace.Trace`, which can itself show what is here."""

    @property
    def runs(self) -> Sequence[Any]: ...
    @property
    def complete_runs(self) -> Sequence[Any]: ...
    def rows(self) -> Sequence[NodeRow]: ...
    def sentence(self) -> str: ...
    def table(self, times: bool, most: int) -> Table: ...


def trace_bundles(trace: Traced, style: Style, whole: bool = False) -> list[Bundle]:
    """Return what a trace shows: its runs if there are several, then tables and timeline of one.

    Args:
      trace: of any number of runs.
      style: how much is shown.
      whole: whether what only makes loops and branches go is listed node by node.
    """
    if not trace.runs:
        return [sentence_bundle("Nothing ran: no Session.run was called.")]
    bundles = []
    if len(trace.runs) > 1:
        sentence = f"{len(trace.runs)} runs; below, the last one that came to its end."
        bundles.append(table_bundle(runs_table(trace, style), sentence))
    if trace.complete_runs:
        found = trace.rows()
        bundles.append(step_bundle(found, style, trace.sentence(), whole))
        bundles += [*rounds_bundles(found, style), *timeline_bundles(found, style)]
    return bundles


def runs_table(trace: Traced, style: Style) -> Table:
    """Return one row per run of a trace."""
    return trace.table(times=style.times, most=style.most_rows)


def step_bundle(
    rows: Sequence[NodeRow], style: Style, sentence: str = "", whole: bool = False
) -> Bundle:
    """Return the table of a step; see `tables.step_table`."""
    table = step_table(rows, style.times, style.most_rows, whole)
    return table_bundle(table, sentence, short_colours(devices(rows)))


def rounds_bundles(rows: Sequence[NodeRow], style: Style) -> list[Bundle]:
    """Return a table of the rounds of a step's loops, if it has any."""
    sentence = rounds_sentence(rows)
    return [table_bundle(rounds_table(rows, style.times), f"{sentence}.")] if sentence else []


def timeline_bundles(rows: Sequence[NodeRow], style: Style) -> list[Bundle]:
    """Return the timeline of a step: a picture, or its text where pictures are not wanted."""
    if not rows:
        return []
    sentence = timeline_sentence(rows, style.times)
    if not style.pictures:
        return [Bundle({"text/plain": timeline_text(rows)})] if style.times else []
    text = timeline_text(rows) if style.times else ""
    with drawn(style.theme):
        return [picture_bundle(timeline_figure(rows), sentence, text)]


def totals_bundle(rows: Sequence[NodeRow], style: Style) -> Bundle:
    """Return what each device did in a step."""
    return table_bundle(totals_table(rows, style.times), "", short_colours(devices(rows)))


def placement_bundles(
    nodes: Sequence[Placed],
    style: Style,
    opened: Sequence[str] = (),
    rounds: Mapping[str, str] | None = None,
) -> list[Bundle]:
    """Return where nodes are placed: a drawing, what is in its closed boxes, and the reasons.

    Args:
      nodes: that are placed.
      style: how much is shown.
      opened: names of loops and conds to draw open; see `plots.placement.figure.placement_figure`.
      rounds: what to say of loops.
    """
    sentence = placement_sentence(nodes)
    if not nodes:
        return [sentence_bundle(sentence)]
    table = placement_table(nodes, style.most_rows)
    shown = [table_bundle(table, sentence, short_colours(list(by_device(nodes))))]
    text = blocks_text(nodes, opened, rounds)
    if text:
        is_short = len(members_of(nodes)) <= MOST_INSIDES
        html = _insides_html(
            nodes, replace(style, pictures=style.pictures and is_short), opened, rounds
        )
        shown.insert(0, Bundle({"text/plain": text, "text/html": html}))
    if style.pictures:
        with drawn(style.theme):
            figure = placement_figure(nodes, style.most_boxes, opened, rounds)
        shown.insert(0, picture_bundle(figure, sentence))
    return shown


def _insides_html(
    nodes: Sequence[Placed], style: Style, opened: Sequence[str], rounds: Mapping[str, str] | None
) -> str:
    """Return an element for each closed loop and cond, which opens and shows what is in it."""
    found = []
    for path, members in closed_blocks(nodes, opened).items():
        inner = from_inside(path, members)
        lines = "; ".join(block_lines(path, members))
        inside = paragraph(lines)
        if style.pictures:
            with drawn(style.theme):
                figure = placement_figure(inner, style.most_boxes, [path[-1].name], rounds)
            inside = image(png(figure), lines, *css_size(figure))
        inside += _insides_html(inner, style, [path[-1].name], rounds)
        found.append(details(block_title(path[-1], members, rounds), inside))
    return "".join(found)


def spec_bundle(spec: ClusterSpec) -> Bundle:
    """Return a cluster's tasks and addresses; the text is the dict one would type."""
    cells = tuple((f"/job:{job}/task:{index}", where) for job, index, where in spec.tasks())
    html = table_html(Table(("task", "address"), cells))
    return Bundle({"text/plain": repr(spec), "text/html": html})


def short_colours(names: Sequence[str]) -> dict[str, str]:
    """Return the hue of each device by its short name, the same as in the pictures."""
    return {short_device(name): colour for name, colour in device_colours(names).items()}
