"""Which waits will end and which will not: a table of cases, each a step in flight a line."""

import pytest

from tfdist.tracing.deadlocks import analyze_deadlocks
from tfdist.tracing.waits import PendingOp, Report, Wait, key_of, tensor_key

TASK = "/job:ps/replica:0/task:0"
OTHER = "/job:worker/replica:0/task:0"


def takes(step, queue, node="take", needs="elements"):
    """A node that waits for an element of a queue, or for room in it."""
    text = f"{needs} of {queue}"
    return Wait(step, TASK, node, "", "", "queue", text, needs=key_of(needs, queue), stock=queue)


def receives(step, tensor, node="receive", task=OTHER):
    """A node that waits for a tensor of another task."""
    needs = tensor_key(step, tensor)
    return Wait(step, task, node, "", "", "tensor", "", needs=needs, tensor=tensor, source=TASK)


def fills(step, queue, *behind, node="put", task=TASK, gives="elements"):
    """A node that will fill a queue, or empty it, behind nodes that wait."""
    return PendingOp(key_of(gives, queue), node, "", task, step, behind=behind)


def sends(step, tensor, *behind, task=TASK):
    """A node that will send a tensor."""
    return PendingOp(tensor_key(step, tensor), "send", "", task, step, behind=behind)


CASES = [
    pytest.param([], [], set(), [], id="nothing in flight"),
    pytest.param([takes(1, "q")], [], {1}, [], id="nobody in flight fills the queue"),
    pytest.param([takes(1, "q")], [fills(2, "q")], set(), [], id="somebody will fill it"),
    pytest.param(
        [takes(1, "q")], [fills(0, "q")], {1}, [], id="a node that nobody runs is no help"
    ),
    pytest.param(
        [takes(1, "q")], [fills(2, "q", gives="room")], {1}, [], id="who empties it does not help"
    ),
    pytest.param(
        [takes(1, "p"), takes(2, "q")],
        [fills(1, "q", "take"), fills(2, "p", "take")],
        {1, 2},
        [[1, 2]],
        id="each fills what the other one waits for, later",
    ),
    pytest.param(
        [takes(1, "p"), takes(2, "q")],
        [fills(1, "q", "take"), fills(2, "p", "take"), fills(3, "q")],
        set(),
        [],
        id="a third one comes to help",
    ),
    pytest.param(
        [takes(1, "p"), takes(2, "q"), takes(3, "r")],
        [fills(1, "r", "take"), fills(2, "p", "take"), fills(3, "q", "take")],
        {1, 2, 3},
        [[1, 2, 3]],
        id="three in a ring",
    ),
    pytest.param(
        [takes(1, "q")], [fills(1, "q", "take")], {1}, [[1]], id="it fills it itself, later"
    ),
    pytest.param([takes(1, "q")], [fills(1, "q")], set(), [], id="it fills it itself, beside"),
    pytest.param(
        [takes(1, "q", needs="room"), takes(2, "q", node="more", needs="room")],
        [fills(1, "q", "take", gives="room"), fills(2, "q", "more", gives="room")],
        {1, 2},
        [[1], [2]],
        id="two that empty a full queue only after they have filled it",
    ),
    pytest.param(
        [takes(1, "p"), takes(2, "q"), takes(3, "p")],
        [fills(1, "q", "take"), fills(2, "p", "take")],
        {1, 2, 3},
        [[1, 2]],
        id="a third one waits for the deadlock to end",
    ),
    pytest.param(
        [takes(1, "p"), takes(2, "q")],
        [fills(1, "q", "take")],
        {1, 2},
        [],
        id="who waits for one that nobody helps is in no deadlock",
    ),
    pytest.param([receives(1, "a")], [], set(), [], id="of a tensor nothing is known"),
    pytest.param(
        [takes(1, "q"), receives(1, "a")],
        [sends(1, "a", "take"), fills(1, "q", "receive", task=OTHER)],
        {1},
        [[1, 1]],
        id="a step whose own other task should fill",
    ),
    pytest.param(
        [takes(1, "p"), receives(1, "a"), takes(2, "q"), receives(2, "a")],
        [
            sends(1, "a", "take"),
            fills(1, "q", "receive", task=OTHER),
            sends(2, "a", "take"),
            fills(2, "p", "receive", task=OTHER),
        ],
        {1, 2},
        [[1, 1, 2, 2]],
        id="a deadlock that goes over two tasks",
    ),
    pytest.param(
        [takes(1, "p"), takes(1, "q", node="also")],
        [fills(2, "p"), fills(1, "q", "take", "also")],
        {1},
        [[1]],
        id="a node needs all that comes before it",
    ),
    pytest.param(
        [Wait(1, TASK, "read", "", "", "reader", "its turn")], [], set(), [], id="a turn comes"
    ),
]


@pytest.mark.parametrize(("waits", "deeds", "stuck", "cycles"), CASES)
def test_who_is_stuck_and_the_deadlocks(waits, deeds, stuck, cycles):
    analysis = analyze_deadlocks(Report(waits=tuple(waits), deeds=tuple(deeds)))
    assert {step for step, _, _ in analysis.stuck} == stuck
    assert [sorted(step for step, _, _ in cycle) for cycle in analysis.cycles] == cycles


def test_each_wait_of_a_cycle_waits_for_the_next_one():
    waits = (takes(1, "p"), takes(2, "q"), takes(3, "r"))
    deeds = (fills(1, "r", "take"), fills(2, "p", "take"), fills(3, "q", "take"))
    [cycle] = analyze_deadlocks(Report(waits=waits, deeds=deeds)).cycles
    assert [step for step, _, _ in cycle] == [1, 2, 3]


def test_a_thousand_waits_are_judged_in_a_moment():
    count = 1000
    waits = tuple(takes(i, f"q{i}") for i in range(1, count + 1))
    deeds = tuple(fills(i, f"q{i % count + 1}", "take") for i in range(1, count + 1))
    [cycle] = analyze_deadlocks(Report(waits=waits, deeds=deeds)).cycles
    assert len(cycle) == count
