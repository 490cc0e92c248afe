"""TCP: where processes of other hosts call, and the way there.

Who listens says by gRPC (`Hello`) at which port. The rules are those of the gRPC port beside it
(`common.security`): on the loopback interface, processes of the same user; elsewhere, everybody who
reaches the port, where the user allowed that.
"""

from __future__ import annotations

import socket
import weakref
from collections.abc import Callable

from tfdist.wire.common.same_user import SameUser
from tfdist.wire.common.security import HostPort, Peer
from tfdist.wire.common.timeouts import timeouts
from tfdist.wire.frames.streams import Stream, TcpStream

_BACKLOG = 1024  # the system may allow less
CONNECTING = 1.0  # seconds; gRPC has just reached the host


class TcpPlace:
    """A new socket at which other hosts call (`server.Place`).

    Args:
      host: numeric address of the interface.
      port: 0 for a free one.

    Attributes:
      port: that is bound.

    Raises:
      OSError: it cannot be bound.
    """

    def __init__(self, host: str, port: int = 0) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.socket = socket.create_server(
            (host, port),
            family=family,
            backlog=_BACKLOG,
            dualstack_ipv6=host == "::" and socket.has_dualstack_ipv6(),
        )
        self.socket.setblocking(False)
        self.port = int(self.socket.getsockname()[1])
        self._bound = HostPort(host, self.port)
        is_near = self._bound.is_loopback
        self._same_user: SameUser | None = SameUser(self._bound) if is_near else None
        self._close = weakref.finalize(self, self.socket.close)

    def __str__(self) -> str:
        return str(self._bound)

    def admit(self, accepted: socket.socket, ready: Callable[[Stream], None]) -> None:
        """See `server.Place`."""
        try:
            end = HostPort(*accepted.getpeername()[:2])
        except OSError:  # gone already
            accepted.close()
            return
        if self._same_user is not None and self._same_user.refusal(f"ipv4:{end}") is not None:
            accepted.close()
            return
        try:
            stream = TcpStream(accepted, Peer(0, -1, f"the process at {end}"))
        except OSError:
            accepted.close()
        else:
            ready(stream)

    def end(self) -> None:
        """See `server.Place`."""

    def close(self) -> None:
        """See `server.Place`."""
        self._close()
        if self._same_user is not None:
            self._same_user.close()

    def abandon(self) -> None:
        """See `server.Place`."""
        self._close()


class TcpAddress:
    """The way to a `TcpPlace` (`client.Way`).

    Args:
      host: of the process, as it is dialled.
      port: where it takes frames.
    """

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port

    def __str__(self) -> str:
        return str(HostPort(self._host, self._port))

    def connect(self) -> Stream:
        """Return a new connection; see `client.Way`."""
        wait = min(CONNECTING, timeouts().connect)
        connected = socket.create_connection((self._host, self._port), wait)
        try:
            return TcpStream(connected, Peer(0, -1, f"the process at {self}"))
        except BaseException:
            connected.close()
            raise
