"""What is displayed, as MIME bundles: every one has a plain text that says the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tfdist.cluster.spec import ClusterSpec
from tfdist.jupyter.html import paragraph, table_html
from tfdist.jupyter.trace import Trace
from tfdist.plots.palette import device_colours, png
from tfdist.plots.placement import placement_figure
from tfdist.plots.placement_data import Placed, by_device
from tfdist.plots.tables import Table, placement_table, step_table, totals_table
from tfdist.plots.text import placement_sentence, timeline_sentence, timeline_text
from tfdist.plots.timeline import timeline_figure
from tfdist.tracing.rows import NodeRow, devices, short_device

if TYPE_CHECKING:
    from tfdist.plots.palette import Figure

CSS_DOTS_PER_INCH = 96


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
    """

    times: bool = True
    pictures: bool = True
    most_rows: int = 200
    most_boxes: int = 60


def sentence_bundle(sentence: str) -> Bundle:
    """Return one sentence."""
    return Bundle({"text/plain": sentence, "text/html": paragraph(sentence)})


def table_bundle(
    table: Table, sentence: str = "", colours: Mapping[str, str] | None = None
) -> Bundle:
    """Return a table with a sentence above; see `html.table_html`."""
    text = "\n".join(filter(None, [sentence, str(table)]))
    return Bundle({"text/plain": text, "text/html": table_html(table, sentence, colours)})


def picture_bundle(figure: Figure, sentence: str, text: str = "") -> Bundle:
    """Return a picture as PNG; its alternative text is `sentence`, its twin both texts."""
    width, height = (round(inches * CSS_DOTS_PER_INCH) for inches in figure.get_size_inches())
    about = {"alt": sentence, "width": width, "height": height}
    data = {"image/png": png(figure), "text/plain": "\n".join(filter(None, [sentence, text]))}
    return Bundle(data, {"image/png": about})


def trace_bundles(trace: Trace, style: Style) -> list[Bundle]:
    """Return what a trace shows: its runs if there are several, then table and timeline of one."""
    if not trace.runs:
        return [sentence_bundle("Nothing ran: no Session.run was called.")]
    bundles = []
    if len(trace.runs) > 1:
        sentence = f"{len(trace.runs)} runs; below, the last one that came to its end."
        bundles.append(table_bundle(runs_table(trace, style), sentence))
    if trace.complete_runs:
        about = trace.sentence()
        bundles += [step_bundle(trace.rows(), style, about), *timeline_bundles(trace.rows(), style)]
    return bundles


def runs_table(trace: Trace, style: Style) -> Table:
    """Return one row per run of a trace."""
    return trace.table(times=style.times, most=style.most_rows)


def step_bundle(rows: Sequence[NodeRow], style: Style, sentence: str = "") -> Bundle:
    """Return the table of a step."""
    table = step_table(rows, style.times, style.most_rows)
    return table_bundle(table, sentence, short_colours(devices(rows)))


def timeline_bundles(rows: Sequence[NodeRow], style: Style) -> list[Bundle]:
    """Return the timeline of a step: a picture, or its text where pictures are not wanted."""
    if not rows:
        return []
    sentence = timeline_sentence(rows, style.times)
    if not style.pictures:
        return [Bundle({"text/plain": timeline_text(rows)})] if style.times else []
    text = timeline_text(rows) if style.times else ""
    return [picture_bundle(timeline_figure(rows), sentence, text)]


def totals_bundle(rows: Sequence[NodeRow], style: Style) -> Bundle:
    """Return what each device did in a step."""
    return table_bundle(totals_table(rows, style.times), "", short_colours(devices(rows)))


def placement_bundles(nodes: Sequence[Placed], style: Style) -> list[Bundle]:
    """Return where nodes are placed: a drawing, then a table with the reasons."""
    sentence = placement_sentence(nodes)
    if not nodes:
        return [sentence_bundle(sentence)]
    table = placement_table(nodes, style.most_rows)
    reasons = table_bundle(table, sentence, short_colours(list(by_device(nodes))))
    if not style.pictures:
        return [reasons]
    return [picture_bundle(placement_figure(nodes, style.most_boxes), sentence), reasons]


def spec_bundle(spec: ClusterSpec) -> Bundle:
    """Return a cluster's tasks and addresses; the text is the dict one would type."""
    cells = tuple((f"/job:{job}/task:{index}", where) for job, index, where in spec.tasks())
    html = table_html(Table(("task", "address"), cells))
    return Bundle({"text/plain": repr(spec), "text/html": html})


def short_colours(names: Sequence[str]) -> dict[str, str]:
    """Return the hue of each device by its short name, the same as in the pictures."""
    return {short_device(name): colour for name, colour in device_colours(names).items()}
