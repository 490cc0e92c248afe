"""The proxy: what it carries, swallows and cuts."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from tests.faults.calls import until
from tests.faults.proxy import Proxy


@pytest.fixture
def ends() -> Iterator[tuple[Proxy, socket.socket, socket.socket]]:
    """Give a proxy, and the client's and the server's socket at its two ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = Proxy(f"127.0.0.1:{listener.getsockname()[1]}")
        host, _, port = proxy.address.rpartition(":")
        with socket.create_connection((host, int(port))) as client, listener.accept()[0] as server:
            for each in (client, server):
                each.settimeout(10)
            yield proxy, client, server
        proxy.close()


def test_it_carries_both_ways(ends):
    proxy, client, server = ends
    client.sendall(b"question")
    assert server.recv(100) == b"question"
    server.sendall(b"answer")
    assert client.recv(100) == b"answer"
    until(lambda: proxy.carried("to client") == 6, "the answer is counted")


def test_it_swallows_one_way_until_it_heals(ends):
    proxy, client, server = ends
    proxy.swallow("to server")
    client.sendall(b"lost?")
    server.sendall(b"answer")
    assert client.recv(100) == b"answer"
    assert proxy.carried("to server") == 0
    proxy.heal()
    assert server.recv(100) == b"lost?"


def test_it_resets_a_connection_after_so_many_bytes(ends):
    proxy, client, server = ends
    done = proxy.cut("to client", 3, "reset")
    server.sendall(b"answer")
    assert done.wait(10)
    with pytest.raises(ConnectionResetError):
        client.sendall(client.recv(100) + client.recv(100))


def test_a_half_close_leaves_the_other_way_open(ends):
    proxy, client, server = ends
    proxy.cut("to client", 3, "half close")
    server.sendall(b"answer")
    assert client.recv(100) == b"ans"
    assert client.recv(100) == b""
    client.sendall(b"still here")
    assert server.recv(100) == b"still here"


def test_the_end_of_a_connection_comes_through(ends):
    _, client, server = ends
    client.close()
    assert server.recv(100) == b""
