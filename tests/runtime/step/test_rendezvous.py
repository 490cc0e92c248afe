"""Rendezvous: what is sent waits for its receiver, and the other way round."""

import pytest

from tfdist.errors import AbortedError
from tfdist.graph.op_def import PENDING
from tfdist.runtime.step.rendezvous import Rendezvous, route_of

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


def test_who_gives_up_leaves_another_receiver_alone(meeting):
    first, _, _ = begun(meeting)
    assert first.cancel()
    _, _, later = begun(meeting)
    assert not first.cancel()
    meeting.send(KEY, 7)
    assert later == [7]


# routes between processes

ROUTE = KEY.rpartition(";edge")[0]


def in_loop(number, name="edge_0_x"):
    return f"{ROUTE};{name};123:{number}"


@pytest.fixture
def taken(meeting):
    """Return what comes on the route, which has a subscriber."""
    found = []
    meeting.subscribe(ROUTE, found.append)
    return found


def test_a_route_goes_from_device_to_device_and_only_in_loops():
    assert route_of(in_loop(3)) == route_of(in_loop(0, "other")) == ROUTE
    assert route_of(KEY) == ""


def test_what_was_sent_before_is_handed_on_at_once(meeting):
    assert not meeting.send(in_loop(0), 7)
    found = []
    meeting.subscribe(ROUTE, found.append)
    assert found == [[(in_loop(0), 7)]]
    assert begun(meeting, in_loop(0))[1] is PENDING


def test_what_is_sent_is_handed_on_together(meeting, taken):
    assert meeting.send(in_loop(0), 7)
    assert meeting.send(in_loop(1, "other"), None)
    assert taken == []
    meeting.deliver()
    meeting.deliver()
    assert taken == [[(in_loop(0), 7), (in_loop(1, "other"), None)]]


def test_what_goes_elsewhere_or_is_in_no_loop_is_not_handed_on(meeting, taken):
    elsewhere = in_loop(0).replace("/job:b/", "/job:c/")
    assert not meeting.send(elsewhere, 7)
    assert not meeting.send(KEY, 8)
    meeting.deliver()
    assert taken == []
    assert (begun(meeting, elsewhere)[1], begun(meeting)[1]) == (7, 8)


def test_who_asked_for_a_value_gets_it(meeting, taken):
    _, _, later = begun(meeting, in_loop(0))
    assert not meeting.send(in_loop(0), 7)
    assert (later, taken) == ([7], [])


def test_subscribers_are_told_how_the_step_ended(meeting, taken):
    error = AbortedError("gone")
    meeting.abort(error)
    meeting.send(in_loop(0), 7)
    meeting.deliver()
    assert taken == [error]
    late = []
    meeting.subscribe(ROUTE, late.append)
    assert late == [error]


def test_a_route_has_one_subscriber(meeting, taken):
    second = []
    meeting.subscribe(ROUTE, second.append)
    [error] = second
    assert isinstance(error, AbortedError)
    meeting.send(in_loop(0), 7)
    meeting.deliver()
    assert taken == [[(in_loop(0), 7)]]


def test_nothing_is_handed_on_to_who_has_gone(meeting, taken):
    meeting.unsubscribe(ROUTE)
    assert not meeting.send(in_loop(0), 7)
    assert taken == []


class Beginning:
    """Subscribes, and notes what became of that."""

    def __init__(self, ends=True):
        self.inboxes, self.cancelled = [], 0
        self._ends = ends

    def __call__(self, inbox):
        self.inboxes.append(inbox)
        return self._cancel if self._ends else None

    def _cancel(self):
        self.cancelled += 1


def test_what_comes_on_a_route_is_received_in_one_inbox(meeting):
    begin = Beginning()
    inbox = meeting.inbox(ROUTE, begin)
    assert meeting.inbox(ROUTE, begin) is inbox
    assert begin.inboxes == [inbox]
    inbox.send(in_loop(0), 7)
    assert begun(inbox, in_loop(0))[1] == 7


def test_where_a_route_cannot_be_followed_that_is_asked_once(meeting):
    begin = Beginning(ends=False)
    assert meeting.inbox(ROUTE, begin) is None
    assert meeting.inbox(ROUTE, begin) is None
    assert len(begin.inboxes) == 1


def test_the_end_of_a_step_ends_its_inboxes_and_what_fills_them(meeting):
    begin, error = Beginning(), AbortedError("gone")
    _, _, later = begun(meeting.inbox(ROUTE, begin), in_loop(0))
    meeting.abort(error)
    assert (later, begin.cancelled) == ([error], 1)
    assert begun(meeting.inbox(ROUTE, begin), in_loop(0))[1] is error
    assert len(begin.inboxes) == 1


def test_a_step_may_end_while_a_route_begins(meeting):
    begin, error = Beginning(), AbortedError("gone")

    def begin_late(inbox):
        meeting.abort(error)
        return begin(inbox)

    inbox = meeting.inbox(ROUTE, begin_late)
    assert begin.cancelled == 1
    assert begun(inbox, in_loop(0))[1] is error
