"""Seat: which task of a cluster a process is to be."""

from __future__ import annotations

from dataclasses import dataclass

PATIENCE = 300.0  # seconds that a task waits to be told the cluster: others may start late


@dataclass(frozen=True)
class Seat:
    """Which task of a cluster a process is to be.

    Attributes:
      job: of the task.
      task: its index.
      host: address of this host that the others reach.
      port: 0 for a free one.
      cpus: CPU devices.
      gpus: simulated GPUs.
      grace: seconds that running steps may still take after SIGTERM.
      patience: seconds that it waits to be told the cluster.
    """

    job: str
    task: int
    host: str = "127.0.0.1"
    port: int = 0
    cpus: int = 1
    gpus: int = 0
    grace: float = 1.0
    patience: float = PATIENCE

    @property
    def name(self) -> str:
        """Return "/job:J/task:I"."""
        return f"/job:{self.job}/task:{self.task}"
