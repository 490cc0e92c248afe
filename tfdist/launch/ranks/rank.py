"""Rank: which of the processes that `srun` or `mpirun` started this one is.

All here are functions of the environment, which comes in as an argument. Sources: `man mpirun` of
Open MPI 4.1 (environment variables), the PMIx standard, and what MPICH's Hydra sets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tfdist.launch.slurm_environment import is_step, read_step

Environment = Mapping[str, str]


@dataclass(frozen=True)
class Rank:
    """One of the processes that were started together.

    Attributes:
      number: of this one, from 0.
      size: how many there are.
      name: that no other run has now, "" if that is not told.
      towards: numeric address of a host that all of them reach, "" if it is not told.
      is_on_one_host: whether all of them are on one host, as far as it is told.
      local: number of this one among those of its host, from 0.
    """

    number: int
    size: int
    name: str = ""
    towards: str = ""
    is_on_one_host: bool = False
    local: int = 0

    def role(self, jobs: Mapping[str, int]) -> tuple[str, int]:
        """Return job and index of this process.

        Ranks are given out in the order of the jobs' names, as TensorFlow's resolver for SLURM
        does.

        Args:
          jobs: number of tasks of each job; without any, all are workers.

        Raises:
          ValueError: they are more or fewer than there are processes.

        Example:
          >>> Rank(2, 3).role({"worker": 2, "ps": 1})
          ('worker', 1)
        """
        tasks = tasks_of(jobs or {"worker": self.size})
        if len(tasks) != self.size:
            asked = " ".join(f"{job}={count}" for job, count in jobs.items())
            raise ValueError(
                f"{asked} are {len(tasks)} tasks, but {self.size} processes were started: "
                f"start {len(tasks)}, as with -n {len(tasks)}"
            )
        return tasks[self.number]


def tasks_of(jobs: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return (job, index) of each task, in the order of their ranks."""
    return [(job, index) for job in sorted(jobs) for index in range(jobs[job])]


def rank_from(source: str, environment: Environment) -> Rank:
    """Return the rank of this process.

    Args:
      source: one of `SOURCES`.
      environment: of the process.

    Raises:
      RuntimeError: it was not started that way; the message says what is missing.
      ValueError: a variable makes no sense.
    """
    return SOURCES[source](environment)


def _slurm(environment: Environment) -> Rank:
    step = read_step(environment)
    return Rank(step.rank, step.size, step.name, step.launcher, local=step.local)


def _mpi(environment: Environment) -> Rank:
    """Return the rank in MPI's world; within a SLURM job, `mpirun` may have set its own."""
    for variable, read in _LAUNCHERS.items():
        if variable in environment:
            return read(environment)
    if is_step(environment):  # `srun --mpi=pmix`
        return _slurm(environment)
    raise RuntimeError(
        f"none of {', '.join(_LAUNCHERS)} found in environment. Not started by mpirun or mpiexec? "
        "As in: mpirun -n 3 tfdist serve --from mpi ps=1 worker=2"
    )


def _open_mpi(environment: Environment) -> Rank:
    size = _number(environment, "OMPI_COMM_WORLD_SIZE")
    job = environment.get("PMIX_NAMESPACE") or environment.get("OMPI_MCA_ess_base_jobid", "")
    found = re.search(r"tcp://([\d.]+)", environment.get("OMPI_MCA_orte_hnp_uri", ""))
    return Rank(
        _number(environment, "OMPI_COMM_WORLD_RANK"),
        size,
        _name(job),
        found[1] if found else "",
        environment.get("OMPI_COMM_WORLD_LOCAL_SIZE") == str(size),
        _number(environment, "OMPI_COMM_WORLD_LOCAL_RANK"),
    )


def _hydra(environment: Environment) -> Rank:
    size = _number(environment, "PMI_SIZE")
    is_on_one_host = environment.get("MPI_LOCALNRANKS") == str(size)
    job = environment.get("PMI_JOBID") or environment.get("SLURM_JOB_ID", "")
    number = _number(environment, "PMI_RANK")
    local = _number({"MPI_LOCALRANKID": "0", **environment}, "MPI_LOCALRANKID")
    return Rank(number, size, _name(job), "", is_on_one_host, local)


# Variable that tells the rank -> what reads the others: Open MPI; MPICH, Intel MPI, Cray.
_LAUNCHERS: dict[str, Callable[[Environment], Rank]] = {
    "OMPI_COMM_WORLD_RANK": _open_mpi,
    "PMI_RANK": _hydra,
}

SOURCES: dict[str, Callable[[Environment], Rank]] = {"slurm": _slurm, "mpi": _mpi}


def _name(job: str) -> str:
    return "mpi-" + re.sub(r"[^\w.-]", "_", job) if job else ""


def _number(environment: Environment, name: str) -> int:
    text = environment.get(name, "")
    if not text.isdecimal():
        raise ValueError(f"{name} must be a number, got {text!r}")
    return int(text)
