"""Disturber: what a task knows of the disturbances of its cluster, and how it obeys them.

A task has one as long as something is wrong on purpose; without, the places that would ask it find
None. What crosses a way, and what waits for a frozen task, is a `Crossing`: the disturbances are
looked up when it comes, for receives begin long before, and again whenever they change. Who is
behind a way that is blocked is a lost peer: what is to cross it fails after the same bound, if
nobody heals it before.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from tfdist.errors import OpError, UnavailableError
from tfdist.runtime.disturbances.alarm import ALARM
from tfdist.runtime.disturbances.passage import CLEAR, Passage, task, way
from tfdist.tracing.disturbances import Disturbance

Ends = tuple[str, str]  # the tasks that send and receive


class Crossing:
    """Something that is to go from one task to another, or to go on at a task.

    Args:
      ends: the two tasks; twice the same one for what goes on there.
      give: called once, when it has come.
      fail: called instead, with the error, when its way was blocked for too long, or it was lost.
      bound: seconds that this takes.

    Attributes:
      is_call: whether it is no tensor, and so can be stopped but not be late.
      has_come: whether it would be there, but for the disturbances.
      is_lost: whether it never will be.
      size: bytes.
      state: "" if nothing is to happen to it, "blocked" if it is to fail, "late" if it is to come.
    """

    __slots__ = (
        *("_call_off", "bound", "ends", "fail", "give"),
        *("has_come", "is_call", "is_lost", "size", "state"),
    )

    def __init__(
        self, ends: Ends, give: Callable[[], None], fail: Callable[[OpError], None], bound: float
    ) -> None:
        self.ends, self.give, self.fail, self.bound = ends, give, fail, bound
        self.has_come = self.is_call = self.is_lost = False
        self.size = 0
        self.state = ""
        self._call_off: Callable[[], None] | None = None

    def set_alarm(self, state: str, when: float, function: Callable[[], None]) -> None:
        """Have `function` called at `when`, and nothing that was to be called before."""
        self.clear_alarm()
        self.state, self._call_off = state, ALARM.at(when, function)

    def clear_alarm(self) -> None:
        """Undo `set_alarm`."""
        call_off, self._call_off = self._call_off, None
        self.state = ""
        if call_off is not None:
            call_off()


class Disturber:
    """The disturbances that concern one task.

    Args:
      names: of the cluster's tasks as one types them ("worker:1"), by their address.
      own: the task's own.
      bound: seconds after which a peer that cannot be reached is given up.
      chance: returns a number from 0 to 1.

    Attributes:
      own: the task's name.
      disturbances: that are in force.
      factor: how many times as long the task's units take.
      frozen: by what the task is frozen, or None.
    """

    def __init__(
        self,
        names: Mapping[str, str],
        own: str,
        bound: float,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._names, self.own, self._bound, self._chance = names, own, bound, chance
        self.disturbances: tuple[Disturbance, ...] = ()
        self.factor = 1.0
        self.frozen: Disturbance | None = None
        self._lock = threading.RLock()  # what is collected meanwhile may give up its wait
        self._open: dict[Crossing, None] = {}
        self._busy_until: dict[Ends, float] = {}

    def tell(self, disturbances: Sequence[Disturbance]) -> None:
        """Obey these from now on, and no others; what they do not hold up any more goes on."""
        with self._lock:
            self.disturbances = tuple(disturbances)
            self.frozen, self.factor = task(disturbances, self.own)
            crossings = list(self._open)
        for crossing in crossings:
            self._look_at(crossing)

    def ends(self, source: str, target: str) -> Ends:
        """Return the tasks at two addresses."""
        return self._names.get(source, source), self._names.get(target, target)

    def passage(self, ends: Ends) -> Passage:
        """Return what becomes of what goes from one task to another now, or goes on at one."""
        source, target = ends
        return way(self.disturbances, *ends) if source != target else Passage(self.frozen)

    # crossings

    def depart(
        self,
        ends: Ends,
        give: Callable[[], None],
        fail: Callable[[OpError], None],
        bound: float | None = None,
    ) -> Crossing:
        """Return a crossing that is under way; `arrive` says when it would be there."""
        crossing = Crossing(ends, give, fail, self._bound if bound is None else bound)
        with self._lock:
            self._open[crossing] = None
        self._look_at(crossing)
        return crossing

    def arrive(self, crossing: Crossing, size: int | None = None) -> None:
        """Let a crossing come: now, later, when its way is healed, or never.

        Args:
          crossing: that would be there now.
          size: bytes of a tensor; None for a call, which is not late.
        """
        passage = self.passage(crossing.ends)
        crossing.is_lost = passage.is_lost(self._chance())
        crossing.has_come, crossing.is_call, crossing.size = True, size is None, size or 0
        self._look_at(crossing)

    def forget(self, crossing: Crossing) -> bool:
        """Let nothing come of a crossing; returns whether nothing has."""
        with self._lock:
            is_open = crossing in self._open
            self._open.pop(crossing, None)
            crossing.clear_alarm()
        return is_open

    def _look_at(self, crossing: Crossing) -> None:
        """Let a crossing wait, go on or come, as the disturbances are now."""
        passage, now = self.passage(crossing.ends), time.monotonic()
        with self._lock:
            if crossing not in self._open:
                return
            if crossing.is_lost or passage.blocked is not None:
                if crossing.state != "blocked":
                    until = now + crossing.bound
                    crossing.set_alarm("blocked", until, lambda: self._expire(crossing))
                return
            if not crossing.has_come:
                crossing.clear_alarm()
                return
            if crossing.is_call:
                passage = CLEAR
            is_hindered = passage.late is not None or passage.narrow is not None
            if crossing.state == "late" and is_hindered:
                return  # it is on its way
            free_at = self._busy_until.get(crossing.ends, now)
            when, self._busy_until[crossing.ends] = passage.arrival(crossing.size, now, free_at)
            if when > now:
                crossing.set_alarm("late", when, lambda: self._deliver(crossing))
                return
        self._deliver(crossing)

    def _deliver(self, crossing: Crossing) -> None:
        if self.forget(crossing):
            crossing.give()

    def _expire(self, crossing: Crossing) -> None:
        error = self._error(crossing)
        if self.forget(crossing):
            crossing.fail(error)

    def _error(self, crossing: Crossing) -> UnavailableError:
        source, target = crossing.ends
        passage = self.passage(crossing.ends)
        cause = passage.lossy if crossing.is_lost else passage.blocked
        what = f"what {source} sent to {target} did not come"
        if source == target:
            what = f"{source} did not go on"
        why = f": {cause.named}" if cause is not None else ""
        return UnavailableError(f"{what} within {crossing.bound:g} s{why}")
