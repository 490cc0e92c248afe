"""What goes with estimators: further metrics and predictions, and how Examples are read.

Source: TF 1.15 API documentation, tf.estimator.add_metrics, tf.contrib.estimator.forward_features,
classifier_parse_example_spec and regressor_parse_example_spec.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tfdist.base import dtypes
from tfdist.estimators.columns.feature_column import make_parse_example_spec
from tfdist.estimators.columns.numeric import NumericColumn, numeric_column
from tfdist.estimators.estimator import Estimator
from tfdist.estimators.estimator_spec import EstimatorSpec, ModeKeys
from tfdist.estimators.export_outputs import PredictOutput
from tfdist.estimators.model_calls import arguments_of
from tfdist.ops.io.feature_specs import FixedLenFeature
from tfdist.ops.sparse.sparse_tensor import SparseTensor
from tfdist.ops.sparse.to_dense import sparse_tensor_to_dense

__all__ = [
    "add_metrics", "classifier_parse_example_spec", "forward_features",
    "regressor_parse_example_spec",
]  # fmt: skip


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


def forward_features(
    estimator: Estimator,
    keys: str | Iterable[str] | None = None,
    sparse_default_values: Mapping[str, Any] | None = None,
) -> Estimator:
    """Return an estimator of the same model and folder, whose predictions have features too.

    So a row of what it predicts says of which row of the input it is.

    Args:
      estimator: Estimator.
      keys: names of features, or one; all by default.
      sparse_default_values: by name of a sparse feature what stands where it has nothing.

    Raises:
      TypeError: keys are no strings.
      ValueError: predicting, if there is no such feature, if it is sparse without a default, or
        if a prediction has that name.

    Example:
      >>> import tempfile
      >>> x = feature_column.numeric_column("x")
      >>> base = estimator.LinearRegressor([x], tempfile.mkdtemp())
      >>> def rows():
      ...     return data.Dataset.from_tensors(({"x": [[1.0]], "id": [[7]]}, [[2.0]]))
      >>> trained = contrib.estimator.forward_features(base, "id").train(rows)
      >>> next(trained.predict(rows))["id"]
      array([7], dtype=int32)
      >>> summary.FileWriterCache.clear()
    """
    names = _checked_keys(keys)
    defaults = dict(sparse_default_values or {})

    def model(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        predictions = spec.predictions
        if not isinstance(predictions, Mapping):
            return spec
        wanted = list(features) if names is None else names
        added = {key: _forwarded(key, features, predictions, defaults) for key in wanted}
        outputs = {
            key: PredictOutput({**each.outputs, **added})
            if isinstance(each, PredictOutput)
            else each
            for key, each in (spec.export_outputs or {}).items()
        }
        return spec._replace(
            predictions={**predictions, **added}, export_outputs=outputs or spec.export_outputs
        )

    return Estimator(model, estimator.model_dir, estimator.config)


def _checked_keys(keys: Any) -> list[str] | None:
    if keys is None:
        return None
    if not isinstance(keys, str | list | tuple):
        raise TypeError(f"keys should be either a string or a list of strings. Given: {type(keys)}")
    names = [keys] if isinstance(keys, str) else list(keys)
    for each in names:
        if not isinstance(each, str):
            raise TypeError(
                "All items in the given keys list should be a string. There exist an item with "
                f"type: {type(each)}"
            )
    return names


def _forwarded(
    key: str, features: Mapping[str, Any], predictions: Mapping[str, Any],
    defaults: Mapping[str, Any],
) -> Any:  # fmt: skip
    """Return a feature as a prediction."""
    if key not in features:
        raise ValueError(
            f'keys should be exist in features. Key "{key}" is not in features dict. features '
            f"dict has following keys: {list(features)}. Please check arguments of "
            "forward_features."
        )
    if key in predictions:
        raise ValueError(
            f"Cannot forward feature key ({key}). Since it does exist in predictions. Existing "
            f"prediction keys: {list(predictions)}. Please check arguments of forward_features."
        )
    found = features[key]
    if not isinstance(found, SparseTensor):
        return found
    if key not in defaults:
        raise ValueError(
            f"Feature ({key}) should be a Tensor. Please use `keys` argument of forward_features "
            "to filter unwanted features, or add key to argument `sparse_default_values`. Type of "
            f"features[{key}] is {type(found)}."
        )
    return sparse_tensor_to_dense(found, default_value=defaults[key])


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
