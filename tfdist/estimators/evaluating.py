"""An evaluation of an estimator: metrics over batches, and their summary.

Source: TF 1.15 API documentation, tf.estimator.Estimator.evaluate; lines of the log by experiment.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from tfdist.estimators.distributing import ALONE, built, distributed
from tfdist.estimators.estimator_spec import ModeKeys
from tfdist.estimators.model_calls import call_input_fn
from tfdist.estimators.warm_starting import start_warm_without
from tfdist.graph import scopes
from tfdist.graph.graph import Graph
from tfdist.graph.tensor_proto import make_tensor_proto
from tfdist.models.metrics.means import mean
from tfdist.ops.control_flow.identity_group import group
from tfdist.ops.random.random_ops import set_random_seed
from tfdist.protos import pb
from tfdist.training.events.file_writer import FileWriterCache
from tfdist.training.sessions.evaluation import StopAfterNEvalsHook, evaluate_once

__all__: list[str] = []

LOSS = "loss"
GLOBAL_STEP = "global_step"

_LOG = logging.getLogger("tensorflow")


def evaluate_model(
    estimator: Any, input_fn: Any, hooks: list[Any], steps: int | None, checkpoint: str | None
) -> dict[str, Any]:
    """Return the metrics of a checkpoint, of new variables without one.

    Args:
      estimator: Estimator.
      input_fn: gives the data.
      hooks: SessionRunHooks.
      steps: how many batches; None for all.
      checkpoint: path, or None.
    """
    with Graph().as_default(), distributed(estimator.config.eval_distribute, ALONE):
        evaluation = Evaluation(estimator, input_fn)
        start_warm_without(checkpoint, estimator._warm_start_settings)
        return evaluation.run(hooks, steps, checkpoint, evaluation.scaffold)


class Evaluation:
    """The nodes of an evaluation, made in the default graph.

    Args:
      estimator: Estimator.
      input_fn: gives the data.

    Attributes:
      scaffold: the model's, or None.
    """

    def __init__(self, estimator: Any, input_fn: Any) -> None:
        config, strategy = estimator.config, estimator.config.eval_distribute
        set_random_seed(config.tf_random_seed)
        step = estimator._create_global_step(scopes.get_default_graph())
        batch, input_hooks = call_input_fn(
            input_fn, ModeKeys.EVAL, estimator.params, config, strategy
        )
        spec = built(strategy, _model(estimator), batch, ModeKeys.EVAL)
        self._estimator, self.scaffold = estimator, spec.scaffold
        self._before, self._behind = input_hooks, spec.evaluation_hooks
        self._values, self._updates = _metrics(spec)
        self._values[GLOBAL_STEP] = step

    def run(
        self, hooks: list[Any], steps: int | None, checkpoint: str | None, scaffold: Any
    ) -> dict[str, Any]:
        """Return the metrics; variables are those of a checkpoint, or as the scaffold says."""
        stop = [] if steps is None else [StopAfterNEvalsHook(steps)]
        results = evaluate_once(
            checkpoint,  # type: ignore[arg-type]  # None: what initializers say
            master=self._estimator.config.evaluation_master,
            scaffold=scaffold,
            eval_ops=self._updates,
            final_ops=self._values,
            hooks=[*self._before, *hooks, *stop, *self._behind],
            config=self._estimator._session_config,
        )
        return {key: each[()] if np.shape(each) == () else each for key, each in results.items()}


def _model(estimator: Any) -> Any:
    """Return what builds the model, with the mean of its loss among the metrics."""

    def build(features: Any, labels: Any, mode: str) -> Any:
        spec = estimator._call_model_fn(features, labels, mode)
        metrics = {LOSS: mean(spec.loss), **spec.eval_metric_ops}
        return spec._replace(eval_metric_ops=metrics)

    return build


def _metrics(spec: Any) -> tuple[dict[str, Any], Any]:
    """Return values by name, and an operation that adds a batch to all of them."""
    metrics = dict(spec.eval_metric_ops)
    if GLOBAL_STEP in metrics:
        raise ValueError(
            f"Metric with name `{GLOBAL_STEP}` is not allowed, because Estimator already defines a "
            "default metric with the same name."
        )
    values = {name: value for name, (value, _) in sorted(metrics.items())}
    updates = [update for _, (_, update) in sorted(metrics.items())]
    return values, group(*updates)


def write_results(folder: str, results: Mapping[str, Any]) -> None:
    """Write the metrics of an evaluation as a summary into a folder."""
    step = int(results[GLOBAL_STEP])
    told = ", ".join(f"{name} = {value!s}" for name, value in sorted(results.items()))
    _LOG.info("Saving dict for global step %d: %s", step, told)
    writer = FileWriterCache.get(folder)
    summary = pb.Summary()
    for name, value in sorted(results.items()):
        if name != GLOBAL_STEP:
            _add_value(summary, name, value)
    writer.add_summary(summary, step)
    writer.flush()


def write_checkpoint_path(folder: str, step: int, path: str | None) -> None:
    """Write which checkpoint was evaluated."""
    if not path:
        return
    _LOG.info("Saving 'checkpoint_path' summary for global step %d: %s", step, path)
    summary = pb.Summary()
    value = summary.value.add(tag="checkpoint_path")
    value.tensor.CopyFrom(make_tensor_proto(path))
    value.metadata.plugin_data.plugin_name = "text"
    writer = FileWriterCache.get(folder)
    writer.add_summary(summary, step)
    writer.flush()


def _add_value(summary: Any, name: str, value: Any) -> None:
    """Add a value of a metric: a number, an array, or serialized summaries."""
    if isinstance(value, bytes):
        for found in pb.Summary.FromString(value).value:
            added = summary.value.add()
            added.CopyFrom(found)
            added.tag = f"{name}/{found.tag.rpartition('/')[2]}" if found.tag else name
    elif np.ndim(value):
        summary.value.add(tag=name).tensor.CopyFrom(make_tensor_proto(value))
        _LOG.info("Summary for np.ndarray is not visible in Tensorboard by default.")
    elif isinstance(value, int | float | np.floating | np.integer):
        summary.value.add(tag=name, simple_value=float(value))
    else:
        _LOG.warning(
            "Skipping summary for %s, must be a number, an array or a serialized Summary.", name
        )


def eval_folder(model_dir: str, name: str | None) -> str:
    """Return where the summaries of an evaluation stand."""
    return os.path.join(model_dir, f"eval_{name}" if name else "eval")
