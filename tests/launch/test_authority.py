"""A cluster's authority: what it signs, and what it does not believe."""

import pytest

from tfdist.errors import InvalidArgumentError
from tfdist.launch.authority import Authority, names_in, new_request, write_identity
from tfdist.wire.common.identity import Identity, Principal

MNIST = Authority("mnist")


def test_a_task_keeps_its_key_and_gets_the_names_that_the_launcher_knows():
    key, request = new_request()
    assert b"PRIVATE" not in request
    signed = MNIST.sign(request, ["worker-1", "10.0.0.7"], "join")
    identity = Identity(key, signed, MNIST.pem)
    assert (identity.hosts, identity.role) == (("worker-1", "10.0.0.7"), "join")


def test_a_changed_request_is_not_signed():
    _, request = new_request()
    _, other = new_request()
    lines, others = request.splitlines(), other.splitlines()
    forged = b"\n".join([*lines[:2], *others[2:]])
    with pytest.raises(InvalidArgumentError, match="request"):
        MNIST.sign(forged, [])


@pytest.mark.parametrize("request_", [b"", b"no request", MNIST.pem])
def test_what_is_no_request_is_not_signed(request_):
    with pytest.raises(InvalidArgumentError, match="this is no certificate request"):
        MNIST.sign(request_, [])


def test_there_are_three_roles():
    with pytest.raises(InvalidArgumentError, match="no role 'root': there are run, look, join"):
        MNIST.sign(new_request()[1], [], "root")


def test_an_authority_may_be_kept():
    again = Authority("mnist", MNIST.kept)
    assert again.pem == MNIST.pem
    assert Authority(kept=MNIST.kept).cluster == "mnist"
    assert again.identity().principal == Principal("mnist", "run")


def test_a_kept_authority_is_one_cluster_s():
    with pytest.raises(InvalidArgumentError, match="the authority of mnist, not of cifar"):
        Authority("cifar", MNIST.kept)


@pytest.mark.parametrize("kept", [b"x", MNIST.pem, Authority("other").kept[:240] + MNIST.pem])
def test_what_is_no_authority_is_refused(kept):
    with pytest.raises(InvalidArgumentError, match=r"authority's"):
        Authority("mnist", kept)


def test_an_authority_s_own_certificate_lets_nobody_in():
    assert names_in(MNIST.pem).principal == Principal("mnist", "authority")


def test_nobody_else_reads_the_files(tmp_path):
    folder = tmp_path / "identity"
    folder.mkdir(mode=0o755)
    (folder / "key.pem").touch(0o644)
    write_identity(folder, MNIST.identity())
    modes = {path.name: path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())}
    assert modes == {
        "identity": 0o700, "key.pem": 0o600, "certificate.pem": 0o600, "authority.pem": 0o600,
    }  # fmt: skip
