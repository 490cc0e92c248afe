"""What step statistics say, as rows."""

import pytest

from tests.tracing.samples import (
    EPOCH,
    PS,
    WORKER0,
    WORKER1,
    beginning,
    disturbed,
    in_round,
    loop,
    node,
    step,
    three_tasks,
    transfer,
)
from tfdist.tracing.clocks import SAME_CLOCK, ClockOffset
from tfdist.tracing.device_names import device_order, short_device
from tfdist.tracing.simulated import note_device
from tfdist.tracing.steps.aggregates import totals
from tfdist.tracing.steps.lanes import free_lanes
from tfdist.tracing.steps.makers import depths, makers
from tfdist.tracing.steps.node_row import devices
from tfdist.tracing.steps.rows import beginnings, clocks, rows


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


def test_a_transfer_knows_how_long_it_was_waited_for():
    moved = transfer("a", PS, WORKER0, 30, 5)
    moved.scheduled_micros = EPOCH + 10
    [row] = rows(step((WORKER0, [moved])))
    assert (row.start_us, row.waited_us, row.duration_us) == (20, 20, 5)


def test_a_transfer_knows_when_its_tensor_had_left_and_when_it_came():
    moved = transfer("a", PS, WORKER0, 0, 50)
    moved.op_start_rel_micros, moved.op_end_rel_micros = 7, 30
    [row] = rows(step((WORKER0, [moved])))
    assert (row.send_us, row.arrived_us, row.end_us, row.delay_us) == (7, 30, 50, 20)


def test_a_node_knows_how_long_it_was_ready_and_did_not_run():
    late = node("b", "Neg", "a", 30, 5)
    late.scheduled_micros = EPOCH + 12
    delays = {
        row.name: row.delay_us for row in rows(step((PS, [node("a", "Const", "", 0, 12), late])))
    }
    assert delays == {"a": 0, "b": 18}


def test_what_a_node_was_scheduled_for_by_another_clock_says_nothing_of_it():
    late = node("a", "Const", "", 30, 5)
    late.scheduled_micros = 77  # TensorFlow's
    [row] = rows(step((PS, [late])))
    assert (row.start_us, row.waited_us, row.delay_us) == (0, 0, 0)


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


def made_by(found, name, device=WORKER0):
    """Return the rows that made what the rows of that name took."""
    return [
        [found[i] for i in each]
        for row, each in zip(found, makers(found), strict=True)
        if (row.device, row.name) == (device, name)
    ]


def test_makers_know_a_transfer_by_sender_and_name_not_by_time():
    late = node("a", "Const", "", 50, 5)
    namesake = (WORKER1, [node("a", "Const", "", 1, 2)])
    found = rows(step((PS, [late]), namesake, (WORKER0, [transfer("a", PS, WORKER0, 0, 90)])))
    [[maker]] = made_by(found, "a")
    assert (maker.device, maker.start_us) == (PS, 50)


def test_makers_tell_outputs_of_one_node_apart():
    outputs = [transfer("u", PS, WORKER0, i, 5, edge=edge) for i, edge in enumerate((9, 3))]
    takers = [node("first", "Neg", "u_S2", 20, 1), node("second", "Neg", "u_S11", 30, 1)]
    found = rows(step((PS, [node("u", "Unpack", "", 0, 1)]), (WORKER0, [*outputs, *takers])))
    assert [[row.edge for row in rows] for rows in made_by(found, "first")] == [[3]]
    assert [[row.edge for row in rows] for rows in made_by(found, "second")] == [[9]]
    assert [[row.device for row in rows] for rows in made_by(found, "u")] == [[PS], [PS]]


def test_a_second_run_takes_what_the_second_run_made():
    turns = [node("n", "Add", "", start, 1) for start in (0, 20)]
    moved = [transfer("n", PS, WORKER0, start, 5) for start in (0, 18)]
    found = rows(step((PS, turns), (WORKER0, moved)))
    assert [[maker.start_us for maker in each] for each in made_by(found, "n")] == [[0], [20]]


def taken(found, name, device=WORKER0):
    """Return for each run of a node its round, and (name, round) of what it took."""
    return {
        row.rounds.numbers: [(found[i].name, *found[i].rounds.numbers) for i in each]
        for row, each in zip(found, makers(found), strict=True)
        if (row.device, row.name, row.kind) == (device, name, "compute")
    }


def test_rows_tell_their_rounds():
    rounds = [row.rounds for row in rows(loop(2)) if row.name == "while/less"]
    assert rounds == [(("while",), (i,)) for i in range(3)]
    assert [row.rounds for row in rows(loop(2)) if row.name == "done"] == [((), ())]


def test_makers_know_rounds():
    found = rows(loop(3))
    assert taken(found, "while/Merge") == {
        (0,): [("while/Enter",)],
        (1,): [("while/NextIteration", 0)],
        (2,): [("while/NextIteration", 1)],
        (3,): [("while/NextIteration", 2)],
    }
    assert taken(found, "while/grow", WORKER1)[2,] == [("while/Identity", 2), ("while/k",)]
    assert taken(found, "while/NextIteration")[1,] == [("while/grow", 1)]
    assert taken(found, "done") == {(): [("while/Exit", 3)]}


def test_makers_know_rounds_of_loops_inside():
    loops = ("a", "a/b")
    inner = [
        in_round(each, i, j, loops=loops)
        for i in range(2)
        for j in range(3)
        for each in [
            node("a/b/Merge", "Merge", "a/b/Enter, a/b/Next", 0, 1),
            node("a/b/Next", "NextIteration", "a/b/Merge", 0, 1),
        ]
    ]
    ends = [
        in_round(node("a/b/Exit", "Exit", "a/b/Merge", 0, 1), i, 2, loops=loops) for i in (0, 1)
    ]
    outer = [
        in_round(each, i, loops=("a",))
        for i in range(2)
        for each in [
            node("a/b/Enter", "Enter", "x", 0, 1),
            node("a/Next", "NextIteration", "a/b/Exit", 0, 1),
        ]
    ]
    found = rows(step((WORKER0, [*inner, *ends, *outer])))
    assert taken(found, "a/Next") == {(0,): [("a/b/Exit", 0, 2)], (1,): [("a/b/Exit", 1, 2)]}
    merges = taken(found, "a/b/Merge")
    assert merges[1, 0] == [("a/b/Enter", 1)]
    assert merges[1, 2] == [("a/b/Next", 1, 1)]


def test_depths_go_round_by_round():
    found = rows(loop(5))
    depth = {(row.name, row.rounds.numbers): d for row, d in zip(found, depths(found), strict=True)}
    merges = [depth["while/Merge", (i,)] for i in range(6)]
    assert merges == sorted(set(merges))
    assert max(depth.values()) == depth["done", ()]


def test_makers_follow_control_edges():
    ends = [node("n", "NoOp", "^x_ctrl_S0_S2", 30, 1), transfer("x_ctrl_S0", PS, WORKER0, 5, 20)]
    sent = [node("x", "NoOp", "", 0, 1), node("x_ctrl_S0", "Const", "^x", 2, 1)]
    found = rows(step((PS, sent), (WORKER0, ends)))
    [[moved]], [[dummy]] = made_by(found, "n"), made_by(found, "x_ctrl_S0")
    assert (moved.kind, dummy.device) == ("transfer", PS)
    assert made_by(found, "x_ctrl_S0", PS) == [[found[0]]]


def uncertain(made, came, clock="+123 us +- 40 us"):
    """Return rows of a transfer that ended at `came`, of what worker 1 ended to make at `made`."""
    there = [beginning(clock=clock), node("a", "Const", "", made - 5, 5)]
    here = [node("first", "Const", "", 0, 1), transfer("a", WORKER1, WORKER0, 2, came - 2)]
    return rows(step((WORKER0, here), (WORKER1, there)))


@pytest.mark.parametrize(
    ("made", "came", "expected"),
    [
        pytest.param(50, 90, 90, id="in order: as it was"),
        pytest.param(50, 20, 50, id="early by less than is known: when it was made"),
        pytest.param(61, 20, 61, id="early by as much, the label being rounded"),
        pytest.param(62, 20, 20, id="early by more: as it was, for something is wrong"),
    ],
)
def test_no_tensor_comes_before_it_was_made_within_the_uncertainty(made, came, expected):
    [moved] = [row for row in uncertain(made, came) if row.kind == "transfer"]
    assert (moved.start_us, moved.end_us) == (2, expected)


def test_of_one_clock_nothing_is_uncertain():
    [moved] = [row for row in uncertain(50, 49, clock="") if row.kind == "transfer"]
    assert moved.end_us == 49


def test_rows_know_the_clock_of_their_device():
    clock = ClockOffset(123_000, 40_000)
    assert {row.device: row.clock for row in uncertain(50, 90)} == {
        WORKER0: SAME_CLOCK,
        WORKER1: clock,
    }


def test_clocks_are_those_that_are_not_ours():
    stats = step((PS, [beginning(clock="-7 us +- 2 us")]), (WORKER0, [beginning()]))
    assert clocks(stats) == {PS: ClockOffset(-7_000, 2_000)}
    assert clocks(three_tasks()) == {}


def test_rows_know_what_was_disturbed():
    assert {row.name + row.kind[0]: row.disturbed for row in rows(disturbed())} == {
        "ac": "slow ps 3",
        "at": "delay ps:0 worker:0 30ms",
        "bc": "",
    }
    assert {row.disturbed for row in rows(three_tasks())} == {""}


def test_beginnings_count_like_rows():
    stats = step((PS, [beginning(3), node("a", "Const", "", 10, 1)]), (WORKER0, [beginning(12)]))
    assert beginnings(stats) == {PS: -7, WORKER0: 2}


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
    note_device(device, "")  # a cluster of another test may have simulated it
    assert short_device(device) == expected


def test_an_empty_step_has_no_rows():
    assert rows(step()) == []
