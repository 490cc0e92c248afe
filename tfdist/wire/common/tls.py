"""Mutual TLS between hosts: what this process shows of itself, and whom it believes.

Both ends of a connection show a certificate of one authority, else there is no connection;
`identity` says what a certificate tells, `wire.roles` which methods its owner may call.

The files of an identity may be replaced while it is used: whoever asks `own_identity` for each
new connection gets what is there then, and connections that are open stay.

Loopback ports and unix sockets are guarded by user instead (`security`), without encryption.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Collection
from functools import cache
from pathlib import Path

from tfdist.base.settings import setting
from tfdist.errors import PermissionDeniedError
from tfdist.runtime.task.addresses import normal_address
from tfdist.wire.common.identity import Identity
from tfdist.wire.common.identity_folder import IdentityFolder

VARIABLE = "TFDIST_TLS"  # names the folder
TLS = "TFDIST_REMOTE=tls"
HOW_TO_HAVE_ONE = (
    "`tfdist certificates` makes folders with a key, a certificate and the authority; name one:\n"
    f"    export {TLS} {VARIABLE}=FOLDER"
)


def ssl_context(server_side: bool, address: str = "") -> ssl.SSLContext:
    """Return the context of a new connection: TLS 1.3, both sides show a certificate.

    Args:
      server_side: whether this side was dialled; else give `wrap_socket` the host that was dialled
        as `server_hostname`, which the certificate there has to name.
      address: "HOST:PORT" that is dialled.

    Raises:
      OpError: this process has no identity, or it is of no use.
    """
    identity = own_identity(address)
    if identity is None:
        raise PermissionDeniedError(f"this process has no certificate to show. {HOW_TO_HAVE_ONE}")
    return identity.server_context if server_side else identity.client_context


_used: dict[str, Identity] = {}  # by address; "" is everywhere else


def use_identity(identity: Identity | None, at: Collection[str] = ()) -> None:
    """Have this process show an identity from now on, or with None, no more.

    Args:
      identity: what it shows; connections that are open stay as they are.
      at: addresses "HOST:PORT" of the servers that are shown it; by default all others, and who
        dials servers of this process.
    """
    for address in map(normal_address, at or ("",)):
        if identity is None:
            _used.pop(address, None)
        else:
            _used[address] = identity


def own_identity(address: str = "") -> Identity | None:
    """Return what this process shows of itself now, None where it uses no TLS.

    That is what `use_identity` was given; else, if TFDIST_REMOTE is `tls`, what is in the folder
    that TFDIST_TLS names.

    Args:
      address: "HOST:PORT" of a server that is dialled; "" for what this process's servers show.

    Raises:
      InvalidArgumentError: the files there are of no use.
      PermissionDeniedError: no folder is named, or others may read the key.
    """
    used = _used.get(normal_address(address)) or _used.get("")
    if used is not None or setting("TFDIST_REMOTE") != "tls":
        return used
    folder = os.environ.get(VARIABLE)
    if not folder:
        raise PermissionDeniedError(f"{TLS}, but {VARIABLE} is not set. {HOW_TO_HAVE_ONE}")
    return _folder(Path(folder)).identity()


_folder = cache(IdentityFolder)
