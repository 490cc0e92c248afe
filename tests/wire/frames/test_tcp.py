"""Frames by TCP and TLS: what is their own beside the contract of `test_transports`."""

import os
import re
import socket
import ssl
import threading
import time
from contextlib import closing, contextmanager
from functools import partial

import numpy as np
import pytest

from tests.runtime.blocking import Call, until
from tests.wire.frames.test_local_faults import HOSTILE, end_of, program, said
from tests.wire.frames.test_local_path import in_background, open_files
from tests.wire.frames.test_shared_memory import no_descriptors
from tests.wire.transports import (
    PATIENCE,
    Outcomes,
    Waiting,
    authority,
    frames_listener,
    identity,
    tcp_place,
    tcp_way,
    tls_way,
)
from tfdist import errors
from tfdist.base.room import ROOM
from tfdist.launch.authority import Authority
from tfdist.wire.codec import frames
from tfdist.wire.codec.frames import Kind
from tfdist.wire.common.calls import Method
from tfdist.wire.common.tls import use_identity
from tfdist.wire.frames import server as frames_server
from tfdist.wire.frames import tls as frames_tls
from tfdist.wire.frames.client import FramesCaller
from tfdist.wire.frames.tcp import TcpAddress
from tfdist.wire.frames.tls import TlsPlace
from tfdist.wire.service_methods import FOLLOW, HEALTH, MASTER

# anybody may call these
ECHO, SPLIT, WAIT, STREAM = (HEALTH + name for name in ("Echo", "Split", "Wait", "Stream"))
MEGABYTE = 1 << 20
SIZES = [3 * MEGABYTE, 10, 5 * MEGABYTE, 1, 0]  # bytes of what STREAM answers
tls_place = partial(TlsPlace, "127.0.0.1")


@pytest.fixture(autouse=True)
def certificate():
    """Have this process show a certificate, on both sides."""
    use_identity(identity())
    yield
    use_identity(None)


def stream(request, call):
    for size in SIZES[:-1]:
        call.send([bytes(size)])
    call.respond([b""])


@pytest.fixture
def waiting():
    return Waiting()


@pytest.fixture(params=[(tcp_place, tcp_way), (tls_place, tls_way)], ids=["TCP", "TLS"])
def kind(request):
    """Return what makes a place, and what returns the way to one."""
    return request.param


@pytest.fixture
def listener(kind, waiting):
    methods = {
        ECHO: Method(lambda request, call: call.respond([request])),
        SPLIT: Method(lambda request, call: call.respond([request[:3], request[3:]])),
        f"{MASTER}RunStep": Method(lambda request, call: call.respond([b"ran"])),
        FOLLOW: Method(lambda request, call: call.respond([b"followed"])),
        STREAM: Method(stream),
        WAIT: waiting.method,
        "/test.Test/Wait": waiting.method,
    }
    with frames_listener(kind[0](), methods) as listener:
        yield listener


@pytest.fixture
def way(kind, listener):
    return kind[1](listener.place)


@pytest.fixture
def caller(way):
    with closing(FramesCaller(way)) as caller:
        yield caller


# large messages

WAYS = [pytest.param(FramesCaller.call, id="call"), pytest.param(in_background, id="begin")]


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("length", [frames.PART - 1, frames.PART + 1, 20_000_003])
def test_long_messages_come_back(caller, how, length):
    content = os.urandom(length)
    for _ in range(2):
        assert how(caller, ECHO, [b"<", content]) == b"<" + content


@pytest.mark.parametrize("how", WAYS)
def test_received_arrays_are_aligned_and_may_be_written(caller, how):
    sent = np.arange(300_000.0)
    found = np.frombuffer(how(caller, SPLIT, [b"abc", memoryview(sent)])[3:])
    assert found.ctypes.data % 64 == 0
    found += 1
    np.testing.assert_array_equal(found, sent + 1)


def test_short_calls_do_not_wait_for_long_ones(caller, waiting):
    """The answers share a connection; the long ones together take a while."""
    order, ended = [], threading.Semaphore(0)

    def done(name, answer):
        order.append(name)
        ended.release()

    for name in ("long", "longer"):
        caller.begin(WAIT, [b""], partial(done, name))
    assert waiting.have_come(2)
    for call, size in zip(waiting.calls, (30, 60), strict=True):
        call.respond([bytes(size * MEGABYTE)])
    caller.begin(ECHO, [b"short"], partial(done, "short"))
    for _ in range(3):
        assert ended.acquire(timeout=PATIENCE)
    assert order == ["short", "long", "longer"]


def test_what_belongs_to_one_call_stays_in_order(caller):
    answers = Outcomes()
    caller.begin(STREAM, [b""], answers)
    assert [len(each) for each in answers.wait(len(SIZES))] == SIZES


def test_a_long_request_can_be_cancelled_in_the_middle(listener, caller):
    outcomes = Outcomes()
    for _ in range(5):
        caller.begin(ECHO, [bytes(40 * MEGABYTE)], outcomes)()
    assert {type(each) for each in outcomes.wait(5)} == {errors.CancelledError}
    assert in_background(caller, ECHO, [b"next"]) == b"next"
    [client] = [each for each in listener._clients if each.connection.heard]
    until(lambda: not client.connection._parser._long)


def test_a_message_without_room_is_refused_and_the_next_one_is_not(caller, monkeypatch):
    outcomes = Outcomes()
    monkeypatch.setattr(ROOM, "bytes", MEGABYTE)
    with pytest.raises(errors.ResourceExhaustedError, match=r"a message of 2\.\d* MiB had no room"):
        caller.call(ECHO, [bytes(2 * MEGABYTE)])
    caller.begin(ECHO, [bytes(2 * MEGABYTE)], outcomes)
    assert [type(each) for each in outcomes.wait()] == [errors.ResourceExhaustedError]
    assert caller.call(ECHO, [b"next"]) == b"next"


# slow, silent and hostile ends


@contextmanager
def raw(listener):
    """Give a bare connection: as an encrypted one sends, after its handshake."""
    place = listener.place
    with socket.create_connection(("127.0.0.1", place.port), PATIENCE) as connected:
        if isinstance(place, TlsPlace):
            context = identity().client_context
            connected = context.wrap_socket(connected, server_hostname="127.0.0.1")
        with connected:
            yield connected


@pytest.mark.parametrize("data", HOSTILE)
def test_nonsense_ends_its_connection_and_no_other(listener, caller, data):
    with raw(listener) as hostile:
        hostile.sendall(data)
        assert end_of(hostile) == b""
    assert caller.call(ECHO, [b"hello"]) == b"hello"


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="a browser"),
        pytest.param(os.urandom(300), id="noise"),
        pytest.param(frames.path_frame(1, ECHO), id="frames in plain text"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", id="half a handshake"),
    ],
)
def test_who_does_not_encrypt_gets_nowhere(waiting, data):
    with frames_listener(tls_place(), {WAIT: waiting.method}) as listener:
        with socket.create_connection(("127.0.0.1", listener.place.port), PATIENCE) as hostile:
            hostile.sendall(data)
            if data[0] == 0x16:
                until(lambda: listener.place._shaking)
            else:
                assert end_of(hostile)[:1] in (b"", b"\x15")  # at most an alert
        until(lambda: not listener.place._shaking)
    assert not waiting.calls


def test_half_a_frame_and_then_silence_holds_nobody_up(listener, caller, monkeypatch):
    with raw(listener) as silent:
        silent.sendall(frames.header(Kind.REQUEST, 1, 5, method=1)[:13])
        assert caller.call(ECHO, [b"hello"]) == b"hello"


def test_who_says_nothing_is_sent_away(listener, monkeypatch):
    monkeypatch.setattr(frames_server, "_GREETING", 0.05)
    monkeypatch.setattr(frames_tls, "HANDSHAKE", 0.05)
    with socket.create_connection(("127.0.0.1", listener.place.port), PATIENCE) as silent:
        assert end_of(silent) == b""
    with raw(listener) as silent:
        silent.sendall(frames.header(Kind.REQUEST, 1, 5, method=1)[:13])
        assert end_of(silent) == b""


def test_a_length_takes_no_memory_before_the_message_comes(listener, caller):
    """16 GB are announced, and room is there: memory that nobody touches is none."""
    body = frames._LENGTH.pack(1 << 34, 0)
    with raw(listener) as hostile:
        hostile.sendall(frames.header(Kind.LENGTH, 1, len(body), Kind.REQUEST) + body)
        assert caller.call(ECHO, [b"hello"]) == b"hello"


def test_many_connections_are_taken_and_given_back(listener, caller):
    in_background(caller, ECHO, [b"opens the connection"])
    before = open_files()
    held = [socket.create_connection(("127.0.0.1", listener.place.port)) for _ in range(200)]
    assert caller.call(ECHO, [b"hello"]) == b"hello"
    for each in held:
        each.close()
    until(lambda: open_files() <= before + 4)


def test_without_a_descriptor_for_a_connection_calls_share_one(caller):
    in_background(caller, ECHO, [b"opens the connection"])
    with no_descriptors():
        assert caller.call(ECHO, [b"hello"]) == b"hello"


def test_who_does_not_read_holds_nobody_up(listener, caller):
    with raw(listener) as slow:
        slow.sendall(frames.path_frame(1, ECHO) + frames.header(Kind.REQUEST, 1, 1, 1) + b"x")
        for number in range(2, 6):
            for frame in frames.in_parts(Kind.REQUEST, number, [bytes(4 * MEGABYTE)], 1):
                slow.sendall(b"".join(frame))
        assert caller.call(ECHO, [b"hello"]) == b"hello"
        begun = time.monotonic()
        until(lambda: any(each.connection.send_buffer._long for each in list(listener._clients)))
        assert all(each.heard >= begun - PATIENCE for each in list(listener._clients))


def test_segments_do_not_cross_hosts(listener, caller):
    with raw(listener) as hostile:
        hostile.sendall(frames.header(Kind.SEGMENT, 1))
        assert end_of(hostile) == b""
    assert caller.call(ECHO, [b"hello"]) == b"hello"


# who may call


@pytest.mark.parametrize(
    ("shown", "path", "is_allowed"),
    [
        pytest.param(identity("run"), f"{MASTER}RunStep", True, id="run may run"),
        pytest.param(identity("look"), f"{MASTER}RunStep", False, id="look may not run"),
        pytest.param(identity("look"), ECHO, True, id="look may look"),
        pytest.param(identity("join"), FOLLOW, True, id="a task may follow another"),
        pytest.param(identity("join"), f"{MASTER}RunStep", False, id="a task opens no sessions"),
    ],
)
@pytest.mark.parametrize("kind", [(tls_place, tls_way)], ids=[""])
def test_the_role_in_the_certificate_counts(listener, way, shown, path, is_allowed):
    address = str(way)
    use_identity(shown, at=[address])
    try:
        with closing(FramesCaller(way)) as caller:
            if is_allowed:
                assert caller.call(path, [b""]) in (b"", b"ran", b"followed")
            else:
                with pytest.raises(errors.PermissionDeniedError, match="certificate has the role"):
                    caller.call(path, [b""])
    finally:
        use_identity(None, at=[address])


STRANGER = Authority("mnist").identity(["127.0.0.1"])
ELSEWHERE = authority().identity(["10.1.2.3"])


@pytest.mark.parametrize("kind", [(tls_place, tls_way)], ids=[""])
def test_a_certificate_of_another_authority_is_refused(listener, way):
    use_identity(STRANGER, at=[str(way)])
    try:
        with pytest.raises(errors.UnavailableError, match="verify failed"):
            FramesCaller(way)
    finally:
        use_identity(None, at=[str(way)])


@pytest.mark.parametrize("kind", [(tls_place, tls_way)], ids=[""])
def test_a_server_whose_certificate_names_another_host_is_not_called(way):
    use_identity(identity(), at=[str(way)])
    use_identity(ELSEWHERE)
    try:
        with pytest.raises(errors.UnavailableError, match="certificate"):
            FramesCaller(way)
    finally:
        use_identity(None, at=[str(way)])


@pytest.mark.parametrize("kind", [(tls_place, tls_way)], ids=[""])
def test_who_shows_no_certificate_cannot_call(listener, waiting, capsys):
    context = ssl.create_default_context(cadata=authority().pem.decode())
    connected = socket.create_connection(("127.0.0.1", listener.place.port), PATIENCE)
    with context.wrap_socket(connected, server_hostname="127.0.0.1") as unknown:
        with pytest.raises(OSError, match=r"certificate required|reset"):
            unknown.recv(1)
    assert not listener._clients
    said = r"refused a connection from 127.0.0.1:\d+ in its .*: peer did not return a certificate"
    until(lambda: re.search(said, capsys.readouterr().err))


def test_without_a_certificate_nobody_is_called(listener, kind):
    if kind[0] is not tls_place:
        return
    way = tls_way(listener.place)
    use_identity(None)
    with pytest.raises(errors.UnavailableError, match="no certificate to show"):
        FramesCaller(way)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("kind", [(tcp_place, tcp_way)], ids=[""])
def test_on_the_loopback_interface_other_users_are_turned_away(listener):
    with raw(listener) as other:
        until(lambda: listener._clients)
        listener.place._same_user._allowed = {65534}
        with raw(listener) as refused:
            assert end_of(refused) == b""
        other.settimeout(0)


# other processes


def test_a_server_that_is_killed_ends_its_calls():
    with program("serve", "tcp") as server:
        port, outcomes, told = said(server), Outcomes(), threading.Event()
        caller = FramesCaller(TcpAddress("127.0.0.1", int(port)))
        caller.on_lost(told.set)
        content = os.urandom(MEGABYTE)
        answer = caller.call("/test.Test/Echo", [content])
        caller.begin("/test.Test/Wait", [b""], outcomes)
        call = Call(caller.call, "/test.Test/Wait", [b""])
        assert said(server) == "True"
        server.kill()
        with pytest.raises(errors.UnavailableError, match=rf"127.0.0.1:{port} .*ended"):
            call.result()
        [error] = outcomes.wait()
        assert type(error) is errors.UnavailableError
        assert told.wait(PATIENCE)
        assert answer == content
        caller.close()
