"""The censuses of a while: what went on between them, by the second.

Old ones are thinned out, so that the history of a long watch has its beginning too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tfdist.tracing.census import Census, Link, TaskStatus
from tfdist.tracing.waits import ResourceStatus

MOST = 300  # censuses
WINDOW = 1.0  # seconds that a rate is an average over, at least

Point = tuple[float, float]  # seconds since the watch began, and a value then


class Sample(NamedTuple):
    """A census, when it was taken, and its records by what is asked for.

    Attributes:
      seconds: since the watch began.
      census: all of it.
      tasks: by name.
      stocks: by key.
      sent: bytes by link.
    """

    seconds: float
    census: Census
    tasks: Mapping[str, TaskStatus]
    stocks: Mapping[str, ResourceStatus]
    sent: Mapping[Link, int]


class CensusHistory:
    """Censuses of the same tasks, in order.

    Args:
      most: how many are kept.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._samples: list[Sample] = []

    def add(self, seconds: float, census: Census) -> None:
        """Take in a census; of the older half every other one goes when there are too many."""
        samples = [*self._samples, _sample(seconds, census)]
        if len(samples) > self._most:
            half = len(samples) // 2
            samples = [*samples[:half:2], *samples[half:]]
        self._samples = samples  # a new list: others may be reading the old one

    def cut(self, seconds: float) -> None:
        """Forget what was seen later than that."""
        self._samples = [each for each in self._samples if each.seconds <= seconds]

    @property
    def samples(self) -> list[Sample]:
        """Return the censuses, the oldest first."""
        return self._samples

    @property
    def last(self) -> Census:
        """Return the last census; one without any record if there is none."""
        return self._samples[-1].census if self._samples else Census()

    @property
    def seconds(self) -> float:
        """Return how long it was watched."""
        return self._samples[-1].seconds if self._samples else 0.0

    def stocks(self) -> list[ResourceStatus]:
        """Return the queues that there were at any time, as they were last seen."""
        found = {key: stock for moment in self._samples for key, stock in moment.stocks.items()}
        return [found[key] for key in sorted(found)]

    def fills(self, key: str) -> list[tuple[float, ResourceStatus]]:
        """Return a queue at each time that it was seen."""
        seen = ((moment.seconds, moment.stocks.get(key)) for moment in self._samples)
        return [(seconds, stock) for seconds, stock in seen if stock is not None]

    def step_rates(self, task: str) -> list[Point]:
        """Return how many steps a second a task took part in, averages of a second or so."""
        counts = [_steps(moment, task) for moment in self._samples]
        return list(_rates([each for each in counts if each is not None]))

    def step_rate(self, task: str) -> float | None:
        """Return that of the last second or so; None if it is not known."""
        return _last_rate(_steps(moment, task) for moment in reversed(self._samples))

    def process_bytes(self, task: str) -> list[Point]:
        """Return the memory of a task's process at each time; of tasks in one, the first's only."""
        found: list[Point] = []
        for moment in self._samples:
            told = moment.tasks.get(task)
            first = next(
                (e for e in moment.tasks.values() if told and e.process == told.process), told
            )
            if told is not None and first is told and told.process_bytes:
                found.append((moment.seconds, float(told.process_bytes)))
        return found

    def byte_rate(self, link: Link) -> float | None:
        """Return how many bytes a second crossed lately; None if it is not known."""
        return _last_rate(_bytes(moment, link) for moment in reversed(self._samples))


def _sample(seconds: float, census: Census) -> Sample:
    return Sample(
        seconds,
        census,
        {task.task: task for task in census.tasks},
        {stock.key: stock for stock in census.stocks},
        {traffic.link: traffic.nbytes for traffic in census.traffic},
    )


class _Count(NamedTuple):
    """What was counted: when it was told, when that was on the task's own clock, and how many."""

    told: float
    clock: float
    many: int


def _steps(moment: Sample, task: str) -> _Count | None:
    found = moment.tasks.get(task)
    return None if found is None else _Count(moment.seconds, found.seconds, found.steps)


def _bytes(moment: Sample, link: Link) -> _Count | None:
    found = moment.tasks.get(link[0])
    if found is None:
        return None
    return _Count(moment.seconds, found.seconds, moment.sent.get(link, 0))


def _rates(counts: Sequence[_Count]) -> Iterator[Point]:
    first = 0  # of those that an average is over
    for i in range(1, len(counts)):
        while first < i - 1 and counts[i].clock - counts[first + 1].clock >= WINDOW:
            first += 1
        if counts[i].many < counts[i - 1].many:
            first = i  # the task was started anew
        rate = _rate(counts[first], counts[i])
        if rate is not None:
            yield counts[i].told, rate


def _last_rate(newest_first: Iterable[_Count | None]) -> float | None:
    """Return the rate over the last second or so, as far as the task lives."""
    counts = (each for each in newest_first if each is not None)
    last = earliest = next(counts, None)
    if last is None or earliest is None:
        return None
    for each in counts:
        if each.many > earliest.many or last.clock - earliest.clock >= WINDOW:
            break
        earliest = each
    return _rate(earliest, last)


def _rate(earlier: _Count, later: _Count) -> float | None:
    """Return how fast a count grew; None if the task was started anew in between."""
    seconds, grown = later.clock - earlier.clock, later.many - earlier.many
    return grown / seconds if seconds > 0 and grown >= 0 else None
