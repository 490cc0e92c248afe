"""Hooks that look at the global step: they stop, wait, and measure; and the timer of hooks.

Source: TF 1.15 API documentation, tf.estimator.StopAtStepHook, StepCounterHook,
GlobalStepWaiterHook, SecondOrStepTimer.
"""

from __future__ import annotations

import logging
import time
from typing import Any

from tfdist.protos import pb
from tfdist.training.events.file_writer import FileWriterCache
from tfdist.training.global_step import get_global_step, global_step_read
from tfdist.training.sessions.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)

__all__ = ["GlobalStepWaiterHook", "SecondOrStepTimer", "StepCounterHook", "StopAtStepHook"]

WAIT = 0.5  # seconds between two looks at the global step
REMINDER = 1000  # steps after which a waiting hook says how far they have come
MOST_TOLD = 5  # steps that did not count

_LOG = logging.getLogger("tensorflow")


def needed_global_step(hook: Any) -> Any:
    """Return what reads the global step of the default graph before a step adds to it.

    Raises:
      RuntimeError: there is none.
    """
    found = get_global_step()
    if found is None:
        raise RuntimeError(f"Global step should be created to use {type(hook).__name__}.")
    return global_step_read(found)


class SecondOrStepTimer:
    """Says when it is time again: every so many seconds or steps, and at the first time.

    Args:
      every_secs: seconds between two times.
      every_steps: steps between two times.

    Raises:
      ValueError: both are given, or none.

    Example:
      >>> timer = SecondOrStepTimer(every_steps=3)
      >>> timer.should_trigger_for_step(1), timer.update_last_triggered_step(1)
      (True, (None, None))
      >>> [timer.should_trigger_for_step(step) for step in (1, 2, 3, 4)]
      [False, False, False, True]
    """

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        self._every_secs, self._every_steps = every_secs, every_steps
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self.reset()

    def reset(self) -> None:
        """Forget when it was last time."""
        self._last_step: int | None = None
        self._last_time = 0.0

    def should_trigger_for_step(self, step: int) -> bool:
        """Return whether it is time at a step; never twice at the same one."""
        if self._last_step is None:
            return True
        if step == self._last_step:
            return False
        if self._every_secs is not None:
            return time.monotonic() >= self._last_time + self._every_secs
        assert self._every_steps is not None
        return step >= self._last_step + self._every_steps

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Note that it was time at a step; return seconds and steps since the time before."""
        now, last, before = time.monotonic(), self._last_step, self._last_time
        self._last_step, self._last_time = step, now
        return (None, None) if last is None else (now - before, step - last)

    def last_triggered_step(self) -> int | None:
        """Return the step at which it was last time; None at the beginning."""
        return self._last_step


class NeverTriggerTimer:
    """A timer by which it is never time."""

    def reset(self) -> None:
        """Do nothing."""

    def should_trigger_for_step(self, step: int) -> bool:
        """Return False."""
        return False

    def update_last_triggered_step(self, step: int) -> tuple[None, None]:
        """Return that there was no time before."""
        return None, None

    def last_triggered_step(self) -> None:
        """Return None: it was never time."""


class StopAtStepHook(SessionRunHook):
    """Stops when the global step has come so far.

    Args:
      num_steps: steps after that at which the session began.
      last_step: the step itself.

    Raises:
      ValueError: both are given, or none.

    Example:
      >>> train = assign_add(create_global_step(), 1)
      >>> with MonitoredSession(hooks=[StopAtStepHook(num_steps=2)]) as session:
      ...     while not session.should_stop():
      ...         print(session.run(train))
      1
      2
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps, self._last_step = num_steps, last_step

    def begin(self) -> None:
        """Find the global step."""
        self._global_step = needed_global_step(self)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Note where the steps begin; a recovery does not change that."""
        if self._last_step is None:
            self._last_step = int(session.run(self._global_step)) + (self._num_steps or 0)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the global step."""
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Stop if it is far enough; what came with the run may be of before its update."""
        last: Any = self._last_step
        if run_values.results + 1 >= last and run_context.session.run(self._global_step) >= last:
            run_context.request_stop()


class StepCounterHook(SessionRunHook):
    """Logs how many global steps pass in a second, and writes it as a summary.

    Args:
      every_n_steps: steps between two lines.
      every_n_secs: seconds between two lines.
      output_dir: folder for summaries.
      summary_writer: FileWriter, instead of a folder.

    Raises:
      ValueError: steps and seconds are given, or none.

    Example:
      >>> count = assign_add(create_global_step(), 1)
      >>> with MonitoredSession(hooks=[StepCounterHook(every_n_steps=100)]) as session:
      ...     session.run(count)
      np.int64(1)
    """

    def __init__(
        self,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: Any = None,
    ) -> None:
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_n_secs, every_n_steps)
        self._output_dir, self._writer = output_dir, summary_writer
        self._last_stale: int | None = None
        self._told = 0  # steps that did not count

    def begin(self) -> None:
        """Find the global step and the writer."""
        self._global_step = needed_global_step(self)
        if self._writer is None and self._output_dir:
            self._writer = FileWriterCache.get(self._output_dir)
        self._tag = f"{get_global_step().op.name}/sec"

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Forget the last step: a recovery may have gone back."""
        self._last_stale = None

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the global step."""
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Tell the speed, if it is time."""
        stale = int(run_values.results)
        if not self._timer.should_trigger_for_step(stale + 1):
            return
        step = int(run_context.session.run(self._global_step))
        if self._timer.should_trigger_for_step(step):
            seconds, steps = self._timer.update_last_triggered_step(step)
            if seconds is not None:
                self._log_and_record(steps, seconds, step)
        self._look_whether_it_counts(stale)

    def _log_and_record(self, elapsed_steps: Any, elapsed_time: float, global_step: int) -> None:
        """Tell the speed; subclasses may tell it elsewhere."""
        speed = elapsed_steps / elapsed_time if elapsed_time else float("inf")
        if self._writer is not None:
            value = pb.Summary.Value(tag=self._tag, simple_value=speed)
            self._writer.add_summary(pb.Summary(value=[value]), global_step)
        _LOG.info("%s: %g", self._tag, speed)

    def _look_whether_it_counts(self, stale: int) -> None:
        if stale == self._last_stale and self._told < MOST_TOLD:
            self._told += 1
            _LOG.warning(
                "The global step stays %d: was the optimizer given it, as in "
                "minimize(loss, global_step=tf.train.get_global_step())?",
                stale,
            )
        self._last_stale = stale


class GlobalStepWaiterHook(SessionRunHook):
    """Lets a worker wait with its first step until the others have come so far.

    Args:
      wait_until_step: the global step that it waits for.

    Example:
      >>> count = assign_add(create_global_step(), 1)
      >>> with MonitoredSession(hooks=[GlobalStepWaiterHook(wait_until_step=0)]) as session:
      ...     session.run(count)
      np.int64(1)
    """

    def __init__(self, wait_until_step: int) -> None:
        self._wait_until_step = wait_until_step
        self._has_started = wait_until_step <= 0
        self._coordinator: Any = None

    def begin(self) -> None:
        """Find the global step."""
        self._global_step = needed_global_step(self)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Keep what may end the wait."""
        self._coordinator = coord

    def before_run(self, run_context: SessionRunContext) -> None:
        """Wait before the first run."""
        if self._has_started:
            return
        wanted, told = self._wait_until_step, 0
        _LOG.info("Waiting for global step %d before starting training.", wanted)
        while (step := int(run_context.session.run(self._global_step))) < wanted:
            if step - told >= REMINDER:
                _LOG.info(
                    "Waiting for global step %d before starting training. Current step is %d.",
                    wanted, step,
                )  # fmt: skip
                told = step
            if self._coordinator is not None and self._coordinator.wait_for_stop(WAIT):
                return
        self._has_started = True
