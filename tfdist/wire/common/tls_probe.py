"""What listens at a port, as far as TLS tells: gRPC says of most of it "Socket closed".

A look is a connection of its own, on which no call is made.
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
    """Return what listens at "HOST:PORT", dialled as gRPC dials.

    Args:
      address: of the server.
      identity: what is shown to it; None: it is asked whether it speaks TLS at all.
      patience: seconds for each part.

    Raises:
      OSError: nobody answers, or so that it tells nothing.
    """
    host, port = split_address(address)
    with socket.create_connection((host, port), patience) as connection:
        try:
            with _context(identity).wrap_socket(connection, server_hostname=host) as secured:
                version, certificate = secured.version() or "", secured.getpeercert() or {}
                if identity is None:
                    return Found(WANTED, version)
                return Found("" if _is_let_in(secured) else REFUSED, version, certificate)
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


def _is_let_in(secured: ssl.SSLSocket) -> bool:
    """Return whether a gRPC server sends its first frame: it hangs up on whom it does not believe.

    In TLS 1.3 the client's certificate is looked at when the client is through.
    """
    try:
        return bool(secured.recv(1))
    except ConnectionError:
        return False
    except ssl.SSLError as error:  # an alert that says why
        if "ALERT" in (error.reason or ""):
            return False
        raise


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
