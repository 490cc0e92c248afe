"""A training of an estimator: the graph, its hooks, and the loop.

Source: TF 1.15 API documentation, tf.estimator.Estimator.train; lines of the log by experiment.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from tfdist.estimators.distributing import (
    begins_by_itself,
    built,
    distributed,
    own_folder,
    session_config_of,
)
from tfdist.estimators.estimator_spec import EstimatorSpec, ModeKeys
from tfdist.estimators.model_calls import call_input_fn
from tfdist.estimators.warm_starting import start_warm
from tfdist.graph import scopes
from tfdist.graph.graph import Graph
from tfdist.ops.random.random_ops import set_random_seed
from tfdist.ops.summary import summaries
from tfdist.ops.variables.collections import GraphKeys
from tfdist.training.global_step import begin_global_step
from tfdist.training.saving.saver import Saver
from tfdist.training.sessions.monitored_training_session import MonitoredTrainingSession
from tfdist.training.sessions.saving_hooks import CheckpointSaverHook
from tfdist.training.sessions.value_hooks import LoggingTensorHook, NanTensorHook

__all__: list[str] = []

_LOG = logging.getLogger("tensorflow")


def train_model(
    estimator: Any, input_fn: Any, hooks: list[Any], saving_listeners: list[Any]
) -> Any:
    """Train until a hook stops it, or the data end; returns the last loss, None without a step."""
    config = estimator.config
    strategy = config.train_distribute
    with (
        Graph().as_default() as graph,
        graph.device(None if strategy else estimator._device_fn),
        distributed(strategy, config),
    ):
        set_random_seed(config.tf_random_seed)
        step = begin_global_step(graph, estimator._create_global_step(graph))
        batch, input_hooks = call_input_fn(
            input_fn, ModeKeys.TRAIN, estimator.params, config, strategy
        )
        spec = built(strategy, estimator._call_model_fn, batch, ModeKeys.TRAIN)
        if estimator._warm_start_settings:
            _LOG.info("Warm-starting with WarmStartSettings: %s", estimator._warm_start_settings)
            start_warm(estimator._warm_start_settings)
        scopes.add_to_collection(GraphKeys.LOSSES, spec.loss)
        _summarize(spec.loss)
        all_hooks = [*input_hooks, *hooks, *_watching(spec, step, config), *spec.training_hooks]
        _add_saver(spec.scaffold, config)
        chief_hooks = _chief_hooks(spec, estimator, saving_listeners, all_hooks)
        return _loop(spec, estimator, all_hooks, chief_hooks)


def _summarize(loss: Any) -> None:
    """Summarise the loss, unless the model does."""
    if not any(each.op.name == "loss" for each in scopes.get_collection(GraphKeys.SUMMARIES)):
        summaries.scalar("loss", loss)


def _watching(spec: EstimatorSpec, step: Any, config: Any) -> list[Any]:
    """Return the hooks that look at the loss, and tell of it."""
    found: list[Any] = [NanTensorHook(spec.loss)]
    if config.log_step_count_steps is not None:
        shown = {"loss": spec.loss, "step": step}
        found.append(LoggingTensorHook(shown, config.log_step_count_steps))
    return found


def _add_saver(scaffold: Any, config: Any) -> None:
    """Give the graph a saver that keeps what the config says, unless the model has one.

    It is built when the graph is finalized: hooks make variables until then.
    """
    if scaffold.saver is not None or scopes.get_collection(GraphKeys.SAVERS):
        return
    saver = Saver(
        sharded=True,
        max_to_keep=config.keep_checkpoint_max,
        keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
        defer_build=True,
        save_relative_paths=True,
    )
    scopes.add_to_collection(GraphKeys.SAVERS, saver)


def _chief_hooks(
    spec: EstimatorSpec, estimator: Any, listeners: list[Any], hooks: Iterable[Any]
) -> list[Any]:
    """Return the hooks of a chief; a saving hook takes the listeners, a new one if there is none.

    Raises:
      ValueError: there are listeners, but nothing saves.
    """
    found = list(spec.training_chief_hooks)
    savers = [each for each in [*hooks, *found] if isinstance(each, CheckpointSaverHook)]
    config = estimator.config
    if config.save_checkpoints_secs or config.save_checkpoints_steps:
        if not savers:
            savers = [
                CheckpointSaverHook(
                    own_folder(config, estimator.model_dir),
                    config.save_checkpoints_secs,
                    config.save_checkpoints_steps,
                    scaffold=spec.scaffold,
                )
            ]
            found = [*savers, *found]
            _LOG.info("Create CheckpointSaverHook.")
    if listeners and not savers:
        raise ValueError(
            "There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
            "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
        )
    if listeners:
        savers[0]._listeners.extend(listeners)
    return found


def _loop(spec: EstimatorSpec, estimator: Any, hooks: list[Any], chief_hooks: list[Any]) -> Any:
    config, loss = estimator.config, None
    with MonitoredTrainingSession(
        master=config.master,
        is_chief=config.is_chief or begins_by_itself(config),
        checkpoint_dir=estimator.model_dir,
        summary_dir=own_folder(config, estimator.model_dir),
        scaffold=spec.scaffold,
        hooks=hooks,
        chief_only_hooks=chief_hooks,
        save_checkpoint_secs=0,  # chief_hooks save
        save_summaries_steps=config.save_summary_steps,
        config=session_config_of(config.train_distribute, estimator._session_config),
        max_wait_secs=config.session_creation_timeout_secs,
        log_step_count_steps=config.log_step_count_steps,
    ) as session:
        while not session.should_stop():
            _, loss = session.run([spec.train_op, spec.loss])
    if loss is None:
        _LOG.warning(
            "Training with estimator made no steps. Perhaps input is empty or misspecified."
        )
    return loss
