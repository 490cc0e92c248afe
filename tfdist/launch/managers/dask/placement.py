"""Which Dask worker each task is asked to be on: on as many hosts and workers as there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

Amounts = Mapping[str, float]


@dataclass(frozen=True)
class DaskWorker:
    """A worker of a Dask cluster.

    Attributes:
      address: "tcp://10.0.0.7:40123".
      host: "10.0.0.7".
      name: that somebody gave it.
      resources: that it was started with.
    """

    address: str
    host: str
    name: str = ""
    resources: Amounts = field(default_factory=dict)

    def is_one_of(self, names: Collection[str]) -> bool:
        """Return whether its address, host or name is among `names`; none of them mean all."""
        return not names or not {self.address, self.host, self.name}.isdisjoint(names)


def place(
    workers: Sequence[DaskWorker],
    needs: Sequence[Amounts],
    taken: Sequence[tuple[str, Amounts]] = (),
) -> list[str]:
    """Return the address of a worker for each task, "" where none has what it needs.

    The worker with the fewest tasks comes first, of these one on the host with the fewest. Dask
    itself would do with any worker that is idle for the moment, and put several tasks on one.

    Args:
      workers: that may be used.
      needs: resources of each task.
      taken: worker and resources of each task that runs already.

    Example:
      >>> two = [DaskWorker("a", "host"), DaskWorker("b", "host", resources={"GPU": 1})]
      >>> place(two, [{"GPU": 1}, {}, {"GPU": 1}])
      ['b', 'a', '']
    """
    tasks, hosts = Counter[str](), Counter[str]()
    left = {worker.address: Counter(worker.resources) for worker in workers}
    host_of = {worker.address: worker.host for worker in workers}

    def take(address: str, amounts: Amounts) -> None:
        tasks[address] += 1
        hosts[host_of.get(address, "")] += 1
        for name, amount in amounts.items():
            left.get(address, Counter())[name] -= amount  # type: ignore[assignment]

    for address, amounts in taken:
        take(address, amounts)
    places = []
    for amounts in needs:
        able = [
            worker
            for worker in workers
            if all(left[worker.address][name] >= amount for name, amount in amounts.items())
        ]
        best = min(able, key=lambda each: (tasks[each.address], hosts[each.host]), default=None)
        places.append(best.address if best else "")
        if best:
            take(best.address, amounts)
    return places
