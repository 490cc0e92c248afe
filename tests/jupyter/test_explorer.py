"""%whatif --sliders and `ScalingExplorer`: what is displayed, and what stays in its place."""

import pytest
from ipywidgets.widgets.widget import _instances

from tfdist.jupyter.explorer import ScalingExplorer
from tfdist.jupyter.live import VIEW, freeze_all
from tfdist.simulation.scaling_grid import scaling_grid
from tfdist.simulation.training import TrainingSetup

LINE = "%whatif train --compute 1s --push 100MB --bandwidth 1GB/s --workers 1:4 --ps 2 --sliders"


@pytest.fixture
def notebook(notebook):
    yield notebook
    freeze_all()
    assert not _instances


def explorer():
    setup = TrainingSetup(ps=2, compute_s=1.0, push_bytes=1e8, ps_bandwidth=1e9)
    return ScalingExplorer(scaling_grid(setup, most=4, spare=2))


def test_the_magic_shows_sliders_in_place_of_the_picture(notebook):
    shown, beside, table = notebook.run(LINE)
    assert "<img" in beside["text/html"]
    assert set(shown) == {"text/plain", VIEW}
    assert shown["text/plain"] == "<ScalingExplorer: 1 to 4 workers>"
    assert "staleness" in table["text/plain"]


def test_the_next_one_freezes_the_last(notebook):
    notebook.run(LINE)
    frozen, _, shown, _, _ = notebook.run(LINE)
    assert "<img" in frozen["text/html"]
    assert VIEW in shown


def test_what_was_chosen_stays_as_a_picture(notebook):
    notebook.names["made"] = explorer()
    notebook.run("made.show()")
    made = notebook.value("made")
    made._widget.choice = {"workers": 3, "ps": 3, "spare": 1, "share": 2}
    assert made.choice == {"workers": 4, "ps": 8, "spare": 1, "straggle_share": 0.01}
    shown, _ = notebook.run("made._widget._hear(None, {'do': 'freeze'}, [])")
    assert shown["text/plain"].startswith("4 workers, in step, make")
    assert made.choice["ps"] == 8


@pytest.mark.parametrize("mode", ["off", "text"])
def test_where_nothing_moves_it_is_told_once(notebook, mode):
    notebook.run(f"%config TFDist.live = '{mode}'")
    shown = notebook.run(LINE)
    assert not any(VIEW in each for each in shown)
    assert any("workers, in step, make" in each["text/plain"] for each in shown)


def test_what_it_begins_with_is_the_setup():
    assert explorer().choice == {"workers": 2, "ps": 2, "spare": 0, "straggle_share": 0.0}
