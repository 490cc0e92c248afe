"""tf.contrib.metrics.auc_with_confidence_intervals: the area under a curve, and how sure it is.

The area is the mean of placements: for each one, the part of zeros with a lower score. How far
these vary, and those of the zeros among the ones, gives the interval.

Source: E. DeLong et al., Comparing the Areas under Two or More Correlated ROC Curves, 1988; TF 1.15
API documentation.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, NamedTuple

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import control_dependencies
from tfdist.models.contrib.metrics.kept_values import streaming_concat
from tfdist.models.metrics.metric_variables import collected
from tfdist.models.metrics.thresholds import ratio
from tfdist.ops.array.boolean_mask import boolean_mask
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat
from tfdist.ops.array.fill import ones_like, zeros_like
from tfdist.ops.array.gather import gather
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import size
from tfdist.ops.math.comparison import where_v2
from tfdist.ops.math.cumulative import cumsum
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.nn import functions as nn
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = ["auc_with_confidence_intervals"]


class AucData(NamedTuple):
    """The area under a curve, and the bounds of its interval; float32 scalars."""

    auc: Any
    lower: Any
    upper: Any


class _Scores(NamedTuple):
    """The scores of ones, or of zeros, and what each counts."""

    values: Any
    weights: Any


def auc_with_confidence_intervals(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    alpha: float = 0.95,
    logit_transformation: bool = True,
    metrics_collections: Any = (),
    updates_collections: Any = (),
    name: str | None = None,
) -> tuple[AucData, Any]:
    """Return the area under the ROC curve of all so far, and the bounds of its interval.

    Args:
      labels: 0 or 1.
      predictions: numbers, of the same shape.
      weights: what each counts, of the same shape; None for 1.
      alpha: how sure the interval is, between 0 and 1.
      logit_transformation: whether it is taken of the area's logit, and so within 0 and 1.
      metrics_collections: collections that the metric is added to.
      updates_collections: collections that the update is added to.
      name: of the variables' and nodes' scope.

    Returns:
      A named tuple of auc, lower and upper (0 while there are no ones, or no zeros), and the op
      that keeps a batch.

    Raises:
      ValueError: `alpha` is not between 0 and 1, or the shapes differ.

    Example:
      >>> value, update = contrib.metrics.auc_with_confidence_intervals(
      ...     [0, 0, 1, 1, 0, 1], [0.1, 0.6, 0.4, 0.9, 0.2, 0.3]
      ... )
      >>> with Session() as session:
      ...     session.run(local_variables_initializer())
      ...     session.run(update)
      ...     session.run(value.auc).round(3)
      np.True_
      np.float32(0.778)
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1; currently {alpha:.02f}")
    with variable_scope(name, "auc_with_confidence_intervals"):
        predictions = cast(convert_to_tensor(predictions), dtypes.float32)
        labels = convert_to_tensor(labels)
        labels.get_shape().assert_is_compatible_with(predictions.get_shape())
        weights = ones_like(predictions) if weights is None else cast(weights, dtypes.float32)
        weights.get_shape().assert_is_compatible_with(predictions.get_shape())
        scores, score = streaming_concat(reshape(predictions, [-1]), name="concat_preds")
        flags = cast(reshape(labels, [-1]), dtypes.int64)
        ones, one = streaming_concat(flags, name="concat_labels")
        counts, count = streaming_concat(reshape(weights, [-1]), name="concat_weights")
        z = NormalDist().inv_cdf(0.5 + alpha / 2)
        value = _interval(scores, raw.Equal(ones, 1), counts, z, logit_transformation)
        with control_dependencies([score, one, count]):
            update = raw.Identity(True)
        collected(value, update, metrics_collections, updates_collections)
        return value, update


def _interval(scores: Any, is_one: Any, counts: Any, z: float, logit: bool) -> AucData:
    ones = _Scores(boolean_mask(scores, is_one), boolean_mask(counts, is_one))
    is_zero = raw.LogicalNot(is_one)
    zeros = _Scores(boolean_mask(scores, is_zero), boolean_mask(counts, is_zero))
    above = _placements(ones, zeros)
    auc: Any = ratio(reduce_sum(raw.Mul(ones.weights, above)), reduce_sum(ones.weights))
    beneath = raw.Sub(1.0, _placements(zeros, ones))
    variance = _spread(above, ones, auc) + _spread(beneath, zeros, auc)
    half = z * raw.Sqrt(variance)
    if logit:
        center = raw.Log(ratio(auc, 1.0 - auc))
        half = ratio(half, auc * (1.0 - auc))
        lower, upper = raw.Sigmoid(center - half), raw.Sigmoid(center + half)
    else:
        lower, upper = auc - half, auc + half
    enough: Any = raw.Minimum(size(ones.values), size(zeros.values))
    found = (where_v2(enough > 0, each, zeros_like(each)) for each in (auc, lower, upper))
    return AucData(*found)


def _placements(scores: _Scores, others: _Scores) -> Any:
    """Return for each score the part of the others that is less, equal ones counted as half."""
    falling, places = nn.top_k(others.values, size(others.values))
    rising = raw.ReverseV2(falling, [0])
    order = raw.ReverseV2(places, [0])
    sums: Any = concat([[0.0], cumsum(gather(others.weights, order))], 0)
    rows = raw.ExpandDims(rising, 0), raw.ExpandDims(scores.values, 0)
    less, not_more = (
        gather(sums, reshape(bound(*rows), [-1])) for bound in (raw.LowerBound, raw.UpperBound)
    )
    return ratio(raw.AddV2(less, not_more), raw.Mul(2.0, sums[-1]))


def _spread(placements: Any, scores: _Scores, mean: Any) -> Any:
    """Return the variance of the mean of placements."""
    total: Any = reduce_sum(scores.weights)
    squares = reduce_sum(raw.Mul(scores.weights, raw.Square(raw.Sub(placements, mean))))
    return ratio(ratio(squares, total - 1.0), total)
