"""Who of a cluster has bound its port and who serves, and what to tell whom.

Pure: messages in, messages out. Whoever starts tasks holds one, with a lock of its own around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tfdist.launch.exchange.messages import (
    Addresses,
    Bound,
    Cluster,
    Ended,
    FromTask,
    Serves,
    ToTask,
)

LEASE = 30.0  # seconds that a server goes on without a word from whoever started it

# Returns certificate and authority (PEM) of a task, for its request and host.
Sign = Callable[[str, Bound], tuple[str, str]]


class Gathering:
    """What is known of the tasks of one cluster.

    Args:
      tasks: their names, in the order of the cluster.
      lease: seconds that each server goes on unless it hears more; 0 for no lease.
      sign: returns certificates; None where nothing is encrypted.

    Attributes:
      bound: what each task has told, by name; those that have ended are gone from it.
      serving: names of the tasks that serve.
      causes: why tasks have ended, by name, until they are there again.
    """

    def __init__(
        self, tasks: Sequence[str], lease: float = LEASE, sign: Sign | None = None
    ) -> None:
        self._tasks, self._lease, self._sign = list(tasks), lease, sign
        self._last_told: Addresses = {}
        self.bound: dict[str, Bound] = {}
        self.serving: set[str] = set()
        self.causes: dict[str, str] = {}

    def heard(self, task: str, message: FromTask) -> list[tuple[str, ToTask]]:
        """Return what to tell now, to whom, after a message of a task."""
        match message:
            case Bound():
                self.bound[task] = message
                self.serving.discard(task)
                self.causes.pop(task, None)
                return self._told(task)
            case Serves():
                self.serving.add(task)
            case Ended():
                self.ended(task, message.cause)
        return []

    def ended(self, task: str, cause: str = "") -> None:
        """Note that a task has ended; the first cause that was told stays."""
        self.bound.pop(task, None)
        self.serving.discard(task)
        self.causes[task] = self.causes.get(task) or cause

    @property
    def addresses(self) -> dict[str, str]:
        """Return the address of each task, the last one of those that have ended."""
        now = {task: each.address for task, each in self.bound.items()}
        known = {**self._last_told, **now}
        return {task: known[task] for task in self._tasks if task in known}

    @property
    def is_complete(self) -> bool:
        """Return whether all tasks serve."""
        return len(self.serving) == len(self._tasks)

    @property
    def missing(self) -> list[str]:
        """Return the tasks that do not serve; while some have no port yet, those."""
        unbound = [task for task in self._tasks if task not in self.bound]
        return unbound or [task for task in self._tasks if task not in self.serving]

    def _told(self, task: str) -> list[tuple[str, ToTask]]:
        """Return the cluster for whom it is new: for all, or for one that is back in its place."""
        addresses = self.addresses
        if len(addresses) < len(self._tasks):
            return []
        is_new = addresses != self._last_told
        self._last_told = addresses
        listeners = [each for each in self._tasks if each in self.bound] if is_new else [task]
        return [(each, self._cluster(each, addresses)) for each in listeners]

    def _cluster(self, task: str, addresses: Addresses) -> Cluster:
        bound = self.bound[task]
        certificate, authority = "", ""
        if self._sign is not None and bound.request:
            certificate, authority = self._sign(task, bound)
        return Cluster(addresses, self._lease, certificate, authority)
