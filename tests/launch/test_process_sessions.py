"""Sessions over servers in processes of their own, in fair weather and when one dies."""

import os
import signal
import threading

import pytest

import tfdist as tf
from tests.launch.waiting import wait_until
from tfdist.errors import UnavailableError
from tfdist.launch.start import start_cluster

JOBS = {"ps": 1, "worker": 2}


@pytest.fixture(scope="module")
def cluster():
    with start_cluster(JOBS, "for sessions", processes=True).require() as found:
        yield found


@pytest.fixture
def graph():
    """Return a graph with a variable and a queue on the ps, both used by worker 1."""
    with tf.Graph().as_default() as graph:
        with tf.device("/job:ps"):
            total = tf.Variable(1.0, name="total")
            queue = tf.FIFOQueue(1, tf.float32, [[]])
        with tf.device("/job:worker/task:1"):
            tf.add(total, 1.0, name="more")
            tf.negative(queue.dequeue(), name="waits")
    return graph


def test_a_step_spans_processes_and_survives_the_death_of_one(cluster, graph):
    with tf.Session(cluster.target(), graph=graph) as session:
        session.run("total/Assign")
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        metadata = tf.RunMetadata()
        assert session.run("more:0", options=options, run_metadata=metadata) == 2.0
        devices = {each.device for each in metadata.step_stats.dev_stats}
        assert devices >= {
            "/job:ps/replica:0/task:0/device:CPU:0",
            "/job:worker/replica:0/task:1/device:CPU:0",
        }
        killer = threading.Timer(0.1, cluster.kill, ["worker:1"])
        killer.start()
        with pytest.raises(UnavailableError, match=r"/job:worker/.*/task:1"):
            session.run("waits:0")  # a queue that nobody fills
        killer.join()
    cluster.restart("worker:1")
    with tf.Session(cluster.target(), graph=graph) as session:
        assert session.run("more:0") == 2.0  # the ps kept its variable


@pytest.mark.slow
def test_a_frozen_task_does_not_answer(cluster):
    pid = cluster.servers[2].pid
    os.kill(pid, signal.SIGSTOP)
    states = ["up", "up", "does not answer"]  # on a busy machine others may not, now and then
    wait_until(lambda: [row.state for row in cluster.status()] == states)
    os.kill(pid, signal.SIGCONT)
    wait_until(lambda: [row.state for row in cluster.status()] == ["up", "up", "up"])
