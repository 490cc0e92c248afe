"""Evaluations while a model is trained, of the variables as they are, without a checkpoint.

Source: TF 1.15 API documentation, tf.estimator.experimental.InMemoryEvaluatorHook; when it
evaluates by experiment.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfdist.estimators.distributing import ALONE, distributed
from tfdist.estimators.evaluating import Evaluation, write_results
from tfdist.graph.graph import Graph
from tfdist.ops.variables.collections import global_variables
from tfdist.training.sessions.scaffold import Scaffold
from tfdist.training.sessions.session_run_hook import SessionRunHook
from tfdist.training.sessions.step_hooks import SecondOrStepTimer

__all__ = ["InMemoryEvaluatorHook"]


class InMemoryEvaluatorHook(SessionRunHook):
    """Evaluates before the first step, each so many steps, and at the end.

    Metrics are logged, and written as summaries beside those of `Estimator.evaluate`.

    Args:
      estimator: that is trained, on one task.
      input_fn: gives the data; it is called once.
      steps: how many batches; None until the data end.
      hooks: SessionRunHooks of each evaluation.
      name: of the evaluation: its summaries go to `eval_NAME`.
      every_n_iter: steps between two evaluations.

    Raises:
      ValueError: `every_n_iter` is not positive, or there are several tasks.

    Example:
      >>> import tempfile
      >>> x = feature_column.numeric_column("x")
      >>> def rows():
      ...     return data.Dataset.from_tensors(({"x": [[1.0]]}, [[2.0]]))
      >>> base = estimator.LinearRegressor([x], tempfile.mkdtemp())
      >>> hook = estimator.experimental.InMemoryEvaluatorHook(base, rows)
      >>> base.train(rows, hooks=[hook]).latest_checkpoint()[-12:]
      'model.ckpt-1'
      >>> summary.FileWriterCache.clear()
    """

    def __init__(
        self,
        estimator: Any,
        input_fn: Any,
        steps: int | None = None,
        hooks: Iterable[Any] | None = None,
        name: str | None = None,
        every_n_iter: int = 100,
    ) -> None:
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if estimator.config.num_ps_replicas > 0 or estimator.config.num_worker_replicas > 1:
            raise ValueError(
                "InMemoryEvaluator supports only single machine (aka Local) setting: the model of "
                f"{estimator.model_dir} has several tasks; train_and_evaluate evaluates these"
            )
        self._estimator, self._input_fn, self._steps = estimator, input_fn, steps
        self._hooks, self._name = list(hooks or ()), name
        self._timer = SecondOrStepTimer(every_steps=every_n_iter)

    def begin(self) -> None:
        """Make the evaluation's graph."""
        self._count, self._trained = 0, {each.op.name: each for each in global_variables()}
        self._timer.reset()
        self._graph = Graph()
        with self._graph.as_default(), distributed(self._estimator.config.eval_distribute, ALONE):
            self._evaluation = Evaluation(self._estimator, self._input_fn)
            self._evaluated = [e for e in global_variables() if e.op.name in self._trained]
            self._scaffold = Scaffold(init_fn=self._take_values)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Evaluate what the variables are at first."""
        self._timer.update_last_triggered_step(self._count)
        self._evaluate(session)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Evaluate, if it is time."""
        self._count += 1
        if self._timer.should_trigger_for_step(self._count):
            self._timer.update_last_triggered_step(self._count)
            self._evaluate(run_context.session)

    def end(self, session: Any) -> None:
        """Evaluate the last time."""
        self._evaluate(session)

    def _evaluate(self, session: Any) -> None:
        names = [each.op.name for each in self._evaluated]
        self._values = session.run([self._trained[name] for name in names])
        with self._graph.as_default(), distributed(self._estimator.config.eval_distribute, ALONE):
            results = self._evaluation.run(self._hooks, self._steps, None, self._scaffold)
        write_results(self._estimator.eval_dir(self._name), results)

    def _take_values(self, scaffold: Any, session: Any) -> None:
        for variable, value in zip(self._evaluated, self._values, strict=True):
            variable.load(value, session)
