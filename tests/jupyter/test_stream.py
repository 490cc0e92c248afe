"""`%cluster stream`: who computes, moves and waits over time; live, still, as text, as a file."""

from html import unescape

import pytest
from ipywidgets.widgets.widget import _instances

from tests.jupyter.test_live import VIEW
from tests.runtime.blocking import until
from tfdist.jupyter.stream import StreamPanel

pytestmark = pytest.mark.usefixtures("no_garbage")

WORK = """
import time
with tf.device("/job:worker/task:1"):
    slow = tf.py_func(lambda: time.sleep(0.3) or 1.0, [], tf.float64)
sess.run(slow.op)
"""


@pytest.fixture
def watched(on_cluster):
    """Yield a notebook with a cluster; in the end no widget is open."""
    yield on_cluster
    for panel in [each for each in on_cluster.names.values() if isinstance(each, StreamPanel)]:
        panel.close()
    assert not _instances


def test_lanes_move_while_other_cells_run(watched):
    (shown, *_) = watched.run("%cluster stream")
    assert VIEW in shown
    panel = watched.value("panel")
    assert panel._widget.html.count("data-lane") == 3
    watched.run(WORK)
    until(lambda: "worker:1 was " in panel._widget.html)
    panel.freeze()
    assert " s; ps:0: " in panel.line()


def test_it_leaves_a_picture_a_table_and_text(watched):
    *_, still, _ = watched.run("%cluster stream --for 0.5")
    assert {"image/png", "text/html", "text/plain"} <= set(still)
    assert "from left to right; # computing, / moving, . waiting" in still["text/plain"]
    assert "Processors and memory are those of a task's process" in still["text/plain"]
    assert still["text/plain"].count("the same") == 4


def test_quietly_it_watches_and_displays_nothing(watched, tmp_path):
    assert watched.run("%cluster stream -q -o quiet") == []
    panel = watched.value("quiet")
    assert panel.is_watching
    until(lambda: len(panel.history.samples) > 2)
    assert watched.run("quiet.close()") == []
    assert panel.to_text().startswith("3 tasks over ")
    file = tmp_path / "stream.svg"
    assert watched.run(f"%cluster stream -q --for 0.4 --save {file}") == []
    assert "worker:1" in file.read_text()


def test_quietly_a_terminal_does_not_wait(watched):
    del watched.shell.kernel
    assert watched.run("%cluster stream -q -o quiet") == []
    assert watched.value("quiet").is_watching


@pytest.mark.parametrize("suffix", ["png", "svg", "html", "txt"])
def test_it_is_saved(watched, tmp_path, suffix):
    file = tmp_path / f"stream.{suffix}"
    assert f"wrote {file}" in watched.text(f"%cluster stream --for 0.3 --save {file}")
    assert file.stat().st_size > 300


def test_as_text_it_is_a_line_and_then_lanes(watched):
    watched.run("%config TFDist.live = 'text'")
    shown = watched.run("%cluster stream --for 0.3")
    assert {"text/plain", "text/html"} >= set(shown[-1])
    assert "worker:1 |" in shown[-1]["text/plain"]
    assert "worker:1 |" in shown[-1].get("text/html", "worker:1 |")


def test_outputs_that_are_compared_have_no_times(watched):
    watched.run("%config TFDist.live = 'off'")
    (still,) = watched.run("%cluster stream")
    assert still["text/plain"].splitlines()[0] == "The stream of 3 tasks."
    assert "%" not in still["text/plain"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("%cluster stream nobody", "nobody"),
        ("%cluster stream --save F.png", "--save needs --for SECONDS"),
        ("%cluster stream --for 0", "'0' is not a number of seconds"),
        ("%cluster steam", "did you mean %cluster stream?"),
        ("%cluster top", "did you mean %cluster stream?"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(watched, line, told, capsys):
    watched.shell.run_cell(line)
    assert told in capsys.readouterr().err


def test_it_ends_with_its_cluster(watched):
    watched.run("%cluster stream")
    watched.run("%cluster stop -q")
    until(lambda: not watched.value("panel").is_watching)


@pytest.mark.parametrize(
    ("sight", "shown"),
    [
        ([0.1, 0.2], (0.1, 0.2)),
        (None, None),  # the whole
        ([0.2, 0.1], None),
        (["a", {}], None),
    ],
)
def test_its_button_keeps_what_was_zoomed_into(watched, sight, shown):
    watched.run("%cluster stream")
    panel = watched.value("panel")
    panel._widget._hear(None, {"do": "freeze", "seconds": 0.3, "sight": sight}, [])
    until(lambda: not panel.is_watching)
    assert panel._sight == shown
    panel.figure()


def test_traced_steps_are_marked_and_zoomed_into(watched):
    watched.run("%cluster stream -q -o stream")
    panel = watched.value("stream")
    with pytest.raises(ValueError, match="no step was traced while this was watched"):
        panel.zoom()
    watched.run(WORK + "\n%trace -q slow")
    traced = panel.history.seconds
    until(lambda: panel.history.seconds > traced + 0.5)
    panel.close()
    (step,) = panel.stream().traced
    assert 0.3 <= step.end - step.begin <= panel.history.seconds
    assert '"marks":[[' in unescape(panel.html())
    for figure in (panel.figure(), panel.zoom(), panel.zoom(0.0, panel.history.seconds)):
        assert "empty: idle; ▾ a traced step" in [each.get_text() for each in figure.axes[0].texts]
    with pytest.raises(ValueError, match="it was watched from 0 to"):
        panel.zoom(5.0, 3.0)
