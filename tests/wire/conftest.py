"""What many tests here have in common: a graph of their own, servers, and ways to ask them."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

import tfdist as tf
from tests.wire.calls_at import WAYS, Asker, calls_at
from tests.wire.elsewhere import be_elsewhere
from tfdist.wire.server import Server, start_servers


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    """Make a new graph the default graph, and give it."""
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture(params=["grpc", "local path", "frames by TCP"])
def transport(request, monkeypatch) -> str:
    """Let tasks and sessions call each other in one way, then in the others."""
    monkeypatch.setenv("TFDIST_TRANSPORT", "grpc" if request.param == "grpc" else "auto")
    if request.param == "frames by TCP":
        be_elsewhere(monkeypatch)
    return request.param


@pytest.fixture(params=WAYS)
def way(request) -> str:
    """Return a way in which messages are sent by hand."""
    return request.param


@pytest.fixture
def server() -> Iterator[Server]:
    """Give the only task of a cluster; whoever calls it does so as from another process."""
    with Server({"a": ["localhost:0"]}, inproc=False) as server:
        yield server


@pytest.fixture
def asker(server, way) -> Iterator[Asker]:
    """Give what asks `server`."""
    with calls_at(server.address, way) as asker:
        yield asker


@pytest.fixture
def session(server) -> Iterator[tf.Session]:
    """Give a session at `server`."""
    with closing(tf.Session(server.target)) as session:
        yield session


@pytest.fixture
def two() -> Iterator[list[Server]]:
    """Give a parameter server and a worker."""
    with running(ps=1, worker=1) as servers:
        yield servers


@pytest.fixture
def tasks() -> Iterator[list[Server]]:
    """Give a parameter server and two workers."""
    with running(ps=1, worker=2) as servers:
        yield servers


@contextmanager
def running(**jobs: int) -> Iterator[list[Server]]:
    """Give the servers of a cluster, which call each other as if each had a process of its own."""
    servers = start_servers(jobs, inproc=False)
    yield servers
    for each in servers:
        each.stop()
