"""Connections that the loop serves; what holds for all transports is in `test_transports`."""

import subprocess
import sys
import textwrap
import threading
from contextlib import ExitStack, closing

import pytest

from tests.wire.transports import Outcomes, Waiting
from tfdist.errors import CancelledError
from tfdist.wire.common.calls import Method
from tfdist.wire.grpc.loop_client import LoopCaller
from tfdist.wire.grpc.server import GrpcListener

ECHO, WAIT = "/test.Test/Echo", "/test.Test/Wait"


@pytest.fixture
def address():
    """Give the address of a server that echoes, or keeps waiting."""
    listener = GrpcListener("localhost:0")
    methods = {ECHO: Method(lambda request, call: call.respond([request]))}
    listener.start({**methods, WAIT: Waiting().method})
    yield f"localhost:{listener.port}"
    listener.stop()


def test_many_connections_take_no_thread_each(address):
    with ExitStack() as stack:
        outcomes, threads = Outcomes(), []
        for _ in range(12):
            caller = stack.enter_context(closing(LoopCaller(address)))
            caller.begin(WAIT, [b""], outcomes)
            assert caller.call(ECHO, [b"x"]) == b"x"
            threads.append(threading.active_count())
        assert threads[-1] == threads[0]
    assert {type(each) for each in outcomes.wait(12)} == {CancelledError}


def test_a_closed_connection_takes_no_calls_and_holds_no_loop(address):
    caller, outcomes = LoopCaller(address), Outcomes()
    caller.begin(ECHO, [b"x"], outcomes)
    assert outcomes.wait() == [b"x"]
    caller.close()
    caller.close()
    with pytest.raises(CancelledError):
        caller.call(ECHO, [b"x"])
    caller.begin(ECHO, [b"x"], outcomes)
    assert type(outcomes.wait(2)[1]) is CancelledError
    assert not caller._is_held


def test_calls_that_race_with_the_end_of_the_loop_all_end(address):
    for _ in range(20):
        caller, outcomes = LoopCaller(address), Outcomes()
        start = threading.Barrier(3)

        def begin(caller=caller, outcomes=outcomes, start=start):
            start.wait(20)
            caller.begin(ECHO, [b"x"], outcomes)

        threads = [threading.Thread(target=begin) for _ in range(2)]
        for each in threads:
            each.start()
        start.wait(20)
        caller.close()
        outcomes.wait(2)
        for each in threads:
            each.join()


PROGRAM = textwrap.dedent(
    """
    import os, sys, threading, warnings
    from tfdist.wire.grpc.loop_client import LoopCaller

    warnings.simplefilter("ignore", DeprecationWarning)  # later Pythons warn of forks
    address, [echo] = sys.argv[1], sys.argv[2:]
    before = LoopCaller(address)
    assert before.call(echo, [b"x"]) == b"x"
    child = os.fork()
    caller, told, answers = LoopCaller(address), threading.Event(), []
    assert caller.call(echo, [b"y"], 20) == b"y"
    caller.begin(echo, [b"z"], lambda answer: (answers.append(answer), told.set()))
    assert told.wait(20) and answers == [b"z"]
    if child == 0:
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    """
)


def test_a_fork_of_a_process_with_such_connections_has_others(address):
    command = [sys.executable, "-c", PROGRAM, address, ECHO]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
