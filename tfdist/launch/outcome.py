"""What starting a cluster comes to.

It is a question with four answers: started, reused (the same cluster runs already), replaced (on
request), or failed, with the cause and what to do about it. A cell that is run again therefore does
no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from tfdist.cluster.spec import ClusterSpec
from tfdist.errors import (
    AlreadyExistsError,
    DeadlineExceededError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
)
from tfdist.launch.clusters import (
    DEFAULT_NAME,
    Cluster,
    find_cluster,
    jobs_text,
    port_of,
    register,
    registry_lock,
)
from tfdist.launch.connection_file import stem_of
from tfdist.launch.engines import TENSORFLOW, TFDIST, engine_by_job
from tfdist.launch.server_process import START_TIMEOUT

# What to do about a cluster that does not start.
REMEDIES: dict[type[Exception], str] = {
    AlreadyExistsError: "--port takes another first port; without, free ones",
    DeadlineExceededError: "--timeout SECONDS waits longer",
    NotFoundError: "",
    PermissionDeniedError: "",
}
OTHERWISE = "--replace stops it first, --name starts another beside it"
OPEN = (
    "TensorFlow's servers listen on every interface, unprotected: whoever reaches this machine may "
    "run graphs with your rights"
)


@dataclass(frozen=True)
class Outcome:
    """What starting a cluster came to.

    Attributes:
      word: "started", "reused", "replaced", "attached" or "failed".
      cluster: that runs now, or None.
      cause: why it failed, or "".
      remedy: what to do about it, or "" if the cause says it.
      note: what else the user should know, or "".
    """

    word: str
    cluster: Cluster | None
    cause: str = ""
    remedy: str = ""
    note: str = ""

    def require(self) -> Any:
        """Return the cluster; RuntimeError with cause and remedy if there is none."""
        if self.cluster is None:
            raise RuntimeError(str(self))
        return self.cluster

    def __str__(self) -> str:
        """Return one line."""
        return self.told()

    def told(self, addition: str = "") -> str:
        """Return one line; `addition` stands behind the cluster, before the note."""
        if self.cluster is None:
            return f"{self.word}: {self.problem}"
        line = f"{self.word} cluster {self.cluster.name!r} ({jobs_text(self.cluster.jobs)})"
        line += self.cluster.where
        return "; ".join(filter(None, (line + addition, self.note)))

    @property
    def problem(self) -> str:
        """Return the cause, and what to do about it."""
        return "; ".join(filter(None, (self.cause, self.remedy)))


@dataclass(frozen=True)
class ClusterRequest:
    """The cluster that somebody asks for.

    Attributes:
      jobs: number of tasks by job.
      name: one cluster of a name runs at a time.
      port: of the first task, the others take the next ones; None for free ones.
      cpus: CPU devices of each task.
      timeout: seconds that a server with a process of its own may take to be ready.
      engine: "tfdist" or "tensorflow", or one of them by job.
      python: interpreter that has TensorFlow; see `engines.tensorflow_python`.
      trust_network: whether servers of TensorFlow may be without a private network.
      progress: gets a sentence now and then while servers of TensorFlow start.
      gpus: simulated GPUs of each task.
      foreign: the cluster elsewhere that this one stands for, or None.
    """

    jobs: Mapping[str, int]
    name: str = DEFAULT_NAME
    port: int | None = None
    cpus: int = 1
    timeout: float = START_TIMEOUT
    engine: str | Mapping[str, str] = field(default_factory=dict)
    python: str | None = None
    trust_network: bool = False
    progress: Callable[[str], None] = lambda sentence: None
    gpus: int = 0
    foreign: ClusterSpec | None = None

    def check(self) -> None:
        """Raise ValueError if there is no task, or a number or the name makes no sense."""
        stem_of(self.name)
        tasks = sum(self.jobs.values())
        if not self.jobs or min(self.jobs.values()) < 1:
            got = dict(self.jobs)
            raise ValueError(f"each job needs a task or more, such as ps=1 worker=2; got {got}")
        if self.cpus < 1:
            raise ValueError(f"each task needs a CPU device or more, got {self.cpus}")
        if self.gpus < 0:
            raise ValueError(f"a task has no simulated GPUs, or some; got {self.gpus}")
        if self.port is not None and not 0 < self.port <= 65536 - tasks:
            last = self.port + tasks - 1
            raise ValueError(f"ports {self.port} to {last} do not exist; the last is 65535")
        if TENSORFLOW in engine_by_job(self.jobs, self.engine).values() and self.gpus:
            raise ValueError("servers of TensorFlow cannot simulate GPUs; leave --gpus out")

    @property
    def engines(self) -> dict[str, str]:
        """Return "tfdist" or "tensorflow" by job."""
        return engine_by_job(self.jobs, self.engine)

    @property
    def is_open(self) -> bool:
        """Return whether strangers can reach its servers."""
        return self.trust_network and TENSORFLOW in self.engines.values()

    @property
    def tasks(self) -> list[tuple[str, int]]:
        """Return (job, index) of each task, sorted."""
        return [(job, index) for job in sorted(self.jobs) for index in range(self.jobs[job])]


class ClusterFactory(Protocol):
    """A class of clusters that can be started here.

    An instance is made with its servers started. OpError or OSError leave nothing behind.
    """

    @property
    def kind(self) -> str:
        """Return where the servers run."""

    @property
    def remedy(self) -> str:
        """Return what to do about a cluster that does not start, where the cause does not say."""

    def __call__(self, wanted: ClusterRequest) -> Cluster:
        """Return a running cluster."""


def start(wanted: ClusterRequest, make: ClusterFactory, replace_it: bool = False) -> Outcome:
    """Make a cluster, or find it running.

    Args:
      wanted: the cluster.
      make: its class.
      replace_it: whether a cluster of that name is stopped first.

    Raises:
      ValueError: there is no task, or a number makes no sense.
    """
    wanted.check()
    with registry_lock:
        running = find_cluster(wanted.name)
        if running is not None and not replace_it:
            return _reuse(running, wanted, make.kind)
        if running is not None:
            running.stop()
        try:
            cluster = make(wanted)
        except (OpError, OSError) as error:
            return Outcome("failed", None, cause_of(error), REMEDIES.get(type(error), make.remedy))
        try:
            cluster.stand_for(wanted.foreign)
        except ValueError as error:
            cluster.stop()
            return Outcome("failed", None, str(error), "%cluster stop NAME stops the other one")
        register(cluster)
        note = "; ".join(filter(None, (OPEN if wanted.is_open else "", cluster.publish())))
        return Outcome("replaced" if running else "started", cluster, note=note)


def _reuse(running: Cluster, wanted: ClusterRequest, wanted_kind: str) -> Outcome:
    first = port_of(running.servers[0].address)
    same = (running.jobs, running.kind) == (dict(sorted(wanted.jobs.items())), wanted_kind)
    same = same and (running.cpus, running.gpus, running.engines) == (
        wanted.cpus, wanted.gpus, wanted.engines
    )  # fmt: skip
    if same and running.foreign != wanted.foreign:
        stands = "for other addresses" if running.foreign else "for itself"
        cause = f"cluster {running.name!r} runs already, and stands {stands}"
        return Outcome("failed", None, cause, OTHERWISE)
    if same and wanted.port in (None, first):
        return _revived(running)
    at = f" at port {first}" if same else ""
    devices = f" with {running.cpus} CPU devices each" if running.cpus != wanted.cpus else ""
    if running.gpus != wanted.gpus:
        devices += f" with {running.gpus} simulated GPUs each"
    kind = f", {running.kind}" if running.kind != wanted_kind else ""
    if set(running.engines.values()) | set(wanted.engines.values()) != {TFDIST}:
        kind += _engines_told(running) if running.engines != wanted.engines else ""
    return Outcome(
        "failed",
        None,
        f"cluster {running.name!r} runs already, as {jobs_text(running.jobs)}{kind}{at}{devices}",
        OTHERWISE,
    )


def _engines_told(running: Cluster) -> str:
    return ", engine " + " ".join(f"{job}={name}" for job, name in running.engines.items())


def _revived(running: Cluster) -> Outcome:
    try:
        return Outcome("reused", running, note=running.revive())
    except OpError as error:
        return Outcome("failed", None, error.message, "--replace starts the whole cluster anew")


def cause_of(error: Exception) -> str:
    """Return what went wrong in one line, and with which file if it was one."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"cannot use {error.filename}: {error.strerror}"
    return getattr(error, "message", "") or str(error)
