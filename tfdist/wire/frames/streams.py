"""Streams: what carries the bytes of a connection. All connections talk to one of these.

`UnixStream` passes descriptors besides, so that memory can be shared; `TcpStream` goes to other
hosts, and `tls.TlsStream` does so encrypted.
"""

from __future__ import annotations

import array
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tfdist.wire.common.calls import Piece
from tfdist.wire.common.security import Peer
from tfdist.wire.common.timeouts import timeouts

MOST_DESCRIPTORS = 4  # that arrive before what they are for
_ANCILLARY = socket.CMSG_SPACE(MOST_DESCRIPTORS * array.array("i").itemsize)
_BUFFER = 1 << 19  # bytes that the system keeps on the way between processes of one host
# plain numbers: to join an enum's members takes longer than some of the calls
_CLOSE_ON_EXEC = int(getattr(socket, "MSG_CMSG_CLOEXEC", 0))
_NOW = int(socket.MSG_DONTWAIT)
TRUNCATED = int(socket.MSG_CTRUNC)  # flag of what was received: descriptors are missing
SEND_FLAGS = _NOW | int(getattr(socket, "MSG_NOSIGNAL", 0))
# Bytes that wait in the system while more can be written; what is urgent waits behind them.
_UNSENT = 1 << 18
_TRIES = 3  # signs of life that the system asks another host for

Ancillary = Sequence[tuple[int, int, bytes]]
Received = tuple[bytes, Ancillary, int]  # bytes, what came beside them, flags


class Stream(Protocol):
    """A connected socket; it belongs to this object.

    Attributes:
      peer: the process at the other end.
      shares_memory: whether descriptors of memory can cross.
      certificate: that the other side showed, None if it needs none.
      is_atomic: whether a write that Ctrl-C interrupts is known to have happened or not.
    """

    peer: Peer
    shares_memory: bool
    certificate: Mapping[str, object] | None
    is_atomic: bool

    def send(self, buffer: Piece, flags: int, /) -> int:
        """Send the beginning of a buffer, with `SEND_FLAGS`; returns the number of bytes."""

    def fileno(self) -> int:
        """Return the descriptor, which the loop watches."""

    def receive(self, most: int, wait: bool) -> Received:
        """Return what has arrived; no bytes at its end.

        Args:
          most: bytes.
          wait: whether to wait for some, as long as `set_patience` allows.

        Raises:
          BlockingIOError: nothing has arrived.
          OSError: the connection is broken.
        """

    def receive_into(self, room: memoryview, wait: bool) -> int:
        """Fill the beginning of `room`; returns how many bytes that are. As `receive`."""

    @property
    def has_more(self) -> bool:
        """Return whether bytes have arrived that the descriptor does not tell of."""

    def send_several(self, buffers: Sequence[Piece], descriptors: Sequence[int]) -> int:
        """Send what the socket takes, with descriptors beside the first; see `send`."""

    def set_patience(self, seconds: float) -> None:
        """Set how long `receive` waits."""

    def shut(self) -> None:
        """End the connection for both sides; the descriptor stays."""

    def close(self) -> None:
        """Close the socket."""


class SocketStream:
    """A socket whose bytes are sent as they are (a `Stream`).

    Args:
      sock: the socket.
      peer: the process at the other end.
    """

    shares_memory = False
    certificate: Mapping[str, object] | None = None
    is_atomic = True
    has_more = False

    def __init__(self, sock: socket.socket, peer: Peer) -> None:
        self.peer, self._socket = peer, sock
        # the bare method of C: what it has sent is noted before Ctrl-C can come between
        self.send = sock.send
        self._patience = 0.0  # seconds; at first there is no limit
        sock.setblocking(True)

    def fileno(self) -> int:
        """See `Stream`."""
        return self._socket.fileno()

    def receive(self, most: int, wait: bool) -> Received:
        """See `Stream`."""
        return self._socket.recv(most, 0 if wait else _NOW), (), 0

    def receive_into(self, room: memoryview, wait: bool) -> int:
        """See `Stream`."""
        return self._socket.recv_into(room, 0, 0 if wait else _NOW)

    def send_several(self, buffers: Sequence[Piece], descriptors: Sequence[int]) -> int:
        """See `Stream`."""
        rights: list[tuple[int, int, Any]] = []
        if descriptors:
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
        return self._socket.sendmsg(buffers, rights, SEND_FLAGS)

    def set_patience(self, seconds: float) -> None:
        """See `Stream`."""
        if seconds != self._patience:
            micros = max(1, int(seconds * 1e6))  # none at all would be for ever
            duration = struct.pack("ll", *divmod(micros, 1_000_000))
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, duration)
            self._patience = seconds

    def shut(self) -> None:
        """See `Stream`."""
        try:
            # not only closed: a forked child may hold it open too
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
        except OSError:
            pass

    def close(self) -> None:
        """See `Stream`."""
        self._socket.close()


class UnixStream(SocketStream):
    """A unix socket between two processes of one host."""

    shares_memory = True

    def __init__(self, sock: socket.socket, peer: Peer) -> None:
        super().__init__(sock, peer)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)

    def receive(self, most: int, wait: bool) -> Received:
        """See `Stream`."""
        flags = _CLOSE_ON_EXEC if wait else _CLOSE_ON_EXEC | _NOW
        return self._socket.recvmsg(most, _ANCILLARY, flags)[:3]


class TcpStream(SocketStream):
    """A TCP connection between two hosts, in plain text."""

    def __init__(self, sock: socket.socket, peer: Peer) -> None:
        super().__init__(sock, peer)
        tune(sock)


def tune(sock: socket.socket) -> None:
    """Set up a TCP socket: nothing waits for more to be sent, and a host that is gone is found."""
    limits = timeouts()
    bound = limits.alive + limits.silence
    each = max(1, round(limits.silence / _TRIES))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in {
        "TCP_NODELAY": 1,
        "TCP_NOTSENT_LOWAT": _UNSENT,
        "TCP_KEEPIDLE": max(1, round(limits.alive)),
        "TCP_KEEPINTVL": each,
        "TCP_KEEPCNT": _TRIES,
        "TCP_USER_TIMEOUT": max(1, int(bound * 1000)),
    }.items():
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
