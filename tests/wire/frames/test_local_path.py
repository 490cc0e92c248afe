"""The local path: what is its own beside the contract of `test_transports`."""

import os
import stat
import threading
from contextlib import closing

import numpy as np
import pytest

from tests.runtime.blocking import Call, until
from tests.wire.frames.test_shared_memory import no_descriptors
from tests.wire.transports import PATIENCE, Outcomes, Waiting, local_listener
from tfdist.errors import AbortedError, CancelledError, InternalError, UnavailableError
from tfdist.wire.common.calls import Method
from tfdist.wire.common.loop import LOOP
from tfdist.wire.frames import shared_memory
from tfdist.wire.frames.client import FramesCaller
from tfdist.wire.frames.server import FramesListener
from tfdist.wire.frames.unix_sockets import UnixPath, UnixPlace, name_at

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

    echo = Method(lambda request, call: call.respond([request]))
    split = Method(lambda request, call: call.respond([request[:3], request[3:]]))
    methods = {ECHO: echo, SPLIT: split, WAIT: waiting.method, KEEP: Method(keep)}
    with local_listener(methods) as listener:
        yield listener


@pytest.fixture
def caller(listener):
    with closing(FramesCaller(UnixPath(listener.place.path))) as caller:
        yield caller


def in_background(caller, path, pieces):
    """Return the answer to a call that was begun."""
    answers, has_come = [], threading.Event()
    caller.begin(path, pieces, lambda answer: (answers.append(answer), has_come.set()))
    assert has_come.wait(PATIENCE)
    return answers.pop()


WAYS = [pytest.param(FramesCaller.call, id="call"), pytest.param(in_background, id="begin")]
way = pytest.mark.parametrize("way", WAYS)


def address(view):
    """Return where a message lies in memory."""
    return np.frombuffer(view, np.uint8).ctypes.data


# large messages


@way
@pytest.mark.parametrize(
    "length", [shared_memory.LARGE - 1, shared_memory.LARGE, 3 * MEGABYTE, 20_000_000]
)
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
    caller, sent = FramesCaller(UnixPath(listener.place.path)), os.urandom(MEGABYTE)
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
    monkeypatch.setattr(shared_memory, "IS_AVAILABLE", False)
    shared_memory.POOL.abandon()


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
    shared_memory.POOL.abandon()
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


# answers


@pytest.mark.parametrize("elements", [9, 300_000], ids=["short", "long"])
def test_an_answer_that_cannot_be_sent_is_an_error(listener, elements):
    scattered = memoryview(np.zeros(2 * elements))[::2]
    listener.start({ECHO: Method(lambda request, call: call.respond([scattered]))})
    caller = FramesCaller(UnixPath(listener.place.path))
    with pytest.raises(InternalError, match="the server failed"):
        caller.call(ECHO, [b""])
    caller.close()


def test_errors_cross_with_their_class(listener):
    def refuse(request, call):
        raise AbortedError("try again")

    listener.start({ECHO: Method(refuse)})
    caller = FramesCaller(UnixPath(listener.place.path))
    with pytest.raises(AbortedError, match="try again"):
        caller.call(ECHO, [b""])
    caller.close()


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
        listener = FramesListener(UnixPlace())
        listener.start({ECHO: Method(lambda request, call: call.respond([request]))})
        caller = FramesCaller(UnixPath(listener.place.path))
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
        FramesCaller(UnixPath(listener.place.path))


def test_a_listener_that_stopped_cannot_come_back(listener):
    listener.stop()
    listener.stop()
    with pytest.raises(UnavailableError, match="make a new listener"):
        listener.start({})


# folders


def test_only_this_user_gets_to_the_socket(listener):
    folder = os.path.dirname(listener.place.path)
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert len(os.fsencode(listener.place.path)) < 100


def test_a_listener_takes_its_folder_with_it(listener):
    folder = os.path.dirname(listener.place.path)
    listener.stop()
    assert not os.path.exists(folder)


def test_the_folder_is_where_the_user_has_such_things(tmp_path, monkeypatch):
    place = tmp_path / "run"
    place.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(place))
    with local_listener() as listener:
        is_short = len(os.fsencode(place)) < 75
        assert listener.place.path.startswith(str(place)) is is_short


@pytest.mark.parametrize("place", ["/nowhere", "", "/proc", "/tmp/" + "long" * 30])
def test_where_there_is_no_place_for_it_the_folder_is_elsewhere(place, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", place)
    with local_listener() as listener:
        assert os.path.exists(listener.place.path)


# names


def test_the_second_who_wants_a_name_gets_a_path():
    name = name_at("127.0.0.1:1", f"test {os.getpid()}")
    with closing(UnixPlace(name)) as first, closing(UnixPlace(name)) as second:
        assert first.path == name != second.path
        assert stat.S_ISSOCK(os.stat(second.path).st_mode)
    with closing(UnixPlace(name)) as third:  # it goes with its socket
        assert third.path == name


def test_hosts_and_ports_have_names_of_their_own():
    here = name_at("127.0.0.1:1", "a host")
    assert here not in (name_at("127.0.0.1:2", "a host"), name_at("127.0.0.1:1", "another"))
    assert name_at("10.0.0.1:1", "a host") == name_at("[fe80::1]:1", "a host") == ""
