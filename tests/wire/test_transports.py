"""What every way of calling other processes does; see the table in `transports.py`."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from tests.runtime.blocking import Call
from tests.wire.transports import PATIENCE, TRANSPORTS, Outcomes, Waiting
from tfdist import errors
from tfdist.wire.common.calls import Method

ECHO, WAIT = "/test.Test/Echo", "/test.Test/Wait"
THREE_MEGABYTES = os.urandom(1024) * 3 * 1024


def echo(request, call):
    call.respond([request])


@pytest.fixture(params=TRANSPORTS)
def serving(request):
    """Return a function that serves methods by path until its context ends."""
    return TRANSPORTS[request.param]


@pytest.fixture
def waiting():
    return Waiting()


@pytest.fixture
def caller(serving, waiting):
    """Give a caller of a server that echoes and waits."""
    with serving({ECHO: Method(echo), WAIT: waiting.method}) as caller:
        yield caller


MESSAGES = [
    pytest.param([], b"", id="none"),
    pytest.param([b""], b"", id="empty"),
    pytest.param([b"x"], b"x", id="one byte"),
    pytest.param([b"ab", memoryview(b"cd"), bytearray(b"ef")], b"abcdef", id="several kinds"),
    pytest.param([THREE_MEGABYTES], THREE_MEGABYTES, id="3 MB"),
    pytest.param([b"<", THREE_MEGABYTES], b"<" + THREE_MEGABYTES, id="a byte and 3 MB"),
]


@pytest.mark.parametrize(("pieces", "joined"), MESSAGES)
def test_pieces_come_back_as_one_message(caller, pieces, joined):
    assert caller.call(ECHO, pieces) == joined


@pytest.mark.parametrize(("pieces", "joined"), MESSAGES)
def test_pieces_come_back_in_the_background(caller, pieces, joined):
    outcomes = Outcomes()
    caller.begin(ECHO, pieces, outcomes)
    assert outcomes.wait() == [joined]


def test_an_answer_in_pieces(serving):
    pieces = [b"ab", memoryview(b"cd"), THREE_MEGABYTES]
    with serving({ECHO: Method(lambda request, call: call.respond(pieces))}) as caller:
        assert caller.call(ECHO, [b""]) == b"abcd" + THREE_MEGABYTES


def test_an_answer_that_comes_later_from_another_thread(caller, waiting):
    outcomes = Outcomes()
    caller.begin(WAIT, [b""], outcomes)
    assert waiting.have_come(1)
    assert outcomes.told == []
    waiting.calls[0].respond([b"late"])
    assert outcomes.wait() == [b"late"]


def test_only_the_first_answer_counts(serving):
    def answer(request, call):
        call.respond([b"first"])
        call.respond([b"second"])
        call.fail(errors.InternalError("third"))

    with serving({ECHO: Method(answer)}) as caller:
        assert caller.call(ECHO, [b""]) == b"first"
        assert caller.call(ECHO, [b""]) == b"first"


def test_a_call_knows_its_caller(serving):
    def answer(request, call):
        call.respond([call.caller.encode()])

    with serving({ECHO: Method(answer)}) as caller:
        assert caller.call(ECHO, [b""]) != b""


def failing(error):
    """Return a method that fails with `error`."""
    return Method(lambda request, call: call.fail(error))


@pytest.mark.parametrize("code", range(1, 17))
def test_errors_keep_class_and_text(serving, code):
    cls = errors.exception_type_from_error_code(code)
    with serving({ECHO: failing(cls("größer than\n'wanted'"))}) as caller:
        with pytest.raises(cls) as caught:
            caller.call(ECHO, [b""])
    assert type(caught.value) is cls
    assert caught.value.message == "größer than\n'wanted'"


def test_errors_keep_node_device_and_flags(serving):
    error = errors.AbortedError("lost").at_node("layer/w", "/job:ps/replica:0/task:1/device:CPU:0")
    error.is_derived = error.is_restart = True
    with serving({ECHO: failing(error)}) as caller:
        with pytest.raises(errors.AbortedError) as caught:
            caller.call(ECHO, [b""])
        outcomes = Outcomes()
        caller.begin(ECHO, [b""], outcomes)
        [begun] = outcomes.wait()
    for found in (caught.value, begun):
        assert found.message == "lost"
        assert (found.node_name, found.device) == (error.node_name, error.device)
        assert found.is_derived
        assert found.is_restart


def test_a_long_error_arrives(serving):
    with serving({ECHO: failing(errors.InternalError("ä" * 100_000))}) as caller:
        with pytest.raises(errors.InternalError, match=r"ä\n.*cut in the middle.*\nä"):
            caller.call(ECHO, [b""])


def test_what_a_handler_raises_is_the_answer(serving):
    def wrong(request, call):
        raise errors.NotFoundError("no such thing")

    def broken(request, call):
        raise ZeroDivisionError("by zero")

    with serving({ECHO: Method(broken), WAIT: Method(wrong, may_block=True)}) as caller:
        with pytest.raises(errors.InternalError, match="ZeroDivisionError: by zero"):
            caller.call(ECHO, [b""])
        with pytest.raises(errors.NotFoundError, match="no such thing"):
            caller.call(WAIT, [b""])


def test_a_method_that_does_not_exist(caller):
    with pytest.raises(errors.UnimplementedError, match=r"/test\.Test/Nothing"):
        caller.call("/test.Test/Nothing", [b"x"])
    assert caller.call(ECHO, [b"x"]) == b"x"


def test_cancelling_tells_both_sides(caller, waiting):
    outcomes = Outcomes()
    cancel = caller.begin(WAIT, [b""], outcomes)
    assert waiting.have_come(1)
    cancel()
    [error] = outcomes.wait()
    assert type(error) is errors.CancelledError
    assert waiting.are_cancelled(1)
    waiting.calls[0].respond([b"too late"])
    assert caller.call(ECHO, [b"x"]) == b"x"
    assert len(outcomes.told) == 1


def test_cancelling_what_was_answered_changes_nothing(caller, waiting):
    outcomes = Outcomes()
    cancel = caller.begin(ECHO, [b"x"], outcomes)
    outcomes.wait()
    cancel()
    cancel()
    assert caller.call(ECHO, [b"y"]) == b"y"
    assert outcomes.told == [b"x"]


def test_who_asks_late_whether_a_call_was_cancelled_is_told_at_once(caller, waiting):
    cancel = caller.begin(WAIT, [b""], Outcomes())
    assert waiting.have_come(1)
    cancel()
    assert waiting.are_cancelled(1)
    told = threading.Event()
    waiting.calls[0].on_cancel(told.set)
    assert told.wait(PATIENCE)


def test_an_answered_call_is_not_cancelled(caller, waiting):
    caller.begin(WAIT, [b""], outcomes := Outcomes())
    assert waiting.have_come(1)
    waiting.calls[0].respond([b""])
    outcomes.wait()
    told = threading.Event()
    waiting.calls[0].on_cancel(told.set)
    caller.call(ECHO, [b""])
    assert not told.is_set()


def test_the_outcome_is_told_on_another_thread(caller, waiting):
    outcomes = Outcomes()
    caller.begin(ECHO, [b""], outcomes)
    caller.begin("/test.Test/Nothing", [b""], outcomes)
    outcomes.wait(2)
    caller.close()
    caller.begin(ECHO, [b""], outcomes)
    outcomes.wait(3)
    assert threading.get_ident() not in outcomes.threads


def test_a_timeout_ends_the_call_on_both_sides(caller, waiting):
    caller.call(ECHO, [b""])  # connected, so that the next one arrives in its time
    with pytest.raises(errors.DeadlineExceededError, match=f"{WAIT}.*0.5 s"):
        caller.call(WAIT, [b""], timeout=0.5)
    assert waiting.are_cancelled(1)
    assert caller.call(ECHO, [b"x"], timeout=PATIENCE) == b"x"


def test_a_thousand_calls_that_wait_hold_no_thread_and_nobody_up(caller, waiting):
    outcomes, before = Outcomes(), threading.active_count()
    for i in range(1000):
        caller.begin(WAIT, [b"%d" % i], outcomes)
    assert waiting.have_come(1000)
    assert threading.active_count() - before < 5
    assert caller.call(ECHO, [b"x"]) == b"x"
    for call in waiting.calls:
        call.respond([b"done"])
    assert outcomes.wait(1000) == [b"done"] * 1000


def test_a_handler_that_blocks_has_a_thread_of_its_own(serving):
    go = threading.Event()

    def block(request, call):
        assert go.wait(PATIENCE)
        call.respond([b"went"])

    outcomes = Outcomes()
    with serving({WAIT: Method(block, may_block=True), ECHO: Method(echo)}) as caller:
        for _ in range(20):
            caller.begin(WAIT, [b""], outcomes)
        assert caller.call(ECHO, [b"x"]) == b"x"
        assert outcomes.told == []
        go.set()
        assert outcomes.wait(20) == [b"went"] * 20


def test_calls_from_many_threads_get_their_own_answers(caller):
    def call(name):
        return all(caller.call(ECHO, [b"%d %d" % (name, i)]) == b"%d %d" % (name, i)
                   for i in range(50))  # fmt: skip

    assert all(each.result() for each in [Call(call, name) for name in range(8)])


def test_waits_of_many_threads_end(caller, waiting):
    calls = [Call(caller.call, WAIT, [b""]) for _ in range(20)]
    assert waiting.have_come(20)
    for call in waiting.calls:
        call.respond([b"x"])
    assert [bytes(each.result()) for each in calls] == [b"x"] * 20


def test_a_server_that_stops_ends_its_calls(serving, waiting):
    outcomes, calls = Outcomes(), []

    def see_the_end():  # before the caller is closed, which is another reason to end
        with pytest.raises(errors.UnavailableError):
            calls[0].result()
        [error] = outcomes.wait()
        assert type(error) is errors.UnavailableError

    with serving({WAIT: waiting.method}, see_the_end) as caller:
        caller.begin(WAIT, [b""], outcomes)
        calls.append(Call(caller.call, WAIT, [b""]))
        assert waiting.have_come(2)
    assert waiting.are_cancelled(2)


def test_closing_ends_all_calls(caller, waiting):
    outcomes = Outcomes()
    caller.begin(WAIT, [b""], outcomes)
    call = Call(caller.call, WAIT, [b""])
    assert waiting.have_come(2)
    caller.close()
    with pytest.raises(errors.CancelledError):
        call.result()
    caller.begin(ECHO, [b""], outcomes)
    assert [type(each) for each in outcomes.wait(2)] == [errors.CancelledError] * 2
    with pytest.raises(errors.CancelledError):
        caller.call(ECHO, [b""])
    assert waiting.are_cancelled(2)
    caller.close()


@pytest.fixture(params=TRANSPORTS)
def program(request):
    """Give a process that waits in a call."""
    pipe = subprocess.PIPE
    words = [sys.executable, "-W", "error", "-m", "tests.wire.interrupted_call", request.param]
    with subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True) as process:
        watchdog = threading.Timer(PATIENCE, process.kill)
        watchdog.start()
        yield process
        watchdog.cancel()
        process.kill()


def test_ctrl_c_ends_a_call_and_cancels_it_on_the_server(program):
    assert program.stdout.readline() == "blocked\n"
    program.send_signal(signal.SIGINT)
    assert program.stdout.readline() == "interrupted\n"
    assert program.stdout.read() == "cancelled: True\nstill here\n"
    assert program.stderr.read() == ""
    assert program.wait() == 0
