"""A step: every partition of it that runs in this process, and what is known of the others.

Units whose inputs are there stand on the step's ready list. A wait that ends, from whatever thread,
puts its continuation there and wakes the driver; it never runs another step's code. Units measured
heavy get threads of their own, so that tasks compute side by side (`parallel`). Between units the
driver looks whether the step is to stop: by its deadline, by `close`, or by Ctrl-C.

The driver is the thread that called `run` (`driver`), or, for a step that another process asked
for, whichever thread is lent to it (`async_driver`). It calls `advance` until that says that the
step is over, and `conclude` in the end.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

from tfdist.base.aliases import RemoteStats, TensorValue
from tfdist.errors import CancelledError, DeadlineExceededError, OpError
from tfdist.graph.op_def import PENDING, Wait
from tfdist.plan.compiling.program import NONBLOCKING_PASS, Units
from tfdist.plan.step_plan import Signature
from tfdist.runtime.disturbances.waits import Thaw
from tfdist.runtime.step.continuation import Continuation, Item
from tfdist.runtime.step.failures import at_node
from tfdist.runtime.step.followers import Follower, Parcel
from tfdist.runtime.step.held_unit import HeldUnit
from tfdist.runtime.step.in_flight import waits_of_step
from tfdist.runtime.step.parallel import (
    LIGHT,
    Ended,
    execute,
    execute_on_thread,
    is_heavy,
    is_short,
    may_be_heavy,
    measure_anew,
)
from tfdist.runtime.step.remote_part import RemotePart
from tfdist.runtime.step.rendezvous import Rendezvous
from tfdist.runtime.step.run import Run
from tfdist.tracing.waits import Wait as WaitTold
from tfdist.tracing.waits import foremost

# Seconds in which other processes are to stop their parts of a step that failed.
CANCEL = 0.8

# Nanoseconds in which what is sent waits for more that goes the same way.
QUICK = 300_000


class Driver(Protocol):
    """Who runs a step."""

    def wake(self) -> None:
        """Advance the step soon; callable from any thread and from signal handlers."""

    def wake_later(self, seconds: float) -> None:
        """Advance the step after a while, if nothing wakes the driver before."""


class Step:
    """The partitions of one step in this process, and what it waits for elsewhere.

    Attributes:
      clock: nanoseconds, if the step is traced.
      timeout: seconds that it may take, or None.
      began: when (`time.monotonic`).
      signature: what it fetches, where its master is in this process.
      again: asked when all went in one pass, whether the next such step follows at once.
      runs: the partitions in this process, until the step is over.
      deadline: when the driver is to end it (`time.monotonic`), or None.
      driver: who runs it now.
      ready: what the driver goes on with: units, and what ended elsewhere.
      waiting: the units that wait, and since when (`time.monotonic`).
      unfinished: partitions that have not ended.
      took_large_input: whether something large came that it waited for.
      units_on_threads: how many units run on threads of their own now.
      in_nonblocking_pass: the run that goes through its units now, as long as none has to wait.
      error: why the step ends; the first error counts.
      logs: lines that the driver is to print.
      remote_stats: statistics of partitions that ran in other processes, if it was traced.
    """

    again: Callable[[], bool] | None = None
    in_nonblocking_pass: Run | None = None

    def __init__(
        self, step_id: int, clock: Callable[[], int] | None = None, timeout: float | None = None
    ) -> None:
        """Prepare a step.

        Args:
          step_id: its number, the same on every task.
          clock: nanoseconds, if the step is traced.
          timeout: seconds until it ends with DeadlineExceededError.
        """
        self.step_id = step_id
        self.clock = clock
        self.timeout = timeout
        self.began = now = time.monotonic()
        self.deadline = None if timeout is None else now + timeout
        self.signature: Signature | None = None
        self.runs: list[Run] = []
        self.driver: Driver | None = None
        self.ready: deque[Item] = deque()
        self.waiting: dict[Continuation | HeldUnit, float] = {}
        self.unfinished = 0
        self.units_on_threads = 0
        self.error: BaseException | None = None
        self.logs: list[str] = []
        self.remote_stats: list[RemoteStats] = []
        self._remote: dict[RemotePart, None] = {}
        self._partitions = 0
        self._threads: list[threading.Thread] = []
        self._late: list[Continuation] = []  # ended after the step had failed
        self._turn_began = 0  # nanoseconds
        self._to_deliver: dict[Rendezvous, None] = {}
        self._parcels: dict[Follower, Parcel] = {}
        self._held_parcels: list[Parcel] = []  # until the turn ends
        self._end_by: float | None = None  # until when the other processes may take to stop
        self.took_large_input = False
        self._is_aborted = False  # whether the error came from outside

    def launch(self, run: Run, feeds: list[TensorValue]) -> None:
        """Make the first units of `run` ready."""
        units = run.begin(feeds)
        self.runs.append(run)
        if units:
            self.unfinished += 1
            self._partitions += 1
            has_pass = (
                run.program.nonblocking_pass is not None
                and is_short(run.program)
                and run.task.disturber is None  # which looks at each unit
            )
            self.ready.extend([(run, NONBLOCKING_PASS)] if has_pass else units)

    def hold_back(self, run: Run, wait: Wait) -> None:
        """Let the units of `run` that are ready begin when `wait` is over."""
        units = [item[1] for item in self.ready if type(item) is tuple and item[0] is run]
        if units:
            left = [item for item in self.ready if type(item) is not tuple or item[0] is not run]
            self.ready.clear()
            self.ready.extend(left)
            HeldUnit(run, units[0], wait, units[1:]).hold()

    def launch_remote(self) -> RemotePart:
        """Return the place of a partition that another process runs; the step waits for its end."""
        part = RemotePart(self)
        self._remote[part] = None
        self.unfinished += 1
        return part

    def abandon(self) -> None:
        """End the parts in other processes of a step that was never driven."""
        for part in list(self._remote):
            part.cancel()
        self.runs.clear()

    def wake(self) -> None:
        """Let the driver look at the step; callable from signal handlers too."""
        driver = self.driver
        if driver is not None:  # else it looks when it begins
            driver.wake()

    def abort(self, error: BaseException) -> None:
        """Let the step end with `error`; the first error counts."""
        if self.error is None:
            self.error, self._is_aborted = error, True
        self.wake()

    def time_out(self) -> None:
        """Let the step end because it takes too long; other processes may be asked why."""
        if self.error is None:
            self.abort(self._timed_out())

    def waits(self) -> list[WaitTold]:
        """Return what waits now in this process."""
        return foremost(waits_of_step(self))

    def waits_everywhere(self) -> list[WaitTold]:
        """Return what waits now, as far as the other processes tell within a moment."""
        parts = list(self._remote)
        elsewhere = parts[0].ask_waits([each.task for each in parts], self.step_id) if parts else []
        return foremost([*self.waits(), *elsewhere])

    def _timed_out(self) -> DeadlineExceededError:
        waits = self.waits_everywhere()
        told = "; ".join(wait.told for wait in waits)
        if not told:
            told = "other tasks" if self._remote else "nothing, it still computes"
        error = DeadlineExceededError(
            f"the step did not end within its timeout of {1000 * (self.timeout or 0):.0f} ms; "
            f"it waits for: {told}"
        )
        return error.at_node(waits[0].node, waits[0].device) if waits else error

    @property
    def until(self) -> float | None:
        """Return when the driver has to look again though nobody wakes it (`time.monotonic`)."""
        return self.deadline if self._end_by is None else self._end_by

    def advance(self) -> bool:
        """Run what is ready; returns whether the step is over."""
        ready = self.ready
        self._turn_began = time.perf_counter_ns()
        while ready and self.error is None:
            self._turn(ready.popleft())
        if self._to_deliver:
            self._deliver()
        while self._held_parcels:
            self._held_parcels.pop().deliver()
        self._forgive()
        if self.logs:
            self._flush()
        return not self.unfinished if self.error is None else self._wind_up()

    def deliver_soon(self, rendezvous: Rendezvous) -> None:
        """Let what was sent to other processes leave with what else is ready to be sent now."""
        self._to_deliver[rendezvous] = None
        if time.perf_counter_ns() - self._turn_began > QUICK:
            self._deliver()

    def hand_on(self, follower: Follower, key: str, value: TensorValue, at_once: bool) -> None:
        """Hand a value to a follower, with what else it gets in this turn, or at once."""
        parcel = self._parcels.get(follower)
        if parcel is None:
            parcel = self._parcels.setdefault(follower, Parcel(follower, self.step_id))
        parcel.add(key, value)
        if at_once:
            parcel.deliver()
        else:
            self._held_parcels.append(parcel)

    def conclude(self) -> None:
        """Leave nothing behind: threads, waits, log lines, partitions of other processes."""
        for thread in self._threads:
            thread.join()
        self._flush()
        for part in list(self._remote):
            part.cancel()
        if self.waiting or self.ready or self._late:
            self._give_up()
        self._forgive()
        self.runs.clear()  # which have this step
        self.driver = None

    def taken_error(self) -> BaseException:
        """Return why the step failed, and keep it no more: it keeps what it is raised through."""
        error, self.error = self.error, None
        assert error is not None
        return error

    def _turn(self, item: Item) -> None:
        """Take one item of the ready list: a unit, one that waited, or what ended elsewhere."""
        if isinstance(item, RemotePart):
            self._end_remote(item)
            return
        run, unit = item if isinstance(item, tuple) else (item.run, item.unit)
        has_ended = False
        try:
            if type(item) is tuple:
                has_ended = self._begin(run, unit)
            elif type(item) is Continuation:
                has_ended = item.resume()
            elif type(item) is HeldUnit:
                item.let_go()
                has_ended = self._begin(run, unit)
            elif type(item) is Ended:
                has_ended = self._end_on_thread(item)
            if has_ended:
                self._complete(run, unit)
        except Exception as error:
            self.error = self.error or at_node(error, run, unit)
        if self.deadline is not None and time.monotonic() > self.deadline and self.unfinished:
            self.time_out()

    def _begin(self, run: Run, unit: int) -> bool:
        """Begin a unit; returns whether it has ended."""
        if unit == NONBLOCKING_PASS:
            self._run_nonblocking_pass(run)
            return False
        disturber = run.task.disturber
        if disturber is not None and disturber.frozen is not None:
            HeldUnit(run, unit, Thaw.of(disturber)).hold()
            return False
        if run.program.waits[unit]:
            return Continuation(run, unit).proceed(None)
        if self._to_deliver:  # this may take long
            self._deliver()
        if self._partitions > 1 and (
            is_heavy(run, unit) or (disturber is not None and may_be_heavy(run, unit))
        ):
            self.units_on_threads += 1
            self._threads.append(execute_on_thread(run, unit, self._take_ended))
            return False
        execute(run, unit)
        return True

    def _run_nonblocking_pass(self, run: Run) -> None:
        """Run units as long as none has to wait; then perhaps all of them again."""
        nonblocking_pass, self.in_nonblocking_pass = run.program.nonblocking_pass, run
        assert nonblocking_pass is not None
        count = self._pass(run, nonblocking_pass.units)
        while run.skip(nonblocking_pass.units, count, self.ready):
            if self.again is None or self._is_disturbed(run) or not self.again():
                self.unfinished -= 1
                break
            self._be_next()
            run.task.counters.steps += 1
            count = nonblocking_pass.idempotent + self._pass(
                run, nonblocking_pass.units[nonblocking_pass.idempotent :]
            )
        self.in_nonblocking_pass = None

    def _is_disturbed(self, run: Run) -> bool:
        """Return whether a pass may not go on as it did: by an error, or on purpose."""
        return self.error is not None or run.task.disturber is not None

    def _pass(self, run: Run, units: Units) -> int:
        """Run units until one would have to wait; returns how many.

        Ctrl-C and deadlines come after it: who stops in the middle loses what was taken.
        """
        began, values, count = time.perf_counter_ns(), run.values, 0
        for unit, function in units:
            try:
                if function(values) is PENDING:
                    break
            except Exception as error:
                raise at_node(error, run, unit) from error.__cause__
            count += 1
        spent = time.perf_counter_ns() - began
        run.task.counters.ran(spent)
        if spent > LIGHT:
            measure_anew(run.program)
        return count

    def _be_next(self) -> None:
        """Be the next step of the same kind."""
        self.began = time.monotonic()
        if self.timeout is not None:
            self.deadline = self.began + self.timeout
        if self.logs:
            self._flush()

    def _deliver(self) -> None:
        while self._to_deliver:
            self._to_deliver.popitem()[0].deliver()

    def _take_ended(self, ended: Ended) -> None:
        self.ready.append(ended)
        self.wake()

    def _end_on_thread(self, ended: Ended) -> bool:
        self.units_on_threads -= 1
        if ended.error is not None:
            raise ended.error
        return True

    def _complete(self, run: Run, unit: int) -> None:
        if run.complete(unit, self.ready):
            self.unfinished -= 1

    def _end_remote(self, part: RemotePart) -> None:
        if self._remote.pop(part, part) is part:  # it was given up already
            return
        self.unfinished -= 1
        if not isinstance(part.outcome, OpError):
            if part.outcome is not None:
                self.remote_stats.append(part.outcome)
        elif self.error is None or (_follows(self.error) and not _follows(part.outcome)):
            self.error = part.outcome

    def _forgive(self) -> None:
        """Forget a deadline or a close that came when all was done: what was taken would be lost.

        Ctrl-C is not forgotten: the user wants more than this step to end.
        """
        is_done = not self.unfinished and self._end_by is None  # not by winding up
        if is_done and self._is_aborted and isinstance(self.error, OpError):
            self.error = None

    def _wind_up(self) -> bool:
        """After an error: stop the other processes and learn whose error was the first."""
        if self._end_by is None:
            self._end_by = time.monotonic() + CANCEL
            for part in list(self._remote):
                part.cancel()
            if self._remote and self.driver is not None:
                self.driver.wake_later(CANCEL)
        while self.ready:
            item = self.ready.popleft()
            if type(item) is Ended:
                self.units_on_threads -= 1
            elif type(item) is RemotePart:
                self._end_remote(item)
            elif type(item) is Continuation:
                self._late.append(item)
        return not self.units_on_threads and (not self._remote or time.monotonic() >= self._end_by)

    def _give_up(self) -> None:
        """Cancel all waits; what came too late goes back to where it was taken."""
        late = [each for each in self.waiting if not each.give_up()]
        until = time.monotonic() + CANCEL
        while not all(each.ended for each in late) and time.monotonic() < until:
            time.sleep(0.001)  # another thread is about to tell the outcome
        for item in (*self._late, *self.ready):
            if type(item) is Continuation:
                item.give_back()
        for each in self.waiting:
            each.run.task.counters.end_wait(time.monotonic())
            each.close()
        self.waiting.clear()
        self.ready.clear()

    def _flush(self) -> None:
        while self.logs:
            sys.stderr.write(self.logs.pop(0) + "\n")


def _follows(error: BaseException) -> bool:
    """Return whether another error probably was the cause of this one."""
    return isinstance(error, OpError) and (error.is_derived or isinstance(error, CancelledError))
