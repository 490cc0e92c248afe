"""Ports that are kept for servers of other processes."""

import errno
import socket
import sys

import pytest

from tfdist.errors import AlreadyExistsError
from tfdist.launch.ports import KeptPorts


def test_a_kept_port_is_nobody_elses():
    ports = KeptPorts(2)
    assert len(set(ports.numbers)) == 2
    with socket.socket() as other, pytest.raises(OSError, match=str(errno.EADDRINUSE)):
        other.bind(("127.0.0.1", ports.numbers[0]))
    ports.close()
    with socket.socket() as other:
        other.bind(("127.0.0.1", ports.numbers[0]))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a kept port is let go before")
def test_a_server_listens_at_a_kept_port_again_and_again():
    ports = KeptPorts(1)
    ports.let_servers_bind()
    for _ in range(2):
        with socket.socket() as server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind(("127.0.0.1", ports.numbers[0]))
            server.listen()
            socket.create_connection(server.getsockname()).close()
    ports.close()


def test_a_taken_port_is_an_error_and_nothing_is_kept():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        taken = other.getsockname()[1]
        with pytest.raises(AlreadyExistsError, match=rf"port {taken} is taken \(Address already"):
            KeptPorts(1, taken)
    KeptPorts(1, taken).close()
