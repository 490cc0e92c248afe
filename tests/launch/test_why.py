"""Who is asked what steps wait for, and that there is an answer whoever is lost."""

import os
import signal
import time

import pytest

import tfdist as tf
from tests.faults.load import slowness
from tests.runtime.blocking import Call, until
from tfdist.errors import FailedPreconditionError
from tfdist.launch.start import start_cluster
from tfdist.launch.why import report
from tfdist.tracing.why import explain

JOBS = {"ps": 1, "worker": 2}


@pytest.fixture(params=[False, True], ids=["in this process", "in processes"], scope="module")
def cluster(request):
    with start_cluster(JOBS, "asked", processes=request.param).require() as found:
        yield found


@pytest.fixture
def ring():
    """A graph with two steps that take from one queue and fill the other one."""
    with tf.Graph().as_default() as graph:
        with tf.device("/job:ps"):
            left, right = (tf.FIFOQueue(3, tf.float32, [[]], name=name) for name in "lr")
            left.enqueue(1.0, name="start")
        with tf.device("/job:worker/task:0"):
            right.enqueue(left.dequeue() + 1.0, name="to_right")
        with tf.device("/job:worker/task:1"):
            left.enqueue(right.dequeue() + 1.0, name="to_left")
    return graph


@pytest.fixture
def deadlock(cluster, ring):
    """Two steps of one session that wait for each other."""
    with tf.Session(cluster.target("worker", 0), graph=ring) as session:
        calls = [Call(session.run, name) for name in ("to_right", "to_left")]
        until(lambda: len(explain(report(cluster)).deadlocks) == 1)
        yield session
        session.run("start")
        for call in calls:
            call.result()


def test_all_ways_of_asking_tell_the_same(cluster, deadlock):
    targets = [None, cluster, "asked", deadlock, cluster.servers[1]]
    targets += [cluster.target("ps"), cluster.target("worker", 1), cluster.servers[0].address]
    for target in targets:
        found = tf.why(target)
        assert len(found.steps) == 2, target
        [told] = found.deadlocks
        assert "which only step" in told
        assert {row.stock.name for row in found.rows() if row.stock} == {"l", "r"}
        assert not found.explanation.report.silent


def test_one_step_can_be_asked_for(cluster, deadlock):
    one, other = tf.why(cluster).steps
    assert {row.wait.step for row in tf.why(cluster, step=one.step).rows()} == {one.step}
    assert {row.wait.step for row in tf.why(cluster, step=other.step).rows()} == {other.step}


def test_the_line_that_made_a_node_is_told_where_the_graph_is(cluster, deadlock):
    rows = [row for row in tf.why().rows() if row.stock]
    assert all(__file__ in row.wait.line for row in rows)


def test_nothing_is_in_flight(cluster):
    assert str(tf.why(cluster)) == "Nothing is in flight: no step runs or waits."
    assert tf.why(cluster).rows() == []


def test_a_cluster_that_does_not_run():
    with pytest.raises(FailedPreconditionError, match="no cluster 'nobody'"):
        tf.why("nobody")


def test_nobody_at_an_address():
    found = tf.why("grpc://127.0.0.1:1")
    assert str(found).splitlines()[0] == "Nothing that is known of is in flight."
    assert len(found.explanation.report.silent) == 1


def test_a_local_session_is_asked():
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(3, tf.float32, [[]], name="q")
        call = Call(session.run, queue.dequeue(name="take"))
        until(lambda: tf.why(session).rows())
        found = tf.why()
        session.run(queue.enqueue(1.0))
        call.result()
    assert [row.wait.node for row in found.rows()] == ["take"]
    assert tf.why().rows() == []


@pytest.mark.parametrize("asked", ["a task", "the cluster", "this process"])
def test_there_is_an_answer_though_a_task_is_frozen(ring, asked):
    with start_cluster(JOBS, "frozen", processes=True).require() as cluster:
        with tf.Session(cluster.target("worker", 0), graph=ring) as session:
            call = Call(session.run, "to_right")
            until(lambda: "l" in {row.stock.name for row in tf.why(cluster).rows() if row.stock})
            pid = cluster.server("worker:1").pid
            os.kill(pid, signal.SIGSTOP)
            try:
                target = {"a task": cluster.target("ps"), "the cluster": cluster}.get(asked)
                began = time.monotonic()
                found = tf.why(target)
                seconds = time.monotonic() - began
            finally:
                os.kill(pid, signal.SIGCONT)
            session.run("start")
            call.result()
    assert "l" in {row.stock.name for row in found.rows() if row.stock}
    [silence] = found.explanation.report.silent
    assert silence.task.endswith("task:1")
    assert seconds < 2.0 + 1.0 * slowness()  # half a second is promised of an idle machine


def test_a_server_that_nothing_can_be_shown_to_is_not_taken_for_idle(monkeypatch):
    monkeypatch.setenv("TFDIST_REMOTE", "tls")
    monkeypatch.delenv("TFDIST_TLS", raising=False)
    with pytest.raises(tf.errors.PermissionDeniedError, match="TFDIST_TLS is not set"):
        tf.why("grpc://192.0.2.1:2222")
