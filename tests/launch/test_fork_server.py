"""Servers that are forked: what servers with an interpreter of their own are, but quicker."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import tfdist as tf
from tests.launch.waiting import PATIENCE, is_gone, wait_until
from tfdist.cluster.spec import ClusterSpec
from tfdist.launch import forked_process
from tfdist.launch.owner import start_of
from tfdist.launch.ports import KeptPorts
from tfdist.launch.server_process import ServerProcess


@contextmanager
def servers(folder, number=1):
    """Give servers of one job, in their own processes."""
    with closing(KeptPorts(number)) as ports:
        spec = ClusterSpec({"x": [f"127.0.0.1:{port}" for port in ports.numbers]})
        ports.let_servers_bind()
        made = [ServerProcess(spec, "x", i, folder / f"{i}.log") for i in range(number)]
        try:
            for each in made:
                each.start()
            yield made
        finally:
            for each in made:
                each.kill()


def parent_of(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_all_servers_are_forks_of_one_process(tmp_path):
    with servers(tmp_path, 2) as (first, second):
        assert parent_of(first.pid) == parent_of(second.pid) != os.getpid()
        assert Path(f"/proc/{second.pid}/comm").read_text() == "tfd x:1\n"


def test_a_fork_has_imported_what_the_first_steps_of_a_training_need(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")
    with servers(tmp_path, 2) as (one, other), tf.Graph().as_default():
        with tf.device(one.task_name):
            weights = tf.Variable(tf.zeros([3, 2]))
        with tf.device(other.task_name):
            logits = tf.matmul(tf.ones([4, 3]), weights)
            labels = tf.one_hot([0, 1, 0, 1], 2)
            loss = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(loss))
        with tf.Session(one.target) as session:
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(train)
        for server in (one, other):
            imported = [line for line in server.logs(1000) if line.startswith("import time:")]
            assert imported == []


def test_any_thread_may_see_the_end_of_a_fork(tmp_path):
    with servers(tmp_path, 4) as made:
        for server in made:
            process, ends = server._process, []
            threads = [
                threading.Thread(target=lambda p=process, e=ends: e.append(p.wait(PATIENCE)))
                for _ in range(8)
            ]
            for each in threads:
                each.start()
            process.kill()
            while process.poll() is None:
                pass
            for each in threads:
                each.join()
            assert ends == [-signal.SIGKILL] * 8


@pytest.mark.parametrize("change", ["environment", "folder"])
def test_what_has_changed_since_holds_for_the_next_server(change, tmp_path, monkeypatch):
    with servers(tmp_path) as [first]:
        if change == "folder":
            monkeypatch.chdir(tmp_path)
        else:
            monkeypatch.setenv("TFDIST_TEST_OF_FORKS", "1")
        with servers(tmp_path) as [second]:
            assert os.readlink(f"/proc/{second.pid}/cwd") == os.getcwd()
            found = Path(f"/proc/{second.pid}/environ").read_text().split("\0")
            assert ("TFDIST_TEST_OF_FORKS=1" in found) is (change == "environment")
            assert first.state == "up"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_how_a_server_ended_is_told(number, tmp_path):
    with servers(tmp_path) as [server]:
        os.kill(server.pid, number)
        assert server.wait_end(PATIENCE)
        told = {
            signal.SIGKILL: "exited (SIGKILL)",
            signal.SIGTERM: "exited (0)",
            signal.SIGSEGV: "crashed (SIGSEGV)",
        }
        assert server.state == told[number]
        server.kill()  # nothing happens
        server.start()
        assert server.state == "up"


def test_servers_end_with_a_fork_server_that_is_killed_and_start_anew(tmp_path):
    with servers(tmp_path, 2) as made:
        before = parent_of(made[0].pid)
        os.kill(before, signal.SIGKILL)
        for each in made:
            assert each.wait_end(PATIENCE)
            assert each.state == "exited (SIGKILL)"
            each.start()
            assert parent_of(each.pid) != before


def test_where_nothing_can_be_forked_servers_begin_by_themselves(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "pidfd_open")
    with servers(tmp_path) as [server]:
        assert parent_of(server.pid) == os.getpid()
        assert server.state == "up"
        server.stop()
        assert server.state == "exited (0)"


def test_a_fork_server_that_cannot_begin_is_done_without(tmp_path, monkeypatch):
    """Its answer does not come: the interpreter ends at once."""
    with servers(tmp_path):
        monkeypatch.setattr(forked_process, "_current", None)
        monkeypatch.setattr(forked_process, "_COMMAND", ["-c", "pass"])
        with servers(tmp_path) as [server]:
            assert parent_of(server.pid) == os.getpid()


# It starts a server, forks a process that holds all its files open, and waits.
PROGRAM = textwrap.dedent(
    """
    import os, sys, time
    from pathlib import Path
    from tests.launch.test_fork_server import servers
    with servers(Path(sys.argv[1])) as [server]:
        child = os.fork()
        if child == 0:
            time.sleep(600)
        print(server.pid, child, flush=True)
        sys.stdin.readline()
    """
)


def test_a_forked_child_of_a_killed_parent_keeps_no_server_alive(tmp_path):
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(tmp_path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as parent:
        server, child = map(int, parent.stdout.readline().split())
        try:
            between = parent_of(server)
            parent.kill()
            wait_until(lambda: is_gone(server) and is_gone(between))
            assert start_of(child)
        finally:
            os.kill(child, signal.SIGKILL)
