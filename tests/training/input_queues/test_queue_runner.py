"""QueueRunner, beyond what `training/coordination.py` compares: errors, Ctrl-C, many threads."""

import collections
import logging
import signal
import threading

import pytest

import tfdist as tf
from tests.runtime.blocking import PATIENCE
from tests.training.input_queues.interrupted import PROGRAMS, start
from tests.training.sessions.test_coordinator import press_ctrl_c_in
from tfdist.session.base_session import BaseSession


def counted(count, capacity=8, threads=1):
    """Return (runner, queue): it is filled with 0, 1, ..., `count` - 1."""
    counter = tf.Variable(0, trainable=False)
    queue = tf.FIFOQueue(capacity, [tf.int32], shapes=[[]], name="filled")
    enqueue = queue.enqueue([tf.count_up_to(counter, count)])
    return tf.train.QueueRunner(queue, [enqueue] * threads), queue


def failing(queue):
    """Return an op that fails before it puts something into the queue."""
    with tf.control_dependencies([tf.Assert(tf.placeholder_with_default(False, []), ["bad"])]):
        return queue.enqueue(1)


@pytest.fixture
def session():
    with tf.Session() as session:
        yield session


def test_nothing_is_lost_or_doubled_between_many_threads(session):
    runner, queue = counted(3_000, threads=5)
    taken = queue.dequeue_up_to(7)
    session.run(tf.global_variables_initializer())
    coordinator = tf.train.Coordinator()
    threads = runner.create_threads(session, coordinator, start=True)
    found = collections.Counter()
    with coordinator.stop_on_exception():
        while not coordinator.should_stop():
            found.update(session.run(taken).tolist())
    coordinator.join(threads)
    assert found == dict.fromkeys(range(3_000), 1)


def test_an_error_in_one_runner_stops_the_others(session):
    endless, _ = counted(10**9)
    other = tf.FIFOQueue(8, [tf.int32], shapes=[[]])
    for runner in (endless, tf.train.QueueRunner(other, [failing(other)])):
        tf.train.add_queue_runner(runner)
    session.run(tf.global_variables_initializer())
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coordinator)
    assert len(threads) == 4
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
        coordinator.join(threads)
    assert not any(thread.is_alive() for thread in threads)


def test_the_main_thread_sees_the_end_that_an_error_makes(session):
    queue = tf.FIFOQueue(8, [tf.int32], shapes=[[]])
    runner = tf.train.QueueRunner(queue, [failing(queue)])
    coordinator = tf.train.Coordinator()
    threads = runner.create_threads(session, coordinator, start=True)
    with pytest.raises(tf.errors.OutOfRangeError, match="is closed"):
        session.run(queue.dequeue())
    with pytest.raises(tf.errors.InvalidArgumentError):
        coordinator.join(threads)


def test_an_error_without_a_coordinator_is_seen(session, monkeypatch):
    seen = []
    monkeypatch.setattr(threading, "excepthook", lambda each: seen.append(each.exc_type))
    queue = tf.FIFOQueue(8, [tf.int32], shapes=[[]])
    runner = tf.train.QueueRunner(queue, [failing(queue)])
    for thread in runner.create_threads(session, start=True):
        thread.join()
    assert [type(error) for error in runner.exceptions_raised] == seen
    assert seen == [tf.errors.InvalidArgumentError]


def test_closing_a_session_ends_its_threads_in_silence():
    runner, queue = counted(10**9)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        threads = runner.create_threads(session, start=True)
        session.run(queue.dequeue())
    for thread in threads:
        thread.join()
    assert len(runner.exceptions_raised) == 1


def test_a_queue_that_cannot_be_closed_is_told_of(session, caplog):
    """Who waits for its elements would never learn of the end."""
    queue = tf.FIFOQueue(8, [tf.int32], shapes=[[]])
    enqueue = queue.enqueue([tf.count_up_to(tf.Variable(0), 0)])
    runner = tf.train.QueueRunner(queue, [enqueue], close_op=failing(queue))
    session.run(tf.global_variables_initializer())
    with caplog.at_level(logging.WARNING, "tensorflow"):
        for thread in runner.create_threads(session, start=True):
            thread.join()
    assert "QueueRunner of 'fifo_queue' could not run" in caplog.text


def test_a_warning_where_there_are_no_runners(session, caplog):
    with caplog.at_level(logging.WARNING, "tensorflow"):
        tf.no_op()
        assert tf.train.start_queue_runners(session) == []
    assert "when no queue runners were defined" in caplog.text


def test_a_session_that_starts_runners_itself(session):
    class MonitoredSession:
        pass

    assert tf.train.start_queue_runners(MonitoredSession()) == []


def test_runners_on_a_server():
    with tf.train.Server.create_local_server() as server:
        runner, queue = counted(50, threads=3)
        with tf.Session(server.target) as session:
            session.run(tf.global_variables_initializer())
            coordinator = tf.train.Coordinator()
            threads = runner.create_threads(session, coordinator, start=True)
            assert sorted(session.run(queue.dequeue_many(50)).tolist()) == list(range(50))
            coordinator.request_stop()
            coordinator.join(threads)


def test_ctrl_c_in_a_step_with_runners_behind_it_loses_nothing(session):
    """What was taken for a batch goes back; the runners go on, and so does the program."""
    runner, queue = counted(40, capacity=30)
    many, rest = queue.dequeue_many(30), queue.dequeue_many(40)
    session.run(tf.global_variables_initializer())
    coordinator = tf.train.Coordinator()
    threads = runner.create_threads(session, coordinator)
    presser = press_ctrl_c_in(BaseSession.run)
    with pytest.raises(KeyboardInterrupt):
        session.run(many)
    presser.join()
    for thread in threads:
        thread.start()
    assert session.run(rest).tolist() == list(range(40))
    coordinator.request_stop()
    coordinator.join(threads)


def test_ctrl_c_in_join_ends_runners(session):
    runner, _ = counted(10**9)
    session.run(tf.global_variables_initializer())
    coordinator = tf.train.Coordinator()
    threads = runner.create_threads(session, coordinator, start=True)
    presser = press_ctrl_c_in(tf.train.Coordinator.join)
    with pytest.raises(KeyboardInterrupt):
        coordinator.join(threads)
    assert not any(thread.is_alive() for thread in threads)
    presser.join()


@pytest.mark.parametrize("name", PROGRAMS)
def test_ctrl_c_ends_a_program(name):
    """Whatever it had prepared for that, and though its threads are no daemons."""
    with start(name) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) != 0
        assert "KeyboardInterrupt" in process.stderr.read()
