"""The calls of a step: seen, told by the statistics, or derived."""

import threading

import pytest

from tests.tracing.samples import (
    EPOCH,
    PS,
    WORKER0,
    WORKER1,
    beginning,
    loop,
    node,
    step,
    three_tasks,
    transfer,
)
from tfdist.tracing import calls
from tfdist.tracing.calls import NotedCall, calls_of, collapsed, lifelines

FIRST = EPOCH + 300  # microseconds: where the sample's step begins


def told(found):
    return [(call.method, call.source, call.target, call.is_derived) for call in found]


def by_method(found, method):
    return [call for call in found if call.method == method]


def test_a_transfer_is_a_call_of_the_receiving_task_answered_when_the_tensor_came():
    received = by_method(calls_of(three_tasks()), "RecvTensor")
    assert [(each.source, each.target, each.what, each.bytes) for each in received] == [
        ("/job:worker/task:1", "/job:ps/task:0", "a/read", 4),
        ("/job:worker/task:0", "/job:ps/task:0", "a/read", 4),
        ("/job:worker/task:1", "/job:worker/task:0", "add", 4),
        ("/job:worker/task:0", "/job:worker/task:1", "add_1", 4),
    ]
    first = received[0]
    assert (first.start_us, first.end_us) == (90, 329)


def test_what_nobody_saw_is_derived_from_the_statistics():
    found = calls_of(three_tasks(), fetches="add_1:0")
    whole, *parts = [call for call in found if call.is_derived]
    assert (whole.method, whole.source, whole.what) == ("RunStep", "client", "add_1:0")
    assert [(each.method, each.target) for each in parts] == [
        *(("RunGraph", f"/job:{task}") for task in ("ps/task:0", "worker/task:1", "worker/task:0")),
        *(
            ("CleanupGraph", f"/job:{task}")
            for task in ("ps/task:0", "worker/task:0", "worker/task:1")
        ),
    ]
    assert parts[0].start_us == -10  # the beginning of its part
    assert lifelines(found)[:2] == ["client", "master"]


def test_a_transfer_inside_a_task_is_no_call():
    card = WORKER0.replace("CPU", "GPU")
    copied = step(
        (card, [beginning(), transfer("x", WORKER0, card, 5, 3), node("y", "Neg", "x_S1", 9, 1)])
    )
    assert not by_method(calls_of(copied), "RecvTensor")


def test_calls_that_were_seen_stand_at_their_times():
    start = (FIRST - 50) * 1000
    seen = [
        NotedCall("s", "CreateSession", "", start - 10_000, start - 5_000),
        NotedCall("s", "RegisterGraph", "/job:ps/replica:0/task:0", start - 4_000, start - 3_000),
        NotedCall("s", "RunStep", "", start, start + 2_000_000),
    ]
    found = calls_of(three_tasks(), seen, "add_1:0")
    assert told(found)[:3] == [
        ("CreateSession", "client", "master", False),
        ("RegisterGraph", "master", "/job:ps/task:0", False),
        ("RunStep", "client", "master", False),
    ]
    assert [(each.start_us, each.end_us) for each in found[:3]] == [
        (-60, -55),
        (-54, -53),
        (-50, 1950),
    ]
    assert [each.what for each in found[:3]] == ["", "", "add_1:0"]


def test_a_step_without_statistics_has_no_calls():
    assert calls_of(step()) == []


def test_rounds_of_a_loop_are_one_call_with_a_count():
    found = calls_of(loop(10))
    assert len(by_method(found, "RecvTensor")) == 20
    shown = by_method(collapsed(found), "RecvTensor")
    assert [(each.what, each.count) for each in shown] == [
        ("while/Identity", 10),
        ("while/grow", 10),
    ]


def test_many_tensors_of_one_way_are_one_call():
    sent = [transfer(f"w{i}", PS, WORKER1, 10 + i, 5, edge=i) for i in range(30)]
    (shown,) = by_method(collapsed(calls_of(step((WORKER1, sent)))), "RecvTensor")
    assert (shown.count, shown.bytes, shown.what) == (30, 120, "w0 and 29 more")


def test_calls_are_noted_only_while_somebody_listens():
    calls.note("s", "RunStep", "", 0)
    with calls.listened():
        assert calls.taken("s") == ()
        calls.note("s", "RunStep", "", 5)
        thread = threading.Thread(target=calls.note, args=("t", "RunStep", "", 1))
        thread.start()
        thread.join()
        assert [each.start for each in calls.taken("s")] == [5]  # those of its session
        assert calls.taken("s") == ()  # each is taken once
    with calls.listened():
        assert calls.taken("t") == ()


@pytest.mark.parametrize("stats", [three_tasks(), loop(3)], ids=["three tasks", "loop"])
def test_nothing_is_answered_before_it_was_asked(stats):
    assert all(call.start_us <= call.end_us for call in calls_of(stats))
