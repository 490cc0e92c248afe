"""train_and_evaluate: one program, which does what TF_CONFIG says its task is there for.

    task        what it does
    ---------   ---------------------------------------------------------------------
    (none)      trains, and evaluates after checkpoints
    chief       serves, initialises, trains, and saves
    master      the same, and evaluates after checkpoints
    worker      serves, and trains, a little later than the chief
    ps          serves: it holds variables, until it is ended
    evaluator   evaluates each new checkpoint, until that of the last step

Source: TF 1.15 API documentation, tf.estimator.train_and_evaluate; messages by experiment.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from tfdist.estimators.continuous_eval import EvaluatingListener, Evaluator, follow
from tfdist.estimators.estimator import Estimator
from tfdist.estimators.specs import EvalSpec, TrainSpec
from tfdist.estimators.task_config import TaskType
from tfdist.wire.server import Server

__all__ = ["train_and_evaluate"]

_LOG = logging.getLogger("tensorflow")
_DELAY = 5.0  # seconds that each worker begins later than the one before
_LONGEST_DELAY = 60.0

# Task -> its server: a second training of this process goes on with it.
_SERVERS: dict[Any, Server] = {}


def train_and_evaluate(estimator: Any, train_spec: Any, eval_spec: Any) -> Any:
    """Train and evaluate, or do what else TF_CONFIG says that this process is there for.

    Args:
      estimator: Estimator; all tasks of a cluster name the same folder.
      train_spec: TrainSpec; without `max_steps`, training ends with the data.
      eval_spec: EvalSpec.

    Returns:
      The metrics of the last evaluation and what exporters made of it; None in a cluster.

    Raises:
      TypeError: an argument is of the wrong type.
      ValueError: the task is none of those above, or the cluster has an address for none.

    Example:
      >>> import tempfile
      >>> def model(features, labels, mode):
      ...     w = get_variable("w", [], initializer=zeros_initializer())
      ...     loss = losses.mean_squared_error(features, w + zeros_like(features))
      ...     step = train.get_global_step()
      ...     train_op = train.GradientDescentOptimizer(0.5).minimize(loss, step)
      ...     return estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
      >>> def rows():
      ...     return data.Dataset.from_tensors(3.0).repeat()
      >>> made = estimator.Estimator(model, tempfile.mkdtemp())
      >>> trained = estimator.TrainSpec(rows, max_steps=4)
      >>> metrics, exports = estimator.train_and_evaluate(
      ...     made, trained, estimator.EvalSpec(rows, steps=1)
      ... )
      >>> metrics["global_step"], metrics["loss"], exports
      (np.int64(4), np.float32(0.0), [])
      >>> summary.FileWriterCache.clear()
    """
    for name, value, kind in (
        ("estimator", estimator, Estimator),
        ("train_spec", train_spec, TrainSpec),
        ("eval_spec", eval_spec, EvalSpec),
    ):
        if not isinstance(value, kind):
            raise TypeError(
                f"`{name}` must have type `tf.estimator.{kind.__name__}`. Got: {type(value)}"
            )
    task = _Task(estimator, train_spec, eval_spec)
    config = estimator.config
    if not config.cluster_spec.jobs and config.task_type != TaskType.EVALUATOR:
        _LOG.info("Running training and evaluation locally (non-distributed).")
        return task.local()
    does = task.roles.get(config.task_type)
    if does is None:
        raise ValueError(
            f"Task type {config.task_type} is not supported. Supported task types are "
            f"{sorted(task.roles)}"
        )
    return does()


class _Task:
    """What tasks do, each a method."""

    def __init__(self, estimator: Any, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
        self._estimator, self._train_spec, self._eval_spec = estimator, train_spec, eval_spec
        self._config = estimator.config

    @property
    def roles(self) -> dict[str, Callable[[], Any]]:
        """Return what the tasks of each job do."""
        return {
            TaskType.CHIEF: self.chief,
            TaskType.EVALUATOR: self.evaluator,
            TaskType.MASTER: self.master,
            TaskType.PS: self.ps,
            TaskType.WORKER: self.worker,
        }

    def local(self) -> Any:
        """Train and evaluate in turn; returns metrics and exports, (None, None) without any."""
        _LOG.info(
            "Start train and evaluate loop. The evaluate will happen after every checkpoint. "
            "Checkpoint frequency is determined based on RunConfig arguments: "
            "save_checkpoints_steps %s or save_checkpoints_secs %s.",
            self._config.save_checkpoints_steps, self._config.save_checkpoints_secs,
        )  # fmt: skip
        listener = EvaluatingListener(self._evaluator(), self._eval_spec.throttle_secs)
        self._train(listener)
        return (None, None) if listener.last is None else listener.last[:2]

    def _train(self, *listeners: Any) -> None:
        spec = self._train_spec
        self._estimator.train(
            spec.input_fn, spec.hooks, max_steps=spec.max_steps, saving_listeners=listeners
        )

    def _evaluator(self) -> Evaluator:
        return Evaluator(self._estimator, self._train_spec, self._eval_spec)

    def chief(self) -> None:
        """Serve and train."""
        serve(self._estimator)
        self._train()

    def master(self) -> None:
        """Serve and train, and evaluate in turn."""
        serve(self._estimator)
        self.local()

    def worker(self) -> None:
        """Serve and train, a little later than those with a lower number."""
        serve(self._estimator)
        longest = self._config.experimental_max_worker_delay_secs
        delay = min(
            _LONGEST_DELAY if longest is None else longest,
            _DELAY * (self._config.task_id + 1),
        )
        if self._config.train_distribute is not None:
            delay = 0  # these wait for each other anyhow
        if delay > 0:
            _LOG.info("Waiting %d secs before starting training.", delay)
            time.sleep(delay)
        self._train()

    def ps(self) -> None:
        """Serve until the process ends."""
        serve(self._estimator).join()

    def evaluator(self) -> None:
        """Evaluate each new checkpoint, until that of the last step."""
        if self._config.task_id:
            raise ValueError(
                "For distributed training, there can only be one `evaluator` task (with task id "
                f"0).  Given task id {self._config.task_id}"
            )
        delay = self._eval_spec.start_delay_secs
        if delay:
            _LOG.info("Waiting %f secs before starting eval.", delay)
            time.sleep(delay)
        follow(self._evaluator(), self._eval_spec.throttle_secs, self._train_spec.max_steps)


def serve(estimator: Any) -> Server:
    """Return this task's server, which runs as long as the process: programs go on with it.

    Raises:
      ValueError: the task is the only one of its cluster.
    """
    config = estimator.config
    if not config.master:
        raise ValueError(
            f"/job:{config.task_type}/task:{config.task_id} is the only task of its cluster: "
            "leave TF_CONFIG away to train in one process, or name more tasks"
        )
    task = config.cluster_spec, config.task_type, config.task_id
    running = _SERVERS.get(task)
    if running is None or not running.is_running:
        _LOG.info("Start Tensorflow server.")
        options = {"config": estimator._session_config, "protocol": config.protocol}
        running = _SERVERS[task] = Server(*task, **options)
    return running
