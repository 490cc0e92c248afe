"""Pipelines that wait or have no end: they stop when told to, and nothing is lost."""

import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import tfdist as tf
from tests.runtime.blocking import PATIENCE, Call, blocked

D = tf.data.Dataset

ENDLESS = {
    "a filter": lambda: D.range(10).repeat().filter(lambda x: x < 0),
    "a long skip": lambda: D.range(10).repeat().skip(10**12),
    "the buffer of a shuffle": lambda: D.range(10).repeat().map(lambda x: x).shuffle(10**12),
    "empty inner datasets": lambda: D.range(10).repeat().flat_map(lambda x: D.range(0)),
    "a batch": lambda: D.range(10).repeat().map(lambda x: x).batch(10**12),
    "a generator": lambda: D.from_generator(counting, tf.int64, []).filter(lambda x: x < 0),
    "an unbatched repeat": lambda: D.from_tensors([1]).repeat().filter(lambda x: x[0] < 0),
    "a loop in a function": lambda: D.range(3).map(
        lambda x: tf.while_loop(lambda i: i >= 0, lambda i: i * 0, [x])
    ),
    "a cycle of nothing": lambda: D.range(10).repeat().interleave(lambda x: D.range(0), 3),
}


def counting():
    number = 0
    while True:
        yield number
        number += 1


@pytest.mark.parametrize("name", ENDLESS)
def test_a_deadline_ends_what_has_no_end(name):
    element = ENDLESS[name]().make_one_shot_iterator().get_next()
    options = tf.RunOptions(timeout_in_ms=150)
    with tf.Session() as session:
        for _ in range(2):
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(element, options=options)


def test_closing_the_session_ends_what_has_no_end():
    runs = threading.Event()

    def never(x):
        runs.set()
        return False

    pipeline = D.range(10).repeat().filter(lambda x: _scalar(tf.py_func(never, [x], tf.bool)))
    element = pipeline.make_one_shot_iterator().get_next()
    session = tf.Session()
    call = Call(session.run, element)
    assert runs.wait(PATIENCE)
    session.close()
    with pytest.raises(tf.errors.CancelledError):
        call.result()


def _scalar(tensor):
    tensor.set_shape([])
    return tensor


def test_reduce_ends_by_its_deadline():
    total = D.range(10).repeat().reduce(np.int64(0), lambda state, x: state + x)
    with tf.Session() as session, pytest.raises(tf.errors.DeadlineExceededError):
        session.run(total, options=tf.RunOptions(timeout_in_ms=150))


@pytest.fixture
def server():
    with tf.train.Server.create_local_server() as server:
        yield server


@pytest.fixture
def fed(server):
    """Return a session, an enqueue op with its placeholder, and what a queue gives to a map."""
    queue = tf.FIFOQueue(10, tf.int64, shapes=[[]])
    value = tf.placeholder(tf.int64, [])
    pipeline = D.range(5).map(lambda x: x * 100 + queue.dequeue())
    iterator = pipeline.make_initializable_iterator()
    with tf.Session(server.target) as session:
        session.run(iterator.initializer)
        yield session, queue.enqueue(value), value, iterator.get_next()


def test_a_function_of_a_map_may_wait(server, fed):
    session, put, value, element = fed
    with blocked(server, session.run, element) as call:
        session.run(put, {value: 7})
    assert call.result() == 7


def test_a_wait_that_is_given_up_loses_no_element(server, fed):
    session, put, value, element = fed
    for _ in range(2):
        with pytest.raises(tf.errors.DeadlineExceededError) as raised:
            session.run(element, options=tf.RunOptions(timeout_in_ms=100))
        assert "dequeue on queue" in raised.value.message
    for number in range(5):
        session.run(put, {value: number})
        assert session.run(element) == number * 101
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(element)


def test_steps_that_ask_one_iterator_are_served_in_turn(server, fed):
    session, put, value, element = fed
    with blocked(server, session.run, element) as first:
        others = [Call(session.run, element) for _ in range(2)]
        for number in range(3):
            session.run(put, {value: number})
    assert first.result() == 0
    assert sorted(each.result() for each in others) == [101, 202]


def test_who_waits_for_a_turn_says_so_and_can_be_stopped(server, fed):
    session, put, value, element = fed
    with blocked(server, session.run, element) as first:
        with pytest.raises(tf.errors.DeadlineExceededError) as raised:
            session.run(element, options=tf.RunOptions(timeout_in_ms=100))
        assert "which another step asks now" in raised.value.message
        session.run(put, {value: 5})
    assert first.result() == 5
    session.run(put, {value: 6})
    assert session.run(element) == 106


def test_threads_share_an_iterator_and_see_each_element_once():
    element = D.range(400).map(lambda x: x + 1).make_one_shot_iterator().get_next()
    found, lock = [], threading.Lock()
    with tf.Session() as session:

        def take():
            while True:
                try:
                    number = int(session.run(element))
                except tf.errors.OutOfRangeError:
                    return
                with lock:
                    found.append(number)

        calls = [Call(take) for _ in range(4)]
        for call in calls:
            call.result()
    assert sorted(found) == list(range(1, 401))


PROGRAM = """
import tfdist as tf
element = tf.data.Dataset.range(10).repeat().filter(lambda x: x < 0)
count = tf.data.Dataset.range(3).make_one_shot_iterator().get_next()
with tf.Session() as session:
    session.run(count)
    try:
        print("running", flush=True)
        session.run(element.make_one_shot_iterator().get_next())
    except KeyboardInterrupt:
        print("interrupted", session.run(count), flush=True)
"""


def test_ctrl_c_ends_what_has_no_end():
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=pipe, stderr=pipe, text=True
    ) as process:
        watchdog = threading.Timer(PATIENCE, process.kill)
        watchdog.start()
        try:
            assert process.stdout.readline() == "running\n"
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted 1\n"
            assert process.stderr.read() == ""
            assert process.wait() == 0
        finally:
            watchdog.cancel()
            process.kill()
