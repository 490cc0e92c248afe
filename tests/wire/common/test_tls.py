"""What a process shows of itself, and whom it believes: identities, and connections with them."""

import socket
import ssl
import threading
import time
from contextlib import contextmanager

import pytest

from tfdist import errors
from tfdist.launch.authority import Authority, new_request, write_identity
from tfdist.wire.common import identity_folder, tls
from tfdist.wire.common.identity import Identity, Principal, _file_of, in_words, role_of
from tfdist.wire.common.identity_folder import is_private, read_identity
from tfdist.wire.common.tls import own_identity, ssl_context, use_identity

MNIST = Authority("mnist")
OTHER = Authority("mnist")  # of the same name


@pytest.fixture(autouse=True)
def nothing_is_used(monkeypatch):
    """Begin without an identity, and leave none behind."""
    monkeypatch.delenv("TFDIST_REMOTE", raising=False)
    monkeypatch.delenv("TFDIST_TLS", raising=False)
    yield
    tls._used.clear()
    tls._folder.cache_clear()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the folder that this process's identity comes from."""
    path = tmp_path / "identity"
    write_identity(path, MNIST.identity(["127.0.0.1"]))
    monkeypatch.setenv("TFDIST_REMOTE", "tls")
    monkeypatch.setenv("TFDIST_TLS", str(path))
    return path


def test_an_identity_tells_its_names_its_role_and_its_end():
    hosts = ("worker-1.cluster", "10.0.0.7", "fd00::7")
    identity = MNIST.identity(hosts, "join", days=2)
    assert identity.principal == Principal("mnist", "join")
    assert identity.hosts == hosts
    assert identity.until == pytest.approx(time.time() + 2 * 86400, abs=60)


def test_a_key_is_in_no_text():
    assert "PRIVATE" not in repr(MNIST.identity())


def test_a_cluster_may_have_any_name():
    identity = Authority("Übung 1/a").identity(role="look")
    assert identity.principal == Principal("Übung 1/a", "look")


ALIEN = OTHER.identity()
GOOD = MNIST.identity()
BROKEN = [
    pytest.param((ALIEN.key, GOOD.certificate, MNIST.pem), "key.pem is not the key of", id="key"),
    pytest.param((GOOD.key, GOOD.certificate, OTHER.pem), "issuer", id="authority"),
    pytest.param((b"", GOOD.certificate, MNIST.pem), "holds no private key in PEM", id="no key"),
    pytest.param(
        (GOOD.key, b"x", MNIST.pem),
        "certificate.pem holds no certificate in PEM",
        id="no certificate",
    ),
    pytest.param((GOOD.key, GOOD.certificate, b""), "authority.pem holds no", id="no authority"),
    pytest.param((GOOD.key, GOOD.certificate, b"\xffCERTIFICATE"), ".", id="no text"),
]


@pytest.mark.parametrize(("parts", "said"), BROKEN)
def test_what_does_not_belong_together_is_no_identity(parts, said):
    with pytest.raises(errors.InvalidArgumentError, match=said):
        Identity(*parts)


def test_a_certificate_that_has_ended_is_of_no_use():
    key, request = new_request()
    with pytest.raises(errors.InvalidArgumentError, match="certificate has expired"):
        Identity(key, MNIST.sign(request, [], days=-0.001), MNIST.pem)


@pytest.mark.parametrize(
    ("uri", "found"),
    [
        ("tfdist://mnist/run", Principal("mnist", "run")),
        ("tfdist://a%2Fb/join", Principal("a/b", "join")),
        ("tfdist://mnist", None),
        ("https://mnist/run", None),
        ("tfdist://mnist/run/more", None),
    ],
)
def test_the_role_in_a_certificate(uri, found):
    assert role_of({"peer_uri": [b"spiffe://x/y", uri.encode()]}) == found
    assert role_of({"subjectAltName": (("DNS", "a"), ("URI", uri))}) == found


def test_without_a_word_there_is_no_identity():
    assert own_identity() is None
    with pytest.raises(errors.PermissionDeniedError, match="tfdist certificates"):
        ssl_context(server_side=False)


def test_an_identity_for_some_servers_is_not_shown_to_others():
    use_identity(GOOD)
    use_identity(ALIEN, at=["10.0.0.7:2222"])
    assert own_identity("10.0.0.7:2222") is ALIEN
    assert own_identity("10.0.0.7:2223") is own_identity() is GOOD
    use_identity(None, at=["10.0.0.7:2222"])
    assert own_identity("10.0.0.7:2222") is GOOD


def test_tls_needs_a_folder(monkeypatch):
    monkeypatch.setenv("TFDIST_REMOTE", "tls")
    with pytest.raises(errors.PermissionDeniedError, match=r"TFDIST_TLS is not set.*\n.*=FOLDER"):
        own_identity()


def test_files_that_are_not_there_are_named(tmp_path):
    with pytest.raises(errors.InvalidArgumentError, match=r"key.pem: No such file"):
        read_identity(tmp_path)


def test_a_key_that_others_may_read_is_refused(folder):
    (folder / "key.pem").chmod(0o640)
    with pytest.raises(errors.PermissionDeniedError, match=r"others may read .*: chmod 600 /"):
        own_identity()


@pytest.mark.parametrize(
    ("mode", "owner", "user", "expected"),
    [
        pytest.param(0o600, 1000, 1000, True, id="one's own"),
        pytest.param(0o640, 1000, 1000, False, id="one's own, and a group's"),
        pytest.param(0o440, 0, 1000, True, id="root's, and one's group's: a pod's secret"),
        pytest.param(0o444, 0, 1000, False, id="root's, and everybody's"),
        pytest.param(0o400, 0, 0, True, id="root's own"),
        pytest.param(0o440, 0, 0, False, id="root's own, and a group's"),
    ],
)
def test_who_may_read_a_key(mode, owner, user, expected):
    assert is_private(mode, owner, user) is expected


def test_files_that_are_replaced_are_read_again(folder):
    before = own_identity()
    assert own_identity() is before
    write_identity(folder, MNIST.identity(["10.0.0.7"], "look"))
    assert own_identity().role == "look"


def test_until_all_files_are_replaced_the_old_ones_are_used(folder, capsys):
    before = own_identity()
    new = MNIST.identity()
    (folder / "certificate.pem").write_bytes(new.certificate)
    assert own_identity() is before
    (folder / "key.pem").write_bytes(new.key)
    assert own_identity() == new
    assert capsys.readouterr().err == ""


def test_files_that_stay_wrong_are_told_of_once(folder, capsys, monkeypatch):
    before = own_identity()
    monkeypatch.setattr(identity_folder, "_REPLACING", 0.0)
    (folder / "certificate.pem").write_bytes(ALIEN.certificate)
    assert own_identity() is own_identity() is before
    [line] = capsys.readouterr().err.splitlines()
    assert "key.pem is not the key of certificate.pem" in line
    assert line.endswith("The one before stays in use")


@contextmanager
def listening(identity):
    """Yield the port of a server that echoes over TLS, and what became of its connections."""
    outcomes = []

    def serve(server):
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                try:
                    with identity.server_context.wrap_socket(connection, True) as secured:
                        secured.sendall(secured.recv(100))
                        outcomes.append(role_of(secured.getpeercert()))
                except ssl.SSLError as error:
                    outcomes.append(in_words(error))

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, args=(server,))
        thread.start()
        yield server.getsockname()[1], outcomes
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def answer(identity, port, host="127.0.0.1"):
    """Return what a server answers to who shows an identity, or why there is no answer."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        try:
            context = identity.client_context
            with context.wrap_socket(connection, server_hostname=host) as secured:
                secured.sendall(b"hello")
                return secured.recv(100)
        except ssl.SSLError as error:
            return in_words(error)


CONNECTIONS = [
    pytest.param(MNIST.identity(role="look"), "127.0.0.1", b"hello", id="of this authority"),
    pytest.param(MNIST.identity(), "10.0.0.7", "not valid for '10.0.0.7'", id="another number"),
    pytest.param(MNIST.identity(), "localhost", "not valid for 'localhost'", id="another name"),
    pytest.param(OTHER.identity(), "127.0.0.1", "self-signed", id="of another authority"),
]


@pytest.mark.parametrize(("identity", "host", "expected"), CONNECTIONS)
def test_who_dials_checks_who_answers(identity, host, expected):
    with listening(MNIST.identity(["127.0.0.1"])) as (port, _):
        found = answer(identity, port, host)
    assert found == expected if isinstance(expected, bytes) else expected in found


def test_a_certificate_without_hosts_is_no_server_s():
    with listening(MNIST.identity()) as (port, _):
        assert "purpose" in answer(MNIST.identity(), port)


def stranger(shows=None, version=ssl.TLSVersion.TLSv1_3):
    """Return the context of a client that believes everybody, and shows this identity."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.maximum_version = version
    if shows is not None:
        with _file_of(shows.certificate + shows.key) as path:
            context.load_cert_chain(path)
    return context


STRANGERS = [
    pytest.param(stranger(), "peer did not return a certificate", id="no certificate"),
    pytest.param(stranger(ALIEN), "unable to get local issuer", id="of another authority"),
    pytest.param(stranger(GOOD, ssl.TLSVersion.TLSv1_2), "unsupported protocol", id="TLS 1.2"),
]


@pytest.mark.parametrize(("context", "said"), STRANGERS)
def test_who_is_dialled_checks_who_dials(context, said):
    with listening(MNIST.identity(["127.0.0.1"])) as (port, outcomes):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            with pytest.raises((ssl.SSLError, ConnectionError)):
                with context.wrap_socket(connection) as secured:
                    assert secured.recv(100), "closed"
    assert len(outcomes) == 1
    assert said in outcomes[0]


def test_contexts_are_those_of_the_identity_now(folder):
    first = ssl_context(server_side=True)
    assert ssl_context(server_side=True) is first
    write_identity(folder, MNIST.identity(["127.0.0.1"]))
    assert ssl_context(server_side=True) is not first
