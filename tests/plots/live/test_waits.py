"""Where steps, queues and arrows stand in the picture of waits, and that it is one."""

import itertools

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from tests.tracing.test_deadlocks import TASK, fills, takes
from tfdist.plots.live.waits_figure import waits_figure
from tfdist.plots.live.waits_layout import MOST_STEPS, layout_waits
from tfdist.plots.live.why import Why
from tfdist.plots.shared.palette import png
from tfdist.tracing.waits import Report, ResourceStatus, StepStatus
from tfdist.tracing.why import explain


def stock(name, fill=0, capacity=3, **more):
    return ResourceStatus(name, "FIFOQueue", name, more.pop("task", TASK), fill, capacity, **more)


def report(count=2, **more):
    """Steps in a ring, and one that waits for nobody in particular."""
    numbers = range(1, count + 1)
    steps = [StepStatus(n, "", TASK, (f"f{n}",), 10.0 - n / 100) for n in numbers]
    waits = [takes(n, f"q{n}") for n in numbers]
    deeds = [fills(n, f"q{n % count + 1}", "take") for n in numbers]
    stocks = [stock(f"q{n}", task=f"/job:ps/replica:0/task:{n % 2}") for n in numbers]
    alone = StepStatus(99, "", TASK, ("alone",), 0.1)
    return Report(
        (*steps, alone),
        (*waits, takes(99, "lonely")),
        (*stocks, stock("lonely", 2, -1, closed=True, consumers=1, min_after_dequeue=1)),
        tuple(deeds),
    )


REPORTS = pytest.mark.parametrize("count", [1, 2, 5, 40])


def overlap(a, b):
    return (
        a.left < b.left + b.width
        and b.left < a.left + a.width
        and a.top < b.top + b.height
        and b.top < a.top + a.height
    )


@REPORTS
def test_nothing_overlaps_and_all_is_inside(count):
    layout = layout_waits(explain(report(count)))
    spots = [step.spot for step in layout.steps] + [bar.spot for bar in layout.bars]
    assert not any(overlap(a, b) for a, b in itertools.combinations(spots, 2))
    assert not any(overlap(a.spot, b.spot) for a, b in itertools.combinations(layout.tasks, 2))
    for spot in (*spots, *(task.spot for task in layout.tasks)):
        assert 0 <= spot.top
        assert spot.top + spot.height <= layout.height


@REPORTS
def test_queues_stand_in_the_boxes_of_their_tasks(count):
    layout = layout_waits(explain(report(count)))
    boxes = {task.name: task.spot for task in layout.tasks}
    for bar in layout.bars:
        box = boxes[bar.stock.task.replace("/replica:0", "")]
        assert box.left < bar.spot.left
        assert box.top < bar.spot.top
        assert bar.spot.top + bar.spot.height < box.top + box.height


def test_arrows_go_round_in_a_deadlock():
    layout = layout_waits(explain(report(2)))
    marked = [line for line in layout.lines if line.in_deadlock]
    assert [line.is_wait for line in layout.lines if not line.in_deadlock] == [True]
    assert sorted(line.is_wait for line in marked) == [False, False, True, True]
    assert [step.in_deadlock for step in layout.steps] == [True, True, False]
    assert {bar.stock.name for bar in layout.bars if bar.in_deadlock} == {"q1", "q2"}


def test_of_many_steps_the_oldest_are_drawn():
    layout = layout_waits(explain(report(40)))
    assert [step.number for step in layout.steps] == list(range(1, MOST_STEPS + 1))
    assert layout.left_out == 41 - MOST_STEPS
    assert len(layout.bars) == MOST_STEPS


def test_without_times_no_second_is_written():
    assert layout_waits(explain(report()), False).steps[0].does == "waits in take"
    assert layout_waits(explain(report())).steps[0].does == "10.0 s: waits in take"


@REPORTS
def test_the_picture_is_one(count):
    figure = waits_figure(explain(report(count)))
    FigureCanvasAgg(figure).draw()
    assert png(figure).startswith(b"\x89PNG")


def test_a_picture_of_nothing():
    assert png(waits_figure(explain(Report()))).startswith(b"\x89PNG")


# the object that `tf.why` gives


def test_the_table_has_a_row_for_each_step():
    table = Why(report()).table(times=False)
    assert [row[0] for row in table.rows] == ["step 1 (f1)", "step 2 (f2)", "step 3 (alone)"]
    assert table.header == ("step", "node", "on", "waits for", "why")
    assert Why(report()).table().header[-1] == "since"


def test_the_html_tells_all_that_the_text_tells():
    found = Why(report()._replace(stocks=(*report().stocks,)))
    html = found._repr_html_()
    for word in (found.explanation.sentence(), *found.explanation.names.values(), "deadlock: "):
        assert word in html
    assert "<script" not in Why(_with_script())._repr_html_()


def _with_script():
    return Report((StepStatus(1, "", "", ("<script>",)),))


def test_repr_is_the_text():
    found = Why(report())
    assert repr(found) == str(found) == found.text()
