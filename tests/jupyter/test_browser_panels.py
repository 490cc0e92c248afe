"""A live panel in JupyterLab: numbers move while steps run, and a picture stays in the end."""

import os

import nbformat
import pytest

from tests.jupyter.lab import browser, find_chromium, lab
from tests.jupyter.test_kernel import environment

IN_CI = os.environ.get("CI", "").lower() in ("1", "true")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (find_chromium() or IN_CI), reason="no Chromium is installed"),
]

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
)
END = """
over.set()
thread.join()
watched.close()
%cluster stop
from ipywidgets.widgets.widget import _instances
print("widgets left open:", len(_instances))
"""
RUN_LAST = """async source => {
    const panel = jupyterapp.shell.currentWidget;
    await jupyterapp.commands.execute('notebook:insert-cell-below');
    panel.content.activeCell.model.sharedModel.setSource(source);
    return await jupyterapp.commands.execute('notebook:run-cell');
}"""


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
        yield found


def test_numbers_move_and_the_end_is_a_picture(reader):
    page = reader.page
    steps = reader.outputs(STEPS)
    steps.wait_for()
    first = int(steps.inner_text())
    page.wait_for_function(
        "([path, first]) => Number(document.querySelector(path).innerText) > first + 20",
        arg=[STEPS, first],
    )
    assert reader.outputs(".tfdist-panel").count() == 2
    assert page.evaluate(RUN_LAST, END)
    reader.outputs("img").nth(0).wait_for()
    assert reader.outputs(".tfdist-panel").count() == 0
    assert "widgets left open: 0" in " ".join(reader.outputs("pre").all_inner_texts())
    picture = reader.outputs("img").nth(0)
    assert picture.evaluate("image => image.complete && image.naturalWidth > 1000")
    text = " ".join(reader.outputs("table").all_inner_texts())
    assert "/job:ps/task:0" in text
    assert "There is no queue" in " ".join(reader.outputs("p").all_inner_texts())


def test_nothing_goes_wrong_and_nobody_else_is_asked(reader):
    assert reader.problems == []
