"""Live panels in JupyterLab: they move, stand still when told to, and a saved notebook has them.

One notebook for all: the tests go on in it, one after the other.
"""

import shutil

import nbformat
import pytest

from tests.jupyter.lab import OPEN_NEXT, browser, lab, needs_chromium
from tests.jupyter.test_kernel import environment

pytestmark = [pytest.mark.slow, needs_chromium]

STEPS = ".tfdist-panel tr[data-task='/job:worker/task:1'] td:nth-of-type(5)"
CELLS = (
    "%load_ext tfdist",
    "%cluster start ps=1 worker=2 -q",
    """import threading
import tfdist as tf
with tf.device("/job:ps"):
    a = tf.Variable(1.0, name="a")
with tf.device("/job:worker/task:1"):
    c = tf.add(a, 2.0, name="c")
sess = tf.Session(cluster.target())
sess.run(a.initializer)
over = threading.Event()

def steps():
    while not over.wait(0.005):
        sess.run(c)

thread = threading.Thread(target=steps)
thread.start()""",
    "%cluster --watch",
    "watched = panel",
    "%queues --watch",
    "%cluster stream -o stream",
    "for step in tf.progress(range(300), delay=0, desc='plain loop'): sess.run(c)",
    "%trace -q c\n%timeline --play",
)
BUSY = """
from pathlib import Path
Path("begun").touch()
while not Path("go_on").exists():
    over.wait(0.01)
"""
END = """
over.set()
thread.join()
watched.close()
stream.close()
%cluster stop
%unload_ext tfdist
from ipywidgets.widgets.widget import _instances
print("widgets left open:", len(_instances))
"""
RUN_LAST = """async source => {
    const panel = jupyterapp.shell.currentWidget;
    await jupyterapp.commands.execute('notebook:insert-cell-below');
    panel.content.activeCell.model.sharedModel.setSource(source);
    const ran = jupyterapp.commands.execute('notebook:run-cell');
    return source.includes('go_on') || await ran;
}"""
LANES = "document.querySelector('.tfp-shown:has(.tfdist-stream)').lanes"
QUEUES = ".tfdist-panel:has-text('There is no queue')"


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """Yield a browser with a notebook whose cells have started a cluster, steps and two panels."""
    folder, home = tmp_path_factory.mktemp("notebooks"), tmp_path_factory.mktemp("home")
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    written = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
    nbformat.write(written, folder / "watch.ipynb")
    env = {name: environment("auto")[name] for name in ("PYTHONPATH", "TFDIST_LIVE")}
    with lab(folder, home, env) as base, browser(base) as found:
        assert found.run_all_cells(base, "watch.ipynb")
        found.folder = folder
        yield found


def test_numbers_move(reader):
    page = reader.page
    steps = reader.outputs(STEPS)
    steps.wait_for()
    first = int(steps.inner_text())
    page.wait_for_function(
        "([path, first]) => Number(document.querySelector(path).innerText) > first + 20",
        arg=[STEPS, first],
    )
    reader.outputs(".tfdist-panel tr[data-lane='/job:worker/task:1']").wait_for()
    assert reader.outputs(".tfdist-panel").count() == 3
    stills = reader.outputs("[class^=tfdist-still]")
    assert stills.count() == 4
    assert not any(each.is_visible() for each in stills.all())


def in_sight(page):
    """Return from when to when the lanes are seen, and how long was watched."""
    return page.evaluate("() => [LANES.from, LANES.to, LANES.data.span]".replace("LANES", LANES))


def test_lanes_zoom_and_move_by_the_mouse_while_new_seconds_come(reader):
    page, canvas = reader.page, reader.outputs(".tfdist-stream canvas")
    canvas.scroll_into_view_if_needed()
    page.wait_for_function(f"() => {LANES}.data.span > 2")
    box = canvas.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + 12
    page.mouse.move(x, y)
    reader.outputs(".tfdist-stream .tfd-tip:has-text('ps:0'):visible").wait_for()
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    page.wait_for_function(f"() => {LANES}.to < {LANES}.data.span")
    begin, end, watched = in_sight(page)
    assert 0 < begin < end < watched
    page.mouse.down()
    page.mouse.move(x + 30, y)
    page.wait_for_function(f"watched => {LANES}.data.span > watched", arg=watched)
    page.mouse.move(x + 60, y)  # the same canvas, though the panel was written anew meanwhile
    page.mouse.up()
    moved, until, _ = in_sight(page)
    assert moved < begin
    assert until - moved == pytest.approx(end - begin)
    canvas.dblclick(position={"x": 400, "y": 12})
    nearer, until, _ = in_sight(page)
    assert until - nearer < (end - begin) / 2
    reader.outputs(".tfdist-stream button:text('Fit')").click()
    begin, end, watched = in_sight(page)
    assert (begin, end) == (0, watched)
    page.wait_for_function(f"watched => {LANES}.to > watched", arg=watched)  # it stays the whole


def test_a_notebook_that_is_saved_now_has_stills_in_it(reader):
    save = "async () => await jupyterapp.commands.execute('docmanager:save')"
    reader.page.evaluate(save)
    shutil.copy(reader.folder / "watch.ipynb", reader.folder / "saved.ipynb")
    saved = nbformat.read(reader.folder / "saved.ipynb", 4)
    texts = [data["text/plain"] for data in displayed(saved) if "text/html" in data]
    assert "/job:worker/task:1" in texts[0]
    assert texts[1].startswith("There is no queue")
    assert texts[2].startswith("3 tasks over ")
    assert texts[3].startswith("plain loop: 300 of 300 steps [")
    assert texts[4].startswith("StepPlayer: ")


def displayed(notebook):
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", ()))
    return [output["data"] for output in outputs if "data" in output]


@pytest.fixture
def busy(reader):
    """Yield the reader while a cell runs, until it is told to go on."""
    assert reader.page.evaluate(RUN_LAST, BUSY)
    while not (reader.folder / "begun").exists():  # else the kernel may hear of a button first
        reader.page.wait_for_timeout(20)
    yield reader
    (reader.folder / "go_on").touch()  # whatever was wrong: later cells wait for it


def test_its_button_works_while_a_cell_runs_and_says_when_it_is_a_picture(busy):
    panel = busy.outputs(QUEUES)
    panel.locator("button").click()
    told = "Stands still; a picture when the running cell has ended"
    panel.locator(f"button:has-text('{told}')").wait_for()
    before = panel.locator(".tfp-shown").inner_text()
    steps = int(busy.outputs(STEPS).inner_text())
    busy.page.wait_for_function(
        "([path, steps]) => Number(document.querySelector(path).innerText) > steps + 20",
        arg=[STEPS, steps],
    )  # the other one goes on
    assert panel.locator(".tfp-shown").inner_text() == before
    (busy.folder / "go_on").touch()
    panel.wait_for(state="detached")
    assert "There is no queue" in " ".join(busy.outputs("p").all_inner_texts())


def test_the_end_is_a_picture(reader):
    assert reader.page.evaluate(RUN_LAST, END)
    pictures = reader.outputs("img:visible")
    pictures.nth(0).wait_for()
    assert reader.outputs(".tfdist-panel").count() == 0
    assert "widgets left open: 0" in " ".join(reader.outputs("pre").all_inner_texts())
    assert pictures.nth(0).evaluate("image => image.complete && image.naturalWidth > 1000")
    text = " ".join(reader.outputs("table").all_inner_texts())
    assert "/job:ps/task:0" in text


def test_what_was_saved_while_it_moved_is_there_without_its_kernel(reader):
    reader.page.evaluate(OPEN_NEXT, "saved.ipynb")
    errors = reader.page.locator(".jp-OutputArea-output:has-text('model not found')")
    errors.nth(3).wait_for(state="attached")
    assert not any(each.is_visible() for each in errors.all())
    assert reader.outputs("table:visible :text('/job:worker/task:1')").count() > 0
    assert reader.outputs("p:visible:has-text('There is no queue')").count() == 1
    assert reader.outputs("img:visible").count() == 1


def test_nothing_goes_wrong_and_nobody_else_is_asked(reader):
    assert reader.problems == []
