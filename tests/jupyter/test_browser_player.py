"""The step player in JupyterLab: played and scrubbed in the browser, frozen by its own button."""

import json

import pytest

from tests.jupyter.lab import browser, lab, needs_chromium
from tests.jupyter.test_kernel import environment

pytestmark = [pytest.mark.slow, needs_chromium]

CELLS = (
    "%load_ext tfdist\n%cluster start ps=1 worker=2 -q",
    """import tfdist as tf
with tf.device("/job:ps"):
    a = tf.Variable(tf.ones([8]), name="a")
with tf.device("/job:worker/task:1"):
    c = tf.add(a, 2.0, name="c")
sess = tf.Session(cluster.target())
sess.run(a.initializer)
%trace -q c""",
    "%timeline --play",
    "%whatif train --compute 1s --workers 1:8 --sliders",
)
PIXELS = """canvas => {
    const found = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    return found.reduce((sum, each, i) => (sum * 31 + each * (i % 97)) % 1000000007, 7);
}"""


def notebook(cells):
    made = [
        {"cell_type": "code", "id": f"c{i}", "source": cell, "metadata": {}, "outputs": [],
         "execution_count": None}
        for i, cell in enumerate(cells)
    ]  # fmt: skip
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}  # else it asks for one
    return json.dumps({"cells": made, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """Yield a browser in which a player is shown."""
    folder, home = tmp_path_factory.mktemp("notebooks"), tmp_path_factory.mktemp("home")
    (folder / "player.ipynb").write_text(notebook(CELLS))
    env = {name: environment("auto")[name] for name in ("PYTHONPATH", "TFDIST_LIVE")}
    with lab(folder, home, env) as base, browser(base) as found:
        assert found.run_all_cells(base, "player.ipynb")
        found.page.wait_for_selector(".tfdist-player .tfd-caption b")
        yield found


@pytest.fixture
def player(reader):
    """Return the player, at its beginning."""
    found = reader.page.locator(".tfdist-player")
    found.press("Home")
    return found


def drawn(player):
    """Wait until the browser has drawn what it was told."""
    player.page.evaluate("() => new Promise(done => requestAnimationFrame(() => "
                         "requestAnimationFrame(done)))")  # fmt: skip


def caption(player):
    drawn(player)
    return player.locator(".tfd-caption").text_content()


def pixels(player):
    """Return a number that differs if the picture does."""
    drawn(player)
    return player.locator(".tfd-graph").evaluate(PIXELS)


def test_the_slider_moves_caption_and_picture(player):
    first, before = caption(player), pixels(player)
    assert first.startswith("0 µs: ")
    player.locator(".tfd-slider").fill("0.5")
    assert pixels(player) != before
    assert caption(player) != first
    assert player.locator(".tfd-slider").get_attribute("aria-valuetext") == caption(player)


def test_keys_go_from_event_to_event(player):
    seen = {caption(player)}
    for _ in range(3):
        player.press("ArrowRight")
        seen.add(caption(player))
    assert len(seen) == 4
    player.press("End")
    assert caption(player).endswith(": the step is over")


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_it_plays_to_its_end_without_the_kernel(reader, player, motion):
    reader.page.emulate_media(reduced_motion=motion)
    reader.page.evaluate("() => document.querySelector('.tfdist-player').player.speed = 8")
    player.press(" ")
    assert player.get_attribute("data-playing") == "true"
    reader.page.wait_for_selector(".tfdist-player[data-playing=false]")
    assert caption(player).endswith(": the step is over")
    frames = reader.page.evaluate("() => document.querySelector('.tfdist-player').player.frames")
    assert len(frames) > 5


def test_hovering_tells_of_a_node(reader, player):
    box = reader.page.evaluate(
        "() => { const { picture } = document.querySelector('.tfdist-player').player;"
        " const found = picture.scene.boxes.find(box => box.title === 'c');"
        " return picture.at(found.x, found.y); }"
    )
    player.locator(".tfd-graph").hover(position={"x": box[0], "y": box[1]})
    tip = player.locator(".tfd-tip").text_content()
    assert tip.startswith("cAdd on worker:1")
    assert "receives a/read from ps:0" in tip
    assert "32 B" in tip


def test_the_picture_follows_the_theme(reader, player):
    light = pixels(player)
    reader.page.evaluate("() => jupyterapp.commands.execute('apputils:change-theme', "
                         "{ theme: 'JupyterLab Dark' })")  # fmt: skip
    reader.page.wait_for_selector(".tfdist-player[data-ground=dark]")
    assert pixels(player) != light


def test_sliders_move_curves(reader):
    explorer = reader.page.locator(".tfdist-explorer")
    curve = explorer.locator(".tfx-curve.tfx-together")
    before = curve.get_attribute("d")
    explorer.locator("[data-name=share]").fill("3")
    assert curve.get_attribute("d") != before
    explorer.locator(".tfx-freeze").click()
    reader.outputs("img[alt*='in step, make']").wait_for()
    assert explorer.count() == 0


def test_its_button_leaves_pictures(reader, player):  # the last one: the player is gone then
    player.locator(".tfd-slider").fill("0.5")
    told = caption(player)
    player.locator(".tfd-freeze").click()
    pictures = reader.outputs("img:not([alt*='in step, make'])")
    pictures.first.wait_for()
    assert pictures.count() == 2
    assert pictures.first.get_attribute("alt") == f"{told}."
    assert reader.page.locator(".tfdist-player").count() == 0
    assert reader.problems == []
