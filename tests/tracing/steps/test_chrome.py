"""The trace's JSON keeps the rules of its format: nothing here can open Perfetto."""

import itertools
import json
from collections import defaultdict

import pytest

from tests.tracing.samples import (
    EPOCH,
    PS,
    WORKER0,
    WORKER1,
    beginning,
    disturbed,
    loop,
    node,
    step,
    three_tasks,
    transfer,
)
from tfdist.tracing.steps import chrome
from tfdist.tracing.steps.loop_excerpt import omit_iterations
from tfdist.tracing.steps.rows import rows
from tfdist.tracing.steps.timeline import MOST_SLICES, Timeline

FIRST = EPOCH + 300


def crowded():
    """Return statistics with equal names, overlaps, rounding and clocks that differ."""
    here = [node(f"n{i}", "MatMul", f"n{i - 1}", i * 3, 10) for i in range(1, 20)]
    for i, stats in enumerate(here):
        stats.all_start_nanos = stats.all_start_micros * 1000 + 400 * i
        stats.all_end_rel_nanos = 2_600
    early = transfer("n1", PS, WORKER0, 0, 1)  # arrives before it was sent
    return step((PS, here), (WORKER0, [node("n1", "Add", "n1_S1", 5, 0), early]), (PS, here))


def other_host():
    """Return statistics by two clocks: one tensor seems to come before it was made."""
    there = [beginning(clock="+123 us +- 40 us"), node("a", "Const", "", 30, 5)]
    here = [transfer("a", WORKER1, WORKER0, 2, 9), node("b", "Neg", "a_S1", 12, 1)]
    return step((WORKER0, here), (WORKER1, there))


def fed():
    """Return statistics of a value that was fed here and taken on another task."""
    there = [transfer("_recv_x_0", WORKER0, PS, 5, 9, 400), node("y", "Neg", "_recv_x_0_S2", 20, 1)]
    return step((PS, [beginning(3), *there]), (WORKER0, [beginning(1)]))


def quick():
    """Return statistics of one process, where a tensor crosses in less than a microsecond."""
    made, came = node("a", "Const", "", 5, 0), transfer("a", PS, WORKER0, 0, 5)
    made.all_start_nanos, made.all_end_rel_nanos = 1000 * (EPOCH + 5) + 100, 200
    came.all_start_nanos, came.all_end_rel_nanos = 1000 * EPOCH, 5_400
    return step((PS, [made]), (WORKER0, [came]))


STEPS = pytest.mark.parametrize(
    "stats",
    [three_tasks(), crowded(), other_host(), fed(), quick(), loop(4), step()],
    ids=["three tasks", "crowded", "other host", "fed", "quick", "loop", "empty"],
)


def events(stats, phase, **options):
    text = Timeline(stats).generate_chrome_trace_format(show_memory=True, **options)
    return [event for event in json.loads(text)["traceEvents"] if event["ph"] in phase]


@STEPS
def test_every_event_has_the_types_the_format_asks_for(stats):
    for event in events(stats, "XMsfC"):
        assert type(event["pid"]) is int
        assert type(event["tid"]) is int
        assert isinstance(event["name"], str)
        if event["ph"] != "M":
            assert type(event["ts"]) is int
        if event["ph"] == "X":
            assert type(event["dur"]) is int
            assert event["dur"] > 0


@STEPS
def test_every_track_is_named(stats):
    named = events(stats, "M")
    processes = {e["pid"] for e in named if e["name"] == "process_name"}
    threads = {(e["pid"], e["tid"]) for e in named if e["name"] == "thread_name"}
    used = {(e["pid"], e["tid"]) for e in events(stats, "X")}
    assert used == threads
    assert {pid for pid, _ in used} == processes


@STEPS
def test_slices_of_a_track_do_not_overlap(stats):
    tracks = defaultdict(list)
    for event in events(stats, "X"):
        tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for intervals in tracks.values():
        intervals.sort()
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(intervals))


@STEPS
def test_every_arrow_is_closed_and_bound_to_slices(stats):
    starts = {e["id"]: e for e in events(stats, "s")}
    ends = {e["id"]: e for e in events(stats, "f")}
    assert starts.keys() == ends.keys()
    assert len(events(stats, "sf")) == 2 * len(starts)
    for number, start in starts.items():
        assert start["ts"] <= ends[number]["ts"]
        assert ends[number]["bp"] == "e"
        assert enclosed(start, events(stats, "X"))
        assert enclosed(ends[number], events(stats, "X"))


def enclosed(event, slices):
    return any(
        (s["pid"], s["tid"]) == (event["pid"], event["tid"])
        and s["ts"] <= event["ts"] < s["ts"] + s["dur"]
        for s in slices
    )


def test_arrows_lead_from_sender_through_transfer_to_taker():
    arrows = {e["name"] for e in events(three_tasks(), "s")}
    assert arrows == {"a", "a/read", "add", "add/y", "add_1"}
    assert len(events(three_tasks(), "s")) == 9


def transfers(stats):
    """Return (arrow's beginning, its end, slice of its transfer) of each that crosses."""
    received = [e for e in events(stats, "X") if e["cat"] == "Transfer"]
    ends = {e["id"]: e for e in events(stats, "f")}
    found = []
    for begins in events(stats, "s"):
        if begins["cat"] == "Transfer":
            end = ends[begins["id"]]
            [arrived] = [each for each in received if enclosed(end, [each])]
            found.append((begins, end, arrived))
    return found


@pytest.mark.parametrize(
    ("stats", "count"),
    [(three_tasks(), 4), (other_host(), 1), (fed(), 1), (quick(), 1), (loop(4), 8)],
    ids=["three tasks", "other host", "fed", "quick", "loop"],
)
def test_every_transfer_has_an_arrow_to_its_end(stats, count):
    found = transfers(stats)
    assert len(found) == count == len([e for e in events(stats, "X") if e["cat"] == "Transfer"])
    for begins, end, arrived in found:
        assert end["ts"] == arrived["ts"] + arrived["dur"] - 1
        [made] = [e for e in events(stats, "X") if e["cat"] == "Op" and enclosed(begins, [e])]
        assert made["args"]["name"] == arrived["args"]["name"] == begins["name"]


def test_an_arrow_that_only_seems_to_go_back_is_straight():
    [(begins, end, _)] = transfers(other_host())
    assert begins["ts"] == EPOCH + 34
    assert end["ts"] - begins["ts"] <= 1


def test_a_fed_value_that_was_sent_has_a_slice_where_its_task_began():
    [feed] = [e for e in events(fed(), "X") if e["name"] == "Feed"]
    assert (feed["ts"], feed["args"]["name"], feed["args"]["bytes"]) == (
        EPOCH + 1,
        "_recv_x_0",
        400,
    )


def test_a_clock_that_was_put_right_is_stated_at_its_process():
    labels = [e for e in events(other_host(), "M") if e["name"] == "process_labels"]
    assert [e["args"]["labels"] for e in labels] == ["clock +123 us +- 40 us, corrected"]
    [named] = [
        e for e in events(other_host(), "M") if e["args"].get("name") == f"{WORKER1} Compute"
    ]
    assert labels[0]["pid"] == named["pid"]
    assert not [e for e in events(three_tasks(), "M") if e["name"] == "process_labels"]


def test_a_transfer_says_from_where_to_where_and_how_long_it_was_waited_for():
    moved = transfer("a", PS, WORKER0, 30, 5)
    moved.scheduled_micros = EPOCH + 10
    [slice_] = events(step((WORKER0, [moved])), "X")
    assert slice_["args"]["from"] == PS
    assert slice_["args"]["to"] == WORKER0
    assert slice_["args"]["waited_us"] == 20


def test_an_arrow_back_in_time_is_left_out():
    stats = step(
        (PS, [node("a", "Const", "", 50, 5)]), (WORKER0, [transfer("a", PS, WORKER0, 0, 9)])
    )
    assert events(stats, "sf") == []


def test_a_device_that_occurs_twice_is_one_process():
    named = [e["args"]["name"] for e in events(three_tasks(), "M") if e["name"] == "process_name"]
    assert named == sorted(set(named))
    assert len(named) == 3


def test_times_are_microseconds_since_the_epoch():
    first = next(e for e in events(three_tasks(), "X") if e["args"]["name"] == "a")
    assert (first["ts"], first["dur"], first["name"]) == (FIRST, 49, "VariableV2")
    assert first["args"]["op"] == "VariableV2"


def test_without_dataflow_there_are_no_arrows():
    assert events(three_tasks(), "sf", show_dataflow=False) == []


def test_memory_rises_with_outputs_and_ends_at_nothing():
    counts = [e for e in events(three_tasks(), "C") if e["pid"] == 0]
    assert [e["args"]["bytes"] for e in counts] == [4, 8, 4, 0]


def test_work_on_a_card_counts_where_it_was_recorded():
    gpu = PS.replace("CPU", "GPU")
    stats = step(
        (gpu, [node("m", "MatMul", "", 0, 2)]),
        (f"{gpu}/stream:all", [node("m", "MatMul", "", 5, 40)]),
    )
    spans = {
        op_time: next(e["dur"] for e in events(stats, "X", op_time=op_time) if e["pid"] == 0)
        for op_time in ("schedule", "gpu", "all")
    }
    assert spans == {"schedule": 2, "gpu": 40, "all": 45}


def test_an_unknown_op_time_is_refused():
    with pytest.raises(ValueError, match="schedule, gpu, all, not 'wall'"):
        Timeline(step()).generate_chrome_trace_format(op_time="wall")


def test_slices_tell_their_rounds():
    told = {
        (e["args"]["name"], e["args"].get("loop"), e["args"].get("round"))
        for e in events(loop(2), "X")
    }
    assert {("while/grow", "while", "1"), ("done", None, None)} <= told


def test_arrows_stay_in_their_round_or_lead_to_the_next_one():
    slices = events(loop(4), "X")

    def rounds(event):
        [slice_] = [s for s in slices if enclosed(event, [s])]
        return int(slice_["args"].get("round", 0)), slice_["args"]["op"]

    ends = {e["id"]: e for e in events(loop(4), "f")}
    for begins in events(loop(4), "s"):
        (made, op), (taken, _) = rounds(begins), rounds(ends[begins["id"]])
        is_later = op == "NextIteration"
        assert taken - made == is_later or op in ("Enter", "Exit")


def test_a_long_loop_is_abridged_and_says_so():
    found = events(loop(1500), "Xsf")
    shown = [e for e in found if e["ph"] == "X"]
    told = [e for e in shown if e["cat"] == "LeftOut"]
    assert len(shown) <= MOST_SLICES + len(told)
    assert len(found) < 4 * MOST_SLICES
    first, last, count = missing_rounds(shown, 1500)
    assert {e["name"] for e in told} == {f"rounds {first} to {last} of while left out ({count:,})"}


def missing_rounds(shown, last):
    """Return the first and last round that has no slice, and how many there are."""
    there = {int(e["args"]["round"]) for e in shown if "round" in e["args"]}
    missing = sorted(set(range(last + 1)) - there)
    return missing[0], missing[-1], len(missing)


def test_what_is_left_out_has_a_lane_between_the_rounds_on_each_device():
    kept, left_out = omit_iterations(rows(loop(50)), 60)
    drawn = chrome.slices(kept)
    slices = [e for e in chrome.left_out_events(drawn, left_out) if e["ph"] == "X"]
    assert [e["pid"] for e in slices] == sorted({each.pid for each in drawn})
    for event in slices:
        others = [each for each in drawn if each.pid == event["pid"]]
        assert event["tid"] not in {each.tid for each in others}
        in_loop = [each for each in others if each.row.rounds.numbers]
        end = event["ts"] + event["dur"]
        assert not [each for each in in_loop if event["ts"] < each.start < end]
        assert {each.end <= event["ts"] for each in in_loop} == {True, False}


def test_slices_tell_what_was_disturbed():
    told = [
        event["args"].get("disturbed")
        for event in chrome.slice_events(chrome.slices(rows(disturbed())))
    ]
    assert sorted(filter(None, told)) == ["delay ps:0 worker:0 30ms", "slow ps 3"]
