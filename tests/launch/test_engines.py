"""Servers of TensorFlow itself: where they come from, their private network, and their end.

What serves here is tfdist under TensorFlow's name (`stand_in`), so that it is tried everywhere;
`test_tensorflow` tries the real one.
"""

import os
import socket
import subprocess
import sys
import textwrap

import pytest

import tfdist as tf
from tests.launch.stand_in import interpreter
from tests.launch.waiting import is_gone, wait_until
from tfdist.launch.attached_cluster import attach
from tfdist.launch.clusters import running_clusters
from tfdist.launch.engines import engine_by_job, tensorflow_python
from tfdist.launch.private_network import why_no_network
from tfdist.launch.process_cluster import ProcessCluster
from tfdist.launch.start import start_cluster, why_no_tensorflow

JOBS = {"ps": 1, "worker": 2}
MIXED = "mixed"
STRANGER = 12345  # a user who has no process here

pytestmark = pytest.mark.usefixtures("no_other_clusters", "runtime")
in_network = pytest.mark.skipif(bool(why_no_network()), reason=why_no_network())


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    return interpreter(tmp_path_factory.mktemp("stand in"))


def started(python, engine="tensorflow", jobs=JOBS, **more):
    return start_cluster(jobs, engine=engine, python=python, **more)


@pytest.fixture
def no_other_clusters():
    """Stop what a test started, and let what is for all tests run."""
    before = running_clusters()
    yield
    for cluster in running_clusters():
        if cluster not in before and cluster.name != MIXED:
            cluster.stop()


@pytest.fixture(scope="module")
def mixed(python, tmp_path_factory):
    """Return a cluster of both engines, for all tests that leave it as it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path_factory.mktemp("mixed")))
        with started(python, {"worker": "tensorflow"}, name=MIXED).require() as found:
            yield found


def total(cluster, job, task=0):
    """Return a sum over all tasks, from a session at one of them."""
    with tf.Graph().as_default(), tf.Session(cluster.target(job, task)) as session:
        parts = []
        for number, (name, index, _) in enumerate(cluster.spec.tasks(), 1):
            with tf.device(f"/job:{name}/task:{index}"):
                parts.append(tf.constant(float(number)) * 2.0)
        with tf.device(f"/job:{job}/task:{task}"):
            return session.run(tf.add_n(parts))


@pytest.mark.parametrize(
    ("engine", "expected"),
    [
        ("tfdist", {"ps": "tfdist", "worker": "tfdist"}),
        ("tensorflow", {"ps": "tensorflow", "worker": "tensorflow"}),
        ({"ps": "tensorflow"}, {"ps": "tensorflow", "worker": "tfdist"}),
        ({}, {"ps": "tfdist", "worker": "tfdist"}),
    ],
)
def test_each_job_has_an_engine(engine, expected):
    assert engine_by_job(JOBS, engine) == expected


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        ("jax", "no engine 'jax'; there are tfdist and tensorflow"),
        ({"chief": "tensorflow"}, "no job 'chief' for engine tensorflow; there are ps, worker"),
    ],
)
def test_what_is_no_engine_is_told(engine, message):
    with pytest.raises(ValueError, match=message):
        start_cluster(JOBS, engine=engine)


def test_the_interpreter_is_the_one_asked_for_then_the_variable_s(python, monkeypatch):
    monkeypatch.setenv("TFDIST_TENSORFLOW", f"{python}:/somewhere/else")
    assert tensorflow_python() == python
    assert tensorflow_python(sys.executable) == sys.executable


def test_an_interpreter_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setenv("TFDIST_TENSORFLOW", "/no/python")
    message = "TFDIST_TENSORFLOW names /no/python, but there is no such program"
    assert why_no_tensorflow() == message
    assert str(started(None)) == f"failed: {message}"
    assert started("/nor/this").cause.startswith("--python names /nor/this, but")


def test_an_interpreter_has_to_be_named(monkeypatch):
    monkeypatch.delenv("TFDIST_TENSORFLOW", raising=False)
    if tensorflow_python() is not None:
        pytest.skip("this interpreter has TensorFlow")
    assert "has no TensorFlow, and no other interpreter is named: --python" in why_no_tensorflow()


@in_network
def test_an_interpreter_without_tensorflow_is_told(tmp_path):
    (tmp_path / "tensorflow.py").write_text("raise ImportError('not here')")
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\nPYTHONPATH='{tmp_path}' exec '{sys.executable}' \"$@\"\n")
    program.chmod(0o755)
    outcome = started(str(program), jobs={"worker": 1})
    assert outcome.cluster is None
    assert outcome.cause.endswith("has no TensorFlow (not here)")


def test_where_there_are_no_networks_it_is_refused(python, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    outcome = started(python)
    assert (outcome.word, outcome.remedy) == ("failed", "")
    assert outcome.cause.startswith("TensorFlow's servers listen on every interface and run what")
    assert "(there is no program unshare or nsenter); where only people you" in outcome.cause
    assert outcome.cause.endswith("--trust-network does without")


def test_a_trusted_network_is_told(python, monkeypatch):
    monkeypatch.setenv("PATH", "/bin:/usr/bin")
    outcome = started(python, jobs={"worker": 1}, trust_network=True)
    assert "TensorFlow's servers listen on every interface, unprotected" in str(outcome)
    assert total(outcome.cluster, "worker") == 2


@in_network
def test_every_task_reaches_every_other(mixed):
    assert isinstance(mixed, ProcessCluster)
    assert [(row.state, row.runs) for row in mixed.status()] == [
        ("up", "tfdist"), ("up", "TensorFlow 1.0"), ("up", "TensorFlow 1.0"),
    ]  # fmt: skip
    assert [total(mixed, *each) for each in (("ps", 0), ("worker", 1))] == [12, 12]


@in_network
def test_a_second_start_finds_it_if_the_engines_are_the_same(mixed, python):
    assert started(python, {"worker": "tensorflow"}, name=MIXED).cluster is mixed
    outcome = started(python, "tensorflow", name=MIXED)
    assert outcome.word == "failed"
    assert outcome.cause.endswith("as ps=1 worker=2, engine ps=tfdist worker=tensorflow")


@in_network
def test_others_attach_through_the_gate(mixed):
    attached = attach(f"worker={mixed.servers[1].address}", "again").require()
    assert [row.state for row in attached.status()] == ["up"]


@in_network
def test_a_killed_task_can_be_started_anew_behind_the_gate(python, monkeypatch):
    told = []
    cluster = started(python, jobs={"worker": 2}, progress=told.append).require()
    assert told == [
        "0 of 2 servers are ready", "1 of 2 servers are ready", "all 2 servers are ready",
    ]  # fmt: skip
    cluster.kill("worker:1")
    assert [row.state for row in cluster.status()] == ["up", "exited (SIGKILL)"]
    with monkeypatch.context() as impatient:
        impatient.setenv("TFDIST_TIMEOUTS", "session=1")
        with pytest.raises(tf.errors.UnavailableError):
            total(cluster, "worker", 1)
    cluster.restart("worker:1")
    assert total(cluster, "worker", 1) == 6
    processes = [row.pid for row in cluster.status()] + [cluster._network._gate.pid]
    host, port = cluster.servers[0].address.split(":")
    cluster.stop()
    assert all(map(is_gone, processes))
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)))


@in_network
def test_they_end_with_the_process_that_started_them(python):
    program = textwrap.dedent(
        """
        import sys
        from tfdist.launch.start import start_cluster

        found = start_cluster({"worker": 1}, engine="tensorflow", python=sys.argv[1]).require()
        print(found.servers[0].pid, found._network._gate.pid, flush=True)
        sys.stdin.read()
        """
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, python],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as owner:  # fmt: skip
        pids = [int(word) for word in owner.stdout.readline().split()]
        owner.kill()
    assert len(pids) == 2
    wait_until(lambda: all(map(is_gone, pids)))


@in_network
def test_only_the_loopback_leads_in(mixed):
    port = int(mixed.servers[1].address.rpartition(":")[2])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing; it chooses this machine's address
        own = probe.getsockname()[0]
    if own.startswith("127."):
        pytest.skip("this machine has a loopback interface only")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((own, port))


@in_network
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_the_gate_lets_in_its_own_user_only(mixed):
    port = mixed.servers[1].address.rpartition(":")[2]
    program = (
        "import os, socket, sys; os.setuid(int(sys.argv[2])); there = socket.socket(); "
        "there.settimeout(20); there.connect(('127.0.0.1', int(sys.argv[1]))); "
        "print(there.recv(100))"
    )
    command = [sys.executable, "-c", program, port, str(STRANGER)]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.stdout == "b''\n"  # a server would begin with its settings
    assert f"belongs to user {STRANGER}" in (mixed._logs / "gate.log").read_text()
    own = subprocess.run([*command[:-1], "0"], capture_output=True, text=True)
    assert own.stdout not in ("b''\n", "")
