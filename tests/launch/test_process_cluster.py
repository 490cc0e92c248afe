"""Clusters whose servers have processes of their own: faults, logs, files, and the end."""

import signal
import subprocess
import sys
import textwrap

import pytest

import tfdist as tf
from tests.launch.waiting import PATIENCE, is_gone, wait_until
from tfdist.cluster.spec import ClusterSpec
from tfdist.errors import DeadlineExceededError, FailedPreconditionError, UnavailableError
from tfdist.launch.clusters import find_cluster
from tfdist.launch.connection_file import find, runtime_folder
from tfdist.launch.server_process import ServerProcess
from tfdist.launch.start import start_cluster
from tfdist.wire.common.absences import absences_told

JOBS = {"ps": 1, "worker": 1}
NAME = "in processes"


@pytest.fixture(scope="module")
def cluster():
    with start_cluster(JOBS, NAME, cpus=2, processes=True).require() as found:
        yield found


def states(cluster):
    return [row.state for row in cluster.status()]


def test_each_task_has_a_process(cluster):
    rows = cluster.status()
    assert [(row.task, row.state, row.devices) for row in rows] == [
        ("/job:ps/task:0", "up", ("cpu:0", "cpu:1")),
        ("/job:worker/task:0", "up", ("cpu:0", "cpu:1")),
    ]
    assert [row.pid for row in rows] == [server.pid for server in cluster.servers]
    assert [row.address for row in rows] == [a for _, _, a in cluster.spec.tasks()]
    assert cluster.target() == f"grpc://{rows[1].address}"
    assert repr(cluster) == f"<ProcessCluster {NAME!r} ps=1 worker=1 running>"


def test_a_second_start_finds_it(cluster):
    outcome = start_cluster(JOBS, NAME, cpus=2, processes=True)
    assert outcome.cluster is cluster
    assert str(outcome) == f"reused cluster {NAME!r} (ps=1 worker=1) in processes of their own"


def test_a_cluster_of_another_kind_is_not_replaced_unasked(cluster):
    outcome = start_cluster(JOBS, NAME, cpus=2)
    assert outcome.word == "failed"
    assert outcome.cause.endswith("runs already, as ps=1 worker=1, processes")
    assert cluster.is_running


def test_logs_are_of_one_task_or_all(cluster):
    (line,) = cluster.logs("worker:0")
    assert "/job:worker/task:0 serves at" in line
    both = cluster.logs(lines=1)
    assert [each.partition(": ")[0] for each in both] == ["/job:ps/task:0", "/job:worker/task:0"]
    assert cluster.logs(lines=0) == []
    with pytest.raises(ValueError, match="no task /job:worker/task:1 in cluster"):
        cluster.logs("worker:1")


def test_others_find_it(cluster):
    known = find(NAME)
    assert known.spec == cluster.spec
    assert (known.kind, known.cpus) == ("processes", 2)
    assert known.processes == {row.task: row.pid for row in cluster.status()}


def test_a_killed_task_is_seen_and_can_be_started_anew_at_its_address(cluster):
    address, pid = cluster.servers[1].address, cluster.servers[1].pid
    cluster.kill("worker:0")
    assert states(cluster) == ["up", "exited (SIGKILL)"]
    assert find_cluster(NAME) is cluster  # it outlives its tasks
    cluster.restart("/job:worker/task:0")
    assert states(cluster) == ["up", "up"]
    assert cluster.servers[1].address == address
    assert cluster.servers[1].pid != pid
    assert find(NAME).processes["/job:worker/task:0"] == cluster.servers[1].pid
    assert not any("stopped" in line for line in cluster.logs("worker:0"))  # killed: no last words


def test_the_log_of_a_task_that_was_stopped_says_so(cluster):
    cluster.restart("ps")
    assert cluster.logs("ps", 2)[0] == "tfdist: /job:ps/task:0 stopped"


def test_running_the_cell_again_starts_what_has_ended(cluster):
    cluster.kill("ps")
    outcome = start_cluster(JOBS, NAME, cpus=2, processes=True)
    assert str(outcome).endswith("; started anew: /job:ps/task:0, which had exited (SIGKILL)")
    assert states(cluster) == ["up", "up"]


def test_a_port_that_is_taken_fails_before_any_process_starts(cluster):
    port = int(cluster.servers[0].address.rpartition(":")[2])
    outcome = start_cluster({"x": 1}, "another", port=port, processes=True)
    assert outcome.word == "failed"
    assert f"port {port} is taken" in outcome.cause
    assert "--port" in outcome.remedy
    assert find_cluster("another") is None


def test_a_start_that_takes_too_long_leaves_nothing_behind():
    before = sorted(runtime_folder().iterdir())
    outcome = start_cluster({"x": 1}, "slow", processes=True, timeout=0.0)
    assert outcome.word == "failed"
    assert "/job:x/task:0 at 127.0.0.1:" in outcome.cause
    assert "was not ready in 0 s" in outcome.cause
    assert "--timeout" in outcome.remedy
    assert sorted(runtime_folder().iterdir()) == before


def test_a_server_that_cannot_start_says_why(tmp_path):
    spec = ClusterSpec({"x": ["no.such.host.invalid:1"]})
    server = ServerProcess(spec, "x", 0, tmp_path / "log")
    assert server.state == "not started"
    with pytest.raises(UnavailableError, match=r"did not start: exited \(1\): tfdist: "):
        server.start()
    assert server.logs()


# What a kernel does: it starts a cluster, tells its processes, and waits.
KERNEL = textwrap.dedent(
    """
    import sys
    from tfdist.launch.start import start_cluster
    cluster = start_cluster({"x": 2}, "of a kernel", processes=True).require()
    print(*(server.pid for server in cluster.servers), flush=True)
    sys.stdin.readline()
    """
)


@pytest.mark.parametrize("how", ["by itself", "killed"])
def test_servers_end_with_their_kernel(how, runtime):
    command = [sys.executable, "-W", "error", "-c", KERNEL]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as kernel:
        pids = [int(pid) for pid in kernel.stdout.readline().split()]
        assert len(pids) == 2
        assert (runtime / "of a kernel.json").exists()
        if how == "killed":
            kernel.send_signal(signal.SIGKILL)
        else:
            kernel.stdin.close()
            assert kernel.wait(PATIENCE) == 0
            assert list(runtime.iterdir()) == []
        wait_until(lambda: all(map(is_gone, pids)))
    with pytest.raises(FailedPreconditionError, match="no cluster 'of a kernel' runs"):
        find("of a kernel")
    assert list(runtime.iterdir()) == []


def test_a_wait_for_an_absent_task_names_it_and_what_to_type(capfd):
    with start_cluster({"worker": 2}, "absent", processes=True).require() as cluster:
        target = cluster.target()
        cluster.kill("worker:1")
        capfd.readouterr()
        config = tf.ConfigProto(operation_timeout_in_ms=1500)
        with pytest.raises(DeadlineExceededError), tf.Session(target, config=config) as session:
            session.run(tf.constant(1.0))
        told = capfd.readouterr().err
    assert "waits for the tasks of its cluster" in told
    assert "absent: worker:1 (exited (SIGKILL)). Interrupt this, and" in told
    assert told.endswith("%cluster restart worker:1\n")
    assert absences_told([]) == ""
