"""tf.contrib.metrics that come from right and wrong answers: rates, the best F1, curves.

Source: TF 1.15 API documentation, tf.contrib.metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.graph.op_def import raw
from tfdist.models.metrics import counts as metrics_counts
from tfdist.models.metrics.auc import points
from tfdist.models.metrics.metric_variables import Metric, collected, safe_ratio
from tfdist.models.metrics.threshold_counts import (
    ALL,
    FALSE_NEGATIVES,
    FALSE_POSITIVES,
    TRUE_NEGATIVES,
    TRUE_POSITIVES,
    counts_at_thresholds,
)
from tfdist.models.metrics.thresholds import EPSILON, ratio, spread
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import stack
from tfdist.ops.control_flow.identity_group import group
from tfdist.ops.math.comparison import where
from tfdist.ops.math.reductions import reduce_any, reduce_max, reduce_sum
from tfdist.ops.math.top_k import argmin
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = [
    "f1_score", "precision_at_recall", "recall_at_precision", "streaming_curve_points",
    "streaming_false_negative_rate", "streaming_false_negative_rate_at_thresholds",
    "streaming_false_positive_rate", "streaming_false_positive_rate_at_thresholds",
]  # fmt: skip


def _rate(what: str, wrong: str, right: str, meaning: str) -> Callable[..., Metric]:
    """Return the public function of the part wrong / (wrong + right)."""
    scope = f"{what}_rate"

    def function(
        predictions: Any,
        labels: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, scope, [predictions, labels, weights]):
            one, more = getattr(metrics_counts, wrong)(labels, predictions, weights)
            other, others = getattr(metrics_counts, right)(labels, predictions, weights)
            value = safe_ratio(one, raw.AddV2(one, other), "value")
            update = safe_ratio(more, raw.AddV2(more, others), "update_op")
            return collected(value, update, metrics_collections, updates_collections)

    label = int(wrong == FALSE_NEGATIVES)
    function.__name__ = function.__qualname__ = f"streaming_{scope}"
    function.__doc__ = f"""Return the part of {meaning}.

    Args:
      predictions: anything that converts to bools.
      labels: anything that converts to bools, of the same shape.
      weights: a scalar, or of the same rank: each size is 1 or that of labels; None for 1.
      metrics_collections: collections that the metric is added to.
      updates_collections: collections that the update is added to.
      name: of the variables' and nodes' scope.

    Example:
      >>> value, update = contrib.metrics.streaming_{scope}([1, 0], [{label}, {label}])
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      np.float32(0.5)
    """
    return function


def _rate_at_thresholds(what: str, wrong: str, right: str) -> Callable[..., Metric]:
    """Return the public function of the part wrong / (wrong + right) at thresholds."""
    scope = f"{what}_rate_at_thresholds"

    def function(
        predictions: Any,
        labels: Any,
        thresholds: Sequence[float],
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, scope, [predictions, labels, weights]):
            includes = [each for each in ALL if each in (wrong, right)]
            counts = counts_at_thresholds(labels, predictions, thresholds, weights, includes)
            value, update = (
                ratio(found[wrong], raw.AddV2(found[wrong], found[right]), name=part)
                for found, part in ((counts.values, "value"), (counts.updates, "update_op"))
            )
            return collected(value, update, metrics_collections, updates_collections)

    function.__name__ = function.__qualname__ = f"streaming_{scope}"
    function.__doc__ = f"""Return `streaming_{what}_rate` at each threshold.

    Args:
      predictions: numbers from 0 to 1.
      labels: anything that converts to bools, of the same shape.
      thresholds: a list of numbers: a prediction above one counts as a one.
      weights: a scalar, or of the same rank: each size is 1 or that of labels; None for 1.
      metrics_collections: collections that the metric is added to.
      updates_collections: collections that the update is added to.
      name: of the variables' and nodes' scope.
    """
    return function


streaming_false_negative_rate = _rate(
    "false_negative", FALSE_NEGATIVES, TRUE_POSITIVES, "ones that were predicted as zeros"
)
streaming_false_positive_rate = _rate(
    "false_positive", FALSE_POSITIVES, TRUE_NEGATIVES, "zeros that were predicted as ones"
)
streaming_false_negative_rate_at_thresholds = _rate_at_thresholds(
    "false_negative", FALSE_NEGATIVES, TRUE_POSITIVES
)
streaming_false_positive_rate_at_thresholds = _rate_at_thresholds(
    "false_positive", FALSE_POSITIVES, TRUE_NEGATIVES
)


def _precision(counts: dict[str, Any]) -> Any:
    found = counts[TRUE_POSITIVES]
    return ratio(found, raw.AddV2(found, counts[FALSE_POSITIVES]))


def _recall(counts: dict[str, Any]) -> Any:
    found = counts[TRUE_POSITIVES]
    return ratio(found, raw.AddV2(found, counts[FALSE_NEGATIVES]))


def f1_score(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the best F1 score, 2 * precision * recall / (precision + recall), of all thresholds.

    Args:
      labels: anything that converts to bools.
      predictions: numbers from 0 to 1, of the same shape.
      weights: a scalar, or of the same rank: each size is 1 or that of labels; None for 1.
      num_thresholds: how many thresholds are tried.
      metrics_collections: collections that the metric is added to.
      updates_collections: collections that the update is added to.
      name: of the variables' and nodes' scope.

    Example:
      >>> value, update = contrib.metrics.f1_score([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9])
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update).round(3)
      np.float32(0.8)
    """

    def best(counts: dict[str, Any], name: str) -> Any:
        precision, recall = _precision(counts), _recall(counts)
        product = raw.Mul(2.0, raw.Mul(precision, recall))
        return reduce_max(ratio(product, raw.AddV2(precision, recall)), name=name)

    with variable_scope(name, "f1", [labels, predictions, weights]):
        includes = [TRUE_POSITIVES, FALSE_NEGATIVES, FALSE_POSITIVES]
        bounds = spread(num_thresholds)
        counts = counts_at_thresholds(labels, predictions, bounds, weights, includes)
        value, update = best(counts.values, "value"), best(counts.updates, "best_f1")
        return collected(value, update, metrics_collections, updates_collections)


def precision_at_recall(
    labels: Any,
    predictions: Any,
    target_recall: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the precision at the highest threshold that still has a recall.

    Args:
      labels: anything that converts to bools.
      predictions: numbers from 0 to 1, of the same shape.
      target_recall: from 0 to 1.
      weights: a scalar, or of the same rank: each size is 1 or that of labels; None for 1.
      num_thresholds: how many thresholds are tried.
      metrics_collections: collections that the metric is added to.
      updates_collections: collections that the update is added to.
      name: of the variables' and nodes' scope.

    Raises:
      ValueError: the recall is not from 0 to 1.

    Example:
      >>> value, update = contrib.metrics.precision_at_recall([0, 1, 1], [0.6, 0.4, 0.9], 0.5)
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      np.float32(1.0)
    """
    if not 0 <= target_recall <= 1:
        raise ValueError(f"`target_recall` must be in the range [0, 1], got {target_recall}")

    def at_recall(counts: dict[str, Any], name: str) -> Any:
        found, alarms = counts[TRUE_POSITIVES], counts[FALSE_POSITIVES]
        recalls = ratio(found + EPSILON, raw.AddV2(found, counts[FALSE_NEGATIVES]))
        enough: Any = reduce_sum(cast(raw.GreaterEqual(recalls, target_recall), dtypes.int32))
        last = raw.Maximum(enough - 1, 0)  # recalls never rise with the threshold
        return ratio(found[last] + EPSILON, found[last] + alarms[last], name=name)

    with variable_scope(name, "precision_at_recall", [predictions, labels, weights]):
        counts = counts_at_thresholds(labels, predictions, spread(num_thresholds), weights)
        value, update = at_recall(counts.values, "value"), at_recall(counts.updates, "update_op")
        return collected(value, update, metrics_collections, updates_collections)


def recall_at_precision(
    labels: Any,
    predictions: Any,
    precision: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
    strict_mode: bool = False,
) -> Metric:
    """Return the recall at the threshold whose precision is nearest to a given one.

    Args:
      labels: anything that converts to bools.
      predictions: numbers from 0 to 1, of the same shape.
      precision: from 0 to 1.
      weights: a scalar, or of the same rank: each size is 1 or that of labels; None for 1.
      num_thresholds: how many thresholds are tried.
      metrics_collections: collections that the metric is added to.
      updates_collections: collections that the update is added to.
      name: of the variables' and nodes' scope.
      strict_mode: whether the precision must be reached: 0 where it is at no threshold.

    Raises:
      ValueError: the precision is not from 0 to 1.

    Example:
      >>> value, update = contrib.metrics.recall_at_precision([0, 1, 1], [0.6, 0.4, 0.9], 0.99)
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      np.float32(0.5)
    """
    if not 0 <= precision <= 1:
        raise ValueError(f"`precision` must be in the range [0, 1], got {precision}")

    def at_precision(counts: dict[str, Any], name: str) -> Any:
        precisions, recalls = _precision(counts), _recall(counts)
        if not strict_mode:
            nearest = argmin(raw.Abs(precisions - precision), 0)
            return raw.Identity(recalls[cast(nearest, dtypes.int32)], name=name)
        reached = raw.GreaterEqual(precisions, precision)
        excess = raw.SelectV2(reached, precisions - precision, 2.0)
        recall = recalls[cast(argmin(excess, 0), dtypes.int32)]
        return where(reduce_any(reached), recall, 0.0, name=name)

    with variable_scope(name, "recall_at_precision", [predictions, labels, weights]):
        counts = counts_at_thresholds(labels, predictions, spread(num_thresholds), weights)
        value = at_precision(counts.values, "value")
        update = at_precision(counts.updates, "update_op")
        return collected(value, update, metrics_collections, updates_collections)


def streaming_curve_points(
    labels: Any = None,
    predictions: Any = None,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    curve: str = "ROC",
    name: str | None = None,
) -> Metric:
    """Return points of a curve, [num_thresholds, 2], and the operation that adds a batch to it.

    Args:
      labels: anything that converts to bools.
      predictions: numbers from 0 to 1, of the same shape.
      weights: a scalar, or of the same rank: each size is 1 or that of labels; None for 1.
      num_thresholds: how many points.
      metrics_collections: collections that the metric is added to.
      updates_collections: collections that the update is added to.
      curve: "ROC", true positive rate over false positive rate; or "PR", precision over recall.
      name: of the variables' and nodes' scope.

    Raises:
      ValueError: there is no such curve.

    Example:
      >>> points, update = contrib.metrics.streaming_curve_points(
      ...     [0, 1], [0.2, 0.9], num_thresholds=3
      ... )
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      ...     session.run(points).round(2).tolist()
      [[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]
    """
    if curve not in ("ROC", "PR"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with variable_scope(name, "curve_points", [labels, predictions, weights]):
        counts = counts_at_thresholds(
            labels, predictions, spread(num_thresholds, 1.0 + EPSILON), weights
        )
        value = stack(points(counts.values, curve), 1)
        update = group(*counts.updates.values())
        return collected(value, update, metrics_collections, updates_collections)
