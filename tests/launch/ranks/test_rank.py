"""Which task a rank is, and what the environment has to say about it."""

import pytest

from tfdist.launch.ranks.host import interface_towards, own_host
from tfdist.launch.ranks.rank import Rank, rank_from

SLURM = {
    "SLURM_PROCID": "2", "SLURM_STEP_NODELIST": "n[1-2]", "SLURM_STEP_TASKS_PER_NODE": "2,1",
    "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_LAUNCH_NODE_IPADDR": "10.0.0.1",
}  # fmt: skip
OPEN_MPI = {
    "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "3", "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "PMIX_NAMESPACE": "prterun-n1/7@1",
    "OMPI_MCA_orte_hnp_uri": "9.0;tcp://192.0.2.2,10.0.0.1:55381;tcp6://[fd00::2]:51269",
}  # fmt: skip
HYDRA = {"PMI_RANK": "0", "PMI_SIZE": "2", "MPI_LOCALNRANKS": "2"}
PMIX_STEP = SLURM | {"PMIX_RANK": "2", "PMIX_NAMESPACE": "slurm.pmix.7.0"}

RANKS = [
    pytest.param("slurm", SLURM, Rank(2, 3, "slurm-7.0", "10.0.0.1"), id="srun"),
    pytest.param(
        "mpi", OPEN_MPI, Rank(1, 3, "mpi-prterun-n1_7_1", "192.0.2.2", False, 1), id="Open MPI"
    ),
    pytest.param(
        "mpi", OPEN_MPI | {"OMPI_COMM_WORLD_LOCAL_SIZE": "3"},
        Rank(1, 3, "mpi-prterun-n1_7_1", "192.0.2.2", True, 1), id="all on one host",
    ),
    pytest.param("mpi", HYDRA, Rank(0, 2, "", "", True), id="Hydra gives a run no number"),
    pytest.param(
        "mpi", SLURM | HYDRA, Rank(0, 2, "mpi-7", "", True), id="mpirun in a job: its own ranks"
    ),
    pytest.param(
        "mpi", PMIX_STEP, Rank(2, 3, "slurm-7.0", "10.0.0.1"), id="srun --mpi=pmix: the step's"
    ),
]  # fmt: skip


@pytest.mark.parametrize(("source", "environment", "rank"), RANKS)
def test_the_rank_that_an_environment_tells(source, environment, rank):
    assert rank_from(source, environment) == rank


WRONG = [
    pytest.param("slurm", {}, "Not running inside a SLURM step", id="no srun"),
    pytest.param("mpi", {}, "Not started by mpirun", id="no mpirun"),
    pytest.param("mpi", OPEN_MPI | {"OMPI_COMM_WORLD_SIZE": "x"}, "SIZE must be", id="no number"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "environment", "said"), WRONG)
def test_an_environment_that_tells_no_rank(source, environment, said):
    with pytest.raises((RuntimeError, ValueError), match=said):
        rank_from(source, environment)


@pytest.mark.parametrize(
    ("jobs", "roles"),
    [
        ({"worker": 2, "ps": 1}, [("ps", 0), ("worker", 0), ("worker", 1)]),
        ({}, [("worker", 0), ("worker", 1), ("worker", 2)]),
    ],
)
def test_ranks_are_given_to_jobs_in_the_order_of_their_names(jobs, roles):
    assert [Rank(number, 3).role(jobs) for number in range(3)] == roles


def test_as_many_processes_as_tasks_are_needed():
    with pytest.raises(ValueError, match="ps=1 worker=4 are 5 tasks, but 3 processes were started"):
        Rank(0, 3).role({"ps": 1, "worker": 4})


def test_on_one_host_nobody_else_has_to_reach_it():
    assert own_host("192.0.2.2", is_on_one_host=True) == "127.0.0.1"


def test_the_loopback_leads_to_itself_only():
    assert interface_towards("127.0.0.1") == "127.0.0.1"
