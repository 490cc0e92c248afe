"""Timelines, tables, placements and graphs in JupyterLab: how high, how legible, what they tell.

Three lanes of work: a step of 20 workers, one of 5,000 nodes, and nothing at all. One browser sees
them at two widths, light and dark, and once more from a saved notebook without a kernel.
"""

import json
import os
import re

import pytest

from tests.jupyter.lab import OPEN_NEXT, browser, lab, needs_chromium
from tests.jupyter.test_browser_player import PIXELS, notebook
from tests.jupyter.test_kernel import ROOT, environment

pytestmark = [pytest.mark.slow, needs_chromium]

SCREEN = 800  # pixels of an output that are seen at once
BUILD = """
import tfdist as tf
with tf.device("/job:ps"):
    weights = tf.Variable(tf.ones([4]), name="weights")
outs = []
for i in range(20):
    scope = f"tower_{i}/layer/with_quite_a_long_name"
    with tf.device(f"/job:worker/task:{i}"), tf.name_scope(scope):
        inner = tf.square(weights + float(i), name="squares")
        outs.append(tf.reduce_mean(tf.exp(-inner, name="exponentials"), name="mean_of_them"))
with tf.device("/job:ps"):
    total = tf.add_n(outs, name="total")
sess = tf.Session(cluster.target())
sess.run(weights.initializer)
sess.run(total)"""
LARGE = """
from tests.tracing.samples import PS, WORKER0, node, step
stats = [node(f"chain_{i % 40}/step_{i}", "Add", "", i * 3, 2) for i in range(5000)]
large = tf.RunMetadata(step_stats=step((PS, stats[::2]), (WORKER0, stats[1::2])))
%timeline large"""
CELLS = (
    "%load_ext tfdist\n%cluster start ps=1 worker=20 -q",
    BUILD,
    "%trace total",
    "%timeline --rpcs",
    "%placement total",
    "%graph",
    LARGE,
    "%graph --by time",
    "tf.reset_default_graph()\n%graph",
    "%trace 1 + 1",
    "%queues",
    "%timeline --play",
)
TRACE, RPCS, PLACEMENT, GRAPH, BIG, BY_TIME, EMPTY_GRAPH, EMPTY_TRACE, EMPTY_QUEUES = range(2, 11)
CUT_OR_WIDE = """() => [...document.querySelectorAll('.jp-OutputArea-output')]
    .filter(each => each.scrollWidth > each.clientWidth + 1)
    .map(each => each.innerText.slice(0, 80))"""
BROKEN_NUMBERS = """table => [...table.querySelectorAll('[data-kind=number]')]
    .filter(each => {
        const range = document.createRange();
        range.selectNodeContents(each);
        return new Set([...range.getClientRects()].map(line => Math.round(line.top))).size > 1;
    }).length"""
SLIPPED = """() => {
    const lanes = document.querySelector('.tfdist-player .tfd-lanes').getBoundingClientRect();
    const { strip } = document.querySelector('.tfdist-player').player;
    return [...document.querySelectorAll('.tfd-name')].filter((each, i) => {
        const { top, height } = each.getBoundingClientRect();
        return Math.abs(top + height / 2 - (lanes.top + 9 + (i + 0.5) * strip.lane)) > 2;
    }).length;
}"""


class Reader:
    """A notebook that has run, in a browser."""

    def __init__(self, found, base, folder):
        self.found, self.page, self.base, self.folder = found, found.page, base, folder

    def cell(self, number):
        return self.page.locator(".jp-CodeCell").nth(number)

    def of(self, number, selector):
        return self.cell(number).locator(f".jp-OutputArea-output {selector}")

    def theme(self, name):
        self.page.evaluate(
            "theme => jupyterapp.commands.execute('apputils:change-theme', { theme })",
            f"JupyterLab {name}",
        )
        self.page.wait_for_selector(
            f"body[data-jp-theme-light={str(name == 'Light').lower()}]", state="attached"
        )
        self.page.wait_for_timeout(200)  # the pictures follow

    def drawn(self):
        self.page.wait_for_timeout(100)  # a few frames


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    folder, home = tmp_path_factory.mktemp("notebooks"), tmp_path_factory.mktemp("home")
    (folder / "pictures.ipynb").write_text(notebook(CELLS))
    env = {name: environment("auto")[name] for name in ("PYTHONPATH", "TFDIST_LIVE")}
    env["PYTHONPATH"] += os.pathsep + str(ROOT)  # a cell takes samples of the tests
    with lab(folder, home, env) as base, browser(base) as found:
        found.page.set_viewport_size({"width": 1400, "height": 900})
        assert found.run_all_cells(base, "pictures.ipynb")
        found.page.wait_for_selector(".tfdist-player .tfd-caption b")
        found.page.evaluate("() => jupyterapp.shell.collapseLeft()")
        yield Reader(found, base, folder)


@pytest.mark.parametrize("width", [1400, 800])
def test_nothing_is_higher_than_a_screen_or_wider_than_its_cell(reader, width):
    reader.page.set_viewport_size({"width": width, "height": 900})
    reader.drawn()
    for number in range(2, len(CELLS)):
        height = reader.cell(number).locator(".jp-Cell-outputArea").bounding_box()["height"]
        assert height <= SCREEN, CELLS[number]
    assert reader.page.evaluate(CUT_OR_WIDE) == []
    reader.page.set_viewport_size({"width": 1400, "height": 900})


def test_pictures_are_legible_and_have_alternative_text(reader):
    for number in (RPCS, PLACEMENT):
        picture = reader.of(number, "img").first
        box = picture.bounding_box()
        assert box["width"] * 1.4 < picture.evaluate("image => image.naturalWidth") < 1500
        assert len(picture.get_attribute("alt")) > 20
    for number in (TRACE, GRAPH, BIG):
        canvas = reader.of(number, ".tfdist-view canvas").first
        assert canvas.get_attribute("role") == "img"
        assert re.match("Timeline|Graph", canvas.get_attribute("aria-label"))


def test_the_timeline_stands_before_the_table_which_is_closed(reader):
    summary = reader.of(TRACE, "summary").first
    assert timeline(reader).bounding_box()["y"] < summary.bounding_box()["y"]
    assert "the longest first" in summary.inner_text()
    assert not reader.of(TRACE, "table").first.is_visible()


def test_a_table_shows_fifteen_rows_sorts_and_is_searched(reader):
    reader.of(TRACE, "summary").first.click()
    table = reader.of(TRACE, ".tfdist-table").first
    rows = table.locator("tbody tr")
    assert rows.count() == 15
    for width in (800, 1400):
        reader.page.set_viewport_size({"width": width, "height": 900})
        assert table.evaluate(BROKEN_NUMBERS) == 0
        assert table.bounding_box()["width"] <= width
    names = rows.locator("td:nth-of-type(1)")
    table.get_by_role("button", name="node").click()
    assert names.first.inner_text() == "total"
    table.get_by_role("button", name="node").click()
    assert names.first.inner_text().startswith("weights")
    table.locator("input").fill("tower_19/layer/with_quite_a_long_name/exp")
    assert {name.get_attribute("title") for name in names.all()} == {
        "tower_19/layer/with_quite_a_long_name/exponentials"
    }
    assert "…" in names.first.inner_text()
    reader.of(TRACE, "summary").first.click()


def timeline(reader, number=TRACE):
    return reader.of(number, ".tfdist-timeline").first


def place_of(view, condition):
    """Return where a bar is drawn of which a condition, in JavaScript, holds."""
    return view.evaluate(f"""root => {{ const {{ view }} = root, {{ bars }} = view;
        const i = bars.order.find(i => {condition});
        const [left, top, width, height] = view.box(i);
        return {{ x: left + Math.min(width / 2, 2), y: top + height / 2 }}; }}""")


def test_a_timeline_tells_on_hover_and_keeps_what_is_clicked(reader):
    view = timeline(reader)
    view.scroll_into_view_if_needed()
    place = place_of(view, "bars.title(i) === 'total' && bars.kind[i] === 0")
    view.locator("canvas").hover(position=place)
    assert view.locator(".tfd-tip").inner_text().startswith("total\nAddN on ps:0")
    view.locator("canvas").click(position=place)
    told = view.locator(".tfd-about").inner_text()
    assert "made at notebook cell" in told
    assert "takes: received tower_0" in told
    view.locator(".tfd-about button").first.click()
    told = view.locator(".tfd-about").inner_text()
    assert told.startswith("tower_")
    assert "waited for it: total" in told
    view.press("Escape")
    assert view.locator(".tfd-about").inner_text() == ""


def test_a_timeline_zooms_moves_and_finds(reader):
    view = timeline(reader, BIG)
    view.scroll_into_view_if_needed()
    span = "root => [root.view.from, root.view.to]"
    whole = view.evaluate(span)
    view.get_by_role("button", name="zoom in").click()
    first = view.evaluate(span)
    assert first[1] - first[0] < whole[1] - whole[0]
    view.press("ArrowRight")
    assert view.evaluate(span)[0] > first[0]
    view.press("0")
    assert view.evaluate(span) == whole
    view.locator("input").fill("step_4999")
    assert view.locator(".tfd-found").inner_text() == "1 of 1"
    assert view.locator(".tfd-about b").inner_text() == "chain_39/step_4999"
    assert view.evaluate("root => root.view.bars.count") == 5000
    reader.drawn()
    assert view.evaluate("root => root.view.frames.length") > 3


@pytest.mark.parametrize(
    ("number", "name", "place", "scale"),
    [
        (BIG, "timeline", "view.from", "1 / (view.to - view.from)"),
        (GRAPH, "graph", "view.left", "view.scale"),
    ],
)
def test_a_view_is_dragged_and_ctrl_wheel_zooms(reader, number, name, place, scale):
    view = reader.of(number, f".tfdist-{name}").first
    canvas, mouse = view.locator("canvas"), reader.page.mouse
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    read = f"({{ view }}) => [{place}, {scale}]"
    view.press("0")
    view.press("Escape")
    whole = view.evaluate(read)
    canvas.evaluate(
        "canvas => canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: -300, ctrlKey: true }))"
    )
    zoomed = view.evaluate(read)
    assert zoomed[1] > 1.5 * whole[1]
    mouse.move(x, y)
    mouse.down()
    mouse.move(x - 60, y)
    mouse.up()
    moved = view.evaluate(read)
    assert moved[0] != zoomed[0]
    assert moved[1] == pytest.approx(zoomed[1])
    assert view.locator(".tfd-about").inner_text() == ""  # a drag is no click
    view.press("0")
    assert view.evaluate(read) == whole


def test_of_tasks_that_are_alike_one_is_drawn(reader):
    assert re.search("worker:[01]…19, (19|20) alike", reader.of(RPCS, "pre").first.text_content())
    assert reader.page.evaluate(SLIPPED) == 0


def test_scopes_of_a_graph_open_and_nodes_are_found(reader):
    view = reader.of(GRAPH, ".tfdist-graph").first
    view.scroll_into_view_if_needed()
    place = view.evaluate("""root => {
        const g = root.view, box = g.shown.boxes.find(each => each[7]);
        const [x, y] = g.at(box[0] + box[2] / 2, box[1] + box[3] / 2); return { x, y }; }""")
    before = view.locator("canvas").evaluate(PIXELS)
    view.locator("canvas").click(position=place)
    reader.drawn()
    assert view.locator(".tfd-crumbs").inner_text().startswith("graph / ")
    assert view.locator("canvas").evaluate(PIXELS) != before
    view.press("Escape")
    assert view.locator(".tfd-crumbs").inner_text() == ""
    view.locator("input").fill("AddN")
    told = view.locator(".tfd-about").inner_text()
    assert told.startswith("total\nAddN\n/job:ps/task:0\ntook ")
    assert "made 4 B" in told


def test_time_has_a_scale(reader):
    legend = reader.of(BY_TIME, ".tfd-legend").first.inner_text()
    assert len(re.findall(r"[\d.]+ (?:µs|ms)", legend)) == 4


def test_what_is_empty_is_a_sentence(reader):
    for number, sentence in (
        (EMPTY_GRAPH, "The graph has no nodes"),
        (EMPTY_TRACE, "Nothing ran"),
        (EMPTY_QUEUES, "There is no queue"),
    ):
        assert sentence in reader.cell(number).locator(".jp-Cell-outputArea").inner_text()
        assert reader.of(number, ":is(img, canvas)").count() == 0


def test_pictures_follow_the_theme(reader):
    places = [
        reader.of(TRACE, ".tfdist-timeline canvas").first,
        reader.of(GRAPH, ".tfdist-graph canvas").first,
        reader.of(PLACEMENT, "img").first,
    ]
    look = f"found => found.tagName === 'IMG' ? found.src.slice(0, 90) : ({PIXELS})(found)"
    light = [each.evaluate(look) for each in places]
    reader.theme("Dark")
    dark = [each.evaluate(look) for each in places]
    assert all(a != b for a, b in zip(light, dark, strict=True))
    reader.theme("Light")
    assert [each.evaluate(look) for each in places] == light


def open_copy(reader, name):
    """Save the notebook, and open a copy of it, which nobody trusts, without a kernel."""
    reader.page.evaluate("() => jupyterapp.commands.execute('docmanager:save')")
    made = json.loads((reader.folder / "pictures.ipynb").read_text())
    made["cells"] = made["cells"][: EMPTY_GRAPH + 1]
    made["metadata"]["kernelspec"] = {"name": "none", "display_name": "none"}
    (reader.folder / name).write_text(json.dumps(made))
    reader.page.evaluate(OPEN_NEXT, name)
    reader.page.wait_for_selector(".jp-OutputArea-output img")


def test_a_saved_notebook_shows_stills_without_kernel_and_scripts(reader):  # the last: it leaves
    assert reader.found.problems == []
    open_copy(reader, "copy.ipynb")
    for number in (TRACE, RPCS, PLACEMENT, GRAPH, BIG):
        picture = reader.of(number, "img").first
        picture.scroll_into_view_if_needed()
        assert picture.evaluate("image => image.complete && image.naturalWidth > 600")
        assert len(picture.get_attribute("alt")) > 20
        assert reader.of(number, "canvas").count() == 0
