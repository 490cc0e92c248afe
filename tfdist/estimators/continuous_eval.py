"""One evaluation after the other: of each new checkpoint, not too often, with exports.

Source: TF 1.15 API documentation, tf.estimator.train_and_evaluate; lines of the log by experiment.
"""

from __future__ import annotations

import logging
import os
import time
from typing import Any, NamedTuple

from tfdist.estimators.specs import EvalSpec, TrainSpec
from tfdist.training.sessions.saving_hooks import CheckpointSaverListener

__all__: list[str] = []

_LOG = logging.getLogger("tensorflow")
_PAUSE = 0.25  # seconds between two looks for a checkpoint


class Round(NamedTuple):
    """What came of a look at the newest checkpoint.

    Attributes:
      metrics: of its evaluation; None if there was nothing to evaluate.
      exports: what each exporter has made.
      is_last: whether training has come to its end.
      found: "evaluated", "missing" or "known".
    """

    metrics: Any = None
    exports: Any = None
    is_last: bool = False
    found: str = "evaluated"


class Evaluator:
    """Evaluates the newest checkpoint of an estimator, if it is another one.

    Args:
      estimator: Estimator.
      train_spec: TrainSpec, which says when training ends.
      eval_spec: EvalSpec.
    """

    def __init__(self, estimator: Any, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
        self._estimator, self._eval_spec = estimator, eval_spec
        self._max_steps = train_spec.max_steps
        self._known: str | None = None
        self._was_last_exported = False

    def evaluate(self) -> Round:
        """Return what came of evaluating the newest checkpoint and exporting its model."""
        path = self._estimator.latest_checkpoint()
        if not path:
            return Round(found="missing")
        if path == self._known:
            return Round(found="known")
        spec = self._eval_spec
        metrics = self._estimator.evaluate(  # by name: tf.contrib.learn's has another order
            input_fn=spec.input_fn, steps=spec.steps, hooks=spec.hooks, checkpoint_path=path,
            name=spec.name,
        )  # fmt: skip
        self._known = path
        end = self._max_steps
        is_last = end is not None and int(metrics["global_step"]) >= end
        return Round(metrics, self._exported(path, metrics, is_last), is_last)

    def _exported(self, path: str, metrics: Any, is_last: bool) -> list[Any]:
        """Return what each exporter makes; after the end of training they are called once."""
        if is_last and self._was_last_exported:
            return []
        self._was_last_exported = is_last
        root = os.path.join(self._estimator.model_dir, "export")
        return [
            each.export(
                estimator=self._estimator,
                export_path=os.path.join(root, each.name),
                checkpoint_path=path,
                eval_result=metrics,
                is_the_final_export=is_last,
            )
            for each in self._eval_spec.exporters
        ]


class EvaluatingListener(CheckpointSaverListener):
    """Evaluates after checkpoints of a training in the same process, and at its end.

    Args:
      evaluator: Evaluator.
      throttle_secs: seconds between two.
    """

    def __init__(self, evaluator: Evaluator, throttle_secs: float) -> None:
        self._evaluator, self._throttle_secs = evaluator, throttle_secs
        self._begun: float | None = None
        self._is_first = True
        self.last: Round | None = None

    def after_save(self, session: Any, global_step_value: int) -> None:
        """Evaluate, unless training begins with this checkpoint, or it is too early."""
        if self._is_first:
            self._is_first = False
            return
        if self._begun is not None and time.monotonic() < self._begun + self._throttle_secs:
            _LOG.info(
                "Skip the current checkpoint eval due to throttle secs (%s secs).",
                self._throttle_secs,
            )
            return
        self._evaluate()

    def end(self, session: Any, global_step_value: int) -> None:
        """Evaluate the last one, unless that was done."""
        self._evaluate()

    def _evaluate(self) -> None:
        self._begun = time.monotonic()
        found = self._evaluator.evaluate()
        if found.found == "evaluated":
            self.last = found


def follow(evaluator: Evaluator, throttle_secs: float, max_steps: int | None) -> None:
    """Evaluate checkpoints as they come, until one is of the end of training."""
    said = ""
    while True:
        begun = time.monotonic()
        found = evaluator.evaluate()
        if found.is_last:
            _LOG.info(
                "Exiting evaluation, global_step=%s >= train max_steps=%s",
                found.metrics["global_step"], max_steps,
            )  # fmt: skip
            return
        if found.found != said:
            said = found.found
            _say(said)
        pause = begun + throttle_secs - time.monotonic()
        if found.found == "evaluated" and pause > 0:
            _LOG.info("Waiting %f secs before starting next eval run.", pause)
        time.sleep(max(pause, 0 if found.found == "evaluated" else _PAUSE))


def _say(found: str) -> None:
    """Tell once why nothing is evaluated."""
    if found == "missing":
        _LOG.warning(
            "Estimator is not trained yet. Will start an evaluation when a checkpoint is ready."
        )
    elif found == "known":
        _LOG.warning("No new checkpoint ready for evaluation. It begins when there is one.")
