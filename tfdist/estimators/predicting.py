"""Predictions of an estimator, one by one.

Source: TF 1.15 API documentation, tf.estimator.Estimator.predict; messages by experiment.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tfdist.estimators.estimator_spec import ModeKeys
from tfdist.estimators.model_calls import call_input_fn
from tfdist.estimators.warm_starting import start_warm_without
from tfdist.graph.graph import Graph
from tfdist.ops.random.random_ops import set_random_seed
from tfdist.ops.variables.collections import GraphKeys
from tfdist.training.sessions.monitored_session import MonitoredSession
from tfdist.training.sessions.session_creators import ChiefSessionCreator

__all__: list[str] = []

_LOG = logging.getLogger("tensorflow")


def predict_model(
    estimator: Any,
    input_fn: Any,
    keys: str | Sequence[str] | None,
    hooks: list[Any],
    checkpoint: str | None,
    one_by_one: bool,
) -> Iterator[Any]:
    """Yield predictions: of one example each, or of a batch.

    The graph is the default one while it is made only: what is built between two predictions
    belongs to the graph of the one who asks.
    """
    session, predictions = _opened(estimator, input_fn, keys, hooks, checkpoint)
    with session:
        while not session.should_stop():
            found = session.run(predictions)
            yield from _examples(found) if one_by_one else [found]


def _opened(
    estimator: Any, input_fn: Any, keys: Any, hooks: list[Any], checkpoint: str | None
) -> tuple[MonitoredSession, Any]:
    """Return a session, and what it is to run."""
    with Graph().as_default() as graph:
        set_random_seed(estimator.config.tf_random_seed)
        estimator._create_global_step(graph)
        (features, _), input_hooks = call_input_fn(
            input_fn, ModeKeys.PREDICT, estimator.params, estimator.config
        )
        if not input_hooks and not graph.get_collection(GraphKeys.QUEUE_RUNNERS):
            _LOG.warning(
                "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means "
                "predict yields forever. This is probably a mistake."
            )
        spec = estimator._call_model_fn(features, None, ModeKeys.PREDICT)
        start_warm_without(checkpoint, estimator._warm_start_settings)
        predictions = _chosen(spec.predictions, keys)
        creator = ChiefSessionCreator(
            spec.scaffold,
            estimator.config.master,
            estimator._session_config,
            checkpoint_filename_with_path=checkpoint,
        )
        return MonitoredSession(
            creator, [*input_hooks, *hooks, *spec.prediction_hooks]
        ), predictions


def _chosen(predictions: Any, keys: Any) -> Any:
    """Return those predictions that are wanted.

    Raises:
      ValueError: there are none of these names.
    """
    if not keys:
        return predictions
    if not isinstance(predictions, Mapping):
        raise ValueError(
            f"predict_keys argument is not valid in case of non-dict predictions: {predictions}"
        )
    wanted = [keys] if isinstance(keys, str) else list(keys)
    found = {key: value for key, value in predictions.items() if key in wanted}
    if not found:
        raise ValueError(
            f"Expected to run at least one output from {predictions.keys()}, provided {keys}."
        )
    return found


def _examples(batch: Any) -> Iterator[Any]:
    """Yield the predictions of each example of a batch.

    Raises:
      ValueError: tensors have batches of several lengths.
    """
    if not isinstance(batch, Mapping):
        yield from batch
        return
    lengths = {len(value) for value in batch.values()}
    if len(lengths) > 1:
        sizes = {key: len(value) for key, value in batch.items()}
        raise ValueError(
            f"Batch length of predictions should be same. They have {sizes}; "
            "yield_single_examples=False gives whole batches."
        )
    for index in range(max(lengths, default=0)):
        yield {key: value[index] for key, value in batch.items()}
