"""Metrics that count what a yes-or-no question was answered: right and wrong, and their ratios.

Source: TF 1.15 API documentation, tf.metrics.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.base import dtypes
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import control_dependencies
from tfdist.models.metrics.metric_variables import Metric, aligned, collected, metric_variable
from tfdist.ops.array.cast import cast
from tfdist.ops.array.shape import rank
from tfdist.ops.checks.rank_assertions import assert_rank_in
from tfdist.ops.checks.type_assertions import assert_type
from tfdist.ops.control_flow.identity_group import identity
from tfdist.ops.math.comparison import where
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.variables.state_ops import assign_add
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = [
    "false_negatives", "false_positives", "precision", "recall", "true_negatives",
    "true_positives",
]  # fmt: skip


def _counted(
    is_counted: Any, weights: Any, metrics_collections: Any, updates_collections: Any
) -> Metric:
    """Return how many elements were true so far, each counted by its weight."""
    assert_type(is_counted, dtypes.bool_)
    count = metric_variable([], dtypes.float32, "count")
    values = cast(is_counted, dtypes.float32)
    if weights is not None:
        with control_dependencies([assert_rank_in(weights, (0, rank(values)))]):
            values = raw.Mul(values, cast(weights, dtypes.float32))
    value = identity(count)
    update = assign_add(count, reduce_sum(values))
    return collected(value, update, metrics_collections, updates_collections)


def _count(public: str, what: str, label: bool, prediction: bool) -> Callable[..., Metric]:
    """Return the public function that counts where label and prediction are these."""

    def function(
        labels: Any,
        predictions: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, public, [predictions, labels, weights]):
            predictions, labels, weights = aligned(
                cast(predictions, dtypes.bool_), cast(labels, dtypes.bool_), weights
            )
            labelled, predicted = raw.Equal(labels, label), raw.Equal(predictions, prediction)
            both = raw.LogicalAnd(labelled, predicted)
            return _counted(both, weights, metrics_collections, updates_collections)

    function.__name__ = function.__qualname__ = public
    function.__doc__ = f"""Return how many {what}.

    Args:
      labels: anything that converts to bools.
      predictions: anything that converts to bools, of the same shape.
      weights: a scalar, or of the same rank: each size is 1 or that of labels; None for 1.
      metrics_collections: collections that the metric is added to.
      updates_collections: collections that the update is added to.
      name: of the variables' and nodes' scope.

    Returns:
      The metric, and the op that updates it and gives it; both float32.

    Example:
      >>> value, update = metrics.{public}([{label}], [{prediction}])
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      np.float32(1.0)
    """
    return function


true_positives = _count("true_positives", "predicted ones are ones", True, True)
false_positives = _count("false_positives", "predicted ones are zeros", False, True)
true_negatives = _count("true_negatives", "predicted zeros are zeros", False, False)
false_negatives = _count("false_negatives", "predicted zeros are ones", True, False)


def _ratio(part: Any, rest: Any, name: str) -> Any:
    """Return part / (part + rest), 0 where nothing was counted."""
    is_any = raw.Greater(raw.AddV2(part, rest, name="add"), 0.0)
    ratio = raw.RealDiv(part, raw.AddV2(part, rest, name="add"), name="div")
    return where(is_any, ratio, 0.0, name=name)


def precision(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the part of predicted ones that are ones; arguments as of `true_positives`.

    Example:
      >>> value, update = metrics.precision([1, 0, 0, 1], [1, 1, 0, 0])
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      np.float32(0.5)
    """
    with variable_scope(name, "precision", [predictions, labels, weights]):
        predictions, labels, weights = aligned(
            cast(predictions, dtypes.bool_), cast(labels, dtypes.bool_), weights
        )
        found, new_found = true_positives(labels, predictions, weights)
        wrong, new_wrong = false_positives(labels, predictions, weights)
        value, update = _ratio(found, wrong, "value"), _ratio(new_found, new_wrong, "update_op")
        return collected(value, update, metrics_collections, updates_collections)


def recall(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the part of ones that are predicted; arguments as of `true_positives`.

    Example:
      >>> value, update = metrics.recall([1, 0, 0, 1], [1, 1, 0, 0])
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      np.float32(0.5)
    """
    with variable_scope(name, "recall", [predictions, labels, weights]):
        predictions, labels, weights = aligned(
            cast(predictions, dtypes.bool_), cast(labels, dtypes.bool_), weights
        )
        found, new_found = true_positives(labels, predictions, weights)
        missed, new_missed = false_negatives(labels, predictions, weights)
        value, update = _ratio(found, missed, "value"), _ratio(new_found, new_missed, "update_op")
        return collected(value, update, metrics_collections, updates_collections)
