"""The name of a server, before it has an address on this host.

Where hosts come and go (the pods of Kubernetes) a name is often announced after the host has
started, and for some time it may still have the address of the host that had it before.
"""

from __future__ import annotations

import errno
import ipaddress
import select
import socket
import sys
import time

from tfdist.errors import UnavailableError
from tfdist.wire.common.security import numeric_host, split_address
from tfdist.wire.common.timeouts import timeouts

LOOK = 0.5  # seconds between two looks


def is_here_in_time(address: str, signals: int) -> bool:
    """Return whether the name in an address has become one of this host.

    It is waited for as long as others wait for a server when a session begins; a number is not, as
    that stays what it is.

    Args:
      address: "HOST:PORT" of a server that is to run here.
      signals: a descriptor that becomes readable when somebody asks for the end.

    Returns:
      False if somebody asked for the end.

    Raises:
      UnavailableError: it is none in time.
      InvalidArgumentError: the address has no port.
    """
    host, _ = split_address(address)
    if _is_number(host):
        return True
    patience = timeouts().session
    deadline = time.monotonic() + patience
    wrong = wrong_here(host)
    if wrong:
        print(
            f"tfdist: {host} is not this host ({wrong}); waits for that, {patience:g} s at most",
            file=sys.stderr,
            flush=True,
        )
    while wrong:
        left = deadline - time.monotonic()
        if left < 0:
            raise UnavailableError(
                f"{host} is not yet this host ({wrong}) after {patience:g} s: a server runs on the "
                "host that its address names. Give it a name or number that this host has, or more "
                "time (TFDIST_TIMEOUTS=session=120)"
            )
        if select.select([signals], [], [], min(LOOK, left))[0]:
            return False
        wrong = wrong_here(host)
    return True


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def wrong_here(host: str) -> str:
    """Return why no server can have an address of `host` here, or "" if one can."""
    numeric = numeric_host(host)
    if numeric is None:
        return "no such host"
    family = socket.AF_INET6 if ":" in numeric else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((numeric, 0))
        except OSError as error:
            # any other error is told by who binds the port itself
            return f"it is {numeric}" if error.errno == errno.EADDRNOTAVAIL else ""
    return ""
