"""By which address other hosts reach this one."""

from __future__ import annotations

import socket

from tfdist.wire.common.security import LOOPBACK, HostPort, numeric_host

_NOWHERE = "192.0.2.1"  # of RFC 5737: in no network, so the default route leads there


def own_host(towards: str = "", is_on_one_host: bool = False) -> str:
    """Return the numeric address of this host in the network of others.

    Args:
      towards: numeric address of a host that all reach, if one is known: the address is that of the
        interface that leads there.
      is_on_one_host: whether there are no others.
    """
    if is_on_one_host:
        return LOOPBACK
    found = (interface_towards(towards) if towards else "", _by_name(), interface_towards(_NOWHERE))
    return next((host for host in found if host and not HostPort(host, 0).is_loopback), LOOPBACK)


def interface_towards(host: str) -> str:
    """Return the address of the interface that leads to a host, "" if none does.

    Nothing is sent.

    Example:
      >>> interface_towards("127.0.0.1")
      '127.0.0.1'
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as found:
        try:
            found.connect((host, 9))
        except OSError:
            return ""
        return str(found.getsockname()[0])


def _by_name() -> str:
    return numeric_host(socket.gethostname()) or ""
