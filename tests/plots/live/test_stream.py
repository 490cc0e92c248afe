"""The task stream as text and as a picture: what each task did, once for each process."""

import math

import pytest

from tests.plots.texts import assert_inside_and_apart
from tfdist.plots.live.stream import NOBODY, TaskStream
from tfdist.plots.live.stream_figure import mark_text, stream_figure, time_marks
from tfdist.plots.live.stream_payload import stream_payload
from tfdist.plots.shared.palette import png
from tfdist.plots.shared.themes import THEMES, drawn
from tfdist.tracing.census import Census, TaskStatus
from tfdist.tracing.census_history import CensusHistory
from tfdist.tracing.steps.node_row import NodeRow
from tfdist.tracing.waits import Unreachable
from tfdist.tracing.zoom import TracedStep
from tfdist.web.stream import stream_html

SILENT = Unreachable("/job:far/task:0", "does not tell: it is not a tfdist server")


def stream(count, seconds=60, processes=True, silent=()):
    """Return the stream of tasks that compute more and less, and wait or move the rest."""
    history = CensusHistory()
    done = [[0.0, 0.0, 0.0] for _ in range(count)]
    for second in range(seconds):
        told = []
        for i, each in enumerate(done):
            share = 0.5 + 0.4 * math.sin(second / 9 + i)
            for k, part in enumerate((share, 0.05, 0.95 - share if i else 0.0)):
                each[k] += part
            name = f"/job:{'worker' if i else 'ps'}/replica:0/task:{max(i - 1, 0)}"
            told.append(
                TaskStatus(
                    name,
                    1,
                    process=i if processes else 1,
                    process_bytes=10**8 + second * 10**6,
                    seconds=float(second),
                    processor=0.8 * second,
                    computed=each[0],
                    moved=each[1],
                    waited=each[2],
                )
            )
        history.add(float(second), Census(tuple(told), silent=silent))
    return TaskStream(history)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("count", [3, 20])
def test_texts_stand_inside_and_apart(theme, count):
    with drawn(theme):
        figure = stream_figure(stream(count))
    texts = assert_inside_and_apart(figure)
    assert {"computing", "moving", "waiting", "empty: idle"} <= texts


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(lambda: TaskStream(CensusHistory()), id="no cluster"),
        pytest.param(lambda: stream(2, 1), id="one look"),
        pytest.param(lambda: stream(2, 2), id="two looks"),
        pytest.param(lambda: stream(0, 2, silent=(SILENT,)), id="nobody tells"),
        pytest.param(lambda: stream(60, 3), id="more than are shown"),
    ],
)
def test_pictures_are_drawn(made):
    assert png(stream_figure(made())).startswith(b"\x89PNG")
    assert "<" in stream_html(made())


def test_text_has_lanes_and_a_row_for_each_task():
    text = str(stream(2, 61))
    assert text.startswith("2 tasks over 60 s; worker:0 was computing most, 52 % of the time; ")
    first, second = (line for line in text.splitlines() if line.endswith("|"))
    assert first.startswith("ps:0     |####")
    assert second.startswith("worker:0 |####")
    assert "." in second
    assert "60 s from left to right; # computing, / moving, . waiting" in text
    assert "0.80" in text


@pytest.mark.parametrize(("processes", "times"), [(True, 0), (False, 4)])
def test_what_is_the_processes_is_said_once(processes, times):
    found = stream(3, processes=processes).table()
    assert str(found).count("the same") == times
    assert found.note.startswith(
        "Processors and memory are those of a task's process" * bool(times)
    )


def test_without_times_it_is_the_same_in_every_run():
    assert stream(2, 10).text(times=False) == stream(2, 50).text(times=False)
    assert str(TaskStream(CensusHistory())) == NOBODY


def test_who_does_not_tell_says_why():
    text = str(stream(1, 5, silent=(SILENT,)))
    assert "2 tasks, 1 of them silent" in text
    assert SILENT.reason in text


@pytest.mark.parametrize(
    ("span", "marks"),
    [
        (5.0, ["0 s", "1 s", "2 s", "3 s", "4 s", "5 s"]),
        (60.0, ["0 s", "10 s", "20 s", "30 s", "40 s", "50 s", "60 s"]),
        (130.0, ["0:00", "0:30", "1:00", "1:30", "2:00"]),
        (3700.0, ["0:00", "10:00", "20:00", "30:00", "40:00", "50:00", "60:00"]),
    ],
)
def test_marks_on_the_axis(span, marks):
    assert [mark_text(each, span) for each in time_marks(span)] == marks


def test_html_has_a_lane_for_each_task_and_its_shares_in_words():
    html = stream_html(stream(3))
    assert html.count("data-lane") == 3
    assert html.count('data-lane="/job:worker/task:1"') == 1
    assert "0.80" in html
    assert " %" in html


def test_who_is_silent_is_there_live_too():
    for count in (0, 2):
        html = stream_html(stream(count, 5, silent=(SILENT,)))
        assert SILENT.reason in html
        assert html.count("data-lane") == count + 1


def test_who_has_ended_keeps_its_lane_and_is_said_to_be_silent():
    found = stream(2, 10)
    *_, last = found.history.samples
    gone = Unreachable("/job:worker/task:0", "Connection refused")
    found.history.add(10.0, Census(last.census.tasks[:1], silent=(gone,)))
    assert found.sentence().startswith("2 tasks, 1 of them silent over 10 s")
    assert [row[1] for row in found.table().rows] == ["up", "Connection refused"]
    html = stream_html(found)
    assert (html.count("data-lane"), html.count("Connection refused")) == (2, 1)
    assert found.silences("/job:worker/replica:0/task:0") == [(9.0, 10.0)]
    assert found.silences("/job:ps/replica:0/task:0") == []
    assert stream_payload(found)["tasks"][1]["parts"][-1] == [9.0, 10.0]
    assert "did not tell" in assert_inside_and_apart(stream_figure(found))


def idle(seconds):
    """Return the stream of a task that does nothing for so long."""
    history = CensusHistory()
    for second in range(seconds + 1):
        told = TaskStatus("/job:ps/replica:0/task:0", 1, seconds=float(second))
        history.add(float(second), Census((told,)))
    return history


def test_a_browser_gets_what_is_the_same_for_long_as_one_part():
    payload = stream_payload(TaskStream(idle(30)))
    assert (payload["span"], payload["marks"]) == (30.0, [])
    assert payload["tasks"] == [{"name": "ps:0", "colour": "#0072B2", "parts": [[0, 30, 0, 0, 0]]}]
    (first, _) = stream_payload(stream(2, 10))["tasks"]
    assert len(first["parts"]) == 9
    assert all(0 < computed < 100 for _, _, computed, _, _ in first["parts"])


@pytest.mark.parametrize(
    ("rows", "parts"),
    [
        (1, [[0, 5, 0, 0, 0], [5, 5.5, 100, 0, 0], [5.5, 30, 0, 0, 0]]),  # told apart
        (500, [[0, 30, 0, 0, 0]]),  # too many to be sent again and again: marked only
    ],
)
def test_a_browser_gets_the_nodes_of_a_small_traced_step(rows, parts):
    device, each = "/job:ps/replica:0/task:0/device:CPU:0", 500_000 / rows
    found = [NodeRow(device, f"n{i}", "Neg", "compute", i * each, each) for i in range(rows)]
    step = TracedStep(5.0, found)
    payload = stream_payload(TaskStream(idle(30), [step]))
    assert payload["marks"] == [[5.0, 5.5]]
    assert payload["tasks"][0]["parts"] == parts


def test_more_tasks_than_are_shown_are_counted():
    html = stream_html(stream(60, 3))
    assert html.count("data-lane") == 40
    assert "20 more tasks are not shown" in html
