"""Threads that make elements of pipelines before they are asked for.

`ops.dataset.prefetch` says when that is worth while. A thread lives as long as there is something
to do, and a moment longer: what is full, or was given up, keeps none. It ends with its pipeline: at
the element or the tick that follows, or when a function of it next asks whether to go on.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from collections.abc import Iterator as PythonIterator
from time import monotonic
from typing import Any

import numpy as np

from tfdist.base.aliases import Outcome, TaskResource, TensorValue
from tfdist.errors import CancelledError
from tfdist.graph.items import END, TICK, Failure
from tfdist.graph.op_def import PENDING
from tfdist.runtime.resources.wait_info import WaitInfo

_LINGER = 0.05  # seconds that a thread waits for more to do
_ALONE = 1.0  # seconds without anybody who asks, after which what does not end is left


class ThreadPool:
    """A thread pool: up to `count` threads, which take jobs in the order in which they came."""

    def __init__(self, count: int) -> None:
        self._count, self._threads, self._idle = count, 0, 0
        self._jobs: deque[Callable[[], None]] = deque()
        self._changed = threading.Condition()
        self.is_stopped = False

    def submit(self, job: Callable[[], None]) -> None:
        """Let a thread call `job`."""
        with self._changed:
            self._jobs.append(job)
            if self._idle:
                self._changed.notify()
            is_new = len(self._jobs) > self._idle and self._threads < self._count
            self._threads += is_new
        if is_new:
            threading.Thread(target=self._work, name="tfdist prefetch", daemon=True).start()

    def stop(self) -> None:
        """Begin nothing more; the threads end soon.

        The garbage collector may do this, in whichever thread and whatever that holds: so no lock
        is taken, and a thread may find no job where there was one.
        """
        self.is_stopped = True
        self._jobs.clear()

    def _work(self) -> None:
        with np.errstate(all="ignore"):
            while (job := self._next()) is not None:
                job()
                del job  # or it would be kept while this thread waits for another one

    def _next(self) -> Callable[[], None] | None:
        with self._changed:
            if not self._jobs and not self.is_stopped:
                self._idle += 1
                self._changed.wait(_LINGER)
                self._idle -= 1
            try:
                return self._jobs.popleft()
            except IndexError:
                self._threads -= 1
                return None


class _Waiting:
    """What one step waits for, and a thread brings about.

    Attributes:
      lock: held while either looks.
      wait: of the step, None while none waits.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.lock = threading.Lock()
        self.wait: ElementWait | None = None

    def is_there(self) -> bool:
        """Return whether there is nothing to wait for."""
        raise NotImplementedError

    def describe(self) -> str:
        """Return what is waited for."""
        raise NotImplementedError

    def take_wait(self) -> ElementWait | None:
        """Return who waits, to be told when the lock is free."""
        wait, self.wait = self.wait, None
        return wait


class ElementWait:
    """The wait of a step for what a thread makes (a `graph.op_def.Wait`)."""

    __slots__ = ("_done", "_what")

    def __init__(self, what: _Waiting) -> None:
        self._what = what
        self._done: Callable[[Any], None] | None = None

    def start(self, done: Callable[[Outcome], None]) -> Outcome:
        """See `Wait.start`."""
        self._done = done
        with self._what.lock:
            if self._what.is_there():
                return None
            self._what.wait = self
        return PENDING

    def finish(self) -> None:
        """Tell that it is there."""
        if self._done is not None:
            self._done(None)

    def cancel(self) -> bool:
        """See `Wait.cancel`."""
        with self._what.lock:
            if self._what.wait is not self:
                return False
            self._what.wait = None
            return True

    def give_back(self, outcome: Outcome) -> None:
        """Do nothing: what came stays where it is."""

    def describe(self) -> str:
        """See `Wait.describe`."""
        return self._what.describe()

    def info(self) -> WaitInfo:
        """See `Wait.info`."""
        return WaitInfo("iterator")


class _Step:
    """What kernels see as their step on such a thread.

    Attributes:
      clock: None: functions of pipelines are not traced.
      deadline: None: that of a step ends its wait.
      logs: lines for the step that asks next.
    """

    clock = deadline = None

    def __init__(self, iteration: TaskResource, pool: ThreadPool) -> None:
        self._iteration, self._pool = iteration, pool
        self.logs: deque[str] = deque()

    @property
    def error(self) -> BaseException | None:
        """Return why to stop, None if there is no reason."""
        run = self._iteration.ctx.run  # of the step that asked last
        if self._pool.is_stopped or not run.task.handle_of(run.session):
            return CancelledError("the iterator was closed")
        return None

    def __getattr__(self, name: str) -> TaskResource:
        return getattr(self._iteration.ctx.run.step, name)


class _Run:
    """What a pipeline sees as the run of whoever asks, on such a thread."""

    def __init__(self, step: _Step, asking: TaskResource) -> None:
        self.step, self.session, self.task = step, asking.session, asking.task


class _Context:
    """What a pipeline sees as the context of whoever asks, on such a thread."""

    def __init__(self, iteration: TaskResource, pool: ThreadPool) -> None:
        self.run = _Run(_Step(iteration, pool), iteration.ctx.run)

    def check(self) -> None:
        """Raise CancelledError if nobody wants more."""
        error = self.run.step.error
        if error is not None:
            raise error

    def hand_logs(self, iteration: TaskResource) -> None:
        """Give the lines that were written to the step that asks now."""
        logs = self.run.step.logs
        while logs:
            iteration.ctx.run.step.logs.append(logs.popleft())


class Prefetcher(_Waiting):
    """The elements of a pipeline, of which a thread makes up to `room` ahead.

    Args:
      name: of the iterator.
      iteration: of whoever takes the elements.
      inner: of the pipeline.
      items: the pipeline.
      room: how many elements may wait to be taken.
    """

    def __init__(
        self,
        name: str,
        iteration: TaskResource,
        inner: TaskResource,
        items: PythonIterator[TensorValue],
        room: int,
    ) -> None:
        super().__init__(name)
        self._iteration, self._inner, self._items, self._room = iteration, inner, items, room
        self._pool = ThreadPool(1)
        self._context = inner.ctx = _Context(iteration, self._pool)
        self._made: deque[Any] = deque()
        self._runs = self._is_held = False
        self._error: BaseException | None = None
        self._asked = monotonic()  # when somebody asked last

    def take(self) -> TensorValue:
        """Return the next item, None if it is not there yet; what the pipeline raised is raised."""
        self._asked = monotonic()
        with self.lock:
            item = self._made.popleft() if self._made else None
            begins = not self._runs and not self._is_held and len(self._made) <= self._room // 2
            self._runs = self._runs or begins
        if begins:
            self._pool.submit(self._make)
        if self._context.run.step.logs:
            self._context.hand_logs(self._iteration)
        if item is END and self._error is not None:
            raise self._error
        return item

    def next_wait(self) -> ElementWait:
        """Return the wait for the next item."""
        return ElementWait(self)

    def go_on(self, outcome: Outcome) -> None:
        """Go on with the outcome of a wait that was taken."""
        self._inner.outcome = outcome
        self._is_held = False

    def stop(self) -> None:
        """Make nothing more."""
        self._pool.stop()

    def is_there(self) -> bool:
        """See `_Waiting`."""
        return bool(self._made)

    def describe(self) -> str:
        """See `_Waiting`."""
        return f"an element of iterator {self._name!r}, which a thread makes"

    def _make(self) -> None:
        """Make items until there is no room, or one has to be waited for."""
        while True:
            item = self._following()
            if item is TICK and not self._is_left():
                continue
            with self.lock:
                if item is not TICK:
                    self._made.append(item)
                is_element = item.__class__ is tuple or item.__class__ is Failure
                self._is_held = not is_element and item is not TICK
                self._runs = (
                    is_element and len(self._made) < self._room and not self._pool.is_stopped
                )
                wait, goes_on = self.take_wait(), self._runs
            if wait is not None:
                wait.finish()
            if not goes_on:
                return

    def _following(self) -> TensorValue:
        try:
            return next(self._items, END)
        except BaseException as error:  # whoever takes it is told
            self._error = error
            return END

    def _is_left(self) -> bool:
        """Return whether nobody has asked for long, or will."""
        is_alone = self.wait is None and monotonic() - self._asked > _ALONE
        return is_alone or self._context.run.step.error is not None


class Calls:
    """Calls of a function of which up to `count` run at a time.

    Args:
      name: of the iterator.
      iteration: of whoever takes the results.
      function: a `Function`.
      count: number of threads.
    """

    def __init__(
        self, name: str, iteration: TaskResource, function: TaskResource, count: int
    ) -> None:
        self.name, self._iteration, self._function = name, iteration, function
        self._pool = ThreadPool(count)
        self._context = _Context(iteration, self._pool)
        self._free: deque[Any] = deque()  # bound functions: each serves one thread at a time

    def begin(self, element: TensorValue) -> Job:
        """Begin a call."""
        job = Job(self, element)
        self._pool.submit(job.run)
        return job

    def taken(self, job: Job) -> TensorValue:
        """Return the result of a call that has ended."""
        if self._context.run.step.logs:
            self._context.hand_logs(self._iteration)
        return job.result

    def call(self, element: TensorValue) -> TensorValue:
        """Return the results of the function, or a Failure."""
        try:
            bound = self._free.pop()
        except IndexError:
            inner = self._iteration.inner()
            inner.ctx = self._context
            bound = self._function.bound(inner)
        try:
            return bound.now(element)
        finally:
            self._free.append(bound)

    def stop(self) -> None:
        """Begin no more calls."""
        self._pool.stop()


class Job(_Waiting):
    """A call that was begun.

    Attributes:
      result: what it gave, or a Failure; None as long as it runs.
    """

    def __init__(self, calls: Calls, element: TensorValue) -> None:
        super().__init__(calls.name)
        self._calls, self._element = calls, element
        self.result: Any = None

    def run(self) -> None:
        """Make the call, on some thread."""
        try:
            result = self._calls.call(self._element)
        except BaseException as error:
            result = Failure(error)
        with self.lock:
            self.result = result
            wait = self.take_wait()
        if wait is not None:
            wait.finish()

    def next_wait(self) -> ElementWait:
        """Return the wait for the result."""
        return ElementWait(self)

    def is_there(self) -> bool:
        """See `_Waiting`."""
        return self.result is not None

    def describe(self) -> str:
        """See `_Waiting`."""
        return f"an element of iterator {self._name!r}, on which a thread calls a function"


class Threads:
    """What makes threads for the pipeline of an iterator of that name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def prefetcher(
        self,
        iteration: TaskResource,
        inner: TaskResource,
        items: PythonIterator[TensorValue],
        room: int,
    ) -> Prefetcher:
        """See `Prefetcher`."""
        return Prefetcher(self._name, iteration, inner, items, room)

    def calls(self, iteration: TaskResource, function: TaskResource, count: int) -> Calls:
        """See `Calls`."""
        return Calls(self._name, iteration, function, count)
