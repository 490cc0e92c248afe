"""Which cluster manager somebody names: "dask://scheduler:8786", "slurm", "ssh:hosts.txt"."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TypeAlias

from tfdist.launch.clusters import Cluster
from tfdist.launch.managers.cluster import ManagedCluster
from tfdist.launch.managers.seam import ClusterManager
from tfdist.launch.outcome import ClusterRequest

KERNEL, PROCESSES = "kernel", "processes"  # these need no manager

# Scheme -> class of its manager, made of what stands behind the scheme.
MANAGERS: Mapping[str, str] = {
    "dask": "tfdist.launch.managers.dask.manager.DaskManager",
    "mpi": "tfdist.launch.managers.mpi.MpiManager",
    "slurm": "tfdist.launch.managers.slurm.SlurmManager",
    "ssh": "tfdist.launch.managers.ssh.SshManager",
}

On: TypeAlias = str | ClusterManager


@dataclass(frozen=True)
class ManagedFactory:
    """What makes clusters on a manager; see `outcome.ClusterFactory`.

    Attributes:
      manager: for the next cluster.
    """

    manager: ClusterManager

    @property
    def kind(self) -> str:
        """Return the manager's name."""
        return self.manager.name

    @property
    def remedy(self) -> str:
        """Return what to do about a start that failed."""
        return self.manager.remedy

    def __call__(self, wanted: ClusterRequest) -> Cluster:
        """Return a running cluster."""
        return ManagedCluster(wanted, self.manager)


def manager_on(on: On) -> ClusterManager | None:
    """Return the cluster manager that is meant, None for this host.

    Args:
      on: a manager; or "dask://HOST:PORT", "slurm", ...; or "kernel" and "processes".

    Raises:
      ValueError: there is no such manager; the message names those that there are.
    """
    if isinstance(on, ClusterManager):
        return on
    if on in (KERNEL, PROCESSES):
        return None
    scheme, _, rest = on.partition(":")
    if scheme not in MANAGERS:
        raise ValueError(_unknown(on, scheme))
    module, _, name = MANAGERS[scheme].rpartition(".")
    make: Callable[[str], ClusterManager] = getattr(import_module(module), name)
    return make(rest.removeprefix("//"))


def _unknown(on: str, scheme: str) -> str:
    choices = [KERNEL, PROCESSES, *MANAGERS]
    near = difflib.get_close_matches(scheme, choices, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"nothing to start a cluster on is called {on!r}; there are {', '.join(choices)}{hint}"
