"""Clusters on a real SLURM: two nodes, each with a network of its own."""

import subprocess
import sys
from contextlib import contextmanager

import pytest

import tfdist as tf
from tests.launch.waiting import is_gone, wait_until
from tfdist.errors import OpError
from tfdist.launch.attached_cluster import attach
from tfdist.launch.managers.slurm import SlurmManager
from tfdist.launch.server_process import own_environment
from tfdist.launch.start import start_cluster
from tfdist.wire.common.tls import use_identity

SERVE = (sys.executable, "-m", "tfdist", "serve", "--from", "slurm")


@contextmanager
def srun(*arguments):
    """Yield an `srun`, which is ended afterwards."""
    with subprocess.Popen(
        ["srun", *arguments], env=own_environment(), stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


def trained(target):
    """Return the weights after some steps on a parameter server, each worker with its own part."""
    with tf.Graph().as_default():
        with tf.device("/job:ps"):
            weights = tf.Variable([0.5, -1.0])
        losses = []
        for task in range(2):
            with tf.device(f"/job:worker/task:{task}"):
                inputs = tf.constant([[1.0, 2.0], [3.0, task + 1.0]])
                losses.append(tf.reduce_mean(tf.square(tf.reduce_sum(inputs * weights, 1) - 1.0)))
        with tf.device("/job:ps"):
            train = tf.train.GradientDescentOptimizer(0.02).minimize(tf.add_n(losses))
        with tf.Session(target) as session:
            session.run(tf.global_variables_initializer())
            for _ in range(5):
                session.run(train)
            return session.run(weights).tolist()


def test_srun_needs_nothing_else(slurm, folder, no_clusters, monkeypatch):
    """Ranks go round the nodes, which ports computed from ranks would not find."""
    monkeypatch.setenv("TFDIST_TIMEOUTS", "session=3")
    tasks = ("--nodes=2", "--ntasks=3", "--distribution=cyclic")
    with srun(*tasks, *SERVE, "ps=1", "worker=2", f"--folder={folder}") as process:
        wait_until(lambda: list(folder.glob("slurm-*/cluster.json")))
        (file,) = folder.glob("slurm-*/cluster.json")
        key = file.with_name("identity") / "key.pem"
        assert (file.stat().st_mode & 0o777, key.stat().st_mode & 0o777) == (0o600, 0o600)
        cluster = attach(str(file)).require()
        hosts = [server.address.rpartition(":")[0] for server in cluster.servers]
        assert hosts[0] == hosts[2] != hosts[1]
        weights = trained(cluster.target())
        for where in ("kernel", "processes"):
            with start_cluster({"ps": 1, "worker": 2}, name="other", on=where).require() as other:
                assert trained(other.target()) == weights
        use_identity(None, at=[server.address for server in cluster.servers])
        with pytest.raises(OpError):
            trained(cluster.target())
        job = file.parent.name.removeprefix("slurm-").partition(".")[0]
        subprocess.run(["scancel", job], check=True)
        assert "all tasks serve; in a notebook: %cluster attach" in process.communicate()[1]
    wait_until(lambda: not file.parent.exists())


def test_a_job_that_waits_says_why_and_ctrl_c_cancels_it(slurm, folder, runtime):
    told = []

    def interrupt(sentence):
        told.append(sentence)
        if "BeginTime" in sentence:
            raise KeyboardInterrupt

    manager = SlurmManager(f"--begin=now+1hour --folder={folder}")
    with pytest.raises(KeyboardInterrupt):
        start_cluster({"worker": 1}, on=manager, timeout=0.5, progress=interrupt)
    assert told[-1].endswith(f"job {manager.job} PENDING (BeginTime)")
    state = subprocess.run(
        ["squeue", "--noheader", "--states=all", f"--jobs={manager.job}", "--format=%T"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert (state.stdout.strip(), list(folder.iterdir())) == ("CANCELLED", [])


WRONG = [
    pytest.param("--partition=nix", "Invalid partition name", id="SLURM refuses it"),
    pytest.param(
        "--cpus-per-task=50", "never has what this job asks for", id="it would wait for ever"
    ),
]


@pytest.mark.parametrize(("options", "said"), WRONG)
def test_a_job_that_cannot_be_is_no_cluster(slurm, folder, no_clusters, runtime, options, said):
    manager = SlurmManager(f"{options} --folder={folder}")
    outcome = start_cluster({"worker": 1}, on=manager)
    assert (outcome.word, said in outcome.cause) == ("failed", True), outcome.cause
    assert list(folder.iterdir()) == []


def test_the_end_of_the_job_is_the_end_of_its_tasks(slurm, folder, runtime, no_clusters):
    manager = SlurmManager(f"--folder={folder}")
    with start_cluster({"worker": 1}, on=manager).require() as cluster:
        pid = cluster.status()[0].pid
        subprocess.run(["scancel", manager.job], check=True)
        wait_until(lambda: not cluster.serves("/job:worker/task:0"))
        wait_until(lambda: is_gone(pid))
        wait_until(manager._why_ended)
        outcome = start_cluster({"worker": 1}, on=SlurmManager())
        assert outcome.word == "failed"
        assert f"job {manager.job} CANCELLED" in outcome.cause


def test_where_there_is_no_slurm_it_says_so(folder, runtime, monkeypatch):
    monkeypatch.setenv("PATH", str(folder))
    outcome = start_cluster({"worker": 1}, on=SlurmManager(f"--folder={folder}"))
    assert "no program sbatch here" in outcome.cause
