"""TLS: frames to other hosts, encrypted, where both sides show a certificate (`common.tls`).

An SSL connection cannot be read and written at once. So nothing here waits inside of it: a lock is
held for the moment that a read or a write takes, and who waits does so outside, for the socket.
"""

from __future__ import annotations

import asyncio
import select
import socket
import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from tfdist.errors import OpError, UnavailableError
from tfdist.wire.common.calls import Piece
from tfdist.wire.common.identity import in_words
from tfdist.wire.common.refusals import HANDSHAKE, Refusals
from tfdist.wire.common.security import HostPort, Peer
from tfdist.wire.common.timeouts import timeouts
from tfdist.wire.common.tls import ssl_context
from tfdist.wire.frames.streams import Received, Stream, tune
from tfdist.wire.frames.tcp import CONNECTING, TcpPlace

_RECORD = 1 << 14  # bytes; shorter buffers are sent together
_NOT_NOW = ssl.SSLWantReadError, ssl.SSLWantWriteError


class TlsStream:
    """An encrypted connection whose handshake is done (a `Stream`).

    Args:
      sock: the socket.
      peer: the process at the other end.
    """

    shares_memory = False
    is_atomic = False

    def __init__(self, sock: ssl.SSLSocket, peer: Peer) -> None:
        self.peer, self._socket = peer, sock
        self.certificate: Mapping[str, object] | None = _certificate(sock)
        self._lock = threading.Lock()
        self._patience: float | None = None  # milliseconds
        sock.setblocking(False)
        tune(sock)
        self._poll = select.poll()
        self._poll.register(sock.fileno(), select.POLLIN)

    def fileno(self) -> int:
        """See `Stream`."""
        return self._socket.fileno()

    def receive(self, most: int, wait: bool) -> Received:
        """See `Stream`."""
        self._wait_if(wait)
        with self._lock:
            try:
                return self._socket.recv(most), (), 0
            except _NOT_NOW:
                raise BlockingIOError from None

    def receive_into(self, room: memoryview, wait: bool) -> int:
        """See `Stream`."""
        self._wait_if(wait)
        filled = 0
        with self._lock:
            try:
                while filled < len(room):
                    count = self._socket.recv_into(room[filled:])
                    if not count:
                        break
                    filled += count
            except _NOT_NOW:
                if not filled:
                    raise BlockingIOError from None
        return filled

    def _wait_if(self, wait: bool) -> None:
        if wait and not self.has_more and not self._poll.poll(self._patience):
            raise BlockingIOError

    @property
    def has_more(self) -> bool:
        """See `Stream`: what is decrypted already."""
        return self._socket.pending() > 0

    def send(self, buffer: Piece, flags: int) -> int:
        """See `Stream`; what was not sent has to come first the next time."""
        with self._lock:
            try:
                return self._socket.send(buffer)
            except _NOT_NOW:
                raise BlockingIOError from None

    def send_several(self, buffers: Sequence[Piece], descriptors: Sequence[int]) -> int:
        """See `Stream`."""
        together, length = 0, 0
        for buffer in buffers:
            length += len(buffer)
            if length > _RECORD:
                break
            together += 1
        return self.send(b"".join(buffers[:together]) if together > 1 else buffers[0], 0)

    def set_patience(self, seconds: float) -> None:
        """See `Stream`."""
        self._patience = max(1, seconds * 1000)

    def shut(self) -> None:
        """See `Stream`."""
        try:
            # not the method of the SSL socket, which would go on in plain text
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
        except OSError:
            pass

    def close(self) -> None:
        """See `Stream`."""
        self._socket.close()


def _certificate(sock: ssl.SSLSocket) -> Mapping[str, object]:
    """Return what the other side showed, as `wire.roles` wants it."""
    shown = sock.getpeercert(binary_form=True) or b""
    pem = ssl.DER_cert_to_PEM_cert(shown).encode()
    return {**(sock.getpeercert() or {}), "x509_pem_cert": (pem,)}


class TlsPlace(TcpPlace):
    """A new socket at which other hosts call, with a certificate (`server.Place`)."""

    def __init__(self, host: str, port: int = 0) -> None:
        super().__init__(host, port)
        self._same_user = None  # the certificate counts
        self._shaking: set[_Handshake] = set()
        self._refusals = Refusals(self._bound)

    def admit(self, accepted: socket.socket, ready: Callable[[Stream], None]) -> None:
        """See `server.Place`."""
        try:
            end = HostPort(*accepted.getpeername()[:2])
            accepted.setblocking(False)
            sock = ssl_context(server_side=True).wrap_socket(
                accepted, server_side=True, do_handshake_on_connect=False
            )
        except (OSError, OpError):  # gone already, or the own certificate is of no use any more
            accepted.close()
            return
        refused = partial(self._refusals.say, end)
        peer = Peer(0, -1, f"the process at {end}")
        _Handshake(sock, peer, ready, refused, self._shaking).go_on()

    def end(self) -> None:
        """See `server.Place`."""
        for each in list(self._shaking):
            each.end()


class _Handshake:
    """The beginning of a connection that was dialled; everything happens on the loop."""

    def __init__(
        self,
        sock: ssl.SSLSocket,
        peer: Peer,
        ready: Callable[[Stream], None],
        refused: Callable[[str], None],
        among: set[_Handshake],
    ) -> None:
        self._socket, self._peer, self._among = sock, peer, among
        self._ready, self._refused = ready, refused
        self._loop = asyncio.get_running_loop()
        self._late = self._loop.call_later(HANDSHAKE, self._refuse, "it is silent")
        among.add(self)

    def go_on(self) -> None:
        """Do what can be done now."""
        self._forget()
        try:
            self._socket.do_handshake()
            stream = TlsStream(self._socket, self._peer)
        except ssl.SSLWantReadError:
            self._loop.add_reader(self._socket, self.go_on)
        except ssl.SSLWantWriteError:
            self._loop.add_writer(self._socket, self.go_on)
        except ssl.SSLError as error:  # no TLS, or no certificate that is believed
            self._refuse(in_words(error))
        except (OSError, ValueError):  # gone already
            self.end()
        else:
            self._late.cancel()
            self._among.discard(self)
            self._ready(stream)

    def _refuse(self, reason: str) -> None:
        self.end()
        self._refused(reason)

    def _forget(self) -> None:
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)

    def end(self) -> None:
        """Give the connection up."""
        self._forget()
        self._late.cancel()
        self._among.discard(self)
        self._socket.close()


class TlsAddress:
    """The way to a `TlsPlace` (`client.Way`).

    Args:
      address: "HOST:PORT" of the server, which says what is shown to it.
      host: of the process, as it is dialled; its certificate has to name it.
      port: where it takes frames.
    """

    def __init__(self, address: str, host: str, port: int) -> None:
        self._address, self._host, self._port = address, host, port

    def __str__(self) -> str:
        return str(HostPort(self._host, self._port))

    def connect(self) -> Stream:
        """Return a new connection; see `client.Way`."""
        try:
            context = ssl_context(server_side=False, address=self._address)
        except OpError as error:
            raise UnavailableError(error.message) from None
        wait = min(CONNECTING, timeouts().connect)
        connected = socket.create_connection((self._host, self._port), wait)
        try:
            sock = context.wrap_socket(connected, server_hostname=self._host)
            return TlsStream(sock, Peer(0, -1, f"the process at {self}"))
        except BaseException:
            connected.close()
            raise
