"""`census`: what tasks hold, do and have sent, as text, rows, tables and a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfdist.launch.census import take_census
from tfdist.plots.live.census_figure import census_figure
from tfdist.plots.live.queues import chosen, holdings_table, queues_table
from tfdist.plots.shared.device_colours import device_colours
from tfdist.plots.shared.tables import Table, bytes_text
from tfdist.tracing.census import Census, TaskStatus
from tfdist.tracing.census_history import CensusHistory
from tfdist.tracing.device_names import device_order, plain_task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_LINKS = 60
_ANSWERS_NOT = "does not tell"


def census(target: Any = None, holdings: bool = False) -> ClusterCensus:
    """Return what the tasks of a cluster tell of themselves now; no step waits for it.

    Args:
      target: "grpc://HOST:PORT" of a server, which asks its whole cluster; the name of a running
        cluster, as `%cluster attach` takes it; or a cluster, server or session. By default all
        that this process's sessions and clusters reach.
      holdings: whether variables and other resources are told one by one.

    Raises:
      OpError: no cluster of that name runs.

    Example:
      >>> print(census())
      No task tells of itself: no cluster runs, and no session is open.
    """
    history = CensusHistory()
    history.add(0.0, take_census(target, holdings))
    return ClusterCensus(history)


class ClusterCensus:
    """What tasks tell of themselves; `str()` tells all of it.

    Args:
      history: the censuses that were taken; of several, rates are known too.

    Attributes:
      records: the last census (`tracing.census.Census`).
    """

    def __init__(self, history: CensusHistory) -> None:
        self.history = history
        self.records: Census = history.last

    def sentence(self) -> str:
        """Return how many tasks there are, and how many of them tell."""
        told, silent = len(self.records.tasks), len(self.records.silent)
        if not told + silent:
            return "No task tells of itself: no cluster runs, and no session is open."
        noun = {1: "1 task"}.get(told + silent, f"{told + silent} tasks")
        silence = f", {silent} of them silent" if silent else ""
        runs = any(task.in_flight for task in self.records.tasks)
        return f"{noun}{silence}; {'steps are' if runs else 'no step is'} in flight."

    def table(self, times: bool = True) -> Table:
        """Return a row for each task; without times, only what is the same in every run."""
        return tasks_table(self.history, times)

    def links_table(self, times: bool = True) -> Table:
        """Return a row for each link that something was sent on."""
        return links_table(self.history, times)

    def queues_table(self, times: bool = True) -> Table:
        """Return a row for each queue, accumulator and so on."""
        return queues_table(chosen(self.records.stocks), self.records.waiters, times)

    def tables(self, times: bool = True) -> list[Table]:
        """Return all tables that have rows."""
        found = [self.table(times), self.links_table(times), self.queues_table(times)]
        return [table for table in [*found, holdings_table(self.records)] if table.rows]

    def figure(self, times: bool = True) -> Figure:
        """Return a matplotlib `Figure`: tasks, what they hold and do, and what crosses."""
        return census_figure(self.history, times)

    def text(self, times: bool = True) -> str:
        """Return all of it; without times, it is the same in every run."""
        return "\n\n".join([self.sentence(), *map(str, self.tables(times))])

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__


def task_colours(census: Census) -> dict[str, str]:
    """Return the hue of each task, the same as in the pictures."""
    told = {plain_task(each.task) for each in census.tasks}
    return device_colours(
        sorted(told | {plain_task(each.task) for each in census.silent}, key=device_order)
    )


def tasks_table(history: CensusHistory, times: bool = True) -> Table:
    """Return a row for each task; see `ClusterCensus.table`."""
    columns = _COLUMNS if times else [each for each in _COLUMNS if not each[1]]
    records = history.last
    rows = [tuple(cell(task, history) for _, _, cell in columns) for task in records.tasks]
    width = len(columns) - 2
    for each in records.silent:
        rows.append((plain_task(each.task), _state(each.reason), *[""] * width))
    reasons = [
        f"{plain_task(each.task)}: {each.reason}"
        for each in records.silent
        if each.reason and times and not each.reason.startswith(_ANSWERS_NOT)
    ]
    numeric = frozenset(i for i in range(3, len(columns)))
    header = tuple(name for name, _, _ in columns)
    return Table(
        header,
        tuple(sorted(rows, key=lambda row: device_order(row[0]))),
        numeric,
        "; ".join(reasons),
    )


def _state(reason: str) -> str:
    return _ANSWERS_NOT if reason.startswith(_ANSWERS_NOT) else "does not answer"


def rate_text(rate: float | None) -> str:
    """Return how many a second, "" if that is not known."""
    if rate is None:
        return ""
    return f"{rate:.0f}" if rate >= 10 or not rate else f"{rate:.1f}"


def _variables(task: TaskStatus, history: CensusHistory) -> str:
    return f"{task.variables}, {bytes_text(task.variable_bytes)}" if task.variables else ""


def _if_any(count: int) -> str:
    return bytes_text(count) if count else ""


def process_text(task: TaskStatus, history: CensusHistory) -> str:
    """Return the memory of a task's process, once for all tasks of that process."""
    first = next(each for each in history.last.tasks if each.process == task.process)
    return _if_any(task.process_bytes) if first is task else "the same"


# Name, whether it differs from run to run, and the cell.
_COLUMNS: list[tuple[str, bool, Any]] = [
    ("task", False, lambda task, _: plain_task(task.task)),
    ("state", False, lambda task, _: "up"),
    ("devices", False, lambda task, _: " ".join(task.devices)),
    ("sessions", False, lambda task, _: str(task.sessions)),
    ("steps", False, lambda task, _: str(task.steps)),
    ("in flight", False, lambda task, _: str(task.in_flight)),
    ("steps/s", True, lambda task, history: rate_text(history.step_rate(task.task))),
    ("variables", False, _variables),
    ("in queues", False, lambda task, _: _if_any(task.resource_bytes)),
    ("process", True, process_text),
]


def links_table(history: CensusHistory, times: bool = True) -> Table:
    """Return a row for each link, those first that most was sent on."""
    records = history.last
    ordered = sorted(records.traffic, key=lambda each: (each.source, -each.nbytes, each.target))
    rows = []
    for each in ordered[:MOST_LINKS]:
        ends = plain_task(each.source), plain_task(each.target)
        crossed = str(each.tensors), bytes_text(each.nbytes)
        rate = history.byte_rate(each.link)
        rows.append((*ends, *crossed, "" if rate is None else f"{bytes_text(round(rate))}/s"))
    header = ("from", "to", "tensors", "bytes", "bytes/s")
    left_out = len(ordered) - len(rows)
    note = f"{left_out} more links" if left_out else ""
    if times:
        return Table(header, tuple(rows), frozenset({2, 3, 4}), note)
    return Table(header[:-1], tuple(row[:-1] for row in rows), frozenset({2, 3}), note)
