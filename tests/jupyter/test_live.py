"""Outputs that move and then stand still: what is sent, and that no widget stays open."""

import threading

import ipywidgets
import pytest
from IPython.core.displaypub import DisplayPublisher
from ipywidgets.widgets.widget import _instances

from tfdist.jupyter import live
from tfdist.jupyter.bundles import Bundle, sentence_bundle
from tfdist.jupyter.live import VIEW, Live, Way, freeze_all, joined, way_of

PICTURE = Bundle(
    {"image/png": b"png", "text/plain": "a picture"},
    {"image/png": {"alt": "a picture", "width": 3, "height": 2}},
)


class Sent(DisplayPublisher):
    """Keeps what is displayed: (bundle, name of the display, whether it is an update)."""

    def __init__(self):
        super().__init__()
        self.outputs = []

    def publish(self, data, metadata=None, *, transient=None, update=False, **more):
        """Keep an output."""
        self.outputs.append((data, (transient or {}).get("display_id"), update))


@pytest.fixture
def sent(shell):
    """Return what is displayed in a kernel."""
    publisher = shell.display_pub = Sent()
    yield publisher.outputs
    freeze_all()
    assert not _instances


def shown(still=(PICTURE,), way=Way.WIDGET, **more):
    """Return a live output that was shown with a widget of several parts."""
    found = Live(lambda: still, way, "a test", **more)
    found.show(ipywidgets.VBox([ipywidgets.HTML("moves"), ipywidgets.Button()]))
    return found


def test_a_widget_becomes_a_picture_in_its_place_and_is_closed(sent):
    found = shown()
    assert len(_instances) > 3
    found.freeze()
    found.freeze()
    (widget, name, first), (still, same, second) = sent
    assert (set(widget), widget["text/plain"], first) == ({VIEW, "text/plain"}, "<a test>", False)
    assert (VIEW in still, still["image/png"], second) == (False, b"png", True)
    assert name == same is not None
    assert not _instances


def test_it_stands_still_only_once_whoever_asks(sent):
    found = shown()
    threads = [threading.Thread(target=found.freeze) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [update for _, _, update in sent] == [False, True]


def test_what_cannot_be_drawn_says_so_and_leaves_nothing_open(sent):
    found = Live(lambda: 1 / 0, Way.WIDGET, "a test")
    found.show(ipywidgets.HTML("moves"))
    found.freeze()
    assert "a test could not be drawn: ZeroDivisionError" in sent[-1][0]["text/plain"]


def test_who_is_told_first_that_it_ends(sent):
    order = []
    found = Live(
        lambda: order.append("drawn") or [PICTURE], Way.WIDGET, "", lambda: order.append("ended")
    )
    found.show()
    found.freeze()
    assert order == ["ended", "drawn"]


def test_lines_come_once_a_second_at_most_and_end_as_text(sent, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(live.time, "monotonic", lambda: now[0])
    found = Live(lambda: [PICTURE], Way.LINE, "a test")
    found.show()
    for seconds, line in [(0.0, "one"), (0.5, "left out"), (0.6, "two")]:
        now[0] += seconds
        found.tell(line)
    found.freeze()
    found.tell("too late")
    assert [data["text/plain"] for data, _, _ in sent] == ["one", "two", "a picture"]
    assert [update for _, _, update in sent] == [False, True, True]
    assert set(sent[-1][0]) == {"text/plain"}


def test_what_is_compared_is_shown_once_and_never_changes(sent):
    found = Live(lambda: [PICTURE], Way.STILL, "a test")
    found.show()
    found.tell("a line")
    found.freeze()
    assert len(sent) == 1
    assert found.is_frozen


@pytest.mark.parametrize(
    ("setting", "in_kernel", "way"),
    [
        ("auto", True, Way.WIDGET),
        ("auto", False, Way.LINE),
        ("text", True, Way.LINE),
        ("off", True, Way.STILL),
        ("off", False, Way.STILL),
    ],
)
def test_how_it_is_shown(shell, setting, in_kernel, way):
    if not in_kernel:
        del shell.kernel
    assert way_of(setting) is way


def test_without_ipywidgets_it_is_a_line(shell, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ipywidgets", None)
    assert way_of("auto") is Way.LINE


@pytest.mark.parametrize("end", ["%unload_ext tfdist", "raise KeyboardInterrupt"])
def test_what_ends_all_that_moves(notebook, end):
    found = shown()
    try:
        notebook.run(end)
    except KeyboardInterrupt:
        pass
    assert found.is_frozen
    assert not _instances


def test_an_error_in_a_cell_ends_nothing(notebook):
    found = shown()
    with pytest.raises(ZeroDivisionError):
        notebook.run("1 / 0")
    assert not found.is_frozen
    found.freeze()


def test_several_outputs_in_one():
    found = joined([PICTURE, sentence_bundle("a < b"), Bundle({"text/plain": "only text"})])
    assert found.data["text/plain"] == "a picture\na < b\nonly text"
    assert found.data["image/png"] == b"png"
    assert found.data["text/html"].count("<img") == 1
    assert "<p>a &lt; b</p><p>only text</p>" in found.data["text/html"]
