"""What each device does when: from rows that were written by hand."""

import pytest

from tests.tracing.samples import PS, WORKER0, WORKER1, node, step, three_tasks, transfer
from tfdist.tracing.steps.device_activity import boundaries, spoken_device, status_at, statuses
from tfdist.tracing.steps.node_row import NodeRow
from tfdist.tracing.steps.rows import rows


def told(found_rows, device):
    """Return (start, state, name) of each status of a device."""
    return [
        (status.start_us, status.state, found_rows[status.row].name if status.row >= 0 else "")
        for status in statuses(found_rows)[device]
    ]


def received(name, start, duration, waited):
    """Return a tensor that worker 0 receives from the parameter server."""
    return NodeRow(WORKER0, name, "RecvTensor", "transfer", start, duration, source=PS,
                   waited_us=waited)  # fmt: skip


def ran(name, start, duration, kind="compute", device=WORKER0):
    return NodeRow(device, name, "Neg", kind, start, duration)


def test_a_device_waits_for_what_arrives_while_it_computes_nothing():
    found = [ran("a", 0, 10), received("x", 50, 20, waited=45), ran("b", 75, 5)]
    assert told(found, WORKER0) == [
        (0, "computes", "a"),
        (10, "waits", "x"),
        (50, "receives", "x"),
        (70, "pauses", ""),
        (75, "computes", "b"),
        (80, "done", ""),
    ]


def test_a_device_that_computes_does_not_wait():
    found = [ran("a", 0, 100), received("x", 50, 20, waited=50)]
    assert told(found, WORKER0) == [(0, "computes", "a"), (100, "done", "")]


def test_a_pause_that_no_tensor_ends_is_no_wait():
    found = [ran("a", 0, 10), ran("b", 20, 10), received("x", 90, 5, waited=90)]
    assert (10, "pauses", "") in told(found, WORKER0)
    assert (30, "waits", "x") in told(found, WORKER0)


def test_several_tensors_are_waited_for_in_the_order_in_which_they_arrive():
    found = [received("late", 80, 10, waited=80), received("early", 20, 10, waited=20)]
    assert told(found, WORKER0) == [
        (0, "waits", "early"),
        (20, "receives", "early"),
        (30, "waits", "late"),
        (80, "receives", "late"),
        (90, "done", ""),
    ]
    assert statuses(found)[WORKER0][0].others == 1


def test_nodes_at_the_same_time_are_told_by_the_first_and_counted():
    first, second, *_ = statuses([ran("a", 0, 10), ran("b", 5, 10)])[WORKER0]
    assert (first.row, first.others) == (0, 0)
    assert (second.row, second.others) == (0, 1)


def test_a_queue_is_told_as_one():
    assert told([ran("take", 3, 10, kind="queue")], WORKER0)[1:] == [
        (3, "queues", "take"),
        (13, "done", ""),
    ]


def test_a_node_that_takes_no_time_disturbs_nothing():
    found = [ran("a", 0, 10), ran("b", 10, 0), ran("c", 12, 3)]
    assert [state for _, state, _ in told(found, WORKER0)] == [
        "computes", "pauses", "computes", "done",
    ]  # fmt: skip


def test_a_sender_without_rows_of_its_own_has_statuses_too():
    assert told([received("x", 5, 5, waited=0)], PS) == [(0, "done", "")]


def test_the_tutorial_step():
    found = rows(three_tasks())
    told_of_worker = [(state, name) for _, state, name in told(found, WORKER1)]
    assert ("receives", "add") in told_of_worker
    assert told_of_worker[-2:] == [("computes", "add_1"), ("done", "")]


def test_statuses_begin_with_the_step_and_go_forward():
    for each in statuses(rows(three_tasks())).values():
        starts = [status.start_us for status in each]
        assert starts[0] == 0
        assert starts == sorted(set(starts))


def test_a_moment_between_two_statuses_has_the_first():
    found = statuses([ran("a", 10, 10)])[WORKER0]
    assert status_at(found, 15).state == "computes"
    assert status_at(found, 9.9).state == "to come"
    assert status_at(found, 1e9).state == "done"


def test_boundaries_are_each_start_and_end_once():
    stats = step((PS, [node("a", "Const", "", 0, 5), node("b", "Neg", "a", 5, 5)]))
    assert boundaries(rows(stats)) == [0, 5, 10]
    received_late = step((WORKER0, [transfer("a", PS, WORKER0, 7, 3)]))
    assert boundaries(rows(received_late)) == [0, 3]


@pytest.mark.parametrize(
    ("device", "spoken"),
    [
        (WORKER1, "worker:1"),
        ("/job:painter/replica:0/task:0/device:GPU:1", "painter:0/gpu:1"),  # no test simulates one
        ("/job:localhost/replica:0/task:0/device:CPU:0", "localhost:0"),
        ("", "no device"),
    ],
)
def test_devices_have_the_names_that_people_say(device, spoken):
    assert spoken_device(device) == spoken
