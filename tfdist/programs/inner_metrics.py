"""Names of tensorflow.python.ops.metrics_impl that are public nowhere else, for libraries."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import add_to_collections
from tfdist.models.metrics.metric_variables import aligned
from tfdist.models.metrics.metric_variables import metric_variable as variable_of
from tfdist.models.metrics.ranked import average_precision_at_top_k
from tfdist.models.metrics.threshold_counts import ALL, counts_at_thresholds

__all__ = ["metric_variable"]

_remove_squeezable_dimensions = aligned
_SHORT = dict(zip(("tp", "fn", "tn", "fp"), ALL, strict=True))  # names of counts


def metric_variable(
    shape: Sequence[int], dtype: Any, validate_shape: bool = True, name: str | None = None
) -> Any:
    """Return a local variable of zeros, in the collection of metrics' variables, too."""
    return variable_of(shape, dtype, name or "Variable", validate_shape)


def _confusion_matrix_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    includes: Collection[str] | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the counts at each threshold, and the ops that add a batch to them, by their names."""
    wanted = [_SHORT[each] for each in includes or _SHORT]
    counts = counts_at_thresholds(labels, predictions, thresholds, weights, wanted)
    shown = [(short, long) for short, long in _SHORT.items() if long in wanted]
    return (
        {short: counts.values[long] for short, long in shown},
        {short: counts.updates[long] for short, long in shown},
    )


def _streaming_sparse_average_precision_at_top_k(
    labels: Any, predictions_idx: Any, *arguments: Any, **options: Any
) -> Any:
    """Return the mean of average precisions of given classes, and its update."""
    return average_precision_at_top_k(labels, predictions_idx, *arguments, **options)


def _safe_scalar_div(numerator: Any, denominator: Any, name: str | None) -> Tensor:
    """Return the ratio of two numbers, 0 where the lower one is 0."""
    return raw.DivNoNan(numerator, denominator, name=name)  # type: ignore[no-any-return]


def _aggregate_variable(v: Any, collections: Any) -> Any:
    """Return the value of a metric's variable, which is added to collections if there are any."""
    value = v.value()
    if collections:
        add_to_collections(collections, value)
    return value
