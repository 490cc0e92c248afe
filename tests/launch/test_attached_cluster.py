"""Clusters that another process started: found, shown, let go of, and what cannot be found."""

import json
import os
from dataclasses import replace

import pytest

from tfdist.cluster.spec import ClusterSpec
from tfdist.errors import FailedPreconditionError, UnimplementedError
from tfdist.launch.attached_cluster import FORMS, attach
from tfdist.launch.clusters import find_cluster, running_clusters
from tfdist.launch.connection_file import Connection, logs_folder, publish
from tfdist.launch.owner import start_of, this_process
from tfdist.launch.probe import Answer
from tfdist.launch.start import start_cluster

JOBS = {"ps": ["127.0.0.1:1"], "worker": ["127.0.0.1:2", "127.0.0.1:3"]}
DEVICE = "/job:worker/replica:0/task:1/device:CPU:0"

pytestmark = pytest.mark.usefixtures("no_clusters", "runtime")


def somebody():
    """Return a process that runs and is not this one."""
    return replace(this_process(), pid=os.getppid(), started=start_of(os.getppid()))


def other_kernel_starts(name="main", kind="in kernel", owner=None, **changes):
    """Leave what a cluster of another kernel leaves."""
    return publish(Connection(name, kind, ClusterSpec(JOBS), owner or somebody(), **changes))


def answers(*addresses):
    """Return what asks servers when only those at `addresses` answer."""
    return lambda asked: {each: Answer((DEVICE,)) for each in asked if each in addresses}


def nobody_answers(asked):
    return {}


def test_the_only_cluster_needs_no_name():
    other_kernel_starts(processes={"/job:ps/task:0": 7})
    outcome = attach(ask=answers("127.0.0.1:1", "127.0.0.1:3"))
    assert str(outcome) == "attached cluster 'main' (ps=1 worker=2)"
    cluster = outcome.cluster
    assert cluster.spec.as_dict() == JOBS
    assert cluster.target() == "grpc://127.0.0.1:2"
    assert find_cluster() is cluster
    assert [(row.task, row.state, row.devices, row.pid) for row in cluster.status()] == [
        ("/job:ps/task:0", "up", ("cpu:0",), 7),
        ("/job:worker/task:0", "does not answer", (), None),
        ("/job:worker/task:1", "up", ("cpu:0",), None),
    ]
    assert repr(cluster) == (
        f"<AttachedCluster 'main' ps=1 worker=2 attached, in kernel of process {os.getppid()}>"
    )


def test_process_ids_are_those_of_now():
    known = other_kernel_starts(processes={"/job:ps/task:0": 7})
    cluster = attach(ask=nobody_answers).cluster
    publish(replace(known, processes={"/job:ps/task:0": 8, "/job:worker/task:1": 9}))
    assert [row.pid for row in cluster.status()] == [8, None, 9]


def test_attaching_again_finds_it():
    other_kernel_starts()
    first = attach().cluster
    again = attach("main")
    assert (again.word, again.cluster) == ("reused", first)


def test_stop_only_detaches():
    known = other_kernel_starts()
    cluster = attach().cluster
    cluster.stop()
    assert not cluster.is_running
    assert running_clusters() == []
    assert known.path.exists()
    with pytest.raises(FailedPreconditionError, match=r"'main' was let go of.*%cluster attach"):
        cluster.target()


def test_it_is_gone_when_its_kernel_is():
    known = other_kernel_starts()
    cluster = attach().cluster
    cluster.connection = replace(known, owner=replace(known.owner, started="long ago"))
    assert find_cluster() is None
    assert not cluster.is_running


def test_ones_own_cluster_is_found_as_it_is():
    own = start_cluster({"worker": 1}).require()
    assert attach().cluster is own
    assert attach("main").word == "reused"


def test_another_cluster_of_the_name_is_in_the_way():
    other_kernel_starts("one")
    start_cluster({"worker": 1}, "one").require()
    outcome = attach("one", ask=nobody_answers)
    assert outcome.word == "failed"
    assert str(outcome).endswith("runs here already; --name gives this one another name")
    assert attach("one", "two").cluster.name == "two"


def test_a_connection_file_is_found_by_its_path():
    known = other_kernel_starts()
    assert attach(str(known.path)).cluster.name == "main"
    known.path.chmod(0o644)
    assert "others may use it" in attach(str(known.path)).cause


@pytest.mark.parametrize(
    "text", [json.dumps(JOBS), json.dumps({"cluster": JOBS})], ids=["tutorial", "TF_CONFIG"]
)
def test_a_file_with_addresses_is_enough(tmp_path, text):
    (tmp_path / "my cluster.json").write_text(text)
    cluster = attach(str(tmp_path / "my cluster.json"), ask=nobody_answers).cluster
    assert cluster.name == "my cluster"
    assert cluster.spec.as_dict() == JOBS


def test_addresses_are_enough():
    cluster = attach("ps=127.0.0.1:1;worker=127.0.0.1:2,127.0.0.1:3", "by hand").cluster
    assert cluster.name == "by hand"
    assert cluster.spec.as_dict() == JOBS


@pytest.mark.parametrize("what", ["grpc://127.0.0.1:3", "127.0.0.1:3"])
def test_the_address_of_one_task_is_enough(what):
    cluster = attach(what, ask=answers("127.0.0.1:3")).cluster
    assert cluster.name == "127.0.0.1:3"
    assert cluster.spec.as_dict() == {"worker": {1: "127.0.0.1:3"}}
    assert cluster.target() == cluster.target("worker", 1) == "grpc://127.0.0.1:3"


@pytest.mark.parametrize(
    ("what", "cause", "remedy"),
    [
        (None, "no cluster runs", "start one with: %cluster start"),
        ("x", "no cluster 'x' runs", "start one with: %cluster start"),
        ("x.txt", "no cluster 'x.txt' runs", "start one with: %cluster start"),
        ("grpc://127.0.0.1:1", "no server answers at 127.0.0.1:1 within 1 s", "start it there"),
        ("no.invalid:0", "no.invalid:0 is no HOST:PORT: there is no host 'no.invalid'", FORMS),
        ("no.json", "cannot use no.json: No such file or directory", FORMS),
        ("ps=", "'ps=' is not JOB=HOST:PORT", FORMS),
        ('{"task": {"type": "ps"}}', "attach has no cluster; it has a task only", FORMS),
    ],
)
def test_what_cannot_be_found_is_one_line_with_one_remedy(what, cause, remedy):
    outcome = attach(what, ask=nobody_answers)
    assert outcome.word == "failed"
    assert cause in str(outcome)
    _, _, said = str(outcome).rpartition("; ")
    assert said.startswith(remedy)
    assert "\n" not in str(outcome)


def test_any_file_that_is_there_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.txt").write_text(json.dumps(JOBS))
    (tmp_path / "program.py").write_text("import tfdist")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    assert attach("spec.txt", ask=nobody_answers).cluster.spec.as_dict() == JOBS
    assert attach("program.py").cause.startswith("the file program.py is no JSON: ")
    assert "cannot read the file 'picture.png' (it is no text)" in attach("picture.png").cause


def test_another_hosts_loopback_is_not_ours():
    known = other_kernel_starts(owner=replace(this_process(), host="elsewhere"))
    assert "runs on elsewhere, at addresses that only" in attach(str(known.path)).cause


def test_logs_of_another_kernels_servers_can_be_read():
    known = other_kernel_starts(kind="processes")
    folder = logs_folder("main", known.owner)
    folder.mkdir()
    (folder / "worker-1.log").write_text("one\ntwo\n")
    cluster = attach().cluster
    assert cluster.logs("worker:1", 1) == ["two"]
    assert cluster.logs() == ["/job:worker/task:1: one", "/job:worker/task:1: two"]


@pytest.mark.parametrize("what", ["kill", "restart"])
def test_others_servers_are_not_ours_to_kill(what):
    other_kernel_starts()
    message = rf"{what}: not for cluster 'main' \(attached\): only who started the servers can"
    with pytest.raises(UnimplementedError, match=message):
        getattr(attach().cluster, what)("worker:1")


def test_servers_of_a_kernel_have_no_logs():
    with pytest.raises(UnimplementedError, match="--processes"):
        start_cluster({"worker": 1}).require().logs()
