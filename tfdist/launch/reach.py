"""What lies between this process and a server, step by step: `tfdist doctor HOST:PORT`.

Each step stands on the one before it, so that the first thing that is wrong is the last one told.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from tfdist.base.extras import installed, is_there, missing_line
from tfdist.errors import OpError
from tfdist.launch.doctor import Finding
from tfdist.launch.outcome import cause_of
from tfdist.wire.common.connection_diagnosis import advice_for, in_words
from tfdist.wire.common.identity import names_of, role_of
from tfdist.wire.common.security import numeric_host, split_address
from tfdist.wire.common.tls import TLS, VARIABLE, own_identity
from tfdist.wire.common.tls_probe import INVALID, look_at
from tfdist.wire.peers.link import open_link
from tfdist.wire.peers.transport import Transport

_PATIENCE = 3.0  # seconds that each step may take
_SOON = 14 * 86_400  # seconds before its end in which a certificate should be replaced
_FAR_APART = 60.0  # seconds that clocks should not differ


def examine_server(address: str) -> Iterator[Finding]:
    """Yield what is found on the way to a server, up to the first thing that is wrong.

    Args:
      address: "HOST:PORT"; "grpc://" may stand before it.

    Raises:
      InvalidArgumentError: `address` has no port.
    """
    address = address.removeprefix("grpc://")
    split_address(address)
    for step in (_name, _route, _port, _server):
        for found in step(address):
            yield found
            if found.is_wrong:
                return


def _name(address: str) -> Iterator[Finding]:
    host, _ = split_address(address)
    try:
        found = socket.getaddrinfo(host or "localhost", None, type=socket.SOCK_STREAM)
    except (OSError, ValueError) as error:
        yield _wrong("name", in_words(f"no such host: {error}"))
        return
    numbers = dict.fromkeys(str(each[4][0]) for each in found)
    is_number = list(numbers) == [host]
    yield Finding("name", f"{host} is {'a number' if is_number else ', '.join(numbers)}")


def _route(address: str) -> Iterator[Finding]:
    number, port = _dialled(address)
    with socket.socket(_family(number), socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((number, port or 9))  # nothing is sent
        except OSError as error:
            yield _wrong("route", in_words(f"no route to the host: {error.strerror}"))
            return
        ours = probe.getsockname()[0]
    is_here = ours == number or _is_loopback(number)
    yield Finding("route", "to this machine itself" if is_here else f"from {ours} to {number}")


def _own(address: str) -> Iterator[Finding]:
    try:
        identity = own_identity(address)
    except OpError as error:
        yield _wrong("certificate", error.message)
        return
    if identity is None:
        told = f"this process has none to show: neither {TLS} with {VARIABLE}, nor from a cluster"
        yield Finding("certificate", told)
    else:
        yield _described("certificate", "this process shows one ", identity.told)


def _port(address: str) -> Iterator[Finding]:
    began = time.perf_counter()
    try:
        connection = socket.create_connection(_dialled(address), _PATIENCE)
    except OSError as error:
        yield _wrong("port", _reason(error))
        return
    took = _seconds(time.perf_counter() - began)
    with connection:
        yield Finding("port", f"takes connections, within {took}")
        yield from _own(address)
        yield from _tls(address, connection)


def _tls(address: str, connection: socket.socket) -> Iterator[Finding]:
    number, _ = _dialled(address)
    identity = None if _is_loopback(number) else own_identity(address)
    try:
        found = look_at(connection, address, identity)
    except OSError as error:
        yield _wrong("handshake", _reason(error))
        return
    if found.problem.startswith(INVALID):
        yield Finding("certificate", f"the server shows one {_unbelieved(address)}")
    if found.problem:
        yield _wrong("handshake", found.problem)
    else:
        yield Finding("handshake", _agreed(found.version, _is_loopback(number)))
    if found.certificate:
        yield _described("certificate", "the server shows one ", found.certificate)


def _agreed(version: str, is_loopback: bool) -> str:
    if version:
        return f"{version}; both sides believe each other"
    if is_loopback:
        return "none: on one machine servers ask which user calls"
    return "none: whoever is on the way can read and change what is sent"


def _server(address: str) -> Iterator[Finding]:
    link = open_link(address)
    try:
        transport = link.connect(_PATIENCE)
        if transport.hello is None:
            yield Finding("version", "it is no server of tfdist: one of TensorFlow's own, it seems")
            return
        yield _version(transport)
        yield _clock(transport)
    except OpError as error:
        yield _wrong("version", error.message)
    finally:
        link.close()


def _version(transport: Transport) -> Finding:
    assert transport.hello is not None
    theirs, ours = transport.hello.version, installed("tfdist")
    same = "as here" if theirs == ours else f"here is {ours}"
    return Finding("version", f"tfdist {theirs} ({same}); {transport.hello.task}")


def _clock(transport: Transport) -> Finding:
    ahead, unsure = (nanos / 1e9 for nanos in transport.clock)
    if not unsure:
        return Finding("clock", "the same one: it runs on this machine")
    told = f"{_seconds(abs(ahead))} {'ahead of' if ahead > 0 else 'behind'} this one"
    told = f"{told}, give or take {_seconds(unsure)}"
    if abs(ahead) < _FAR_APART:
        return Finding("clock", told)
    return Finding("clock", f"{told}: set it, or certificates seem to have ended", True)


def _described(name: str, lead: str, certificate: Mapping[str, object]) -> Finding:
    """Return what a certificate says: as `ssl` tells it."""
    begins, ends = (
        ssl.cert_time_to_seconds(str(certificate[key])) for key in ("notBefore", "notAfter")
    )
    hosts = ", ".join(names_of(certificate).hosts) or "no host"
    owner = role_of(certificate) or "no role (a URI tfdist://CLUSTER/ROLE)"
    left = ends - time.time()
    soon = f": in {left / 86_400:.1f} days, replace it" if left < _SOON else ""
    return Finding(
        name, f"{lead}for {hosts}; {owner}; from {_date(begins)} to {_date(ends)}{soon}", left < 0
    )


def _unbelieved(address: str) -> str:
    """Return what a certificate says that is not believed: it tells nothing to `ssl`."""
    if not is_there("cryptography"):
        return f"that cannot be read: {missing_line('cryptography')}"
    from tfdist.launch.authority import names_in

    try:
        pem = ssl.get_server_certificate(_dialled(address), timeout=_PATIENCE)
        names = names_in(pem.encode())
    except (OSError, OpError) as error:
        return f"that cannot be read: {cause_of(error)}"
    return f"for {', '.join(names.hosts) or 'no host'}; {names.principal or 'no role'}"


def _reason(error: OSError) -> str:
    return in_words(
        "timed out" if isinstance(error, TimeoutError) else error.strerror or str(error)
    )


def _wrong(name: str, reason: str) -> Finding:
    return Finding(name, "; ".join(filter(None, (reason, advice_for(reason)))), True)


def _dialled(address: str) -> tuple[str, int]:
    """Return number and port that are dialled."""
    host, port = split_address(address)
    return numeric_host(host) or host, port


def _family(number: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in number else socket.AF_INET


def _is_loopback(number: str) -> bool:
    return ipaddress.ip_address(number).is_loopback


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"


def _date(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"
