"""Whom a server with TLS refuses: what the log says."""

from tfdist.wire.common import refusals
from tfdist.wire.common.refusals import Refusals
from tfdist.wire.common.security import HostPort

SERVER = HostPort("10.0.0.1", 2222)


def test_a_host_is_told_of_once_in_a_while_with_how_often_it_came(capsys, monkeypatch):
    told = Refusals(SERVER)
    for port in range(3):
        told.say(HostPort("10.0.0.2", port), "it shows no certificate")
    told.say(HostPort("10.0.0.3", 1))
    monkeypatch.setattr(refusals, "_QUIET", 0.0)
    told.say(HostPort("10.0.0.2", 9), "it shows no certificate")
    first, other, again = capsys.readouterr().err.splitlines()
    assert first == (
        "tfdist: 10.0.0.1:2222 refused a connection from 10.0.0.2:0 in its handshake: it shows no "
        "certificate"
    )
    assert "10.0.0.3:1 in its handshake: it speaks no TLS, shows no certificate" in other
    assert again.endswith("10.0.0.2:9 in its handshake: it shows no certificate; and 2 more from "
                          "there in between")  # fmt: skip


def test_not_all_hosts_are_remembered(monkeypatch):
    monkeypatch.setattr(refusals, "_HOSTS", 3)
    told = Refusals(SERVER)
    for number in range(9):
        told.say(HostPort(f"10.0.0.{number}", 1))
    assert len(told._told) == 3
