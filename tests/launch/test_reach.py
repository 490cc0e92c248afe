"""`tfdist doctor HOST:PORT`, from the name to the clock (two hosts: tests/wire/grpc/test_tls)."""

import socket

import pytest

import tfdist as tf
from tests.ports import free_port
from tfdist.base.extras import installed
from tfdist.cli import main as cli


def told(address, capsys, code):
    """Return what the doctor says of a server, by what it looked at."""
    assert cli.main(["doctor", address]) == code
    return dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())


@pytest.mark.parametrize("scheme", ["", "grpc://"])
def test_a_server_of_this_machine(scheme, capsys):
    with tf.train.Server.create_local_server() as server:
        found = told(scheme + server.target.removeprefix("grpc://"), capsys, 0)
    assert found.pop("port").startswith("takes connections, within ")
    assert found == {
        "name": "localhost is 127.0.0.1",
        "route": "to this machine itself",
        "certificate": "this process has none to show: neither TFDIST_REMOTE=tls with TFDIST_TLS, "
        "nor from a cluster",
        "handshake": "none: on one machine servers ask which user calls",
        "version": f"tfdist {installed('tfdist')} (as here); /job:local/replica:0/task:0",
        "clock": "the same one: it runs on this machine",
    }


def test_a_name_that_nobody_knows(capsys):
    assert told("host.invalid:2222", capsys, 1)["name"].startswith("no such host: ")


def test_a_port_at_which_nobody_listens(capsys):
    found = told(f"localhost:{free_port()}", capsys, 1)
    assert found["port"].startswith("Connection refused; the host is there, but nothing listens")
    assert "version" not in found


def test_a_listener_that_is_silent(capsys, monkeypatch):
    monkeypatch.setattr("tfdist.launch.reach._PATIENCE", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        found = told(f"localhost:{silent.getsockname()[1]}", capsys, 1)
    assert found["handshake"].startswith("no answer: timed out; the host may be off")


def test_a_certificate_that_is_of_no_use(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("TFDIST_REMOTE", "tls")
    monkeypatch.setenv("TFDIST_TLS", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as somebody:
        found = told(f"localhost:{somebody.getsockname()[1]}", capsys, 1)
    assert "key.pem: No such file" in found["certificate"]


def test_an_address_has_a_port(capsys):
    assert cli.main(["doctor", "localhost"]) == 1
    assert "a server's address is HOST:PORT, not 'localhost'" in capsys.readouterr().err
