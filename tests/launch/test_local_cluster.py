"""Clusters in this process: started, reused, replaced, failed, stopped."""

import gc
import subprocess
import sys

import pytest

from tfdist.launch.clusters import find_cluster, running_clusters
from tfdist.launch.connection_file import find
from tfdist.launch.owner import this_process
from tfdist.launch.start import start_cluster

JOBS = {"ps": 1, "worker": 2}


pytestmark = pytest.mark.usefixtures("no_clusters")


def test_start_gives_a_running_cluster():
    outcome = start_cluster(JOBS)
    assert str(outcome) == "started cluster 'main' (ps=1 worker=2)"
    assert repr(outcome.cluster) == "<LocalCluster 'main' ps=1 worker=2 running>"
    rows = outcome.cluster.status()
    assert [(row.task, row.state, row.devices) for row in rows] == [
        ("/job:ps/task:0", "up", ("cpu:0",)),
        ("/job:worker/task:0", "up", ("cpu:0",)),
        ("/job:worker/task:1", "up", ("cpu:0",)),
    ]


def test_a_second_start_finds_the_same_cluster():
    first = start_cluster(JOBS).require()
    again = start_cluster(dict(reversed(JOBS.items())))
    assert (again.word, again.cluster) == ("reused", first)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"jobs": {"ps": 1}}, "cluster 'main' runs already, as ps=1 worker=2"),
        ({"jobs": JOBS, "cpus": 2}, "as ps=1 worker=2 with 1 CPU devices each"),
        ({"jobs": JOBS, "port": 1}, "as ps=1 worker=2 at port "),
    ],
    ids=["other jobs", "other devices", "other port"],
)
def test_another_cluster_of_the_name_is_not_replaced_unasked(change, cause):
    first = start_cluster(JOBS).require()
    outcome = start_cluster(**change)
    assert outcome.word == "failed"
    assert cause in outcome.cause
    assert "--replace" in outcome.remedy
    assert first.is_running
    with pytest.raises(RuntimeError, match="runs already"):
        outcome.require()


def test_replace_stops_the_old_one():
    first = start_cluster(JOBS).require()
    outcome = start_cluster({"local": 2}, replace=True)
    assert str(outcome) == "replaced cluster 'main' (local=2)"
    assert not first.is_running
    assert running_clusters() == [outcome.cluster]


def test_a_taken_port_fails_with_a_remedy():
    taken = start_cluster({"a": 1}, name="first").require()
    port = int(taken.servers[0].address.rpartition(":")[2])
    outcome = start_cluster({"b": 1}, port=port)
    assert outcome.word == "failed"
    assert f"port {port}" in outcome.cause
    assert "--port" in outcome.remedy
    assert find_cluster("main") is None


def test_stop_frees_the_ports():
    first = start_cluster({"a": 2}).require()
    port = int(first.servers[0].address.rpartition(":")[2])
    first.stop()
    first.stop()
    assert repr(first) == "<LocalCluster 'main' a=2 stopped>"
    again = start_cluster({"b": 1}, port=port)
    assert again.word == "started"
    assert again.cluster.servers[0].address.endswith(f":{port}")


def test_a_port_is_the_first_of_as_many_as_there_are_tasks():
    free = start_cluster({"a": 3}).require()
    port = int(free.servers[0].address.rpartition(":")[2])
    free.stop()
    cluster = start_cluster(JOBS, port=port).require()
    ports = [int(row.address.rpartition(":")[2]) for row in cluster.status()]
    assert ports == [port, port + 1, port + 2]


def test_a_cluster_lives_without_a_variable():
    start_cluster(JOBS)
    gc.collect()
    assert find_cluster("main").is_running


def test_find_cluster_takes_the_last_one_started():
    start_cluster({"a": 1}, name="one")
    start_cluster({"b": 1}, name="two")
    assert find_cluster().name == "two"
    assert find_cluster("one").name == "one"
    assert find_cluster("three") is None


def test_a_cluster_whose_server_was_stopped_is_started_anew():
    first = start_cluster(JOBS).require()
    first.servers[1].stop()
    outcome = start_cluster(JOBS)
    assert outcome.word == "started"
    assert not any(server.is_running for server in first.servers)


def test_other_notebooks_find_it_while_it_runs(runtime):
    cluster = start_cluster(JOBS, cpus=2).require()
    known = find("main")
    assert (known.spec, known.kind, known.cpus) == (cluster.spec, "in kernel", 2)
    assert known.owner == this_process()
    cluster.stop()
    assert list(runtime.iterdir()) == []


def test_without_a_folder_for_files_it_starts_all_the_same(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "file"))
    outcome = start_cluster(JOBS)
    assert outcome.word == "started"
    assert "; other notebooks cannot find it: " in str(outcome)
    assert "\n" not in str(outcome)


def test_target_is_a_workers_by_default():
    cluster = start_cluster(JOBS).require()
    targets = {server.task_name: server.target for server in cluster.servers}
    assert cluster.target() == targets["/job:worker/task:0"]
    assert cluster.target("worker", 1) == targets["/job:worker/task:1"]
    assert cluster.target("ps") == targets["/job:ps/task:0"]
    with pytest.raises(ValueError, match="no task /job:worker/task:2 in cluster 'main'; it has"):
        cluster.target("worker", 2)


def test_target_without_workers_is_the_first_jobs():
    cluster = start_cluster({"local": 2}).require()
    assert cluster.target() == cluster.servers[0].target


def test_spec_has_the_bound_addresses():
    with start_cluster(JOBS).require() as cluster:
        addresses = [server.address for server in cluster.servers]
        assert cluster.spec.as_dict() == {"ps": addresses[:1], "worker": addresses[1:]}
    assert not cluster.is_running


def test_devices_can_be_several():
    cluster = start_cluster({"a": 1}, cpus=2).require()
    assert cluster.status()[0].devices == ("cpu:0", "cpu:1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"jobs": {}}, "each job needs a task"),
        ({"jobs": {"ps": 0}}, "each job needs a task"),
        ({"jobs": {"ps": 1}, "cpus": 0}, "a CPU device or more"),
        ({"jobs": {"ps": 2}, "port": 65535}, "ports 65535 to 65536 do not exist"),
        ({"jobs": {"ps": 1}, "name": ""}, "a cluster's name has 1 to 150 characters"),
    ],
)
def test_what_makes_no_sense_is_an_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        start_cluster(**arguments)


def test_a_process_ends_with_its_cluster_up():
    code = "from tfdist.launch.start import *; start_cluster({'ps': 1, 'worker': 2})"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=20)
