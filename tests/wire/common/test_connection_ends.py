"""Ends of connections: as Linux's tables have them, and as gRPC writes them."""

import socket
import sys

import pytest

from tfdist.wire.common.connection_ends import (
    connected_to,
    end_of,
    ends_in_table,
    owner_in_table,
    peer_endpoint,
)
from tfdist.wire.common.security import HostPort

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


PEERS = [
    ("ipv4:127.0.0.1:40000", HostPort("127.0.0.1", 40000)),
    ("ipv6:%5B::ffff:127.0.0.1%5D:40000", HostPort("127.0.0.1", 40000)),
    ("ipv6:[::ffff:7f00:1]:40000", HostPort("127.0.0.1", 40000)),
    ("ipv6:%5B::1%5D:40000", None),
    ("unix:/tmp/socket", None),
    ("ipv4:127.0.0.1", None),
    ("", None),
]


@pytest.mark.parametrize(("peer", "expected"), PEERS)
def test_how_grpc_writes_peers(peer, expected):
    assert peer_endpoint(peer) == expected


CLIENT, SERVER = HostPort("127.0.0.1", 0x8130), HostPort("127.0.0.1", 0xBC0B)
ENDS = "0100007F:8130 0100007F:BC0B"
MAPPED = "0000000000000000FFFF00000100007F:8130 0000000000000000FFFF00000100007F:BC0B"
HEADER = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid ...\n"


def owned(ends, state="01", user=1000, inode=678071):
    middle = "00000000:00000000 00:00000000 00000000"
    return f"  64: {ends} {state} {middle} {user:5} 0 {inode} 2 00000000a99a2209 20 0 0 10 -1\n"


OWNERS = [
    pytest.param(owned(ENDS), 1000, id="a connection"),
    pytest.param(owned(MAPPED), 1000, id="one of IPv6 with IPv4's address"),
    pytest.param(owned("0100007F:BC0B 0100007F:8130", user=0), None, id="the server's own end"),
    pytest.param(owned(ENDS.replace("BC0B", "BC0C")), None, id="the same port, to another server"),
    pytest.param(owned("0200007F:8130 0100007F:BC0B"), None, id="another address"),
    pytest.param(owned(ENDS, "04", user=0, inode=0), None, id="closed by its owner: seems root's"),
    pytest.param(owned(ENDS, "06", user=0, inode=0), None, id="over: seems root's"),
    pytest.param(owned(ENDS, user=0, inode=0), None, id="without an owner: seems root's"),
    pytest.param(
        owned("0100007F:8131 0100007F:BC0B", user=0) + owned(ENDS), 1000, id="another first"
    ),
    pytest.param("", None, id="nothing"),
]  # fmt: skip


@little_endian
@pytest.mark.parametrize(("rows", "owner"), OWNERS)
def test_the_owner_of_a_connection_in_the_table(rows, owner):
    assert owner_in_table(HEADER + rows, CLIENT, SERVER) == owner
