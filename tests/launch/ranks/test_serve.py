"""`mpirun -n 3 tfdist serve --from mpi`: a cluster that nobody but `mpirun` holds together."""

import json
import subprocess
import sys
from contextlib import contextmanager

import pytest

import tfdist as tf
from tests.launch.waiting import PATIENCE, is_gone, wait_until
from tests.needs import need
from tfdist.launch.attached_cluster import attach
from tfdist.launch.server_process import own_environment

SERVE = (sys.executable, "-m", "tfdist", "serve", "--from", "mpi")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
OPEN_MPI = ("mpirun.openmpi", "--oversubscribe")
HYDRA = ("mpiexec.hydra",)
PACKAGES = {OPEN_MPI: "openmpi-bin", HYDRA: "mpich"}


@contextmanager
def launched(*command):
    """Yield `mpirun`, which is ended afterwards."""
    environment = own_environment() | AS_ROOT
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


@pytest.mark.parametrize("launcher", PACKAGES, ids=["Open MPI", "MPICH"])
def test_a_notebook_finds_it_by_its_file_and_it_ends_by_itself(launcher, tmp_path, no_clusters):
    need({launcher[0]: PACKAGES[launcher]})
    folder = tmp_path / "shared"
    with launched(*launcher, "-n", "3", *SERVE, "ps=1", "worker=2", "--folder", folder) as mpirun:
        wait_until(lambda: list(folder.glob("mpi*/cluster.json")))
        (file,) = folder.glob("mpi*/cluster.json")
        assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
        owner = json.loads(file.read_text())["owner"]["pid"]
        cluster = attach(str(file)).require()
        with tf.Graph().as_default(), tf.Session(cluster.target()) as session:
            with tf.device("/job:worker/task:1"):
                assert session.run(tf.constant(1.0) + 2.0) == 3.0
        mpirun.terminate()
        assert "all tasks serve; in a notebook: %cluster attach" in mpirun.communicate()[1]
    wait_until(lambda: is_gone(owner))


def test_who_has_not_come_is_told(tmp_path):
    """Of two ranks only the first one starts."""
    (tmp_path / "shared").mkdir(mode=0o700)
    rank = {"PMI_RANK": "0", "PMI_SIZE": "2", "MPI_LOCALNRANKS": "2"}
    told = subprocess.run(
        [*SERVE, "--folder", tmp_path / "shared", "--patience", "0.3"],
        env=own_environment() | rank, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert told.returncode == 1
    assert "/job:worker/task:1 did not come in 0.3 s; do all hosts share" in told.stderr


WRONG = [
    pytest.param((), {}, "Not started by mpirun", id="no mpirun"),
    pytest.param(("ps=2",), {"PMI_RANK": "0", "PMI_SIZE": "3"}, "ps=2 are 2 tasks", id="too few"),
    pytest.param(("ps",), {}, "is not JOB=N", id="no job"),
]


@pytest.mark.parametrize(("words", "environment", "said"), WRONG)
def test_a_start_that_makes_no_sense_is_refused(words, environment, said):
    told = subprocess.run(
        [*SERVE, *words], env=own_environment() | environment, capture_output=True, text=True
    )
    assert (told.returncode, said in told.stderr) == (2, True), told.stderr


def test_a_run_without_a_number_needs_a_folder():
    told = subprocess.run(
        SERVE, env=own_environment() | {"PMI_RANK": "0", "PMI_SIZE": "1"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert (told.returncode, "--folder FOLDER" in told.stderr) == (1, True)
