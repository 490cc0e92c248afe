"""What is shown of traces besides their timelines: calls, comparisons, many runs, explanations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from html import escape

from tfdist.jupyter.bundles import Bundle, Style, picture_bundle, sentence_bundle, table_bundle
from tfdist.jupyter.html import details
from tfdist.launch.causal_check import CheckedSaving
from tfdist.plots.placement.moves import moves_table, verdict_sentence
from tfdist.plots.shared.tables import duration_text
from tfdist.plots.timeline.causal_check import check_sentence, check_table
from tfdist.plots.timeline.comparison import comparison_figure, comparison_table, comparison_text
from tfdist.plots.timeline.critical_path import (
    critical_path_figure,
    critical_path_sentence,
    critical_path_table,
    savings_sentence,
    savings_table,
    shares_table,
)
from tfdist.plots.timeline.device_activity import (
    devices_figure,
    devices_sentence,
    devices_table,
    devices_text,
)
from tfdist.plots.timeline.path_spread import (
    shift_sentence,
    shift_table,
    spread_sentence,
    spread_table,
)
from tfdist.plots.timeline.path_spread_figure import spread_figure
from tfdist.plots.timeline.rpc_diagram import rpcs_figure, rpcs_sentence, rpcs_text
from tfdist.session.placement_optimizer import OptimizedPlacement, Verdict
from tfdist.tracing.calls import RpcCall
from tfdist.tracing.steps.comparison import compare
from tfdist.tracing.steps.critical_path import CriticalPath, critical_path, path_shares
from tfdist.tracing.steps.node_row import NodeRow
from tfdist.tracing.steps.path_spread import compared_paths
from tfdist.tracing.steps.replay import Replay, median_savings
from tfdist.tracing.steps.spread import device_spreads

Names = tuple[str, str]


def rpcs_bundles(calls: Sequence[RpcCall], style: Style) -> list[Bundle]:
    """Return the calls of a step: a sequence diagram, and its numbered lines."""
    sentence = rpcs_sentence(calls)
    text = rpcs_text(calls) if style.times and calls else ""
    if not calls or not style.pictures:
        return [sentence_bundle("\n".join(filter(None, [sentence, text])))]
    shown = picture_bundle(lambda: rpcs_figure(calls), sentence, style, text)
    if style.scripts:
        shown.data["text/html"] += details("All calls as text", f"<pre>{escape(text)}</pre>")
    return [shown]


def comparison_bundles(
    a: Sequence[NodeRow], b: Sequence[NodeRow], names: Names, style: Style
) -> list[Bundle]:
    """Return what differs between two steps: a sentence with a table, then both timelines."""
    found = compare(a, b, names)
    sentence = found.sentence(duration_text if style.times else None)
    shown = [table_bundle(comparison_table(found, times=style.times), sentence)]
    text = comparison_text(a, b, names) if style.times else ""
    if style.pictures:
        draw = partial(comparison_figure, a, b, names)
        shown.append(picture_bundle(draw, f"{names[0]} above {names[1]}.", style, text))
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
        draw = partial(devices_figure, steps)
        shown.append(picture_bundle(draw, sentence, style, devices_text(steps)))
    return shown


def explanation_bundles(
    rows: Sequence[NodeRow],
    path: CriticalPath,
    repetitions: Sequence[Sequence[NodeRow]],
    style: Style,
    is_compared: bool = False,
) -> list[Bundle]:
    """Return why a step took so long: its critical path drawn and listed, what would shorten it.

    Args:
      rows: of the step.
      path: of the same step.
      repetitions: rows of all runs of the same step; of one, there is nothing to sum up.
      style: how much is shown; without times nothing is the same in every run but a sentence.
      is_compared: whether a picture shows the runs already, beside others.
    """
    if not style.times or not path.segments:
        told = critical_path_sentence(path) if not path.segments else "Critical path of a step."
        return [sentence_bundle(told)]
    paths = [critical_path(each) for each in repetitions]
    savings = median_savings(repetitions) if len(paths) > 1 else Replay(rows).savings()
    sentence = critical_path_sentence(path)
    shown = [table_bundle(critical_path_table(path), sentence)]
    if style.pictures:
        draw = partial(critical_path_figure, rows, path)
        shown.insert(0, picture_bundle(draw, sentence, style))
    told = savings_sentence(savings, path.span_us)
    if told:
        shown.append(table_bundle(savings_table(savings, path.span_us), told))
    if len(paths) > 1:
        shares = path_shares(paths)
        sentence = f"What was on the critical path in {len(paths)} runs."
        shown.append(table_bundle(shares_table(shares, len(paths)), sentence))
        shown.insert(0, table_bundle(spread_table(paths), spread_sentence(paths, shares)))
        if style.pictures and not is_compared:
            draw = partial(spread_figure, [("", paths)])
            shown.insert(1, picture_bundle(draw, f"Each of {len(paths)} runs.", style))
    return shown


def against_bundles(
    before: Sequence[Sequence[NodeRow]], paths: Sequence[CriticalPath], names: Names, style: Style
) -> list[Bundle]:
    """Return how runs differ from earlier ones, and how sure that is.

    Args:
      before: rows of the earlier runs.
      paths: of the runs.
      names: of the earlier ones, and of these.
      style: how much is shown; without times nothing is the same in every run but a sentence.
    """
    if not style.times:
        return [sentence_bundle(f"{names[1]} beside {names[0]}.")]
    earlier = [critical_path(each) for each in before]
    found = compared_paths(earlier, paths)
    sentence = shift_sentence(found[0], (len(before), len(paths)), names)
    shown = [table_bundle(shift_table(found, names), sentence)]
    if style.pictures:
        draw = partial(spread_figure, [(names[0], earlier), (names[1], paths)])
        shown.append(picture_bundle(draw, f"Each run of {names[0]} and of {names[1]}.", style))
    return shown


def check_bundle(found: Sequence[CheckedSaving], style: Style) -> Bundle:
    """Return what slowing all but one part of a step showed, beside what was predicted.

    Args:
      found: from `launch.causal_check`.
      style: how much is shown; without times nothing is the same in every run but a sentence.
    """
    if not style.times:
        return sentence_bundle("What slowing all but one part showed.")
    if not found:
        return sentence_bundle(check_sentence(found))
    return table_bundle(check_table(found), check_sentence(found))


def optimization_bundles(
    found: OptimizedPlacement, verdict: Verdict | None, style: Style
) -> list[Bundle]:
    """Return what an optimised placement would move, and what came of trying it.

    Args:
      found: the placement.
      verdict: of running it beside the present one, or None.
      style: how much is shown; without times nothing is the same in every run but a sentence.
    """
    if not style.times:
        return [sentence_bundle("Where a step should run.")]
    if not found.is_worth_it:
        return [sentence_bundle(found.sentence())]
    shown = [table_bundle(moves_table(found), found.sentence())]
    if verdict is not None:
        shown.append(sentence_bundle(verdict_sentence(verdict)))
    return shown
