"""A task stream where steps were traced: as fine as their nodes, and the rest is what is left."""

import pytest

from tfdist.tracing.intervals import Interval
from tfdist.tracing.steps.node_row import COMPUTE, NodeRow
from tfdist.tracing.zoom import TracedStep, refined, zoom_span

TASK = "/job:worker/replica:0/task:0"
COMPUTING, IDLE = (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)


def row(start_us, end_us, task=TASK):
    return NodeRow(f"{task}/device:CPU:0", "node", "Op", COMPUTE, start_us, end_us - start_us)


def step(begin, *rows):
    return TracedStep(begin, rows)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        pytest.param([], [(0, 10, (0.2, 0, 0, 0.8))], id="no step: as it was counted"),
        pytest.param(
            [step(4.0, row(0, 2e6))],
            [(0, 4, IDLE), (4, 6, COMPUTING), (6, 10, IDLE)],
            id="all that was counted is the step's: nothing is left over",
        ),
        pytest.param(
            [step(4.0, row(0, 1e6))],
            [(0, 4, (1 / 9, 0, 0, 8 / 9)), (4, 5, COMPUTING), (5, 10, (1 / 9, 0, 0, 8 / 9))],
            id="what is left over is told of the rest",
        ),
        pytest.param(
            [step(9.0, row(0, 2e6))],
            [(0, 9, (1 / 9, 0, 0, 8 / 9)), (9, 10, COMPUTING)],
            id="a step that ends later is cut",
        ),
        pytest.param(
            [step(4.0, row(0, 2e6, "/job:ps/replica:0/task:0"))],
            [(0, 10, (0.2, 0, 0, 0.8))],
            id="a step that the task has no part in changes nothing",
        ),
        pytest.param(
            [step(20.0, row(0, 1e6))], [(0, 10, (0.2, 0, 0, 0.8))], id="nor one elsewhere"
        ),
    ],
)
def test_intervals_with_traced_steps(steps, expected):
    found = refined([Interval(0.0, 10.0, (0.2, 0.0, 0.0, 0.8), 0.5)], TASK, steps)
    assert [(each.begin, each.end) for each in found] == [each[:2] for each in expected]
    for each, (_, _, shares) in zip(found, expected, strict=True):
        assert each.shares == pytest.approx(shares)
        assert each.processors == 0.5


STEPS = [TracedStep(2.0, [])], [TracedStep(1.0, []), TracedStep(4.0, [])]


@pytest.mark.parametrize(
    ("steps", "asked", "span"),
    [
        pytest.param(STEPS[0], (1.0, 3.0), (1.0, 3.0), id="what was asked for"),
        pytest.param(STEPS[0], (1.0, None), (1.0, 9.0), id="to the end of the watch"),
        pytest.param([], (0.0, None), (0.0, 9.0), id="without a traced step"),
        pytest.param(STEPS[1], (None, 6.0), (4.0, 6.0), id="from the last step on"),
    ],
)
def test_what_a_zoom_shows(steps, asked, span):
    assert zoom_span(steps, 9.0, *asked) == span


@pytest.mark.parametrize(
    ("steps", "asked", "told"),
    [
        ([], (None, None), "no step was traced"),
        (STEPS[0], (5.0, 3.0), "from 5.0 to 3.0 s: it was watched from 0 to 9.0 s"),
        (STEPS[0], (-1.0, None), "from -1.0"),
        (STEPS[0], (0.0, 10.0), "to 10.0 s"),
    ],
)
def test_a_zoom_that_shows_nothing_is_refused(steps, asked, told):
    with pytest.raises(ValueError, match=told):
        zoom_span(steps, 9.0, *asked)
