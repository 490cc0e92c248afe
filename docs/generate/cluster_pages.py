"""What each way to run a cluster can do: what its class has, and what nobody can read off it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tfdist.launch.clusters import Cluster
from tfdist.launch.local_cluster import LocalCluster
from tfdist.launch.managers.dask.manager import DaskManager
from tfdist.launch.managers.mpi import MpiManager
from tfdist.launch.managers.seam import ClusterManager
from tfdist.launch.managers.slurm import SlurmManager
from tfdist.launch.managers.ssh import SshManager
from tfdist.launch.process_cluster import ProcessCluster

PATH = "reference/clusters.md"
VERBS = ("logs", "kill", "restart")
_BY_PROCESS = "by their user, not encrypted"
_BY_KEY = "by certificates, encrypted; on one host by their user"


@dataclass(frozen=True)
class Way:
    """A way to run a cluster.

    Attributes:
      name: of it.
      start: how it is started.
      made_by: class that has the verbs, None where whoever started the servers has them.
      where: its tasks run.
      protected: how they know who may connect.
      again: where `restart` starts a task.
      after: what happens when the client ends.
      gpus: which ones a task sees.
    """

    name: str
    start: str
    made_by: type[Cluster] | type[ClusterManager] | None
    where: str
    protected: str
    again: str
    after: str
    gpus: str

    def has(self, verb: str) -> str:
        """Return "yes" where a verb is more than an error."""
        base = ClusterManager if issubclass(self.made_by or object, ClusterManager) else Cluster
        own = getattr(self.made_by, verb, None)
        return "yes" if own not in (None, getattr(base, verb)) else "no"


WAYS = (
    Way("in the kernel", "`%cluster start`", LocalCluster, "in the notebook's process",
        _BY_PROCESS, "", "ends with it", "the host's"),
    Way("processes", "`--processes`", ProcessCluster, "on this host",
        _BY_PROCESS, "at its port", "end with it", "the host's"),
    Way("TensorFlow's servers", "`--engine tensorflow`", ProcessCluster, "on this host",
        "by their user, through a gate; not encrypted", "at its port", "end with it",
        "none"),
    Way("Dask", "`--on dask://HOST:PORT`", DaskManager, "on Dask's workers",
        _BY_KEY, "on whichever worker is free", "end within seconds", "of the worker"),
    Way("SLURM", "`--on slurm:OPTIONS`", SlurmManager, "in a step of a job",
        _BY_KEY, "on its node, while the job lives", "end within half a minute; so does the job",
        "the task's own"),
    Way("SLURM, by itself", "`srun tfdist serve --from slurm`", None, "in a step of a job",
        _BY_KEY, "", "stay", "the task's own"),
    Way("MPI", "`--on mpi:OPTIONS`", MpiManager, "where `mpirun` starts them",
        _BY_KEY, "on its host, while `mpirun` lives", "end within half a minute", "the host's"),
    Way("MPI, by itself", "`mpirun tfdist serve --from mpi`", None, "where `mpirun` starts them",
        _BY_KEY, "", "stay", "the host's"),
    Way("ssh", "`--on ssh:HOSTS.txt`", SshManager, "on the hosts of a list",
        _BY_KEY, "on its host, or the next", "end at once, or within half a minute", "the host's"),
    Way("Kubernetes", "`tfdist manifests`", None, "in pods",
        "by a NetworkPolicy, or certificates", "as Kubernetes does", "stay", "of the pod"),
)  # fmt: skip


def pages() -> Iterator[tuple[str, str]]:
    """Yield (path, Markdown) of the page."""
    yield PATH, "\n".join(_page())


def _page() -> Iterator[str]:
    yield "# Where clusters run\n"
    yield (
        "`%cluster start` takes the options; `start_cluster(on=...)` is the same in a program. "
        "Another notebook uses any of them by `%cluster attach`.\n"
    )
    heads = ("a cluster", "is started by", "its tasks run", *(f"`{verb}`" for verb in VERBS),
             "a task that is started again is", "when the client ends, its tasks",
             "who may connect is known", "its GPUs are")  # fmt: skip
    yield f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}"
    for way in WAYS:
        cells = (way.name, way.start, way.where, *map(way.has, VERBS), way.again, way.after,
                 way.protected, way.gpus)  # fmt: skip
        yield f"| {' | '.join(cells)} |"
    yield (
        "\nHow to start each: [in a notebook](../how-to/cluster-in-a-notebook.md), "
        "[processes](../how-to/cluster-of-processes.md), "
        "[TensorFlow's servers](../how-to/tensorflow-servers.md), "
        "[SLURM, MPI and ssh](../how-to/clusters-on-slurm-mpi-ssh.md), "
        "[Kubernetes](../how-to/kubernetes.md)."
    )
