"""Metrics that are means: of values, of what is right, of errors.

Source: TF 1.15 API documentation, tf.metrics.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import control_dependencies
from tfdist.models.losses.weights import broadcast_weights, remove_squeezable_dimensions
from tfdist.models.metrics.metric_variables import (
    Metric,
    aligned,
    collected,
    metric_variable,
    safe_ratio,
)
from tfdist.ops.array.cast import cast
from tfdist.ops.array.fill import ones_like, zeros_like
from tfdist.ops.array.shape import size
from tfdist.ops.math.comparison import where
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.variables.state_ops import assign_add
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = [
    "accuracy", "mean", "mean_absolute_error", "mean_cosine_distance", "mean_relative_error",
    "mean_squared_error", "mean_tensor", "percentage_below", "root_mean_squared_error",
]  # fmt: skip


def mean(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the weighted mean of all values so far, and the op that adds some.

    Args:
      values: a tensor of numbers.
      weights: a scalar, or of the same rank: each size is 1 or that of values; None for 1.
      metrics_collections: collections that the metric is added to.
      updates_collections: collections that the update is added to.
      name: of the variables' and nodes' scope.

    Returns:
      The metric (0 before the first update), and the op that updates it and gives it; both float32.

    Raises:
      ValueError: the weights do not broadcast to values.

    Example:
      >>> value, update = metrics.mean([1.0, 5.0])
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      np.float32(3.0)
    """
    with variable_scope(name, "mean", [values, weights]):
        values = cast(values, dtypes.float32)
        total = metric_variable([], dtypes.float32, "total")
        count = metric_variable([], dtypes.float32, "count")
        if weights is None:
            number = cast(size(values), dtypes.float32)
        else:
            values, weights = _weighted(values, weights)
            number = reduce_sum(weights)
        return _ratio(
            total, count, reduce_sum(values), number, values, metrics_collections,
            updates_collections,
        )  # fmt: skip


def _weighted(values: Any, weights: Any) -> tuple[Tensor, Tensor]:
    values, _, weights = aligned(values, None, weights)
    weights = broadcast_weights(cast(weights, dtypes.float32), values)
    return raw.Mul(values, weights), weights


def _ratio(
    total: Any, count: Any, part: Any, number: Any, values: Any, metrics: Any, updates: Any
) -> Metric:
    """Return total / count, and the same after adding `part` and `number` to them."""
    new_total = assign_add(total, part)
    with control_dependencies([values]):
        new_count = assign_add(count, number)
    value = safe_ratio(total, count, "value")
    update = safe_ratio(new_total, new_count, "update_op")
    return collected(value, update, metrics, updates)


def mean_tensor(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the mean of each element of `values` over all updates; arguments as of `mean`.

    Example:
      >>> value, update = metrics.mean_tensor([1.0, 5.0])
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      array([1., 5.], dtype=float32)
    """
    with variable_scope(name, "mean", [values, weights]):
        values = cast(values, dtypes.float32)
        shape = values.get_shape().as_list()
        total = metric_variable(shape, dtypes.float32, "total_tensor")
        count = metric_variable(shape, dtypes.float32, "count_tensor")
        number = ones_like(values)
        if weights is not None:
            values, weights = _weighted(values, weights)
            number = raw.Mul(number, weights)
        return _ratio(
            total, count, values, number, values, metrics_collections, updates_collections
        )


def accuracy(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return how often predictions are labels; the other arguments are those of `mean`.

    Example:
      >>> value, update = metrics.accuracy([1, 2, 3, 4], [1, 2, 0, 0])
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      np.float32(0.5)
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    if labels.dtype is not predictions.dtype:
        predictions = cast(predictions, labels.dtype)
    correct = cast(raw.Equal(predictions, labels), dtypes.float32)
    return mean(correct, weights, metrics_collections, updates_collections, name or "accuracy")


def mean_absolute_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the mean of |predictions - labels|; the other arguments are those of `mean`.

    Example:
      >>> value, update = metrics.mean_absolute_error([1.0, 2.0], [2.0, 5.0])
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      np.float32(2.0)
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    errors = raw.Abs(predictions - labels)  # type: ignore[operator]
    name = name or "mean_absolute_error"
    return mean(errors, weights, metrics_collections, updates_collections, name)


def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the mean of (predictions - labels)**2; the other arguments are those of `mean`.

    Example:
      >>> value, update = metrics.mean_squared_error([1.0, 2.0], [2.0, 5.0])
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      np.float32(5.0)
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    errors = raw.SquaredDifference(labels, predictions)
    name = name or "mean_squared_error"
    return mean(errors, weights, metrics_collections, updates_collections, name)


def root_mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the root of `mean_squared_error`; the other arguments are those of `mean`.

    Example:
      >>> value, update = metrics.root_mean_squared_error([1.0, 2.0], [3.0, 4.0])
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      np.float32(2.0)
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    name = name or "root_mean_squared_error"
    value, update = mean_squared_error(labels, predictions, weights, name=name)
    roots = raw.Sqrt(value), raw.Sqrt(update)
    return collected(*roots, metrics_collections, updates_collections)


def mean_relative_error(
    labels: Any,
    predictions: Any,
    normalizer: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the mean of |labels - predictions| / normalizer, 0 where the normalizer is 0.

    The normalizer has the shape of labels; the other arguments are those of `mean`.

    Example:
      >>> value, update = metrics.mean_relative_error([1.0, 2.0], [2.0, 4.0], [1.0, 2.0])
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      np.float32(1.0)
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    predictions, normalizer = remove_squeezable_dimensions(predictions, normalizer)
    predictions.get_shape().assert_is_compatible_with(normalizer.get_shape())
    is_zero = raw.Equal(normalizer, 0.0)
    nothing = zeros_like(labels)
    errors = raw.RealDiv(raw.Abs(labels - predictions), normalizer, name="div")  # type: ignore[operator]
    errors = where(is_zero, nothing, errors)
    name = name or "mean_relative_error"
    return mean(errors, weights, metrics_collections, updates_collections, name)


def mean_cosine_distance(
    labels: Any,
    predictions: Any,
    dim: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the mean of 1 - the inner product along `dim`; see `tf.losses.cosine_distance`.

    Both are unit vectors along `dim` already. The other arguments are those of `mean`.

    Example:
      >>> value, update = metrics.mean_cosine_distance([[1.0, 0.0]], [[0.0, 1.0]], 1)
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      np.float32(1.0)
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    product = reduce_sum(raw.Mul(predictions, labels), [dim], keepdims=True)
    value, update = mean(product, weights, None, None, name or "mean_cosine_distance")
    distances = raw.Sub(1.0, value), raw.Sub(1.0, update)
    return collected(*distances, metrics_collections, updates_collections)


def percentage_below(
    values: Any,
    threshold: float,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the part of values, from 0 to 1, that lie below a threshold; arguments as of `mean`.

    Example:
      >>> value, update = metrics.percentage_below([1.0, 2.0, 3.0, 4.0], 2.0)
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      np.float32(0.25)
    """
    below = cast(raw.Less(values, threshold), dtypes.float32)
    name = name or "percentage_below_threshold"
    return mean(below, weights, metrics_collections, updates_collections, name)
