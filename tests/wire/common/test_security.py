"""Who may reach a server: where it binds, and whose connections it takes."""

import os
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest

import tfdist as tf
from tests.ports import free_ports
from tests.runtime.blocking import until
from tfdist import errors
from tfdist.wire.common import connection_ends, same_user, security
from tfdist.wire.common.calls import Method
from tfdist.wire.common.same_user import Kernel, SameUser, Table
from tfdist.wire.common.security import HostPort, Peer, bind_address, trusted_peer
from tfdist.wire.grpc.client import GrpcCaller
from tfdist.wire.grpc.server import GrpcListener

ECHO = "/test.Test/Echo"
METHODS = {ECHO: Method(lambda request, call: call.respond([request]))}
NOBODY, ANOTHER = 65534, 65533  # users that own nothing here

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux's tables")
as_root = pytest.mark.skipif(
    os.geteuid() != 0,
    reason="only root can become another user: here the tables are read, no stranger calls",
)


@pytest.fixture
def outer_address():
    """Return the address of an interface that other machines may reach, with a free port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent
        except OSError:
            pytest.skip("this machine has the loopback interface only")
        return f"{probe.getsockname()[0]}:0"


@pytest.mark.parametrize("address", ["localhost:0", "127.0.0.1:0", ":0", "0", "[::1]:0"])
def test_loopback_names_are_one_address(address):
    assert bind_address(address) == HostPort("127.0.0.1", 0)


@on_linux
def test_another_loopback_address_is_kept():
    assert bind_address("127.0.0.2:0") == HostPort("127.0.0.2", 0)


@pytest.mark.parametrize("address", ["localhost", "localhost:", "localhost:-1", "localhost:65536"])
def test_an_address_has_a_port(address):
    with pytest.raises(errors.InvalidArgumentError, match=f"HOST:PORT, not '{address}'"):
        bind_address(address)


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0"])
def test_all_interfaces_are_this_machine_s_own_and_that_is_said(address, monkeypatch, capsys):
    monkeypatch.delenv("TFDIST_REMOTE", raising=False)
    assert bind_address(address) == HostPort("127.0.0.1", 0)
    [line] = capsys.readouterr().err.splitlines()
    ways = "TFDIST_REMOTE=tls and TFDIST_TLS", "TFDIST_REMOTE=plain"
    for part in (address, "this machine only", "others do not reach it", *ways):
        assert part in line


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0"])
def test_what_allows_other_machines_must_make_sense(address, monkeypatch):
    monkeypatch.setenv("TFDIST_REMOTE", "ssl")
    with pytest.raises(ValueError, match="TFDIST_REMOTE='ssl': wanted off, plain or tls"):
        bind_address(address)


@on_linux
def test_other_machines_are_let_in_on_request_only(outer_address, monkeypatch):
    monkeypatch.delenv("TFDIST_REMOTE", raising=False)
    with pytest.raises(errors.PermissionDeniedError) as caught:
        bind_address(outer_address)
    ways = "TFDIST_REMOTE=tls TFDIST_TLS=FOLDER", "TFDIST_REMOTE=plain", "localhost"
    for part in (outer_address, *ways, "tfdist certificates", "may run graphs"):
        assert part in caught.value.message


@pytest.mark.parametrize("address", ["0.0.0.0", "[::]"])
@pytest.mark.parametrize("inproc", [True, False])
def test_who_dials_all_interfaces_reaches_this_machine(address, inproc, monkeypatch):
    monkeypatch.delenv("TFDIST_REMOTE", raising=False)
    with tf.Graph().as_default(), tf.device("/job:worker/task:1"):
        there = tf.constant(7)
    port, other = free_ports(2)
    spec = {"worker": [f"{address}:{port}", f"{address}:{other}"]}
    with (
        tf.train.Server(spec, "worker", 0, inproc=inproc) as server,
        tf.train.Server(spec, "worker", 1, inproc=inproc),
    ):
        targets = [server.target, f"grpc://{address}:{port}", f"grpc://localhost:{port}"]
        for target in targets:
            with tf.Session(target, graph=there.graph) as session:
                assert session.run(there) == 7


@pytest.mark.parametrize("allowed", ["off", "plain"])  # nobody is asked to allow what cannot be
@pytest.mark.parametrize("address", ["192.0.2.1:0", "host.invalid:0"])
def test_an_address_is_one_of_this_machine(address, allowed, monkeypatch):
    monkeypatch.setenv("TFDIST_REMOTE", allowed)
    with pytest.raises(errors.InvalidArgumentError, match=f"{address} is not .* this machine"):
        bind_address(address)


def test_an_open_server_says_so_once_and_takes_calls(monkeypatch, capfd):
    monkeypatch.setenv("TFDIST_REMOTE", "plain")
    listener = GrpcListener("0.0.0.0:0")
    caller = GrpcCaller(f"localhost:{listener.port}")
    try:
        listener.start(METHODS)
        assert caller.call(ECHO, [b"x"]) == caller.call(ECHO, [b"x"]) == b"x"
    finally:
        caller.close()
        listener.stop()
    [line] = capfd.readouterr().err.splitlines()
    assert f"0.0.0.0:{listener.port} is open" in line


def test_a_port_of_another_program_is_taken():
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        for _ in range(2):
            with pytest.raises(errors.AlreadyExistsError, match=r"port \d+ is taken \(.*in use\)"):
                bind_address(f"localhost:{holder.getsockname()[1]}")
            holder.listen()


def test_a_port_that_only_gets_taken_now_is_taken(monkeypatch, capfd):
    monkeypatch.setattr(security, "_probe", lambda *_: None)  # as if it had been free
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        with pytest.raises(errors.AlreadyExistsError, match=r"which stop\(\) ends"):
            GrpcListener(f"localhost:{holder.getsockname()[1]}")
    assert capfd.readouterr().err == "", "gRPC says nothing of its own"


SERVER = HostPort("127.0.0.1", 0xBC0B)


@on_linux
@pytest.mark.parametrize("source", [Kernel, Table])
@pytest.mark.parametrize(("family", "host"), [("AF_INET", "{}"), ("AF_INET6", "::ffff:{}")])
def test_whose_a_connection_is(source, family, host):
    def owner(client, server):
        found = source()
        try:
            return found.owner(client, server)
        finally:
            getattr(found, "close", int)()

    with socket.create_server(("127.0.0.1", 0)) as server:
        there = HostPort(*server.getsockname())
        client = socket.socket(getattr(socket, family))
        client.connect((host.format("127.0.0.1"), there.port))
        here = HostPort("127.0.0.1", client.getsockname()[1])
        connection, _ = server.accept()
        with connection:
            assert owner(here, there) == os.geteuid()
            assert owner(here, HostPort("127.0.0.1", 1)) is None
            client.close()
            until(lambda: owner(here, there) is None)


@on_linux
def test_where_connections_cannot_be_asked_for_the_table_is_read(monkeypatch):
    def refused(*_):
        raise PermissionError

    monkeypatch.setattr(Kernel, "_ask", refused)
    listener = GrpcListener("localhost:0")
    caller = GrpcCaller(f"localhost:{listener.port}")
    try:
        listener.start(METHODS)
        assert caller.call(ECHO, [b"x"]) == b"x"
    finally:
        caller.close()
        listener.stop()


def test_where_nobody_can_tell_all_of_this_host_are_let_in(monkeypatch, capsys):
    monkeypatch.setattr(Kernel, "owner", lambda *_: None)
    monkeypatch.setattr(connection_ends, "_TABLES", ())
    monkeypatch.setattr(sys, "platform", "darwin")
    same_user._warn_unknowable.cache_clear()
    for _ in range(2):
        assert SameUser(SERVER).refusal("ipv4:127.0.0.1:40000") is None
    assert capsys.readouterr().err.count("every user of this machine") == 1


@on_linux
def test_where_linux_cannot_tell_nobody_is_let_in(monkeypatch):
    monkeypatch.setattr(Kernel, "owner", lambda *_: None)
    monkeypatch.setattr(connection_ends, "_TABLES", ())
    refusal = SameUser(SERVER).refusal("ipv4:127.0.0.1:40000")
    assert type(refusal) is errors.PermissionDeniedError


def test_the_other_end_of_a_unix_socket():
    here, there = socket.socketpair()
    with here, there:
        for is_caller in (True, False):
            assert trusted_peer(here, is_caller) == Peer(os.getpid(), os.geteuid())


@contextmanager
def acting_as(user):
    """Be another user for a moment."""
    own = os.geteuid()
    os.seteuid(user)
    try:
        yield
    finally:
        os.seteuid(own)


CALLS = [
    pytest.param(NOBODY, NOBODY, True, True, id="of the same user"),
    pytest.param(0, NOBODY, True, True, id="of root"),
    pytest.param(NOBODY, 0, True, False, id="at root's server"),
    pytest.param(NOBODY, ANOTHER, False, False, id="of another user"),
]


@as_root
@pytest.mark.parametrize(("caller", "server", "is_made", "is_taken"), CALLS)
def test_calls_that_are_made_and_taken_at_a_unix_socket(caller, server, is_made, is_taken):
    assert trusts(caller, server, is_caller=True) is is_made
    assert trusts(server, caller, is_caller=False) is is_taken


def trusts(own, other, is_caller):
    """Return whether the user `own` trusts a unix socket with `other` at its other end."""
    with acting_as(other):
        here, there = socket.socketpair()
    with here, there, acting_as(own):
        try:
            return trusted_peer(here, is_caller).user == other
        except errors.PermissionDeniedError:
            return False


def start(user, *words):
    """Return a process of another user."""
    program = [sys.executable, "-m", "tests.wire.common.as_other_user", user, *words]
    pipe = subprocess.PIPE
    return subprocess.Popen([str(word) for word in program], stdin=pipe, stdout=pipe, text=True)


@as_root
def test_calls_of_other_users_are_refused_before_anything_else():
    asked = []
    listener = GrpcListener("localhost:0")
    try:
        listener.start({ECHO: Method(lambda request, call: asked.append(request))})
        client = start(NOBODY, "call", listener.port, ECHO, "/test.Test/Nothing")
        lines = client.communicate()[0].splitlines()
    finally:
        listener.stop()
    assert len(lines) == 2
    for line in lines:  # also for a method that does not exist: nothing is told about methods
        assert line.startswith("PermissionDeniedError: ")
        assert f"belongs to user {NOBODY}" in line
    assert asked == []


@as_root
def test_root_may_call_servers_of_others_and_others_may_not():
    server = start(NOBODY, "serve")
    with server:
        port = server.stdout.readline().strip()
        caller = GrpcCaller(f"localhost:{port}")
        try:
            assert caller.call(ECHO, [b"root"]) == b"root"
        finally:
            caller.close()
        same = start(NOBODY, "call", port, ECHO).communicate()[0]
        other = start(ANOTHER, "call", port, ECHO).communicate()[0]
        server.stdin.close()
    assert same == "hello\n"
    assert f"belongs to user {ANOTHER}" in other
    assert server.returncode == 0
