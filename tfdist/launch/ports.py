"""Ports that are kept for servers in other processes.

All addresses of a cluster are told before its first server starts, so somebody has to choose ports
that nobody takes meanwhile. On Linux a socket that is bound but does not listen keeps its port:
others cannot have it, the system gives it to nobody, and a server may yet bind it and listen, as
both sides set SO_REUSEADDR. The sockets stay for a cluster's life, so that a server which died
finds its port free when it is started anew. Elsewhere the port has to be let go just before a
server starts (and could be lost to somebody in that moment: the server then says so).
"""

from __future__ import annotations

import errno
import os
import socket
import sys

from tfdist.errors import AlreadyExistsError

LOOPBACK = "127.0.0.1"
SHARED = sys.platform == "linux"  # whether a server can bind a port that is kept


class KeptPorts:
    """Ports of this host's loopback that nobody else can take until `close`.

    Args:
      count: how many.
      first: they are this one and the next ones; None for free ones.

    Raises:
      AlreadyExistsError: a port is taken; none is kept then.

    Attributes:
      numbers: the ports.
    """

    def __init__(self, count: int, first: int | None = None) -> None:
        self._sockets: list[socket.socket] = []
        wanted = [0] * count if first is None else range(first, first + count)
        try:
            for port in wanted:
                self._sockets.append(_keep(port))
        except BaseException:
            self.close()
            raise
        self.numbers = [each.getsockname()[1] for each in self._sockets]

    def let_servers_bind(self) -> None:
        """Make way for the servers, where a kept port is in theirs."""
        if not SHARED:
            self.close()

    def close(self) -> None:
        """Let others have the ports."""
        for each in self._sockets:
            each.close()


def _keep(port: int) -> socket.socket:
    holder = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if SHARED:
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind((LOOPBACK, port))
    except OSError as error:
        holder.close()
        if error.errno != errno.EADDRINUSE:
            raise
        raise AlreadyExistsError(taken(port)) from None
    return holder


def taken(port: int) -> str:
    """Return the sentence about a port that is not this process's."""
    return f"port {port} is taken ({os.strerror(errno.EADDRINUSE)}) by another program"
