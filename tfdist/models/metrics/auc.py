"""The area under a curve: of true over false positives (ROC), or precision over recall (PR).

Source: TF 1.15 API documentation, tf.metrics.auc; Davis and Goadrich 2006, "The relationship
between precision-recall and ROC curves", for the careful interpolation.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from tfdist.graph.op_def import raw
from tfdist.models.metrics.metric_variables import Metric, collected, safe_ratio
from tfdist.models.metrics.threshold_counts import (
    FALSE_NEGATIVES,
    FALSE_POSITIVES,
    TRUE_NEGATIVES,
    TRUE_POSITIVES,
    counts_at_thresholds,
)
from tfdist.models.metrics.thresholds import EPSILON, ratio, spread
from tfdist.ops.array.fill import ones_like
from tfdist.ops.math.comparison import where
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = ["auc"]

_LOG = logging.getLogger("tensorflow")

_SMOOTHING = 1e-6
_HEIGHTS = {"minoring": "Minimum", "majoring": "Maximum"}
_METHODS = ("trapezoidal", "careful_interpolation", *_HEIGHTS)


def auc(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    curve: str = "ROC",
    name: str | None = None,
    summation_method: str = "trapezoidal",
    thresholds: Sequence[float] | None = None,
) -> Metric:
    """Return the area under a curve through points at several thresholds.

    Args:
      labels: anything that converts to bools.
      predictions: numbers from 0 to 1, of the same shape.
      weights: a scalar, or of the same rank: each size is 1 or that of labels; None for 1.
      num_thresholds: how many thresholds there are.
      metrics_collections: collections that the metric is added to.
      updates_collections: collections that the update is added to.
      curve: "ROC" or "PR".
      name: of the variables' and nodes' scope.
      summation_method: "trapezoidal", "careful_interpolation" (for "PR"), "minoring" or
        "majoring": what height stands between two points.
      thresholds: numbers inside (0, 1), instead of a number of them.

    Returns:
      The metric, and the op that updates it and gives it; both float32.

    Raises:
      ValueError: there is no such curve or summation method.
      InvalidArgumentError: a prediction is not from 0 to 1, when it runs.

    Example:
      >>> value, update = metrics.auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update).round(3)
      np.float32(0.75)
    """
    if curve not in ("ROC", "PR"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    if summation_method not in _METHODS:
        raise ValueError(
            f"Invalid summation_method: {summation_method}; there are {', '.join(_METHODS)}"
        )
    with variable_scope(name, "auc", [labels, predictions, weights]):
        bounds = _bounds(num_thresholds, thresholds)
        counts = counts_at_thresholds(labels, predictions, bounds, weights)
        method = (curve, summation_method, len(bounds) - 1)
        value = _area(counts.values, *method, "value")
        update = _area(counts.updates, *method, "update_op")
        return collected(value, update, metrics_collections, updates_collections)


def _bounds(num_thresholds: int, thresholds: Sequence[float] | None) -> list[float]:
    if thresholds is None:
        return spread(num_thresholds)
    return [0.0 - EPSILON, *sorted(thresholds), 1.0 + EPSILON]


def _area(counts: dict[str, Any], curve: str, method: str, last: int, name: str) -> Any:
    if curve == "PR":
        if method == "careful_interpolation":
            return _interpolated(counts, last)
        _LOG.warning(
            "the %s rule is known to produce incorrect PR-AUCs; "
            'please switch to "careful_interpolation" instead', method,
        )  # fmt: skip
    x, y = points(counts, curve)
    widths = x[:last] - x[1:]
    if method in _HEIGHTS:
        heights = getattr(raw, _HEIGHTS[method])(y[:last], y[1:])
    else:
        heights = (y[:last] + y[1:]) / 2.0
    return reduce_sum(raw.Mul(widths, heights), name=name)


def points(counts: dict[str, Any], curve: str) -> tuple[Any, Any]:
    """Return the curve's x and y at each threshold."""
    found, alarms = counts[TRUE_POSITIVES], counts[FALSE_POSITIVES]
    recall = ratio(found + _SMOOTHING, found + counts[FALSE_NEGATIVES], _SMOOTHING)
    if curve == "ROC":
        return ratio(alarms, alarms + counts[TRUE_NEGATIVES], _SMOOTHING), recall
    return recall, ratio(found + _SMOOTHING, found + alarms, _SMOOTHING)


def _interpolated(counts: dict[str, Any], last: int) -> Any:
    """Return the area under precision over recall, with true positives linear in positives."""
    found = counts[TRUE_POSITIVES]
    more = found[:last] - found[1:]
    positives = found + counts[FALSE_POSITIVES]
    slope = safe_ratio(more, positives[:last] - positives[1:], "prec_slope")
    intercept = found[1:] - raw.Mul(slope, positives[1:])
    is_safe = raw.LogicalAnd(positives[:last] > 0, positives[1:] > 0)
    growth = safe_ratio(positives[:last], positives[1:], "recall_relative_ratio")
    growth = where(is_safe, growth, ones_like(positives[1:]))
    parts = slope * (more + intercept * raw.Log(growth))  # type: ignore[operator]
    ones = found[1:] + counts[FALSE_NEGATIVES][1:]
    increments = safe_ratio(parts, ones, "pr_auc_increment")
    return reduce_sum(increments, name="interpolate_pr_auc")
