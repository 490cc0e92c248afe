"""Rich displays: HTML that survives sanitizers, text that says the same, nothing random."""

import re
import sys

import pytest

from tests.plots.samples import layered_nodes
from tests.tracing.samples import three_tasks
from tfdist.cluster.spec import ClusterSpec
from tfdist.jupyter import steps
from tfdist.jupyter.bundles import Style
from tfdist.jupyter.html import details, image, table_html
from tfdist.jupyter.placements import placement_bundles
from tfdist.plots.shared.tables import Table
from tfdist.protos import pb
from tfdist.tracing.steps.rows import rows


def shown(notebook, value):
    return notebook.shell.display_formatter.format(value)[0]


def test_html_has_scopes_and_no_style_sheets_or_ids():
    html = steps.step_bundle(rows(three_tasks()), Style()).data["text/html"]
    assert 'scope="col"' in html
    assert 'scope="rowgroup" rowspan="4"' in html
    assert not re.search(r"<style|<svg|<script|var\(|\bid=", html)
    assert "#0072B2" in html


def test_html_is_escaped():
    html = table_html(Table(("<a>",), (("<b>",),)), "<c>")
    assert "<a>" not in html
    assert "<b>" not in html
    assert "<c>" not in html


def test_html_and_text_say_the_same():
    bundle = steps.step_bundle(rows(three_tasks()), Style(times=False), "A step.").data
    cells = re.sub(r"<[^>]+>", " ", bundle["text/html"]).replace("&#9632;", "").split()
    text = re.sub(r"-{3,}", "", bundle["text/plain"]).split()
    assert sorted(cells) == sorted(text)


def test_a_picture_has_alternative_text_and_a_size():
    (bundle,) = steps.timeline_bundles(rows(three_tasks()), Style())
    about = bundle.metadata["image/png"]
    assert about["alt"].startswith("Timeline of a step: 5 nodes on 3 devices")
    assert (about["width"], bundle.data["text/plain"].splitlines()[0]) == (864, about["alt"])


def test_what_opens_needs_no_script_and_is_escaped():
    html = details("a < b", image(b"png", '"c" & d', 90, 40))
    assert html == (
        "<details><summary>a &lt; b</summary>"
        '<p><img alt="&quot;c&quot; &amp; d" width="90" height="40" '
        'src="data:image/png;base64,cG5n"></p></details>'
    )


def test_a_large_placement_is_folded_and_cut():
    picture, table = placement_bundles(layered_nodes(80), Style(most_rows=10))
    assert picture.data["image/png"]
    assert "... and 310 more rows" in table.data["text/html"]


def test_a_spec_is_shown_as_table_and_as_what_one_types(notebook):
    spec = ClusterSpec({"ps": ["a:1"], "worker": {3: "b:2"}})
    data = shown(notebook, spec)
    assert data["text/plain"] == repr(spec)
    assert "/job:worker/task:3" in data["text/html"]


def test_servers_and_clusters_have_displays(notebook):
    notebook.run("%cluster start ps=1 -q")
    cluster = notebook.value("cluster")
    assert "/job:ps/task:0" in shown(notebook, cluster)["text/html"]
    server = shown(notebook, cluster.servers[0])
    assert server["text/plain"] == repr(cluster.servers[0])
    assert "up" in server["text/html"]


def test_metadata_is_shown_as_a_table(notebook):
    data = shown(notebook, pb.RunMetadata(step_stats=three_tasks()))
    assert data["text/plain"].startswith("Timeline of a step: 5 nodes on 3 devices")
    assert "RecvTensor" in data["text/html"]


def test_empty_metadata_says_how_to_fill_it(notebook):
    assert "FULL_TRACE" in shown(notebook, pb.RunMetadata())["text/plain"]


def test_a_trace_has_a_display(on_cluster):
    on_cluster.run("%trace -q -o found c")
    data = shown(on_cluster, on_cluster.value("found"))
    assert data["text/plain"].startswith("Trace of 1 run; in the last one 4 nodes")
    assert "/job:worker/task:0" in data["text/html"]


def test_an_empty_trace_has_a_display(notebook):
    notebook.run("%%trace -q -o found\npass")
    assert (
        shown(notebook, notebook.value("found"))["text/plain"] == "Trace of 0 runs, none complete"
    )


@pytest.mark.parametrize("name", ["cluster", "found", "cluster.spec"])
def test_displays_are_the_same_each_time(on_cluster, name):
    on_cluster.run("%trace -q -o found c")
    value = eval(name, on_cluster.names)
    assert shown(on_cluster, value) == shown(on_cluster, value)


def test_a_figure_is_a_picture_at_its_size_without_pyplot(on_cluster):
    on_cluster.run("%config TFDist.theme = 'auto'\n%trace -q -o found c")
    figure = on_cluster.value("found").figure()
    show = on_cluster.shell.display_formatter.formatters["image/png"].lookup(figure)
    picture, about = show(figure)
    assert picture.startswith(b"\x89PNG")
    assert about["width"] == round(96 * figure.get_size_inches()[0])
    bundle = shown(on_cluster, figure)
    assert 'alt="Chart: ' in bundle["text/html"]
    assert "followTheme" in bundle["text/html"]
    assert figure.get_facecolor() == (1, 1, 1, 1)  # it has its own colours again
    assert "matplotlib.pyplot" not in sys.modules


@pytest.mark.parametrize(
    ("columns", "cell", "wanted", "refused"),
    [
        (2, "a", "white-space:nowrap", "anywhere"),
        (2, "a" * 30, "overflow-wrap:anywhere", "min-width"),  # a name
        (2, "some words " * 8, "min-width:14em", "none"),  # three letters a line say nothing
    ],
)
def test_what_of_a_table_may_be_broken(columns, cell, wanted, refused):
    rows = (("x", *[cell] * (columns - 1), "1"),)
    html = table_html(Table((*"abcdefghij"[:columns], "count"), rows, frozenset({columns})))
    assert wanted in html
    assert refused not in html


def test_headers_of_many_columns_may_take_several_lines():
    header = tuple(f"computing, part {i}" for i in range(9))
    html = table_html(Table(header, (("1",) * 9,), frozenset(range(9))))
    head, body = html.split("<tbody>")
    assert "nowrap" not in head
    assert "nowrap" in body
