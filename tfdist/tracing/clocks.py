"""Clock synchronization: how another host's clock compares with ours, from messages and answers.

A message leaves at t0 by our clock, is answered at T by the other one, and is back at t1: if both
ways take the same time, T was (t0 + t1) / 2 here. They do not quite, but the error is never more
than half the time that the exchange took; the quickest of several exchanges is the best one.

Source: D. L. Mills, "Internet Time Synchronization: the Network Time Protocol" (RFC 1129).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_TEXT = re.compile(r"\[clock (?P<micros>[+-]\d+) us \+- (?P<uncertainty>\d+) us\]")


class Exchange(NamedTuple):
    """One message and its answer; times in nanoseconds since the epoch.

    Attributes:
      sent: by our clock.
      answered: by the other clock.
      received: by our clock.
    """

    sent: int
    answered: int
    received: int


class ClockOffset(NamedTuple):
    """How far another clock is ahead of ours.

    Attributes:
      nanos: nanoseconds; negative if it is behind.
      uncertainty: nanoseconds by which that may be wrong.
    """

    nanos: int
    uncertainty: int

    def __str__(self) -> str:
        """Return it in microseconds, as it is shown to people."""
        return f"clock {self.nanos / 1000:+.0f} us +- {self.uncertainty / 1000:.0f} us"


SAME_CLOCK = ClockOffset(0, 0)


def offset_in(label: str) -> ClockOffset:
    """Return the offset told in "_SOURCE = NoOp() [clock +123 us +- 40 us]", else `SAME_CLOCK`."""
    found = _TEXT.search(label)
    if found is None:
        return SAME_CLOCK
    return ClockOffset(1000 * int(found["micros"]), 1000 * int(found["uncertainty"]))


def estimate(exchanges: Iterable[Exchange]) -> ClockOffset:
    """Return the offset of the other clock, by the quickest of `exchanges` (one or more)."""
    best = min(exchanges, key=lambda each: each.received - each.sent)
    middle = (best.sent + best.received) // 2
    return ClockOffset(best.answered - middle, (best.received - best.sent + 1) // 2)
