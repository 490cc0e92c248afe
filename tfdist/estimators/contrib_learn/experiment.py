"""Experiment and learn_runner of tf.contrib.learn: what each task of a cluster does.

Source: TF 1.15 API documentation, tf.contrib.learn.Experiment and learn_runner.run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from tfdist.estimators.continuous_eval import EvaluatingListener, Evaluator, follow
from tfdist.estimators.estimator import Estimator
from tfdist.estimators.specs import EvalSpec, TrainSpec
from tfdist.estimators.task_config import TaskType
from tfdist.estimators.train_and_evaluate import serve

__all__ = ["Experiment", "run"]


class Experiment:
    """An estimator and its data: what each task of a cluster does is one of its methods.

    Args:
      estimator: Estimator.
      train_input_fn: gives what is trained on.
      eval_input_fn: gives what is evaluated.
      train_steps: the global step at which training ends.
      eval_steps: how many batches are evaluated.
      train_monitors: SessionRunHooks.
      eval_hooks: SessionRunHooks.
      eval_delay_secs: how long `evaluate` waits before it begins.
      min_eval_frequency: 0 for evaluation at the end only.
      saving_listeners: CheckpointSaverListeners.
      others: accepted.

    Example:
      >>> import tempfile
      >>> x = feature_column.numeric_column("x")
      >>> def rows():
      ...     return data.Dataset.from_tensors(({"x": [[1.0]]}, [[2.0]])).repeat(20)
      >>> made = estimator.LinearRegressor([x], tempfile.mkdtemp())
      >>> experiment = contrib.learn.Experiment(made, rows, rows, train_steps=5, eval_steps=1)
      >>> experiment.train().get_variable_value("global_step")
      np.int64(5)
      >>> summary.FileWriterCache.clear()
    """

    def __init__(
        self,
        estimator: Estimator,
        train_input_fn: Callable[..., Any],
        eval_input_fn: Callable[..., Any],
        eval_metrics: None = None,
        train_steps: int | None = None,
        eval_steps: int | None = 100,
        train_monitors: Iterable[Any] | None = None,
        eval_hooks: Iterable[Any] | None = None,
        local_eval_frequency: int | None = None,
        eval_delay_secs: float = 120,
        continuous_eval_throttle_secs: float = 60,
        min_eval_frequency: int | None = None,
        saving_listeners: Iterable[Any] | None = None,
        **others: Any,
    ) -> None:
        if not isinstance(estimator, Estimator):
            raise ValueError("`estimator` must implement `tf.estimator.Estimator`.")
        if eval_metrics is not None:
            raise ValueError("`eval_metrics` must be `None` when `estimator` is tf.estimator's.")
        self.estimator, self.train_steps, self.eval_steps = estimator, train_steps, eval_steps
        self._train = TrainSpec(train_input_fn, train_steps, train_monitors)
        self._eval = EvalSpec(
            eval_input_fn, eval_steps, hooks=eval_hooks, start_delay_secs=eval_delay_secs,
            throttle_secs=continuous_eval_throttle_secs,
        )  # fmt: skip
        self._evaluates_between = min_eval_frequency != 0
        self._listeners = list(saving_listeners or ())

    def train(self, delay_secs: float | None = None) -> Any:
        """Serve if there is a cluster, and train.

        Args:
          delay_secs: how long workers wait; 5 seconds for each with a lower number by default.
        """
        config = self.estimator.config
        if config.master:
            serve(self.estimator)
        if delay_secs is None:
            delay_secs = 0 if config.is_chief else min(60, 5 * (config.task_id + 1))
        time.sleep(delay_secs)
        return self._fit([])

    def _fit(self, listeners: list[Any]) -> Any:
        spec = self._train
        return Estimator.train(
            self.estimator, spec.input_fn, spec.hooks, max_steps=spec.max_steps,
            saving_listeners=[*self._listeners, *listeners],
        )  # fmt: skip

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> Any:
        """Return the metrics of the latest checkpoint.

        Args:
          delay_secs: how long it waits before it begins.
          name: of the evaluation.
        """
        spec = self._eval
        time.sleep(spec.start_delay_secs if delay_secs is None else delay_secs)
        return Estimator.evaluate(
            self.estimator, spec.input_fn, spec.steps, spec.hooks, name=name or "one_pass"
        )

    def train_and_evaluate(self) -> tuple[Any, Any]:
        """Train, and evaluate after checkpoints and at the end; returns metrics and exports."""
        if self.estimator.config.master:
            serve(self.estimator)
        evaluator = Evaluator(self.estimator, self._train, self._eval)
        throttle = 0.0 if self._evaluates_between else float("inf")
        listener = EvaluatingListener(evaluator, throttle)
        self._fit([listener])
        return (None, None) if listener.last is None else listener.last[:2]

    local_run = train_and_evaluate

    def continuous_eval(self) -> None:
        """Evaluate each new checkpoint, until that of the last step."""
        time.sleep(self._eval.start_delay_secs)
        evaluator = Evaluator(self.estimator, self._train, self._eval)
        follow(evaluator, self._eval.throttle_secs, self._train.max_steps)

    def run_std_server(self) -> None:
        """Serve until the process ends."""
        serve(self.estimator).join()

    def test(self) -> Any:
        """Train and evaluate one step; returns its metrics."""
        self.estimator.train(self._train.input_fn, steps=1)
        return Estimator.evaluate(self.estimator, self._eval.input_fn, 1, name="one_pass")


# Role of a task -> what it does by default.
_SCHEDULES = {
    TaskType.MASTER: "train_and_evaluate",
    TaskType.CHIEF: "train",
    TaskType.PS: "run_std_server",
    TaskType.WORKER: "train",
    TaskType.EVALUATOR: "continuous_eval",
}


def run(
    experiment_fn: Callable[..., Experiment],
    output_dir: str | None = None,
    schedule: str | None = None,
    run_config: Any = None,
    hparams: Any = None,
) -> Any:
    """Make an Experiment and do with it what this task of a cluster is there for.

    Args:
      experiment_fn: function of (run_config, hparams), or of a folder, to an Experiment.
      output_dir: that folder.
      schedule: name of the method; by default what TF_CONFIG says, or `train_and_evaluate`.
      run_config: `RunConfig` with a folder, instead of `output_dir`.
      hparams: given to `experiment_fn`.

    Returns:
      What the method returns.

    Raises:
      ValueError: folder and config are given, or neither; or there is no such method.

    Example:
      >>> contrib.learn.learn_runner.run(lambda folder: None, "folder")
      Traceback (most recent call last):
      TypeError: Experiment builder did not return an Experiment instance, got ...
    """
    if (output_dir is None) == (run_config is None):
        raise ValueError("either `output_dir` or `run_config` must be given, and not both")
    made = experiment_fn(output_dir) if run_config is None else experiment_fn(run_config, hparams)
    if not isinstance(made, Experiment):
        raise TypeError(
            f"Experiment builder did not return an Experiment instance, got {type(made)} instead."
        )
    config = run_config or made.estimator.config
    if schedule is None:
        is_alone = not config.cluster_spec.jobs and config.task_type == TaskType.WORKER
        schedule = "train_and_evaluate" if is_alone else _SCHEDULES.get(config.task_type, "")
    if schedule.startswith("_") or not callable(getattr(made, schedule, None)):
        known = sorted({*_SCHEDULES.values(), "evaluate", "local_run", "test"})
        raise ValueError(f"Schedule {schedule!r} is none of an Experiment's: {known}")
    return getattr(made, schedule)()
