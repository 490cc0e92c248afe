"""tf.contrib.estimator's heads: for models of one's own, and for estimators that take a head.

Source: TF 1.15 API documentation, tf.contrib.estimator; names of metrics and predictions by
experiment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.estimators.canned.class_heads import BinaryHead, MultiClassHead, at_thresholds
from tfdist.estimators.canned.heads import Head, Losses, RegressionHead, in_columns
from tfdist.estimators.estimator_spec import DEFAULT_SIGNATURE
from tfdist.estimators.export_outputs import ClassificationOutput, ExportOutput
from tfdist.graph.op_def import raw
from tfdist.models.losses.weighted_loss import Reduction
from tfdist.models.metrics.auc import auc
from tfdist.ops.array.cast import cast
from tfdist.ops.math.reductions import reduce_mean
from tfdist.ops.nn.bias import log_poisson_loss
from tfdist.ops.nn.sigmoid_cross_entropy import sigmoid_cross_entropy_with_logits

__all__ = [
    "binary_classification_head", "logistic_regression_head", "multi_class_head",
    "multi_label_head", "poisson_regression_head", "regression_head",
]  # fmt: skip

_MEAN = Reduction.SUM_OVER_BATCH_SIZE


def binary_classification_head(
    weight_column: Any = None,
    thresholds: Sequence[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _MEAN,
    loss_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Head:
    """Return a head of two classes: one logit.

    Args:
      weight_column: feature, or column, of the weights of examples.
      thresholds: of the probability, at which metrics are told as well.
      label_vocabulary: both labels, if they are words.
      loss_reduction: of `tf.losses.Reduction`.
      loss_fn: function of labels and logits to the loss of each example.
      name: behind those of metrics.

    Example:
      >>> contrib.estimator.binary_classification_head().logits_dimension
      1
    """
    return BinaryHead(
        weight_column, label_vocabulary, loss_reduction, thresholds=thresholds or (),
        loss_fn=loss_fn, name=name,
    )  # fmt: skip


def multi_class_head(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _MEAN,
    loss_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Head:
    """Return a head of more than two classes, of which each example has one.

    Args:
      n_classes: how many.
      weight_column: as the rest: see `binary_classification_head`.

    Example:
      >>> contrib.estimator.multi_class_head(4).logits_dimension
      4
    """
    return MultiClassHead(
        n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn=loss_fn, name=name
    )


def regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _MEAN,
    loss_fn: Callable[..., Any] | None = None,
    inverse_link_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
) -> Head:
    """Return a head of numbers: squared differences.

    Args:
      weight_column: as the rest: see `binary_classification_head`.
      label_dimension: how many numbers an example has.
      inverse_link_fn: from logits to the numbers; they are the same by default.

    Example:
      >>> contrib.estimator.regression_head(label_dimension=2).logits_dimension
      2
    """
    return RegressionHead(
        label_dimension, weight_column, loss_reduction, loss_fn=loss_fn,
        inverse_link_fn=inverse_link_fn, name=name,
    )  # fmt: skip


def logistic_regression_head(
    weight_column: Any = None, loss_reduction: str = _MEAN, name: str | None = None
) -> Head:
    """Return a head of a number from 0 to 1.

    Args:
      weight_column: as the rest: see `binary_classification_head`.

    Example:
      >>> contrib.estimator.logistic_regression_head().logits_dimension
      1
    """
    return regression_head(
        weight_column, 1, loss_reduction, sigmoid_cross_entropy, raw.Sigmoid, name
    )


def sigmoid_cross_entropy(labels: Any, logits: Any) -> Any:
    return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


def poisson_regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _MEAN,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> Head:
    """Return a head of numbers that count what happens: a Poisson distribution's.

    Args:
      weight_column: as the rest: see `regression_head`.
      compute_full_loss: whether the loss has Stirling's part, too.

    Example:
      >>> contrib.estimator.poisson_regression_head().logits_dimension
      1
    """

    def loss(labels: Any, logits: Any) -> Any:
        return log_poisson_loss(labels, logits, compute_full_loss)

    return regression_head(weight_column, label_dimension, loss_reduction, loss, raw.Exp, name)


def multi_label_head(
    n_classes: int,
    weight_column: Any = None,
    thresholds: Sequence[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _MEAN,
    loss_fn: Callable[..., Any] | None = None,
    classes_for_class_based_metrics: Sequence[Any] | None = None,
    name: str | None = None,
) -> Head:
    """Return a head of classes of which each example may have any.

    Args:
      n_classes: how many.
      weight_column: as the rest: see `binary_classification_head`.
      label_vocabulary: None: labels are 0 or 1 for each class.
      classes_for_class_based_metrics: None: metrics are those of all classes together.

    Raises:
      ValueError: there are fewer than two.
      NotImplementedError: there is a vocabulary, or metrics of single classes are asked for.

    Example:
      >>> contrib.estimator.multi_label_head(3).logits_dimension
      3
    """
    if label_vocabulary is not None or classes_for_class_based_metrics is not None:
        raise NotImplementedError(
            "multi_label_head takes labels of 0 or 1 for each class, [batch, n_classes], and tells "
            "metrics of all classes together: give neither label_vocabulary nor "
            "classes_for_class_based_metrics"
        )
    return MultiLabelHead(
        n_classes, weight_column, loss_reduction, thresholds=thresholds or (), loss_fn=loss_fn,
        name=name,
    )  # fmt: skip


class MultiLabelHead(Head):
    """Classes of which each example may have any: labels are 0 or 1, [batch, n_classes].

    Args:
      n_classes: how many.
      weight_column: as the rest: see `Head`.
      thresholds: of the probabilities, at which metrics are told as well.
    """

    def __init__(
        self, n_classes: int, weight_column: Any, loss_reduction: str, *,
        thresholds: Sequence[float] = (), **options: Any,
    ) -> None:  # fmt: skip
        if n_classes is None or n_classes < 2:
            raise ValueError(
                f"n_classes must be > 1 for multi-class classification. Given: {n_classes}"
            )
        super().__init__(n_classes, weight_column, loss_reduction, **options)
        self._thresholds = tuple(thresholds)

    def predictions(self, logits: Any) -> dict[str, Any]:
        """Return logits and probabilities."""
        return {"logits": logits, "probabilities": raw.Sigmoid(logits, name="probabilities")}

    def outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
        """Return the probabilities."""
        found = ClassificationOutput(scores=predictions["probabilities"])
        return {DEFAULT_SIGNATURE: found, "classification": found}

    def metrics(self, losses: Losses, predictions: Mapping[str, Any]) -> dict[str, Any]:
        """Return the mean loss, and how good the probabilities are."""
        labels, weights, found = losses.labels, losses.weights, predictions["probabilities"]
        return {
            "average_loss": self._mean_loss(losses),
            "auc": auc(labels, found, weights, name="auc"),
            "auc_precision_recall": auc(
                labels, found, weights, curve="PR", name="auc_precision_recall"
            ),
            **at_thresholds(labels, found, weights, self._thresholds),
        }

    def _labels(self, labels: Any) -> Any:
        return cast(in_columns(labels, self.logits_dimension), dtypes.float32)

    def _losses(self, labels: Any, logits: Any) -> Any:
        found = sigmoid_cross_entropy(labels, logits)
        return reduce_mean(found, -1, keepdims=True)
