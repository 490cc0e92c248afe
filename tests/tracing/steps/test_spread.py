"""What devices did in many runs."""

import pytest

from tests.tracing.samples import EPOCH, PS, WORKER0, node, step, three_tasks, transfer
from tfdist.tracing.steps.rows import rows
from tfdist.tracing.steps.spread import STATES, device_spreads, device_states, spread


def test_every_moment_of_a_device_counts_once():
    """A queue op waits 10 to 40, meanwhile a transfer comes 20 to 35 and a node runs 25 to 30."""
    found = rows(
        step(
            (WORKER0, [
                node("q", "QueueDequeueV2", "", 10, 30),
                transfer("x", PS, WORKER0, 20, 15),
                node("y", "Neg", "x_S1", 25, 5),
                node("first", "Const", "", 0, 1),
            ]),
            (PS, [node("x", "Const", "", 0, 100)]),
        )
    )  # fmt: skip
    states = device_states(found, WORKER0)
    assert states == {"computing": 6, "ready": 0, "receiving": 10, "waiting": 15, "idle": 69}


def test_what_could_run_and_does_not_is_ready_unless_something_else_runs_there():
    """`late` could run from 10 on; `other` runs from 15 to 20, and then nothing until 30."""
    late = node("late", "Neg", "first", 30, 5)
    late.scheduled_micros = EPOCH + 10
    here = [node("first", "Const", "", 0, 10), node("other", "Const", "", 15, 5), late]
    assert device_states(rows(step((PS, here))), PS)["ready"] == 5 + 10


def test_a_tensor_that_has_come_is_not_received_any_more():
    came = transfer("x", PS, WORKER0, 10, 30)
    came.op_end_rel_micros = 5
    found = rows(step((WORKER0, [came]), (PS, [node("x", "Const", "", 0, 10)])))
    states = device_states(found, WORKER0)
    assert (states["receiving"], states["ready"]) == (5, 25)


@pytest.mark.parametrize("device", [0, 1, 2])
def test_the_states_of_a_run_add_up_to_it(device):
    found = rows(three_tasks())
    one = device_spreads([found])[device]
    assert sum(one.states[state].mean for state in STATES) == max(row.end_us for row in found)


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([3.0], (3, 3, 3, 3)),
        (list(map(float, range(11))), (5, 5, 1, 9)),
        ([1.0, 9.0], (5, 5, 1.8, 8.2)),
    ],
)
def test_tenths_lie_on_a_line_between_their_neighbours(numbers, expected):
    found = spread(numbers)
    assert (found.mean, found.median, found.low, found.high) == pytest.approx(expected)
