"""What holds for a cluster on every cluster manager.

A manager takes part with a line in MANAGERS: what returns a maker of new ones, given the fixtures.
To start a cluster takes seconds, so each goes through all checks with one.
"""

from contextlib import contextmanager
from functools import partial

import pytest

import tfdist as tf
from tests.launch.managers.local_manager import LocalManager
from tests.launch.waiting import is_gone, wait_until
from tests.needs import need
from tfdist.errors import OpError
from tfdist.launch.clusters import find_cluster, running_clusters
from tfdist.launch.managers.dask.manager import DaskManager
from tfdist.launch.managers.mpi import MpiManager
from tfdist.launch.managers.slurm import SlurmManager
from tfdist.launch.managers.ssh import SshManager
from tfdist.launch.start import start_cluster

JOBS = {"ps": 1, "worker": 2}
TASKS = ["/job:ps/task:0", "/job:worker/task:0", "/job:worker/task:1"]


MANAGERS = {
    "children": lambda request: partial(LocalManager, request.getfixturevalue("folder")),
    "dask": lambda request: partial(DaskManager, request.getfixturevalue("dask_cluster").address),
    "SLURM": lambda request: partial(SlurmManager, request.getfixturevalue("on_slurm")),
    "ssh": lambda request: partial(SshManager, request.getfixturevalue("on_ssh")),
    "Open MPI": lambda request: partial(MpiManager, request.getfixturevalue("open_mpi")),
}


@pytest.fixture
def open_mpi(folder, monkeypatch):
    """Return how `mpirun` is called."""
    need({"mpirun.openmpi": "openmpi-bin"})
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(name, "1")
    return f"mpirun.openmpi --oversubscribe --folder={folder}"


@pytest.fixture
def on_slurm(slurm, folder):
    """Return how a job is submitted."""
    return f"--nodes=2 --folder={folder}"


@pytest.fixture
def on_ssh(sshd, folder):
    """Return a list of hosts."""
    hosts = folder / "hosts.txt"
    hosts.write_text("hosta\nhostb slots=2\n")
    return str(hosts)


@pytest.fixture(params=MANAGERS.values(), ids=MANAGERS)
def new(request, runtime):
    """Yield what makes a new manager; what was started on it is stopped."""
    yield request.param(request)
    for cluster in running_clusters():
        cluster.stop()


@contextmanager
def adding(cluster):
    """Yield what returns a sum that needs two tasks, in a session of its own."""
    with tf.Graph().as_default():
        with tf.device("/job:ps"):
            total = tf.Variable(1.0)
        with tf.device("/job:worker/task:1"):
            result = total + 2.0
        with tf.Session(cluster.target()) as session:
            session.run(tf.global_variables_initializer())
            yield lambda: session.run(result)


def works(cluster):
    """Return whether a new session does what it should."""
    with adding(cluster) as add:
        return add() == 3.0


def process_of(cluster, task):
    """Return which process runs a task: the port of its address may be the same as before."""
    [row] = [row for row in cluster.status() if row.task == task]
    return row.host, row.pid


def a_session_runs_on_it(cluster, new):
    assert works(cluster)


def status_tells_where_each_task_runs(cluster, new):
    rows = cluster.status()
    assert [row.task for row in rows] == TASKS
    assert {row.state for row in rows} == {"up"}
    assert all(row.host and row.id and row.address for row in rows)


def the_same_cluster_is_found_again(cluster, new):
    outcome = start_cluster(JOBS, on=new())
    assert (outcome.word, outcome.cluster) == ("reused", cluster)


def another_one_of_its_name_is_not_started(cluster, new):
    outcome = start_cluster({"worker": 1}, on=new())
    assert outcome.word == "failed"
    assert "runs already, as ps=1 worker=2" in outcome.cause


def logs_tell_that_each_serves(cluster, new):
    assert any("serves at" in line for line in cluster.logs("worker:1"))
    assert sum("serves at" in line for line in cluster.logs()) == 3


def a_killed_task_is_seen_and_is_back_elsewhere(cluster, new):
    before = process_of(cluster, "/job:worker/task:1")
    with adding(cluster) as add:
        cluster.kill("worker:1")
        states = {row.task: row.state for row in cluster.status()}
        assert states["/job:worker/task:1"].startswith("ended")
        with pytest.raises(OpError):
            add()
    cluster.restart("worker:1")
    assert process_of(cluster, "/job:worker/task:1") != before
    assert works(cluster)  # the others have been told where it is


def starting_it_once_more_starts_what_has_ended(cluster, new):
    cluster.kill("ps")
    outcome = start_cluster(JOBS, on=new())
    assert outcome.word == "reused"
    assert "/job:ps/task:0, which had ended" in outcome.note
    assert works(cluster)


def nothing_is_left_of_it_when_it_is_stopped(cluster, new):
    pids = [row.pid for row in cluster.status()]
    cluster.stop()
    wait_until(lambda: all(map(is_gone, pids)))
    assert find_cluster() is None
    assert {row.state for row in cluster.status()} == {"stopped"}


CONTRACT = [
    a_session_runs_on_it,
    status_tells_where_each_task_runs,
    the_same_cluster_is_found_again,
    another_one_of_its_name_is_not_started,
    logs_tell_that_each_serves,
    a_killed_task_is_seen_and_is_back_elsewhere,
    starting_it_once_more_starts_what_has_ended,
    nothing_is_left_of_it_when_it_is_stopped,
]


def test_a_cluster_on_it_keeps_the_contract(new):
    cluster = start_cluster(JOBS, on=new()).require()
    for check in CONTRACT:
        check(cluster, new)
