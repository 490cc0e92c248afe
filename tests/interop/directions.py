"""Who asks whom: the directions in which programs are tried, and the cells that fail, with why."""

from __future__ import annotations

from typing import NamedTuple

TASKS = ("ps:0", "worker:0", "worker:1")
US = "tfdist"
KINDS = {"1": "TensorFlow 1", "2": "TensorFlow 2"}  # by the first digit of the version


class Direction(NamedTuple):
    """A client and the tasks of the cluster that it asks.

    Attributes:
      name: shown in the names of tests.
      client: who builds the graph and runs the session: `US`, or one of `KINDS`.
      ps: who the parameter server is; "" for none.
      master: who the session's own task is.
      worker: who the other worker is; "" for none.
    """

    name: str
    client: str
    ps: str
    master: str
    worker: str

    @property
    def tasks(self) -> dict[str, str]:
        """Return who each task is."""
        kinds = (self.ps, self.master, self.worker)
        return {task: kind for task, kind in zip(TASKS, kinds, strict=True) if kind}

    @property
    def kinds(self) -> set[str]:
        """Return who takes part."""
        return {self.client, *self.tasks.values()}


ONE, TWO = KINDS.values()
DIRECTIONS = [
    Direction("1.15 asks one task", ONE, "", US, ""),
    Direction("1.15 asks tfdist", ONE, US, US, US),
    Direction("2 asks tfdist", TWO, US, US, US),
    Direction("tfdist asks 1.15", US, ONE, ONE, ONE),
    Direction("tfdist asks 2", US, TWO, TWO, TWO),
    Direction("tfdist is master among 1.15", US, ONE, US, ONE),
    Direction("tfdist is master among 2", US, TWO, US, TWO),
    Direction("2 asks tfdist as master of both", TWO, TWO, US, US),
    Direction("1.15 asks tfdist as master of both", ONE, US, US, ONE),
    Direction("1.15 is master among tfdist", ONE, US, ONE, US),
    Direction("tfdist works for 1.15", ONE, ONE, ONE, US),
    Direction("2 is master among tfdist", TWO, US, TWO, US),
]
REFERENCE = Direction("1.15 alone", ONE, ONE, ONE, ONE)

# Programs that say where something ran, or need two workers: not for one task.
OF_THREE_TASKS = {
    "a_traced_step",
    "a_worker_dies",
    "devices_are_filtered",
    "devices_are_listed",
    "partition_graphs",
    "the_client_tells_the_cluster",
}
