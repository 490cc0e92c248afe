"""Traces of steps over several processes: every transfer has its arrow, its size and its times.

Mostly these are servers of one process that call each other as if they were not; one test has real
processes.
"""

import json

import numpy as np
import pytest

import tfdist as tf
from tests.tracing.samples import EPOCH, PS, WORKER0, WORKER1, beginning, node, step, transfer
from tfdist.launch.start import start_cluster
from tfdist.plots.text import timeline_text
from tfdist.plots.timeline.figure import timeline_figure
from tfdist.tracing.clocks import SAME_CLOCK, ClockOffset
from tfdist.tracing.steps.entries import before_transfer, parse_label, parse_transfer
from tfdist.tracing.steps.makers import makers
from tfdist.tracing.steps.node_row import TRANSFER
from tfdist.tracing.steps.rows import clocks, rows
from tfdist.tracing.steps.timeline import Timeline
from tfdist.wire.codec.step_stats import complete, shift

JOBS = {"ps": 1, "worker": 2}
ROUNDING = 0.001  # microseconds: sums of floats


def slack(one, other):
    """Return the microseconds by which times may be out of order: other tasks' are estimated.

    A transfer ends when its tensor was made, at the earliest, by whatever clock that was.
    """
    if one.device == other.device and other.kind != TRANSFER:
        return ROUNDING
    return ROUNDING + sum(row.clock.uncertainty for row in (one, other) if row.clock) / 1000


LARGE = 3_000_000  # bytes: it crosses by shared memory where there is a local path


@pytest.fixture
def target(transport, tasks):
    """Return the target of worker 0; all calls between tasks are real ones."""
    return tasks[1].target


def crossing():
    """Build what crosses in many ways; return (fetches, feeds)."""
    x = tf.placeholder(tf.float32, [5], name="x")
    with tf.device("/job:ps"):
        a = tf.Variable(1.0, name="a")
        counted = a.assign_add(1.0, name="counted")
        first, second = tf.unstack(tf.identity([[1.0, 2.0], [3.0, 4.0]]), name="parts")
        large = tf.fill([LARGE // 4], 2.0, name="large")
        nothing = tf.zeros([0, 3], name="nothing")
    with tf.device("/job:worker/task:1"), tf.control_dependencies([counted.op]):
        after = tf.no_op(name="after")
        both = tf.add(first, second, name="both")
        scaled = tf.multiply(x, a, name="scaled")
    with tf.device("/job:worker/task:0"), tf.control_dependencies([after]):
        total = tf.add(tf.reduce_sum(large), tf.reduce_sum(both), name="total")
        empty = tf.identity(nothing, name="empty")
    return [total, empty, scaled], {x: np.arange(5)}


def traced(target, fetches, feeds=None):
    """Return the StepStats of a run in a new session, variables initialized."""
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        session.run(fetches, feeds, options, metadata)
    return metadata.step_stats


def events(stats, phase):
    text = Timeline(stats).generate_chrome_trace_format(show_memory=True)
    return [event for event in json.loads(text)["traceEvents"] if event["ph"] in phase]


def received(stats):
    """Return the entries of what was received."""
    every = [each for entry in stats.dev_stats for each in entry.node_stats]
    return [each for each in every if each.node_name == "RecvTensor"]


def check_arrows(stats):
    """Check that each transfer has one arrow, from who made the tensor, not back in time."""
    crossed = received(stats)
    begins = {e["id"]: e for e in events(stats, "s") if e["cat"] == "Transfer"}
    ends = {e["id"]: e for e in events(stats, "f") if e["cat"] == "Transfer"}
    assert len(begins) == len(ends) == len(crossed) > 0
    assert all(begin["ts"] <= ends[number]["ts"] for number, begin in begins.items())
    found = rows(stats)
    for row, made_by in zip(found, makers(found), strict=True):
        if row.kind == TRANSFER and not row.name.startswith("_recv_"):
            [maker] = made_by
            assert (found[maker].device, found[maker].name) == (row.source, row.name)
            assert found[maker].end_us <= row.end_us + slack(row, found[maker])


def test_every_transfer_has_an_arrow(target):
    stats = traced(target, *crossing())
    check_arrows(stats)
    names = {row.name for row in rows(stats) if row.kind == TRANSFER}
    assert {"parts", "large", "nothing", "_recv_x_0", "scaled"} < names
    assert {name.rpartition("_ctrl_")[0] for name in names if "_ctrl_" in name} == {
        "counted",
        "after",
    }


def test_what_is_received_is_taken_by_somebody(target):
    found = rows(traced(target, *crossing()))
    taken = {i for made_by in makers(found) for i in made_by}
    loose = [row.name for i, row in enumerate(found) if row.kind == TRANSFER and i not in taken]
    assert loose == ["scaled"]  # it is fetched


def test_sizes_are_those_of_what_crossed(target):
    sizes = {row.name: row.bytes for row in rows(traced(target, *crossing()))}
    assert [sizes[name] for name in ("large", "parts", "nothing", "_recv_x_0")] == [LARGE, 8, 0, 20]


def test_sizes_of_strings_count_their_letters(target):
    with tf.device("/job:ps"):
        words = tf.identity(["alpha", "be", "c" * 100], name="words")
        word = tf.identity("scalar", name="word")
    stats = traced(target, [words, word])
    sizes = {row.name: row.bytes for row in rows(stats) if row.kind == TRANSFER}
    assert sizes == {"words": 3 * 8 + 107, "word": 8 + 6}


def test_a_transfer_lasts_from_when_its_tensor_was_there(target):
    stats = traced(target, *crossing())
    found = rows(stats)
    for row, made_by in zip(found, makers(found), strict=True):
        if row.kind == TRANSFER and made_by:
            assert row.start_us >= found[made_by[0]].end_us - slack(row, found[made_by[0]])
    assert all(each.scheduled_nanos <= each.all_start_nanos for each in received(stats))


def nanos(stats):
    """Return (start, when it had left, when it came, end) of a transfer's entry."""
    start = stats.all_start_nanos
    rest = (stats.op_start_rel_nanos, stats.op_end_rel_nanos, stats.all_end_rel_nanos)
    return start, *(start + each for each in rest)


def test_a_transfer_leaves_comes_and_is_taken(target):
    for each in received(traced(target, *crossing())):
        assert list(nanos(each)) == sorted(nanos(each))
        micros = (each.op_start_rel_micros, each.op_end_rel_micros, each.all_end_rel_micros)
        assert list(micros) == sorted(micros)


def test_a_node_is_scheduled_when_the_last_of_what_it_takes_is_there(target):
    stats = traced(target, *crossing())
    there = {}
    for entry in stats.dev_stats:
        for each in entry.node_stats:
            sent = parse_transfer(each)
            name = sent.tensor if sent else each.node_name
            at = nanos(each)[2] if sent else each.all_start_nanos + each.all_end_rel_nanos
            there.setdefault((entry.device, name), []).append(at)
    checked = 0
    for entry in stats.dev_stats:
        for each in entry.node_stats:
            inputs = parse_label(each)[1] if each.node_name not in ("RecvTensor", "_SOURCE") else ()
            made = [there.get((entry.device, before_transfer(name)), []) for name in inputs]
            if made and all(len(times) == 1 for times in made):  # two parts cross by one name
                assert each.scheduled_nanos == max(times[0] for times in made)
                checked += 1
    assert checked >= 8


def merged(parts):
    """Return the statistics of a whole step, made of those of its processes."""
    own, *others = parts
    complete(own, others)
    return own


def test_who_sends_tells_of_it_until_the_step_is_put_together():
    """TensorFlow lists no `_Send`: when a tensor had left is in the transfer's entry."""
    came = transfer("a", WORKER1, WORKER0, 0, 100)
    came.scheduled_micros, came.op_end_rel_micros = came.all_start_micros, 80
    sent = node("_Send", "", "", 38, 4)
    sent.timeline_label = f"edge_4_a from {WORKER1} to {WORKER0}"
    ran = [beginning(), node("a", "Const", "", 30, 5)]
    whole = merged([step((WORKER0, [came])), step((WORKER1, ran), (WORKER1, [sent]))])
    names = [each.node_name for entry in whole.dev_stats for each in entry.node_stats]
    assert names == ["RecvTensor", "_SOURCE", "a"]
    [row] = [row for row in rows(whole) if row.kind == TRANSFER]
    assert (row.start_us, row.send_us, row.arrived_us, row.end_us) == (35, 7, 80, 100)


def test_transfers_come_first_as_in_tensorflow(target):
    stats = traced(target, *crossing())
    kinds = [entry.node_stats[0].node_name for entry in stats.dev_stats]
    assert kinds == ["RecvTensor"] * 2 + ["_SOURCE"] * 3


def looping(count):
    """Build a loop over two tasks, and in its body one whose length differs; return its end."""
    with tf.device("/job:ps"):
        step = tf.constant(1.0, name="step")
        first = tf.constant(0.0, name="first")

    def body(i, total):
        with tf.device("/job:worker/task:1"):
            grown = tf.add(total, step, name="grown")
        with tf.device("/job:ps"):
            inner = tf.while_loop(
                lambda j: j < i, lambda j: tf.add(j, step, name="next"), [first], name="inner"
            )
            return i + step, tf.maximum(grown, inner, name="greater")

    with tf.device("/job:ps"):
        return tf.while_loop(lambda i, _: i < count, body, [first, first])


def test_rounds_are_told_by_every_task(target):
    found = rows(traced(target, looping(4.0)))
    grown = [row for row in found if row.name == "while/grown"]
    for device in (WORKER1, PS):
        rounds = {row.rounds for row in grown if row.device == device and row.bytes}
        assert rounds == {(("while",), (i,)) for i in range(4)}
    [inner] = {row.rounds.loops for row in found if row.name == "while/inner/next"}
    assert inner == ("while", "while/inner")
    turns = [row.rounds.numbers for row in found if row.name == "while/inner/next"]
    assert sorted(turns) == [(i, j) for i in range(4) for j in range(i)]


def test_every_transfer_of_a_loop_is_made_and_taken_in_its_round(target):
    found = rows(traced(target, looping(4.0)))
    for row, made_by in zip(found, makers(found), strict=True):
        made = [found[i] for i in made_by]
        assert all(each.end_us <= row.end_us + slack(row, each) for each in made)
        if row.kind == TRANSFER and row.bytes and row.rounds.numbers:
            [maker] = made
            assert (maker.device, maker.name) == (row.source, row.name)
            assert maker.rounds == row.rounds or maker.op == "Enter"
            assert row.start_us >= maker.end_us - slack(row, maker)


def test_a_dead_tensor_has_nobody_who_made_it_and_takes_no_time(target):
    found = rows(traced(target, looping(2.0)))
    dead = [row for row in found if row.kind == TRANSFER and row.rounds.numbers == (2,)]
    assert {row.name: row.bytes for row in dead}["while/grown"] == 0
    [grown] = [row for row in dead if row.name == "while/grown"]
    assert grown.duration_us == 0
    assert makers(found)[found.index(grown)] == ()


def test_tasks_of_one_host_share_a_clock(target, transport):
    is_elsewhere = transport == "frames by TCP"  # each takes the others for those of another host
    assert bool(clocks(traced(target, *crossing()))) is is_elsewhere


def test_a_step_over_three_processes():
    with start_cluster(JOBS, "for traces", processes=True).require() as cluster:
        stats = traced(cluster.target(), *crossing())
        found = rows(traced(cluster.target(), looping(3.0)))
    check_arrows(stats)
    assert {row.rounds.numbers for row in found if row.name == "while/grown" and row.bytes} == {
        (0,), (1,), (2,),
    }  # fmt: skip
    assert {entry.device for entry in stats.dev_stats} == {PS, WORKER0, WORKER1}
    assert clocks(stats) == {}


# From here on, statistics made by hand.


def elsewhere(offset_us):
    """Return what worker 1 tells of a step, by a clock that is ahead of ours by `offset_us`."""
    sent = node("a", "Const", "", offset_us + 30, 5)
    came = transfer("b", WORKER0, WORKER1, offset_us + 20, 50)
    came.scheduled_micros = came.all_start_micros
    return step((WORKER1, [came]), (WORKER1, [beginning(offset_us + 10), sent]))


def here():
    """Return what worker 0 tells of the same step."""
    came = transfer("a", WORKER1, WORKER0, 2, 31)  # 2 us before it was made, so it seems
    came.scheduled_micros = came.all_start_micros
    return step((WORKER0, [came]), (WORKER0, [beginning(1), node("b", "Const", "", 40, 8)]))


@pytest.mark.parametrize("offset_us", [123, -5_000_000, 1])
def test_times_of_another_host_come_by_our_clock(offset_us):
    clock = ClockOffset(1000 * offset_us, 7_000)
    told = elsewhere(offset_us)
    shift(told, clock)
    stats = merged([here(), told])
    found = {(row.device, row.name): row for row in rows(stats)}
    assert found[WORKER1, "a"].start_us == 28
    assert (found[WORKER1, "b"].start_us, found[WORKER1, "b"].waited_us) == (46, 28)
    assert clocks(stats) == {WORKER1: clock}
    check_arrows(stats)


def test_what_was_put_right_is_stated_everywhere():
    told = elsewhere(123)
    shift(told, ClockOffset(123_000, 40_000))
    stats = merged([here(), told])
    note = "clock of /job:worker/task:1: +123 µs ± 40 µs, corrected"
    assert timeline_text(rows(stats)).splitlines()[-1] == note
    assert note in timeline_figure(rows(stats)).axes[0].get_xlabel()
    labels = [e["args"]["labels"] for e in events(stats, "M") if e["name"] == "process_labels"]
    assert labels == ["clock +123 us +- 40 us, corrected"]


def test_our_own_clock_is_left_alone():
    told = elsewhere(0)
    shift(told, SAME_CLOCK)
    assert told == elsewhere(0)


def test_what_tensorflow_leaves_open_stays_open():
    told = step((WORKER1, [transfer("b", WORKER0, WORKER1, 60, 10)]))
    shift(told, ClockOffset(20_000, 7_000))
    [came] = received(told)
    assert (came.all_start_micros, came.scheduled_micros) == (EPOCH + 40, 0)
    assert came.scheduled_nanos == 0
    assert received(merged([here(), told]))[1] == came  # its times are those of sending


@pytest.mark.parametrize(
    ("size", "micros", "label"),
    [
        (4, 100, "[4B] [0.320000Mb/s]"),
        (0, 100, "[0B] [0.000000Mb/s]"),
        (99_999, 782, "[99999B] [1.0Gb/s]"),
        (104_857, 1000, "[104857B] [838.856000Mb/s]"),
        (104_858, 1000, "[0.1MB] [838.864000Mb/s]"),
        (30_000_000, 27_102, "[28.6MB] [8.9Gb/s]"),
    ],
)
def test_labels_tell_size_and_rate_as_tensorflow_does(size, micros, label):
    came = transfer("a", WORKER1, WORKER0, 0, 35 + micros, size)
    came.scheduled_micros = came.all_start_micros
    made = (WORKER1, [beginning(), node("a", "Const", "", 30, 5)])
    [came] = received(merged([step((WORKER0, [came])), step(made)]))
    assert came.timeline_label == f"{label} edge_4_a from {WORKER1} to {WORKER0}"
    assert (came.all_start_micros, came.all_end_rel_micros) == (EPOCH + 35, micros)
    assert came.scheduled_micros == EPOCH
