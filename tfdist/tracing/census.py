"""Census: what tasks tell of themselves at one moment, as plain records.

Counts grow as long as a task lives: who takes two censuses learns from their difference what went
on between them (`tracing.census_history`). What seldom changes is told again only after a change:
whoever asks sends the cursor of the last answer along.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from tfdist.tracing.device_names import plain_task
from tfdist.tracing.waits import ResourceStatus, Unreachable

Cursor = tuple[int, ...]  # a number for what each of `SELDOM` held; () for an earlier time
Link = tuple[str, str]  # from task, to task


class TaskStatus(NamedTuple):
    """A task.

    Attributes:
      task: its name.
      life: another number after a restart, when all counts begin anew.
      devices: their names, in short: "cpu:0".
      process: its number in the operating system.
      process_bytes: memory that the process has; tasks of one process have it in common.
      variables: how many have a value.
      variable_bytes: what these take.
      resource_bytes: what is in queues and staging areas, by the size of one element.
      sessions: that may use the task.
      steps: that the task took part in, and that have ended.
      in_flight: steps that it takes part in now.
      seconds: on a clock of its own process, to divide counts by.
      processor: seconds of processor time, user and system, that the process has had; tasks of one
        process have it in common.
      computed: seconds in which it computed, threads added up.
      moved: seconds in which it packed, sent, received or unpacked values; 0 if several tasks
        share a process, which hand each other references.
      waited: seconds in which it did not compute, and a node or more of it waited, for another
        task, a queue or a lock.
    """

    task: str
    life: int = 0
    devices: tuple[str, ...] = ()
    process: int = 0
    process_bytes: int = 0
    variables: int = 0
    variable_bytes: int = 0
    resource_bytes: int = 0
    sessions: int = 0
    steps: int = 0
    in_flight: int = 0
    seconds: float = 0.0
    processor: float = 0.0
    computed: float = 0.0
    moved: float = 0.0
    waited: float = 0.0


class Waiter(NamedTuple):
    """A node that waits at a queue, accumulator, barrier or staging area.

    Attributes:
      stock: key of that.
      node: its name.
      task: where it runs.
      needs: "room" or "elements".
      missing: how many of them it lacks.
      seconds: since when.
    """

    stock: str
    node: str
    task: str
    needs: str
    missing: int = 0
    seconds: float = 0.0


class Traffic(NamedTuple):
    """What one task has sent to another one so far.

    Attributes:
      source: name of the task that sent it.
      target: name of the task that it went to.
      tensors: how many.
      nbytes: of their values; strings count as references.
    """

    source: str
    target: str
    tensors: int = 0
    nbytes: int = 0

    @property
    def link(self) -> Link:
        """Return from where to where."""
        return self.source, self.target


class Allocation(NamedTuple):
    """A variable or another resource.

    Attributes:
      task: where it is.
      kind: "variable", "queue", "iterator" and so on.
      name: by which it is found.
      nbytes: that it holds, 0 if that is not known.
      about: type and shape of a variable.
      container: "" for the default one.
    """

    task: str
    kind: str
    name: str
    nbytes: int = 0
    about: str = ""
    container: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Return what no other one has: names of different containers never meet."""
        return self.task, self.container, self.kind, self.name


class Census(NamedTuple):
    """What tasks tell of themselves; each record stands in it once.

    Attributes:
      tasks: that tell.
      stocks: their queues, accumulators, barriers and staging areas.
      waiters: who waits at these.
      traffic: what they sent to each other.
      holdings: their variables and other resources, if somebody asked for them.
      silent: those that do not tell, and why.
      cursor: to be sent along when these tasks are asked again.
    """

    tasks: tuple[TaskStatus, ...] = ()
    stocks: tuple[ResourceStatus, ...] = ()
    waiters: tuple[Waiter, ...] = ()
    traffic: tuple[Traffic, ...] = ()
    holdings: tuple[Allocation, ...] = ()
    silent: tuple[Unreachable, ...] = ()
    cursor: Cursor = ()


SELDOM = ("stocks", "traffic", "holdings")  # what an answer leaves out if it has not changed

_Record = TypeVar("_Record")


def merged(censuses: Iterable[Census]) -> Census:
    """Return one census of several, sorted by task; what two of them tell stands in it once."""
    found = list(censuses)
    tasks = {(task.task, task.life): task for each in found for task in each.tasks}
    told = {plain_task(task.task) for task in tasks.values()}
    silent = {plain_task(each.task): each for census in found for each in census.silent}
    return Census(
        tuple(tasks[key] for key in sorted(tasks)),
        _once((stock.key, stock) for each in found for stock in each.stocks),
        _once((waiter[:4], waiter) for each in found for waiter in each.waiters),
        _once((traffic.link, traffic) for each in found for traffic in each.traffic),
        _once((holding.key, holding) for each in found for holding in each.holdings),
        tuple(silent[task] for task in sorted(silent) if task not in told),
    )


def _once(pairs: Iterable[tuple[tuple[object, ...] | str, _Record]]) -> tuple[_Record, ...]:
    """Return the first record of each key, in the order of the keys."""
    found: dict[object, _Record] = {}
    for key, record in pairs:
        found.setdefault(key, record)
    return tuple(found[key] for key in sorted(found))  # type: ignore[type-var]


def since(census: Census, cursor: Sequence[int] = ()) -> Census:
    """Return an answer to who had one with that cursor: without what has not changed."""
    now = tuple(zlib.crc32(repr(getattr(census, name)).encode()) for name in SELDOM)
    same = [name for name, new, old in zip(SELDOM, now, cursor, strict=False) if new == old]
    return census._replace(cursor=now, **dict.fromkeys(same, ()))


def filled(answer: Census, earlier: Census) -> Census:
    """Return what `since` had left out of an answer, given the whole answer before it."""
    same = {
        name: getattr(earlier, name)
        for name, new, old in zip(SELDOM, answer.cursor, earlier.cursor, strict=False)
        if new == old
    }
    return answer._replace(**same)
