"""Panels of a cluster and of its queues: live, and as what they leave behind."""

import pytest
from ipywidgets.widgets.widget import _instances

from tests.jupyter.test_kernel import PATIENCE, Kernel
from tests.jupyter.test_live import VIEW, Sent
from tests.runtime.blocking import Call, until
from tfdist.jupyter import beside
from tfdist.jupyter.census import ClusterPanel
from tfdist.jupyter.queues import QueuePanel
from tfdist.plots.shared.tables import Table

pytestmark = pytest.mark.usefixtures("no_garbage")

QUEUE = """
with tf.device("/job:ps"):
    queue = tf.FIFOQueue(3, tf.float32, [[]], name="numbers")
put, take = queue.enqueue(1.0), queue.dequeue(name="take")
sess.run(put)
"""


@pytest.fixture
def watched(on_cluster):
    """Yield a notebook with a cluster and a queue; in the end no widget is open."""
    on_cluster.run(QUEUE)
    yield on_cluster
    for panel in [
        each for each in on_cluster.names.values() if isinstance(each, ClusterPanel | QueuePanel)
    ]:
        panel.close()
    assert not _instances


def test_numbers_move_while_other_cells_run(watched):
    shown, beside, *_ = watched.run("%cluster --watch")
    assert set(shown) == {VIEW, "text/plain"}
    assert set(beside) == {"text/html", "text/plain"}
    panel = watched.value("panel")
    assert repr(panel) == shown["text/plain"] == "<ClusterPanel of cluster 'main'>"
    before = panel._widget.html
    watched.run("for _ in range(20): sess.run(c)")
    until(lambda: "data-link=" in panel._widget.html and ">22<" in panel._widget.html)
    assert panel._widget.html != before
    assert 'data-task="/job:worker/task:1"' in panel._widget.html
    assert "1 of 3" in panel._widget.html
    assert panel.is_watching


def test_it_leaves_a_picture_tables_and_text(watched):
    watched.run("sess.run(c)\n%cluster --watch")
    *_, still, where_the_widget_was = watched.run("panel.freeze()")
    assert where_the_widget_was == {"text/plain": ""}
    assert set(still) == {"image/png", "text/html", "text/plain"}
    assert "/job:worker/task:1" in still["text/plain"]
    assert still["text/html"].count("<table") == 3
    assert not watched.value("panel").is_watching


def test_a_still_stands_beside_the_widget_which_hides_it_and_is_replaced(watched, monkeypatch):
    monkeypatch.setattr(beside, "EVERY", 0.0)
    publisher = watched.shell.display_pub = Sent()
    watched.shell.run_cell("%cluster --watch")
    panel = watched.value("panel")
    (_, first, _), (data, second, _), *_ = publisher.outputs
    assert first != second
    assert f'<div class="{panel._widget.still}">' in data["text/html"]
    assert "<img" not in data["text/html"]  # tables: what stays in the end is drawn once
    watched.shell.run_cell("for _ in range(20): sess.run(c)")
    publisher.outputs.clear()
    until(lambda: any("22 " in data["text/plain"] for data, *_ in list(publisher.outputs)))
    assert {name for _, name, _ in publisher.outputs} == {second}
    panel.freeze()
    *_, (still, last, _), (nothing, emptied, _) = publisher.outputs
    assert ("image/png" in still, last) == (True, second)
    assert (nothing, emptied) == ({"text/plain": ""}, first)


def test_its_button_keeps_what_was_seen_when_it_was_pressed(watched):
    watched.run("%cluster --watch")
    panel = watched.value("panel")
    watched.run("for _ in range(20): sess.run(c)")
    until(lambda: ">22<" in panel._widget.html)
    panel._widget._hear(None, {"do": "wave"}, [])
    first = panel.history.samples[0].seconds
    panel._widget._hear(None, {"do": "freeze", "seconds": first}, [])
    until(lambda: not panel.is_watching)
    assert len(panel.history.samples) == 1


def test_a_cell_that_runs_again_has_the_only_panel(watched):
    watched.run("%cluster --watch")
    first = watched.value("panel")
    watched.run("%queues --watch -o queues\n%cluster --watch")
    assert not first.is_watching
    assert watched.value("panel").is_watching
    assert watched.value("queues").is_watching


def test_a_panel_is_an_object_too(watched):
    with QueuePanel(watched.value("cluster"), "numb") as panel:
        assert isinstance(panel.table(), Table)
        assert panel.table().rows[0][1:4] == ("numbers", "FIFOQueue", "1 of 3")
        assert panel.to_text().startswith("1 queue; nobody waits.\non ")
        assert panel.line() == "0 s; numbers: 1 of 3"
        assert panel.figure().axes
    assert not panel.is_watching


def test_what_has_not_changed_is_not_sent_again(watched, monkeypatch):
    panel = QueuePanel(watched.value("cluster")).show()
    sent = []
    monkeypatch.setattr(panel._widget, "_send", lambda *each, **more: sent.append(each))
    samples = len(panel.history.samples)
    until(lambda: len(panel.history.samples) >= samples + 3)
    assert len(sent) <= panel.history.seconds + 2  # it says for how many seconds it has watched
    panel.close()


@pytest.mark.parametrize("stop", ["%cluster stop", "cluster.stop()"])
def test_it_ends_with_its_cluster(watched, stop):
    watched.run("%cluster --watch")
    panel = watched.value("panel")
    watched.run(stop)
    until(lambda: not panel.is_watching)
    assert [task.steps for task in panel.history.last.tasks] == [2, 2, 0]


def test_seconds_to_watch(watched):
    shown = watched.run("%queues --watch --for 0.3")
    assert set(shown[0]) == {VIEW, "text/plain"}
    assert [set(each) for each in shown[-2:]] == [
        {"image/png", "text/html", "text/plain"},
        {"text/plain"},
    ]
    assert len(watched.value("panel").history.samples) >= 2


def test_ctrl_c_comes_out_and_leaves_the_picture(watched, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(QueuePanel, "line", interrupted)
    publisher = watched.shell.display_pub = Sent()
    panel = QueuePanel(watched.value("cluster"))
    with pytest.raises(KeyboardInterrupt):
        panel.show(60)
    assert "image/png" in publisher.outputs[-2][0]


def test_outputs_that_are_compared_have_no_widget_and_no_times(watched):
    watched.run("%config TFDist.live = 'off'")
    first, second = (watched.run("%cluster --watch --for 60") for _ in range(2))
    assert [set(each) for each in first] == [{"image/png", "text/html", "text/plain"}]
    assert first[0]["text/plain"] == second[0]["text/plain"]
    assert "steps/s" not in first[0]["text/plain"]


def test_as_text_a_line_is_rewritten(watched):
    watched.run("%config TFDist.live = 'text'")
    line, *_, last = watched.run("%queues --watch --for 0.3")
    assert line == {"text/plain": "0 s; numbers: 1 of 3", "text/html": line["text/html"]}
    assert set(last) == {"text/plain"}


def test_in_a_terminal_only_the_end_is_printed(watched):
    del watched.shell.kernel
    [shown] = watched.run("%queues --watch --for 0.2")
    assert "numbers" in shown["text/plain"]


def test_a_panel_of_everything_that_this_process_reaches(notebook):
    with ClusterPanel() as panel:
        assert panel.to_text().startswith("No task tells of itself")
        assert repr(panel) == "<ClusterPanel>"


# %queues without watching


def test_who_waits_and_since_when(watched):
    session, take = watched.value("sess"), watched.value("take")
    call = Call(lambda: [session.run(take) for _ in range(2)])
    until(
        lambda: any("take for 1 element" in each["text/plain"] for each in watched.run("%queues"))
    )
    watched.run("sess.run(put)")
    call.result()


def test_patterns_choose_by_name(watched):
    assert "numbers" in watched.text("%queues NUM")
    assert "numbers" in watched.text("%queues n*s")
    assert watched.text("%queues other").startswith(
        "There is no queue, accumulator or staging area with a name like 'other'"
    )


def test_all_that_tasks_hold(watched):
    picture, queues, rooms, rest = watched.run("%queues --all -o found")
    assert "image/png" in picture
    assert "numbers" in queues["text/plain"]
    assert rooms["text/plain"] == "1 variable and 1 other resource, in 1 container on 1 task."
    assert "variable  float32[]    4 B" in rest["text/plain"]
    assert len(watched.value("found").records.holdings) == 2


def test_all_that_tasks_hold_by_name(watched):
    [told] = watched.run("%queues --all nobody")
    assert told["text/plain"] == "No task holds anything."


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("%queues --for 3", "--for 3 is for --watch: add it"),
        ("%queues --watch --for soon", "'soon' is not a number of seconds"),
        ("%cluster spec --watch", "--watch is for %cluster"),
        ("%cluster nobody --watch", "the verbs are"),
        ("%queues -t nobody", "no cluster 'nobody' runs"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(watched, line, told, capsys):
    with pytest.raises(BaseException, match=told):
        watched.run(line)


def test_a_census_is_displayed_richly(watched):
    [shown] = watched.run("display(tf.census(cluster))")
    assert set(shown) == {"image/png", "text/html", "text/plain"}
    assert shown["text/html"].count("<table") == 2


@pytest.mark.slow
def test_the_end_of_the_kernel_leaves_a_picture_of_what_was_seen_last():
    kernel = Kernel()
    try:
        watch = "%load_ext tfdist\n%cluster start a=1 -q\n%cluster --watch"
        assert kernel.run(watch) == "ok"
        kernel.client.shutdown()
        last = None
        while last is None:
            message = kernel.client.get_iopub_msg(timeout=PATIENCE)
            if message["msg_type"] == "update_display_data":
                data = message["content"]["data"]
                last = data if "image/png" in data else None
    finally:
        kernel.stop()
    assert set(last) == {"image/png", "text/html", "text/plain"}
