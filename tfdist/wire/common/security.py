"""Access control: who may reach a server.

Whoever runs a graph on a server can do what its process may do, so a server takes calls of its
own user only. It listens on the loopback interface, and as that is shared by all users of a host,
it asks the kernel whose socket is at the other end of each call, before it looks at the call.
Root may connect as well: it could do anything anyway. TensorFlow's protocol has no place for a
password, so this serves TensorFlow's own clients too. Both ends of a local path ask the same.

A server that names another interface needs a certificate (`tls`), and takes callers with one of
the same authority; or `TFDIST_REMOTE=plain` opens it to everybody who reaches it. Without either it
is refused; one that names all interfaces ("0.0.0.0"), the loopback one among them, serves there and
says so.

Where the kernel cannot be asked (macOS), every process of the host may connect to a loopback
port; a line on stderr says so once.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import re
import socket
import struct
import sys
import time
import weakref
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from tfdist.base.settings import setting
from tfdist.errors import AlreadyExistsError, InvalidArgumentError, OpError, PermissionDeniedError
from tfdist.wire.common.tls import TLS, VARIABLE, own_identity

ROOT = 0
LOOPBACK = "127.0.0.1"
LOOPBACK_NAMES = {"", "localhost", "::1"}  # all served at LOOPBACK
WILDCARDS = {"0.0.0.0", "::"}  # all interfaces; who dials one reaches this host
_PLAIN = "TFDIST_REMOTE=plain"


class HostPort(NamedTuple):
    """One end of a connection: a numeric address and a port."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Return whether only this host reaches it."""
        return ipaddress.ip_address(self.host).is_loopback

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def bind_address(address: str) -> HostPort:
    """Return where a server with the address "HOST:PORT" binds: a port that is free now.

    An address of all interfaces is the loopback one, which is said on stderr, unless
    this process has a certificate to show, or `TFDIST_REMOTE` allows more.

    Raises:
      AlreadyExistsError: the port is taken.
      InvalidArgumentError: `address` has no port, or HOST is not an address of this machine.
      PermissionDeniedError: other machines could reach it, and this process has neither a
        certificate nor leave to do without; or the port is one for root only.
      ValueError: `TFDIST_REMOTE` says something that it may not be.
    """
    host, port = split_address(address)
    numeric = numeric_host(host)
    if numeric is None:
        raise InvalidArgumentError(_not_here(address, "no such host"))
    is_narrowed = numeric in WILDCARDS and not _is_allowed()
    endpoint = HostPort(LOOPBACK if is_narrowed else numeric, port)
    _probe(endpoint, address)  # permission is asked for only where it would help
    if is_narrowed:
        _tell_of_narrowing(address)
    elif not endpoint.is_loopback:
        _require_allowed(address)
    return endpoint


def split_address(address: str) -> tuple[str, int]:
    """Return host, without brackets, and port of "HOST:PORT"; InvalidArgumentError if it is none.

    Example:
      >>> split_address("[::1]:2222")
      ('::1', 2222)
    """
    host, _, port = address.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 65536):
        raise InvalidArgumentError(f"a server's address is HOST:PORT, not {address!r}")
    return host.removeprefix("[").removesuffix("]"), int(port)


def numeric_host(host: str) -> str | None:
    """Return the numeric address of `host`, IPv4 if it has one; None if there is no such host."""
    if host in LOOPBACK_NAMES:
        return LOOPBACK
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, ValueError):
        return None
    found.sort(key=lambda each: each[0] != socket.AF_INET)
    numeric = str(found[0][4][0])
    return LOOPBACK if numeric in LOOPBACK_NAMES else numeric


def warn_if_open(endpoint: HostPort) -> None:
    """Say on stderr that anyone may use the server at `endpoint`, if that is so."""
    if not endpoint.is_loopback:
        print(
            f"tfdist: WARNING: the server at {endpoint} is open ({_PLAIN}): whoever reaches this "
            "port may run graphs, with the rights of this process, and nothing is encrypted",
            file=sys.stderr,
        )


def _tell_of_narrowing(address: str) -> None:
    print(
        f"tfdist: a server at {address} serves this machine only (127.0.0.1), others do not reach "
        f"it. To let those with a certificate in, set {TLS} and {VARIABLE} before the program "
        f"starts; whoever reaches the port, unencrypted: {_PLAIN}",
        file=sys.stderr,
    )


def _is_allowed() -> bool:
    return setting("TFDIST_REMOTE") == "plain" or own_identity() is not None


def _require_allowed(address: str) -> None:
    if not _is_allowed():
        raise PermissionDeniedError(
            f"a server at {address} can be reached from other machines. Say before the program "
            "starts whom it lets in. Who shows a certificate, encrypted (`tfdist certificates` "
            "makes the folder):\n"
            f"    export {TLS} {VARIABLE}=FOLDER\n"
            "or, where only trusted machines reach it, whoever comes, who may run graphs with the "
            "rights of this process then:\n"
            f"    export {_PLAIN}\n"
            "or use localhost, for this machine only"
        )


def _probe(endpoint: HostPort, address: str) -> None:
    """Raise what keeps a server from `endpoint`; gRPC itself would not say."""
    family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # as gRPC does: connections of a server that was there before do not keep a port
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(endpoint)
        except OSError as error:
            raise _bind_error(error, endpoint.port, address) from None


def _bind_error(error: OSError, port: int, address: str) -> OpError:
    if error.errno == errno.EADDRINUSE:
        return port_taken(port)
    text = os.strerror(error.errno or errno.EINVAL)
    if error.errno == errno.EACCES:
        return PermissionDeniedError(
            f"port {port} cannot be bound ({text}): take one from 1024 on, or 0 for a free one"
        )
    return InvalidArgumentError(_not_here(address, text))


def port_taken(port: int) -> AlreadyExistsError:
    """Return the error for a port that somebody else has."""
    return AlreadyExistsError(
        f"port {port} is taken ({os.strerror(errno.EADDRINUSE)}): by another program, or by "
        "another server of this process, which stop() ends"
    )


def _not_here(address: str, text: str) -> str:
    return (
        f"{address} is not an address of this machine ({text}): a server runs on the machine that "
        "its address names; use localhost, or a name or number that this machine has"
    )


class SameUser:
    """Tells which clients of a loopback server belong to its user; for one thread.

    A look costs some 15 us where the kernel answers questions about one connection.

    Args:
      server: where the server listens.
    """

    def __init__(self, server: HostPort) -> None:
        self._server = server
        self._allowed = {os.geteuid(), ROOT}
        self._kernel, self._table = Kernel(), Table()

    def refusal(self, peer: str) -> PermissionDeniedError | None:
        """Return why `peer` may not call, or None if it may.

        Args:
          peer: as gRPC tells it, such as "ipv4:127.0.0.1:40000".
        """
        try:
            owner = self._owner(peer)
        except UnknowableError:
            _warn_unknowable()
            return None
        if owner in self._allowed:
            return None
        whose = "nobody any more" if owner is None else f"user {owner}"
        return PermissionDeniedError(
            f"the server at {self._server} takes calls of its own user, {os.geteuid()}, and of "
            f"root; this connection ({unquote(peer)}) belongs to {whose}. Run a server of your "
            f"own, or have this one bound to an open address with {_PLAIN}"
        )

    def close(self) -> None:
        """Let go of what the looks need."""
        self._kernel.close()

    def _owner(self, peer: str) -> int | None:
        client = peer_endpoint(peer)
        if client is None:
            return None
        owner = self._kernel.owner(client, self._server)
        return self._table.owner(client, self._server) if owner is None else owner


class UnknowableError(Exception):
    """This system does not tell who owns a connection."""


@cache
def _warn_unknowable() -> None:
    print(
        "tfdist: WARNING: this system does not tell whose connections reach a server: every user "
        "of this machine may run graphs on servers of this process",
        file=sys.stderr,
    )


_PEER = re.compile(r"ipv4:([\d.]+):(\d+)|ipv6:\[([\da-fA-F:.]+)(?:%\w+)?\]:(\d+)")


def peer_endpoint(peer: str) -> HostPort | None:
    """Return the IPv4 end that gRPC describes, or None if `peer` is something else.

    Example:
      >>> peer_endpoint("ipv6:%5B::ffff:127.0.0.1%5D:40000")
      HostPort(host='127.0.0.1', port=40000)
    """
    found = _PEER.fullmatch(unquote(peer))
    if found is None:
        return None
    if found[1]:
        return HostPort(found[1], int(found[2]))
    mapped = ipaddress.IPv6Address(found[3]).ipv4_mapped
    return HostPort(str(mapped), int(found[4])) if mapped else None


# Linux, <linux/netlink.h>, <linux/sock_diag.h> and <linux/inet_diag.h>: a question about one
# connection, and where the answer has what we need.
_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST = 20, 1
_HEADER = struct.Struct("=IHHII")  # length, type, flags, number of the question, sender
_QUESTION = struct.Struct("=BBBBI")  # family, protocol, extensions, padding, states
_CONNECTION = struct.Struct("!HH16s16s12s")  # ports, addresses; interface and cookie
_STATE = struct.Struct("=BB")  # family, state
_OWNER = struct.Struct("=II")  # user, inode
_OWNER_AT = _HEADER.size + 4 + _CONNECTION.size + 12
_ANY_INTERFACE = bytes(4) + b"\xff" * 8
_ALL_STATES, _ESTABLISHED = 0xFFFFFFFF, 1


class Kernel:
    """Asks the kernel whose a connection is: quick on every host, but not all sandboxes have it.

    Only an established connection with an owner counts: one that its owner has closed is shown
    as root's until its last bytes are gone.
    """

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._asked = 0

    def owner(self, client: HostPort, server: HostPort) -> int | None:
        """Return the user who owns the client's end, None if that is not known."""
        question = _QUESTION.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, 0, _ALL_STATES)
        question += _CONNECTION.pack(
            client.port, server.port, _packed(client), _packed(server), _ANY_INTERFACE
        )
        try:
            return _owner_in(*self._ask(question))
        except (OSError, AttributeError):  # another system, or a sandbox
            self.close()
            return None

    def close(self) -> None:
        """Close the way to the kernel; the next question opens another one."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _ask(self, question: bytes) -> tuple[bytes, int]:
        """Return the answer, and the number that it must have."""
        self._asked += 1
        length = _HEADER.size + len(question)
        header = _HEADER.pack(length, _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, self._asked, 0)
        if self._socket is None:
            self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG)
            weakref.finalize(self, self._socket.close)  # of a server that nobody stops
        self._socket.send(header + question)
        # it has answered before `send` returned
        return self._socket.recv(4096, socket.MSG_DONTWAIT), self._asked


def _packed(endpoint: HostPort) -> bytes:
    return socket.inet_aton(endpoint.host) + bytes(12)


def _owner_in(answer: bytes, asked: int) -> int | None:
    _, kind, _, number, _ = _HEADER.unpack_from(answer)
    if (kind, number) != (_SOCK_DIAG_BY_FAMILY, asked) or len(answer) < _OWNER_AT + _OWNER.size:
        return None
    _, state = _STATE.unpack_from(answer, _HEADER.size)
    user, inode = _OWNER.unpack_from(answer, _OWNER_AT)
    return int(user) if state == _ESTABLISHED and inode else None


class Table:
    """The kernel's table of all connections: for sandboxes in which one cannot ask about one.

    Reading it takes milliseconds, so what it said holds for a moment.
    """

    FILES = Path("/proc/net/tcp"), Path("/proc/net/tcp6")
    MOMENT = 0.2  # seconds; ports are used again

    def __init__(self) -> None:
        self._known: dict[HostPort, tuple[float, int | None]] = {}

    def owner(self, client: HostPort, server: HostPort) -> int | None:
        """Return the user who owns the client's end, None if there is no such connection."""
        now = time.monotonic()
        until, owner = self._known.get(client, (0.0, None))
        if now >= until:
            self._known = {each: row for each, row in self._known.items() if row[0] > now}
            owner = self._look_up(client, server)
            self._known[client] = now + self.MOMENT, owner
        return owner

    def _look_up(self, client: HostPort, server: HostPort) -> int | None:
        texts = [path.read_text() for path in self.FILES if path.exists()]
        if not texts and sys.platform != "linux":
            raise UnknowableError
        owners = (owner_in_table(text, client, server) for text in texts)
        return next((owner for owner in owners if owner is not None), None)


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
    if len(columns) < 7 or int(columns[0], 16) != _ESTABLISHED or columns[6] == "0":
        return None
    return int(columns[4])


def _hex(endpoint: HostPort) -> str:
    """Return an end as the table writes it: the address in the machine's byte order."""
    (number,) = struct.unpack("=I", socket.inet_aton(endpoint.host))
    return f"{number:08X}:{endpoint.port:04X}"


class Peer(NamedTuple):
    """The process at the other end of a socket.

    Attributes:
      process: its number, if it is one of this host; else 0.
      user: number of its user, if it is one of this host; else -1.
      place: where it is, if not on this host.
    """

    process: int
    user: int
    place: str = ""

    def __str__(self) -> str:
        return self.place or f"process {self.process} on this host"


def trusted_peer(connection: socket.socket, is_caller: bool) -> Peer:
    """Return who is at the other end of a unix socket.

    Raises:
      PermissionDeniedError: another user, who is not root; root may call anybody.
    """
    peer, own = _peer(connection), os.geteuid()
    if peer.user not in (own, ROOT) and not (is_caller and own == ROOT):
        raise PermissionDeniedError(
            f"process {peer.process} belongs to user {peer.user}, this one to user {own}: only "
            "processes of one user share memory"
        )
    return peer


def _peer(connection: socket.socket) -> Peer:
    if hasattr(socket, "SO_PEERCRED"):
        found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        process, user, _ = struct.unpack("=iII", found)  # the last one is the group
        return Peer(process, user)
    if sys.platform == "darwin":  # LOCAL_PEERCRED (a struct xucred) and LOCAL_PEERPID of sys/un.h
        _, user = struct.unpack_from("2I", connection.getsockopt(0, 1, 76))
        return Peer(connection.getsockopt(0, 2), user)
    raise PermissionDeniedError("this system does not say whose process is at the other end")
