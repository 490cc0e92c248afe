"""A step: every partition of it that runs in this process, and whoever drives them.

Units whose inputs are there stand on the step's ready list. A wait that ends, from whatever thread,
puts its continuation there and wakes the driver; it never runs another step's code. Units measured
heavy get threads of their own, so that tasks compute side by side (`parallel`). Between units the
driver looks whether the step is to stop: by its deadline, by `close`, or by Ctrl-C.

The driver is the thread that called `run` (`drive`), which sleeps while nothing is ready. A step
that another process asked for has no thread: it is resumed when something is ready
(`drive_aside`), so that a thousand blocked steps cost none.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tfdist.errors import CancelledError, DeadlineExceededError, OpError
from tfdist.graph.op_def import PENDING
from tfdist.graph.records import RECEIVES, Node
from tfdist.plan.segment import FIRST_VALUE
from tfdist.runtime.aside import RemotePart, Runner
from tfdist.runtime.blas import ThreadTuner, Tuned
from tfdist.runtime.descriptions import describe
from tfdist.runtime.failures import at_node
from tfdist.runtime.interrupts import deferred_interrupts
from tfdist.runtime.parallel import Ended, execute, execute_aside, is_heavy
from tfdist.runtime.run import Run

# Seconds. A signal that comes just before the driver falls asleep does not wake it: its handler
# runs only when Python code runs again.
LOOK_UP = 0.25

# Seconds in which other processes are to stop their parts of a step that failed.
CANCEL = 0.8


class _Continuation:
    """A waiting unit: where to go on once its wait has ended."""

    __slots__ = ("ended", "generator", "outcome", "run", "since", "step", "unit", "wait")

    def __init__(self, run: Run, unit: int, generator: Any, since: int) -> None:
        self.run, self.unit, self.generator, self.since = run, unit, generator, since
        self.step = run.step
        self.wait: Any = None
        self.outcome: Any = None
        self.ended = False

    @property
    def node(self) -> Node:
        """Return the waiting node."""
        return self.run.program.nodes[self.unit][0]

    def take(self) -> Any:
        """Return the outcome, and keep it no more."""
        outcome, self.outcome = self.outcome, None
        return outcome

    def done(self, outcome: Any) -> None:
        """Take the outcome, from any thread, and wake the driver."""
        self.outcome, self.ended = outcome, True
        self.step.ready.append(self)
        self.step.wake()


class Step:
    """The partitions of one step in this process, and what it waits for elsewhere.

    Attributes:
      remote_stats: statistics of partitions that ran in other processes, if it was traced.
    """

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
        self.deadline = None if timeout is None else time.monotonic() + timeout
        self.ready: deque[Any] = deque()
        self.waiting: dict[_Continuation, None] = {}
        self.unfinished = 0
        self.error: BaseException | None = None
        self.logs: list[str] = []
        self.idle = 0.0  # seconds in which it only waited for others
        self.remote_stats: list[Any] = []
        self._remote: dict[RemotePart, None] = {}
        self._partitions = 0
        self._aside = 0  # units that threads run now
        self._threads: list[threading.Thread] = []
        self._asleep = threading.Lock()
        self._asleep.acquire()
        self._late: list[_Continuation] = []  # ended after the step had failed
        self._end_by: float | None = None  # until when the other processes may take to stop
        self._runner: Runner | None = None
        self._is_light = False
        self._tuned: Tuned | None = None
        self._turns = threading.Lock()  # held by whoever resumes the step
        self._is_aborted = False  # whether the error came from outside
        self._nudged = False  # something happened that is not on the ready list
        self._ended: Callable[[BaseException | None], None] | None = None
        self._call_off: Callable[[], None] | None = None

    def launch(self, run: Run, feeds: list[Any]) -> None:
        """Make the first units of `run` ready."""
        program = run.program
        run.values[FIRST_VALUE : FIRST_VALUE + program.feed_count] = feeds
        if not run.remaining:
            return
        self.unfinished += 1
        self._partitions += 1
        self.ready.extend([(run, unit) for unit in program.start])

    def launch_remote(self) -> RemotePart:
        """Return the place of a partition that another process runs; the step waits for its end."""
        part = RemotePart(self)
        self._remote[part] = None
        self.unfinished += 1
        return part

    def wake(self) -> None:
        """Let the driver look at its list; callable from any thread and from signal handlers."""
        if self._runner is not None:
            self._nudged = True
            if self._turns.acquire(blocking=False):
                self._runner.submit(self._resume, self._is_light)
            return
        try:
            self._asleep.release()
        except RuntimeError:
            pass  # it is awake already

    def abort(self, error: BaseException) -> None:
        """Let the step end with `error`, from any thread; the first error counts."""
        if self.error is None:
            self.error, self._is_aborted = error, True
        self.wake()

    def _interrupt(self) -> None:
        self.abort(KeyboardInterrupt())

    def drive(self, interruptible: bool) -> None:
        """Run on this thread until every partition has ended.

        Args:
          interruptible: whether Ctrl-C has to wait for a moment at which nothing is lost.

        Raises:
          OpError: what a kernel raised, or why the step was stopped.
          KeyboardInterrupt: Ctrl-C.
        """
        try:
            with deferred_interrupts(self._interrupt) if interruptible else _nothing():
                while not self._advance():
                    self._sleep()
        except BaseException as error:
            self.error = self.error or error
        finally:
            self._conclude()
        self._forgive()
        if self.error is not None:
            raise self._taken_error()

    def _taken_error(self) -> BaseException:
        """Return why the step failed, and keep it no more: it keeps what it is raised through."""
        error, self.error = self.error, None
        assert error is not None
        return error

    def drive_aside(
        self,
        runner: Runner,
        ended: Callable[[BaseException | None], None],
        is_light: bool,
        tuner: ThreadTuner | None = None,
    ) -> None:
        """Run until every partition has ended, without a thread that waits.

        Args:
          runner: resumes the step when something is ready.
          ended: called once, on some thread, with what `drive` would raise.
          is_light: whether this thread may run what is ready now, for it is little.
          tuner: chooses the number of threads; None if no kernel takes several.
        """
        self._turns.acquire()
        self._ended, self._runner, self._is_light = ended, runner, is_light
        self._tuned = None if tuner is None else Tuned(tuner)
        if self.timeout is not None:
            self._call_off = runner.later(self.timeout, self._time_out_aside)
        if is_light:
            self._resume()
        else:
            runner.submit(self._resume, False)

    def abandon(self) -> None:
        """End the parts in other processes of a step that was never driven."""
        for part in list(self._remote):
            part.cancel()

    def _time_out_aside(self) -> None:
        assert self._runner is not None  # which may not be kept waiting for other processes
        self._runner.submit(lambda: self.abort(self._timed_out()), False)

    def _resume(self) -> None:
        """Run what is ready; who comes here holds `_turns`."""
        while True:
            self._nudged = False
            with np.errstate(all="ignore"), self._tuned or _nothing():
                over = self._advance()
            if over:
                self._end_aside_step()
                return
            self._flush()
            self._turns.release()
            if not (self.ready or self._nudged) or not self._turns.acquire(blocking=False):
                return

    def _end_aside_step(self) -> None:
        if self._call_off is not None:
            self._call_off()
        if self._tuned is not None:
            self._tuned.record()
        self._conclude()
        ended, self._ended = self._ended, None
        assert ended is not None
        self._forgive()
        ended(None if self.error is None else self._taken_error())

    def _advance(self) -> bool:
        """Run what is ready; returns whether the step is over."""
        ready = self.ready
        while ready and self.error is None:
            self._turn(ready.popleft())
        self._forgive()
        if self.error is None:
            if self.logs:
                self._flush()
            return not self.unfinished
        return self._wind_up()

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
            if self._remote and self._runner is not None:
                self._runner.later(CANCEL, self.wake)
        while self.ready:
            item = self.ready.popleft()
            if type(item) is Ended:
                self._aside -= 1
            elif type(item) is RemotePart:
                self._end_remote(item)
            elif type(item) is _Continuation:
                self._late.append(item)
        return not self._aside and (not self._remote or time.monotonic() >= self._end_by)

    def _end_remote(self, part: RemotePart) -> None:
        if self._remote.pop(part, part) is part:  # it was given up already
            return
        self.unfinished -= 1
        if not isinstance(part.outcome, OpError):
            self.remote_stats.append(part.outcome)
        elif self.error is None or (_follows(self.error) and not _follows(part.outcome)):
            self.error = part.outcome

    def _conclude(self) -> None:
        """Leave nothing behind: threads, waits, log lines, partitions of other processes."""
        for thread in self._threads:
            thread.join()
        self._flush()
        for part in list(self._remote):
            part.cancel()
        if self.waiting or self.ready or self._late:
            self._give_up()

    def _end_aside(self, ended: Ended) -> None:
        self.ready.append(ended)
        self.wake()

    def _sleep(self) -> None:
        """Wait until something is ready, for a while; a passed deadline ends the step."""
        started = time.monotonic()
        until = self.deadline if self._end_by is None else self._end_by
        left = LOOK_UP if until is None else until - started
        woken = left > 0 and self._asleep.acquire(timeout=min(left, LOOK_UP))
        if not self._aside:
            self.idle += time.monotonic() - started
        if not woken and left <= LOOK_UP and self.deadline is not None and not self.ready:
            self.error = self.error or self._timed_out()

    def waits(self) -> list[tuple[Node, str]]:
        """Return the nodes that wait now in this process, each with what for, from any thread."""
        waiting = [(each.node, each.wait.describe()) for each in list(self.waiting) if each.wait]
        return foremost(waiting)

    def waits_everywhere(self) -> list[tuple[Node, str]]:
        """Return the nodes that wait now, as far as the other processes tell within a moment."""
        elsewhere = [each for part in list(self._remote) for each in part.waits()]
        return foremost(self.waits() + elsewhere)

    def _timed_out(self) -> DeadlineExceededError:
        waits = self.waits_everywhere()
        told = "; ".join(f"{node.name}: {text}" for node, text in waits)
        error = DeadlineExceededError(
            f"the step did not end within its timeout of {1000 * (self.timeout or 0):.0f} ms; "
            f"it waits for: {told or 'other tasks'}"
        )
        return error.at_node(waits[0][0].name, waits[0][0].device) if waits else error

    def _turn(self, item: Any) -> None:
        """Take one item of the ready list: a unit, one that waited, or what ended elsewhere."""
        if type(item) is RemotePart:
            self._end_remote(item)
            return
        run, unit = item if type(item) is tuple else (item.run, item.unit)
        try:
            if type(item) is Ended:
                self._end(item)
            elif type(item) is _Continuation:
                self.waiting.pop(item, None)
                self._proceed(item, item.take())
            elif run.program.waits[unit]:
                since = self.clock() if self.clock else 0
                generator = run.program.functions[unit](run.values)
                self._proceed(_Continuation(run, unit, generator, since), None)
            elif self._partitions > 1 and is_heavy(run, unit):
                self._aside += 1
                self._threads.append(execute_aside(run, unit, self._end_aside))
            else:
                execute(run, unit)
                self._complete(run, unit)
        except Exception as error:
            self.error = self.error or at_node(error, run, unit)
        if self._runner is not None:
            return  # it has a timer
        if self.deadline is not None and time.monotonic() > self.deadline and self.unfinished:
            self.error = self.error or self._timed_out()

    def _end(self, ended: Ended) -> None:
        self._aside -= 1
        if ended.error is not None:
            raise ended.error
        self._complete(ended.run, ended.unit)

    def _proceed(self, continuation: _Continuation, outcome: Any) -> None:
        """Drive a kernel's generator until it ends or has to wait."""
        generator = continuation.generator
        while True:
            try:
                if isinstance(outcome, BaseException):
                    continuation.wait = generator.throw(outcome)
                else:
                    continuation.wait = generator.send(outcome)
            except StopIteration as stop:
                self._store(continuation, stop.value)
                return
            except BaseException:
                outcome = None  # it was raised through this frame: the two would keep each other
                raise
            self.waiting[continuation] = None
            try:
                outcome = continuation.wait.start(continuation.done)
            except BaseException:
                del self.waiting[continuation]
                raise
            if outcome is PENDING:
                return
            del self.waiting[continuation]

    def _store(self, continuation: _Continuation, result: Any) -> None:
        run, unit = continuation.run, continuation.unit
        program = run.program
        node = continuation.node
        if self.clock:
            run.notes.append((node, continuation.since, self.clock(), describe(result)))
        results = [result] if node.op_def.has_one_output else result or ()
        for place, value in zip(program.stores[unit], results, strict=True):
            if place is not None:
                run.values[place] = value
        self._complete(run, unit)

    def _complete(self, run: Run, unit: int) -> None:
        pending = run.pending
        for dependent in run.program.dependents[unit]:
            pending[dependent] -= 1
            if not pending[dependent]:
                self.ready.append((run, dependent))
        run.remaining -= 1
        if not run.remaining:
            self.unfinished -= 1

    def _give_up(self) -> None:
        """Cancel all waits; what came too late goes back to where it was taken."""
        late = [each for each in self.waiting if not each.wait.cancel()]
        until = time.monotonic() + CANCEL
        while not all(each.ended for each in late) and time.monotonic() < until:
            self._asleep.acquire(timeout=0.001)  # another thread is about to tell the outcome
        for item in (*self._late, *self.ready):
            if type(item) is _Continuation and hasattr(item.wait, "give_back"):
                item.wait.give_back(item.outcome)
        for continuation in self.waiting:
            continuation.generator.close()
        self.waiting.clear()
        self.ready.clear()

    def _flush(self) -> None:
        while self.logs:
            sys.stderr.write(self.logs.pop(0) + "\n")


def foremost(waits: list[tuple[Node, str]]) -> list[tuple[Node, str]]:
    """Return the waits that say most: a receive waits for what another task waits for."""
    return [each for each in waits if each[0].op not in RECEIVES] or waits


def _follows(error: BaseException) -> bool:
    """Return whether another error probably was the cause of this one."""
    return isinstance(error, OpError) and (error.is_derived or isinstance(error, CancelledError))


@contextmanager
def _nothing() -> Iterator[None]:
    yield
