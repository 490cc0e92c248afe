"""What listens at a port, as far as TLS tells: gRPC says of most of it "Socket closed".

A look is a connection of its own.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Mapping
from typing import NamedTuple

from tfdist.errors import OpError
from tfdist.wire.common.identity import Identity, client_context, in_words
from tfdist.wire.common.security import split_address
from tfdist.wire.common.tls import own_identity

WANTED = "it wants TLS"
NONE = "it speaks no TLS"
REFUSED = "it refuses the certificate"
INVALID = "its certificate is not valid"
PROBLEMS = (WANTED, NONE, REFUSED, INVALID)
_PATIENCE = 0.5  # seconds that each part of a look may take
_KEPT = 2.0  # seconds in which a port is not looked at again


class Found(NamedTuple):
    """What answered.

    Attributes:
      problem: why a connection that shows our identity comes to nothing, "" if it does not.
      version: of TLS, "" if there is none.
      certificate: of the server, as `ssl` tells it; empty if it is not believed.
    """

    problem: str
    version: str = ""
    certificate: Mapping[str, object] = {}


def look(address: str, identity: Identity | None, patience: float = _PATIENCE) -> Found:
    """Return what listens at "HOST:PORT"; see `look_at`.

    Raises:
      OSError: nobody answers, or so that it tells nothing.
    """
    with socket.create_connection(split_address(address), patience) as connection:
        return look_at(connection, address, identity)


def look_at(connection: socket.socket, address: str, identity: Identity | None) -> Found:
    """Return what is at the other end of a new connection, used as gRPC uses it.

    Args:
      connection: with the patience for each part.
      address: that was dialled.
      identity: what is shown; None: it is asked whether TLS is spoken at all.

    Raises:
      OSError: there is no answer, or one that tells nothing.
    """
    host, _ = split_address(address)
    try:
        with _context(identity).wrap_socket(connection, server_hostname=host) as secured:
            version, certificate = secured.version() or "", secured.getpeercert() or {}
            if identity is None:
                return Found(WANTED, version)
            return Found("" if _is_let_in(secured, host) else REFUSED, version, certificate)
    except ssl.SSLCertVerificationError as error:
        return Found(f"{INVALID}: {in_words(error)}", "TLS")
    except ssl.SSLError as error:
        if error.reason == "WRONG_VERSION_NUMBER":
            return Found(NONE if identity else "")
        raise


def _context(identity: Identity | None) -> ssl.SSLContext:
    if identity is None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    else:
        context = client_context(identity)
    context.set_alpn_protocols(["h2"])  # without it gRPC would hang up
    return context


def _is_let_in(secured: ssl.SSLSocket, host: str) -> bool:
    """Return whether the server answers a call: it hangs up on whom it does not believe.

    In TLS 1.3 the client's certificate is looked at when the client is through.
    """
    try:
        secured.sendall(_health_check(host))
        return bool(secured.recv(1))
    except (ConnectionError, ssl.SSLError) as error:
        if isinstance(error, ssl.SSLError) and "ALERT" not in (error.reason or ""):
            raise
        return False


# HTTP/2 (RFC 9113) and its headers (RFC 7541, literals): one call, so that the server's log does
# not count the look among the connections that come to nothing.
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _SETTINGS = 0, 1, 4  # kinds of frames
_LAST, _WHOLE = 1, 4  # flags: of the stream, of the headers


def _health_check(host: str) -> bytes:
    headers = {
        ":method": "POST", ":scheme": "https", ":path": "/grpc.health.v1.Health/Check",
        ":authority": host, "te": "trailers", "content-type": "application/grpc",
    }  # fmt: skip
    block = b"".join(b"\0" + _text(name) + _text(value) for name, value in headers.items())
    call = _frame(_HEADERS, _WHOLE, 1, block) + _frame(_DATA, _LAST, 1, bytes(5))
    return _PREFACE + _frame(_SETTINGS, 0, 0, b"") + call


def _text(text: str) -> bytes:
    encoded = text.encode()[:126]
    return bytes([len(encoded)]) + encoded


def _frame(kind: int, flags: int, stream: int, body: bytes) -> bytes:
    return len(body).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + body


_known: dict[tuple[str, Identity | None], tuple[float, str]] = {}


def tls_problem(address: str) -> str:
    """Return why TLS keeps this process from a server, "" if it does not or that is not known.

    Args:
      address: "HOST:PORT" of the server.
    """
    try:
        identity = own_identity(address)
    except OpError as error:
        return error.message
    now = time.monotonic()
    until, known = _known.get((address, identity), (0.0, ""))
    if now < until:
        return known
    try:
        found = look(address, identity).problem
    except OSError:
        found = ""
    for each in [each for each, (ends, _) in _known.items() if ends < now]:
        _known.pop(each, None)
    _known[address, identity] = now + _KEPT, found
    return found
