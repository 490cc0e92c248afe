"""One HTML file of what was traced: tables, pictures and versions, without network.

Each picture is there twice, for light and for dark; the browser shows the one that the reader's
theme asks for. What is long is closed and opens without script. A report that plays has the step
player of each trace, and curves to explore, with the one script that they need.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from pathlib import Path

from tfdist.jupyter import bundles, steps, views
from tfdist.jupyter.bundles import Bundle, Style
from tfdist.jupyter.clusters import NO_CLUSTER, cluster_bundle
from tfdist.jupyter.doctor import findings_table
from tfdist.jupyter.html import details, paragraph
from tfdist.jupyter.placements import placement_bundles
from tfdist.jupyter.report_page import page, view
from tfdist.jupyter.trace import Trace
from tfdist.jupyter.training_setups import setup_of_traces
from tfdist.launch.clusters import Cluster
from tfdist.launch.doctor import Finding
from tfdist.plots.player.payload import payload
from tfdist.plots.player.scene import scene
from tfdist.plots.scaling.explorable import explorable_payload
from tfdist.plots.scaling.text import setup_sentence
from tfdist.plots.text import rounds_by_loop, timeline_sentence
from tfdist.simulation.scaling_grid import scaling_grid

SUFFIXES = (".html", ".htm")
THEMES = ("light", "dark")
NEEDS_SCRIPT = "This part plays where the browser runs scripts."


@dataclass(frozen=True)
class Part:
    """A part of a section.

    Attributes:
      title: what stands on it when it is closed.
      shown: makes what is in it, in a style.
      is_open: whether it is open at first.
    """

    title: str
    shown: Callable[[Style], list[Bundle]]
    is_open: bool = False


def report_file(path: str) -> Path:
    """Return the path of a report; ValueError if it does not end as HTML does."""
    file = Path(path).expanduser()
    if file.suffix not in SUFFIXES:
        raise ValueError(f"a report is HTML: FILE.html, not {path}")
    return file


def report_html(
    traces: Sequence[Trace],
    clusters: Sequence[Cluster],
    found: Sequence[Finding],
    style: Style,
    plays: bool = False,
) -> str:
    """Return the page.

    Args:
      traces: in the order in which they were made, each with a complete run.
      clusters: that run.
      found: the doctor's findings.
      style: how much is shown; times and pictures are always, these in both themes.
      plays: whether there are step players and curves to explore, and a script.
    """
    style = replace(style, times=True, pictures=True)
    sections = []
    for number, trace in enumerate(traces, 1):
        parts = trace_parts(trace)
        if plays:
            parts.insert(0, _player(trace, style, trace is traces[-1]))
        sections.append((f"trace-{number}", f"Trace {number}", trace.sentence(), parts))
    if plays:
        sections.append(("scaling", "How training would scale", *_explorer(traces)))
    cards = [Part(each.name, partial(_card, each), True) for each in clusters]
    sections.append(("clusters", "Clusters", "" if cards else NO_CLUSTER, cards))
    versions = Part("What is installed", partial(_versions, found), True)
    sections.append(("versions", "Versions", "", [versions]))
    contents = "".join(
        f'<li><a href="#{name}">{escape(title)}</a> {escape(told)}</li>'
        for name, title, told, _ in sections
    )
    body = "".join(_section(*each, style) for each in sections)
    return page("tfdist report", f"<nav><ol>{contents}</ol></nav>\n{body}", plays)


def trace_parts(trace: Trace) -> list[Part]:
    """Return what is told of a trace: of its last complete run, and of all if there are several."""
    rows, run = trace.rows(), trace.run()
    rounds = rounds_by_loop(rows)
    parts = [
        Part("Timeline", lambda style: steps.timeline_bundles(rows, style), True),
        Part("Totals of each device", lambda style: [steps.totals_bundle(rows, style)], True),
        Part("Nodes and transfers", lambda style: [steps.step_bundle(rows, style)]),
        Part("Placement", lambda style: placement_bundles(run.nodes, style, (), rounds)),
        Part("Calls", lambda style: views.rpcs_bundles(trace.calls(), style)),
    ]
    if len(trace.runs) > 1:
        parts.append(Part("Runs", lambda style: [_runs(trace, style)]))
    if len(trace.repetitions()) > 1:
        repeated = trace.repetitions()
        parts.insert(
            0, Part("All runs", lambda style: views.devices_bundles(repeated, style), True)
        )
    return parts


def _player(trace: Trace, style: Style, is_open: bool) -> Part:
    """Return the step player of a trace's last complete run."""
    rows, nodes = trace.rows(), trace.run().nodes
    sentence = timeline_sentence(rows)
    html = view("player", payload(scene(rows, nodes, style.most_boxes)), sentence, NEEDS_SCRIPT)
    return Part("Step player", lambda _: [_raw(html)], is_open)


def _explorer(traces: Sequence[Trace]) -> tuple[str, list[Part]]:
    """Return what curves to explore tell of, and their part."""
    setup, origin = setup_of_traces(traces)
    sentence = "Throughput over workers, simulated."
    html = view("explorer", explorable_payload(scaling_grid(setup)), sentence, NEEDS_SCRIPT)
    about = bundles.sentence_bundle(setup_sentence(setup, origin))
    part = Part("Throughput over workers", lambda _: [about, _raw(html)], True)
    return "Simulated; nothing was started.", [part]


def _raw(html: str) -> Bundle:
    return Bundle({"text/html": html, "text/plain": ""})


def _runs(trace: Trace, style: Style) -> Bundle:
    return bundles.table_bundle(steps.runs_table(trace, style))


def _card(cluster: Cluster, style: Style) -> list[Bundle]:
    return [cluster_bundle(cluster)]


def _versions(found: Iterable[Finding], style: Style) -> list[Bundle]:
    return [bundles.table_bundle(findings_table(list(found)))]


def _section(name: str, title: str, told: str, parts: Iterable[Part], style: Style) -> str:
    inside = "".join(_part(each, style) for each in parts)
    heading = f"<h2>{escape(title)}</h2>{paragraph(told)}"
    return f'<section id="{name}">{heading}{inside}</section>\n'


def _part(part: Part, style: Style) -> str:
    in_each = [part.shown(replace(style, theme=theme, scripts=False)) for theme in THEMES]
    inside = "".join(_bundle(*each) for each in zip(*in_each, strict=True))
    found = details(part.title, inside)
    return found.replace("<details>", "<details open>", 1) if part.is_open else found


def _bundle(light: Bundle, dark: Bundle) -> str:
    """Return one output; of a picture the one that fits, with its text below."""
    if "image/png" not in light.data:
        return str(light.data.get("text/html") or _preformatted(light.data["text/plain"]))
    about = light.metadata["image/png"]
    alternative, size = escape(about["alt"]), f'width="{about["width"]}"'
    text = light.data["text/plain"].removeprefix(about["alt"]).strip()
    return (
        f'<p><picture><source media="(prefers-color-scheme: dark)" srcset="{_source(dark)}">'
        f'<img alt="{alternative}" {size} src="{_source(light)}"></picture></p>'
        + (details("As text", _preformatted(text)) if text else "")
    )


def _preformatted(text: str) -> str:
    return f"<pre>{escape(text)}</pre>"


def _source(picture: Bundle) -> str:
    return f"data:image/png;base64,{b64encode(picture.data['image/png']).decode()}"
