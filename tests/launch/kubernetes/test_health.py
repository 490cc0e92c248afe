"""`tfdist health` says by its exit code whether a server serves."""

import threading

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

import tfdist as tf
from tests.ports import free_port
from tfdist.cli import main as cli


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


def test_who_watches_is_told_when_the_server_stops(server):
    states = health_pb2.HealthCheckResponse
    with grpc.insecure_channel(server.target.removeprefix("grpc://")) as channel:
        watch = health_pb2_grpc.HealthStub(channel).Watch
        told, alive, given_up = (
            watch(health_pb2.HealthCheckRequest(service=service), timeout=20)
            for service in ("", "liveness", "")
        )
        assert [next(each).status for each in (told, alive, given_up)] == [states.SERVING] * 3
        given_up.cancel()
        stopping = threading.Thread(target=server.stop, args=[0.2])
        stopping.start()
        assert next(told).status == states.NOT_SERVING
        ends = []
        for each in (told, alive):
            with pytest.raises(grpc.RpcError) as ended:
                next(each)
            ends.append(ended.value.code())
        stopping.join()
    assert ends == [grpc.StatusCode.UNAVAILABLE] * 2
