"""Metrics of ranked predictions: how many of the k first are right, and how soon.

Labels are sets of classes: integers [..., labels], [...] for one each, or a SparseTensor.

Source: TF 1.15 API documentation, tf.metrics.precision_at_k, recall_at_k, average_precision_at_k.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import name_scope
from tfdist.models.metrics.metric_variables import Metric, collected, metric_variable
from tfdist.ops.array.cast import cast, to_int64
from tfdist.ops.array.fill import ones_like
from tfdist.ops.array.range import range as range_of
from tfdist.ops.array.reshape import expand_dims
from tfdist.ops.array.shape import shape
from tfdist.ops.math.cumulative import cumsum
from tfdist.ops.math.reductions import reduce_any, reduce_sum
from tfdist.ops.nn import functions as nn
from tfdist.ops.sparse.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from tfdist.ops.sparse.to_dense import sparse_tensor_to_dense
from tfdist.ops.variables.state_ops import assign_add

__all__ = [
    "average_precision_at_k", "precision_at_k", "precision_at_top_k", "recall_at_k",
    "recall_at_top_k", "sparse_average_precision_at_k", "sparse_precision_at_k",
]  # fmt: skip


class _Sets(NamedTuple):
    """Elements [..., n] of sets, and which of them count: bools, or None for all."""

    elements: Any
    counts: Any


def _label_sets(labels: Any, predictions: Any) -> _Sets:
    labels = convert_to_tensor_or_sparse_tensor(labels)
    if isinstance(labels, SparseTensor):
        present = SparseTensor(labels.indices, ones_like(labels.values), labels.dense_shape)
        counts = raw.Equal(sparse_tensor_to_dense(present), 1)
        return _Sets(to_int64(sparse_tensor_to_dense(labels)), counts)
    labels = to_int64(labels)
    if len(labels.plain_shape) == len(predictions.plain_shape) - 1:
        labels = expand_dims(labels, -1)
    return _Sets(labels, None)


def _equal(one: Any, other: Any) -> Any:
    """Return whether elements are equal, for each of one [..., n] and of the other [..., m]."""
    return raw.Equal(expand_dims(one, -1), expand_dims(other, -2))


def _contained(found: _Sets, other: _Sets) -> Any:
    """Return whether each element of `found` is in `other`."""
    equal = _equal(found.elements, other.elements)
    if other.counts is not None:
        equal = raw.LogicalAnd(equal, expand_dims(other.counts, -2))
    return reduce_any(equal, -1)


def _once(sets: _Sets) -> Any:
    """Return which elements count: each once, where it first stands."""
    sizes: Any = shape(sets.elements)
    numbers = range_of(sizes[-1])
    is_before = raw.Less(expand_dims(numbers, 0), expand_dims(numbers, 1))
    repeats = raw.LogicalAnd(_equal(sets.elements, sets.elements), is_before)
    if sets.counts is not None:
        repeats = raw.LogicalAnd(repeats, expand_dims(sets.counts, -2))
    first = raw.LogicalNot(reduce_any(repeats, -1))
    return first if sets.counts is None else raw.LogicalAnd(first, sets.counts)


def _restricted(counts: Any, sets: _Sets, class_id: int | None) -> Any:
    """Return which elements count, only those of a class if one is given."""
    if class_id is None:
        return counts
    return raw.LogicalAnd(counts, raw.Equal(sets.elements, convert_to_tensor(class_id, "int64")))


def _summed(counts: Any, weights: Any, name: str) -> tuple[Any, Any]:
    """Return a variable that sums up counts [..., n], and the op that adds some."""
    with name_scope(None, name, [counts, weights]) as scope:
        number: Any = cast(reduce_sum(cast(counts, dtypes.int32), -1), dtypes.float64)
        if weights is not None:
            number = number * cast(weights, dtypes.float64)
        variable = metric_variable([], dtypes.float64, scope)
        return variable.value(), assign_add(variable, reduce_sum(number))


def _label(name: str, k: int | None, class_id: int | None) -> str:
    ending = "" if class_id is None else f"_class{class_id}"
    return f"{name}_at_{'k' if k is None else k}{ending}"


def _part(
    what: str, missed: str, labels: Any, predictions_idx: Any, k: int | None,
    class_id: int | None, weights: Any, metrics: Any, updates: Any, name: str | None,
) -> Metric:  # fmt: skip
    """Return the metric true positives / (true positives + missed)."""
    with name_scope(name, _label(what, k, class_id), [predictions_idx, labels, weights]) as scope:
        predicted = _Sets(to_int64(convert_to_tensor(predictions_idx)), None)
        wanted = _label_sets(labels, predicted.elements)
        once = _restricted(_once(predicted), predicted, class_id)
        is_right = _contained(predicted, wanted)
        right = raw.LogicalAnd(once, is_right)
        if missed == "false_positive":
            rest = raw.LogicalAnd(once, raw.LogicalNot(is_right))
        else:
            each = _restricted(_once(wanted), wanted, class_id)
            rest = raw.LogicalAnd(each, raw.LogicalNot(_contained(wanted, predicted)))
        found, more = _summed(right, weights, _label("true_positive", k, class_id))
        lost, less = _summed(rest, weights, _label(missed, k, class_id))
        value = raw.RealDiv(found, raw.AddV2(found, lost, name="add"), name=scope)
        update = raw.RealDiv(more, raw.AddV2(more, less, name="add"), name="update")
        return collected(value, update, metrics, updates)


def precision_at_top_k(
    labels: Any,
    predictions_idx: Any,
    k: int | None = None,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the part of predicted classes that are labels.

    Args:
      labels: sets of classes, see the top of this file.
      predictions_idx: integers [..., k], predicted classes.
      k: for the name only.
      class_id: only predictions of this class count, if it is given.
      weights: [...], what each set counts; None for 1.
      metrics_collections: collections that the metric is added to.
      updates_collections: collections that the update is added to.
      name: of the variables' and nodes' scope.

    Returns:
      The metric (NaN before the first update), and the op that updates it; both float64.

    Example:
      >>> value, update = metrics.precision_at_top_k([[0, 2]], [[2, 1]])
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      np.float64(0.5)
    """
    return _part(
        "precision", "false_positive", labels, predictions_idx, k, class_id, weights,
        metrics_collections, updates_collections, name,
    )  # fmt: skip


def recall_at_top_k(
    labels: Any,
    predictions_idx: Any,
    k: int | None = None,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the part of labels that are predicted; arguments as of `precision_at_top_k`.

    Example:
      >>> value, update = metrics.recall_at_top_k([[0, 2, 3, 4]], [[2, 1]])
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      np.float64(0.25)
    """
    return _part(
        "recall", "false_negative", labels, predictions_idx, k, class_id, weights,
        metrics_collections, updates_collections, name,
    )  # fmt: skip


def precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the part of the k most likely classes that are labels.

    `predictions` are scores [..., classes]; the other arguments are those of
    `precision_at_top_k`.

    Example:
      >>> value, update = metrics.precision_at_k([[0, 2]], [[0.1, 0.4, 0.5]], 2)
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      np.float64(0.5)
    """
    with name_scope(
        name, _label("precision", k, class_id), [predictions, labels, weights]
    ) as scope:
        top = nn.top_k(predictions, k).indices
        return precision_at_top_k(
            labels, top, k, class_id, weights, metrics_collections, updates_collections, scope
        )


def recall_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the part of labels that are among the k most likely classes; see `precision_at_k`.

    Example:
      >>> value, update = metrics.recall_at_k([[0, 2]], [[0.1, 0.4, 0.5]], 2)
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      np.float64(0.5)
    """
    with name_scope(name, _label("recall", k, class_id), [predictions, labels, weights]) as scope:
        top = nn.top_k(predictions, k).indices
        return recall_at_top_k(
            labels, top, k, class_id, weights, metrics_collections, updates_collections, scope
        )


def average_precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the mean of each set's average precision: how soon its labels come.

    That is the sum, over the first k places with a label, of the precision up to there, divided by
    k, or by the number of labels if that is less. The arguments are those of `precision_at_k`.

    Example: the only label comes second.
      >>> value, update = metrics.average_precision_at_k([[2]], [[0.1, 0.5, 0.4]], 2)
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      np.float64(0.5)
    """
    with name_scope(
        name, _label("average_precision", k, None), [predictions, labels, weights]
    ) as scope:
        top = _Sets(to_int64(nn.top_k(predictions, k).indices), None)
        sizes: Any = shape(predictions)
        average = _average(_label_sets(labels, top.elements), top, k, to_int64(sizes[-1]))
        value, update = _mean(average, weights, scope)
        return collected(value, update, metrics_collections, updates_collections)


def _mean(average: Any, weights: Any, scope: str) -> Metric:
    """Return the weighted mean of all averages so far, and the op that adds some."""
    if weights is None:
        number: Any = cast(raw.Size(average), dtypes.float64)
    else:
        weights = cast(weights, dtypes.float64)
        average, number = raw.Mul(average, weights), reduce_sum(weights * ones_like(average))
    maximum = metric_variable([], dtypes.float64, "max_1")  # the greatest possible sum
    total = metric_variable([], dtypes.float64, "total")
    more, sums = assign_add(maximum, number), assign_add(total, reduce_sum(average))
    return raw.DivNoNan(total, maximum, name="mean"), raw.DivNoNan(sums, more, name=scope)


def average_precision_at_top_k(
    labels: Any,
    top_k_predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the mean of average precisions, as `average_precision_at_k`, of given classes.

    Args:
      labels: sets of classes, see the top of this file.
      top_k_predictions: integers [..., k], predicted classes; the first one is the likeliest.
      weights: [...], what each set counts; None for 1.
      metrics_collections: collections that the metric is added to.
      updates_collections: collections that the update is added to.
      name: of the variables' and nodes' scope.

    Raises:
      ValueError: k is not known.
    """
    top = _Sets(to_int64(convert_to_tensor(top_k_predictions)), None)
    k = top.elements.shape[-1].value
    if k is None:
        raise ValueError("The last dimension of predictions_idx must be set.")
    with name_scope(name, "average_precision_at_top_k", [top.elements, labels, weights]) as scope:
        average = _average(_label_sets(labels, top.elements), top, k, dtypes.int64.max)
        value, update = _mean(average, weights, scope)
        return collected(value, update, metrics_collections, updates_collections)


def _average(labels: _Sets, top: _Sets, k: int, classes: Any) -> Any:
    right: Any = cast(_contained(top, labels), dtypes.float64)
    precisions = cumsum(right, -1) / cast(range_of(1, k + 1), dtypes.float64)
    total = reduce_sum(precisions * right, -1)
    elements = labels.elements
    counts = raw.LogicalAnd(raw.GreaterEqual(elements, convert_to_tensor(0, dtypes.int64)),
                            raw.Less(elements, classes))  # fmt: skip
    if labels.counts is not None:
        counts = raw.LogicalAnd(counts, labels.counts)
    number = cast(reduce_sum(cast(counts, dtypes.int64), -1), dtypes.float64)
    # a set without labels has no average precision
    return raw.RealDiv(total, raw.Minimum(number, float(k)), name="div")


sparse_average_precision_at_k = average_precision_at_k
sparse_precision_at_k = precision_at_k
