"""A cluster's own certificate authority, which whoever starts the cluster has in memory.

The key of a task is made where the task runs, and never travels: `new_request` makes it, and a
request that says nothing but that key. The authority signs the request, with the names of the host
and the role that the launcher knows, whatever the asker would like.

    in the task:      key, request = new_request()
    in the launcher:  certificate = authority.sign(request, ["10.0.0.7"], "join")
    in the task:      use_identity(Identity(key, certificate, authority.pem))

To import it needs cryptography, of the extra `tls`; to use certificates needs nothing.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tfdist.base.extras import require
from tfdist.errors import InvalidArgumentError
from tfdist.wire.common.identity import (
    AUTHORITY,
    CERTIFICATE,
    KEY,
    ROLES,
    Identity,
    Names,
    Principal,
)

require("cryptography")
from cryptography import x509  # noqa: E402
from cryptography.hazmat.primitives import hashes  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec  # noqa: E402
from cryptography.hazmat.primitives.serialization import (  # noqa: E402
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID  # noqa: E402

DAYS = 365.0  # that a certificate holds
_AUTHORITY_DAYS = 3650.0
_CLOCKS_DIFFER = timedelta(minutes=10)  # a host whose clock is slow takes a new certificate, too
_SHOWN, _SHOWN_BY_SERVERS = ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH


class Authority:
    """Signs certificates for one cluster.

    Args:
      cluster: its name, which every certificate has; "" for that of the kept one.
      kept: key and certificate in PEM that `Authority.kept` gave; by default new ones are made.

    Raises:
      InvalidArgumentError: `kept` is not of that kind, or another cluster's.
    """

    def __init__(self, cluster: str = "", kept: bytes = b"") -> None:
        if kept:
            self._key, self._certificate = _parsed(kept)
        else:
            self._key = ec.generate_private_key(ec.SECP256R1())
            self._certificate = _self_signed(cluster, self._key)
        own = names_in(self.pem).principal
        self.cluster = own.cluster if own else cluster
        if cluster not in ("", self.cluster):
            raise InvalidArgumentError(f"this is the authority of {self.cluster}, not of {cluster}")

    @property
    def pem(self) -> bytes:
        """Return its certificate, which everybody in the cluster believes."""
        return self._certificate.public_bytes(Encoding.PEM)

    @property
    def kept(self) -> bytes:
        """Return private key and certificate, for who makes more certificates another day."""
        return _key_pem(self._key) + self.pem

    def sign(
        self, request: bytes, hosts: Collection[str], role: str = "run", days: float = DAYS
    ) -> bytes:
        """Return the certificate for the key in a request, in PEM.

        Args:
          request: of `new_request`; of what it says nothing counts but the key.
          hosts: names and numbers by which the owner's servers are dialled; none for a client.
          role: "run", "look" or "join"; see `wire.roles`.
          days: that it holds.

        Raises:
          InvalidArgumentError: there is no such role, or the request is none.
        """
        if role not in ROLES:
            raise InvalidArgumentError(f"no role {role!r}: there are {', '.join(ROLES)}")
        uses = [_SHOWN, _SHOWN_BY_SERVERS] if hosts else [_SHOWN]
        names = [*map(_host_name, hosts), _uri(Principal(self.cluster, role))]
        builder = (
            _dated(days)
            .subject_name(_name(f"tfdist {role}"))
            .public_key(_asked(request))
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(x509.ExtendedKeyUsage(uses), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        )
        return self._signed(builder).public_bytes(Encoding.PEM)

    def identity(
        self, hosts: Collection[str] = (), role: str = "run", days: float = DAYS
    ) -> Identity:
        """Return an identity for a process here, such as the launcher's own; see `sign`."""
        key, request = new_request()
        return Identity(key, self.sign(request, hosts, role, days), self.pem)

    def _signed(self, builder: x509.CertificateBuilder) -> x509.Certificate:
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        return (
            builder.issuer_name(self._certificate.subject)
            .add_extension(issuer, critical=False)
            .sign(self._key, hashes.SHA256())
        )


def new_request() -> tuple[bytes, bytes]:
    """Return a new private key, and the request to sign it, both in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    request = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([]))
    return _key_pem(key), request.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)


def names_in(pem: bytes) -> Names:
    """Return the names in a certificate in PEM, whoever has signed it and until when.

    Raises:
      InvalidArgumentError: it is none.
    """
    try:
        found = x509.load_pem_x509_certificate(pem)
        names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except ValueError as error:
        raise InvalidArgumentError(f"this is no certificate: {error}") from None
    except x509.ExtensionNotFound:
        return Names((), ())
    numbers = map(str, names.get_values_for_type(x509.IPAddress))
    hosts = *names.get_values_for_type(x509.DNSName), *numbers
    return Names(hosts, tuple(names.get_values_for_type(x509.UniformResourceIdentifier)))


def write_identity(folder: Path, identity: Identity) -> None:
    """Write the files of an identity to a folder that only this user can enter.

    Servers that use the folder meanwhile go on with what was there until all files are new.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    write_private(folder / AUTHORITY, identity.authority)
    write_private(folder / CERTIFICATE, identity.certificate)
    write_private(folder / KEY, identity.key)


def write_private(path: Path, text: bytes) -> None:
    """Write a file that only this user may read, in the place of one that may be there."""
    draft = path.with_name(f".{path.name}-{os.getpid()}")
    draft.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with open(os.open(draft, flags, 0o600), "wb") as file:
        file.write(text)
    draft.replace(path)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _parsed(kept: bytes) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    try:
        key = load_pem_private_key(kept, None)
        certificate = x509.load_pem_x509_certificate(kept)
    except (ValueError, TypeError) as error:
        raise InvalidArgumentError(f"this is no authority's key and certificate: {error}") from None
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise InvalidArgumentError("an authority's key is one of elliptic curves, as we make it")
    if certificate.public_key() != key.public_key():
        raise InvalidArgumentError("the key is not that of the authority's certificate")
    return key, certificate


def _asked(request: bytes) -> ec.EllipticCurvePublicKey:
    """Return the key that a request asks to sign."""
    try:
        asked = x509.load_pem_x509_csr(request)
        is_its_own = asked.is_signature_valid
        key = asked.public_key()
    except ValueError as error:
        raise InvalidArgumentError(f"this is no certificate request: {error}") from None
    if not (is_its_own and isinstance(key, ec.EllipticCurvePublicKey)):
        raise InvalidArgumentError("the certificate request is none that `new_request` made")
    return key


def _self_signed(cluster: str, key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    # authorities of clusters of one name have different names: who meets the wrong one is told so
    name = _name(f"tfdist {cluster} {os.urandom(4).hex()}")
    public, uri = key.public_key(), _uri(Principal(cluster, "authority"))
    identifier = x509.SubjectKeyIdentifier.from_public_key(public)
    return (
        _dated(_AUTHORITY_DAYS)
        .subject_name(name)
        .issuer_name(name)
        .public_key(public)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_SIGNS_ONLY, critical=True)
        .add_extension(x509.SubjectAlternativeName([uri]), critical=False)
        .add_extension(identifier, critical=False)
        .sign(key, hashes.SHA256())
    )


_SIGNS_ONLY = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


def _dated(days: float) -> x509.CertificateBuilder:
    """Return a certificate that holds from now on, and has a number."""
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCKS_DIFFER)
        .not_valid_after(now + timedelta(days=days))
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:64])])  # the most it may have


def _host_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host.removeprefix("[").removesuffix("]")))
    except ValueError:
        return x509.DNSName(host)


def _uri(principal: Principal) -> x509.GeneralName:
    return x509.UniformResourceIdentifier(str(principal))
