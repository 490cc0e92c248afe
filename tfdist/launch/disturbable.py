"""What is wrong with a cluster on purpose: said, listed, healed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from tfdist.errors import FailedPreconditionError, UnimplementedError
from tfdist.launch.disturbances import added, disturbance_of, healed
from tfdist.launch.engines import TFDIST
from tfdist.tracing.device_names import short_name
from tfdist.tracing.disturbances import Disturbance, includes


class NamedServer(Protocol):
    """A server of a cluster."""

    @property
    def task_name(self) -> str:
        """Return "/job:J/task:I"."""


class Disturbable:
    """A cluster that can be disturbed, if it was started here.

    Attributes:
      disturbances: what is wrong on purpose now.
    """

    name: str
    kind: str
    servers: Sequence[NamedServer]
    engines: Mapping[str, str]
    disturbances: tuple[Disturbance, ...] = ()

    @property
    def is_running(self) -> bool:
        """Return whether sessions may use it."""
        raise NotImplementedError

    def disturb(self, *texts: str) -> list[Disturbance]:
        """Let something be wrong on purpose, until it is healed.

        It concerns what is computed and asked for from now on, also by steps in flight. Of two
        texts that differ in the amount only, the later one holds. Where several concern the same,
        the worst of each kind counts.

        Args:
          *texts: each one of these, with tasks such as "worker:1", "worker" (all of a job), "*"
            (all) or "ps:0,worker:1":
            "slow worker:1 3" (what it computes takes three times as long),
            "freeze worker:1" (nothing goes on there, and nothing reaches or leaves it),
            "delay worker:1 ps:0 30ms" (what worker:1 sends to ps:0 comes later),
            "rate worker:1 ps:0 10MB/s" (it goes at that rate),
            "drop worker:1 ps:0 5%" (some of it is lost; without a share, all),
            "cut worker:1|ps:0" (nothing goes either way; "cut worker:1": off from all others).

        Returns:
          What the texts said.

        Raises:
          ValueError: a text says nothing that can be; the message tells what could be said.
          UnimplementedError: the cluster, or a server that is meant, was not started by tfdist.
          FailedPreconditionError: the cluster was stopped.
          UnavailableError: a task does not answer.
        """
        self._check_kind()
        if not self.is_running:
            raise FailedPreconditionError(f"disturb: cluster {self.name!r} was stopped")
        new = [disturbance_of(text, self._tasks()) for text in texts]
        for each in new:
            self._check_engines(each)
        self._obey(added(self.disturbances, new))
        return new

    def disturbed(self, *texts: str) -> AbstractContextManager[None]:
        """Return a context in which something is wrong; at its end that is healed.

        Example:
          >>> from tfdist.launch.start import start_cluster
          >>> with start_cluster({"worker": 2}, "stormy").require() as cluster:
          ...     with cluster.disturbed("delay worker:0 worker:1 30ms"):
          ...         print([each.told for each in cluster.disturbances])
          ...     print(cluster.disturbances)
          ['what worker:0 sends to worker:1 comes 30ms late']
          ()

        Args:
          *texts: see `disturb`, which tells of errors, too.
        """
        return _Disturbed(self, texts)

    def _undo(self, new: Sequence[Disturbance], before: Sequence[Disturbance]) -> None:
        """End those that are in force still, and put back those whose place they took."""
        keys = {each.key for each in new if each in self.disturbances}
        left = [each for each in self.disturbances if each not in new]
        self._obey(added(left, [each for each in before if each.key in keys]))

    def heal(self, what: str = "") -> list[Disturbance]:
        """End disturbances; what they held up goes on.

        Args:
          what: "delay" (all of a kind), "worker:1" (all that concerns a task), or one as it was
            typed: "delay worker:0 worker:1"; all by default.

        Returns:
          Those that have ended.

        Raises:
          ValueError: there is none such; the message has those that there are.
          UnavailableError: a task does not answer.
        """
        self._check_kind()
        before = self.disturbances
        left = healed(before, what) if what else []
        self._obey(left)
        return [each for each in before if each not in left]

    def _obey(self, disturbances: Sequence[Disturbance]) -> None:
        self.disturbances = tuple(disturbances)
        self._tell(self.disturbances)

    def _tell(self, disturbances: Sequence[Disturbance]) -> None:
        """Have all servers obey; UnavailableError if one that runs does not answer."""
        raise NotImplementedError

    def _tasks(self) -> list[str]:
        return [short_name(server.task_name) for server in self.servers]

    def _check_kind(self) -> None:
        """Raise UnimplementedError if others started the servers."""

    def _check_engines(self, wanted: Disturbance) -> None:
        for task in self._tasks():
            is_meant = includes(wanted.source, task) or includes(wanted.target, task)
            if is_meant and self.engines.get(task.partition(":")[0], TFDIST) != TFDIST:
                raise UnimplementedError(
                    f"{wanted.verb}: {task} of cluster {self.name!r} is a server of TensorFlow, "
                    "which obeys nobody: only servers of tfdist can be disturbed; %cluster kill "
                    f"{task} ends it as a fault would"
                )


class _Disturbed:
    """The context of `Disturbable.disturbed`: a class, so that errors show the user's line only."""

    def __init__(self, cluster: Disturbable, texts: Sequence[str]) -> None:
        self._cluster, self._texts = cluster, texts
        self._contexts: list[tuple[Sequence[Disturbance], Sequence[Disturbance]]] = []

    def __enter__(self) -> None:
        before = self._cluster.disturbances
        self._contexts.append((self._cluster.disturb(*self._texts), before))

    def __exit__(self, *_: object) -> None:
        self._cluster._undo(*self._contexts.pop())
