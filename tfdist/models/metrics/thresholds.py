"""Metrics computed from counts at thresholds: precision, recall, areas under curves.

Source: TF 1.15 API documentation, tf.metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.graph.op_def import raw
from tfdist.models.metrics.metric_variables import Metric, collected
from tfdist.models.metrics.threshold_counts import (
    FALSE_NEGATIVES,
    FALSE_POSITIVES,
    TRUE_NEGATIVES,
    TRUE_POSITIVES,
    counts_at_thresholds,
)
from tfdist.ops.array.cast import cast
from tfdist.ops.math.cumulative import cumsum
from tfdist.ops.math.reductions import reduce_min
from tfdist.ops.math.top_k import argmax, argmin
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = [
    "precision_at_thresholds", "recall_at_thresholds", "sensitivity_at_specificity",
    "specificity_at_sensitivity",
]  # fmt: skip

EPSILON = 1e-7  # keeps ratios finite, and the outermost thresholds outside


def spread(number: int, last: float = 1.0 + EPSILON) -> list[float]:
    """Return thresholds spread evenly from just below 0 to `last`."""
    inner = [(each + 1) / (number - 1) for each in range(number - 2)]
    return [0.0 - EPSILON, *inner, last]


def ratio(part: Any, whole: Any, epsilon: float = EPSILON, name: str | None = None) -> Any:
    """Return part / (whole + epsilon)."""
    return raw.RealDiv(part, raw.AddV2(whole, epsilon, name="add"), name=name or "div")


def _part(part: Any, rest: Any, name: str) -> Any:
    whole = raw.AddV2(raw.AddV2(EPSILON, part, name="add"), rest, name="add")
    return raw.RealDiv(part, whole, name=name)


def _part_at_thresholds(what: str, rest: str, *arguments: Any) -> Metric:
    """Return the metric true positives / (true positives + rest) at thresholds."""
    labels, predictions, thresholds, weights, metrics, updates, name = arguments
    with variable_scope(name, f"{what}_at_thresholds", [predictions, labels, weights]):
        counts = counts_at_thresholds(
            labels, predictions, thresholds, weights, [TRUE_POSITIVES, rest]
        )
        value = _part(counts.values[TRUE_POSITIVES], counts.values[rest], f"{what}_value")
        update = _part(counts.updates[TRUE_POSITIVES], counts.updates[rest], f"{what}_update_op")
        return collected(value, update, metrics, updates)


def precision_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the precision at each threshold; arguments as of `true_positives_at_thresholds`.

    Example:
      >>> value, update = metrics.precision_at_thresholds([1, 0], [0.9, 0.4], [0.3, 0.5])
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update).round(3)
      array([0.5, 1. ], dtype=float32)
    """
    return _part_at_thresholds(
        "precision", FALSE_POSITIVES, labels, predictions, thresholds, weights,
        metrics_collections, updates_collections, name,
    )  # fmt: skip


def recall_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the recall at each threshold; arguments as of `true_positives_at_thresholds`.

    Example:
      >>> value, update = metrics.recall_at_thresholds([1, 1], [0.9, 0.4], [0.3, 0.5])
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update).round(3)
      array([1. , 0.5], dtype=float32)
    """
    return _part_at_thresholds(
        "recall", FALSE_NEGATIVES, labels, predictions, thresholds, weights,
        metrics_collections, updates_collections, name,
    )  # fmt: skip


def _at_rate(
    public: str, rate: float, last: float, compute: Callable[..., Any], *arguments: Any
) -> Metric:
    """Return the metric that `compute` makes of counts, a rate and a name."""
    labels, predictions, weights, num_thresholds, metrics, updates, name = arguments
    if not 0 <= rate <= 1:
        raise ValueError(f"{public.rpartition('_')[2]} must be in the range [0, 1], but is {rate}")
    with variable_scope(name, public, [predictions, labels, weights]):
        counts = counts_at_thresholds(labels, predictions, spread(num_thresholds, last), weights)
        value = compute(counts.values, rate, "value")
        update = compute(counts.updates, rate, "update_op")
        return collected(value, update, metrics, updates)


def _sensitivity(counts: dict[str, Any], specificity: float, name: str) -> Any:
    negatives, alarms = counts[TRUE_NEGATIVES], counts[FALSE_POSITIVES]
    rates: Any = ratio(negatives, raw.AddV2(negatives, alarms, name="add"))
    nearest = cast(argmin(raw.Abs(rates - specificity), 0), dtypes.int32)
    return _at(nearest, counts[TRUE_POSITIVES], counts[FALSE_NEGATIVES], name)


def _specificity(counts: dict[str, Any], sensitivity: float, name: str) -> Any:
    found, missed = counts[TRUE_POSITIVES], counts[FALSE_NEGATIVES]
    rates: Any = ratio(found, raw.AddV2(found, missed, name="add"))
    least = reduce_min(raw.Abs(rates - sensitivity))
    is_least = raw.Equal(raw.Abs(rates - sensitivity), least)
    # the last of the nearest: there the count of those so far is first at its greatest
    nearest = cast(argmax(cumsum(cast(is_least, dtypes.int64)), 0), dtypes.int32)
    return _at(nearest, counts[TRUE_NEGATIVES], counts[FALSE_POSITIVES], name)


def _at(nearest: Any, part: Any, rest: Any, name: str) -> Any:
    """Return part / (part + rest) at one threshold."""
    here = part[nearest]
    return ratio(here, raw.AddV2(part[nearest], rest[nearest], name="add"), name=name)


def sensitivity_at_specificity(
    labels: Any,
    predictions: Any,
    specificity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the part of ones that are found, where a given part of zeros is recognised.

    Args:
      labels: anything that converts to bools.
      predictions: numbers from 0 to 1, of the same shape.
      specificity: the part of zeros that shall be recognised, from 0 to 1.
      weights: a scalar, or of the same rank: each size is 1 or that of labels; None for 1.
      num_thresholds: how many thresholds are tried.
      metrics_collections: collections that the metric is added to.
      updates_collections: collections that the update is added to.
      name: of the variables' and nodes' scope.

    Raises:
      ValueError: the specificity is not from 0 to 1.

    Example:
      >>> value, update = metrics.sensitivity_at_specificity(
      ...     [0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], 0.5
      ... )
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update).round(3)
      np.float32(1.0)
    """
    return _at_rate(
        "sensitivity_at_specificity", specificity, 1.0 + EPSILON, _sensitivity, labels,
        predictions, weights, num_thresholds, metrics_collections, updates_collections, name,
    )  # fmt: skip


def specificity_at_sensitivity(
    labels: Any,
    predictions: Any,
    sensitivity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the part of zeros that are recognised, where a given part of ones is found.

    `sensitivity` is that part, from 0 to 1; the other arguments are those of
    `sensitivity_at_specificity`.

    Example:
      >>> value, update = metrics.specificity_at_sensitivity(
      ...     [0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], 1.0
      ... )
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update).round(3)
      np.float32(0.5)
    """
    return _at_rate(
        "specificity_at_sensitivity", sensitivity, 1.0 - EPSILON, _specificity, labels,
        predictions, weights, num_thresholds, metrics_collections, updates_collections, name,
    )  # fmt: skip
