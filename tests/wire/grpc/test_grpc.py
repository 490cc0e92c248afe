"""What is special to gRPC: ports that are bound, started and stopped, and servers that die."""

import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager

import pytest

from tests import ports
from tests.conftest import remaining
from tests.runtime.blocking import PATIENCE, Call, until
from tests.wire.transports import Outcomes, Waiting
from tfdist import errors
from tfdist.wire.common.calls import Method
from tfdist.wire.common.security import bind_address
from tfdist.wire.grpc.client import GrpcCaller
from tfdist.wire.grpc.server import GrpcListener

CYCLES = 20
ECHO, WAIT = "/test.Test/Echo", "/test.Test/Wait"
METHODS = {ECHO: Method(lambda request, call: call.respond([request]))}


@contextmanager
def listening(methods=METHODS, port=0):
    """Give a server that was started."""
    listener = GrpcListener(f"localhost:{port}")
    try:
        listener.start(methods)
        yield listener
    finally:
        listener.stop()


@contextmanager
def calling(port, peer="tfdist"):
    """Give a caller."""
    caller = GrpcCaller(f"localhost:{port}", peer)
    try:
        yield caller
    finally:
        caller.close()


@pytest.fixture
def free_port():
    return ports.free_port()


def test_a_port_is_bound_before_the_start():
    listener = GrpcListener("localhost:0")
    with pytest.raises(errors.AlreadyExistsError, match=f"port {listener.port} is taken"):
        GrpcListener(f"localhost:{listener.port}")
    listener.start(METHODS)
    with calling(listener.port) as caller:
        assert caller.call(ECHO, [b"x"]) == b"x"
    listener.stop()


@pytest.mark.parametrize("started", [False, True])
def test_a_port_is_free_when_its_server_has_stopped(started):
    listener = GrpcListener("localhost:0")
    if started:
        listener.start(METHODS)
    port = listener.port
    listener.stop()
    listener.stop()
    assert listener.port == port
    bind_address(f"localhost:{port}")


def test_the_port_of_a_server_that_is_forgotten_before_its_start_is_free():
    listener = GrpcListener("localhost:0")
    port = listener.port
    del listener
    gc.collect()
    bind_address(f"localhost:{port}")


def test_two_servers_of_one_process():
    with listening() as one, listening() as other:
        with calling(one.port) as to_one, calling(other.port) as to_other:
            assert to_one.call(ECHO, [b"1"]) == b"1"
            one.stop()
            assert to_other.call(ECHO, [b"2"]) == b"2"


def test_calls_under_way_may_end_while_a_server_stops():
    waiting, outcomes = Waiting(), Outcomes()
    with listening({WAIT: waiting.method}) as listener, calling(listener.port) as caller:
        caller.begin(WAIT, [b""], outcomes)
        assert waiting.have_come(1)
        stopping = Call(listener.stop, PATIENCE)
        until(lambda: takes_no_more(caller))
        waiting.calls[0].respond([b"in time"])
        stopping.result()
        assert outcomes.wait() == [b"in time"]


def takes_no_more(caller):
    """Return whether the server is closed for new calls; one that comes just then waits for it."""
    try:
        caller.call("/test.Test/Nothing", [b""], 0.5)
    except (errors.UnavailableError, errors.DeadlineExceededError):
        return True
    except errors.UnimplementedError:
        return False


def test_many_starts_and_stops_leave_nothing():
    """What each cycle left would add up; gRPC's own pool of threads grows and shrinks by a few."""

    def cycle():
        with listening() as listener, calling(listener.port) as caller:
            assert caller.call(ECHO, [b"x"]) == b"x"

    def more():
        return [n for n, m in zip(held(), before, strict=True) if n >= m + CYCLES]

    cycle()
    before = held()
    for _ in range(CYCLES):
        cycle()
    assert not remaining(more, time.monotonic() + PATIENCE)


def held():
    """Return the numbers of open files and of threads, gRPC's own too, of this process."""
    gc.collect()
    files, tasks = "/proc/self/fd", "/proc/self/task"
    if not os.path.exists(tasks):
        return 0, threading.active_count()
    return len(os.listdir(files)), len(os.listdir(tasks))


def test_nobody_is_there(free_port):
    with calling(free_port) as caller, pytest.raises(errors.UnavailableError) as caught:
        caller.call(ECHO, [b"x"], timeout=PATIENCE)
    for part in (f"localhost:{free_port}", "Connection refused", "nothing was sent", "Start the"):
        assert part in caught.value.message


def test_nobody_comes(free_port):
    outcomes = Outcomes()
    with calling(free_port) as caller:
        with pytest.raises(errors.UnavailableError, match=r"refused\); tried for 0\.[1-9] s"):
            caller.call(ECHO, [b"x"], timeout=0.1, wait_for_ready=True)
        caller.begin(ECHO, [b"x"], outcomes, timeout=0.1, wait_for_ready=True)
        [error] = outcomes.wait()
    assert type(error) is errors.UnavailableError
    assert error.reason == "Connection refused"
    assert "Connection refused" in error.message


def test_somebody_takes_connections_and_is_silent():
    with socket.create_server(("127.0.0.1", 0)) as silent, calling(silent.getsockname()[1]) as it:
        with pytest.raises(errors.UnavailableError, match=r"silent"):
            it.call(ECHO, [b"x"], timeout=0.1, wait_for_ready=True)


def test_waiting_for_a_server_that_comes_later(free_port):
    with calling(free_port) as caller:
        call = Call(lambda: caller.call(ECHO, [b"x"], PATIENCE, wait_for_ready=True))
        with listening(port=free_port):
            assert call.result() == b"x"


def test_a_slow_answer_at_first_contact_is_no_absence():
    waiting = Waiting()
    with listening({WAIT: waiting.method}) as listener, calling(listener.port) as caller:
        with pytest.raises(errors.DeadlineExceededError, match=f"did not answer {WAIT}"):
            caller.call(WAIT, [b"x"], timeout=0.1, wait_for_ready=True)


def test_a_new_server_on_the_port_of_an_old_one():
    with listening() as old, calling(old.port) as caller:
        assert caller.call(ECHO, [b"x"]) == b"x"
        old.stop()
        with pytest.raises(errors.UnavailableError):
            caller.call(ECHO, [b"x"])
        with listening(port=old.port):
            assert caller.call(ECHO, [b"y"], 5.0, wait_for_ready=True) == b"y"


def test_the_texts_of_servers_stay_as_they_are():
    def fail(request, call):
        call.fail(errors.exception_type_from_error_code(request[0])("Deadline Exceeded"))

    with listening({ECHO: Method(fail)}) as listener, calling(listener.port) as caller:
        for cls in (errors.CancelledError, errors.UnavailableError, errors.DeadlineExceededError):
            with pytest.raises(cls, match=r"^Deadline Exceeded$"):
                caller.call(ECHO, [bytes([cls.error_code])], timeout=PATIENCE)


TOO_LONG = [memoryview(bytes(2**20))] * 2048  # two gigabytes that take a megabyte


def test_a_message_that_is_too_long_is_not_sent(free_port):
    outcomes = Outcomes()
    with calling(free_port) as caller:
        with pytest.raises(errors.InvalidArgumentError, match=r"2147483648 bytes"):
            caller.call(ECHO, TOO_LONG)
        caller.begin(ECHO, TOO_LONG, outcomes)
        assert type(outcomes.wait()[0]) is errors.InvalidArgumentError


def test_an_answer_that_is_too_long_is_an_error():
    long = {ECHO: Method(lambda request, call: call.respond(TOO_LONG))}
    with listening(long) as listener, calling(listener.port) as caller:
        with pytest.raises(errors.InvalidArgumentError, match=r"2147483648 bytes"):
            caller.call(ECHO, [b""])


def test_a_caller_for_tensorflow_calls_as_well():
    with listening() as listener, calling(listener.port, peer="tensorflow") as caller:
        assert caller.call(ECHO, [b"x"]) == b"x"


def test_an_address_without_a_port_is_refused():
    with pytest.raises(errors.InvalidArgumentError, match="HOST:PORT"):
        GrpcCaller("localhost")


def test_a_process_with_a_server_starts_others_in_silence(capfd):
    with listening() as listener, calling(listener.port) as caller:
        caller.call(ECHO, [b"x"])
        subprocess.run([sys.executable, "-c", ""], check=True)
        subprocess.run([sys.executable, "-c", ""], check=True, preexec_fn=os.getpid)
        assert caller.call(ECHO, [b"x"]) == b"x"
    assert capfd.readouterr().err == ""


@pytest.fixture
def server_process():
    """Return a function that starts a server in a process: it gives process and port."""
    with ExitStack() as processes:

        def start(port=0):
            words = [
                sys.executable,
                "-W",
                "error",
                "-m",
                "tests.wire.grpc.waiting_server",
                str(port),
            ]
            pipe = subprocess.PIPE
            process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
            processes.enter_context(process)
            processes.callback(process.kill)
            return process, int(process.stdout.readline())

        yield start


def begin_waiting(caller, process):
    """Begin a call that waits, here and in the background; return both when the server has it."""
    outcomes = Outcomes()
    caller.begin(WAIT, [b""], outcomes)
    call = Call(caller.call, WAIT, [b""])
    process.stdin.write("\n\n")
    process.stdin.flush()
    assert [process.stdout.readline() for _ in range(2)] == ["True\n"] * 2
    return call, outcomes


def assert_lost(call, outcomes):
    """Check that both calls fail, long before gRPC alone would see it."""
    with pytest.raises(errors.UnavailableError, match=r"was lost after .* is not known.* session"):
        call.result()
    assert type(outcomes.wait()[0]) is errors.UnavailableError


def test_calls_end_when_their_server_is_killed(server_process):
    process, port = server_process()
    with calling(port) as caller:
        waiting = begin_waiting(caller, process)
        process.kill()
        assert_lost(*waiting)
        _, again = server_process(port)
        assert caller.call(ECHO, [b"x"], 5.0, wait_for_ready=True) == b"x"
        assert again == port


def answers(caller):
    """Return whether a call is answered: a busy machine may be silent for as long as is allowed."""
    try:
        return caller.call(ECHO, [b"x"], 5.0, wait_for_ready=True) == b"x"
    except errors.UnavailableError:
        return False


@pytest.mark.slow
def test_calls_end_when_their_server_is_frozen(server_process, monkeypatch):
    monkeypatch.setenv("TFDIST_TIMEOUTS", "alive=0.5,silence=0.5")
    process, port = server_process()
    with calling(port) as caller:
        waiting = begin_waiting(caller, process)
        process.send_signal(signal.SIGSTOP)
        assert_lost(*waiting)
        process.send_signal(signal.SIGCONT)
        until(lambda: answers(caller))


def test_a_server_process_ends_in_silence(server_process):
    process, port = server_process()
    with calling(port) as caller:
        assert caller.call(ECHO, [b"x"]) == b"x"
        process.stdin.close()
        assert process.stdout.read() + process.stderr.read() == ""
        assert process.wait() == 0
