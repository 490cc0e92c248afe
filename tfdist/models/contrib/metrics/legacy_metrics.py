"""tf.contrib.metrics: tf.metrics as they were, with predictions first, and some of its own.

Source: TF 1.15 API documentation, tf.contrib.metrics.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import name_scope
from tfdist.models.metrics import auc, matrices, ranked, threshold_counts, thresholds
from tfdist.models.metrics import counts as metrics_counts
from tfdist.models.metrics import means as metrics_means
from tfdist.models.metrics.means import mean as streaming_mean
from tfdist.models.metrics.means import mean_tensor as streaming_mean_tensor
from tfdist.models.metrics.means import percentage_below as streaming_percentage_less
from tfdist.ops.array.cast import cast
from tfdist.ops.math.reductions import reduce_mean, reduce_sum

__all__ = [
    "accuracy", "aggregate_metric_map", "aggregate_metrics", "sparse_recall_at_top_k",
    "streaming_mean", "streaming_mean_tensor", "streaming_percentage_less",
    "streaming_sparse_precision_at_top_k",
]  # fmt: skip


def _legacy(name: str, current: Callable[..., Any]) -> Callable[..., Any]:
    """Return a metric of tf.metrics that takes its first two arguments in the other order."""

    def function(predictions: Any, labels: Any, *rest: Any, **options: Any) -> Any:
        return current(labels, predictions, *rest, **options)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Do as `tf.metrics.{current.__name__}`, with predictions first."""
    return function


_LATER = {
    **{name: getattr(metrics_means, name) for name in metrics_means.__all__ if name not in
       ("mean", "mean_tensor", "percentage_below")},
    **{name: getattr(metrics_counts, name) for name in metrics_counts.__all__},
    **{name: getattr(matrices, name) for name in matrices.__all__},
    **{name: getattr(thresholds, name) for name in thresholds.__all__},
    **{name: getattr(threshold_counts, name) for name in threshold_counts.__all__},
    "auc": auc.auc,
    "sparse_average_precision_at_k": ranked.average_precision_at_k,
    "sparse_precision_at_k": ranked.precision_at_k,
    "sparse_average_precision_at_top_k": ranked.average_precision_at_top_k,
    "sparse_recall_at_k": ranked.recall_at_k,
}  # fmt: skip

for _name, _current in _LATER.items():
    globals()[f"streaming_{_name}"] = _legacy(f"streaming_{_name}", _current)
    __all__ += [f"streaming_{_name}"]


def streaming_sparse_precision_at_top_k(
    top_k_predictions: Any,
    labels: Any,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Any:
    """Do as `tf.metrics.precision_at_top_k`, with predictions first."""
    return ranked.precision_at_top_k(
        labels, top_k_predictions, None, class_id, weights, metrics_collections,
        updates_collections, name,
    )  # fmt: skip


def sparse_recall_at_top_k(
    labels: Any,
    top_k_predictions: Any,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Any:
    """Do as `tf.metrics.recall_at_top_k`."""
    return ranked.recall_at_top_k(
        labels, top_k_predictions, None, class_id, weights, metrics_collections,
        updates_collections, name,
    )  # fmt: skip


def accuracy(predictions: Any, labels: Any, weights: Any = None, name: str | None = None) -> Any:
    """Return the part of predictions that are labels, each counted by its weight.

    Args:
      predictions: integers, bools or strings.
      labels: of the same type and shape.
      weights: of the same shape; None for 1.
      name: of the nodes' scope.

    Raises:
      ValueError: types differ, or are floats.

    Example:
      >>> Session().run(contrib.metrics.accuracy(constant([1, 2]), constant([1, 0])))
      np.float32(0.5)
    """
    predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
    if labels.dtype.is_floating:
        raise ValueError(f"Labels should have bool, string, or integer dtype; got {labels.dtype!r}")
    if labels.dtype is not predictions.dtype:
        raise ValueError(
            f"Dtypes of predictions and labels should match. Given: predictions "
            f"({predictions.dtype!r}) and labels ({labels.dtype!r})"
        )
    with name_scope(name, "accuracy", [predictions, labels]):
        correct = cast(raw.Equal(predictions, labels), dtypes.float32)
        if weights is None:
            return reduce_mean(correct)
        weights = cast(weights, dtypes.float32)
        total = reduce_sum(weights)
        return raw.RealDiv(reduce_sum(raw.Mul(correct, weights)), total, name="div")


def aggregate_metrics(*value_update_tuples: Any) -> tuple[list[Any], list[Any]]:
    """Return the values and the updates of several metrics.

    Example:
      >>> values, updates = contrib.metrics.aggregate_metrics((1, 2), (3, 4))
      >>> values, updates
      ([1, 3], [2, 4])
    """
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples, strict=True)
    return list(values), list(updates)


def aggregate_metric_map(names_to_tuples: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values and the updates of several metrics, each by the metrics' names.

    Example:
      >>> contrib.metrics.aggregate_metric_map({"a": (1, 2)})
      ({'a': 1}, {'a': 2})
    """
    values, updates = aggregate_metrics(*names_to_tuples.values())
    return (
        dict(zip(names_to_tuples, values, strict=True)),
        dict(zip(names_to_tuples, updates, strict=True)),
    )
