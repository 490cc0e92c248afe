"""A server gives back what clients had that are gone, and nothing of those that are not."""

import json
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

import tfdist as tf
from tests.faults import probes
from tests.faults.processes import Process, free_addresses
from tests.launch.waiting import wait_until
from tfdist.protos import pb
from tfdist.wire.services.session_reaper import connected_peers

CLIENT = Path(__file__).with_name("sessions_client.py")
SERVE = [sys.executable, "-W", "error", "-m", "tfdist", "serve", "--parent"]
SESSIONS = 20


class Bench:
    """Processes, ended with the test.

    Args:
      stack: ends them.
      folder: for their logs.
      timeouts: `TFDIST_TIMEOUTS` of the servers.
    """

    def __init__(self, stack: ExitStack, folder: Path, timeouts: str) -> None:
        self._stack, self._folder, self._timeouts = stack, folder, timeouts

    def server(self, cluster: dict[str, list[str]], job: str) -> Process:
        """Return the server of the first task of a job, when it serves."""
        words = [*SERVE, "--cluster", json.dumps(cluster), "--job", job, "--task", "0"]
        server = self._begin(words, {"TFDIST_TIMEOUTS": self._timeouts})
        assert "serves at" in server.line()
        return server

    def client(self, address: str, sessions: int) -> Process:
        """Return a client that has opened sessions."""
        client = self._begin([sys.executable, str(CLIENT), f"grpc://{address}", str(sessions)], {})
        assert client.line() == "ready"
        return client

    def _begin(self, words: list[str], variables: dict[str, str]) -> Process:
        process = Process(words, self._folder / "log", variables)
        self._stack.callback(process.end)
        return process


@pytest.fixture(params=["auto", "grpc"])
def transport(request, monkeypatch):
    monkeypatch.setenv("TFDIST_TRANSPORT", request.param)


@pytest.fixture
def bench(tmp_path, transport):
    with ExitStack() as stack:
        yield Bench(stack, tmp_path, "gone=0.4,alive=0.2,silence=0.2")


@pytest.fixture
def patient(tmp_path, transport):
    with ExitStack() as stack:
        yield Bench(stack, tmp_path, "gone=60,alive=0.2,silence=0.2")


def told(address: str):
    """Return what a task tells of itself."""
    census = "/tfdist.Inspection/Census"
    return probes.ask(address, census, pb.CensusRequest(), pb.CensusResponse).tasks[0]


def connections(address: str) -> set[str]:
    """Return the connections to a server: the other ends of gRPC's, and its frames' sockets."""
    sockets = Path("/proc/net/unix").read_text(errors="replace").splitlines()
    named = {line for line in sockets if f"@tfdist {address} " in line and line.split()[5] == "03"}
    return named | (connected_peers(int(address.rpartition(":")[2])) or set())


def test_a_killed_client_leaves_nothing_but_its_variables(bench):
    [address] = free_addresses(1)
    server = bench.server({"ps": [address]}, "ps")
    before, threads = told(address), probes.threads(server.pid)
    client = bench.client(address, SESSIONS)
    assert told(address).sessions == SESSIONS
    assert probes.memory(server.pid) > before.process_bytes + SESSIONS * 10**6
    client.kill()
    wait_until(lambda: told(address).sessions == 0)
    wait_until(lambda: probes.threads(server.pid) <= threads + 1)  # and one of the probe's
    wait_until(lambda: probes.memory(server.pid) < before.process_bytes + 10 * 10**6)
    with tf.Graph().as_default(), tf.Session(f"grpc://{address}") as session:
        assert session.run(tf.Variable(0.0, name="total")) == 1 + SESSIONS


def test_a_frozen_client_goes_on(patient):
    [address] = free_addresses(1)
    patient.server({"ps": [address]}, "ps")
    client = patient.client(address, 1)
    connected = connections(address)
    assert connected
    client.freeze()
    wait_until(lambda: not connected & connections(address))
    client.thaw()
    client.tell("one more")
    assert client.line() == "3.0"


@pytest.mark.parametrize("transport", ["auto"], indirect=True)
def test_a_worker_gives_back_what_a_dead_master_had(bench):
    ps, chief = free_addresses(2)
    cluster = {"ps": [ps], "chief": [chief]}
    bench.server(cluster, "ps")
    master = bench.server(cluster, "chief")
    bench.client(chief, 3)
    assert told(ps).sessions == 3
    master.kill()
    wait_until(lambda: told(ps).sessions == 0)


@pytest.fixture
def impatient_server(monkeypatch):
    monkeypatch.setenv("TFDIST_TIMEOUTS", "unused=1")
    with tf.train.Server({"local": ["localhost:0"]}, inproc=False) as server:
        yield server


def test_a_session_that_was_closed_says_why_and_monitored_ones_recover(impatient_server):
    master = impatient_server.task.master
    v = tf.Variable(1.0)
    chief = tf.train.ChiefSessionCreator(master=impatient_server.target)
    with tf.train.MonitoredSession(chief) as session, tf.Session(impatient_server.target) as plain:
        assert session.run(v) == plain.run(v) == 1
        wait_until(lambda: not master._state.sessions)
        assert session.run(v) == 1
        with pytest.raises(
            tf.errors.AbortedError,
            match=r"Session \w+ is not found: nobody has used it for \d+ s, .*; open a new one",
        ):
            plain.run(v)
