"""What is shown of a traced step: its timeline, its nodes and transfers, its devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tfdist.jupyter.bundles import (
    Bundle,
    Style,
    picture_bundle,
    sentence_bundle,
    short_colours,
    still_style,
    table_bundle,
)
from tfdist.jupyter.listed import FEW, MOST_LISTED, listed_bundle
from tfdist.plots.shared.tables import Table, rounds_table, step_table, totals_table
from tfdist.plots.text import rounds_sentence, timeline_sentence, timeline_text
from tfdist.plots.timeline.figure import timeline_figure
from tfdist.plots.timeline.payload import timeline_payload
from tfdist.tracing.steps.node_row import NodeRow, devices
from tfdist.web.browser_parts import TIMELINE, live_view


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
        bundles += timeline_bundles(found, style, trace.complete_runs[-1].made_at)
        bundles.append(step_bundle(found, style, trace.sentence(), whole))
        bundles += rounds_bundles(found, style)
    return bundles


def runs_table(trace: Traced, style: Style) -> Table:
    """Return one row per run of a trace."""
    return trace.table(times=style.times, most=style.most_rows)


def step_bundle(
    rows: Sequence[NodeRow], style: Style, sentence: str = "", whole: bool = False
) -> Bundle:
    """Return the table of a step; see `tables.step_table`. A long one is closed at first."""
    few = FEW if style.times else MOST_LISTED
    table = step_table(rows, style.times, MOST_LISTED, whole, few)
    what = "nodes and transfers"
    if style.times and len(table.rows) > FEW:
        what += ", the longest first"
    return listed_bundle(table, what, style, short_colours(devices(rows)), sentence, whole)


def rounds_bundles(rows: Sequence[NodeRow], style: Style) -> list[Bundle]:
    """Return a table of the rounds of a step's loops, if it has any."""
    sentence = rounds_sentence(rows)
    return [table_bundle(rounds_table(rows, style.times), f"{sentence}.")] if sentence else []


def timeline_bundles(
    rows: Sequence[NodeRow], style: Style, made_at: Mapping[str, str] | None = None
) -> list[Bundle]:
    """Return the timeline of a step: a picture, or its text where pictures are not wanted.

    Args:
      rows: of the step.
      style: how much is shown; where scripts may run one can zoom into it.
      made_at: the line of the program that made a node, by its name.
    """
    if not rows:
        return []
    sentence = timeline_sentence(rows, style.times)
    if not style.pictures:
        return [Bundle({"text/plain": timeline_text(rows)})] if style.times else []
    text = timeline_text(rows) if style.times else ""
    if not style.scripts:
        return [picture_bundle(lambda: timeline_figure(rows), sentence, style, text)]
    found = picture_bundle(lambda: timeline_figure(rows), sentence, still_style(style), text)
    payload = timeline_payload(rows, made_at)
    found.data["text/html"] = live_view(
        found.data["text/html"], TIMELINE, "Timeline", payload, sentence
    )
    return [found]


def totals_bundle(rows: Sequence[NodeRow], style: Style) -> Bundle:
    """Return what each device did in a step."""
    return table_bundle(totals_table(rows, style.times), "", short_colours(devices(rows)))
