"""What disturbances do to a way between tasks, and to a task: tables, without a clock or chance.

Of several that concern the same way the worst of each kind counts: they do not add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tfdist.tracing.disturbances import CUT, DELAY, DROP, FREEZE, RATE, SLOW, Disturbance


class Passage(NamedTuple):
    """What becomes of what takes a way now.

    Attributes:
      blocked: why nothing comes through, or None.
      lossy: by what some of it is lost, or None.
      late: by what it is late, or None.
      narrow: by what it goes at a rate, or None.
    """

    blocked: Disturbance | None = None
    lossy: Disturbance | None = None
    late: Disturbance | None = None
    narrow: Disturbance | None = None

    @property
    def worst(self) -> Disturbance | None:
        """Return what says most about why something is not there, None if nothing is wrong."""
        return next(filter(None, self), None)

    @property
    def may_stop(self) -> bool:
        """Return whether something may not come through at all."""
        return self.blocked is not None or self.lossy is not None

    def is_lost(self, chance: float) -> bool:
        """Return whether something is lost, by a number from 0 to 1 that chance drew."""
        return self.lossy is not None and chance < self.lossy.amount

    def arrival(self, size: int, now: float, free_at: float) -> tuple[float, float]:
        """Return when something has come, and until when the way is busy with it; in seconds.

        Args:
          size: bytes.
          now: when it would be there.
          free_at: until when the way is busy with what came before.
        """
        busy_until = free_at
        if self.narrow is not None:
            busy_until = max(now, free_at) + size / self.narrow.amount
        sent = now if self.narrow is None else busy_until
        return sent + (0.0 if self.late is None else self.late.amount), busy_until


CLEAR = Passage()


def way(disturbances: Iterable[Disturbance], source: str, target: str) -> Passage:
    """Return what becomes of what one task sends to another one; tasks as one types them."""
    if source == target:
        return CLEAR
    found = list(disturbances)
    between = [each for each in found if each.is_between(source, target)]
    frozen = next((each for task in (source, target) for each in _of(found, FREEZE, task)), None)
    return Passage(
        frozen or next((each for each in between if each.verb == CUT), None),
        _worst(between, DROP),
        _worst(between, DELAY),
        _worst(between, RATE, least=True),
    )


def task(disturbances: Iterable[Disturbance], name: str) -> tuple[Disturbance | None, float]:
    """Return by what a task is frozen, or None, and how many times as long its units take."""
    found = list(disturbances)
    factors = [each.amount for each in _of(found, SLOW, name)]
    return next(_of(found, FREEZE, name), None), max(factors, default=1.0)


def _of(found: Iterable[Disturbance], verb: str, name: str) -> Iterator[Disturbance]:
    return (each for each in found if each.verb == verb and each.is_of(name))


def _worst(found: Iterable[Disturbance], verb: str, least: bool = False) -> Disturbance | None:
    of_kind = [each for each in found if each.verb == verb]
    choose = min if least else max
    return choose(of_kind, key=lambda each: each.amount, default=None)
