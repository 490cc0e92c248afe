"""A step: the thread that called `run` drives every partition that runs in this process.

Units whose inputs are there stand on the step's ready list. A wait that ends, from whatever thread,
puts its continuation there and wakes the driver; it never runs another step's code. Units measured
heavy get threads of their own, so that tasks compute side by side (`parallel`). Between units the
driver looks whether the step is to stop: by its deadline, by `close`, or by Ctrl-C.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfdist.errors import DeadlineExceededError
from tfdist.graph.op_def import PENDING
from tfdist.graph.records import Node
from tfdist.plan.segment import FIRST_VALUE
from tfdist.runtime.descriptions import describe
from tfdist.runtime.failures import at_node
from tfdist.runtime.interrupts import deferred_interrupts
from tfdist.runtime.parallel import Ended, execute, execute_aside, is_heavy
from tfdist.runtime.run import Run

# Seconds. A signal that comes just before the driver falls asleep does not wake it: its handler
# runs only when Python code runs again.
LOOK_UP = 0.25


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

    def done(self, outcome: Any) -> None:
        """Take the outcome, from any thread, and wake the driver."""
        self.outcome, self.ended = outcome, True
        self.step.ready.append(self)
        self.step.wake()


class Step:
    """The partitions of one step in this process, and the thread that drives them."""

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
        self.slept = False  # whether it waited for others than its own threads
        self._partitions = 0
        self._aside = 0  # units that threads run now
        self._threads: list[threading.Thread] = []
        self._asleep = threading.Lock()
        self._asleep.acquire()

    def launch(self, run: Run, feeds: list[Any]) -> None:
        """Make the first units of `run` ready."""
        program = run.program
        run.values[FIRST_VALUE : FIRST_VALUE + program.feed_count] = feeds
        if not run.remaining:
            return
        self.unfinished += 1
        self._partitions += 1
        self.ready.extend([(run, unit) for unit in program.start])

    def wake(self) -> None:
        """Let the driver look at its list; callable from any thread and from signal handlers."""
        try:
            self._asleep.release()
        except RuntimeError:
            pass  # it is awake already

    def abort(self, error: BaseException) -> None:
        """Let the step end with `error`, from any thread; the first error counts."""
        if self.error is None:
            self.error = error
        self.wake()

    def _interrupt(self) -> None:
        self.abort(KeyboardInterrupt())

    def drive(self, interruptible: bool) -> None:
        """Run until every partition has ended.

        Args:
          interruptible: whether Ctrl-C has to wait for a moment at which nothing is lost.

        Raises:
          OpError: what a kernel raised, or why the step was stopped.
          KeyboardInterrupt: Ctrl-C.
        """
        try:
            with deferred_interrupts(self._interrupt) if interruptible else _nothing():
                self._loop()
        except BaseException as error:
            self.error = self.error or error
        finally:
            for thread in self._threads:
                thread.join()
            self._flush()
            if self.waiting or self.ready:
                self._give_up()
        if self.error is not None:
            failure, self.error = self.error, None
            raise failure

    def _loop(self) -> None:
        ready = self.ready
        while True:
            while ready and self.error is None:
                self._turn(ready.popleft())
            if self.error is not None or not self.unfinished:
                return
            if self.logs:
                self._flush()
            self._sleep()

    def _end_aside(self, ended: Ended) -> None:
        self.ready.append(ended)
        self.wake()

    def _sleep(self) -> None:
        """Wait until something is ready, for a while; a passed deadline ends the step."""
        self.slept = self.slept or not self._aside
        left = LOOK_UP if self.deadline is None else self.deadline - time.monotonic()
        if left > 0 and self._asleep.acquire(timeout=min(left, LOOK_UP)):
            return
        if left <= LOOK_UP and self.deadline is not None and not self.ready:
            self.error = self.error or self._timed_out()

    def waits(self) -> list[tuple[Node, str]]:
        """Return the nodes that wait now, each with what for, from any thread.

        A receive waits for what another task waits for; it is told only if there is nothing else.
        """
        waiting = [(each.node, each.wait.describe()) for each in list(self.waiting) if each.wait]
        return [each for each in waiting if each[0].op != "_Recv"] or waiting

    def _timed_out(self) -> DeadlineExceededError:
        waits = self.waits()
        told = "; ".join(f"{node.name}: {text}" for node, text in waits)
        error = DeadlineExceededError(
            f"the step did not end within its timeout of {1000 * (self.timeout or 0):.0f} ms; "
            f"it waits for: {told or 'other tasks'}"
        )
        return error.at_node(waits[0][0].name, waits[0][0].device) if waits else error

    def _turn(self, item: Any) -> None:
        """Take one item of the ready list: a unit, one that waited, or one that a thread ran."""
        run, unit = item if type(item) is tuple else (item.run, item.unit)
        try:
            if type(item) is Ended:
                self._end(item)
            elif type(item) is _Continuation:
                self.waiting.pop(item, None)
                self._advance(item, item.outcome)
            elif run.program.waits[unit]:
                since = self.clock() if self.clock else 0
                generator = run.program.functions[unit](run.values)
                self._advance(_Continuation(run, unit, generator, since), None)
            elif self._partitions > 1 and is_heavy(run, unit):
                self._aside += 1
                self._threads.append(execute_aside(run, unit, self._end_aside))
            else:
                execute(run, unit)
                self._complete(run, unit)
        except Exception as error:
            self.error = self.error or at_node(error, run, unit)
        if self.deadline is not None and time.monotonic() > self.deadline and self.unfinished:
            self.error = self.error or self._timed_out()

    def _end(self, ended: Ended) -> None:
        self._aside -= 1
        if ended.error is not None:
            raise ended.error
        self._complete(ended.run, ended.unit)

    def _advance(self, continuation: _Continuation, outcome: Any) -> None:
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
        while not all(each.ended for each in late):  # another thread is about to tell the outcome
            self._asleep.acquire(timeout=0.1)
        for item in self.ready:
            if type(item) is _Continuation and hasattr(item.wait, "give_back"):
                item.wait.give_back(item.outcome)
        for continuation in self.waiting:
            continuation.generator.close()
        self.waiting.clear()
        self.ready.clear()

    def _flush(self) -> None:
        while self.logs:
            sys.stderr.write(self.logs.pop(0) + "\n")


@contextmanager
def _nothing() -> Iterator[None]:
    yield
