"""The synchronous driver: a step on the thread that asked for it, which sleeps meanwhile."""

from __future__ import annotations

import threading
import time
from contextlib import nullcontext

import numpy as np

from tfdist.runtime.devices.denormals import FLUSHED
from tfdist.runtime.devices.kernel_threads import ThreadTuner, Tuned
from tfdist.runtime.step.interrupts import LOOK_UP, deferred_interrupts, interruption
from tfdist.runtime.step.step import Step

_AT_ONCE = nullcontext()  # Ctrl-C is raised where it happens to be


def drive(step: Step, interruptible: bool, tuner: ThreadTuner | None = None) -> None:
    """Run a step on this thread until every partition has ended.

    Args:
      step: what to run.
      interruptible: whether Ctrl-C has to wait for a moment at which nothing is lost.
      tuner: chooses the number of threads; None if no kernel takes several.

    Raises:
      OpError: what a kernel raised, or why the step was stopped.
      KeyboardInterrupt: Ctrl-C.
    """
    driver = _Thread(step)
    if tuner is None:
        driver.run(interruptible)
        return
    tuned = Tuned(tuner)
    with tuned:
        driver.run(interruptible)
    tuned.record(driver.idle)


class _Thread:
    """A thread that runs a step and sleeps now and then (a `runtime.step.step.Driver`).

    Attributes:
      idle: seconds in which it only waited for others.
    """

    __slots__ = ("_asleep", "_step", "idle")

    def __init__(self, step: Step) -> None:
        self._step = step
        self._asleep = threading.Lock()  # released by whoever wakes it
        self._asleep.acquire()
        self.idle = 0.0
        step.driver = self

    def run(self, interruptible: bool) -> None:
        """Run the step; see `drive`."""
        step = self._step
        try:
            with (
                np.errstate(all="ignore"),
                FLUSHED,
                deferred_interrupts(self._interrupt) if interruptible else _AT_ONCE,
            ):
                while not step.advance():
                    self._sleep()
        except BaseException as error:
            step.error = step.error or error
        finally:
            step.conclude()
        if step.error is not None:
            raise step.taken_error()

    def wake(self) -> None:
        """See `Driver.wake`."""
        try:
            self._asleep.release()
        except RuntimeError:
            pass  # it is awake already

    def wake_later(self, seconds: float) -> None:
        """See `Driver.wake_later`; it sleeps until `Step.until` at most."""

    def _interrupt(self) -> None:
        self._step.abort(interruption())

    def _sleep(self) -> None:
        """Wait until something is ready, for a while; a passed deadline ends the step."""
        step, started = self._step, time.monotonic()
        until = step.until
        left = LOOK_UP if until is None else until - started
        woken = left > 0 and self._asleep.acquire(timeout=min(left, LOOK_UP))
        if not step.units_on_threads:
            self.idle += time.monotonic() - started
        if not woken and left <= LOOK_UP and step.deadline is not None and not step.ready:
            step.time_out()
