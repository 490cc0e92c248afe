"""Rendezvous: what is sent waits for its receiver, and the other way round."""

import pytest

from tfdist.errors import AbortedError
from tfdist.graph.op_def import PENDING
from tfdist.runtime.rendezvous import Rendezvous

KEY = "/job:a/replica:0/task:0/device:CPU:0;0000000000000001;/job:b/device:CPU:0;edge_0_x;0:0"


@pytest.fixture
def meeting():
    return Rendezvous()


def begun(meeting, key=KEY):
    outcomes = []
    wait = meeting.receive(key)
    return wait, wait.start(outcomes.append), outcomes


def test_a_value_that_was_sent_is_there_at_once(meeting):
    meeting.send(KEY, 7)
    _, now, later = begun(meeting)
    assert (now, later) == (7, [])


def test_a_receiver_can_come_first(meeting):
    _, now, later = begun(meeting)
    assert now is PENDING
    meeting.send(KEY, 7)
    assert later == [7]


def test_a_value_is_received_once(meeting):
    meeting.send(KEY, 7)
    begun(meeting)
    assert begun(meeting)[1] is PENDING


def test_keys_are_told_apart(meeting):
    _, _, later = begun(meeting)
    meeting.send("other;0;x;y;0:0", 7)
    assert later == []


def test_nothing_can_be_received_too(meeting):
    meeting.send(KEY, None)
    assert begun(meeting)[1] is None


def test_a_receiver_may_give_up(meeting):
    wait, _, later = begun(meeting)
    assert wait.cancel()
    assert not wait.cancel()
    meeting.send(KEY, 7)
    assert later == []
    assert begun(meeting)[1] == 7


def test_a_value_that_came_first_cannot_be_given_up(meeting):
    wait, _, _ = begun(meeting)
    meeting.send(KEY, 7)
    assert not wait.cancel()


def test_an_error_ends_waits_now_and_later(meeting):
    _, _, later = begun(meeting)
    error = AbortedError("gone")
    meeting.abort(error)
    assert later == [error]
    assert begun(meeting)[1] is error
    meeting.abort(AbortedError("later"))
    assert begun(meeting)[1] is error


def test_a_wait_says_what_for(meeting):
    wait, _, _ = begun(meeting)
    assert wait.describe() == "receive of edge_0_x from /job:a/replica:0/task:0/device:CPU:0"
