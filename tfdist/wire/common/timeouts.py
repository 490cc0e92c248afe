"""Timeouts: how long this side waits for others; no wait for a task or a network is endless.

`TFDIST_TIMEOUTS`, such as "connect=1,session=60", changes them for a process, in seconds.
"""

from __future__ import annotations

import math
import os
from typing import NamedTuple


class Timeouts(NamedTuple):
    """Seconds.

    Attributes:
      connect: to a server that was there before, or that answers now or never.
      session: for all tasks of a cluster, its master too, to be there when a session begins.
      answer: for what a task answers at once (registering, clearing, closing).
      alive: between two signs of life that a peer is asked for.
      silence: without an answer to that, after which a peer is given up.
      cancel: for a task to end what was cancelled.
      gone: that a server keeps a session whose client is gone.
      unused: that it keeps one which nobody uses, though its client may be there.
    """

    connect: float = 5.0
    session: float = 30.0
    answer: float = 30.0
    alive: float = 8.0
    silence: float = 4.0
    cancel: float = 1.0
    gone: float = 600.0
    unused: float = math.inf


def timeouts() -> Timeouts:
    """Return the timeouts of this process.

    Raises:
      ValueError: the environment variable has a name or number that makes no sense.
    """
    text = os.environ.get("TFDIST_TIMEOUTS", "")
    return Timeouts(**{name: float(value) for name, value in _pairs(text)})


def _pairs(text: str) -> list[tuple[str, str]]:
    found = [tuple(part.split("=", 1)) for part in text.replace(" ", "").split(",") if part]
    for pair in found:
        if len(pair) != 2 or pair[0] not in Timeouts._fields or not _is_positive(pair[1]):
            raise ValueError(
                f"TFDIST_TIMEOUTS={text!r}: wanted NAME=SECONDS,... with names of "
                f"{', '.join(Timeouts._fields)}"
            )
    return found  # type: ignore[return-value]


def _is_positive(text: str) -> bool:
    try:
        return float(text) > 0
    except ValueError:
        return False
