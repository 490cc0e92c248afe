"""Heads of classes: two, or several.

Source: TF 1.15 API documentation, tf.estimator.LinearClassifier and its relatives; names of
metrics and predictions, and messages, by experiment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.estimators.canned.heads import Head, Losses, in_columns
from tfdist.estimators.estimator_spec import DEFAULT_SIGNATURE
from tfdist.estimators.export_outputs import ClassificationOutput, ExportOutput, RegressionOutput
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.models.losses.weights import broadcast_weights
from tfdist.models.metrics import means
from tfdist.models.metrics.auc import auc
from tfdist.models.metrics.counts import precision, recall
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat, stack
from tfdist.ops.array.reshape import expand_dims, squeeze
from tfdist.ops.array.shape import shape
from tfdist.ops.checks.assertions import assert_less_equal, assert_non_negative
from tfdist.ops.lookup.functions import index_table_from_tensor
from tfdist.ops.nn.cross_entropy import sparse_softmax_cross_entropy_with_logits
from tfdist.ops.nn.sigmoid_cross_entropy import sigmoid_cross_entropy_with_logits
from tfdist.ops.strings.conversions import as_string

__all__: list[str] = []


class _Classes(Head):
    """What both heads of classes have in common: labels, which may be words of a vocabulary."""

    def __init__(
        self, n_classes: int, logits: int, weight_column: Any,
        label_vocabulary: Sequence[Any] | None, loss_reduction: str, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(logits, weight_column, loss_reduction, **options)
        if label_vocabulary is not None and not isinstance(label_vocabulary, list | tuple):
            raise ValueError(
                "label_vocabulary should be a list or a tuple. Given type: "
                f"{type(label_vocabulary)}"
            )
        self._n_classes, self._vocabulary = n_classes, label_vocabulary

    def _ids(self, labels: Any) -> Any:
        """Return the ids of classes as [batch, 1], checked when they are computed."""
        labels = in_columns(labels, 1)
        if self._vocabulary is not None:
            table = index_table_from_tensor(list(self._vocabulary), name="class_id_lookup")
            labels = table.lookup(labels)
        numbers = cast(labels, dtypes.float32, name="ToFloat")
        most = convert_to_tensor(float(self._n_classes - 1))
        with scopes.name_scope("assert_range"):
            checks = [
                assert_less_equal(numbers, most, message="Labels must <= n_classes - 1"),
                assert_non_negative(numbers, message="Labels must >= 0"),
            ]
        with scopes.control_dependencies(checks):
            return raw.Identity(labels)

    def _classes(self, ids: Any) -> dict[str, Any]:
        """Return ids and names of the classes that were predicted, and of all."""
        every = raw.Range(0, self._n_classes, 1)
        if self._vocabulary is None:
            names, all_names = as_string(ids, name="str_classes"), as_string(every)
        else:
            all_names = convert_to_tensor(list(self._vocabulary))
            names = raw.GatherV2(all_names, ids, 0)
        dims: Any = shape(ids)
        batch = dims[0]
        return {
            "class_ids": ids,
            "classes": names,
            "all_class_ids": self._for_each(every, batch),
            "all_classes": self._for_each(all_names, batch),
        }

    def _for_each(self, row: Any, batch: Any) -> Any:
        """Return a row of all classes for each example of a batch."""
        found = raw.Tile(expand_dims(row, 0), stack([batch, 1]))
        found.set_shape([None, self._n_classes])
        return found

    def outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
        """Return scores and names of all classes."""
        found = ClassificationOutput(predictions["probabilities"], predictions["all_classes"])
        return {DEFAULT_SIGNATURE: found, "classification": found}


class MultiClassHead(_Classes):
    """More than two classes: softmax.

    Args:
      n_classes: how many.
      weight_column: as the rest: see `Head`.
      label_vocabulary: the labels, if they are words.
    """

    def __init__(
        self, n_classes: int, weight_column: Any, label_vocabulary: Any, loss_reduction: str,
        **options: Any,
    ) -> None:  # fmt: skip
        if n_classes is None or n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        super().__init__(
            n_classes, n_classes, weight_column, label_vocabulary, loss_reduction, **options
        )

    def predictions(self, logits: Any) -> dict[str, Any]:
        """Return logits, probabilities and classes."""
        with scopes.name_scope(None, "predictions", (logits,)):
            ids = expand_dims(raw.ArgMax(logits, 1, output_type=dtypes.int64), -1)
            return {
                "logits": logits,
                "probabilities": raw.Softmax(logits, name="probabilities"),
                **self._classes(ids),
            }

    def metrics(self, losses: Losses, predictions: Mapping[str, Any]) -> dict[str, Any]:
        """Return the mean loss and the accuracy."""
        found = predictions["class_ids"]
        return {
            "average_loss": self._mean_loss(losses),
            "accuracy": means.accuracy(losses.labels, found, losses.weights, name="accuracy"),
        }

    def _labels(self, labels: Any) -> Any:
        if self._vocabulary is None and not labels.dtype.is_integer:
            raise ValueError(
                f"Labels dtype should be integer. Instead got {labels.dtype!r}. Words need a "
                "label_vocabulary."
            )
        return self._ids(labels)

    def _losses(self, labels: Any, logits: Any) -> Any:
        ids = squeeze(labels, [-1])
        return expand_dims(sparse_softmax_cross_entropy_with_logits(labels=ids, logits=logits), -1)


class BinaryHead(_Classes):
    """Two classes: one logit.

    Args:
      weight_column: as the rest: see `Head`.
      label_vocabulary: both labels, if they are words.
      thresholds: of the logistic, at which metrics are told as well.
    """

    def __init__(
        self, weight_column: Any, label_vocabulary: Any, loss_reduction: str, *,
        thresholds: Sequence[float] = (), **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(2, 1, weight_column, label_vocabulary, loss_reduction, **options)
        self._thresholds = tuple(thresholds)

    def predictions(self, logits: Any) -> dict[str, Any]:
        """Return logit, probabilities and classes."""
        with scopes.name_scope(None, "predictions", (logits,)):
            both = concat([raw.ZerosLike(logits), logits], -1, name="two_class_logits")
            ids = expand_dims(raw.ArgMax(both, 1, output_type=dtypes.int64), -1)
            return {
                "logits": logits,
                "logistic": raw.Sigmoid(logits, name="logistic"),
                "probabilities": raw.Softmax(both, name="probabilities"),
                **self._classes(ids),
            }

    def outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
        """Return scores and names of both classes, and the logistic."""
        regression = RegressionOutput(predictions["logistic"])
        return {**super().outputs(predictions), "regression": regression}

    def metrics(self, losses: Losses, predictions: Mapping[str, Any]) -> dict[str, Any]:
        """Return the mean loss, and how good the classes and the logistic are."""
        labels, weights = losses.labels, losses.weights
        logistic, ids = predictions["logistic"], predictions["class_ids"]
        spread = broadcast_weights(convert_to_tensor(weights), logistic)
        label_mean = means.mean(labels, spread, name="label/mean")
        return {
            "average_loss": self._mean_loss(losses),
            "accuracy": means.accuracy(labels, ids, weights, name="accuracy"),
            "precision": precision(labels, ids, weights, name="precision"),
            "recall": recall(labels, ids, weights, name="recall"),
            "prediction/mean": means.mean(logistic, spread, name="prediction/mean"),
            "label/mean": label_mean,
            "accuracy_baseline": _baseline(label_mean),
            "auc": auc(labels, logistic, weights, name="auc"),
            "auc_precision_recall": auc(
                labels, logistic, weights, curve="PR", name="auc_precision_recall"
            ),
            **at_thresholds(labels, logistic, weights, self._thresholds),
        }

    def _labels(self, labels: Any) -> Any:
        return cast(self._ids(labels), dtypes.float32)

    def _losses(self, labels: Any, logits: Any) -> Any:
        return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


def at_thresholds(
    labels: Any, found: Any, weights: Any, thresholds: Sequence[float]
) -> dict[str, Any]:
    """Return metrics of what is true from a threshold on, for each threshold."""
    metrics: dict[str, Any] = {}
    for threshold in thresholds:
        is_above = cast(raw.Greater(found, threshold), dtypes.float32)
        for name, measure in (
            ("accuracy", means.accuracy), ("precision", precision), ("recall", recall),
        ):  # fmt: skip
            key = f"{name}/positive_threshold_{threshold:g}"
            metrics[key] = measure(labels, is_above, weights, name=key)
    return metrics


def _baseline(label_mean: Any) -> Any:
    """Return the accuracy of always choosing the class that there is more of."""
    value, update = label_mean
    return raw.Maximum(value, 1 - value, name="accuracy_baseline"), raw.Maximum(update, 1 - update)


def classifier_head(
    n_classes: int, weight_column: Any, label_vocabulary: Any, loss_reduction: str
) -> Head:
    """Return the head of a classifier."""
    if n_classes == 2:
        return BinaryHead(weight_column, label_vocabulary, loss_reduction)
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)
