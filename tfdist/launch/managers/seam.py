"""What tfdist asks of a cluster manager: start tasks, pass messages on, tell how each fares.

Which port each task has, and when all may serve, is not the manager's business: `exchange` settles
that over the messages that it passes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from tfdist.errors import UnimplementedError
from tfdist.launch.exchange.gathering import LEASE
from tfdist.launch.exchange.messages import FromTask, ToTask


class Place(NamedTuple):
    """Where a task runs.

    Attributes:
      host: name or address of the host, "" if it has none yet.
      id: the manager's name for the task: a job step, a Dask key, a process.
    """

    host: str = ""
    id: str = ""


@dataclass(frozen=True)
class Wanted:
    """The tasks that a manager is to start.

    Attributes:
      cluster: name of the cluster.
      tasks: their (job, index), in the order of the cluster.
      cpus: CPU devices of each task.
      gpus: simulated GPUs of each task.
      resources: what the manager is to give each task, by job, in the manager's own words.
      port: of the first task on each host, 0 for free ones.
    """

    cluster: str
    tasks: Sequence[tuple[str, int]]
    cpus: int = 1
    gpus: int = 0
    resources: dict[str, dict[str, float]] = field(default_factory=dict)
    port: int = 0


class Listener(Protocol):
    """Who is told what happens; its methods may be called on any thread, and do not wait."""

    def heard(self, task: str, message: FromTask) -> None:
        """Take a message of a task; `Ended` too, when the manager sees its end in another way."""


class ClusterManager:
    """What every manager can do; those that can do more say so in their own methods.

    Tasks are named "/job:J/task:I". A manager is used for one cluster, from one thread at a time
    apart from `tell`, which any thread may call.

    Attributes:
      name: as a person reads it: "Dask".
      remedy: what to do when a start fails, one sentence.
      lease: seconds that a task goes on without hearing of whoever started it; 0 where the manager
        itself ends the tasks of a process that is gone.
      keep: whether tasks go on when the process that started them ends without a word.
    """

    name = ""
    remedy = ""
    lease = LEASE
    keep = False

    @property
    def is_queued(self) -> bool:
        """Return whether tasks wait for hosts: that time does not count as one of their start."""
        return False

    def start(self, wanted: Wanted, listener: Listener) -> None:
        """Have all tasks started, without waiting until they serve.

        Raises:
          OpError: it cannot be done; nothing is left behind.
        """
        raise NotImplementedError

    def tell(self, task: str, message: ToTask) -> None:
        """Pass a message on to a task; nothing happens where it cannot be reached."""
        raise NotImplementedError

    def place(self, task: str) -> Place:
        """Return where a task runs."""
        raise NotImplementedError

    def certified_host(self, task: str, told: str) -> str:
        """Return the host in a task's certificate, as others dial it.

        Args:
          task: its name.
          told: what it says itself, which a manager that knows better does not believe.
        """
        return told

    def progress(self) -> str:
        """Return what a start waits for, as the manager tells it: "job 7 PENDING (Resources)"."""
        return ""

    def stay(self) -> None:
        """Have tasks go on when the process that started them ends; called before `start`.

        Raises:
          ValueError: this manager's tasks end with that process.
        """
        raise ValueError(
            f"tasks on {self.name} end with the process that started them; those on Dask may stay"
        )

    def logs(self, task: str, lines: int) -> list[str]:
        """Return the last lines that a task wrote."""
        raise self._cannot("logs", "it does not keep what tasks write")

    def kill(self, task: str) -> None:
        """Kill the process of a task, as a fault would."""
        raise self._cannot("kill", "it has no way to end one task")

    def restart(self, task: str) -> None:
        """Have a task that has ended started anew, here or elsewhere, without waiting."""
        raise self._cannot("restart", "it has no way to start one task")

    def close(self, grace: float = 0.0) -> None:
        """End all tasks, and let go of whatever there is; called once."""
        raise NotImplementedError

    def _cannot(self, what: str, why: str) -> UnimplementedError:
        return UnimplementedError(
            f"{what}: not for a cluster on {self.name}: {why}; %cluster stop and start it anew"
        )
