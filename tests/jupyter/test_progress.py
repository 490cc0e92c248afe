"""`tfdist.progress` in a notebook: one output that is updated, and stays as it was last."""

import pytest

import tfdist as tf
from tfdist.jupyter import progress
from tfdist.training.sessions.progress import Progress


@pytest.fixture
def quick(monkeypatch):
    """Let every step be shown."""
    monkeypatch.setattr(progress, "EVERY", 0.0)


def test_a_loop_leaves_a_full_bar(notebook, quick):
    shown = notebook.run("import tfdist as tf\nfor _ in tf.progress(range(4), delay=0): pass")
    assert shown[-1]["text/plain"].startswith("4 of 4 steps [")
    assert shown[-1]["text/plain"].endswith(" done")
    assert "width:240px;height:100%" in shown[-1]["text/html"]


def test_a_loop_that_is_left_says_where_it_stopped(notebook, quick):
    shown = notebook.run(
        "import tfdist as tf\n"
        "with tf.progress(total=4, delay=0, desc='epoch 1') as bar:\n"
        "    bar.update(); bar.set_postfix(loss=0.5)"
    )
    assert shown[-1]["text/plain"].startswith("epoch 1: 1 of 4 steps [")
    assert shown[-1]["text/plain"].endswith("loss=0.5] stopped")


def test_ctrl_c_comes_out_and_leaves_what_was_reached(notebook, quick):
    with pytest.raises(KeyboardInterrupt):
        notebook.run(
            "import tfdist as tf\n"
            "for step in tf.progress(range(9), delay=0):\n"
            "    if step == 5: raise KeyboardInterrupt"
        )
    [last] = [each["data"] for each in notebook.shell.display_pub.outputs][-1:]
    assert last["text/plain"].endswith("stopped")


def test_what_cannot_be_known_is_not_drawn(notebook, quick):
    shown = notebook.run("import tfdist as tf\nlist(tf.progress(iter('abc'), delay=0));")
    assert shown[-1]["text/plain"].startswith("3 steps [")
    assert "width:240px" not in shown[-1]["text/html"]


@pytest.mark.parametrize(
    ("mode", "kinds"),
    [("text", {"text/plain"}), ("off", None), ("auto", {"text/plain", "text/html"})],
)
def test_it_is_shown_as_everything_that_moves(notebook, quick, mode, kinds):
    notebook.run(f"%config TFDist.live = '{mode}'")
    shown = notebook.run("import tfdist as tf\nfor _ in tf.progress(range(2), delay=0): pass")
    assert [set(each) for each in shown[-1:]] == ([] if kinds is None else [kinds])


def test_it_is_not_shown_more_often_than_a_reader_sees(notebook):
    shown = notebook.run(
        "import tfdist as tf\nfor _ in tf.progress(range(500), delay=0, mininterval=0): pass"
    )
    assert len(shown) < 100


def test_in_a_terminal_it_is_the_line_of_tqdm(shell):
    del shell.kernel
    assert type(tf.progress(range(3))) is Progress
