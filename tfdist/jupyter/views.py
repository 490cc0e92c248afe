"""What is shown of traces besides their timelines: calls, comparisons, many runs at once."""

from __future__ import annotations

from collections.abc import Sequence

from tfdist.jupyter.bundles import Bundle, Style, picture_bundle, sentence_bundle, table_bundle
from tfdist.plots.shared.tables import duration_text
from tfdist.plots.shared.themes import drawn
from tfdist.plots.timeline.comparison import comparison_figure, comparison_table, comparison_text
from tfdist.plots.timeline.device_activity import (
    devices_figure,
    devices_sentence,
    devices_table,
    devices_text,
)
from tfdist.plots.timeline.rpc_diagram import rpcs_figure, rpcs_sentence, rpcs_text
from tfdist.tracing.calls import RpcCall
from tfdist.tracing.comparison import compare
from tfdist.tracing.rows import NodeRow
from tfdist.tracing.spread import device_spreads

Names = tuple[str, str]


def rpcs_bundles(calls: Sequence[RpcCall], style: Style) -> list[Bundle]:
    """Return the calls of a step: a sequence diagram, and its numbered lines."""
    sentence = rpcs_sentence(calls)
    text = rpcs_text(calls) if style.times and calls else ""
    if not calls or not style.pictures:
        return [sentence_bundle("\n".join(filter(None, [sentence, text])))]
    with drawn(style.theme):
        return [picture_bundle(rpcs_figure(calls), sentence, text)]


def comparison_bundles(
    a: Sequence[NodeRow], b: Sequence[NodeRow], names: Names, style: Style
) -> list[Bundle]:
    """Return what differs between two steps: a sentence with a table, then both timelines."""
    found = compare(a, b, names)
    sentence = found.sentence(duration_text if style.times else None)
    shown = [table_bundle(comparison_table(found, times=style.times), sentence)]
    text = comparison_text(a, b, names) if style.times else ""
    if style.pictures:
        with drawn(style.theme):
            figure = comparison_figure(a, b, names)
        shown.append(picture_bundle(figure, f"{names[0]} above {names[1]}.", text))
    elif text:
        shown.append(Bundle({"text/plain": text}))
    return shown


def devices_bundles(steps: Sequence[Sequence[NodeRow]], style: Style) -> list[Bundle]:
    """Return what each device did in several runs of a step: a table, then a picture."""
    spreads = device_spreads(steps)
    sentence = devices_sentence(steps, style.times)
    if not style.times:
        return [sentence_bundle(sentence)]
    shown = [table_bundle(devices_table(spreads), sentence)]
    if style.pictures:
        with drawn(style.theme):
            figure = devices_figure(steps)
        shown.append(picture_bundle(figure, sentence, devices_text(steps)))
    return shown
