"""Links: how a process is found, over which transport, what happens when it goes and comes back."""

import re
import socket
import threading
import time
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.ports import free_port
from tests.runtime.blocking import Call, until
from tests.wire.elsewhere import be_elsewhere
from tests.wire.transports import Outcomes, Waiting
from tfdist.protos import pb
from tfdist.tracing.clocks import SAME_CLOCK
from tfdist.wire.common.calls import Method
from tfdist.wire.common.connection_ends import connected_to
from tfdist.wire.common.host import this_host
from tfdist.wire.common.loop import LOOP
from tfdist.wire.frames.client import FramesCaller
from tfdist.wire.frames.server import FramesListener
from tfdist.wire.frames.tcp import TcpPlace
from tfdist.wire.frames.unix_sockets import UnixPlace
from tfdist.wire.grpc.client import GrpcCaller
from tfdist.wire.grpc.server import GrpcListener
from tfdist.wire.peers import link as link_module
from tfdist.wire.peers.link import open_link
from tfdist.wire.service_methods import HEALTH, INSPECTION, WORKER

STATUS, CHECK = f"{WORKER}GetStatus", f"{HEALTH}Check"
ECHO, WAIT = "/test.Test/Echo", "/test.Test/Wait"
UNAVAILABLE, CANCELLED = tf.errors.UnavailableError, tf.errors.CancelledError


def free_address():
    return f"127.0.0.1:{free_port()}"


def serve(address="localhost:0"):
    return tf.train.Server({"a": [address]}, inproc=False)


@contextmanager
def linked(address):
    link = open_link(address)
    try:
        yield link
    finally:
        link.close()


@contextmanager
def peer(**methods):
    """Give the address of a process that answers these methods of Inspection, and echoes."""
    listener = GrpcListener("localhost:0")
    try:
        listener.start(
            {
                ECHO: Method(lambda request, call: call.respond([request])),
                **{INSPECTION + name: method for name, method in methods.items()},
            }
        )
        yield f"localhost:{listener.port}"
    finally:
        listener.stop()


def hello(**fields):
    """Return a Hello that says this, besides the time."""

    def answer(request, call):
        said = {"host": this_host(), "time_nanos": time.time_ns(), **fields}
        call.respond([pb.HelloResponse(**said).SerializeToString()])

    return Method(answer)


# the transport that is taken


def test_a_server_of_this_host_is_called_by_its_local_path():
    with serve() as server, linked(server.address) as link:
        assert not link.is_connected
        transport = link.connect()
        assert isinstance(transport.caller, FramesCaller)
        assert link.is_connected
        assert link.connect() is transport
        assert link.clock == SAME_CLOCK
        assert link.incarnation == server.task.worker.devices[0].incarnation % 2**64
        assert link.call(STATUS, [b""]).nbytes > 0


def test_on_request_everything_goes_by_grpc(monkeypatch):
    monkeypatch.setenv("TFDIST_TRANSPORT", "grpc")
    with serve() as server, linked(server.address) as link:
        assert isinstance(link.connect().caller, GrpcCaller)
        assert link.connect().hello.task == "/job:a/replica:0/task:0"
        assert link.call(STATUS, [b""]).nbytes > 0


def test_who_does_not_know_hello_gets_grpc_and_nothing_else():
    """A real TensorFlow server, say."""
    with peer() as address, linked(address) as link:
        transport = link.connect()
        assert isinstance(transport.caller, GrpcCaller)
        assert (transport.hello, link.incarnation, link.clock) == (None, 0, SAME_CLOCK)
        assert link.call(ECHO, [b"x"]) == b"x"
        begun = Outcomes()
        link.begin(ECHO, [b"y"], begun)
        assert begun.wait() == [b"y"]


def test_a_local_path_that_leads_nowhere_is_not_taken(tmp_path):
    """As from another container that shares this one's name."""
    nowhere = hello(side_path=str(tmp_path / "nobody"))
    with peer(Hello=nowhere, Attach=Waiting().method) as address, linked(address) as link:
        assert isinstance(link.connect().caller, GrpcCaller)
        assert link.call(ECHO, [b"x"]) == b"x"


def test_another_host_is_called_by_grpc_and_its_clock_is_estimated():
    ahead = 7_000_000_000

    def answer(request, call):
        said = pb.HelloResponse(
            host="another", side_path="/nowhere", time_nanos=time.time_ns() + ahead
        )
        call.respond([said.SerializeToString()])

    with peer(Hello=Method(answer), Attach=Waiting().method) as address, linked(address) as link:
        transport = link.connect()
        assert isinstance(transport.caller, GrpcCaller)
        assert abs(transport.clock.nanos - ahead) <= transport.clock.uncertainty
        assert transport.clock.uncertainty > 0


def test_a_server_of_this_host_is_found_by_its_address_without_grpc():
    with serve() as server, linked(server.address) as link:
        begun = Outcomes()
        link.begin(STATUS, [b""], begun)  # nobody has connected before
        assert not isinstance(begun.wait()[0], Exception)
        assert link.is_ours
        assert link.connect().hello.task == "/job:a/replica:0/task:0"
        assert not connected_to(int(server.address.rpartition(":")[2]))


# frames to another host


@pytest.fixture
def elsewhere(monkeypatch):
    be_elsewhere(monkeypatch)


@pytest.mark.usefixtures("elsewhere")
def test_a_server_of_another_host_is_called_by_frames():
    with serve() as server, linked(server.address) as link:
        transport = link.connect()
        assert isinstance(transport.caller, FramesCaller)
        assert not transport.caller.is_local
        assert transport.clock.uncertainty > 0
        assert link.call(STATUS, [b""]).nbytes > 0


def test_nobody_asks_for_a_port_on_one_host():
    with serve() as server, linked(server.address) as link:
        assert link.connect().hello.frames_port == 0


@pytest.mark.usefixtures("elsewhere")
def test_a_server_that_is_to_use_grpc_only_has_no_port(monkeypatch):
    with serve() as server, linked(server.address) as link:
        monkeypatch.setattr(link, "_greet", partial(greeted_after, monkeypatch, link._greet))
        assert isinstance(link.connect().caller, GrpcCaller)


def greeted_after(monkeypatch, greet, patience):
    """Say hello to a server whose process has changed its mind."""
    request = link_module.hello_request
    monkeypatch.setenv("TFDIST_TRANSPORT", "grpc")
    monkeypatch.setattr(link_module, "hello_request", lambda: request_from("another host"))
    try:
        return greet(patience)
    finally:
        monkeypatch.setattr(link_module, "hello_request", request)
        monkeypatch.setenv("TFDIST_TRANSPORT", "auto")


def request_from(host):
    return pb.HelloRequest(host=host).SerializeToString()


@pytest.mark.usefixtures("elsewhere")
def test_the_port_may_be_chosen(monkeypatch):
    port = free_port()
    monkeypatch.setenv("TFDIST_FRAMES_PORT", str(port))
    with serve() as server, linked(server.address) as link:
        assert link.connect().hello.frames_port == port
        assert isinstance(link.connect().caller, FramesCaller)


@pytest.mark.usefixtures("elsewhere")
def test_a_port_that_somebody_has_is_told_and_grpc_it_is(monkeypatch, capfd):
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        monkeypatch.setenv("TFDIST_FRAMES_PORT", str(port))
        with serve() as server, linked(server.address) as link:
            assert isinstance(link.connect().caller, GrpcCaller)
            assert link.call(STATUS, [b""]).nbytes > 0
    assert f"port {port} cannot be bound" in capfd.readouterr().err


@contextmanager
def nothing_there():
    """Give a port where nobody listens."""
    yield free_port()


@contextmanager
def silent():
    """Give a port whose connections open and are never answered."""
    with socket.create_server(("127.0.0.1", 0)) as holder:
        yield holder.getsockname()[1]


@contextmanager
def dropped():
    """Give a port that answers nothing at all, as behind a firewall: its queue is full."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as holder, ExitStack() as stack:
        address = holder.getsockname()
        for _ in range(8):
            full = stack.enter_context(socket.socket())
            full.setblocking(False)
            full.connect_ex(address)
        yield address[1]


@contextmanager
def another_server():
    """Give the port for frames of a server that is not the one that said hello."""
    far = FramesListener(TcpPlace("127.0.0.1"))
    far.start({f"{INSPECTION}Hello": hello(incarnation=4)})
    yield far.place.port
    far.stop()


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("place", [nothing_there, silent, dropped, another_server])
def test_where_frames_do_not_get_through_grpc_does_and_that_is_said_once(place, capfd):
    with place() as port:
        told = hello(host="a third host", frames_port=port, incarnation=3)
        with peer(Hello=told, Attach=Waiting().method) as address:
            for _ in range(2):
                with linked(address) as link:
                    assert isinstance(link.connect().caller, GrpcCaller)
                    assert link.call(ECHO, [b"x"]) == b"x"
    [line] = capfd.readouterr().err.splitlines()
    assert re.match(f"tfdist: {address.replace('localhost', '127.0.0.1')} is called by gRPC", line)
    assert "TFDIST_FRAMES_PORT" in line


@pytest.mark.usefixtures("elsewhere")
def test_whose_frames_come_is_not_lost_when_a_sign_of_life_is_late():
    """`Attach` ends as it does when gRPC's keepalive gets no answer in time."""
    attached, far = Waiting(), FramesListener(TcpPlace("127.0.0.1"))
    told = hello(host="a third host", frames_port=far.place.port)
    far.start({f"{INSPECTION}Hello": told, ECHO: Method(lambda request, call: call.respond([b""]))})
    with peer(Hello=told, Attach=attached.method) as address, linked(address) as link:
        transport = link.connect()
        assert attached.have_come(1)
        attached.calls[0].fail(UNAVAILABLE("ping timeout"))
        assert attached.have_come(2)
        assert link.connect() is transport
        assert link.call(ECHO, [b""]) == b""
    far.stop()


@pytest.mark.usefixtures("elsewhere")
def test_whose_frames_do_not_come_is_lost_with_the_sign_of_life(monkeypatch):
    attached, far, waiting = Waiting(), FramesListener(TcpPlace("127.0.0.1")), Waiting()
    told = hello(host="a third host", frames_port=far.place.port)
    far.start({f"{INSPECTION}Hello": told, WAIT: waiting.method})
    with peer(Hello=told, Attach=attached.method) as address, linked(address) as link:
        link.connect()
        call = Call(link.call, WAIT, [b""])
        assert waiting.have_come(1)
        assert attached.have_come(1)
        monkeypatch.setenv("TFDIST_TIMEOUTS", "silence=1e-9")
        attached.calls[0].fail(UNAVAILABLE("ping timeout"))
        assert "was lost" in caught(call).message
        assert waiting.are_cancelled(1)
    far.stop()


@pytest.mark.usefixtures("elsewhere")
def test_a_server_keeps_the_connections_of_a_client_that_attaches_again():
    """gRPC's connection is lost, frames are not."""
    with serve() as server, linked(server.address) as link:
        transport, outcomes = link.connect(), Outcomes()
        link.begin(f"{INSPECTION}Attach", [b""], outcomes)
        inspection = server._endpoint._inspection
        before = attached(inspection, link)
        link._detach()
        until(lambda: attached(inspection, link) - before)
        assert link.connect() is transport
        assert link.call(STATUS, [b""]).nbytes > 0
        assert not outcomes.told


def attached(inspection, link):
    """Return the keys of the calls by which a server knows that the client of a link lives."""
    return {key for key, (name, _) in inspection._attached.items() if name == link._name}


def test_two_names_of_one_address_are_one_link():
    with serve() as server:
        port = server.address.rpartition(":")[2]
        with linked(f"localhost:{port}") as one, linked(f"127.0.0.1:{port}") as other:
            assert one is other


def test_a_link_lives_as_long_as_somebody_uses_it():
    with serve() as server:
        with linked(server.address) as one:
            with linked(server.address) as other:
                assert other is one
                other.call(STATUS, [b""])
            assert one.call(STATUS, [b""]).nbytes > 0
        with linked(server.address) as later:
            assert later is not one


def test_closing_ends_the_calls_under_way():
    waiting = Waiting()
    with peer(Wait=waiting.method) as address:
        link, outcomes = open_link(address), Outcomes()
        link.connect()
        link.begin(f"{INSPECTION}Wait", [b""], outcomes)
        call = Call(link.call, f"{INSPECTION}Wait", [b""])
        assert waiting.have_come(2)
        link.close()
        assert type(outcomes.wait()[0]) is CANCELLED
        with pytest.raises(CANCELLED):
            call.result()
        assert waiting.are_cancelled(2)


# going and coming back


def test_nobody_is_there_and_then_somebody_is():
    address = free_address()
    with linked(address) as link:
        for _ in range(2):
            with pytest.raises(UNAVAILABLE, match=address):
                link.connect()
            assert not link.is_connected
        with serve(address):
            assert link.call(STATUS, [b""]).nbytes > 0


def noticed(caller):
    """End the connection of a caller, which knows it."""
    caller._shared.shut()
    caller._ending = UNAVAILABLE("lost a moment ago")


def unnoticed(caller):
    """End all connections of a caller, which may not know it when it calls next."""
    for each in (caller._shared, *caller._kept):
        each.shut()


@pytest.mark.parametrize("lost", [noticed, unnoticed])
@pytest.mark.parametrize("asks", ["call", "begin"])
def test_what_finds_its_connection_lost_before_it_leaves_goes_out_on_a_new_one(asks, lost):
    with serve() as server, linked(server.address) as link:
        for _ in range(20):  # now and then the loop learns of it first
            caller, outcomes = link.connect().caller, Outcomes()
            link.call(STATUS, [b""])
            lost(caller)
            if asks == "call":
                outcomes(link.call(STATUS, [b""]))
            else:
                link.begin(STATUS, [b""], outcomes)
            assert [type(each) for each in outcomes.wait()] == [bytes]


def test_a_server_that_comes_while_it_is_waited_for():
    address = free_address()
    with linked(address) as link:
        call = Call(link.connect, 20.0)
        with serve(address):
            assert call.result().hello.task == "/job:a/replica:0/task:0"


@pytest.mark.usefixtures("transport")
def test_calls_find_a_process_again_at_its_old_place():
    address = free_address()
    lives = set()
    with linked(address) as link:
        for _ in range(4):
            with serve(address):
                link.call(STATUS, [b""])
                lives.add(link.incarnation)
            until(lambda: not link.is_connected)
            with pytest.raises(UNAVAILABLE):
                link.call(STATUS, [b""])
    assert len(lives) == 4


@pytest.mark.usefixtures("transport")
def test_what_was_lost_before_does_no_harm_to_what_came_after():
    address = free_address()
    with linked(address) as link:
        with serve(address):
            before = link.connect(5.0)
        until(lambda: not link.is_connected)
        with serve(address):
            after = link.connect(5.0)
            link._lose(before)
            assert link.connect() is after
            assert (link._detach is not None) == (after.near is None)
            link.call(STATUS, [b""])


@pytest.mark.usefixtures("transport")
def test_what_is_under_way_ends_when_the_process_does():
    """The listeners go without a word, as they do when a process is killed."""
    waiting, outcomes = Waiting(), Outcomes()
    side, far = FramesListener(UnixPlace()), FramesListener(TcpPlace("127.0.0.1"))
    greeting = hello(side_path=side.place.path, frames_port=far.place.port)
    for each in (side, far):
        each.start({WAIT: waiting.method, f"{INSPECTION}Hello": greeting})
    listener = GrpcListener("localhost:0")
    try:
        listener.start(
            {
                WAIT: waiting.method,
                f"{INSPECTION}Hello": greeting,
                f"{INSPECTION}Attach": Waiting().method,
            }
        )
        with linked(f"127.0.0.1:{listener.port}") as link:
            link.connect()
            link.begin(WAIT, [b""], outcomes)
            call = Call(link.call, WAIT, [b""])
            assert waiting.have_come(2)
            side.stop()
            far.stop()
            listener.stop()
            for error in (outcomes.wait()[0], caught(call)):
                assert type(error) is UNAVAILABLE
                assert str(listener.port) in error.message
            until(lambda: not link.is_connected)
    finally:
        side.stop()
        far.stop()
        listener.stop()


def caught(call):
    with pytest.raises(tf.errors.OpError) as raised:
        call.result()
    return raised.value


def test_a_server_that_stops_slowly_lets_calls_end():
    """The link learns that the server leaves; what it does there goes on."""
    graph_queue = tf.FIFOQueue(1, tf.float32, shapes=[[]], name="q")
    take, put = graph_queue.dequeue(), graph_queue.enqueue(3.0)
    with serve() as server, tf.Session(server.target) as session:
        call = Call(session.run, take)
        until(lambda: queues_of(server))
        stop = Call(server.stop, 20.0)
        with linked(server.address) as link:
            until(lambda: checked(link) == pb.HealthCheckResponse.NOT_SERVING)
            with pytest.raises(UNAVAILABLE, match="stops"):
                session.run(put)
            [queue] = queues_of(server)
            queue.put_one([np.float32(3.0)]).start(lambda outcome: None)
        assert call.result() == 3.0
        stop.result()


def queues_of(server):
    """Return the queues that the server's task has."""
    return [row[-1] for row in server.task.worker.resources.rows() if row[1] == "queue"]


def checked(link):
    """Return the answer of the server's health check."""
    return pb.HealthCheckResponse.FromString(bytes(link.call(CHECK, [b""]))).status


# calls that begin before there is a transport


def test_a_call_may_begin_before_there_is_a_way():
    with serve() as server, linked(server.address) as link:
        outcomes = Outcomes()
        for _ in range(20):
            link.begin(STATUS, [b""], outcomes)
        assert all(isinstance(each, bytes) for each in outcomes.wait(20))


def test_calls_that_begin_before_nobody_is_found_fail():
    with linked(free_address()) as link:
        outcomes = Outcomes()
        for _ in range(3):
            link.begin(STATUS, [b""], outcomes)
        assert all(isinstance(each, UNAVAILABLE) for each in outcomes.wait(3))


def test_a_late_call_that_is_cancelled_first_ends_once():
    greeted, go = threading.Event(), threading.Event()

    def slow(request, call):
        greeted.set()
        assert go.wait(20)
        call.respond([pb.HelloResponse(host="another").SerializeToString()])

    waiting, outcomes = Waiting(), Outcomes()
    methods = {"Hello": Method(slow, may_block=True), "Wait": waiting.method,
               "Attach": Waiting().method}  # fmt: skip
    with peer(**methods) as address, linked(address) as link:
        cancel = link.begin(f"{INSPECTION}Wait", [b""], outcomes)
        assert greeted.wait(20)
        cancel()
        cancel()
        go.set()
        assert [type(each) for each in outcomes.wait()] == [CANCELLED]
        link.call(ECHO, [b""])
        assert len(outcomes.told) == 1


# calls that wait for a server


def test_who_waits_is_not_harmed_by_another_one_who_tries():
    """As when a session begins while a step that has failed asks a task that starts again."""
    address, outcomes = free_address(), Outcomes()
    with linked(address) as link:
        link.begin_unary(STATUS, [b""], outcomes, 20.0)
        with pytest.raises(UNAVAILABLE):
            link.connect()
        with serve(address):
            assert [type(each) for each in outcomes.wait()] == [bytes]


def test_who_waits_is_answered_by_the_next_server_if_one_is_lost():
    """The call has come to two that go without an answer."""
    address, outcomes, waiting = free_address(), Outcomes(), Waiting()
    with linked(address) as link:
        link.begin_unary(STATUS, [b""], outcomes, 20.0)
        for count in (1, 2):
            listener = GrpcListener(address)
            listener.start({STATUS: waiting.method})
            assert waiting.have_come(count)
            listener.stop()
        with serve(address):
            assert [type(each) for each in outcomes.wait()] == [bytes]


def test_a_patient_call_that_is_cancelled_or_late_ends_once():
    cancelled, late = Outcomes(), Outcomes()
    with linked(free_address()) as link:
        link.begin_unary(STATUS, [b""], late, 0.1)
        assert [type(each) for each in late.wait()] == [UNAVAILABLE]
        cancel = link.begin_unary(STATUS, [b""], cancelled, 20.0)
        cancel()
        cancel()
        assert [type(each) for each in cancelled.wait()] == [CANCELLED]


# hygiene


def descriptors():
    return len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0


def test_links_leave_nothing_behind():
    def turn():
        with serve() as server:
            for _ in range(5):
                with linked(server.address) as link:
                    link.call(STATUS, [b""])
                    link.begin(STATUS, [b""], outcomes := Outcomes())
                    outcomes.wait()

    turn()
    before, threads = descriptors(), threading.active_count()
    for _ in range(5):
        turn()
    until(lambda: descriptors() <= before and threading.active_count() <= threads)
    assert LOOP._loop is None, "somebody holds the loop"


def test_many_threads_connect_one_link():
    start = threading.Barrier(12)

    def connect():
        start.wait(20)
        return link.connect()

    with serve() as server, linked(server.address) as link:
        ways = [each.result() for each in [Call(connect) for _ in range(12)]]
        assert len(set(map(id, ways))) == 1
