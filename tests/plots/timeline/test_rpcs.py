"""Sequence diagrams, comparisons and many runs: pictures and their texts."""

import re

import pytest

from tests.tracing.samples import loop, three_tasks
from tfdist.plots.shared.palette import png, svg
from tfdist.plots.shared.themes import THEMES, drawn
from tfdist.plots.timeline.comparison import comparison_figure, comparison_table, comparison_text
from tfdist.plots.timeline.device_activity import (
    devices_figure,
    devices_sentence,
    devices_table,
    devices_text,
)
from tfdist.plots.timeline.rpc_diagram import rpcs_figure, rpcs_sentence, rpcs_text
from tfdist.plots.timeline.rpc_layout import MOST_LINES, layout_rpcs
from tfdist.tracing.calls import MASTER, RpcCall, calls_of
from tfdist.tracing.steps.comparison import compare
from tfdist.tracing.steps.rows import rows
from tfdist.tracing.steps.spread import device_spreads

STEP = rows(three_tasks())
LOOP = rows(loop(5))
CALLS = calls_of(three_tasks(), fetches="add_1:0")
FIGURES = {
    "calls": lambda: rpcs_figure(CALLS),
    "comparison": lambda: comparison_figure(STEP, LOOP),
    "devices": lambda: devices_figure([STEP, STEP[:4], STEP]),
}


def texts(figure):
    """Return what is written in a picture."""
    from matplotlib.text import Text

    return {text.get_text() for text in figure.findobj(Text)}


def test_lines_follow_each_other_in_time_and_answers_their_calls():
    lines = layout_rpcs(CALLS).lines
    assert [line.time_us for line in lines] == sorted(line.time_us for line in lines)
    asked = set()
    for line in lines:
        assert not line.is_answer or id(line.call) in asked
        asked.add(id(line.call))
    assert lines[0].label == "RunStep add_1:0"
    assert lines[-1].call.method == "RunStep"


def test_activities_of_one_lifeline_that_overlap_stand_side_by_side():
    found = layout_rpcs(CALLS).activities
    for one in found:
        for other in found:
            if one is not other and (one.lifeline, one.depth) == (other.lifeline, other.depth):
                assert one.last < other.first or other.last < one.first


def test_the_text_numbers_the_arrows_and_says_what_is_derived():
    text = rpcs_text(CALLS)
    assert re.search(
        r"(?m)^ +\d+ +\+90 µs +/job:ps/task:0 <- /job:worker/task:1 +RecvTensor a/read$", text
    )
    assert "RecvTensor answered: 4 B, 239 µs" in text
    assert "derived from the statistics" in text
    assert text.endswith("these are the calls of the protocol that this stands for.")
    assert (
        rpcs_sentence(CALLS)
        == "Calls of a step: 3 CleanupGraph, 4 RecvTensor, 3 RunGraph, 1 RunStep."
    )
    assert rpcs_sentence([]) == "Calls of a step: none are known."


def test_a_loop_is_drawn_as_one_call_with_a_count():
    assert "RecvTensor x5 while/grow" in texts(rpcs_figure(calls_of(loop(5))))


def test_of_very_many_calls_the_rest_is_counted():
    ends = [("/job:a/task:0", "/job:b/task:0"), ("/job:b/task:0", "/job:a/task:0")]
    many = [RpcCall(f"Method{i}", *ends[i % 2], i, i + 1) for i in range(60)]
    layout = layout_rpcs(many)
    assert len(layout.lines) == MOST_LINES
    assert f"{layout.left_out} more arrows are not drawn." in rpcs_text(many)
    figure = rpcs_figure(many)
    assert any(text.startswith("94 more arrows are not drawn") for text in texts(figure))
    assert figure.get_figheight() * 96 < 800


def test_of_many_tasks_that_are_alike_one_has_a_lifeline():
    def step(workers):
        tasks = [f"/job:worker/task:{i}" for i in range(workers)]
        first = [RpcCall("RunGraph", MASTER, task, i, i + 9) for i, task in enumerate(tasks)]
        return [*first, RpcCall("RecvTensor", tasks[0], "/job:ps/task:0", 1, 2)]

    layout = layout_rpcs(step(20))
    assert layout.names[2:] == ("/job:worker/task:0", "/job:worker/task:1")
    assert layout.titles[2:] == ("", "worker:1…19, 19 alike")
    assert "worker:1…19\n19 alike" in texts(rpcs_figure(step(20)))
    assert "/job:worker/task:1 stands for worker:1…19, 19 alike." in rpcs_text(step(20))
    assert len(layout_rpcs(step(3)).names) == 5


def test_the_numbers_of_the_table_stand_in_the_picture():
    assert {"1", "2", "3", "A: 1.3 ms"} <= texts(comparison_figure(STEP, STEP[:4]))
    table = comparison_table(compare(STEP, STEP[:4]))
    assert table.header == ("#", "node", "device", "A", "B", "change", "%", "")
    assert table.rows[0][0] == "1"
    assert any(row[-1] == "gone" for row in table.rows)
    assert "A: 1.3 ms from left to right" in comparison_text(STEP, LOOP, ("A", "B"))
    assert all(row[-1] for row in comparison_table(compare(STEP, STEP[:4]), times=False).rows)


def test_many_runs_have_a_sentence_a_table_and_a_text():
    steps = [STEP] * 4
    assert devices_sentence(steps).startswith(
        "4 runs; half of them took 1.3 ms or less (10-90 %: 1.3 to 1.3 ms)"
    )
    assert devices_sentence(steps, times=False) == "4 runs of a step on 3 devices."
    table = devices_table(device_spreads(steps))
    assert [row[0] for row in table.rows] == [
        "/job:ps/task:0",
        "/job:worker/task:0",
        "/job:worker/task:1",
    ]
    assert devices_text(steps).endswith("runs, the longest 1.3 ms: ████")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", FIGURES)
def test_pictures_are_drawn_in_the_theme_with_a_legend(name, theme):
    with drawn(theme):
        figure = FIGURES[name]()
        assert figure.legends
        assert figure.get_facecolor()[:3] == pytest.approx(
            [int(THEMES[theme].panel[1:3], 16) / 255] * 3
        )
        assert png(figure).startswith(b"\x89PNG")


@pytest.mark.parametrize("name", FIGURES)
def test_svg_is_the_same_every_time_and_its_text_is_text(name):
    first, second = (svg(FIGURES[name]()) for _ in range(2))
    assert first == second
    assert b"<text" in first
    assert re.search(rb"ps(/task)?:0</text>", first)
