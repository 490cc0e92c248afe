"""Displays of clusters, servers, and of what was recorded of their steps."""

from __future__ import annotations

from typing import Any

from tfdist.jupyter import bundles, clusters, steps
from tfdist.jupyter.bundles import Bundle, Style
from tfdist.jupyter.census import census_bundles
from tfdist.jupyter.displays.cards import Show
from tfdist.jupyter.html import table_html
from tfdist.jupyter.live import joined
from tfdist.jupyter.why import why_bundle
from tfdist.plots.shared.tables import Table
from tfdist.plots.text import timeline_sentence
from tfdist.tracing.steps.node_row import devices
from tfdist.tracing.steps.rows import rows


def _cluster(cluster: Any, style: Style) -> Bundle:
    return clusters.cluster_bundle(cluster)


def _spec(spec: Any, style: Style) -> Bundle:
    return bundles.spec_bundle(spec)


def _server(server: Any, style: Style) -> Bundle:
    state = "up" if server.is_running else "not running"
    table = Table(("task", "state", "target"), ((server.task_name, state, server.target),))
    return Bundle({"text/plain": repr(server), "text/html": table_html(table)})


def _run_metadata(metadata: Any, style: Style) -> Bundle:
    found = rows(metadata.step_stats)
    if not found:
        return bundles.sentence_bundle(
            "RunMetadata without step statistics: "
            "run with options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)"
        )
    sentence = timeline_sentence(found, style.times)
    return steps.step_bundle(found, style, sentence)


def _trace(trace: Any, style: Style) -> Bundle:
    if not trace.runs:
        return bundles.sentence_bundle(repr(trace)[1:-1])
    colours = bundles.short_colours(devices(trace.rows())) if trace.complete_runs else {}
    return bundles.table_bundle(steps.runs_table(trace, style), repr(trace)[1:-1], colours)


def _census(found: Any, style: Style) -> Bundle:
    return joined(census_bundles(found, style))


def _why(found: Any, style: Style) -> Bundle:
    return why_bundle(found, style)


DISPLAYS: dict[tuple[str, str], Show] = {
    ("tfdist.launch.clusters", "Cluster"): _cluster,  # of every kind
    ("tfdist.cluster.spec", "ClusterSpec"): _spec,
    ("tfdist.wire.server", "Server"): _server,
    ("tfdist.protos.pb", "RunMetadata"): _run_metadata,
    ("tfdist.jupyter.trace", "Trace"): _trace,
    ("tfdist.plots.live.census", "ClusterCensus"): _census,
    ("tfdist.plots.live.why", "Why"): _why,
}
