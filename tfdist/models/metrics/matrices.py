"""Metrics of several classes: overlap and accuracy of each, and their means.

Source: TF 1.15 API documentation, tf.metrics.mean_iou and mean_per_class_accuracy.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.models.metrics.confusion import confusion_matrix
from tfdist.models.metrics.metric_variables import Metric, collected, metric_variable, safe_ratio
from tfdist.ops.array.cast import cast
from tfdist.ops.array.fill import ones, ones_like
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import size
from tfdist.ops.linalg.diag import diag_part
from tfdist.ops.math.comparison import where
from tfdist.ops.math.reductions import reduce_mean, reduce_sum
from tfdist.ops.variables.scatter import scatter_add
from tfdist.ops.variables.state_ops import assign_add
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = ["mean_iou", "mean_per_class_accuracy"]


def _flat(tensor: Any) -> Any:
    """Return a tensor as a vector."""
    rank = tensor.get_shape().ndims
    return reshape(tensor, [-1]) if rank is not None and rank > 1 else tensor


def mean_iou(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the mean over classes of intersection over union.

    For each class that occurs: how often it was right, divided by how often it was label or
    prediction.

    Args:
      labels: integers of any shape, numbers of classes.
      predictions: integers of any shape, numbers of classes, of the same shape.
      num_classes: how many classes there are.
      weights: of the shape of labels: what each counts; None for 1.
      metrics_collections: collections that the metric is added to.
      updates_collections: collections that the update is added to.
      name: of the variables' and nodes' scope.

    Returns:
      The metric, and the op that adds to the confusion matrix [classes, classes] and gives it.

    Example:
      >>> value, update = metrics.mean_iou([0, 0, 1, 1], [0, 1, 1, 1], 2)
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     _ = session.run(update)
      ...     session.run(value)
      np.float32(0.5833334)
    """
    with variable_scope(name, "mean_iou", [predictions, labels, weights]):
        predictions, labels = cast(predictions, dtypes.int64), cast(labels, dtypes.int64)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        shape = [num_classes, num_classes]
        total = metric_variable(shape, dtypes.float64, "total_confusion_matrix")
        bound = cast(num_classes, dtypes.int64)
        weights = None if weights is None else _flat(cast(weights, dtypes.float32))
        counts = confusion_matrix(
            _flat(labels), _flat(predictions), bound, dtypes.float64, weights=weights
        )
        update = assign_add(total, counts)
        value = _mean_overlap(total)
        return collected(value, update, metrics_collections, updates_collections)


def _mean_overlap(matrix: Any) -> Any:
    by_column = cast(reduce_sum(matrix, 0), dtypes.float32)
    by_row = cast(reduce_sum(matrix, 1), dtypes.float32)
    right = cast(diag_part(matrix), dtypes.float32)
    union: Any = by_column + by_row - right  # type: ignore[operator]
    occurring = reduce_sum(cast(raw.NotEqual(union, 0.0), dtypes.float32))
    denominators = where(raw.Greater(union, 0.0), union, ones_like(union))
    overlaps = raw.RealDiv(right, denominators, name="div")
    is_any = raw.Greater(occurring, 0.0)
    average = raw.RealDiv(reduce_sum(overlaps, name="mean_iou"), occurring, name="truediv")
    return where(is_any, average, 0.0)


def mean_per_class_accuracy(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the mean over classes of how often it was right; arguments as of `mean_iou`.

    Returns:
      The metric, and the op that updates it and gives the accuracies [classes].

    Example:
      >>> value, update = metrics.mean_per_class_accuracy([0, 0, 1, 1], [0, 1, 1, 1], 2)
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      array([0.5, 1. ], dtype=float32)
    """
    with variable_scope(name, "mean_accuracy", [predictions, labels, weights]):
        labels = cast(labels, dtypes.int64)
        predictions = cast(predictions, dtypes.int64)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        total = metric_variable([num_classes], dtypes.float32, "total")
        count = metric_variable([num_classes], dtypes.float32, "count")
        labels, predictions = _flat(labels), _flat(predictions)
        new_total, new_count = _updated(total, count, labels, predictions, weights)
        accuracies = safe_ratio(count, total, None)
        value = reduce_mean(accuracies, name="mean_accuracy")
        update = safe_ratio(new_count, new_total, "update_op")
        return collected(value, update, metrics_collections, updates_collections)


def _updated(
    total: Any, count: Any, labels: Any, predictions: Any, weights: Any
) -> tuple[Tensor, Tensor]:
    """Return both after adding how often each class occurred, and was right."""
    occurring: Any = ones([size(labels)], dtypes.float32)
    right = cast(raw.Equal(predictions, labels), dtypes.float32)
    if weights is not None:
        weights = _flat(cast(weights, dtypes.float32))
        right, occurring = right * weights, occurring * weights
    return scatter_add(total, labels, occurring), scatter_add(count, labels, right)
