"""Following a route: what one task sends another in loops, without a question for each value."""

import numpy as np
import pytest

import tfdist as tf
from tests.runtime.blocking import Call, until
from tests.wire.calls_at import calls_at
from tests.wire.transports import Outcomes
from tests.wire.worker_cases import ELSEWHERE, new_step, receiving
from tfdist.errors import AbortedError, CancelledError, InvalidArgumentError, UnimplementedError
from tfdist.graph.op_def import DEAD
from tfdist.protos import pb
from tfdist.runtime.resources.variables import Variable
from tfdist.wire.codec.transfers import subscription_messages, subscription_values
from tfdist.wire.service_methods import FOLLOW

DEVICE = "/job:a/replica:0/task:0/device:CPU:0"
MEGABYTE = 1 << 20


class Following:
    """A step of a server, whose route elsewhere somebody follows."""

    def __init__(self, server, caller, incarnation=None):
        self.step, self.outcomes = new_step(), Outcomes()
        self.rendezvous = server.task.worker.rendezvous(self.step)
        lives = incarnation or server.task.worker.devices[0].incarnation
        self.route = f"{DEVICE};{lives:016x};{ELSEWHERE}"
        request = receiving(self.route, self.step).SerializeToString()
        self.cancel = caller.begin(FOLLOW, [request], self.outcomes)

    def key(self, number):
        return f"{self.route};edge_0_x;12:{number}"

    def send(self, *values):
        """Send values, as a turn of the step does."""
        for number, value in enumerate(values):
            self.rendezvous.send(self.key(number), value)
        self.rendezvous.deliver()

    def came(self, count=1):
        """Return the keys and values of the messages that came, once they are so many."""
        return [subscription_values(memoryview(told)) for told in self.outcomes.wait(count)]

    def error(self):
        """Return why nothing more comes, of a call that brought nothing."""
        [outcome] = self.outcomes.wait()
        return outcome


@pytest.fixture
def way():
    """Only frames carry it."""
    return "local path"


@pytest.fixture
def following(server, asker):
    found = Following(server, asker.caller)
    until(lambda: found.rendezvous._routes)
    return found


def test_what_is_sent_in_one_turn_comes_in_one_message(following):
    following.send(np.float32(1.5), b"two", np.array([3, 4]))
    [[(first, one), (_, two), (last, three)]] = following.came()
    assert (first, last) == (following.key(0), following.key(2))
    assert (one, two, three.tolist()) == (1.5, b"two", [3, 4])


def test_the_call_goes_on(following):
    following.send(np.float32(1.0))
    following.send(np.float32(2.0))
    assert [value for [(_, value)] in following.came(2)] == [1.0, 2.0]


def test_dead_values_come_as_such(following):
    following.send(DEAD, np.float32(1.0), DEAD)
    live, dead = following.came(2)
    assert live == [(following.key(1), 1.0)]
    assert dead == [(following.key(0), DEAD), (following.key(2), DEAD)]


def test_large_values_come_in_shared_memory(following):
    following.send(np.arange(MEGABYTE))
    [[(_, value)]] = following.came()
    np.testing.assert_array_equal(value, np.arange(MEGABYTE))


def test_a_variable_comes_as_the_value_that_it_has(following):
    variable = Variable("v")
    variable.value = np.float32(7.0)
    following.send(variable)
    assert following.came()[0][0][1] == 7.0


def test_what_is_no_tensor_ends_it(following):
    following.send(object())
    assert isinstance(following.error(), InvalidArgumentError)


def test_the_end_of_the_step_ends_it(following, asker):
    asker.ask(pb.CleanupGraphRequest(step_id=following.step))
    error = following.error()
    assert isinstance(error, CancelledError)
    assert error.is_derived


def test_who_cancels_has_gone(following):
    following.cancel()
    assert isinstance(following.error(), CancelledError)
    until(lambda: not following.rendezvous._routes)


def test_who_goes_away_leaves_no_follower_behind(server):
    with calls_at(server.address, "local path") as asker:
        following = Following(server, asker.caller)
        until(lambda: following.rendezvous._routes)
    until(lambda: not following.rendezvous._routes)


def test_a_step_that_is_over_cannot_be_followed(server, asker, following):
    asker.ask(pb.CleanupGraphRequest(step_id=following.step))
    outcomes = Outcomes()
    request = receiving(following.route, following.step).SerializeToString()
    asker.caller.begin(FOLLOW, [request], outcomes)
    assert isinstance(outcomes.wait()[0], CancelledError)


def test_another_life_of_the_device_is_told_apart(server, asker):
    error = Following(server, asker.caller, incarnation=1).error()
    assert isinstance(error, AbortedError)
    assert error.is_restart


def test_a_key_is_no_route(server, asker):
    outcomes = Outcomes()
    request = receiving(f"{DEVICE};{1:016x};{ELSEWHERE};x;0:0").SerializeToString()
    asker.caller.begin(FOLLOW, [request], outcomes)
    assert "DEVICE;INCARNATION;DEVICE, not" in outcomes.wait()[0].message


def test_grpc_does_not_carry_it(server):
    with calls_at(server.address, "grpc") as asker:
        following = Following(server, asker.caller)
        until(lambda: following.rendezvous._routes)
        following.send(np.float32(1.0))
        assert isinstance(following.error(), UnimplementedError)


def test_messages_are_read_as_they_were_written():
    sent = [("a", np.float32(1.0)), ("b", DEAD)]
    messages = [memoryview(b"".join(each)) for each in subscription_messages(sent)]
    assert [pair for each in messages for pair in subscription_values(each)] == sent


def test_a_loop_over_two_tasks(two, transport):
    def body(i, total):
        with tf.device("/job:worker"):
            return i + 1, total * 2.0

    with tf.device("/job:ps"):
        limit = tf.placeholder(tf.int32, [])
        end = tf.while_loop(lambda i, _: i < limit, body, (0, 1.0))
    with tf.Session(two[0].target) as session:
        for rounds in (3, 0, 30, 1):
            assert session.run(end, {limit: rounds}) == (rounds, 2.0**rounds)
        until(lambda: not any(server.task.worker._rendezvous for server in two))


# loops that end in other ways


def endless():
    """Return the end of a loop over two tasks that goes on until its step is stopped."""

    def body(i):
        with tf.device("/job:worker"):
            return i + 1

    with tf.device("/job:ps"):
        return tf.while_loop(lambda i: i >= 0, body, [tf.constant(0, tf.int64)])


@pytest.fixture
def looping(two):
    """Give a call that runs an endless loop, which both tasks are in."""
    end = endless()
    with tf.Session(two[0].target) as session:
        call = Call(session.run, end)
        until(lambda: all(map(is_followed, two)))
        yield session, call


def is_followed(server):
    return any(each._routes for each in list(server.task.worker._rendezvous.values()))


def nothing_is_left(servers):
    return not any(server.task.is_busy or server.task.worker._rendezvous for server in servers)


def test_closing_its_session_ends_a_loop(two, looping):
    session, call = looping
    session.close()
    with pytest.raises(CancelledError):
        call.result()
    until(lambda: nothing_is_left(two))


def test_a_deadline_ends_a_loop(two):
    end = endless()
    with tf.Session(two[0].target) as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(end, options=tf.RunOptions(timeout_in_ms=200))
        until(lambda: nothing_is_left(two))


def test_a_task_that_stops_ends_a_loop(two, looping):
    two[1].stop()
    with pytest.raises((AbortedError, tf.errors.UnavailableError), match="/job:worker"):
        looping[1].result()
    until(lambda: nothing_is_left(two[:1]) and not two[1].task.is_busy)


def test_a_failing_node_ends_a_loop(two):
    def body(i):
        with tf.device("/job:worker"):
            return tf.check_numerics(1.0 / (5.0 - i), "too far", name="check") * 0.0 + i + 1.0

    with tf.device("/job:ps"):
        end = tf.while_loop(lambda i: i >= 0.0, body, [0.0])
    with tf.Session(two[0].target) as session:
        with pytest.raises(InvalidArgumentError, match="too far") as caught:
            session.run(end)
        assert caught.value.node_name == "while/check"
        until(lambda: nothing_is_left(two))
