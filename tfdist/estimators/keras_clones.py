"""Clones of a compiled model of tf.keras, in the graphs of an estimator.

Source: TF 1.15 API documentation, tf.keras.estimator.model_to_estimator; messages by experiment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfdist.base import nest
from tfdist.graph.convert import convert_to_tensor
from tfdist.keras_impl.cloning import clone_model
from tfdist.keras_impl.engine.inputs import Input
from tfdist.keras_impl.metrics.metric import Metric
from tfdist.keras_impl.optimizers.optimizer import TFOptimizer
from tfdist.keras_impl.serialization import CustomObjectScope
from tfdist.ops.array.cast import cast
from tfdist.training.strategies.contexts import get_strategy

__all__: list[str] = []

_WEIGHTED = {"features", "sample_weights"}


class Recipe:
    """What makes clones of a model.

    Args:
      model: compiled.
      custom_objects: a program's own classes and functions, by name.

    Attributes:
      has_graph: whether the model knows its inputs.
      weights: what it has learned, arrays; none where it has no variables yet.
    """

    def __init__(self, model: Any, custom_objects: Mapping[str, Any] | None) -> None:
        self._model, self._custom = model, dict(custom_objects or {})
        self.has_graph = bool(model.inputs)
        self.weights = self._values() if self.has_graph else []
        optimizer = model.optimizer
        self._of_train = optimizer.optimizer if isinstance(optimizer, TFOptimizer) else None
        self._config = None if self._of_train else optimizer.get_config()

    def _values(self) -> Any:
        with self._model.outputs[0].graph.as_default():
            return self._model.get_weights()

    def _optimizer(self, step: Any) -> Any:
        """Return a new optimizer with the same settings, which counts in `step`."""
        if self._of_train is not None:
            return TFOptimizer(self._of_train, step)
        if get_strategy().num_replicas_in_sync > 1:
            raise NotImplementedError(
                f"{type(self._model.optimizer).__name__} of tf.keras trains one replica, not "
                f"{get_strategy().num_replicas_in_sync}: compile the model with an optimizer of "
                "tf.train, which adds up the gradients of all"
            )
        made = type(self._model.optimizer).from_config(self._config)
        made.iterations = step
        return made

    def clone(self, inputs: Any) -> Any:
        """Return the model anew in the default graph.

        Args:
          inputs: tensors to start from, a list; None for placeholders.
        """
        with CustomObjectScope(self._custom):
            return clone_model(self._model, inputs)

    def compile(self, clone: Any, targets: Any, step: Any) -> None:
        """Compile a clone as the model is.

        Args:
          clone: of the model.
          targets: what is wanted of outputs, a list; None for placeholders.
          step: the variable that counts steps.
        """
        settings = {key: _anew(each) for key, each in self._model._settings.items()}
        with CustomObjectScope(self._custom):
            clone.compile(self._optimizer(step), **{**settings, "target_tensors": targets})

    def inputs_of(self, features: Any) -> tuple[list[Any], Any]:
        """Return features as a list of input tensors, and the weights of samples or None.

        Raises:
          KeyError: they have other names than the model's inputs.
        """
        weights = None
        if isinstance(features, Mapping) and set(features) == _WEIGHTED:
            features, weights = features["features"], features["sample_weights"]
        names = self._model.input_names
        if isinstance(features, Mapping) and self.has_graph:
            _check_names(set(features), set(names))
            features = [features[name] for name in names]
        tensors = [convert_to_tensor(each) for each in nest.flatten(features)]
        return (self._named(tensors, names) if self.has_graph else tensors), weights

    def _named(self, tensors: list[Any], names: list[str]) -> list[Any]:
        dtypes = [each.dtype for each in self._model.inputs]
        return [
            Input(tensor=cast(tensor, dtype), name=name)
            for tensor, dtype, name in zip(tensors, dtypes, names, strict=True)
        ]

    def targets_of(self, clone: Any, labels: Any) -> list[Any]:
        """Return labels as a list of tensors, one for each output.

        Raises:
          KeyError: they have other names than the model's outputs.
        """
        if isinstance(labels, Mapping):
            _check_names(set(labels), set(clone.output_names), "labels", "outputs")
            labels = [labels[name] for name in clone.output_names]
        return [convert_to_tensor(each) for each in nest.flatten(labels)]


def _check_names(
    found: set[str], wanted: set[str], what: str = "features", kind: str = "inputs"
) -> None:
    if found != wanted:
        raise KeyError(
            f"The dictionary passed into {what} does not have the expected {kind} keys defined in "
            f"the keras model.\n\tExpected keys: {wanted}\n\t{what} keys: {found}\n\t"
            f"Difference: {found ^ wanted}"
        )


def _anew(given: Any) -> Any:
    """Return metrics that are objects as new ones, whose variables another graph can have."""
    if isinstance(given, Mapping):
        return {key: _anew(each) for key, each in given.items()}
    if isinstance(given, list | tuple):
        return [_anew(each) for each in given]
    return type(given).from_config(given.get_config()) if isinstance(given, Metric) else given
