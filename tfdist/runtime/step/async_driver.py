"""Asynchronous steps: no thread waits for them; they are resumed when something is ready.

Steps that other processes ask for run so: a thousand of them that are blocked cost no thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import Protocol

import numpy as np

from tfdist.errors import UnknownError
from tfdist.runtime.devices.kernel_threads import ThreadTuner, Tuned
from tfdist.runtime.step.step import Step

_AS_IT_IS = nullcontext()  # the number of threads


class Runner(Protocol):
    """What resumes the steps that have no thread of their own."""

    def submit(self, function: Callable[[], None], is_light: bool) -> None:
        """Call `function` soon: on a thread that others wait for if it is light."""

    def later(self, seconds: float, function: Callable[[], None]) -> Callable[[], None]:
        """Call `function` after a while; returns what calls that off."""


def drive_async(
    step: Step,
    runner: Runner,
    ended: Callable[[BaseException | None], None],
    is_light: bool,
    tuner: ThreadTuner | None = None,
) -> None:
    """Run a step until every partition has ended, without a thread that waits.

    Args:
      step: what to run.
      runner: resumes the step when something is ready.
      ended: called once, on some thread, with what `driver.drive` would raise.
      is_light: whether this thread may run what is ready now, for it is little.
      tuner: chooses the number of threads; None if no kernel takes several.
    """
    _AsyncDriver(step, runner, ended, is_light, tuner).begin()


class _AsyncDriver:
    """Whichever thread a runner lends a step for a while (a `runtime.step.step.Driver`)."""

    def __init__(
        self,
        step: Step,
        runner: Runner,
        ended: Callable[[BaseException | None], None],
        is_light: bool,
        tuner: ThreadTuner | None,
    ) -> None:
        self._step, self._runner, self._is_light = step, runner, is_light
        self._ended = ended
        self._tuned = None if tuner is None else Tuned(tuner)
        self._turns = threading.Lock()  # held by whoever resumes the step
        self._nudged = False  # something happened that is not on the ready list
        self._call_off: Callable[[], None] | None = None

    def begin(self) -> None:
        """Run what is ready at first, here if that is little."""
        step = self._step
        self._turns.acquire()
        step.driver = self
        if step.timeout is not None:
            step.deadline = None  # there is a timer instead
            self._call_off = self._runner.later(step.timeout, self._time_out)
        if self._is_light:
            self._resume()
        else:
            self._runner.submit(self._resume, False)

    def wake(self) -> None:
        """See `Driver.wake`."""
        self._nudged = True
        if self._turns.acquire(blocking=False):
            is_light = self._is_light and not self._step.took_large_input
            self._runner.submit(self._resume, is_light)

    def wake_later(self, seconds: float) -> None:
        """See `Driver.wake_later`."""
        self._runner.later(seconds, self.wake)

    def _time_out(self) -> None:
        # not here: who calls may not be kept waiting while other processes are asked
        self._runner.submit(self._step.time_out, False)

    def _resume(self) -> None:
        """Run what is ready; who comes here holds `_turns`."""
        step = self._step
        while True:
            self._nudged = False
            with np.errstate(all="ignore"), self._tuned or _AS_IT_IS:
                is_over = self._advance()
            if is_over:
                self._end()
                return
            self._turns.release()
            if not (step.ready or self._nudged) or not self._turns.acquire(blocking=False):
                return

    def _advance(self) -> bool:
        """Advance the step; returns whether it is over."""
        try:
            return self._step.advance()
        except BaseException as error:  # no thread waits for it that this would reach
            told = UnknownError(f"the step was ended by {type(error).__name__}: {error}")
            self._step.error = self._step.error or told
            return True

    def _end(self) -> None:
        if self._call_off is not None:
            self._call_off()
            self._call_off = None  # it has the timer, which has this driver
        if self._tuned is not None:
            self._tuned.record()
        step = self._step
        step.conclude()
        self._ended(None if step.error is None else step.taken_error())
