"""`tfdist health` says by its exit code whether a server serves."""

import pytest

import tfdist as tf
from tests.ports import free_port
from tfdist import cli


@pytest.fixture
def server():
    """Yield a server of this process."""
    server = tf.train.Server({"worker": [f"localhost:{free_port()}"]}, "worker", 0)
    yield server
    server.stop()


def test_a_server_that_serves_is_silence(server, capsys):
    assert cli.main(["health", server.target]) == 0
    assert cli.main(["health", server.target, "--service", "liveness"]) == 0
    assert capsys.readouterr() == ("", "")


def test_by_default_it_is_the_task_that_serve_would_be(server, monkeypatch):
    address = server.target.removeprefix("grpc://")
    monkeypatch.setenv("TFDIST_CLUSTER", f"ps=localhost:1;worker={address}")
    monkeypatch.setenv("TFDIST_JOB", "worker")
    assert cli.main(["health"]) == 0


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (
            ["localhost:{port}"],
            1,
            "tfdist: localhost:{port}: no server answers at",
        ),
        (["nonsense"], 2, "tfdist health: a server's address is HOST:PORT, not 'nonsense'"),
        ([], 2, "tfdist health: no cluster: looked for --cluster"),
    ],
)
def test_what_does_not_serve_is_a_sentence(options, code, said, capsys, monkeypatch):
    for name in ("TFDIST_CLUSTER", "TF_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    port = free_port()
    assert cli.main(["health", *(each.format(port=port) for each in options)]) == code
    assert capsys.readouterr().err.startswith(said.format(port=port))
