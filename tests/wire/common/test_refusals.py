"""Whom a server with TLS refuses: who is connected, and what the log says."""

import socket
import sys

import pytest

from tfdist.wire.common import refusals
from tfdist.wire.common.refusals import Refusals, connected_to, end_of, ends_in_table
from tfdist.wire.common.security import HostPort

SERVER = HostPort("10.0.0.1", 2222)
ROW = "   1: {} {} {} 00000000:00000000 00:00000000 00000000  1000 0 678071 1 0 20 0 0 10 -1\n"
HERE, HERE_6 = "0100000A:08AE", "0000000000000000FFFF00000100000A:08AE"

little_endian = pytest.mark.skipif(sys.byteorder == "big", reason="as the table is written here")


@little_endian
@pytest.mark.parametrize(
    ("row", "expected"),
    [
        pytest.param((HERE, "0200000A:9C40", "01"), HostPort("10.0.0.2", 40000), id="connected"),
        pytest.param(
            (HERE_6, "0000000000000000FFFF00000200000A:9C40", "01"),
            HostPort("10.0.0.2", 40000), id="by IPv6, with IPv4's address",
        ),
        pytest.param(
            (HERE_6, "000000FD000000000000000002000000:9C40", "01"),
            HostPort("fd00::2", 40000), id="by IPv6",
        ),
        pytest.param(
            (HERE, "0200000A:9C40", "08"), HostPort("10.0.0.2", 40000), id="gone, and not noticed"
        ),
        pytest.param((HERE, "0200000A:9C40", "06"), None, id="over"),
        pytest.param(("0100000A:08AF", "0200000A:9C40", "01"), None, id="to another port"),
        pytest.param(("0200000A:9C40", HERE, "01"), None, id="from this port"),
    ],
)  # fmt: skip
def test_who_is_connected_by_the_table(row, expected):
    assert ends_in_table(f"  sl  local_address\n{ROW.format(*row)}", 2222) == (
        {expected} if expected else set()
    )


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's tables")
def test_who_is_connected_now():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert connected_to(port) == set()
        with socket.create_connection(("127.0.0.1", port)) as client:
            assert connected_to(port) == {HostPort(*client.getsockname())}


@pytest.mark.parametrize(
    ("peer", "expected"),
    [
        ("ipv4:10.0.0.2:40000", HostPort("10.0.0.2", 40000)),
        ("ipv6:%5B::ffff:10.0.0.2%5D:40000", HostPort("10.0.0.2", 40000)),
        ("ipv6:%5Bfe80::1%25eth0%5D:40000", HostPort("fe80::1", 40000)),
        ("unix:/tmp/socket", None),
        ("", None),
    ],
)
def test_how_grpc_writes_an_end(peer, expected):
    assert end_of(peer) == expected


def test_a_host_is_told_of_once_in_a_while_with_how_often_it_came(capsys, monkeypatch):
    told = Refusals(SERVER)
    for port in range(3):
        told.say(HostPort("10.0.0.2", port), "it shows no certificate")
    told.say(HostPort("10.0.0.3", 1))
    monkeypatch.setattr(refusals, "_QUIET", 0.0)
    told.say(HostPort("10.0.0.2", 9), "it shows no certificate")
    first, other, again = capsys.readouterr().err.splitlines()
    assert first == (
        "tfdist: 10.0.0.1:2222 refused a connection from 10.0.0.2:0 in its handshake: it shows no "
        "certificate"
    )
    assert "10.0.0.3:1 in its handshake: it speaks no TLS, shows no certificate" in other
    assert again.endswith("10.0.0.2:9 in its handshake: it shows no certificate; and 2 more from "
                          "there in between")  # fmt: skip


def test_not_all_hosts_are_remembered(monkeypatch):
    monkeypatch.setattr(refusals, "_HOSTS", 3)
    told = Refusals(SERVER)
    for number in range(9):
        told.say(HostPort(f"10.0.0.{number}", 1))
    assert len(told._told) == 3
