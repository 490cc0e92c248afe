"""Lists of hosts, and the command that a task is on one."""

import subprocess
import sys

import pytest

from tfdist.launch.exchange.seat import Seat
from tfdist.launch.managers.ssh_hosts import SshHost, dealt, parse_hosts
from tfdist.launch.managers.ssh_task import command_of

LINES = [
    ("n1", SshHost("n1")),
    ("ada@n2:2222", SshHost("n2", "ada", 2222)),
    ("[fd00::7]:2222 slots=4", SshHost("fd00::7", "", 2222, 4)),
    ("n3 python=/opt/bin/python", SshHost("n3", python="/opt/bin/python")),
    ("n4  address=10.1.0.4 # the fast network", SshHost("n4", address="10.1.0.4")),
]


@pytest.mark.parametrize(("line", "host"), LINES)
def test_a_line_is_a_host(line, host):
    assert parse_hosts(f"# ours\n\n{line}\n") == [host]


WRONG = [
    ("", "names no host"),
    ("n1 slot=2", "line 1: 'n1 slot=2' is no host; wanted"),
    ("n1\nn2 slots=0", "line 2: slots is a number of one or more"),
    ("n1:ssh", "is no host"),
    ("n1 python=", "is no host"),
]


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_a_list_that_makes_no_sense_is_refused(text, said):
    with pytest.raises(ValueError, match=said):
        parse_hosts(text)


def test_tasks_go_round_the_hosts():
    hosts = [SshHost("a", slots=2), SshHost("b")]
    assert [host.name for host in dealt(hosts, 5)] == ["a", "a", "b", "a", "a"]


WAYS_IN = [
    ("10.0.0.9 50000 10.0.0.7 22", "10.0.0.7"),
    ("fd00::9 50000 fd00::7 22", "[fd00::7]"),
]


@pytest.mark.parametrize(("connection", "address"), WAYS_IN)
def test_a_task_serves_where_ssh_came_in(connection, address):
    """The interpreter is `echo`, so the command prints what it would be called with."""
    command = command_of(Seat("worker", 1), SshHost("n1", python="echo"), dict)
    told = subprocess.run(
        command, shell=True, env={"SSH_CONNECTION": connection, "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert f"serve --exchange stdio --job worker --host {address} --task 1" in told.stdout


def test_an_address_of_ones_own_is_taken():
    command = command_of(Seat("ps", 0), SshHost("n1", address="10.1.0.4"), dict)
    assert f"{sys.executable} -m tfdist serve" in command
    assert "--host 10.1.0.4" in command
