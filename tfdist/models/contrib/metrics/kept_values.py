"""tf.contrib.metrics that keep all values, or a histogram of them: concatenation, areas, curves.

Source: TF 1.15 API documentation, tf.contrib.metrics.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.models.metrics.metric_variables import Metric, aligned, collected, metric_variable
from tfdist.ops.array.boolean_mask import boolean_mask
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat
from tfdist.ops.array.fill import ones_like, zeros
from tfdist.ops.array.gather import gather
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape, size
from tfdist.ops.control_flow.identity_group import group
from tfdist.ops.math.cumulative import cumsum
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.nn import functions as nn
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.scatter import scatter_add
from tfdist.ops.variables.state_ops import assign, assign_add
from tfdist.ops.variables.variable import Variable
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = [
    "auc_using_histogram", "precision_recall_at_equal_thresholds", "streaming_concat",
    "streaming_dynamic_auc",
]  # fmt: skip


def streaming_concat(
    values: Any,
    axis: int = 0,
    max_size: int | None = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return all values so far, one after the other along an axis.

    Args:
      values: a tensor of known rank and, but for the axis, known shape.
      axis: the axis, from the end if it is negative.
      max_size: so many are kept at most along the axis; None for all.
      metrics_collections: collections that the metric is added to.
      updates_collections: collections that the update is added to.
      name: of the variables' and nodes' scope.

    Returns:
      The metric, and the op that adds values and gives how many there are.

    Raises:
      ValueError: not enough is known of the shape, or there is no such axis.

    Example:
      >>> value, update = contrib.metrics.streaming_concat(constant([5, 6]))
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      ...     session.run(value)
      np.int32(2)
      array([5, 6], dtype=int32)
    """
    with variable_scope(name, "streaming_concat", [values]):
        values = convert_to_tensor(values)
        known = values.shape.with_rank_at_least(1).as_list()
        rank = len(known)
        if not -rank <= axis < rank:
            raise ValueError(f"axis = {axis} not in [{-rank}, {rank})")
        axis %= rank
        rest = [dim for place, dim in enumerate(known) if place != axis]
        if None in rest:
            raise ValueError(f"all dimensions of `values` but {axis} must be known, got {known}")
        array = _empty(known, axis, values.dtype)
        total = metric_variable([], dtypes.int32, "size")
        whole = concat([array, values], axis)
        if max_size is not None:
            whole = raw.Slice(whole, [0] * rank, _at(axis, rank, max_size, whole))
        kept = assign(array, whole, validate_shape=False)
        sizes: Any = shape(kept)
        update = assign(total, sizes[axis])
        value = raw.Identity(array)
        value.set_shape([None if place == axis else dim for place, dim in enumerate(known)])
        return collected(value, update, metrics_collections, updates_collections)


def _empty(known: list[Any], axis: int, dtype: Any) -> Variable:
    """Return a local variable with nothing along an axis, which may grow."""
    dims = [0 if place == axis else dim for place, dim in enumerate(known)]
    return Variable(
        lambda: zeros(dims, dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        validate_shape=False,
        name="array",
    )


def _at(axis: int, rank: int, most: int, whole: Any) -> Any:
    """Return the sizes of a slice that has `most` at most along an axis, and all of the others."""
    sizes: list[Any] = [-1] * rank
    known: Any = shape(whole)
    sizes[axis] = raw.Minimum(known[axis], most)
    return raw.Pack(sizes)


def streaming_dynamic_auc(
    labels: Any,
    predictions: Any,
    curve: str = "ROC",
    metrics_collections: Any = (),
    updates_collections: Any = (),
    name: str | None = None,
    weights: Any = None,
) -> Metric:
    """Return the area under a curve, with each prediction as a threshold; all of them are kept.

    Args:
      labels: 0 or 1.
      predictions: numbers, of the same shape.
      curve: "ROC", true positive rate over false positive rate; or "PR", precision over recall.
      metrics_collections: collections that the metric is added to.
      updates_collections: collections that the update is added to.
      name: of the variables' and nodes' scope.
      weights: what each prediction counts; None for 1.

    Returns:
      The metric, and the operation that keeps a batch.

    Raises:
      ValueError: there is no such curve, or the shapes differ.

    Example:
      >>> value, update = contrib.metrics.streaming_dynamic_auc(
      ...     constant([0, 0, 1, 1]), constant([0.1, 0.6, 0.4, 0.9])
      ... )
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      ...     session.run(value)
      np.float64(0.75)
    """
    if curve not in ("ROC", "PR"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with variable_scope(name, "dynamic_auc"):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        labels.get_shape().assert_is_compatible_with(predictions.get_shape())
        predictions = cast(reshape(predictions, [-1]), dtypes.float64)
        labels = cast(reshape(labels, [-1]), dtypes.int64)
        if weights is None:
            weights = ones_like(predictions)
        weights = reshape(cast(weights, dtypes.float64), [-1])
        scores, score = streaming_concat(predictions, name="concat_preds")
        ones, one = streaming_concat(labels, name="concat_labels")
        counts, count = streaming_concat(weights, name="concat_weights")
        value, update = _area(ones, scores, counts, curve), group(score, one, count)
        return collected(value, update, metrics_collections, updates_collections)


def _area(labels: Any, predictions: Any, weights: Any, curve: str) -> Any:
    """Return the area under the curve whose points are all predictions as thresholds."""
    ordered: Any
    ordered, places = nn.top_k(predictions, size(predictions))
    counts: Any = gather(weights, places)
    ones = cast(gather(labels, places), dtypes.float64)
    changes: Any = concat([raw.NotEqual(ordered[1:], ordered[:-1]), [True]], 0)
    last, zero = changes[: size(ordered)], zeros([1], dtypes.float64)
    found: Any = concat([zero, boolean_mask(cumsum(raw.Mul(counts, ones)), last)], 0)
    alarms: Any = concat([zero, boolean_mask(cumsum(raw.Mul(counts, 1.0 - ones)), last)], 0)
    recall = raw.DivNoNan(found, found[-1])
    if curve == "PR":
        precision = raw.DivNoNan(found[1:], raw.AddV2(found[1:], alarms[1:]))
        return _under(recall, concat([[1.0], precision], 0))
    return _under(raw.DivNoNan(alarms, alarms[-1]), recall)


def _under(x: Any, y: Any) -> Any:
    """Return the area under straight lines from point to point."""
    return reduce_sum(raw.Mul(x[1:] - x[:-1], (y[1:] + y[:-1]) / 2.0))


class PrecisionRecallData(NamedTuple):
    """What counts at thresholds, [thresholds] each; see `precision_recall_at_equal_thresholds`."""

    tp: Any
    fp: Any
    tn: Any
    fn: Any
    precision: Any
    recall: Any
    thresholds: Any


def precision_recall_at_equal_thresholds(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> tuple[PrecisionRecallData, Any]:
    """Return counts, precision and recall at evenly spread thresholds, of many predictions.

    Args:
      labels: bools.
      predictions: floats from 0 to 1, of the same shape.
      weights: of the type of predictions, and broadcastable to them; None for 1.
      num_thresholds: how many thresholds from 0 to 1; 201 by default.
      use_locking: whether updates of the variables are protected.
      name: of the variables' and nodes' scope.

    Returns:
      A named tuple of tp, fp, tn, fn, precision, recall and thresholds; and the operation that
      adds a batch.

    Raises:
      ValueError: the shapes differ, or there are less than 2 thresholds.

    Example:
      >>> data, update = contrib.metrics.precision_recall_at_equal_thresholds(
      ...     constant([False, True]), constant([0.4, 0.9]), num_thresholds=3
      ... )
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      ...     session.run(data.tp)
      array([1., 1., 0.], dtype=float32)
    """
    number = 201 if num_thresholds is None else num_thresholds
    if number < 2:
        raise ValueError(f"num_thresholds must be >= 2, got {number}")
    with variable_scope(name, "precision_recall_at_equal_thresholds", [labels, predictions]):
        predictions, labels, _ = aligned(predictions, labels, None)
        dtype = predictions.dtype.base_dtype
        counts = ones_like(predictions) if weights is None else weights
        counts = raw.Mul(cast(counts, dtype), ones_like(predictions))
        places = cast(raw.Floor(predictions * (number - 1)), dtypes.int32)
        with variable_scope("variables"):
            found = metric_variable([number], dtype, "tp_buckets")
            alarms = metric_variable([number], dtype, "fp_buckets")
        is_one = cast(labels, dtype)
        flat = reshape(places, [-1])
        locks = use_locking is None or use_locking
        update = group(*(
            scatter_add(each, flat, reshape(raw.Mul(counts, part), [-1]), locks)
            for each, part in ((found, is_one), (alarms, 1.0 - is_one))
        ))  # fmt: skip
        return _data(found, alarms, number), update


def _data(found: Any, alarms: Any, number: int) -> PrecisionRecallData:
    dtype = found.dtype.base_dtype
    tp: Any = cumsum(found, reverse=True)
    fp: Any = cumsum(alarms, reverse=True)
    tn, fn = fp[0] - fp, tp[0] - tp
    least = convert_to_tensor(1e-7, dtype)
    precision = raw.RealDiv(tp, raw.Maximum(least, tp + fp))
    recall = raw.RealDiv(tp, raw.Maximum(least, tp + fn))
    thresholds = convert_to_tensor(np.linspace(0.0, 1.0, number), dtype)
    return PrecisionRecallData(tp, fp, tn, fn, precision, recall, thresholds)


def auc_using_histogram(
    boolean_labels: Any,
    scores: Any,
    score_range: Any,
    nbins: int = 100,
    collections: Any = None,
    check_shape: bool = True,
    name: str | None = None,
) -> Metric:
    """Return the area under the ROC curve, from histograms of the scores of ones and zeros.

    Args:
      boolean_labels: bools [n].
      scores: numbers [n].
      score_range: the least and the greatest score, [2]; others count as these.
      nbins: how many bins a histogram has.
      collections: of the variables; by default the local variables.
      check_shape: whether labels and scores must have one shape.
      name: of the variables' and nodes' scope.

    Returns:
      The area, and the operation that adds a batch.

    Example:
      >>> area, update = contrib.metrics.auc_using_histogram(
      ...     constant([False, False, True, True]), constant([0.1, 0.6, 0.4, 0.9]), [0.0, 1.0]
      ... )
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      ...     session.run(area)
      np.float32(0.75)
    """
    with variable_scope(name, "auc_using_histogram", [boolean_labels, scores, score_range]):
        labels, scores = convert_to_tensor(boolean_labels), convert_to_tensor(scores)
        if check_shape:
            labels.get_shape().assert_is_compatible_with(scores.get_shape())
        limits = convert_to_tensor(score_range, scores.dtype.base_dtype)
        parts = {"hist_true_acc": labels, "hist_false_acc": raw.LogicalNot(labels)}
        with variable_scope("hist_accumulate"):
            kept = [_histogram(collections, nbins, part) for part in parts]
            update = group(*(
                assign_add(each, _bins(boolean_mask(scores, chosen), limits, nbins))
                for each, chosen in zip(kept, parts.values(), strict=True)
            ))  # fmt: skip
        true, false = (raw.DivNoNan(each, reduce_sum(each)) for each in kept)
        below = cumsum(false, exclusive=True) + false / 2.0  # equal ones count as half
        return reduce_sum(raw.Mul(true, below)), update


def _histogram(collections: Any, nbins: int, name: str) -> Variable:
    return Variable(
        lambda: zeros([nbins], dtypes.float32),
        trainable=False,
        collections=collections or [GraphKeys.LOCAL_VARIABLES],
        name=name,
    )


def _bins(scores: Any, limits: Any, nbins: int) -> Any:
    return cast(raw.HistogramFixedWidth(scores, limits, nbins), dtypes.float32)
