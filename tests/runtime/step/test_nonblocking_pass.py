"""Steps that go through all their units in a row, until one has to wait."""

import signal
import threading

import pytest

import tfdist as tf
from tests.runtime.blocking import blocked
from tfdist.runtime.resources.queues import Queue
from tfdist.session import recording
from tfdist.wire.server import start_servers

WARM = 4  # runs after which a step is known to be short


@pytest.fixture
def server():
    with tf.train.Server.create_local_server() as server:
        yield server


@pytest.fixture
def session(server):
    with tf.Session(server.target) as session:
        yield session


def queue(name, capacity=10, dtype="float32"):
    return tf.FIFOQueue(capacity, dtype, shapes=[()], name=name, shared_name=name)


def test_a_step_that_has_to_wait_midway_goes_on_when_it_can(server, session):
    one, other = queue("one"), queue("other")
    x = tf.placeholder("float32", [])
    put_one, put_other = one.enqueue(x), other.enqueue(x)
    total = one.dequeue() * 10.0 + other.dequeue()
    for _ in range(WARM):
        session.run([put_one, put_other], {x: 1.0})
        assert session.run(total) == 11.0
    session.run(put_one, {x: 2.0})
    with blocked(server, session.run, total) as call:
        session.run(put_other, {x: 3.0})
        assert call.result() == 23.0


def test_nobody_is_overtaken(server, session):
    numbers = queue("numbers")
    x = tf.placeholder("float32", [])
    put, take, two = numbers.enqueue(x), numbers.dequeue(), numbers.dequeue_many(2)
    for _ in range(WARM):
        session.run(put, {x: 0.0})
        session.run(take)
    with blocked(server, session.run, two) as first:
        session.run(put, {x: 1.0})
        with blocked(server, session.run, take) as second:
            session.run(put, {x: 2.0})
            session.run(put, {x: 3.0})
            assert first.result().tolist() == [1.0, 2.0]
            assert second.result() == 3.0


def test_a_producer_in_line_is_not_overtaken_either(server, session):
    numbers = queue("numbers", capacity=1)
    x = tf.placeholder("float32", [])
    put, take = numbers.enqueue(x), numbers.dequeue()
    for _ in range(WARM):
        session.run(put, {x: 0.0})
        session.run(take)
    session.run(put, {x: 1.0})
    with blocked(server, session.run, put, {x: 2.0}) as first:
        assert session.run(take) == 1.0
        assert first.result() is None
    with blocked(server, session.run, put, {x: 3.0}) as second:
        assert [float(session.run(take)) for _ in range(2)] == [2.0, 3.0]
        assert second.result() is None


def test_an_error_names_its_node(session):
    numbers = queue("numbers", dtype="int32")
    x = tf.placeholder("int32", [])
    put, divided = numbers.enqueue(x), tf.div(12, numbers.dequeue(), name="divided")
    for _ in range(WARM):
        session.run(put, {x: 3})
        assert session.run(divided) == 4
    session.run(put, {x: 0})
    with pytest.raises(tf.errors.InvalidArgumentError, match="divi") as failure:
        session.run(divided)
    assert failure.value.node_name == "divided"
    session.run(numbers.close())
    with pytest.raises(tf.errors.OutOfRangeError, match="insufficient elements") as failure:
        session.run(divided)
    assert failure.value.node_name == "numbers_Dequeue"


def test_a_timeout_takes_nothing(session):
    one, other = queue("one"), queue("other")
    x = tf.placeholder("float32", [])
    put_one, put_other = one.enqueue(x), other.enqueue(x)
    with tf.control_dependencies([other.dequeue()]):
        behind = one.dequeue()
    for _ in range(WARM):
        session.run([put_one, put_other], {x: 1.0})
        session.run(behind)
    session.run(put_one, {x: 5.0})
    for _ in range(2):
        with pytest.raises(tf.errors.DeadlineExceededError, match="other_Dequeue"):
            session.run(behind, options=tf.RunOptions(timeout_in_ms=30))
        assert session.run(one.size()) == 1


class Countdown:
    """Says so many times that it goes on."""

    def __init__(self, count):
        self.left = count

    def __call__(self):
        self.left -= 1
        return self.left >= 0


def counting():
    """Return a queue, and an operation that puts 0, 1, 2... into it."""
    numbers = queue("numbers", capacity=-1, dtype="int64")
    return numbers, numbers.enqueue(tf.Variable(tf.constant(-1, "int64")).assign_add(1))


def test_runs_that_follow_each_other_do_the_same_as_single_ones(session):
    numbers, put = counting()
    session.run(tf.global_variables_initializer())
    session._run_while(Countdown(100), put)
    session.run(put)
    session._run_while(Countdown(100), put)
    assert session.run(numbers.dequeue_many(201)).tolist() == list(range(201))
    assert session.run(numbers.size()) == 0


def test_nothing_is_lost_between_tasks():
    servers = start_servers({"ps": 1, "worker": 1})
    with tf.device("/job:ps"):
        numbers, put = counting()
    with tf.device("/job:worker"):
        doubled = queue("doubled", capacity=-1, dtype="int64")
        move = doubled.enqueue(numbers.dequeue() * 2)
    with tf.Session(servers[0].target) as session:
        session.run(tf.global_variables_initializer())
        session._run_while(Countdown(50), put)
        session._run_while(Countdown(50), move)
        assert session.run(numbers.size()) == 0
        assert session.run(doubled.dequeue_many(50)).tolist() == list(range(0, 100, 2))
    for server in servers:
        server.stop()


def test_they_are_recorded_one_by_one(session):
    _, put = counting()
    session.run(tf.global_variables_initializer())
    session._run_while(Countdown(WARM), put)
    with recording.record_runs() as runs:
        session._run_while(Countdown(3), put)
    assert len(runs) == 3


def test_what_they_print_comes_at_once(session, capfd):
    words = queue("words", dtype="string")
    told = tf.Print(words.dequeue(), [words.size()], "left:")
    again = words.enqueue(told)
    session.run(words.enqueue("x"))
    session._run_while(Countdown(WARM + 20), again)
    assert capfd.readouterr().err.count("left:") == WARM + 20


def test_closing_the_session_ends_them(server):
    _, put = counting()
    session = tf.Session(server.target)
    session.run(tf.global_variables_initializer())
    started, asked, ended = threading.Event(), [], []

    def goes_on():  # a first step has ended: nothing is being registered any more
        if asked:
            started.set()
        asked.append(True)
        return True

    def body():
        try:
            session._run_while(goes_on, put)
        except (tf.errors.CancelledError, RuntimeError) as error:
            ended.append(error)

    thread = threading.Thread(target=body)
    thread.start()
    started.wait(10)
    session.close()
    thread.join(10)
    assert len(ended) == 1
    assert not thread.is_alive()


def test_what_ends_a_step_in_the_middle_of_a_pass_loses_nothing(session, monkeypatch):
    numbers, others = queue("numbers"), queue("others")
    x = tf.placeholder("float32", [])
    put, move = numbers.enqueue(x), others.enqueue(numbers.dequeue() * 2.0)
    for _ in range(WARM):
        session.run(put, {x: 1.0})
        session.run(move)
    session.run(put, {x: 5.0})
    take_now = Queue.take_now

    def interrupted(self, count):
        taken = take_now(self, count)
        signal.raise_signal(signal.SIGINT)
        return taken

    monkeypatch.setattr(Queue, "take_now", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.run(move)
    monkeypatch.undo()
    assert session.run(others.dequeue_many(WARM + 1)).tolist() == [2.0] * WARM + [10.0]
