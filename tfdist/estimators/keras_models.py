"""Estimators of models of tf.keras: each graph has a clone of the model.

Source: TF 1.15 API documentation, tf.keras.estimator.model_to_estimator; names in checkpoints and
messages by experiment.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from tfdist.estimators.estimator import Estimator, resolved_config
from tfdist.estimators.estimator_spec import DEFAULT_SIGNATURE, EstimatorSpec, ModeKeys
from tfdist.estimators.export_outputs import PredictOutput
from tfdist.estimators.keras_clones import Recipe
from tfdist.graph import scopes
from tfdist.graph.graph import Graph
from tfdist.keras_impl.backend.learning_phase import set_learning_phase
from tfdist.keras_impl.loading import load_model
from tfdist.ops.variables.collections import GraphKeys, global_variables_initializer
from tfdist.session.session import Session
from tfdist.training.global_step import create_global_step, get_global_step
from tfdist.training.saving.checkpoint_management import latest_checkpoint
from tfdist.training.saving.saver import Saver

__all__ = ["model_to_estimator"]


def model_to_estimator(
    keras_model: Any = None,
    keras_model_path: str | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    model_dir: str | None = None,
    config: Any = None,
    checkpoint_format: str | None = "saver",
) -> Estimator:
    """Return an `Estimator` that trains, evaluates and asks a compiled model of keras.

    Features come by the names of the model's inputs, or as tensors in their order; or both they and
    weights of samples, as `{"features": ..., "sample_weights": ...}`. Predictions have the names of
    its outputs. What the model has learned is written into `model_dir/keras`, where training
    begins; means and variances of `BatchNormalization`, which are not trained, begin anew.

    Args:
      keras_model: compiled; functional or Sequential.
      keras_model_path: file of such a model instead, in HDF5.
      custom_objects: a program's own classes and functions, by name.
      model_dir: folder of checkpoints and summaries; one for the moment by default.
      config: `RunConfig`.
      checkpoint_format: "saver".

    Raises:
      ValueError: there is no model, or two, or it is not compiled; or there is no such format.

    Example:
      >>> model = keras.Sequential([keras.layers.Dense(1, input_shape=[1])])
      >>> model.compile("sgd", "mse")
      >>> made = keras.estimator.model_to_estimator(model)
      >>> def rows():
      ...     return data.Dataset.from_tensors(({"dense_input": [[1.0]]}, [[3.0]])).repeat(5)
      >>> sorted(made.train(rows).evaluate(rows, steps=1))
      ['global_step', 'loss']
      >>> made.get_variable_names()[:3]
      ['dense/bias', 'dense/kernel', 'global_step']
      >>> summary.FileWriterCache.clear()
    """
    _check_format(checkpoint_format)
    model = _given_model(keras_model, keras_model_path, custom_objects)
    found = resolved_config(config, model_dir)
    recipe = Recipe(model, custom_objects)
    first = _first_checkpoint(recipe, found.model_dir) if recipe.has_graph else None

    def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        return _spec(recipe, features, labels, mode)

    return Estimator(model_fn, config=found, warm_start_from=first)


def _check_format(given: str | None) -> None:
    if given not in (None, "saver", "checkpoint"):
        raise ValueError(f'Checkpoint format must be one of "checkpoint" or "saver". Got {given}')
    if given == "checkpoint":
        raise NotImplementedError(
            "tfdist's estimators write checkpoints by variables' names: checkpoint_format='saver'"
        )


def _given_model(model: Any, path: str | None, custom_objects: Any) -> Any:
    if not (model or path):
        raise ValueError("Either `keras_model` or `keras_model_path` needs to be provided.")
    if model and path:
        raise ValueError("Please specify either `keras_model` or `keras_model_path`, but not both.")
    model = model or load_model(path, custom_objects)
    if getattr(model, "optimizer", None) is None:
        raise ValueError(
            "The given keras model has not been compiled yet. Please compile the model with "
            "`model.compile()` before calling `model_to_estimator()`."
        )
    return model


def _first_checkpoint(recipe: Recipe, folder: str) -> str:
    """Return the path of what the model has learned, written unless it is there."""
    place = os.path.join(folder, "keras")
    path = latest_checkpoint(place)
    if path:
        return path
    os.makedirs(place, exist_ok=True)
    with Graph().as_default() as graph:
        step = create_global_step(graph)
        clone = recipe.clone(None)
        recipe.compile(clone, None, step)
        clone._steps.built("train")
        with Session(graph=graph) as session:
            session.run(global_variables_initializer())
            clone.set_weights(recipe.weights)
            return Saver().save(session, os.path.join(place, "keras_model.ckpt"))  # type: ignore[return-value]


def _spec(recipe: Recipe, features: Any, labels: Any, mode: str) -> EstimatorSpec:
    set_learning_phase(int(mode == ModeKeys.TRAIN))
    inputs, weights = recipe.inputs_of(features)
    clone = recipe.clone(inputs)
    predictions = dict(zip(clone.output_names, clone.outputs, strict=True))
    outputs = {DEFAULT_SIGNATURE: PredictOutput(predictions)}
    if mode == ModeKeys.PREDICT:
        return EstimatorSpec(mode, predictions, export_outputs=outputs)
    recipe.compile(clone, recipe.targets_of(clone, labels), get_global_step())
    if weights is not None:
        clone._steps.give_weights(weights)
    kind = "train" if mode == ModeKeys.TRAIN else "test"
    loss, update = clone._steps.built(kind, weights is not None)
    _keep_local(clone)
    if mode == ModeKeys.TRAIN:
        return EstimatorSpec(mode, predictions, loss, update, export_outputs=outputs)
    return EstimatorSpec(mode, predictions, loss, None, _metrics(clone), outputs)


def _keep_local(clone: Any) -> None:
    """Let sessions initialize the variables of metrics."""
    for metric in clone._steps.metrics:
        for variable in metric.variables:
            for key in (GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES):
                scopes.add_to_collection(key, variable)


def _metrics(clone: Any) -> dict[str, Any]:
    """Return pairs of value and update by name, without the losses of single outputs."""
    steps = clone._steps
    own = steps.metrics[len(steps.loss_metrics) :]
    return {each.name: (each.result(), each.updates[-1]) for each in own}
