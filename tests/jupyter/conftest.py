"""An IPython shell without a terminal, whose displays are kept."""

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from tfdist.graph.scopes import reset_default_graph
from tfdist.jupyter.trace import recent
from tfdist.launch.clusters import running_clusters


class Notebook:
    """A shell with the extension loaded.

    Attributes:
      shell: IPython's.
      names: the user's variables.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.names = shell.user_ns

    def run(self, cell: str) -> list[dict[str, Any]]:
        """Run a cell and return what it displayed, MIME bundle by MIME bundle; errors come out."""
        publisher = self.shell.display_pub = CapturingDisplayPublisher()
        result = self.shell.run_cell(cell)
        result.raise_error()
        shown = [output["data"] for output in publisher.outputs]
        return shown

    def text(self, cell: str) -> str:
        """Run a cell and return the plain text of what it displayed."""
        return "\n".join(data["text/plain"] for data in self.run(cell))

    def value(self, name: str) -> Any:
        """Return a variable of the user's."""
        return self.names[name]


@pytest.fixture
def shell(monkeypatch) -> Iterator[InteractiveShell]:
    """Return a shell in which pictures are wanted, as in a notebook; its graph is empty."""
    monkeypatch.setenv("TFDIST_LIVE", "auto")
    reset_default_graph()
    config = Config()
    config.HistoryManager.enabled = False  # its thread would outlive the test
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=config)
    shell.kernel = object()
    yield shell
    InteractiveShell.clear_instance()
    for cluster in running_clusters():
        cluster.stop()
    recent.clear()
    reset_default_graph()


@pytest.fixture
def notebook(shell, monkeypatch) -> Notebook:
    """Return a notebook with the extension loaded.

    Pictures are drawn coarsely and for one theme, since half of what these tests take is drawing:
    `tests/plots` and the tests in a browser look at them as they are.
    """
    monkeypatch.setattr("tfdist.plots.shared.palette.DOTS_PER_INCH", 48)
    shell.run_line_magic("load_ext", "tfdist")
    shell.run_line_magic("config", "TFDist.theme = 'light'")
    return Notebook(shell)


GRAPH = """
import tfdist as tf
with tf.device("/job:ps"):
    a = tf.Variable(1.0, name="a")
with tf.device("/job:worker/task:1"):
    c = tf.add(a, 2.0, name="c")
sess = tf.Session(cluster.target())
sess.run(a.initializer)
"""


LOOP = """
def body(i):
    with tf.device("/job:worker/task:1"):
        return tf.add(i, one, name="add")
with tf.device("/job:worker/task:0"):
    zero, one, many = tf.constant(0), tf.constant(1), tf.constant(3)
    ends = tf.while_loop(lambda i: i < many, body, [zero], name="repeat")
"""


@pytest.fixture
def with_loop(on_cluster) -> Notebook:
    """Return a notebook with a loop over two workers in its graph, too."""
    on_cluster.run(LOOP)
    return on_cluster


@pytest.fixture
def on_cluster(notebook) -> Iterator[Notebook]:
    """Return a notebook with a cluster, a small graph and a session on worker 0."""
    notebook.run("%cluster start ps=1 worker=2 -q")
    notebook.run(GRAPH)
    yield notebook
    notebook.value("sess").close()
