"""What gRPC shows of this process, and asks of others, on connections between hosts."""

from __future__ import annotations

from collections.abc import Callable

from tfdist.errors import OpError
from tfdist.wire.common.identity import Identity
from tfdist.wire.common.tls import own_identity
from tfdist.wire.grpc.options import grpc


def server_credentials(dialled: Callable[[], object]) -> grpc.ServerCredentials | None:
    """Return what a server shows and asks for, None where this process uses no TLS.

    For each new connection it looks whether there is another identity.

    Args:
      dialled: called when a handshake begins, on some thread; before anything is known of it.

    Raises:
      OpError: see `own_identity`.
    """
    shown = own_identity()
    if shown is None:
        return None

    def fetch() -> grpc.ServerCertificateConfiguration | None:
        nonlocal shown
        dialled()
        try:
            found = own_identity()
        except OpError:  # what was shown so far goes on
            return None
        if found is None or found == shown:
            return None
        shown = found
        return _configuration(found)

    return grpc.dynamic_ssl_server_credentials(
        _configuration(shown), fetch, require_client_authentication=True
    )


def _configuration(identity: Identity) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration(
        [(identity.key, identity.certificate)], identity.authority
    )


def channel_credentials(identity: Identity) -> grpc.ChannelCredentials:
    """Return what is shown to a server and asked of it."""
    return grpc.ssl_channel_credentials(identity.authority, identity.key, identity.certificate)
