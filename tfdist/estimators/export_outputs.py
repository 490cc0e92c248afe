"""What a SavedModel gives: predictions, classes or values.

Source: TF 1.15 API documentation, tf.estimator.export.ExportOutput and those below it; messages by
experiment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfdist.base import dtypes
from tfdist.graph.operation import Tensor
from tfdist.training.saved_model.signatures import (
    classification_signature_def,
    predict_signature_def,
    regression_signature_def,
)

__all__ = ["ClassificationOutput", "ExportOutput", "PredictOutput", "RegressionOutput"]


class ExportOutput:
    """What a SavedModel gives; for subclasses."""

    def tensors(self) -> dict[str, Any]:
        """Return what it gives, by name."""
        raise NotImplementedError

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """Return the SignatureDef of what a SavedModel takes, by name, and what it gives.

        Raises:
          ValueError: that cannot go together.
        """
        raise NotImplementedError


class ClassificationOutput(ExportOutput):
    """Scores of classes, their labels, or both.

    Args:
      scores: float [batch, classes].
      classes: string [batch, classes].

    Raises:
      ValueError: there is neither, or a type is wrong.

    Example:
      >>> output = estimator.export.ClassificationOutput(scores=constant([[0.2, 0.8]]))
      >>> sorted(output.tensors())
      ['scores']
    """

    def __init__(self, scores: Any = None, classes: Any = None) -> None:
        if scores is not None and not _is_float(scores):
            raise ValueError(f"Classification scores must be a float32 Tensor; got {scores}")
        if classes is not None and not _has_dtype(classes, dtypes.string):
            raise ValueError(f"Classification classes must be a string Tensor; got {classes}")
        if scores is None and classes is None:
            raise ValueError("At least one of scores and classes must be set.")
        self.scores, self.classes = scores, classes

    def tensors(self) -> dict[str, Any]:
        """Return scores and classes, as far as they are there."""
        both = {"classes": self.classes, "scores": self.scores}
        return {name: tensor for name, tensor in both.items() if tensor is not None}

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """Return the SignatureDef of serialized Examples and classes."""
        examples = _examples(receiver_tensors, "Classification")
        return classification_signature_def(examples, self.classes, self.scores)


class RegressionOutput(ExportOutput):
    """What a regression exports: a value for each example.

    Args:
      value: float.

    Raises:
      ValueError: it is no float.

    Example:
      >>> estimator.export.RegressionOutput(constant([1.0])).tensors()
      {'outputs': <tf.Tensor 'Const:0' shape=(1,) dtype=float32>}
    """

    def __init__(self, value: Any) -> None:
        if not _is_float(value):
            raise ValueError(f"Regression output value must be a float32 Tensor; got {value}")
        self.value = value

    def tensors(self) -> dict[str, Any]:
        """Return the value."""
        return {"outputs": self.value}

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """Return the SignatureDef of serialized Examples and a value."""
        return regression_signature_def(_examples(receiver_tensors, "Regression"), self.value)


class PredictOutput(ExportOutput):
    """What an estimator exports by names of its own: any tensors.

    Args:
      outputs: a tensor, or a dict of tensors.

    Example:
      >>> sorted(estimator.export.PredictOutput({"a": constant(1), "b": constant(2)}).outputs)
      ['a', 'b']
    """

    def __init__(self, outputs: Any) -> None:
        self.outputs = dict(outputs) if isinstance(outputs, Mapping) else {"output": outputs}

    def tensors(self) -> dict[str, Any]:
        """Return the outputs."""
        return dict(self.outputs)

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """Return the SignatureDef of anything."""
        return predict_signature_def(receiver_tensors, self.outputs)


def _examples(receivers: Mapping[str, Any], what: str) -> Any:
    """Return the one thing that a SavedModel takes: serialized Examples."""
    found = list(receivers.values())
    if len(found) != 1 or found[0].dtype != dtypes.string:
        raise ValueError(f"{what} input must be a single string Tensor; got {dict(receivers)}")
    return found[0]


def _has_dtype(value: Any, dtype: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype.base_dtype == dtype


def _is_float(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype.base_dtype.is_floating
