"""`TaskStream`: what each task did over minutes, as a sentence, a table and text."""

from __future__ import annotations

from collections.abc import Sequence

from tfdist.plots.shared.tables import Table, bytes_text
from tfdist.tracing.census import TaskStatus
from tfdist.tracing.census_history import CensusHistory, Point
from tfdist.tracing.device_names import device_order, plain_task, short_name
from tfdist.tracing.intervals import (
    COMPUTING,
    IDLE,
    MOVING,
    STATES,
    WAITING,
    Interval,
    intervals,
    silences,
    whole,
)
from tfdist.tracing.intervals import is_first as is_first_of_process
from tfdist.tracing.zoom import TracedStep

NOBODY = "No task tells of itself: no cluster runs, and no session is open."
MARKS = {COMPUTING: "#", MOVING: "/", WAITING: ".", IDLE: " "}
WIDTH = 60  # characters of a lane of text
SAME = "the same"  # of the process: its numbers stand at its first task
_SHOWN = 0.005  # a share that is told


class TaskStream:
    """What tasks did while they were watched; `str()` tells all of it.

    Args:
      history: the censuses that were taken.
      traced: steps that were traced meanwhile.
    """

    def __init__(self, history: CensusHistory, traced: Sequence[TracedStep] = ()) -> None:
        self.history, self.traced = history, traced
        self._intervals: dict[str, list[Interval]] = {}

    def intervals(self, task: str) -> list[Interval]:
        """Return what a task did, one interval after the other."""
        if task not in self._intervals:
            self._intervals[task] = intervals(self.history, task)
        return self._intervals[task]

    def whole(self, task: str) -> Interval | None:
        """Return what a task did in all of the watch, as one interval; None if it is not known."""
        return whole(self.intervals(task))

    def silences(self, task: str) -> list[tuple[float, float]]:
        """Return from when to when a task did not tell what it did, since it was first seen."""
        until = self.history.seconds if plain_task(task) in self.silent else 0.0
        return silences(self.intervals(task), until)

    def processors(self, task: str) -> list[Point]:
        """Return how many processors a task's process kept busy; of tasks in one, the first's."""
        if not is_first_of_process(self.history, task):
            return []
        return [(each.end, each.processors) for each in self.intervals(task)]

    @property
    def tasks(self) -> list[str]:
        """Return the tasks that were seen at any time, in their order."""
        told = {name for moment in self.history.samples for name in moment.tasks}
        return sorted(told, key=lambda name: device_order(plain_task(name)))

    @property
    def silent(self) -> dict[str, str]:
        """Return why each task does not tell now that does not, by its plain name."""
        return {plain_task(each.task): each.reason for each in self.history.last.silent}

    def sentence(self, times: bool = True) -> str:
        """Return how many tasks there are, for how long they were watched, and who did most.

        Args:
          times: whether to say what differs from run to run.
        """
        tasks, silent = self.tasks, self.silent
        names = {*map(plain_task, tasks), *silent}
        if not names:
            return NOBODY
        noun = "1 task" if len(names) == 1 else f"{len(names)} tasks"
        quiet = f", {len(silent)} of them silent" if silent else ""
        if not times:
            return f"The stream of {noun}{quiet}."
        told = [f"{noun}{quiet} over {self.history.seconds:.0f} s"]
        done = {task: found for task in tasks if (found := self.whole(task))}
        for state in STATES[:-1]:
            place = STATES.index(state)
            most = max(done, key=lambda task: done[task].shares[place], default="")
            if most and done[most].shares[place] >= _SHOWN:
                share = done[most].shares[place]
                told.append(f"{short_name(most)} was {state} most, {share_text(share)} of the time")
        return "; ".join(told) + "."

    def table(self, times: bool = True) -> Table:
        """Return a row for each task; without times, only what is the same in every run."""
        header = ("task", "state", *STATES, "processors", "memory")
        rows = [self._row(task) for task in self.tasks]
        for task, reason in self.silent.items():
            if all(task != row[0] for row in rows):
                rows.append((task, reason, *[""] * 6))
        rows.sort(key=lambda row: device_order(row[0]))
        if not times:
            return Table(header[:2], tuple(row[:2] for row in rows))
        shared = any(SAME in row for row in rows)
        note = (
            "Processors and memory are those of a task's process; tasks of one process have them "
            "in common, and hand each other references: nothing is moved."
        )
        return Table(header, tuple(rows), frozenset(range(2, 8)), note if shared else "")

    def _row(self, task: str) -> tuple[str, ...]:
        found, status = self.whole(task), self._status(task)
        shares = [""] * 4 if found is None else [share_text(share) for share in found.shares]
        state = "up" if status else self.silent.get(plain_task(task), "does not answer")
        return (plain_task(task), state, *shares, *self.process_texts(task))

    def _status(self, task: str) -> TaskStatus | None:
        return next((each for each in self.history.last.tasks if each.task == task), None)

    def process_texts(self, task: str) -> tuple[str, str]:
        """Return the processors that a task's process kept busy, and its memory now."""
        status, found = self._status(task), self.whole(task)
        if status is None:
            return "", ""
        if not is_first_of_process(self.history, task):
            return SAME, SAME
        busy = f"{found.processors:.2f}" if found else ""
        return busy, bytes_text(status.process_bytes) if status.process_bytes else ""

    def lanes(self, width: int = WIDTH) -> str:
        """Return a line of marks for each task: what it did most of each interval."""
        names = [short_name(task) for task in self.tasks]
        most = max(map(len, names), default=0)
        lines = [
            f"{name.ljust(most)} |{self._marks(task, width)}|"
            for name, task in zip(names, self.tasks, strict=True)
        ]
        legend = ", ".join(f"{mark} {state}" for state, mark in MARKS.items() if mark.strip())
        return "\n".join([f"{self.history.seconds:.0f} s from left to right; {legend}", *lines])

    def _marks(self, task: str, width: int) -> str:
        marks = [" "] * width
        span = self.history.seconds or 1.0
        for each in intervals(self.history, task, width):
            first, last = (round(edge / span * width) for edge in (each.begin, each.end))
            marks[first:last] = [MARKS[foremost(each)]] * (last - first)
        return "".join(marks[:width])

    def text(self, times: bool = True) -> str:
        """Return all of it; without times, it is the same in every run."""
        parts = [self.sentence(times)]
        if self.tasks and times:
            parts.append(self.lanes())
        if self.tasks or self.history.last.silent:
            parts.append(str(self.table(times)))
        return "\n\n".join(parts)

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__


def foremost(found: Interval) -> str:
    """Return what a task did most in an interval; if it did anything, that counts first."""
    *done, idle = found.shares
    if max(done) < _SHOWN or max(done) < idle / 4:
        return IDLE
    return STATES[done.index(max(done))]


def share_text(share: float) -> str:
    """Return a share as "12 %", "" for none."""
    return f"{share:.0%}".replace("%", " %") if share >= _SHOWN else ""


def shared_text(shares: Sequence[float]) -> str:
    """Return what a task did, in words: "computing 12 %, waiting 80 %"; "idle" for nothing."""
    told = [
        f"{state} {share_text(share)}"
        for state, share in zip(STATES[:-1], shares, strict=False)
        if share >= _SHOWN
    ]
    return ", ".join(told) or IDLE
