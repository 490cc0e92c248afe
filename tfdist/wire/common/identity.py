"""Identity: a key, a certificate and an authority, and what a certificate says.

A certificate names the hosts that may show it to whom dials them, and in a URI
`tfdist://CLUSTER/ROLE` what its owner may ask for.
"""

from __future__ import annotations

import os
import re
import ssl
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import quote, unquote

from tfdist.errors import InvalidArgumentError

FILES = KEY, CERTIFICATE, AUTHORITY = "key.pem", "certificate.pem", "authority.pem"
ROLES = ("run", "look", "join")
_MARKS = b"PRIVATE KEY", b"CERTIFICATE", b"CERTIFICATE"  # what is in each of the files
_URI = re.compile(r"tfdist://([^/]+)/(\w+)")


class Principal(NamedTuple):
    """What a certificate says of its owner.

    Attributes:
      cluster: that it belongs to.
      role: what it may ask for, one of `ROLES`.
    """

    cluster: str
    role: str

    def __str__(self) -> str:
        return f"tfdist://{quote(self.cluster, safe='')}/{self.role}"


class Names(NamedTuple):
    """The names in a certificate.

    Attributes:
      hosts: names and numbers of hosts.
      uris: what else it is.
    """

    hosts: tuple[str, ...]
    uris: tuple[str, ...]

    @property
    def principal(self) -> Principal | None:
        """Return cluster and role that are named, None if none are."""
        found = filter(None, map(_URI.fullmatch, self.uris))
        return next((Principal(unquote(each[1]), each[2]) for each in found), None)


def names_of(certificate: Mapping[str, object]) -> Names:
    """Return the names in a certificate.

    Args:
      certificate: as `SSLSocket.getpeercert` tells it, or gRPC's `auth_context`.
    """
    alternatives = certificate.get("subjectAltName")
    if isinstance(alternatives, tuple):
        pairs = [(str(kind), str(name)) for kind, name in alternatives]
        named = [name for kind, name in pairs if kind == "DNS"]
        named += [str(ip_address(name)) for kind, name in pairs if kind == "IP Address"]
        return Names(tuple(named), tuple(name for kind, name in pairs if kind == "URI"))
    hosts = (*_texts(certificate.get("peer_dns")), *_texts(certificate.get("peer_ip")))
    return Names(hosts, _texts(certificate.get("peer_uri")))


def _texts(values: object) -> tuple[str, ...]:
    return tuple(each.decode() for each in values) if isinstance(values, Iterable) else ()


def role_of(certificate: Mapping[str, object]) -> Principal | None:
    """Return cluster and role that a certificate names, None if it names none.

    Args:
      certificate: as `SSLSocket.getpeercert` tells it, or gRPC's `auth_context`.

    Example:
      >>> role_of({"subjectAltName": (("URI", "tfdist://mnist/look"),)})
      Principal(cluster='mnist', role='look')
    """
    return names_of(certificate).principal


@dataclass(frozen=True)
class Identity:
    """A key, the certificate for it, and the authority that is believed; all in PEM.

    Attributes:
      key: private.
      certificate: the own one first, then those between it and the authority, if any.
      authority: one or, while one takes the place of another, several.
      told: what the certificate says, as `SSLSocket.getpeercert` tells it.

    Raises:
      InvalidArgumentError: they do not belong together, or the certificate does not hold now.
    """

    key: bytes = field(repr=False)
    certificate: bytes = field(repr=False)
    authority: bytes = field(repr=False)
    told: Mapping[str, object] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        try:
            self._check_marks()
            told = _as_seen(self)
        except (ssl.SSLError, ValueError) as error:
            raise InvalidArgumentError(in_words(error)) from None
        object.__setattr__(self, "told", told)

    def _check_marks(self) -> None:
        parts = self.key, self.certificate, self.authority
        for text, mark, name in zip(parts, _MARKS, FILES, strict=True):
            if mark not in text:
                raise ValueError(f"{name} holds no {mark.decode().lower()} in PEM")

    @property
    def principal(self) -> Principal | None:
        """Return whose it is, None if its certificate does not say."""
        return role_of(self.told)

    @property
    def role(self) -> str:
        """Return its role, "" if its certificate names none."""
        return self.principal.role if self.principal else ""

    @property
    def hosts(self) -> tuple[str, ...]:
        """Return names and numbers of the hosts that may show it to whom dials them."""
        return names_of(self.told).hosts

    @property
    def until(self) -> float:
        """Return when its certificate ends, in seconds since 1970."""
        return float(ssl.cert_time_to_seconds(str(self.told["notAfter"])))

    def is_shown_in(self, auth_context: Mapping[str, object]) -> bool:
        """Return whether gRPC's `auth_context` is that of a caller who shows this very one."""
        shown = "".join(_texts(auth_context.get("x509_pem_cert")))
        return bool(shown) and _der(shown) == _der(self.certificate.decode("ascii"))

    @cached_property
    def client_context(self) -> ssl.SSLContext:
        """Return how this side dials: `server_hostname` is checked."""
        return client_context(self)

    @cached_property
    def server_context(self) -> ssl.SSLContext:
        """Return how this side is dialled: who shows no certificate is refused."""
        return _context(self, ssl.PROTOCOL_TLS_SERVER)


def _der(pem: str) -> bytes:
    """Return the first certificate of a text."""
    start, end = pem.index(ssl.PEM_HEADER), pem.index(ssl.PEM_FOOTER) + len(ssl.PEM_FOOTER)
    return ssl.PEM_cert_to_DER_cert(pem[start:end])


def client_context(identity: Identity) -> ssl.SSLContext:
    """Return a context of one's own, to be changed; see `Identity.client_context`."""
    return _context(identity, ssl.PROTOCOL_TLS_CLIENT)


def _context(identity: Identity, side: int) -> ssl.SSLContext:
    context = ssl.SSLContext(side)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.verify_mode = ssl.CERT_REQUIRED
    context.options |= getattr(ssl, "OP_ENABLE_KTLS", 0)  # where Python and the system can
    context.load_verify_locations(cadata=identity.authority.decode("ascii", "backslashreplace"))
    # OpenSSL reads keys from files only
    with _file_of(identity.certificate + b"\n" + identity.key) as path:
        context.load_cert_chain(path, password=_no_password)
    return context


@contextmanager
def _file_of(text: bytes) -> Iterator[str]:
    """Yield the path of a file that holds `text` meanwhile, on no disk where that is possible."""
    if not hasattr(os, "memfd_create"):
        with tempfile.NamedTemporaryFile() as file:
            file.write(text)
            file.flush()
            yield file.name
        return
    with open(os.memfd_create("tfdist-identity"), "wb") as file:
        file.write(text)
        file.flush()
        yield f"/proc/self/fd/{file.fileno()}"


def _no_password() -> str:
    raise ValueError(f"{KEY} is encrypted with a password, and nobody could type it")


def _as_seen(identity: Identity) -> Mapping[str, object]:
    """Return what others see of an identity: it is shown to a server that has the same one.

    So what they would say of it is known here first; and no further library has to read it.
    """
    client = client_context(identity)
    client.check_hostname = False
    client.verify_mode = ssl.CERT_NONE  # only who dials is in question
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    dialled = identity.server_context.wrap_bio(to_server, to_client, server_side=True)
    dialling = client.wrap_bio(to_client, to_server)
    for end in (dialling, dialled, dialling, dialled):
        with suppress(ssl.SSLWantReadError):
            end.do_handshake()
    return dialled.getpeercert() or {}


def in_words(error: Exception) -> str:
    """Return what is wrong, of an error that `ssl` raised."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message.rstrip(".")
    if isinstance(error, ssl.SSLError) and error.reason:
        if error.reason == "KEY_VALUES_MISMATCH":
            return f"{KEY} is not the key of {CERTIFICATE}"
        return error.reason.replace("_", " ").lower()
    return str(error)
