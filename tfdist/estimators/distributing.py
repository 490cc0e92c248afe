"""Estimators whose models are built for several replicas, by a strategy.

Source: TF 1.15 API documentation, tf.estimator.RunConfig; what becomes of hooks by experiment.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfdist.cluster.spec import ClusterSpec
from tfdist.estimators.estimator_spec import EstimatorSpec, ModeKeys
from tfdist.estimators.task_config import TaskConfig
from tfdist.graph import scopes
from tfdist.training.strategies.inputs import InputContext
from tfdist.training.strategies.values import PerReplica

__all__: list[str] = []

ALONE = TaskConfig(ClusterSpec({}))  # as evaluations are


@contextmanager
def distributed(strategy: Any, config: Any) -> Iterator[None]:
    """Build for a strategy in the block that follows, in the cluster of the config."""
    if strategy is None:
        yield
        return
    strategy.configure(None, config.cluster_spec, config.task_type, config.task_id)
    scales, strategy._scales_loss = strategy._scales_loss, True
    try:
        with strategy.scope():
            yield
    finally:
        strategy._scales_loss = scales


def begins_by_itself(config: Any) -> bool:
    """Return whether each task has variables of its own, which it initialises and restores."""
    strategy = config.train_distribute
    return strategy is not None and strategy.extended.experimental_should_init


def own_folder(config: Any, folder: str) -> str:
    """Return where a task writes: those that only keep in step have a folder of their own."""
    if not begins_by_itself(config) or config.train_distribute.extended.should_checkpoint:
        return folder
    return os.path.join(folder, f"tmp_{config.task_type}_{config.task_id}")


def session_config_of(strategy: Any, config: Any) -> Any:
    """Return the ConfigProto of sessions that run what a strategy built."""
    return config if strategy is None else strategy.update_config_proto(config)


def input_context(strategy: Any) -> InputContext:
    """Return what an input function can ask for."""
    return InputContext() if strategy is None else strategy.extended._input_context()


def batches(strategy: Any, get_next: Callable[[], Any]) -> Any:
    """Return the next batch, with a strategy one of each replica."""
    if strategy is None or strategy.extended._num_local == 1:
        return get_next()
    made = []
    for device in strategy.extended.worker_devices:
        with scopes.device(device):
            made.append(get_next())
    return _PerReplicaBatch(made, strategy.extended.worker_devices)


class _PerReplicaBatch(PerReplica):
    """A batch of each replica, whatever structures these are."""


def built(strategy: Any, call_model: Callable[..., EstimatorSpec], batch: Any, mode: str) -> Any:
    """Return one spec for all replicas of a model.

    Args:
      strategy: or None.
      call_model: takes features, labels and mode.
      batch: (features, labels), of each replica perhaps.
      mode: one of `ModeKeys`.
    """
    if strategy is None:
        return call_model(*batch, mode)

    def of_replica(pair: Any) -> EstimatorSpec:
        return call_model(*pair, mode)

    specs = strategy.extended._for_each(of_replica, (batch,), {})
    return _together(strategy, specs, mode)


def _together(strategy: Any, specs: list[EstimatorSpec], mode: str) -> EstimatorSpec:
    """Return one spec; hooks and scaffold are those of the first replica."""
    devices = strategy.extended.worker_devices
    losses = PerReplica([each.loss for each in specs], devices)
    first = specs[0]
    changes: dict[str, Any] = {}
    if len(specs) > 1 or strategy.num_replicas_in_sync > 1:
        changes["loss"] = strategy.extended.reduce_to("MEAN", losses, None)
    if mode == ModeKeys.TRAIN and len(specs) > 1:
        changes["train_op"] = strategy.group(PerReplica([each.train_op for each in specs]))
    if mode == ModeKeys.EVAL and len(specs) > 1:
        changes["eval_metric_ops"] = _metrics(strategy, specs)
    return first._replace(**changes) if changes else first


def _metrics(strategy: Any, specs: list[EstimatorSpec]) -> dict[str, Any]:
    """Return the metrics of all replicas: they add up in the same variables."""
    found: dict[str, Any] = {}
    for name, (value, _) in specs[0].eval_metric_ops.items():
        updates = PerReplica([each.eval_metric_ops[name][1] for each in specs])
        found[name] = value, strategy.group(updates)
    return found
