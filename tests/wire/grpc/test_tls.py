"""Servers on two hosts that show each other certificates, and whom they let in."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.faults.processes import Process
from tests.hosts import ADDRESSES, Hosts
from tests.needs import need
from tests.runtime.blocking import until
from tfdist.launch.authority import Authority, new_request, write_identity, write_private
from tfdist.wire.common.identity import Identity

MNIST = Authority("mnist")
PORT, MISNAMED, OPEN = 2222, 2223, 2224


class Cluster:
    """Two tasks on two hosts, with certificates, and a client on the second host.

    On the first host two more servers run: one shows a certificate of another host, one is open.
    """

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self._stack = folder, stack
        self._hosts = stack.enter_context(Hosts())
        here, there = ADDRESSES
        self.first, self.second = f"{here}:{PORT}", f"{there}:{PORT}"
        self.misnamed, self.open = f"{here}:{MISNAMED}", f"{here}:{OPEN}"
        self.write("first", MNIST.identity([here], "join"))
        self.write("second", MNIST.identity([there], "join"))
        self.write("misnamed", MNIST.identity(["10.77.0.99"], "join"))
        self.write("run", MNIST.identity())
        self.write("look", MNIST.identity(role="look"))
        (folder / "old").mkdir()
        self.write("alien", Authority("mnist").identity())
        key, request = new_request()
        write_private(folder / "old" / "key.pem", key)
        write_private(folder / "old" / "certificate.pem", MNIST.sign(request, [], days=-0.001))
        both = f"worker={self.first},{self.second}"
        self.server = self._serve(0, "first", both, 0)
        self.other = self._serve(1, "second", both, 1)
        others = (
            self._serve(0, "misnamed", f"worker={self.misnamed}"),
            self._serve(0, "", f"worker={self.open}"),
        )
        self._client = self._start(1, "", "tests.wire.grpc.tls_client")
        for server in (self.server, self.other, *others):
            is_ready(server)

    def write(self, name: str, identity: Identity) -> None:
        """Write an identity, in the place of one that may be there."""
        write_identity(self.folder / name, identity)

    def run(self, host: int, program: str) -> str:
        """Return what a program in Python prints on a host."""
        command = self._hosts.command(host, sys.executable, "-c", program)
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def ask(self, do: str, name: str, address: str) -> object:
        """Return what becomes of what the client does as whom."""
        folder = str(self.folder / name) if name else ""
        self._client.tell(json.dumps({"do": do, "folder": folder, "address": address}))
        return json.loads(self._client.line())

    def start_other_again(self) -> None:
        """Start the second host's task in the place of the one that runs."""
        self.other.end()
        self.other = self._serve(1, "second", f"worker={self.first},{self.second}", 1)
        is_ready(self.other)

    def _serve(self, host: int, name: str, spec: str, task: int = 0) -> Process:
        words = "--parent", str(os.getpid()), "--cluster", spec, "--task", str(task)
        return self._start(host, name, "tfdist", "serve", *words)

    def _start(self, host: int, name: str, *words: str) -> Process:
        process = Process(
            self._hosts.command(host, sys.executable, "-m", *words),
            self.folder / f"{name or 'none'}.log",
            variables(self.folder, name),
        )
        self._stack.callback(process.end)
        return process


def variables(folder: Path, name: str) -> dict[str, str]:
    """Return the environment of a process with this identity, or with none."""
    if not name:
        return {"TFDIST_REMOTE": "plain", "TFDIST_TLS": "", "TFDIST_TIMEOUTS": "session=1"}
    return {"TFDIST_REMOTE": "tls", "TFDIST_TLS": str(folder / name)}


def is_ready(server: Process) -> None:
    """Wait until a server serves."""
    assert "serves at" in server.line(), server.logged()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Cluster]:
    need({"ip": "iproute2", "nsenter": "util-linux", "unshare": "util-linux"}, root=True)
    with ExitStack() as stack:
        yield Cluster(tmp_path_factory.mktemp("tls"), stack)


def test_a_step_crosses_from_host_to_host(cluster):
    assert cluster.ask("total", "run", cluster.first) == 3.0
    assert cluster.ask("total", "run", cluster.second) == 3.0


def test_who_looks_may_look_and_not_run(cluster):
    assert "Nothing is in flight" in cluster.ask("why", "look", cluster.first)
    refused = cluster.ask("total", "look", cluster.first)
    assert re.match(
        r"PermissionDenied.* role look, .*/CreateSession; wanted is the role run", refused
    )


def test_a_task_may_open_sessions_at_itself_only(cluster):
    assert cluster.ask("total", "second", cluster.second) == 3.0
    assert "the role join" in cluster.ask("total", "second", cluster.first)


STRANGERS = [
    pytest.param("", "first", "it wants TLS: show it a certificate", id="no certificate"),
    pytest.param("alien", "first", "not valid: unable to get", id="another authority"),
    pytest.param("run", "misnamed", "not valid for '10.77.0.1'", id="another host's certificate"),
    pytest.param("run", "open", "it speaks no TLS: it is a server of", id="an open one"),
]


@pytest.mark.parametrize(("name", "server", "said"), STRANGERS)
def test_why_there_is_no_connection(cluster, name, server, said):
    found = cluster.ask("hello", name, getattr(cluster, server))
    assert found.startswith("UnavailableError: no server answers at 10.77.0.1")
    assert said in found


DIAGNOSES = [
    pytest.param("run", "first", [
        r"name: 10\.77\.0\.1 is a number",
        r"route: from 10\.77\.0\.2 to 10\.77\.0\.1",
        r"port: takes connections, within .* ms",
        r"certificate: this process shows one for no host; tfdist://mnist/run; from 20.* to 20.*",
        r"handshake: TLSv1\.3; both sides believe each other",
        r"certificate: the server shows one for 10\.77\.0\.1; tfdist://mnist/join; from .*",
        r"version: tfdist .* \(as here\); /job:worker/replica:0/task:0",
        r"clock: .* ms (ahead of|behind) this one, give or take .* ms",
    ], id="all is well"),
    pytest.param("run", "misnamed", [
        r"certificate: the server shows one for 10\.77\.0\.99; tfdist://mnist/join",
        r"handshake: its certificate is not valid: .* for '10\.77\.0\.1'.*",
    ], id="another host's certificate"),
    pytest.param("alien", "first", [
        r"certificate: the server shows one for 10\.77\.0\.1; tfdist://mnist/join",
        r"handshake: its certificate is not valid: unable to get local issuer.*",
    ], id="another authority"),
    pytest.param("", "first", [
        r"certificate: this process has none to show.*",
        r"handshake: it wants TLS; show it a certificate .*",
    ], id="no certificate"),
    pytest.param("", "open", [
        r"handshake: none: whoever is on the way can read and change what is sent",
        r"version: .*",
        r"clock: .*",
    ], id="an open server"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "server", "last"), DIAGNOSES)
def test_the_doctor_says_what_is_between_two_hosts(cluster, name, server, last):
    found = cluster.ask("doctor", name, getattr(cluster, server))[-len(last) :]
    assert all(re.fullmatch(*pair) for pair in zip(last, found, strict=True)), found


def test_the_log_says_from_where_strangers_come(cluster):
    cluster.ask("hello", "", cluster.first)
    line = rf"{cluster.first} refused a connection from {ADDRESSES[1]}:\d+ in its handsh"
    until(lambda: re.search(line, cluster.server.logged()))
    assert len(re.findall(line, cluster.server.logged())) == 1, "a host is told of once a minute"


# Who closes at once may be gone before it is looked who it was.
STRANGER = """
import contextlib, socket
with socket.create_connection({address}) as connection, contextlib.suppress(ConnectionError):
    connection.settimeout(10)
    connection.sendall(b"no TLS at all")
    connection.recv(1)
"""


def test_who_is_let_in_is_not_in_the_log(cluster):
    """Neither who calls nor who only looks at the way to the server."""
    server = ADDRESSES[1]
    assert cluster.ask("doctor", "run", cluster.second)[-1].startswith("clock")
    cluster.run(0, STRANGER.format(address=(server, PORT)))
    refused = rf"{cluster.second} refused a connection from (.*):"
    until(lambda: re.search(refused, cluster.other.logged()))
    assert re.findall(r"refused a connection from ([\d.]+)", cluster.other.logged()) == [
        ADDRESSES[0]
    ]


OBSTINATE = [
    pytest.param("run", True, id="with a certificate"),
    pytest.param("", False, id="with none"),
    pytest.param("alien", False, id="with one of another authority"),
    pytest.param("old", False, id="with one whose time is over"),
]


@pytest.mark.parametrize(("name", "is_let_in"), OBSTINATE)
def test_who_believes_everybody_is_not_believed(cluster, name, is_let_in):
    """The server alone keeps it out: it looks at no certificate itself."""
    shown = cluster.folder / name
    said = cluster.run(1, f"""
import ssl, socket
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
context.set_alpn_protocols(['h2'])
if {name!r}:
    context.load_cert_chain('{shown}/certificate.pem', '{shown}/key.pem')
connection = socket.create_connection(({ADDRESSES[0]!r}, {PORT}))
print(len(context.wrap_socket(connection).recv(100)))
""")  # fmt: skip
    assert (int(said) > 0) is is_let_in


def test_keys_are_exchanged_while_steps_run(cluster):
    """A new authority takes the place of the old one, and every task gets a new key."""
    count = cluster.ask("step", "run", cluster.first)
    new = Authority("mnist")
    both = MNIST.pem + new.pem
    for name, host in zip(("first", "second"), ADDRESSES, strict=True):
        identity = new.identity([host], "join")
        cluster.write(name, Identity(identity.key, identity.certificate, both))
    person = new.identity()
    cluster.write("new", Identity(person.key, person.certificate, both))
    assert cluster.ask("step", "run", cluster.first) == count + 1
    assert cluster.ask("total", "new", cluster.first) == 3.0
    for name, host in zip(("first", "second"), ADDRESSES, strict=True):
        cluster.write(name, new.identity([host], "join"))
    assert cluster.ask("step", "run", cluster.first) == count + 2
    cluster.start_other_again()  # so that its new connections show and believe the new ones only
    assert cluster.ask("total", "new", cluster.first) == 3.0
    old = MNIST.identity()  # believes the new authority, and is not believed
    cluster.write("former", Identity(old.key, old.certificate, both))
    assert "it refuses the certificate" in cluster.ask("hello", "former", cluster.first)
