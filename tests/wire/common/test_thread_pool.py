"""The pool's threads: they begin when there is something to do, and end after it."""

import subprocess
import sys
import threading

import pytest

from tests.runtime.blocking import Call, until
from tfdist.wire.common import thread_pool
from tfdist.wire.common.thread_pool import Pool

MOST = 8


@pytest.fixture
def few():
    """Give a pool of a few threads."""
    few = Pool(MOST, "few")
    yield few
    few.stop()


def threads():
    """Return the threads of the pool."""
    return [each for each in threading.enumerate() if each.name == "few"]


def test_what_many_threads_submit_is_called_once_each(few):
    called = []

    def submit(name):
        for index in range(300):
            few.submit(lambda: called.append((name, index)))  # noqa: B023

    for call in [Call(submit, name) for name in range(8)]:
        call.result()
    until(lambda: len(called) == 8 * 300)


def test_functions_that_take_long_run_side_by_side_up_to_a_bound(few):
    go, begun = threading.Event(), []

    def wait():
        begun.append(threading.current_thread())
        go.wait()

    for _ in range(3 * MOST):
        few.submit(wait)
    until(lambda: len(begun) == MOST)
    assert len(threads()) == MOST
    go.set()
    until(lambda: len(begun) == 3 * MOST)
    assert set(begun[MOST:]) <= set(begun[:MOST])


def test_threads_end_when_there_is_nothing_to_do_and_begin_again(few, monkeypatch):
    monkeypatch.setattr(thread_pool, "IDLE", 0.001)
    called = []
    for turn in range(200):
        for _ in range(MOST + 1):
            few.submit(lambda: called.append(1))
        if turn % 10 == 0:
            until(lambda: not threads())
    until(lambda: len(called) == 200 * (MOST + 1))
    until(lambda: not threads())


def test_what_was_submitted_before_the_stop_is_called(few):
    go, called = threading.Event(), []
    for _ in range(100):
        few.submit(lambda: (go.wait(), called.append(1)))
    few.stop()
    with pytest.raises(RuntimeError, match="stopped"):
        few.submit(go.wait)
    go.set()
    few.join()
    assert len(called) == 100


def test_a_function_that_fails_takes_no_thread_with_it(few, monkeypatch):
    told, called = [], []
    monkeypatch.setattr(threading, "excepthook", told.append)
    for _ in range(2 * MOST):
        few.submit(lambda: 1 / 0)
        few.submit(lambda: called.append(1))
    until(lambda: len(told) == len(called) == 2 * MOST)
    assert {each.exc_type for each in told} == {ZeroDivisionError}


def test_what_finds_no_thread_waits_for_one_or_is_told(few, monkeypatch):
    """The system may have no more threads, 8 MB of addresses each."""
    go, called = threading.Event(), []

    def none(_):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", none)
        with pytest.raises(RuntimeError, match="can't start"):
            few.submit(go.wait)
    few.submit(go.wait)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", none)
        few.submit(lambda: called.append(1))
    go.set()
    until(lambda: called)


FORKED = """
import os, threading, warnings
from tfdist.wire.common.thread_pool import Pool
warnings.simplefilter("ignore", DeprecationWarning)  # later Pythons warn of forks
few, called = Pool(1, "few", idle=60.0), threading.Event()
few.submit(called.set)
called.wait()
while not few._free:
    pass
if os.fork() == 0:
    here = threading.Event()
    few.submit(here.set)
    print(here.wait(10), flush=True)
    os._exit(0)
os.wait()
os._exit(0)
"""


def test_a_forked_process_has_threads_of_its_own():
    ended = subprocess.run(
        [sys.executable, "-c", FORKED], capture_output=True, text=True, check=True
    )
    assert (ended.stdout, ended.stderr) == ("True\n", "")


PROGRAM = """
import threading
from tfdist.wire.common.thread_pool import Pool
begun = threading.Event()
def compute():
    begun.set()
    threading.Event().wait(0.3)
    print("computed")
Pool(2, "few").submit(compute)
begun.wait()
"""


def test_a_process_does_not_end_in_the_middle_of_a_function():
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert (ended.stdout, ended.stderr) == ("computed\n", "")
