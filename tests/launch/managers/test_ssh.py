"""Clusters over a real sshd on the loopback."""

import signal
from contextlib import contextmanager

import psutil
import pytest

from tests.launch.waiting import is_gone, wait_until
from tfdist.launch.managers.ssh import SshManager
from tfdist.launch.start import start_cluster


@pytest.fixture
def hosts(sshd, tmp_path):
    """Return what writes a list of hosts."""

    def write(text):
        path = tmp_path / "hosts.txt"
        path.write_text(text)
        return str(path)

    return write


@contextmanager
def frozen(process):
    """Let a process of sshd's do nothing, as if the network were cut."""
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


def test_a_task_that_is_cut_off_ends_with_its_lease_or_its_connection(
    sshd, hosts, runtime, no_clusters
):
    """While its connection stays open, no end of standard input tells it."""
    manager = SshManager(hosts("hosta\n"))
    manager.lease = 2.0
    with start_cluster({"worker": 1}, on=manager).require() as cluster:
        pid = cluster.status()[0].pid
        connection = psutil.Process(pid).parent()
        with frozen(connection):
            wait_until(lambda: is_gone(pid))
        wait_until(lambda: not cluster.serves("/job:worker/task:0"))
        cluster.restart("worker:0")
        pid = cluster.status()[0].pid
        psutil.Process(pid).parent().kill()  # a connection that is lost ends it at once
        wait_until(lambda: is_gone(pid))
        wait_until(lambda: not cluster.serves("/job:worker/task:0"))
        assert cluster.status()[0].state == "ended: its connection was lost"


FAILURES = [
    pytest.param("hosta python=/nix/python\n", "not found", id="no such interpreter"),
    pytest.param("127.0.0.1:1\n", "cannot reach 127.0.0.1 by ssh", id="no sshd"),
]


@pytest.mark.parametrize(("text", "said"), FAILURES)
def test_a_host_that_cannot_be_used_is_named(sshd, hosts, runtime, text, said):
    outcome = start_cluster({"worker": 1}, on=SshManager(hosts(text)))
    assert (outcome.word, said in outcome.cause) == ("failed", True), outcome.cause


def test_a_host_whose_key_is_not_known_is_not_trusted(sshd, hosts, runtime):
    known = sshd.home.parent / "known_hosts"
    text = known.read_text()
    known.write_text("")
    try:
        outcome = start_cluster({"worker": 1}, on=SshManager(hosts("hosta\n")))
    finally:
        known.write_text(text)
    assert "Host key is not trusted for host" in outcome.cause


def test_hosts_have_to_be_told():
    with pytest.raises(ValueError, match=r"--on ssh:hosts\.txt"):
        start_cluster({"worker": 1}, on="ssh")
    with pytest.raises(ValueError, match=r"cannot read nowhere\.txt"):
        start_cluster({"worker": 1}, on="ssh:nowhere.txt")
