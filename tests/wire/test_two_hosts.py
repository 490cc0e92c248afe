"""Tasks on two hosts: what goes between them by frames, and what happens when nothing does."""

import json
import os
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager

import pytest

from tests.hosts import ADDRESSES, Hosts, missing, serving
from tests.wire.transports import PATIENCE
from tests.wire.two_hosts_client import SIZE
from tfdist.launch.authority import Authority, write_identity

pytestmark = pytest.mark.skipif(bool(missing()), reason=f"no hosts can be made: {missing()}")

PS, WORKER = f"{ADDRESSES[0]}:2301", f"{ADDRESSES[1]}:2302"
CLUSTER = json.dumps({"ps": [PS], "worker": [WORKER]})


@pytest.fixture(scope="module", params=["plain", "tls"])
def environment(request, tmp_path_factory):
    """Return the variables of all processes."""
    keys = tmp_path_factory.mktemp("keys") / "identity"
    write_identity(keys, Authority("hosts").identity(ADDRESSES))
    return {
        **os.environ,
        "TFDIST_REMOTE": request.param,
        "TFDIST_TLS": str(keys),
        "TFDIST_TIMEOUTS": "alive=0.5,silence=0.5",
    }


class Client:
    """The client; it runs on the first host."""

    def __init__(self, process):
        self._process = process

    def __call__(self, word):
        """Return what it says to a word."""
        self.tell(word)
        return self.said()

    def tell(self, word):
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()

    def said(self):
        watchdog = threading.Timer(PATIENCE, self._process.kill)
        watchdog.start()
        line = self._process.stdout.readline()
        watchdog.cancel()
        assert line, "the client ended"
        return json.loads(line)


@pytest.fixture(scope="module")
def hosts():
    with Hosts() as hosts:
        yield hosts


@pytest.fixture(scope="module")
def cluster(hosts, environment):
    """Give two servers, one on each host, and a client; and what they have written."""
    with ExitStack() as stack:
        for host, job in enumerate(("ps", "worker")):
            words = hosts.command(host, *serving(CLUSTER, job, 0))
            server = stack.enter_context(started(words, environment))
            assert server.stdout.readline()
        words = [sys.executable, "-m", "tests.wire.two_hosts_client", PS, WORKER]
        yield Client(stack.enter_context(started(hosts.command(0, *words), environment)))


@contextmanager
def started(words, environment):
    """Give a process, ended at the end."""
    pipe = subprocess.PIPE
    with subprocess.Popen(words, env=environment, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()


def test_tasks_of_two_hosts_call_each_other_by_frames(cluster):
    assert cluster("step") == 2.0 * SIZE
    assert cluster("fetch") == 2.0 * SIZE
    assert cluster("way") == "FramesCaller"
    assert cluster("crossed") == [4 * SIZE]


def test_a_host_that_is_cut_off_is_given_up_and_found_again(hosts, cluster):
    assert cluster("step") == 2.0 * SIZE
    cluster.tell("wait")
    hosts.cut()
    try:
        assert cluster.said().startswith("UnavailableError")
    finally:
        hosts.heal()
    for _ in range(20):
        cluster("open")
        said = cluster("step")
        if not isinstance(said, str):
            break
    assert said == 2.0 * SIZE
    assert cluster("way") == "FramesCaller"
