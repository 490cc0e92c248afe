"""Hooks that end a training early: because of its metrics, or of a checkpoint.

Source: TF 1.15 API documentation, tf.estimator.experimental.stop_if_lower_hook and those beside it.
"""

from __future__ import annotations

import glob
import logging
import operator
import os
from collections.abc import Callable, Iterator
from typing import Any

from tfdist.base import dtypes
from tfdist.formats.events import summary_iterator
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.initializers import constant_initializer
from tfdist.ops.variables.state_ops import assign
from tfdist.ops.variables.variable_scope import AUTO_REUSE, variable_scope
from tfdist.training.global_step import get_or_create_global_step
from tfdist.training.saving.checkpoint_utils import load_variable, wait_for_new_checkpoint
from tfdist.training.sessions.session_run_hook import SessionRunArgs, SessionRunHook
from tfdist.training.sessions.step_hooks import SecondOrStepTimer, StopAtStepHook

__all__ = [
    "make_early_stopping_hook", "make_stop_at_checkpoint_step_hook", "stop_if_higher_hook",
    "stop_if_lower_hook", "stop_if_no_decrease_hook", "stop_if_no_increase_hook",
]  # fmt: skip

_LOG = logging.getLogger("tensorflow")


def make_early_stopping_hook(
    estimator: Any,
    should_stop_fn: Callable[[], bool],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Return a hook that ends the training of all workers when a function says so to the chief.

    Args:
      estimator: Estimator.
      should_stop_fn: says whether it is the end.
      run_every_secs: seconds between two calls.
      run_every_steps: global steps between two calls, instead.

    Raises:
      TypeError: there is no estimator.
      ValueError: seconds and steps are given, or neither.
    """
    if not hasattr(estimator, "config"):
        raise TypeError(f"`estimator` must have type `tf.estimator.Estimator`. Got: {estimator!r}")
    if (run_every_secs is None) == (run_every_steps is None):
        raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
    if estimator.config.is_chief:
        return _Deciding(should_stop_fn, SecondOrStepTimer(run_every_secs, run_every_steps))
    return _Following()


def _stop_variable() -> Any:
    """Return the variable that says to all workers whether it is the end."""
    with variable_scope("signal_early_stopping", reuse=AUTO_REUSE):
        return get_variable(
            "STOP", [], dtypes.bool_, constant_initializer(False), trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES],
        )  # fmt: skip


class _Deciding(SessionRunHook):
    """The chief's hook: asks a function now and then, and tells all workers."""

    def __init__(self, should_stop: Callable[[], bool], timer: SecondOrStepTimer) -> None:
        self._should_stop, self._timer = should_stop, timer

    def begin(self) -> None:
        """Make the variable."""
        self._step = get_or_create_global_step()
        self._stop = assign(_stop_variable(), True)

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Ask for the global step."""
        return SessionRunArgs(self._step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Ask the function, if it is time."""
        step = int(run_values.results)
        if not self._timer.should_trigger_for_step(step):
            return
        self._timer.update_last_triggered_step(step)
        if self._should_stop():
            _LOG.info("Requesting early stopping at global step %d", step)
            run_context.session.run(self._stop)
            run_context.request_stop()


class _Following(SessionRunHook):
    """The hook of the others: ends with the chief."""

    def begin(self) -> None:
        """Make the variable."""
        self._stop = _stop_variable()

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Ask for the variable."""
        return SessionRunArgs(self._stop)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Stop, if the chief has said so."""
        if run_values.results:
            _LOG.info("Early stopping requested, suspending run.")
            run_context.request_stop()


def metrics_by_step(folder: str) -> dict[int, dict[str, float]]:
    """Return the numbers in the summaries of a folder by global step, in the order of the steps."""
    found: dict[int, dict[str, float]] = {}
    for step, tag, value in _numbers(folder):
        found.setdefault(step, {})[tag] = value
    return dict(sorted(found.items()))


def _numbers(folder: str) -> Iterator[tuple[int, str, float]]:
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.tfevents.*"))):
        for event in summary_iterator(path):
            for value in event.summary.value:
                if value.HasField("simple_value"):
                    yield event.step, value.tag, value.simple_value


def _hook_on(
    estimator: Any, eval_dir: str | None, min_steps: int, every: tuple[Any, Any],
    decides: Callable[[list[tuple[int, dict[str, float]]]], bool],
) -> SessionRunHook:  # fmt: skip
    """Return a hook that ends training when the metrics after some steps say so."""
    folder = eval_dir or estimator.eval_dir()

    def should_stop() -> bool:
        found = [pair for pair in metrics_by_step(folder).items() if pair[0] >= min_steps]
        return decides(found)

    return make_early_stopping_hook(estimator, should_stop, *every)


def _threshold(symbol: str, beyond: Callable[[Any, Any], bool]) -> Callable[..., SessionRunHook]:
    def stop_hook(
        estimator: Any,
        metric_name: str,
        threshold: float,
        eval_dir: str | None = None,
        min_steps: int = 0,
        run_every_secs: float | None = 60,
        run_every_steps: int | None = None,
    ) -> SessionRunHook:
        def decides(found: list[tuple[int, dict[str, float]]]) -> bool:
            for step, metrics in found:
                if beyond(metrics[metric_name], threshold):
                    _LOG.info(
                        'At step %s, metric "%s" has value %s which is %s the configured '
                        "threshold (%s) for early stopping.",
                        step, metric_name, metrics[metric_name], symbol, threshold,
                    )  # fmt: skip
                    return True
            return False

        return _hook_on(estimator, eval_dir, min_steps, (run_every_secs, run_every_steps), decides)

    stop_hook.__doc__ = f"""Return a hook that ends training when a metric is {symbol} a threshold.

    Args:
      estimator: Estimator.
      metric_name: of an evaluation.
      threshold: of the metric.
      eval_dir: folder of the evaluation's summaries; the estimator's by default.
      min_steps: the global step before which nothing ends.
      run_every_secs: seconds between two looks.
      run_every_steps: global steps between two looks, instead.
    """
    return stop_hook


stop_if_higher_hook = _threshold("higher than", operator.gt)
stop_if_lower_hook = _threshold("lower than", operator.lt)


def _standstill(what: str, better: Callable[[Any, Any], bool]) -> Callable[..., SessionRunHook]:
    def stop_hook(
        estimator: Any,
        metric_name: str,
        max_steps_without: int,
        eval_dir: str | None = None,
        min_steps: int = 0,
        run_every_secs: float | None = 60,
        run_every_steps: int | None = None,
    ) -> SessionRunHook:
        def decides(found: list[tuple[int, dict[str, float]]]) -> bool:
            best, since = None, 0
            for step, metrics in found:
                value = metrics[metric_name]
                if best is None or better(value, best):
                    best, since = value, step
                elif step - since >= max_steps_without:
                    _LOG.info(
                        'No %s in metric "%s" for %s steps, which is greater than or equal to max '
                        "steps (%s) configured for early stopping.",
                        what, metric_name, step - since, max_steps_without,
                    )  # fmt: skip
                    return True
            return False

        return _hook_on(estimator, eval_dir, min_steps, (run_every_secs, run_every_steps), decides)

    stop_hook.__doc__ = f"""Return a hook that ends training when a metric shows no {what} any more.

    Args:
      estimator: Estimator.
      metric_name: of an evaluation.
      max_steps_without: how many global steps it may take.
      eval_dir: folder of the evaluation's summaries; the estimator's by default.
      min_steps: the global step before which nothing ends.
      run_every_secs: seconds between two looks.
      run_every_steps: global steps between two looks, instead.
    """
    return stop_hook


_no_decrease = _standstill("decrease", operator.lt)
_no_increase = _standstill("increase", operator.gt)


def stop_if_no_decrease_hook(
    estimator: Any, metric_name: str, max_steps_without_decrease: int, *others: Any, **options: Any
) -> SessionRunHook:
    """Return a hook that ends training when a metric has not fallen for some steps.

    Args:
      estimator: Estimator.
      metric_name: of an evaluation.
      max_steps_without_decrease: how many global steps it may take.
      others: eval_dir, min_steps, run_every_secs and run_every_steps: see `stop_if_lower_hook`.
      options: the same, by name.
    """
    return _no_decrease(estimator, metric_name, max_steps_without_decrease, *others, **options)


def stop_if_no_increase_hook(
    estimator: Any, metric_name: str, max_steps_without_increase: int, *others: Any, **options: Any
) -> SessionRunHook:
    """Return a hook that ends training when a metric has not risen for some steps.

    Args:
      estimator: Estimator.
      metric_name: of an evaluation.
      max_steps_without_increase: how many global steps it may take.
      others: eval_dir, min_steps, run_every_secs and run_every_steps: see `stop_if_lower_hook`.
      options: the same, by name.
    """
    return _no_increase(estimator, metric_name, max_steps_without_increase, *others, **options)


def make_stop_at_checkpoint_step_hook(
    estimator: Any, last_step: int, wait_after_file_check_secs: float = 30
) -> SessionRunHook:
    """Return a hook for workers that go on until a checkpoint of the last step is there.

    Args:
      estimator: Estimator.
      last_step: global step.
      wait_after_file_check_secs: seconds at most until the next look at the folder.
    """
    if estimator.config.is_chief:
        return StopAtStepHook(last_step=last_step)
    return _UntilCheckpoint(estimator.model_dir, last_step, wait_after_file_check_secs)


class _UntilCheckpoint(SessionRunHook):
    """Ends when a checkpoint of the last step is there."""

    def __init__(self, folder: str, last_step: int, patience: float) -> None:
        self._folder, self._last_step, self._patience = folder, last_step, patience

    def begin(self) -> None:
        """Find the global step."""
        self._step = get_or_create_global_step()

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Ask for the global step."""
        return SessionRunArgs(self._step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Wait for the checkpoint after the last step; stop when it is there."""
        if int(run_values.results) + 1 < self._last_step:
            return
        path = wait_for_new_checkpoint(self._folder, timeout=self._patience)
        if path and int(load_variable(path, "global_step")) >= self._last_step:
            run_context.request_stop()
