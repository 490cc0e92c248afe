"""Ends of connections: as the kernel's tables have them, and as gRPC writes them."""

from __future__ import annotations

import ipaddress
import re
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from tfdist.wire.common.security import HostPort

_TABLES = Path("/proc/net/tcp"), Path("/proc/net/tcp6")
ESTABLISHED = "01"  # states, as the tables write them
_HELD_HERE = f"{ESTABLISHED}|08"  # established, and ended by the other side only


def tables() -> Iterator[str]:
    """Yield the texts of the kernel's tables of TCP connections; none where there are none."""
    for path in _TABLES:
        try:
            yield path.read_text()
        except OSError:
            continue


def connected_to(port: int) -> set[HostPort]:
    """Return the other ends of all connections to a port of this host; none where none can say."""
    return {end for table in tables() for end in ends_in_table(table, port)}


def ends_in_table(table: str, port: int, states: str = _HELD_HERE) -> set[HostPort]:
    """Return the other ends of the connections to a port.

    Args:
      table: a text like that of /proc/net/tcp.
      port: of this host.
      states: those that count, as alternatives of a regular expression.
    """
    row = rf"^ *\d+: \w+:{port:04X} (\w+):(\w+) (?:{states}) "
    return {_end(*found) for found in re.findall(row, table, re.MULTILINE)}


def _end(address: str, port: str) -> HostPort:
    """Return an end that the table writes: words in the machine's byte order."""
    words = [int(address[at : at + 8], 16) for at in range(0, len(address), 8)]
    return _plain(ipaddress.ip_address(struct.pack(f"={len(words)}I", *words)), int(port, 16))


def _plain(address: ipaddress.IPv4Address | ipaddress.IPv6Address, port: int) -> HostPort:
    return HostPort(str(getattr(address, "ipv4_mapped", None) or address), port)


def owner_in_table(table: str, client: HostPort, server: HostPort) -> int | None:
    """Return the user who owns the client's end of a connection in a text like /proc/net/tcp.

    Returns:
      None if there is none that is established and has an owner.
    """
    mapped = "(?:0{16}FFFF0000)?"  # the same address as one of IPv6
    ends = f"{mapped}{_hex(client)} {mapped}{_hex(server)}"
    row = re.search(rf"^ *\d+: {ends} (.*)$", table, re.MULTILINE)
    columns = row[1].split() if row else []
    # state, queues, timer, retransmissions, user, timeout, inode, ...
    if len(columns) < 7 or columns[0] != ESTABLISHED or columns[6] == "0":
        return None
    return int(columns[4])


def _hex(endpoint: HostPort) -> str:
    """Return an end as the table writes it: the address in the machine's byte order."""
    (number,) = struct.unpack("=I", socket.inet_aton(endpoint.host))
    return f"{number:08X}:{endpoint.port:04X}"


_PEER = re.compile(r"ipv4:([\d.]+):(\d+)|ipv6:\[([\da-fA-F:.]+)(?:%[^\]]+)?\]:(\d+)")


def end_of(peer: str) -> HostPort | None:
    """Return the end that gRPC describes, None if it is none of a host.

    Example:
      >>> end_of("ipv4:10.0.0.7:40000"), end_of("ipv6:%5B::ffff:10.0.0.7%5D:40000").host
      (HostPort(host='10.0.0.7', port=40000), '10.0.0.7')
    """
    found = _PEER.fullmatch(unquote(peer))
    if found is None:
        return None
    if found[1]:
        return HostPort(found[1], int(found[2]))
    return _plain(ipaddress.IPv6Address(found[3]), int(found[4]))


def peer_endpoint(peer: str) -> HostPort | None:
    """Return the IPv4 end that gRPC describes, or None if `peer` is something else.

    Example:
      >>> peer_endpoint("ipv6:%5B::ffff:127.0.0.1%5D:40000")
      HostPort(host='127.0.0.1', port=40000)
    """
    end = end_of(peer)
    return None if end is None or ":" in end.host else end
