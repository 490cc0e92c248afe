"""The side path: what is its own beside the contract of `test_transports`."""

import array
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from tests.runtime.blocking import Call, until
from tests.wire.test_segments import no_descriptors
from tests.wire.transports import PATIENCE, Outcomes, Waiting
from tfdist.errors import AbortedError, CancelledError, InternalError, UnavailableError
from tfdist.wire import frames, segments
from tfdist.wire.calls import Method
from tfdist.wire.frames import Kind, Place
from tfdist.wire.loop import LOOP
from tfdist.wire.sockets import SideCaller, SideListener

ECHO, SPLIT = "/test.Test/Echo", "/test.Test/Split"
WAIT, KEEP = "/test.Test/Wait", "/test.Test/Keep"
MEGABYTE = 1 << 20


@pytest.fixture
def waiting():
    return Waiting()


@pytest.fixture
def kept():
    """Return the requests that the server keeps."""
    return []


@pytest.fixture
def listener(waiting, kept):
    def keep(request, call):
        kept.append(request)
        call.respond([b"kept"])

    listener = SideListener()
    echo = Method(lambda request, call: call.respond([request]))
    split = Method(lambda request, call: call.respond([request[:3], request[3:]]))
    listener.start({ECHO: echo, SPLIT: split, WAIT: waiting.method, KEEP: Method(keep)})
    yield listener
    listener.stop()


@pytest.fixture
def caller(listener):
    caller = SideCaller(listener.path)
    yield caller
    caller.close()


def in_background(caller, path, pieces):
    """Return the answer to a call that was begun."""
    answers, has_come = [], threading.Event()
    caller.begin(path, pieces, lambda answer: (answers.append(answer), has_come.set()))
    assert has_come.wait(PATIENCE)
    return answers.pop()


WAYS = [pytest.param(SideCaller.call, id="call"), pytest.param(in_background, id="begin")]
way = pytest.mark.parametrize("way", WAYS)


def address(view):
    """Return where a message lies in memory."""
    return np.frombuffer(view, np.uint8).ctypes.data


# large messages


@way
@pytest.mark.parametrize("length", [segments.LARGE - 1, segments.LARGE, 3 * MEGABYTE, 20_000_000])
def test_long_messages_come_back(caller, way, length):
    content = os.urandom(length)
    for _ in range(3):
        assert way(caller, ECHO, [b"<", content]) == b"<" + content


@way
def test_received_arrays_are_aligned_writable_and_private(caller, way):
    sent = np.arange(300_000.0)
    arrays = [np.frombuffer(way(caller, SPLIT, [b"abc", memoryview(sent)])[3:]) for _ in range(40)]
    for number, each in enumerate(arrays):
        assert each.ctypes.data % each.itemsize == 0
        each += number
    for number, each in enumerate(arrays):
        np.testing.assert_array_equal(each, np.arange(300_000.0) + number)
    np.testing.assert_array_equal(sent, np.arange(300_000.0))


@way
def test_memory_is_used_again_when_nobody_refers_to_it(caller, way):
    seen = [address(way(caller, ECHO, [bytes(5 * MEGABYTE)])) for _ in range(30)]
    assert len(set(seen)) < 10


def test_who_keeps_a_request_keeps_its_memory(caller, kept):
    sent = [os.urandom(MEGABYTE) for _ in range(10)]
    for each in sent:
        caller.call(KEEP, [each])
    assert kept == sent


def test_what_a_server_kept_outlives_its_caller(listener, kept):
    caller, sent = SideCaller(listener.path), os.urandom(MEGABYTE)
    caller.call(KEEP, [sent])
    caller.close()
    assert kept == [sent]


def test_an_answer_outlives_its_server(listener, caller):
    content = os.urandom(MEGABYTE)
    answer = caller.call(ECHO, [content])
    listener.stop()
    assert answer == content


@pytest.fixture
def no_shared_memory(monkeypatch):
    monkeypatch.setattr(segments, "IS_AVAILABLE", False)
    segments.POOL.abandon()


@way
@pytest.mark.usefixtures("no_shared_memory")
def test_without_shared_memory_all_goes_through_the_socket(caller, way):
    content = os.urandom(7 * MEGABYTE + 5)
    for _ in range(2):
        assert way(caller, ECHO, [b"<", content, b">"]) == b"<" + content + b">"


@pytest.mark.usefixtures("no_shared_memory")
def test_short_calls_and_long_ones_share_a_connection(caller):
    content, outcomes = os.urandom(5 * MEGABYTE), Outcomes()
    for _ in range(10):
        caller.begin(ECHO, [content], outcomes)
        caller.begin(ECHO, [b"short"], outcomes)
    assert sorted(outcomes.wait(20)) == sorted([content, b"short"] * 10)


def test_without_a_descriptor_for_a_segment_all_goes_through_the_socket(caller):
    content = os.urandom(MEGABYTE)
    caller.call(ECHO, [b"opens the connection"])
    segments.POOL.abandon()
    with no_descriptors():
        assert caller.call(ECHO, [content]) == content


def test_without_a_descriptor_for_a_connection_calls_share_one(caller):
    in_background(caller, ECHO, [b"opens the connection"])
    with no_descriptors():
        assert caller.call(ECHO, [b"hello"]) == b"hello"


def test_the_loop_does_not_copy_what_is_very_long(listener, caller):
    content, answers = bytes(30 * MEGABYTE), Outcomes()
    LOOP.soon(caller.begin, ECHO, [content], answers)  # the answer is given on the loop, too
    assert answers.wait() == [content]


# connections


def test_a_caller_keeps_few_connections(caller, waiting):
    in_background(caller, ECHO, [b"opens the connection"])
    before = open_files()
    calls = [Call(caller.call, WAIT, [b""]) for _ in range(30)]
    assert waiting.have_come(30)
    assert open_files() >= before + 60
    for call in waiting.calls:
        call.respond([b""])
    for call in calls:
        call.result()
    until(lambda: open_files() <= before + 8)


def open_files():
    """Return how many descriptors this process has."""
    return len(os.listdir("/proc/self/fd"))


def test_nothing_is_left_of_listeners_and_callers():
    def once():
        listener = SideListener()
        listener.start({ECHO: Method(lambda request, call: call.respond([request]))})
        caller = SideCaller(listener.path)
        assert caller.call(ECHO, [bytes(MEGABYTE)]) == bytes(MEGABYTE)
        caller.close()
        listener.stop()

    once()
    until(lambda: not any(thread.name == "tfdist-wire" for thread in threading.enumerate()))
    before = open_files()
    for _ in range(20):
        once()
    until(lambda: open_files() <= before)


def test_a_caller_is_told_when_its_server_is_gone(listener, caller):
    told = threading.Event()
    caller.on_lost(told.set)
    assert not told.is_set()
    listener.stop()
    assert told.wait(PATIENCE)
    told.clear()
    caller.on_lost(told.set)
    assert told.is_set()


def test_a_caller_that_closes_is_not_told(listener, caller):
    told = threading.Event()
    caller.on_lost(told.set)
    caller.close()
    until(lambda: not listener._clients)
    assert not told.is_set()


def test_calls_end_with_the_reason_for_closing(caller, waiting):
    outcomes = Outcomes()
    caller.begin(WAIT, [b""], outcomes)
    call = Call(caller.call, WAIT, [b""])
    assert waiting.have_come(2)
    caller.close(UnavailableError("it is frozen"))
    with pytest.raises(UnavailableError, match="it is frozen"):
        call.result()
    [error] = outcomes.wait()
    assert (type(error), error.message) == (UnavailableError, "it is frozen")


def test_an_answer_that_nobody_waits_for_any_more_is_dropped(caller, waiting):
    outcomes = Outcomes()
    cancel = caller.begin(WAIT, [b""], outcomes)
    assert waiting.have_come(1)
    cancel()
    [error] = outcomes.wait()
    assert type(error) is CancelledError
    waiting.calls[0].respond([bytes(MEGABYTE)])
    assert in_background(caller, ECHO, [b"next"]) == b"next"


def test_what_a_callback_raises_hurts_nobody_else(caller, monkeypatch):
    raised = []
    monkeypatch.setattr(threading, "excepthook", lambda told: raised.append(told.exc_value))
    caller.begin(ECHO, [b"x"], lambda answer: 1 / 0)
    assert in_background(caller, ECHO, [b"next"]) == b"next"
    assert [type(error) for error in raised] == [ZeroDivisionError]


def test_nobody_listens(listener):
    listener.stop()
    with pytest.raises(UnavailableError, match=r"socket cannot be reached: .*probably ended"):
        SideCaller(listener.path)


def test_a_listener_that_stopped_cannot_come_back(listener):
    listener.stop()
    listener.stop()
    with pytest.raises(UnavailableError, match="make a new listener"):
        listener.start({})


# folders


def test_only_this_user_gets_to_the_socket(listener):
    folder = os.path.dirname(listener.path)
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert len(os.fsencode(listener.path)) < 100


def test_a_listener_takes_its_folder_with_it(listener):
    folder = os.path.dirname(listener.path)
    listener.stop()
    assert not os.path.exists(folder)


def test_the_folder_is_where_the_user_has_such_things(tmp_path, monkeypatch):
    place = tmp_path / "run"
    place.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(place))
    with listening() as listener:
        is_short = len(os.fsencode(place)) < 75
        assert listener.path.startswith(str(place)) is is_short


@pytest.mark.parametrize("place", ["/nowhere", "", "/proc", "/tmp/" + "long" * 30])
def test_where_there_is_no_place_for_it_the_folder_is_elsewhere(place, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", place)
    with listening() as listener:
        assert os.path.exists(listener.path)


@contextmanager
def listening():
    """Give a listener that answers nothing."""
    listener = SideListener()
    try:
        yield listener
    finally:
        listener.stop()


# other processes


@contextmanager
def program(*words):
    """Give a process of `side_programs`, killed at the end."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-W", "error", "-m", "tests.wire.side_programs", *words]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        watchdog = threading.Timer(PATIENCE, process.kill)
        watchdog.start()
        try:
            yield process
        finally:
            watchdog.cancel()
            process.kill()


def said(process):
    """Return the next line that a process says."""
    line = process.stdout.readline()
    if not line:
        process.kill()
        pytest.fail(f"the program ended: {process.stderr.read()}")
    return line.strip()


def test_a_server_that_is_killed_ends_its_calls():
    with program("serve") as server:
        path, outcomes, told = said(server), Outcomes(), threading.Event()
        caller = SideCaller(path)
        caller.on_lost(told.set)
        content = os.urandom(MEGABYTE)
        answer = caller.call(ECHO, [content])
        caller.begin(WAIT, [b""], outcomes)
        call = Call(caller.call, WAIT, [b""])
        assert said(server) == "True"
        server.kill()
        with pytest.raises(UnavailableError, match=f"process {server.pid} .*ended"):
            call.result()
        [error] = outcomes.wait()
        assert type(error) is UnavailableError
        assert told.wait(PATIENCE)
        assert answer == content
        with pytest.raises(UnavailableError, match="ended"):
            caller.call(ECHO, [b""])
        caller.close()
    with listening():
        assert not os.path.exists(os.path.dirname(path))  # the next one tidies up


def test_tidying_up_spares_those_who_live(listener):
    with listening():
        pass
    assert os.path.exists(listener.path)


def test_a_caller_that_is_killed_cancels_its_calls(listener, waiting):
    with program("wait", listener.path) as process:
        assert waiting.have_come(2)
        assert waiting.calls[0].caller == f"process {process.pid} on this host"
        process.send_signal(signal.SIGKILL)
        assert waiting.are_cancelled(2)


def test_ctrl_c_at_any_moment_ends_one_call_and_no_connection(listener):
    with program("interrupt", listener.path) as process:
        assert said(process) == "lost: False, b'hello'"
        assert process.wait() == 0
        until(lambda: not listener._clients)


def test_a_forked_child_has_connections_of_its_own(listener):
    with program("fork", listener.path) as process:
        lines = {said(process) for _ in range(7)}
        assert {line.split(":")[0] for line in lines} == {
            "UnavailableError",  # the child, with the parent's caller
            "True",  # its callback was called
            "b'hello'",  # the child with a caller of its own, and the parent, twice
            "b'\\x00\\x00\\x00'",
            "False",  # the parent's socket is gone
        }
        assert any("make sessions after the fork" in line for line in lines)
        process.stdin.close()
        assert process.wait() == 0
        assert process.stderr.read() == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_other_users_are_turned_away(listener, tmp_path):
    os.chmod(os.path.dirname(listener.path), 0o755)  # as if they had got in
    os.chmod(listener.path, 0o777)
    other = (
        "import os, socket, sys; os.setuid(65534); s = socket.socket(socket.AF_UNIX); "
        "s.connect(sys.argv[1]); print(s.recv(1))"
    )
    words = [sys.executable, "-c", other, listener.path]
    assert subprocess.run(words, capture_output=True, check=True, text=True).stdout == "b''\n"


# hostile bytes


@contextmanager
def raw(path):
    """Give a plain socket that is connected."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connected:
        connected.settimeout(PATIENCE)
        connected.connect(path)
        yield connected


NAMED = frames.path_frame(1, ECHO)
HOSTILE = [
    pytest.param(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", id="a browser"),
    pytest.param(os.urandom(100), id="noise"),
    pytest.param(frames.header(Kind.REQUEST, 1, 2**32 - 1), id="a very long body"),
    pytest.param(frames.header(Kind.REQUEST, 1, method=9), id="a method without a name"),
    pytest.param(frames.header(Kind.ANSWER, 1), id="an answer that nobody waits for"),
    pytest.param(frames.header(Kind.RELEASE, 1), id="a release of what is not lent"),
    pytest.param(frames.header(Kind.SEGMENT, 1), id="a segment without its memory"),
    pytest.param(frames.placed_frame(Kind.REQUEST, Place(5, 0, 1), 1), id="an unknown segment"),
    pytest.param(frames.header(Kind.METHOD, 0, 1, 1) + b"\xff", id="a path that is no text"),
    pytest.param(
        b"".join(frames.path_frame(n, f"/{n}") for n in range(5000)), id="very many methods"
    ),
    pytest.param(
        frames.path_frame(1, WAIT) + 2 * frames.header(Kind.REQUEST, 1, method=1), id="one twice"
    ),
]


@pytest.mark.parametrize("data", HOSTILE)
def test_nonsense_ends_its_connection_and_no_other(listener, caller, data):
    with raw(listener.path) as hostile:
        hostile.sendall(data)
        assert end_of(hostile) == b""
    assert caller.call(ECHO, [b"hello"]) == b"hello"


def end_of(connected):
    """Return what is read at the end of a connection: nothing, if it is closed."""
    try:
        return connected.recv(1)
    except ConnectionResetError:  # closed before it had read everything
        return b""


@pytest.mark.skipif(not segments.IS_AVAILABLE, reason="this system has no memfd")
@pytest.mark.parametrize(
    ("is_sealed", "place"),
    [
        pytest.param(False, Place(1, 0, 10), id="memory that can be cut off"),
        pytest.param(True, Place(1, 2**20, 1), id="a place outside"),
    ],
)
def test_memory_that_cannot_be_relied_on_ends_its_connection(listener, caller, is_sealed, place):
    segment = segments.Segment(MEGABYTE, os.geteuid())
    plain = os.memfd_create("test")
    os.ftruncate(plain, MEGABYTE)
    passed = array.array("i", [segment.descriptor if is_sealed else plain])
    request = frames.placed_frame(Kind.REQUEST, place, 1, method=1)
    with raw(listener.path) as hostile:
        data = NAMED + frames.header(Kind.SEGMENT, 1) + request
        hostile.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, passed)])
        assert end_of(hostile) == b""
    os.close(plain)
    segment.close()
    assert caller.call(ECHO, [b"hello"]) == b"hello"


def test_descriptors_that_nobody_asked_for_are_closed(listener, caller):
    caller.call(ECHO, [b"opens the connection"])
    before = open_files()
    with raw(listener.path) as hostile:
        with open(os.devnull) as file:
            passed = array.array("i", [file.fileno()] * 3)
            for _ in range(2):
                rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, passed)]
                hostile.sendmsg([frames.header(Kind.CANCEL, 1)], rights)
        assert end_of(hostile) == b""
    until(lambda: open_files() == before)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"HTTP/1.1 400 Bad Request\r\n\r\n", id="a web server"),
        pytest.param(frames.header(Kind.REQUEST, 1), id="a request"),
        pytest.param(frames.header(Kind.ERROR, 1, 3) + b"abc", id="an error that is none"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_nonsense_from_a_server_is_an_error(tmp_path, data):
    path, outcomes = os.path.join("/tmp", f"test-{os.getpid()}-nonsense"), Outcomes()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as serving:
        serving.bind(path)
        serving.listen()
        caller = SideCaller(path)
        accepted, _ = serving.accept()
        caller.begin(ECHO, [b""], outcomes)
        accepted.sendall(data)
        accepted.close()
        [error] = outcomes.wait()
    os.unlink(path)
    assert type(error).__name__ in {"UnavailableError", "DataLossError"}
    caller.close()


@pytest.mark.parametrize("elements", [9, 300_000], ids=["short", "long"])
def test_an_answer_that_cannot_be_sent_is_an_error(listener, elements):
    scattered = memoryview(np.zeros(2 * elements))[::2]
    listener.start({ECHO: Method(lambda request, call: call.respond([scattered]))})
    caller = SideCaller(listener.path)
    with pytest.raises(InternalError, match="the server failed"):
        caller.call(ECHO, [b""])
    caller.close()


def test_errors_cross_with_their_class(listener):
    def refuse(request, call):
        raise AbortedError("try again")

    listener.start({ECHO: Method(refuse)})
    caller = SideCaller(listener.path)
    with pytest.raises(AbortedError, match="try again"):
        caller.call(ECHO, [b""])
    caller.close()
