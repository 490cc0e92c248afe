"""What goes with estimators: further metrics, and how Examples are read.

Source: TF 1.15 API documentation, tf.estimator.add_metrics,
classifier_parse_example_spec and regressor_parse_example_spec.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tfdist.base import dtypes
from tfdist.estimators.columns.feature_column import make_parse_example_spec
from tfdist.estimators.columns.numeric import NumericColumn, numeric_column
from tfdist.estimators.estimator import Estimator
from tfdist.estimators.estimator_spec import EstimatorSpec, ModeKeys
from tfdist.estimators.model_calls import arguments_of
from tfdist.ops.io.feature_specs import FixedLenFeature

__all__ = ["add_metrics", "classifier_parse_example_spec", "regressor_parse_example_spec"]


def add_metrics(estimator: Estimator, metric_fn: Callable[..., Any]) -> Estimator:
    """Return an estimator of the same model and folder, with further metrics.

    Args:
      estimator: Estimator.
      metric_fn: function of (features, labels, predictions, config), or of some of these, to a
        dict of metrics.

    Raises:
      ValueError: it takes other arguments.

    Example:
      >>> import tempfile
      >>> x = feature_column.numeric_column("x")
      >>> def middle(labels, predictions):
      ...     return {"middle": metrics.mean(predictions["predictions"])}
      >>> base = estimator.LinearRegressor([x], tempfile.mkdtemp())
      >>> def rows():
      ...     return data.Dataset.from_tensors(({"x": [[1.0]]}, [[2.0]]))
      >>> sorted(estimator.add_metrics(base, middle).evaluate(rows))
      ['average_loss', 'global_step', 'label/mean', 'loss', 'middle', 'prediction/mean']
      >>> summary.FileWriterCache.clear()
    """
    known = {"features", "labels", "predictions", "config"}
    wanted = set(arguments_of(metric_fn))
    if wanted - known:
        raise ValueError(f"metric_fn has following not expected args: {sorted(wanted - known)}")

    def model(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        given = {
            "features": features, "labels": labels, "predictions": spec.predictions,
            "config": config,
        }  # fmt: skip
        more = metric_fn(**{name: given[name] for name in wanted})
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, **more})

    return Estimator(model, estimator.model_dir, estimator.config)


def classifier_parse_example_spec(
    feature_columns: Iterable[Any],
    label_key: str,
    label_dtype: Any = dtypes.int64,
    label_default: Any = None,
    weight_column: Any = None,
) -> dict[str, Any]:
    """Return how `tf.parse_example` reads the features of columns, a class, and a weight.

    Args:
      feature_columns: columns.
      label_key: of the class.
      label_dtype: of the class: int64 or string.
      label_default: of Examples without one.
      weight_column: feature, or column, of the weights.

    Raises:
      ValueError: two of them read one feature.

    Example:
      >>> x = feature_column.numeric_column("x")
      >>> estimator.classifier_parse_example_spec([x], "y")["y"]
      FixedLenFeature(shape=(1,), dtype=tf.int64, default_value=None)
    """
    label = FixedLenFeature((1,), label_dtype, label_default)
    return _with_label(feature_columns, label_key, label, weight_column)


def regressor_parse_example_spec(
    feature_columns: Iterable[Any],
    label_key: str,
    label_dtype: Any = dtypes.float32,
    label_default: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
) -> dict[str, Any]:
    """Return how `tf.parse_example` reads the features of columns, numbers, and a weight.

    Args:
      feature_columns: columns.
      label_key: of the numbers.
      label_dtype: of them.
      label_default: of Examples without any.
      label_dimension: how many there are.
      weight_column: feature, or column, of the weights.

    Raises:
      ValueError: two of them read one feature.

    Example:
      >>> x = feature_column.numeric_column("x")
      >>> estimator.regressor_parse_example_spec([x], "y", label_dimension=2)["y"].shape
      (2,)
    """
    label = FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _with_label(feature_columns, label_key, label, weight_column)


def _with_label(columns: Iterable[Any], key: str, label: Any, weight: Any) -> dict[str, Any]:
    found = make_parse_example_spec(columns)
    if key in found:
        raise ValueError(
            f"label should not be used as feature. label_key: {key}, features: {found}"
        )
    found[key] = label
    if weight is None:
        return found
    column = numeric_column(weight) if isinstance(weight, str) else weight
    if not isinstance(column, NumericColumn):
        raise TypeError(
            f"weight_column should be a string or a numeric_column. Given type: {type(weight)}"
        )
    if column.key in found:
        raise ValueError(
            f"weight_column should not be used as feature. weight_column: {column.key}"
        )
    return {**found, **column.parse_example_spec}
