"""Which clients of a loopback server belong to its user: the kernel knows whose a connection is."""

from __future__ import annotations

import os
import socket
import struct
import sys
import time
import weakref
from functools import cache
from urllib.parse import unquote

from tfdist.errors import PermissionDeniedError
from tfdist.wire.common.connection_ends import owner_in_table, peer_endpoint, tables
from tfdist.wire.common.security import PLAIN, ROOT, HostPort


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
            f"own, or have this one bound to an open address with {PLAIN}"
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
        texts = list(tables())
        if not texts and sys.platform != "linux":
            raise UnknowableError
        owners = (owner_in_table(text, client, server) for text in texts)
        return next((owner for owner in owners if owner is not None), None)
