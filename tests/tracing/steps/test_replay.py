"""Replays of steps: at the speeds that they had, and with faster or slower parts."""

import pytest

import tfdist as tf
from tests.tracing.samples import PS, WORKER0, WORKER1, three_tasks
from tests.tracing.steps.test_critical_path import CASES, node, transfer
from tfdist.tracing.steps.replay import Replay
from tfdist.tracing.steps.rows import rows


def traced():
    """Return the rows of a real step over branches and a loop."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.random_normal([20, 20], seed=1)
        branches = [tf.matmul(x, x) + float(i) for i in range(5)]
        looped = tf.while_loop(lambda i: i < 10, lambda i: i + 1, [0])
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run([tf.add_n(branches), looped], options=options, run_metadata=metadata)
    return rows(metadata.step_stats)


@pytest.mark.parametrize("step", [c[1] for c in CASES] + [rows(three_tasks())])
def test_with_all_speeds_as_they_were_it_is_the_step(step):
    assert Replay(step).span_us() == max((row.end_us for row in step), default=0.0)


def test_a_real_step_is_replayed_exactly():
    step = traced()
    assert Replay(step).span_us() == pytest.approx(max(row.end_us for row in step))


def savings(step):
    return {(s.kind, s.name, s.device, s.source): s.saved_us for s in Replay(step).savings()}


def test_a_faster_node_saves_until_another_branch_is_the_longest():
    step = [
        node("a", 0, 20), node("b", 0, 16, device=WORKER0), transfer("b", 16, 0, WORKER0, PS),
        node("c", 20, 5, "a", "b"),
    ]  # fmt: skip
    found = savings(step)
    assert found["node", "a", PS, ""] == 4  # 10 less of its own, but b takes 16
    assert found["node", "b", WORKER0, ""] == 0
    assert found["node", "c", PS, ""] == 2.5
    assert found["task", "", PS.partition("/device")[0], ""] == 6.5


def test_a_faster_link_saves_half_of_the_way_after_sending():
    step = [node("a", 0, 10), transfer("a", 0, 30), node("b", 30, 5, "a", device=WORKER0)]
    assert savings(step)["link", "", WORKER0, PS] == 10


def held(came):
    """Return a step in which `b` needs a tensor that has come while its task ran `long`."""
    return [
        node("a", 0, 10), node("long", 15, 15, device=WORKER0),
        transfer("a", 10, 22, delay=32 - came), node("b", 32, 5, "a", device=WORKER0),
    ]  # fmt: skip


def test_a_faster_link_saves_nothing_while_the_receiver_is_busy():
    assert savings(held(came=29))["link", "", WORKER0, PS] == 0


def test_a_tensor_that_has_come_is_taken_when_its_task_has_ended_what_it_runs():
    step = held(came=20)
    assert Replay(step).span_us() == 37
    assert savings(step)["node", "long", WORKER0, ""] == 7.5
    slower = Replay(step).span_us(lambda row: 3.0 if row.kind == "transfer" else 1.0)
    assert slower == 10 + 3 * 10 + 2 + 5


def test_a_faster_node_lets_its_task_go_on_with_the_next():
    step = [node("first", 0, 20), node("b", 20, 4)]
    assert savings(step)["node", "first", PS, ""] == 10


def test_slower_parts_make_the_step_longer():
    step = [node("a", 0, 10), node("b", 10, 5, "a")]
    assert Replay(step).span_us(lambda row: 3.0 if row.name == "a" else 1.0) == 35


def test_the_greatest_saving_comes_first_and_lags_stay():
    step = [node("a", 2, 10), node("b", 15, 6, "a", device=PS), node("c", 0, 1, device=WORKER1)]
    found = Replay(step).savings()
    assert [each.saved_us for each in found] == sorted((s.saved_us for s in found), reverse=True)
    assert (found[0].kind, found[0].saved_us) == ("task", 8)
