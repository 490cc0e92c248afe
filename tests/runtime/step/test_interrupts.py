"""Ctrl-C: raised within a second, nothing that was waited for is lost, the session goes on."""

import json
import os
import signal
import subprocess
import sys
import threading

import pytest

import tfdist as tf
from tests.runtime.blocking import PATIENCE, until, waiters
from tfdist.runtime.step.interrupts import deferred_interrupts

ALONE, CLUSTER = {"local": 1}, {"ps": 1, "worker": 1}


@pytest.fixture
def program():
    """Return a function that starts `interrupted.py`."""
    started = []

    def start(jobs, action, executor="auto"):
        words = [sys.executable, "-m", "tests.runtime.step.interrupted", json.dumps(jobs), action]
        env = {**os.environ, "TFDIST_EXECUTOR": executor}
        pipe = subprocess.PIPE
        process = subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, env=env)
        watchdog = threading.Timer(PATIENCE, process.kill)
        watchdog.start()
        started.append((process, watchdog))
        return process

    yield start
    for process, watchdog in started:
        watchdog.cancel()
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("jobs", "action", "executor", "left"),
    [
        pytest.param(ALONE, "take", "auto", 0, id="a dequeue on a server"),
        pytest.param(CLUSTER, "take", "compiler", 0, id="a dequeue on another task"),
        pytest.param(ALONE, "put", "interpreter", 1, id="an enqueue: the element is not put"),
        pytest.param(ALONE, "two", "auto", 1, id="a batch that had one element: it goes back"),
    ],
)
def test_ctrl_c_ends_a_wait(program, jobs, action, executor, left):
    process = program(jobs, action, executor)
    assert process.stdout.readline() == "blocked\n"
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    assert process.stdout.readline() == f"[{left}, 0, 7]\n"
    assert process.stderr.read() == ""
    assert process.wait() == 0


@pytest.fixture
def press():
    """Return a function that sends SIGINT to the main thread once a condition holds."""
    threads = []

    def press(condition):
        def body():
            until(condition)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

        threads.append(threading.Thread(target=body))
        threads[-1].start()

    yield press
    for thread in threads:
        thread.join(20)


def main_thread_runs(function):
    """Return whether `function` is among the calls that the main thread is in."""
    frame = sys._current_frames()[threading.main_thread().ident]
    while frame is not None and frame.f_code is not function.__code__:
        frame = frame.f_back
    return frame is not None


def test_ctrl_c_ends_a_join(press):
    with tf.train.Server.create_local_server() as server:
        press(lambda: main_thread_runs(tf.train.Server.join))
        with pytest.raises(KeyboardInterrupt):
            server.join(20)
        assert server.is_running


def test_a_session_goes_on_after_ctrl_c(press):
    with tf.Graph().as_default(), tf.train.Server.create_local_server() as server:
        queue = tf.FIFOQueue(9, tf.int32)
        put, take = queue.enqueue(1), queue.dequeue()
        with tf.Session(server.target) as session:
            for _ in range(3):
                press(lambda: waiters(server) == 1)
                with pytest.raises(KeyboardInterrupt):
                    session.run(take)
            session.run(put)
            assert session.run([queue.size()]) == [1]


def test_a_programs_own_handler_is_left_alone():
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append("mine"))
    try:
        with deferred_interrupts(list):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == ["mine"]


def test_an_interrupt_is_told_instead_of_raised():
    told = []
    with deferred_interrupts(lambda: told.append(1)):
        signal.raise_signal(signal.SIGINT)
    assert told == [1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def interrupted_and_then(done):
    """Press Ctrl-C in the middle of something that must not be torn apart."""
    with deferred_interrupts():
        signal.raise_signal(signal.SIGINT)
        done.append("the rest")


def test_without_a_listener_it_is_raised_at_the_end():
    done = []
    with pytest.raises(KeyboardInterrupt):
        interrupted_and_then(done)
    assert done == ["the rest"]


def test_a_second_interrupt_is_raised_at_once():
    with deferred_interrupts(list):
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_change_nothing():
    seen = []

    def body():
        with deferred_interrupts(list):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=body)
    thread.start()
    thread.join(10)
    assert seen == [signal.default_int_handler]
