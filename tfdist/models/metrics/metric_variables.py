"""What all metrics share: their variables, how operands are brought into line, collections.

A metric is a pair: what it is now, computed from local variables, and the op that adds a batch to
these and gives what it is then. Whoever evaluates runs `local_variables_initializer()` first.

Source: TF 1.15 API documentation, tf.metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import add_to_collections
from tfdist.models.losses.weights import fitted, remove_squeezable_dimensions
from tfdist.ops.array.fill import zeros
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.synchronization import VariableAggregation, VariableSynchronization
from tfdist.ops.variables.variable import Variable

Metric = tuple[Any, Any]
Compute = Callable[[Sequence[Any], str], Any]


def metric_variable(
    shape: Sequence[int], dtype: Any, name: str, validate_shape: bool = True
) -> Variable:
    """Return a local variable of zeros, in the collection of metrics' variables, too."""
    return Variable(
        lambda: zeros(list(shape), dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        validate_shape=validate_shape,
        name=name,
        synchronization=VariableSynchronization.ON_READ,
        aggregation=VariableAggregation.SUM,
    )


def aligned(predictions: Any, labels: Any, weights: Any) -> tuple[Tensor, Tensor, Any]:
    """Return all three, without a last axis of size 1 that one has too many.

    Raises:
      ValueError: predictions and labels have different shapes.
    """
    predictions = convert_to_tensor(predictions)
    if labels is not None:
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    if weights is None:
        return predictions, labels, None
    return predictions, labels, fitted(weights, predictions, widen=True)


def safe_ratio(part: Any, whole: Any, name: str | None) -> Tensor:
    """Return part / whole, 0 where the whole is not above 0."""
    tensor: Tensor = raw.DivNoNan(part, raw.Maximum(whole, 0.0), name=name or "div_no_nan")
    return tensor


def collected(
    value: Any, update: Any, metrics_collections: Any, updates_collections: Any
) -> Metric:
    """Return a metric, after adding its parts to the collections given (None for none)."""
    if metrics_collections:
        add_to_collections(metrics_collections, value)
    if updates_collections:
        add_to_collections(updates_collections, update)
    return value, update
