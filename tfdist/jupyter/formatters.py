"""Rich displays of classes of the floors below, which know nothing of notebooks themselves.

They are registered by the class's module and name: nothing is imported before it is displayed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.jupyter import bundles, clusters
from tfdist.jupyter.bundles import Bundle, Style
from tfdist.jupyter.html import table_html
from tfdist.jupyter.why import why_bundle
from tfdist.plots.tables import Table
from tfdist.plots.text import timeline_sentence
from tfdist.tracing.rows import devices, rows

MimeBundle = tuple[dict[str, Any], dict[str, Any]]


def register(shell: Any, style: Callable[[], Style]) -> None:
    """Register the displays; `style` is asked at each."""
    formatter = shell.display_formatter.mimebundle_formatter
    for (module, name), show in DISPLAYS.items():
        formatter.for_type_by_name(module, name, _formatter(show, style))


def unregister(shell: Any) -> None:
    """Undo `register`."""
    formatter = shell.display_formatter.mimebundle_formatter
    for module, name in DISPLAYS:
        formatter.pop(f"{module}.{name}", None)


def _formatter(
    show: Callable[[Any, Style], Bundle], style: Callable[[], Style]
) -> Callable[..., MimeBundle]:
    def call(value: Any, include: Any = None, exclude: Any = None) -> MimeBundle:
        bundle = show(value, style())
        return bundle.data, bundle.metadata

    return call


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
    return bundles.step_bundle(found, style, sentence)


def _trace(trace: Any, style: Style) -> Bundle:
    if not trace.runs:
        return bundles.sentence_bundle(repr(trace)[1:-1])
    colours = bundles.short_colours(devices(trace.rows())) if trace.complete_runs else {}
    return bundles.table_bundle(bundles.runs_table(trace, style), repr(trace)[1:-1], colours)


def _why(found: Any, style: Style) -> Bundle:
    return why_bundle(found, style)


DISPLAYS: dict[tuple[str, str], Callable[[Any, Style], Bundle]] = {
    ("tfdist.launch.clusters", "Cluster"): _cluster,  # of every kind
    ("tfdist.cluster.spec", "ClusterSpec"): _spec,
    ("tfdist.wire.server", "Server"): _server,
    ("tfdist.protos.pb", "RunMetadata"): _run_metadata,
    ("tfdist.jupyter.trace", "Trace"): _trace,
    ("tfdist.plots.why", "Why"): _why,
}
