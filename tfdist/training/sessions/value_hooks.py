"""Hooks that look at values: they log them, guard them, feed them, and ask for the last ones.

Source: TF 1.15 API documentation, tf.estimator.LoggingTensorHook, NanTensorHook, FinalOpsHook,
FeedFnHook.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tfdist.errors import OutOfRangeError
from tfdist.graph import scopes
from tfdist.graph.operation import Operation
from tfdist.training.sessions.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tfdist.training.sessions.step_hooks import NeverTriggerTimer, SecondOrStepTimer

__all__ = [
    "FeedFnHook", "FinalOpsHook", "LoggingTensorHook", "NanLossDuringTrainingError",
    "NanTensorHook",
]  # fmt: skip

_LOG = logging.getLogger("tensorflow")


class LoggingTensorHook(SessionRunHook):
    """Logs values of tensors, with severity INFO.

    Args:
      tensors: tensors or names of tensors: a list, or by what they are called in the log.
      every_n_iter: runs between two lines.
      every_n_secs: seconds between two lines.
      at_end: whether there is one at the end.
      formatter: function from values by name to a line.

    Raises:
      ValueError: runs and seconds are given; or neither, and nothing at the end.

    Example:
      >>> loss = constant(0.5, name="loss")
      >>> hook = LoggingTensorHook({"loss": "loss:0"}, every_n_iter=10)
      >>> with MonitoredSession(hooks=[hook]) as session:
      ...     session.run(loss)
      np.float32(0.5)
    """

    def __init__(
        self,
        tensors: Mapping[str, Any] | Sequence[Any],
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[dict[Any, Any]], str] | None = None,
    ) -> None:
        has_no_interval = every_n_iter is None and every_n_secs is None
        if (has_no_interval and not at_end) or None not in (every_n_iter, every_n_secs):
            raise ValueError(
                "either at_end and/or exactly one of every_n_iter and every_n_secs must be "
                "provided."
            )
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        self._tensors = (
            tensors if isinstance(tensors, Mapping) else {each: each for each in tensors}
        )
        self._at_end, self._formatter = at_end, formatter
        self._timer: Any = (
            NeverTriggerTimer()
            if has_no_interval
            else SecondOrStepTimer(every_n_secs, every_n_iter)
        )

    def begin(self) -> None:
        """Find the tensors in the default graph."""
        graph = scopes.get_default_graph()
        self._timer.reset()
        self._count = 0
        self._current_tensors = {
            name: _tensor(graph.as_graph_element(each)) for name, each in self._tensors.items()
        }

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Ask for the values, if it is time."""
        self._should_trigger = self._timer.should_trigger_for_step(self._count)
        return SessionRunArgs(self._current_tensors) if self._should_trigger else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Log the values, if they were asked for."""
        if self._should_trigger:
            self._log_tensors(run_values.results)
        self._count += 1

    def end(self, session: Any) -> None:
        """Log the last values."""
        if self._at_end:
            self._log_tensors(session.run(self._current_tensors))

    def _log_tensors(self, values: dict[Any, Any]) -> None:
        seconds, _ = self._timer.update_last_triggered_step(self._count)
        if self._formatter:
            _LOG.info("%s", self._formatter(values))
            return
        with np.printoptions(suppress=True):
            line = ", ".join(f"{name} = {values[name]}" for name in self._tensors)
        _LOG.info("%s", line if seconds is None else f"{line} ({seconds:.3f} sec)")


def _tensor(found: Any) -> Any:
    """Return what a name in a log stands for: of an operation, its first output."""
    return found.outputs[0] if isinstance(found, Operation) and found.outputs else found


class NanLossDuringTrainingError(RuntimeError):
    """The loss is no number any more.

    Example:
      >>> loss = constant(float("nan"))
      >>> with MonitoredSession(hooks=[NanTensorHook(loss)]) as session:
      ...     session.run(loss)
      Traceback (most recent call last):
      tfdist.training.sessions.value_hooks.NanLossDuringTrainingError: NaN loss during training.
    """

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Stops when a loss is no number any more.

    Args:
      loss_tensor: the loss.
      fail_on_nan_loss: whether it is an error, and not only the end.

    Example:
      >>> loss = constant(0.5)
      >>> with MonitoredSession(hooks=[NanTensorHook(loss)]) as session:
      ...     session.run(loss)
      np.float32(0.5)
    """

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True) -> None:
        self._loss_tensor, self._fail_on_nan_loss = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the loss."""
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Look at the loss.

        Raises:
          NanLossDuringTrainingError: it is no number, and that was to be an error.
        """
        if not np.isnan(run_values.results).any():
            return
        if self._fail_on_nan_loss:
            _LOG.error("Model diverged with loss = NaN.")
            raise NanLossDuringTrainingError
        _LOG.warning("Model diverged with loss = NaN.")
        run_context.request_stop()


class FinalOpsHook(SessionRunHook):
    """Runs something at the end, and keeps what that gives.

    Args:
      final_ops: as the fetches of `Session.run`; None for nothing.
      final_ops_feed_dict: feeds for them.

    Example:
      >>> step = create_global_step()
      >>> hook = FinalOpsHook({"steps": step})
      >>> with MonitoredSession(hooks=[hook]) as session:
      ...     _ = session.run(step)
      >>> hook.final_ops_values
      {'steps': np.int64(0)}
    """

    def __init__(self, final_ops: Any, final_ops_feed_dict: Any = None) -> None:
        self._final_ops, self._feeds = final_ops, final_ops_feed_dict
        self._values: Any = None

    @property
    def final_ops_values(self) -> Any:
        """Return the values; None before the end."""
        return self._values

    def end(self, session: Any) -> None:
        """Run `final_ops`, whose values are kept.

        Raises:
          OpError: they failed.
        """
        if self._final_ops is None:
            return
        try:
            self._values = session.run(self._final_ops, feed_dict=self._feeds)
        except (OutOfRangeError, StopIteration):
            _LOG.warning(
                "What FinalOpsHook runs at the end has come to the end of the data itself: it "
                "takes another element of the input. Let it depend on variables only, such as the "
                "value of a metric, and not on the update."
            )
            raise


class FeedFnHook(SessionRunHook):
    """Feeds each run with what a function returns.

    Args:
      feed_fn: function without arguments, which returns a feed_dict.

    Example:
      >>> x = placeholder(float32, [])
      >>> with MonitoredSession(hooks=[FeedFnHook(lambda: {x: 2.0})]) as session:
      ...     session.run(x)
      np.float32(2.0)
    """

    def __init__(self, feed_fn: Callable[[], Any]) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask the function."""
        return SessionRunArgs(None, feed_dict=self.feed_fn())
