"""What holds for a cluster on every cluster manager.

A manager takes part with a line in MANAGERS: what returns a maker of new ones, given the fixtures.
"""

from contextlib import contextmanager
from functools import partial

import pytest

import tfdist as tf
from tests.launch.managers.local_manager import LocalManager
from tests.launch.waiting import is_gone, wait_until
from tfdist.errors import OpError
from tfdist.launch.clusters import find_cluster, running_clusters
from tfdist.launch.managers.dask.manager import DaskManager
from tfdist.launch.start import start_cluster

JOBS = {"ps": 1, "worker": 2}
MANAGERS = {
    "children": lambda request: partial(LocalManager, request.getfixturevalue("logs")),
    "dask": lambda request: partial(DaskManager, request.getfixturevalue("dask_cluster").address),
}


@pytest.fixture
def logs(tmp_path):
    """Return a folder for logs."""
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder


@pytest.fixture(params=MANAGERS.values(), ids=MANAGERS)
def new_manager(request, runtime):
    """Yield what makes a new manager; what was started on it is stopped."""
    yield request.param(request)
    for cluster in running_clusters():
        cluster.stop()


@pytest.fixture
def cluster(new_manager):
    """Return a running cluster."""
    return start_cluster(JOBS, on=new_manager()).require()


@contextmanager
def adding(target, number):
    """Yield what has a worker add to a variable of the parameter server's, in a new session."""
    with tf.Graph().as_default():
        with tf.device("/job:ps"):
            total = tf.Variable(1.0)
        with tf.device("/job:worker/task:1"):
            result = total + number
        with tf.Session(target) as session:
            session.run(tf.global_variables_initializer())
            yield lambda: session.run(result)


def added(target, number):
    """Return what a worker adds, once."""
    with adding(target, number) as add:
        return add()


def test_a_session_runs_on_the_cluster(cluster):
    assert added(cluster.target(), 2.0) == 3.0


def test_status_tells_where_each_task_runs(cluster):
    rows = cluster.status()
    assert [row.task for row in rows] == [
        "/job:ps/task:0", "/job:worker/task:0", "/job:worker/task:1",
    ]  # fmt: skip
    assert {row.state for row in rows} == {"up"}
    assert all(row.host and row.id and row.address for row in rows)


def test_the_same_cluster_is_found_again(cluster, new_manager):
    outcome = start_cluster(JOBS, on=new_manager())
    assert (outcome.word, outcome.cluster) == ("reused", cluster)


def test_another_one_of_its_name_is_not_started(cluster, new_manager):
    outcome = start_cluster({"worker": 1}, on=new_manager())
    assert outcome.word == "failed"
    assert "runs already, as ps=1 worker=2" in outcome.cause


def test_logs_tell_that_each_serves(cluster):
    assert any("serves at" in line for line in cluster.logs("worker:1"))
    assert sum("serves at" in line for line in cluster.logs()) == 3


def test_a_killed_task_is_seen_and_is_back_elsewhere(cluster):
    before = cluster.server("worker:1").address
    with adding(cluster.target(), 2.0) as add:
        cluster.kill("worker:1")
        states = {row.task: row.state for row in cluster.status()}
        assert states["/job:worker/task:1"].startswith("ended")
        with pytest.raises(OpError):
            add()
    cluster.restart("worker:1")
    assert cluster.server("worker:1").address != before  # the others have been told
    assert added(cluster.target(), 2.0) == 3.0


def test_starting_it_once_more_starts_what_has_ended(cluster, new_manager):
    cluster.kill("ps")
    outcome = start_cluster(JOBS, on=new_manager())
    assert outcome.word == "reused"
    assert "/job:ps/task:0, which had ended" in outcome.note
    assert added(cluster.target(), 2.0) == 3.0


def test_nothing_is_left_of_a_stopped_cluster(cluster):
    pids = [row.pid for row in cluster.status()]
    cluster.stop()
    wait_until(lambda: all(map(is_gone, pids)))
    assert find_cluster() is None
    assert {row.state for row in cluster.status()} == {"stopped"}
