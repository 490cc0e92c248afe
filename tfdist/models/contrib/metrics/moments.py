"""tf.contrib.metrics that come from sums and means: covariance, correlation, kappa, counts.

Source: TF 1.15 API documentation, tf.contrib.metrics.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.models.losses.weights import broadcast_weights
from tfdist.models.metrics.confusion import confusion_matrix
from tfdist.models.metrics.means import mean
from tfdist.models.metrics.metric_variables import Metric, aligned, collected, metric_variable
from tfdist.ops.array.cast import cast
from tfdist.ops.array.shape import size
from tfdist.ops.control_flow.identity_group import identity
from tfdist.ops.linalg.diag import diag_part
from tfdist.ops.math.comparison import where
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.nn import functions as nn
from tfdist.ops.variables.state_ops import assign_add
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = [
    "cohen_kappa", "count", "streaming_covariance", "streaming_pearson_correlation",
    "streaming_recall_at_k",
]  # fmt: skip


def count(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return how many values there were so far, each counted by its weight.

    Args:
      values: a tensor; only its shape counts.
      weights: a scalar, or of the same rank: each size is 1 or that of values; None for 1.
      metrics_collections: collections that the metric is added to.
      updates_collections: collections that the update is added to.
      name: of the variables' and nodes' scope.

    Example:
      >>> value, update = contrib.metrics.count(constant([5.0, 6.0]))
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      np.float32(2.0)
    """
    with variable_scope(name, "count", [values, weights]):
        total = metric_variable([], dtypes.float32, "count")
        update = assign_add(total, _number(convert_to_tensor(values), weights))
        return collected(identity(total), update, metrics_collections, updates_collections)


def _number(values: Any, weights: Any) -> Any:
    """Return how many values there are, each counted by its weight, as float32."""
    if weights is None:
        return cast(size(values), dtypes.float32)
    return reduce_sum(broadcast_weights(cast(weights, dtypes.float32), values))


def streaming_covariance(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the unbiased covariance of predictions and labels so far.

    Args:
      predictions: a tensor of floats.
      labels: floats, of the same shape.
      weights: how often each pair counts: a scalar, or of the same rank, each size 1 or that of
        labels; None for 1.
      metrics_collections: collections that the metric is added to.
      updates_collections: collections that the update is added to.
      name: of the variables' and nodes' scope.

    Returns:
      The metric (NaN of one pair or none), and the op that updates it and gives it.

    Example:
      >>> x, y = constant([1.0, 2.0, 3.0]), constant([2.0, 4.0, 6.0])
      >>> value, update = contrib.metrics.streaming_covariance(x, y)
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      np.float32(2.0)
    """
    with variable_scope(name, "covariance", [predictions, labels, weights]):
        x, y, _ = aligned(predictions, labels, None)
        total, mean_x, mean_y, comoment = (
            metric_variable([], dtypes.float32, each)
            for each in ("count", "mean_prediction", "mean_label", "comoment")
        )
        if weights is not None:
            weights = broadcast_weights(cast(weights, dtypes.float32), y)
        number = _number(y, weights)
        updated = assign_add(total, number)
        share = raw.DivNoNan(number, updated)
        batch_x, old_x = _moved_mean(mean_x, x, weights, number, share)
        batch_y, old_y = _moved_mean(mean_y, y, weights, number, share)
        products = raw.Mul(raw.Sub(x, batch_x), raw.Sub(y, batch_y))
        own = reduce_sum(products if weights is None else raw.Mul(products, weights))
        moved = raw.Mul(raw.Sub(old_x, batch_x), raw.Sub(old_y, batch_y))
        between = raw.Mul(moved, raw.Mul(raw.Sub(updated, number), share))
        update = _unbiased(assign_add(comoment, raw.AddV2(own, between)), updated, "update_op")
        value = _unbiased(comoment, total, "covariance")
        return collected(value, update, metrics_collections, updates_collections)


def _moved_mean(variable: Any, values: Any, weights: Any, number: Any, share: Any) -> Any:
    """Return the mean of a batch, and the one before it, which is moved by the batch's share."""
    total = reduce_sum(values if weights is None else raw.Mul(values, weights))
    batch = raw.DivNoNan(total, number)
    step = raw.Mul(raw.Sub(batch, variable), share)
    return batch, raw.Sub(assign_add(variable, step), step)


def _unbiased(comoment: Any, total: Any, name: str) -> Any:
    quotient = raw.RealDiv(comoment, raw.Sub(total, 1.0))
    return where(raw.LessEqual(total, 1.0), float("nan"), quotient, name=name)


def streaming_pearson_correlation(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return Pearson's correlation of predictions and labels so far.

    Args:
      predictions: a tensor of floats.
      labels: floats, of the same shape.
      weights: how often each pair counts; see `streaming_covariance`.
      metrics_collections: collections that the metric is added to.
      updates_collections: collections that the update is added to.
      name: of the variables' and nodes' scope.

    Example:
      >>> x, y = constant([1.0, 2.0, 3.0]), constant([2.0, 4.0, 6.0])
      >>> value, update = contrib.metrics.streaming_pearson_correlation(x, y)
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update).round(5)
      np.float32(1.0)
    """
    with variable_scope(name, "pearson_r", [predictions, labels, weights]):
        x, y, _ = aligned(predictions, labels, None)
        both = streaming_covariance(x, y, weights, name="covariance")
        of_x = streaming_covariance(x, x, weights, name="variance_predictions")
        of_y = streaming_covariance(y, y, weights, name="variance_labels")
        value, update = (
            raw.RealDiv(covariance, raw.Mul(raw.Sqrt(one), raw.Sqrt(other)), name=part)
            for covariance, one, other, part in zip(
                both, of_x, of_y, ("pearson_r", "update_op"), strict=True
            )
        )
        return collected(value, update, metrics_collections, updates_collections)


def cohen_kappa(
    labels: Any,
    predictions_idx: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return Cohen's kappa: how far labels and predictions agree beyond chance.

    Args:
      labels: integers [n], numbers of classes.
      predictions_idx: integers [n], numbers of classes.
      num_classes: how many classes there are.
      weights: [n], what each pair counts; None for 1.
      metrics_collections: collections that the metric is added to.
      updates_collections: collections that the update is added to.
      name: of the variables' and nodes' scope.

    Raises:
      ValueError: there are less than 2 classes, or the shapes differ.

    Example:
      >>> value, update = contrib.metrics.cohen_kappa(
      ...     constant([0, 1, 1, 0]), constant([0, 1, 0, 0]), 2
      ... )
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update).round(3)
      np.float64(0.5)
    """
    if num_classes < 2:
        raise ValueError(f"`num_classes` must be >= 2. Found: {num_classes}")
    with variable_scope(name, "cohen_kappa", [labels, predictions_idx, weights]):
        predictions, labels, weights = aligned(predictions_idx, labels, weights)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        dtype = dtypes.int64 if weights is None else dtypes.float32
        matrix = confusion_matrix(labels, predictions, num_classes, dtype, weights=weights)
        parts = {
            "po": diag_part(matrix), "pe_row": reduce_sum(matrix, 0),
            "pe_col": reduce_sum(matrix, 1),
        }  # fmt: skip
        variables = [metric_variable([num_classes], dtype, each) for each in parts]
        updates = [assign_add(*each) for each in zip(variables, parts.values(), strict=True)]
        value, update = _kappa(variables, "value"), _kappa(updates, "update_op")
        return collected(value, update, metrics_collections, updates_collections)


def _kappa(parts: Sequence[Any], name: str) -> Any:
    agreed, rows, columns = (cast(each, dtypes.float64) for each in parts)
    total = reduce_sum(rows)
    chance = reduce_sum(raw.DivNoNan(raw.Mul(rows, columns), total))
    return raw.DivNoNan(raw.Sub(reduce_sum(agreed), chance), raw.Sub(total, chance), name=name)


def streaming_recall_at_k(
    predictions: Any,
    labels: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the part of labels that are among the k most likely classes.

    Args:
      predictions: scores, [n, classes].
      labels: integers [n], a class each.
      k: how many classes count.
      weights: [n], what each label counts; None for 1.
      metrics_collections: collections that the metric is added to.
      updates_collections: collections that the update is added to.
      name: of the variables' and nodes' scope.

    Example:
      >>> value, update = contrib.metrics.streaming_recall_at_k([[0.1, 0.4, 0.5]], [1], 2)
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      np.float32(1.0)
    """
    found = cast(nn.in_top_k(predictions, labels, k), dtypes.float32)
    scope = name or f"recall_at_{k}"
    return mean(found, weights, metrics_collections, updates_collections, scope)
