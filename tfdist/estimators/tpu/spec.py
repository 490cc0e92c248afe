"""TPUEstimatorSpec: what a model function of tf.contrib.tpu returns.

Source: TF 1.15 API documentation, tf.contrib.tpu.TPUEstimatorSpec; messages by experiment.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tfdist.estimators.estimator_spec import EstimatorSpec
from tfdist.training.sessions.session_run_hook import SessionRunArgs, SessionRunHook

__all__ = ["TPUEstimatorSpec"]


class _Fields(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metrics: Any
    export_outputs: Any
    scaffold_fn: Any
    host_call: Any
    training_hooks: Any
    evaluation_hooks: Any
    prediction_hooks: Any


class TPUEstimatorSpec(_Fields):
    """What a model function returns; metrics and summaries as functions and their tensors.

    Args:
      mode: one of `tf.estimator.ModeKeys`.
      predictions: as the rest: see `tf.estimator.EstimatorSpec`.
      eval_metrics: (function, tensors): a list, or a dict by name; it returns a dict of metrics.
      scaffold_fn: function that returns a Scaffold.
      host_call: (function, tensors), as `eval_metrics`; it returns what is run in each step.

    Raises:
      ValueError: something is missing, or is no function and its tensors.
      TypeError: what should be a function is none.
      RuntimeError: a function takes another number of tensors.

    Example:
      >>> def middles(values):
      ...     return {"middle": metrics.mean(values)}
      >>> given = middles, [constant([1.0, 3.0])]
      >>> spec = contrib.tpu.TPUEstimatorSpec("eval", loss=constant(1.0), eval_metrics=given)
      >>> spec.as_estimator_spec().eval_metric_ops.keys()
      dict_keys(['middle'])
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metrics: Any = None,
        export_outputs: Any = None,
        scaffold_fn: Any = None,
        host_call: Any = None,
        training_hooks: Any = None,
        evaluation_hooks: Any = None,
        prediction_hooks: Any = None,
    ) -> TPUEstimatorSpec:
        """Return a spec, checked."""
        _check_call("eval_metrics", eval_metrics)
        _check_call("host_call", host_call)
        checked = EstimatorSpec(
            mode, predictions, loss, train_op, export_outputs=export_outputs,
            training_hooks=training_hooks, evaluation_hooks=evaluation_hooks,
            prediction_hooks=prediction_hooks,
        )  # fmt: skip
        return super().__new__(
            cls, mode, predictions, checked.loss, train_op, eval_metrics, export_outputs,
            scaffold_fn, host_call, checked.training_hooks, checked.evaluation_hooks,
            checked.prediction_hooks,
        )  # fmt: skip

    def as_estimator_spec(self) -> EstimatorSpec:
        """Return an EstimatorSpec: the functions are called, and `host_call`'s run in each step."""
        metrics = self.eval_metrics and _called(self.eval_metrics)
        host = [_EachStep(_called(self.host_call))] if self.host_call else []
        return EstimatorSpec(
            self.mode, self.predictions, self.loss, self.train_op, metrics, self.export_outputs,
            training_hooks=[*self.training_hooks, *host],
            scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            evaluation_hooks=[*self.evaluation_hooks, *host],
            prediction_hooks=[*self.prediction_hooks, *host],
        )  # fmt: skip


class _EachStep(SessionRunHook):
    """Runs something with each step."""

    def __init__(self, fetches: Any) -> None:
        self._fetches = fetches

    def before_run(self, run_context: Any) -> SessionRunArgs | None:
        """Return a request for the fetches, None if there are none."""
        return None if self._fetches is None else SessionRunArgs(self._fetches)


def _called(given: tuple[Callable[..., Any], Any]) -> Any:
    function, tensors = given
    return function(**tensors) if isinstance(tensors, Mapping) else function(*tensors)


def _check_call(name: str, given: Any) -> None:
    """Raise an error unless it is None, or a function and its tensors."""
    if given is None:
        return
    if not isinstance(given, tuple | list):
        raise ValueError(f"{name} should be tuple or list")
    if len(given) != 2:
        raise ValueError(f"{name} should have two elements.")
    function, tensors = given
    if not callable(function):
        raise TypeError(f"{name}[0] should be callable.")
    if not isinstance(tensors, tuple | list | Mapping):
        raise ValueError(f"{name}[1] should be tuple or list, or dict.")
    wanted = _taken(function)
    if not isinstance(tensors, Mapping) and wanted not in (None, len(tensors)):
        raise RuntimeError(
            f"In TPUEstimatorSpec.{name}, length of tensors {len(tensors)} does not match method "
            f"args of the function, which takes {wanted}."
        )


def _taken(function: Callable[..., Any]) -> int | None:
    """Return how many arguments a function takes; None if that varies."""
    found = inspect.signature(function).parameters.values()
    if any(each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in found):
        return None
    return len(found) if all(each.default is each.empty for each in found) else None
