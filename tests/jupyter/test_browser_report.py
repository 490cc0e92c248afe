"""A shared report in a browser: opened as a file, played and explored, and what it may not do."""

import pytest

from tests.jupyter.lab import browser, needs_chromium
from tests.jupyter.test_browser_player import PIXELS
from tests.plots.samples import three_task_nodes
from tests.tracing.samples import PS, node, step, three_tasks
from tfdist.jupyter.bundles import Style
from tfdist.jupyter.report import report_html
from tfdist.jupyter.trace import Trace
from tfdist.protos import pb
from tfdist.session.recording import PlacedNode, RecordedRun

pytestmark = [pytest.mark.slow, needs_chromium]

HARM = '</script><img src="http://harm.test/x" onerror="window.harm=1"><script>window.harm=1;'


def trace(stats, nodes=(), fetches="c:0"):
    metadata = pb.RunMetadata(step_stats=stats)
    return Trace((RecordedRun(fetches, metadata, "grpc://x", 1.0, None, tuple(nodes)),))


def harmful():
    """Return a trace whose names would do harm if they were part of the page."""
    nodes = [PlacedNode(HARM, "Const", HARM, PS, HARM, ())]
    return trace(step((PS, [node(HARM, "Const", "", 0, 9)])), nodes, HARM)


class Reader:
    """A page that shows a report, and what it asked for and complained of."""

    def __init__(self, found, file):
        self.page, self.problems, self.requests, self.said = found.page, found.problems, [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", self.hear)
        self.page.goto(file.as_uri())
        self.page.wait_for_selector(".tfdist-explorer .tfx-curve")

    def hear(self, message):
        if message.type == "error":
            self.said.append(message.text)

    def pixels(self):
        self.page.wait_for_timeout(50)  # two frames
        return self.page.locator(".tfd-graph").first.evaluate(PIXELS)

    def curve(self, name):
        return self.page.locator(f"path.tfx-curve.tfx-{name}").get_attribute("d")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    found = tmp_path_factory.mktemp("report") / "r.html"
    traces = [harmful(), trace(three_tasks(), three_task_nodes())]
    found.write_text(report_html(traces, [], [], Style(), True), encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def reader(file):
    with browser("file://") as found:
        yield Reader(found, file)


def test_a_slider_moves_the_curves_and_what_they_say(reader):
    before, told = reader.curve("together"), reader.page.locator(".tfx-told")
    reader.page.locator(".tfdist-explorer [data-name=share]").fill("3")
    assert reader.curve("together") != before
    assert told.text_content() == reader.page.locator(".tfx-chart").get_attribute("aria-label")
    slowed = reader.curve("together")
    reader.page.locator(".tfdist-explorer [data-name=spare]").fill("3")
    assert reader.curve("together") != slowed
    assert "3 spare replicas" in told.text_content()
    reader.page.locator(".tfx-again").click()
    assert reader.curve("together") == before


def test_the_player_steps(reader):
    player = reader.page.locator(".tfdist-player:visible")
    before = reader.pixels()
    player.press("ArrowRight")
    player.press("ArrowRight")
    assert reader.pixels() != before
    player.press("End")
    assert "the step is over" in player.locator(".tfd-caption").text_content()
    assert not player.locator(".tfd-freeze").is_visible()  # there is no notebook to keep it


def test_a_closed_player_begins_when_it_is_opened(reader):
    first = reader.page.locator("#trace-1 details").first
    assert first.locator(".tfdist-player").count() == 0
    first.locator("summary").first.click()
    first.locator(".tfdist-player").wait_for()


@pytest.mark.parametrize("width", [420, 800, 1400])
def test_it_is_no_wider_than_its_window_nor_than_1200_pixels(reader, width):
    reader.page.set_viewport_size({"width": width, "height": 900})
    reader.page.wait_for_timeout(100)
    assert reader.page.evaluate("() => document.documentElement.scrollWidth") <= width
    assert reader.page.evaluate("() => document.body.clientWidth") <= 1200


def test_it_follows_the_theme(reader):
    light = reader.pixels()
    reader.page.emulate_media(color_scheme="dark")
    reader.page.wait_for_selector(".tfdist-explorer[data-ground=dark]")
    assert reader.pixels() != light
    reader.page.emulate_media(color_scheme="light")


def test_it_asks_nobody_and_names_in_it_do_no_harm(reader, file):
    reader.page.evaluate(
        "() => document.querySelectorAll('details').forEach(d => { d.open = true; })"
    )
    assert reader.page.evaluate("() => window.harm") is None
    assert HARM in reader.page.locator("#trace-1").text_content()
    asked = {url for url in reader.requests if not url.startswith("data:image/png")}
    assert asked == {file.as_uri()}
    assert reader.said == []
    assert reader.problems == []


def test_its_policy_refuses_what_it_did_not_come_with(reader):  # the last one: it complains
    reader.page.evaluate(
        """() => document.body.insertAdjacentHTML('beforeend',
        '<img src="data:," onerror="window.harm=1"><img src="file:///etc/hostname">')"""
    )
    reader.page.wait_for_timeout(200)
    assert reader.page.evaluate("() => window.harm") is None
    assert any("Content Security Policy" in each for each in reader.said)
