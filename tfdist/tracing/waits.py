"""Waits as plain records: what one process tells of its steps in flight, and many tell together.

A wait names what it needs, and a pending op what it gives, by the same key: the elements of a
queue, room in it, or a tensor of a step. So whoever reads the records can tell who waits for whom.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from tfdist.tracing.disturbances import Disturbance

Place = tuple[int, str, str]  # step, task and name of a node that waits

ELEMENTS, ROOM = "elements", "room"  # what a queue gives to those who wait for it


def key_of(what: str, stock: str) -> str:
    """Return the key of what a resource can give: `ELEMENTS` or `ROOM`."""
    return f"{what} of {stock}"


def tensor_key(step: int, tensor: str) -> str:
    """Return the key of a tensor that one task sends to another one in a step."""
    return f"{tensor} in {step}"


class ResourceStatus(NamedTuple):
    """A queue, accumulator, barrier or staging area, at one moment.

    Attributes:
      key: tells it from all others of a cluster.
      kind: the class that programs make, as in "RandomShuffleQueue".
      name: by which it is found, or that of its node.
      task: where it is.
      fill: how many elements are ready in it.
      capacity: how many it holds at most, -1 if there is no bound.
      container: "" for the default one.
      min_after_dequeue: how many stay in while it is open.
      closed: whether it takes no more.
      producers: how many wait for room.
      consumers: how many wait for elements.
    """

    key: str
    kind: str
    name: str
    task: str
    fill: int = 0
    capacity: int = -1
    container: str = ""
    min_after_dequeue: int = 0
    closed: bool = False
    producers: int = 0
    consumers: int = 0


class Wait(NamedTuple):
    """A node that waits.

    Attributes:
      step: number of its step.
      task: where it waits.
      node: its name.
      op: its op.
      device: full name of the device that it runs on.
      kind: what it waits for: "queue", "accumulator", "barrier", "staging area", "tensor" (from
        another task), "reader", "iterator", "other".
      text: the same in a sentence.
      seconds: since when.
      needs: key of that, "" if nobody can be said to give it.
      missing: how many elements or places it lacks.
      stock: key of the queue that it stands at, or "".
      tensor: that it is to receive, or "".
      source: device that this comes from, or "".
      line: of the program that made the node, where that is known.
    """

    step: int
    task: str
    node: str
    op: str
    device: str
    kind: str
    text: str
    seconds: float = 0.0
    needs: str = ""
    missing: int = 0
    stock: str = ""
    tensor: str = ""
    source: str = ""
    line: str = ""

    @property
    def place(self) -> Place:
        """Return what no other wait has."""
        return self.step, self.task, self.node

    @property
    def told(self) -> str:
        """Return "NODE: WHAT FOR"."""
        return f"{self.node}: {self.text}"


class PendingOp(NamedTuple):
    """What a node will do in a step, or could do if one ran it: it gives what others wait for.

    Attributes:
      gives: key of what it gives.
      node: its name.
      op: its op.
      task: where it runs.
      step: number of its step; 0 for a node of a session's graph.
      session: handle of the session.
      behind: names of the nodes in its step and on its task that wait and come before it.
    """

    gives: str
    node: str
    op: str
    task: str
    step: int = 0
    session: str = ""
    behind: tuple[str, ...] = ()


class StepStatus(NamedTuple):
    """A step in flight.

    Attributes:
      step: its number, the same on all tasks.
      session: handle of its session.
      master: task whose master runs it; "" if only a part of it was seen.
      fetches: names of what it fetches, and of the operations that it runs.
      seconds: since when it runs.
      timeout: seconds that it may take; 0 without bound.
      computing: names of nodes that compute now, each with its task.
    """

    step: int
    session: str
    master: str = ""
    fetches: tuple[str, ...] = ()
    seconds: float = 0.0
    timeout: float = 0.0
    computing: tuple[str, ...] = ()


class Unreachable(NamedTuple):
    """A task that did not tell, and why."""

    task: str
    reason: str


class Report(NamedTuple):
    """What is known of the steps in flight."""

    steps: tuple[StepStatus, ...] = ()
    waits: tuple[Wait, ...] = ()
    stocks: tuple[ResourceStatus, ...] = ()
    deeds: tuple[PendingOp, ...] = ()
    silent: tuple[Unreachable, ...] = ()
    disturbances: tuple[Disturbance, ...] = ()


_Record = TypeVar("_Record")


def foremost(waits: Iterable[Wait]) -> list[Wait]:
    """Return the waits that say most: a receive waits for what another task waits for."""
    found = list(waits)
    return [wait for wait in found if not wait.tensor] or found


def merged(reports: Iterable[Report]) -> Report:
    """Return one report of several; what two of them tell stands in it once."""
    found = list(reports)
    told: dict[int, StepStatus] = {}
    for step in (step for report in found for step in report.steps):
        told[step.step] = _joined(told[step.step], step) if step.step in told else step
    return Report(
        tuple(told.values()),
        _once((wait.place, wait) for report in found for wait in report.waits),
        _once((stock.key, stock) for report in found for stock in report.stocks),
        _once((pending[:6], pending) for report in found for pending in report.deeds),
        _once((silence.task, silence) for report in found for silence in report.silent),
        _once((each.key, each) for report in found for each in report.disturbances),
    )


def _once(pairs: Iterable[tuple[object, _Record]]) -> tuple[_Record, ...]:
    """Return the first record of each key."""
    found: dict[object, _Record] = {}
    for key, record in pairs:
        found.setdefault(key, record)
    return tuple(found.values())


def _joined(one: StepStatus, other: StepStatus) -> StepStatus:
    """Return what two processes tell of a step; its master knows best."""
    best = one if one.master else other
    computing = dict.fromkeys([*one.computing, *other.computing])
    seconds = max(one.seconds, other.seconds)
    return best._replace(computing=tuple(computing), seconds=seconds)
