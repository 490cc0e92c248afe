"""What step statistics say, as rows."""

import pytest

from tests.tracing.samples import PS, WORKER0, WORKER1, node, step, three_tasks, transfer
from tfdist.tracing.rows import (
    before_transfer,
    depths,
    device_order,
    devices,
    free_lanes,
    makers,
    rows,
    short_device,
    totals,
)


def names(step_rows, device):
    return [row.name for row in step_rows if row.device == device]


def test_rows_merge_the_entries_of_a_device():
    found = rows(three_tasks())
    assert list(dict.fromkeys(row.device for row in found)) == [PS, WORKER0, WORKER1]
    assert names(found, PS) == ["a", "a/read"]
    assert names(found, WORKER0) == ["add/y", "a/read", "add", "add_1"]


def test_rows_leave_out_start_marks_and_the_profilers_view():
    found = rows(three_tasks())
    assert not [row for row in found if row.name == "_SOURCE" or row.device.startswith("/host")]


def test_times_count_from_the_first_row():
    first = min(rows(three_tasks()), key=lambda row: row.start_us)
    assert (first.name, first.start_us, first.duration_us) == ("a", 0.0, 49.0)


def test_nanoseconds_are_preferred():
    stats = node("a", "Const", "", 0, 5)
    stats.all_start_nanos, stats.all_end_rel_nanos = stats.all_start_micros * 1000, 1500
    assert rows(step((PS, [stats])))[0].duration_us == 1.5


def test_a_transfer_knows_tensor_sender_and_size():
    moved = next(row for row in rows(three_tasks()) if row.op == "RecvTensor")
    assert (moved.kind, moved.name, moved.source) == ("transfer", "a/read", PS)
    assert (moved.device, moved.bytes) == (WORKER0, 4)


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        pytest.param(f"[4B] edge_4_a/read from {PS} to {WORKER0}", "a/read", id="without a rate"),
        pytest.param(f"[1.5MB] [9.0Mb/s] edge_1_w from {PS} to {WORKER0}", "w", id="in MB"),
        pytest.param("what?", "RecvTensor", id="a label of another kind"),
    ],
)
def test_labels_of_transfers(label, expected):
    stats = transfer("a", PS, WORKER0, 0, 1)
    stats.timeline_label = label
    assert rows(step((WORKER0, [stats])))[0].name == expected


@pytest.mark.parametrize(
    ("op", "kind"),
    [
        ("MatMul", "compute"),
        ("QueueDequeueManyV2", "queue"),
        ("QueueEnqueueV2", "queue"),
        ("QueueSizeV2", "compute"),
        ("ReaderReadV2", "queue"),
    ],
)
def test_kind_follows_the_op(op, kind):
    assert rows(step((PS, [node("n", op, "", 0, 1)])))[0].kind == kind


def test_inputs_come_from_the_label():
    taker = node("n", "Add", "a:1, ^b, c_S2", 0, 1)
    assert rows(step((PS, [taker])))[0].inputs == ("a", "b", "c_S2")


def test_makers_follow_a_tensor_through_its_transfer():
    found = rows(three_tasks())
    by_maker = {
        (row.device, row.name): [(found[i].device, found[i].name) for i in made_by]
        for row, made_by in zip(found, makers(found), strict=True)
        if row.name in {"add", "add_1"} and row.kind == "compute"
    }
    assert by_maker == {
        (WORKER0, "add"): [(WORKER0, "a/read"), (WORKER0, "add/y")],
        (WORKER1, "add_1"): [(WORKER1, "a/read"), (WORKER1, "add")],
    }


def test_depths_order_rows_by_what_they_wait_for():
    found = rows(three_tasks())
    depth = {(r.device, r.name): d for r, d in zip(found, depths(found), strict=True)}
    assert depth[PS, "a"] == 0
    assert depth[WORKER0, "a/read"] == 2
    assert depth[WORKER0, "add"] == 3
    assert depth[WORKER1, "add_1"] == 5


def test_depths_of_a_loop_come_last():
    found = rows(step((PS, [node("m", "Merge", "n", 0, 1), node("n", "NextIteration", "m", 2, 1)])))
    assert depths(found) == [1, 1]


def test_rows_of_one_lane_do_not_overlap():
    nodes = [node(f"n{i}", "Add", "", start, 10) for i, start in enumerate((0, 3, 12, 13, 30))]
    found = rows(step((PS, [*nodes, transfer("x", WORKER0, PS, 2, 3)])))
    assert [row.lane for row in found if row.kind == "compute"] == [0, 1, 0, 1, 0]
    assert [row.lane for row in found if row.kind == "transfer"] == [2]


def test_free_lanes_takes_the_lowest():
    assert free_lanes([(0, 5), (1, 2), (2, 3), (5, 6)]) == [0, 1, 1, 0]


def test_totals_add_up_by_device():
    worker = next(total for total in totals(rows(three_tasks())) if total.device == WORKER0)
    assert (worker.nodes, worker.transfers, worker.received_bytes) == (2, 2, 8)
    assert (worker.compute_us, worker.transfer_us, worker.queue_us) == (765, 355, 0)


def test_devices_include_senders_that_left_no_row():
    assert devices(rows(step((WORKER0, [transfer("x", PS, WORKER0, 0, 1)])))) == [PS, WORKER0]


def test_device_order_counts_tasks_as_numbers():
    names = [f"/job:worker/replica:0/task:{task}/device:CPU:0" for task in (10, 2)]
    assert sorted(names, key=device_order) == names[::-1]


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        (PS, "/job:ps/task:0"),
        ("/job:worker/replica:0/task:1/device:GPU:0", "/job:worker/task:1/gpu:0"),
        ("/device:CPU:0", "/device:CPU:0"),
    ],
)
def test_short_device(device, expected):
    assert short_device(device) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a/read_S1", "a/read"), ("a/_3", "a"), ("plain_1", "plain_1")],
)
def test_before_transfer(name, expected):
    assert before_transfer(name) == expected


def test_an_empty_step_has_no_rows():
    assert rows(step()) == []
