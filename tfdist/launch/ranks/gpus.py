"""Which GPUs of its node a task of a SLURM step has for itself."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from tfdist.launch.cluster_resolver.slurm import SlurmClusterResolver


def take_own_gpus(jobs: Mapping[str, int]) -> None:
    """Let this process see its own share of the GPUs that SLURM gave its node, if there are any.

    Where the step's distribution does not tell which tasks a node has, it sees what SLURM lets it.

    Args:
      jobs: number of tasks of each job; without any, all are workers.
    """
    with contextlib.suppress(RuntimeError):
        SlurmClusterResolver(jobs or None).cluster_spec()  # sets CUDA_VISIBLE_DEVICES
