"""Clusters on Dask beyond what holds for all managers: losses that Dask sees, places, errors."""

import os
import signal
import subprocess
import sys

import pytest
from distributed import Client

from tests.launch.managers.dask.running import running_dask
from tests.launch.waiting import is_gone, wait_until
from tfdist.errors import UnavailableError
from tfdist.launch.attached_cluster import attach
from tfdist.launch.clusters import running_clusters
from tfdist.launch.managers.dask import software
from tfdist.launch.managers.dask.manager import DaskManager
from tfdist.launch.managers.on import manager_on
from tfdist.launch.server_process import own_environment
from tfdist.launch.start import start_cluster

LEAVES = """
import sys
from tfdist.launch.start import start_cluster
cluster = start_cluster({"worker": 1}, on=sys.argv[1]).require()
print(cluster.status()[0].pid, flush=True)
sys.stdin.read()
"""

KEEPS = """
from tfdist.launch.managers.dask.manager import DaskManager
from tfdist.launch.start import start_cluster
manager = DaskManager("{address}", keep=True)
cluster = start_cluster({{"worker": 1}}, "kept", on=manager).require()
print(cluster.target(), cluster.status()[0].pid)
"""


@pytest.fixture(scope="module")
def dask(tmp_path_factory):
    """Yield a Dask cluster whose workers are killed in these tests, so it is not the others'."""
    yield from running_dask(tmp_path_factory.mktemp("dask"), 2, "--resources", "GPU=1")


@pytest.fixture
def start(dask, runtime):
    """Return what starts clusters; they are stopped in the end."""

    def started(jobs, timeout=30.0, **options):
        return start_cluster(jobs, timeout=timeout, on=DaskManager(dask.address, **options))

    yield started
    for cluster in running_clusters():
        cluster.stop()


@pytest.fixture
def client(dask):
    """Yield a client of somebody else's."""
    with Client(dask.address, set_as_default=False) as client:
        client.wait_for_workers(2)
        yield client


def states(cluster):
    """Return the state of each task."""
    return {row.task: row.state for row in cluster.status()}


def test_each_task_has_a_worker_of_its_own(start):
    rows = start({"ps": 1, "worker": 1}).require().status()
    assert len({row.id.partition(" at ")[2] for row in rows}) == 2


def test_resources_are_kept_to(start):
    outcome = start({"ps": 1, "worker": 2}, 3.0, resources={"worker": {"GPU": 1}, "ps": {"GPU": 1}})
    assert "no worker of the 2 in the Dask cluster has GPU=1 left" in outcome.cause


def test_only_allowed_workers_are_used(start, client):
    address = sorted(client.scheduler_info(n_workers=-1)["workers"])[0]
    rows = start({"worker": 2}, workers=[address]).require().status()
    assert {row.id.partition(" at ")[2] for row in rows} == {address}
    running_clusters()[0].stop()
    outcome = start({"worker": 1}, 1.0, workers=["nobody"])
    assert "no worker among nobody yet" in outcome.cause


def test_a_worker_that_dies_is_told_and_its_task_started_elsewhere(start, client):
    cluster = start({"ps": 1, "worker": 1}).require()
    worker = next(row for row in cluster.status() if "worker" in row.task)
    address = worker.id.partition(" at ")[2]
    os.kill(client.run(os.getpid, workers=[address])[address], signal.SIGKILL)
    wait_until(lambda: "ended" in states(cluster)[worker.task])
    assert states(cluster)[worker.task] == f"ended: Dask's worker {address} is gone"
    wait_until(lambda: is_gone(worker.pid))
    assert "which had ended" in start({"ps": 1, "worker": 1}).note
    assert set(states(cluster).values()) == {"up"}
    client.wait_for_workers(2)


def test_a_worker_with_a_server_is_not_retired(start, client):
    cluster = start({"worker": 1}).require()
    ours = cluster.status()[0].id.partition(" at ")[2]
    closable = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.workers_to_close(n=2))
    assert ours not in closable


def test_a_restart_of_all_workers_is_told(start, client):
    cluster = start({"worker": 2}).require()
    client.restart(timeout=20)
    wait_until(lambda: all("ended" in state for state in states(cluster).values()))
    client.wait_for_workers(2)


def test_who_leaves_takes_the_cluster_along(dask, runtime):
    process = subprocess.Popen(
        [sys.executable, "-c", LEAVES, f"dask://{dask.address.removeprefix('tcp://')}"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=own_environment(),
    )  # fmt: skip
    pid = int(process.stdout.readline())
    process.kill()
    process.communicate()
    wait_until(lambda: is_gone(pid))


def test_a_kept_cluster_outlives_who_started_it(dask, client):
    program = KEEPS.format(address=dask.address)
    told = subprocess.run(
        [sys.executable, "-c", program], env=own_environment(), capture_output=True, text=True,
    )  # fmt: skip
    target, pid = told.stdout.split()
    with attach(target).require() as cluster:
        assert {row.state for row in cluster.status()} == {"up"}
    assert not is_gone(int(pid))
    client.unpublish_dataset("tfdist-kept")
    wait_until(lambda: is_gone(int(pid)))


def test_logs_are_on_dasks_page(start, client):
    start({"worker": 1})
    shown = [text for log in client.get_worker_logs().values() for _, text in log]
    assert any("/job:worker/task:0 serves at" in text for text in shown)


@pytest.mark.parametrize(("on", "wanted"), [
    ("dask", "has no client of dask.distributed: make one, or name the scheduler"),
    ("dask://127.0.0.1:1", "no Dask scheduler at 127.0.0.1:1 can be used"),
])  # fmt: skip
def test_without_a_scheduler_it_is_said_what_to_do(on, wanted, monkeypatch):
    monkeypatch.setattr("tfdist.launch.managers.dask.client.CONNECT", 0.5)
    assert wanted in start_cluster({"worker": 1}, on=on).cause


def test_the_current_client_is_meant_by_dask_alone(dask, runtime):
    with Client(dask.address) as client:
        manager = manager_on("dask")
        with start_cluster({"worker": 1}, on=manager).require():
            assert client.scheduler_info(n_workers=-1)["workers"]


class OtherPython:
    """A client whose workers have another Python."""

    def get_versions(self):
        """Return what Dask tells of them."""
        return {"workers": {"tcp://w:1": {"host": {"python": "3.9.1.final.0"}}}}


class NoTfdist(OtherPython):
    """A client whose workers have our Python, but no tfdist."""

    def get_versions(self):
        """See OtherPython."""
        python = f"{sys.version_info[0]}.{sys.version_info[1]}.0.final.0"
        return {"workers": {"tcp://w:1": {"host": {"python": python}}}}

    def run(self, function, workers):
        """Return what workers answer."""
        return dict.fromkeys(workers, "no tfdist that can be used (No module named 'tfdist')")


@pytest.mark.parametrize(("client", "wanted"), [
    (OtherPython(), r"Dask worker tcp://w:1 has Python 3.9, this process Python .*start workers"),
    (NoTfdist(), r"has no tfdist that can be used .*pip install tfdist=="),
])  # fmt: skip
def test_other_software_is_told_with_what_to_do(client, wanted):
    with pytest.raises(Exception, match=wanted):
        software.check_software(client, ["tcp://w:1"])


def test_a_task_that_has_ended_still_has_its_log(start):
    cluster = start({"worker": 1}).require()
    cluster.kill("worker")
    assert any("serves at" in line for line in cluster.logs("worker"))
    with pytest.raises(UnavailableError, match="runs on no Dask worker; %cluster start"):
        cluster.kill("worker")


def test_the_log_of_a_worker_that_is_gone_is_gone(start, client):
    cluster = start({"worker": 1}).require()
    address = cluster.manager.worker_of("/job:worker/task:0")
    os.kill(client.run(os.getpid, workers=[address])[address], signal.SIGKILL)
    wait_until(lambda: "ended" in states(cluster)["/job:worker/task:0"])
    with pytest.raises(UnavailableError, match="runs on no Dask worker"):
        cluster.logs("worker")
    client.wait_for_workers(2)


def test_it_may_be_disturbed(start):
    cluster = start({"worker": 1}).require()
    cluster.disturb("slow worker 3")
    assert cluster.status()[0].disturbed == "slow worker:0 3"
    cluster.heal()
