"""Right and wrong answers at several thresholds: what predictions above each one would count.

Source: TF 1.15 API documentation, tf.metrics.true_positives_at_thresholds and its relatives.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from tfdist.base import dtypes
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import control_dependencies
from tfdist.models.losses.weights import broadcast_weights
from tfdist.models.metrics.metric_variables import Metric, aligned, collected, metric_variable
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import stack
from tfdist.ops.array.constants import constant
from tfdist.ops.array.reshape import expand_dims, reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.array.tile_roll import tile
from tfdist.ops.array.transpose import transpose
from tfdist.ops.checks.assertions import assert_greater_equal, assert_less_equal
from tfdist.ops.control_flow.identity_group import identity
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.variables.state_ops import assign_add
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = [
    "false_negatives_at_thresholds", "false_positives_at_thresholds",
    "true_negatives_at_thresholds", "true_positives_at_thresholds",
]  # fmt: skip

TRUE_POSITIVES, FALSE_NEGATIVES = "true_positives", "false_negatives"
TRUE_NEGATIVES, FALSE_POSITIVES = "true_negatives", "false_positives"

# What is counted -> whether the label is 1, whether the prediction lies above; in this order.
ALL = {
    TRUE_POSITIVES: (True, True),
    FALSE_NEGATIVES: (True, False),
    TRUE_NEGATIVES: (False, False),
    FALSE_POSITIVES: (False, True),
}


class Counts(NamedTuple):
    """Variables [thresholds] by what they count, and the ops that update and give them."""

    values: dict[str, Any]
    updates: dict[str, Any]


class _Answers(NamedTuple):
    """Bools [thresholds, predictions]: what labels are, what predictions would be, and not."""

    label: dict[bool, Any]
    prediction: dict[bool, Any]
    weights: Any


def counts_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    includes: Collection[str] = tuple(ALL),
) -> Counts:
    """Return counts at each threshold.

    Args:
      labels: anything that converts to bools.
      predictions: from 0 to 1, of the same shape.
      thresholds: numbers.
      weights: a scalar, or of the same rank: each size is 1 or that of labels; None for 1.
      includes: what is counted, of `ALL`.

    Raises:
      InvalidArgumentError: a prediction is not from 0 to 1, when it runs.
    """
    with control_dependencies(_in_range(predictions)):
        predictions, labels, weights = aligned(
            cast(predictions, dtypes.float32), cast(labels, dtypes.bool_), weights
        )
    answers = _answers(labels, predictions, thresholds, weights, includes)
    counts = Counts({}, {})
    for name, (label, prediction) in ALL.items():
        if name in includes:
            variable = metric_variable([len(thresholds)], dtypes.float32, name)
            both = raw.LogicalAnd(answers.label[label], answers.prediction[prediction])
            counted: Any = cast(both, dtypes.float32)
            if answers.weights is not None:
                counted = counted * answers.weights
            counts.updates[name] = assign_add(variable, reduce_sum(counted, 1))
            counts.values[name] = variable.value()
    return counts


def _in_range(predictions: Any) -> list[Any]:
    message = "predictions must be in [0, 1]"
    dtype = predictions.dtype if hasattr(predictions, "dtype") else dtypes.float32
    return [
        assert_greater_equal(predictions, cast(0.0, dtype), message=message),
        assert_less_equal(predictions, cast(1.0, dtype), message=message),
    ]


def _answers(
    labels: Any, predictions: Any, thresholds: Sequence[float], weights: Any,
    includes: Collection[str],
) -> _Answers:  # fmt: skip
    count = len(thresholds)
    column, row = reshape(predictions, [-1, 1]), reshape(labels, [1, -1])
    batch = column.get_shape()[0].value  # known, or a tensor
    if batch is None:
        sizes: Any = shape(column)
        batch = sizes[0]
    bounds = constant(list(thresholds), dtypes.float32)
    bounds = tile(expand_dims(bounds, [1]), stack([1, batch]))
    above = raw.Greater(tile(transpose(column), [count, 1]), bounds)
    prediction, label = {True: above}, {}
    if {FALSE_NEGATIVES, TRUE_NEGATIVES} & set(includes):
        prediction[False] = raw.LogicalNot(above)
    label[True] = tile(row, [count, 1])
    if {FALSE_POSITIVES, TRUE_NEGATIVES} & set(includes):
        label[False] = raw.LogicalNot(label[True])
    if weights is not None:
        weights = broadcast_weights(cast(weights, dtypes.float32), predictions)
        weights = tile(reshape(weights, [1, -1]), [count, 1])
    return _Answers(label, prediction, weights)


def _at_thresholds(what: str, words: str) -> Callable[..., Metric]:
    """Return the public function that counts one thing at thresholds."""
    public = f"{what}_at_thresholds"

    def function(
        labels: Any,
        predictions: Any,
        thresholds: Sequence[float],
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, what, [predictions, labels, weights]):
            counts = counts_at_thresholds(labels, predictions, thresholds, weights, [what])
            value = identity(counts.values[what])
            return collected(value, counts.updates[what], metrics_collections, updates_collections)

    label, prediction = ALL[what]
    function.__name__ = function.__qualname__ = public
    function.__doc__ = f"""Return how many {words}, at each threshold.

    Args:
      labels: anything that converts to bools.
      predictions: numbers from 0 to 1, of the same shape.
      thresholds: a list of numbers: a prediction above one counts as a one.
      weights: a scalar, or of the same rank: each size is 1 or that of labels; None for 1.
      metrics_collections: collections that the metric is added to.
      updates_collections: collections that the update is added to.
      name: of the variables' and nodes' scope.

    Returns:
      The metric, and the op that updates it and gives it; both float32 [thresholds].

    Example:
      >>> value, update = metrics.{public}([{label}], [0.5], [{0.2 if prediction else 0.8}])
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      array([1.], dtype=float32)
    """
    return function


true_positives_at_thresholds = _at_thresholds(TRUE_POSITIVES, "predicted ones are ones")
false_negatives_at_thresholds = _at_thresholds(FALSE_NEGATIVES, "predicted zeros are ones")
true_negatives_at_thresholds = _at_thresholds(TRUE_NEGATIVES, "predicted zeros are zeros")
false_positives_at_thresholds = _at_thresholds(FALSE_POSITIVES, "predicted ones are zeros")
