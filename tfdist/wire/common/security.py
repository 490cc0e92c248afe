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
import socket
import struct
import sys
from typing import NamedTuple

from tfdist.base.settings import setting
from tfdist.errors import AlreadyExistsError, InvalidArgumentError, OpError, PermissionDeniedError
from tfdist.wire.common.tls import TLS, VARIABLE, own_identity

ROOT = 0
LOOPBACK = "127.0.0.1"
LOOPBACK_NAMES = {"", "localhost", "::1"}  # all served at LOOPBACK
WILDCARDS = {"0.0.0.0", "::"}  # all interfaces; who dials one reaches this host
PLAIN = "TFDIST_REMOTE=plain"


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
            f"tfdist: WARNING: the server at {endpoint} is open ({PLAIN}): whoever reaches this "
            "port may run graphs, with the rights of this process, and nothing is encrypted",
            file=sys.stderr,
        )


def _tell_of_narrowing(address: str) -> None:
    print(
        f"tfdist: a server at {address} serves this machine only (127.0.0.1), others do not reach "
        f"it. To let those with a certificate in, set {TLS} and {VARIABLE} before the program "
        f"starts; whoever reaches the port, unencrypted: {PLAIN}",
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
            f"    export {PLAIN}\n"
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
