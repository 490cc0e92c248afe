"""What tasks count of their time: what computes, what waits, and nothing where nothing goes on."""

import threading
import time

import pytest

import tfdist as tf
from tests.runtime.blocking import until
from tfdist.launch.start import start_cluster
from tfdist.runtime.task.activity import Activity, activity_of
from tfdist.runtime.task.peers import task_at


@pytest.fixture(scope="module")
def cluster():
    found = start_cluster({"ps": 1, "worker": 1}).require()
    yield found
    found.stop()


@pytest.fixture
def session(cluster):
    with tf.Graph().as_default(), tf.Session(cluster.target("worker")) as found:
        yield found


def activity(cluster, job):
    (server,) = (each for each in cluster.servers if f"job:{job}/" in each.task_name)
    return activity_of(task_at(server.address).worker.counters)


class Waits:
    """Takes from an empty queue in a thread, until something is put in."""

    def __init__(self, session):
        with tf.device("/job:ps"):
            queue = tf.FIFOQueue(1, tf.float32, [[]])
        self._session, self._put = session, queue.enqueue(1.0)
        self._thread = threading.Thread(target=session.run, args=[queue.dequeue()])

    def __enter__(self):
        self._thread.start()

    def __exit__(self, *_):
        self._session.run(self._put)
        self._thread.join()


def difference(later, earlier):
    return Activity(*(a - b for a, b in zip(later, earlier, strict=True)))


def test_idle_tasks_count_nothing(cluster):
    before = activity(cluster, "ps")
    assert difference(activity(cluster, "ps"), before) == Activity(0.0, 0.0, 0.0)


def test_who_waits_counts_while_it_waits_and_no_more_afterwards(cluster, session):
    before, began = activity(cluster, "ps"), time.monotonic()
    with Waits(session):
        until(lambda: activity(cluster, "ps").waited - before.waited > 0.02)
        assert difference(activity(cluster, "ps"), before).computed < 0.02
    after = activity(cluster, "ps")
    assert 0.02 < after.waited - before.waited <= time.monotonic() - began
    assert activity(cluster, "ps").waited == after.waited


def slow(x):
    end = time.monotonic() + 0.05
    while time.monotonic() < end:
        pass
    return x


@pytest.mark.parametrize("steps", [1, 5])
def test_who_computes_counts_and_the_one_that_waits_for_it_waits(cluster, steps):
    ps, worker = activity(cluster, "ps"), activity(cluster, "worker")
    with tf.Graph().as_default(), tf.Session(cluster.target("ps")) as session:
        with tf.device("/job:worker"):
            made = tf.py_func(slow, [tf.constant(1.0)], tf.float32)
        with tf.device("/job:ps"):
            taken = tf.identity(made) + 1.0
        for _ in range(steps):
            session.run(taken.op)
    ps, worker = (
        difference(activity(cluster, job), was) for job, was in (("ps", ps), ("worker", worker))
    )
    assert worker.computed >= 0.05 * steps
    assert ps.computed < worker.computed
    assert ps.waited >= 0.04 * steps
    assert worker.moved == 0.0  # within a process references are handed over


def test_what_still_computes_is_counted_already(cluster, session):
    go_on = threading.Event()
    with tf.device("/job:worker"):
        made = tf.py_func(lambda: go_on.wait(60) and 1.0, [], tf.float64)
    before = activity(cluster, "worker")
    thread = threading.Thread(target=session.run, args=[made.op])
    thread.start()
    until(lambda: activity(cluster, "worker").computed - before.computed > 0.02)
    go_on.set()
    thread.join()


@pytest.mark.parametrize("end", ["timeout", "close"])
def test_a_step_that_is_ended_waits_no_more(cluster, end):
    with tf.Graph().as_default():
        session = tf.Session(cluster.target("worker"))
        with tf.device("/job:ps"):
            take = tf.FIFOQueue(1, tf.float32, [[]]).dequeue()
        options = tf.RunOptions(timeout_in_ms=50 if end == "timeout" else 0)
        timer = threading.Timer(0.05, session.close)
        if end == "close":
            timer.start()
        with pytest.raises((tf.errors.DeadlineExceededError, tf.errors.CancelledError)):
            session.run(take, options=options)
        session.close()
        timer.cancel()
    (server,) = (each for each in cluster.servers if "job:ps/" in each.task_name)
    assert task_at(server.address).worker.counters.waits == 0
