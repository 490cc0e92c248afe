"""Coordinator and LooperThread, beyond what `training/coordination.py` compares with 1.15.5."""

import signal
import sys
import threading
import time

import pytest

import tfdist as tf
from tests.runtime.blocking import PATIENCE, until

NEVER = 3600  # seconds: longer than a test may take


@pytest.fixture
def coordinator():
    return tf.train.Coordinator()


@pytest.mark.parametrize("given", [5, "text", (1, 2), (1, 2, 3)])
def test_what_is_no_error_cannot_be_reported(coordinator, given):
    with pytest.raises(TypeError, match="a stop is requested with an exception"):
        coordinator.request_stop(given)
    assert not coordinator.should_stop()


def test_an_error_needs_not_be_handled_to_be_reported(coordinator):
    coordinator.request_stop(ValueError("never raised"))
    with pytest.raises(ValueError, match="never raised"):
        coordinator.join()


def test_no_error_being_handled_is_a_stop(coordinator):
    coordinator.request_stop(sys.exc_info())
    coordinator.join()
    assert coordinator.should_stop()


def test_the_traceback_does_not_grow(coordinator):
    coordinator.request_stop(ValueError("told"))

    def depth():
        with pytest.raises(ValueError, match="told") as caught:
            coordinator.raise_requested_exception()
        return len(caught.traceback)

    assert depth() == depth()


def test_the_first_of_many_errors_is_raised(coordinator):
    gate = threading.Barrier(8)
    failed = []

    def fail(number):
        with coordinator.stop_on_exception():
            gate.wait()
            failed.append(f"number {number}")
            raise ValueError(f"number {number}")

    threads = [threading.Thread(target=fail, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    with pytest.raises(ValueError, match=r"number \d") as caught:
        coordinator.join(threads)
    assert caught.value.args[0] in failed
    assert not any(thread.is_alive() for thread in threads)


def test_the_grace_period_is_kept(coordinator):
    release = threading.Event()
    thread = threading.Thread(target=release.wait)
    thread.start()
    coordinator.request_stop()
    began = time.monotonic()
    coordinator.join([thread], stop_grace_period_secs=0.1, ignore_live_threads=True)
    assert time.monotonic() - began >= 0.1
    assert thread.is_alive()
    release.set()
    thread.join()


def test_join_returns_as_the_last_thread_ends(coordinator):
    thread = threading.Thread(target=coordinator.wait_for_stop)
    thread.start()
    coordinator.request_stop()
    coordinator.join([thread], stop_grace_period_secs=NEVER)


def press_ctrl_c_in(function):
    """Return a started thread that interrupts the main thread once that is in `function`."""

    def main_is_there():
        frame = sys._current_frames()[threading.main_thread().ident]
        while frame is not None and frame.f_code is not function.__code__:
            frame = frame.f_back
        return frame is not None

    def body():
        until(main_is_there)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    presser = threading.Thread(target=body)
    presser.start()
    return presser


def test_ctrl_c_in_join_stops_all_threads(coordinator):
    threads = [threading.Thread(target=coordinator.wait_for_stop) for _ in range(3)]
    for thread in threads:
        thread.start()
    presser = press_ctrl_c_in(tf.train.Coordinator.join)
    with pytest.raises(KeyboardInterrupt):
        coordinator.join(threads, stop_grace_period_secs=NEVER)
    assert not any(thread.is_alive() for thread in threads)
    presser.join()


def test_ctrl_c_in_join_does_not_wait_for_a_thread_that_does_not_stop(coordinator):
    release = threading.Event()
    thread = threading.Thread(target=release.wait)
    thread.start()
    presser = press_ctrl_c_in(tf.train.Coordinator.join)
    with pytest.raises(KeyboardInterrupt):
        coordinator.join([thread])  # whose time of grace is as long as a test may take
    release.set()
    thread.join()
    presser.join()


def test_ctrl_c_in_wait_for_stop(coordinator):
    presser = press_ctrl_c_in(tf.train.Coordinator.wait_for_stop)
    with pytest.raises(KeyboardInterrupt):
        coordinator.wait_for_stop()
    presser.join()
    assert not coordinator.should_stop()


def test_a_loop_ends_at_once_in_its_pause(coordinator):
    ran = threading.Event()
    thread = tf.train.LooperThread.loop(coordinator, NEVER, ran.set)
    assert ran.wait(PATIENCE)
    coordinator.request_stop()
    coordinator.join([thread], stop_grace_period_secs=NEVER)
