"""Pace: a unit of a slow task computes as quickly as ever, and sleeps for the rest of its time.

It sleeps before it sends something, and at its end: what others see of it comes as late as it
would from a task that is really slow, and the processor is free meanwhile. In a traced step the
times of its nodes are drawn out over what it slept.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeAlias

from tfdist.base.aliases import TensorValue
from tfdist.graph.records import Node
from tfdist.plan.lower import inner_nodes

_LEAST = 1e-3  # seconds: shorter sleeps take much longer than they are asked to

# What a traced run notes: a node, nanoseconds at its start and end, and more.
Note: TypeAlias = TensorValue


class _Here(threading.local):
    """What a thread runs.

    Attributes:
      pace: of the unit, None if it is not slow.
      owed: seconds that it has still to sleep.
    """

    pace: Pace | None = None
    owed = 0.0


class Pace:
    """The pace of one unit.

    Args:
      factor: how many times as long it takes.
      notes: of a traced run, which the unit adds to; else None.
      nodes: of the unit.
    """

    def __init__(self, factor: float, notes: list[Note] | None, nodes: Sequence[Node]) -> None:
        self._factor, self._notes = factor, notes
        self._names = {node.name for node in inner_nodes(nodes)}
        self._noted = len(notes or ())
        self._since = time.perf_counter()

    def keep(self) -> None:
        """Sleep as long as the unit is ahead of its pace, if that is worth it."""
        began = time.perf_counter()
        owed = _here.owed + (self._factor - 1) * (began - self._since)
        if owed < _LEAST:
            return
        time.sleep(owed)
        now = time.perf_counter()
        _here.owed = 0.0  # no less: what overslept is no reason to hurry
        self._draw_out(began - self._since, now - began)
        self._since = now

    def end(self) -> None:
        """Sleep at the end of the unit; what is too little is slept with what comes next."""
        since = self._since
        self.keep()
        if self._since == since:
            _here.owed += (self._factor - 1) * (time.perf_counter() - since)

    def _draw_out(self, computed: float, slept: float) -> None:
        """Let the nodes noted since the last sleep seem to have taken the time of this one, too."""
        if self._notes is None:
            return
        end = time.time_ns()
        begin = end - round(1e9 * (computed + slept))
        scale = (computed + slept) / max(computed, 1e-9)
        for place in range(self._noted, len(self._notes)):
            node, first, last, *more = self._notes[place]
            if node is not None and node.name in self._names:
                times = (round(begin + scale * (time - begin)) for time in (first, last))
                self._notes[place] = (node, *times, *more)
        self._noted = len(self._notes)


_here = _Here()


def run_at_pace(
    function: Callable[[list[TensorValue]], TensorValue],
    values: list[TensorValue],
    pace: Pace,
) -> None:
    """Run a unit at a pace."""
    _here.pace = pace
    try:
        function(values)
        pace.end()
    finally:
        _here.pace = None


def keep_pace() -> None:
    """Let the unit that this thread runs sleep before others see what it made."""
    if _here.pace is not None:
        _here.pace.keep()
