"""The local path when others die, fork, belong to somebody else, or send nonsense."""

import array
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import closing, contextmanager

import pytest

from tests.runtime.blocking import Call, until
from tests.wire.frames.test_local_path import open_files
from tests.wire.transports import PATIENCE, Outcomes, Waiting, local_listener
from tfdist.errors import UnavailableError
from tfdist.wire.codec import frames
from tfdist.wire.codec.frames import Kind, Place
from tfdist.wire.common.calls import Method
from tfdist.wire.frames import shared_memory
from tfdist.wire.frames.client import FramesCaller
from tfdist.wire.frames.unix_sockets import UnixPath

ECHO, WAIT = "/test.Test/Echo", "/test.Test/Wait"
MEGABYTE = 1 << 20


@pytest.fixture
def waiting():
    return Waiting()


@pytest.fixture
def listener(waiting):
    echo = Method(lambda request, call: call.respond([request]))
    with local_listener({ECHO: echo, WAIT: waiting.method}) as listener:
        yield listener


@pytest.fixture
def caller(listener):
    with closing(FramesCaller(UnixPath(listener.place.path))) as caller:
        yield caller


# other processes


@contextmanager
def program(*words):
    """Give a process of `programs`, killed at the end."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-W", "error", "-m", "tests.wire.frames.programs", *words]
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
        caller = FramesCaller(UnixPath(path))
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
    with local_listener():
        assert not os.path.exists(os.path.dirname(path))  # the next one tidies up


def test_tidying_up_spares_those_who_live(listener):
    with local_listener():
        pass
    assert os.path.exists(listener.place.path)


def test_a_caller_that_is_killed_cancels_its_calls(listener, waiting):
    with program("wait", listener.place.path) as process:
        assert waiting.have_come(2)
        assert waiting.calls[0].caller == f"process {process.pid} on this host"
        process.send_signal(signal.SIGKILL)
        assert waiting.are_cancelled(2)


def test_ctrl_c_at_any_moment_ends_one_call_and_no_connection(listener):
    with program("interrupt", listener.place.path) as process:
        assert said(process) == "lost: False, b'hello'"
        assert process.wait() == 0
        until(lambda: not listener._clients)


def test_a_forked_child_has_connections_of_its_own(listener):
    with program("fork", listener.place.path) as process:
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
    os.chmod(os.path.dirname(listener.place.path), 0o755)  # as if they had got in
    os.chmod(listener.place.path, 0o777)
    other = (
        "import os, socket, sys; os.setuid(65534); s = socket.socket(socket.AF_UNIX); "
        "s.connect(sys.argv[1]); print(s.recv(1))"
    )
    words = [sys.executable, "-c", other, listener.place.path]
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
    with raw(listener.place.path) as hostile:
        hostile.sendall(data)
        assert end_of(hostile) == b""
    assert caller.call(ECHO, [b"hello"]) == b"hello"


def end_of(connected):
    """Return what is read at the end of a connection: nothing, if it is closed."""
    try:
        return connected.recv(1)
    except ConnectionResetError:  # closed before it had read everything
        return b""


@pytest.mark.skipif(not shared_memory.IS_AVAILABLE, reason="this system has no memfd")
@pytest.mark.parametrize(
    ("is_sealed", "place"),
    [
        pytest.param(False, Place(1, 0, 10), id="memory that can be cut off"),
        pytest.param(True, Place(1, 2**20, 1), id="a place outside"),
    ],
)
def test_memory_that_cannot_be_relied_on_ends_its_connection(listener, caller, is_sealed, place):
    segment = shared_memory.Segment(MEGABYTE, os.geteuid())
    plain = os.memfd_create("test")
    os.ftruncate(plain, MEGABYTE)
    passed = array.array("i", [segment.descriptor if is_sealed else plain])
    request = frames.placed_frame(Kind.REQUEST, place, 1, method=1)
    with raw(listener.place.path) as hostile:
        data = NAMED + frames.header(Kind.SEGMENT, 1) + request
        hostile.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, passed)])
        assert end_of(hostile) == b""
    os.close(plain)
    segment.close()
    assert caller.call(ECHO, [b"hello"]) == b"hello"


def test_descriptors_that_nobody_asked_for_are_closed(listener, caller):
    caller.call(ECHO, [b"opens the connection"])
    before = open_files()
    with raw(listener.place.path) as hostile:
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
        caller = FramesCaller(UnixPath(path))
        accepted, _ = serving.accept()
        caller.begin(ECHO, [b""], outcomes)
        accepted.sendall(data)
        accepted.close()
        [error] = outcomes.wait()
    os.unlink(path)
    assert type(error).__name__ in {"UnavailableError", "DataLossError"}
    caller.close()


SERVERS = """
import tfdist as tf
servers = [tf.train.Server.create_local_server() for _ in range(3)]
"""


def test_a_process_that_ends_right_after_making_servers_says_nothing():
    ended = subprocess.run(
        [sys.executable, "-c", SERVERS],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert (ended.stdout, ended.stderr) == ("", "")
