"""Linear models and networks in the spelling of tf.contrib.learn.

They take arrays and the columns of tf.contrib.layers; their losses are means of batches.

Source: TF 1.15 API documentation, tf.contrib.learn.LinearClassifier and those beside it; names of
variables, metrics and predictions, and learning rates, by experiment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.estimators.canned.class_heads import classifier_head
from tfdist.estimators.canned.heads import Head, RegressionHead
from tfdist.estimators.canned.models import linear_rate
from tfdist.estimators.contrib_learn.columns import (
    input_from_feature_columns,
    real_valued_column,
    weighted_sum_from_feature_columns,
)
from tfdist.estimators.contrib_learn.learn import Estimator
from tfdist.estimators.estimator_spec import EstimatorSpec, ModeKeys
from tfdist.models.contrib.layers.layers import dropout as dropped
from tfdist.models.contrib.layers.layers import fully_connected
from tfdist.models.losses.weighted_loss import Reduction
from tfdist.ops.array.reshape import squeeze
from tfdist.ops.math.clip import clip_by_global_norm
from tfdist.ops.nn.activations import relu
from tfdist.ops.variables.variable_scope import variable_scope
from tfdist.training.global_step import get_global_step
from tfdist.training.optimizers.adaptive import AdagradOptimizer
from tfdist.training.optimizers.ftrl import FtrlOptimizer

__all__ = [
    "DNNClassifier", "DNNRegressor", "LinearClassifier", "LinearRegressor",
    "infer_real_valued_columns_from_input",
]  # fmt: skip

_DNN_RATE = 0.05

# Metric of tf.estimator -> its names here.
_METRICS = {
    "accuracy": ("accuracy",),
    "auc": ("auc",),
    "auc_precision_recall": ("auc_precision_recall",),
    "label/mean": ("labels/actual_label_mean", "accuracy/baseline_label_mean"),
    "prediction/mean": ("labels/prediction_mean",),
    "precision": ("precision/positive_threshold_0.500000_mean",),
    "recall": ("recall/positive_threshold_0.500000_mean",),
}


def infer_real_valued_columns_from_input(x: Any) -> list[Any]:
    """Return columns for an array of numbers, or for a dict of them.

    Args:
      x: [examples, numbers], or [examples]; or a dict of such arrays.

    Example:
      >>> import numpy as np
      >>> [found] = contrib.learn.infer_real_valued_columns_from_input(np.zeros([3, 2]))
      >>> found.shape
      (2,)
    """
    named = x if isinstance(x, Mapping) else {"": x}
    return [
        real_valued_column(name, _width(np.shape(each)), dtype=dtypes.as_dtype(each.dtype))
        for name, each in sorted(named.items())
    ]


def _width(shape: tuple[int, ...]) -> int:
    return int(shape[1]) if len(shape) > 1 else 1


class _Canned(Estimator):
    """A model that is there already."""

    _answer = ""  # the prediction that `predict` gives

    def _make(
        self, head: Head, logits: Callable[..., Any], optimizer: Callable[[], Any],
        clip: float | None, model_dir: str | None, config: Any, engineer: Any,
    ) -> None:  # fmt: skip
        is_regression = isinstance(head, RegressionHead)

        def train(loss: Any) -> Any:
            made = optimizer()
            pairs = made.compute_gradients(loss)
            return made.apply_gradients(_clipped(pairs, clip), get_global_step())

        def model(features: Any, labels: Any, mode: str) -> EstimatorSpec:
            named = features if isinstance(features, Mapping) else {"": features}
            spec = head.spec(named, mode, logits(named, mode), labels, train)
            return _renamed(spec, mode, is_regression)

        super().__init__(model, model_dir, config, None, engineer)

    def predict(  # type: ignore[override]  # as it was then
        self,
        x: Any = None,
        input_fn: Callable[..., Any] | None = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
    ) -> Any:
        """Return what was asked for, by default the class or the number, of each example.

        Args:
          x: an array of features, instead of `input_fn`.
          input_fn: gives features; once, if `as_iterable` is False.
          batch_size: of arrays.
          outputs: names of predictions: those of each example are a dict.
          as_iterable: whether to return an iterator, or an array.
        """
        if outputs is None:
            return self._only(self._answer, x, input_fn, batch_size, as_iterable)
        return super().predict(x, input_fn, batch_size, outputs, as_iterable)

    def _only(
        self, name: str, x: Any, input_fn: Any, batch_size: int | None, as_iterable: bool
    ) -> Any:
        found = super().predict(x, input_fn, batch_size, [name], as_iterable)
        return _values(found, name) if as_iterable else found[name]


def _values(found: Iterator[Any], name: str) -> Iterator[Any]:
    for each in found:
        yield each[name]


def _clipped(pairs: Sequence[Any], clip: float | None) -> list[Any]:
    """Return gradients and variables, the gradients at most of a norm."""
    if clip is None:
        return list(pairs)
    gradients, variables = zip(*pairs, strict=True)
    return list(zip(clip_by_global_norm(gradients, clip)[0], variables, strict=True))


def _renamed(spec: EstimatorSpec, mode: str, is_regression: bool) -> EstimatorSpec:
    """Return a spec with the names of predictions and metrics that were usual then."""
    predictions = dict(spec.predictions)
    if is_regression:
        found = predictions["predictions"]
        named = {"scores": squeeze(found, [1]) if found.shape[1].value == 1 else found}
    else:
        kept = ("logits", "logistic", "probabilities")
        named = {name: predictions[name] for name in kept if name in predictions}
        named["classes"] = squeeze(predictions["class_ids"], [1])
    if mode != ModeKeys.EVAL:
        return spec._replace(predictions=named)
    return spec._replace(
        predictions=named, eval_metric_ops={} if is_regression else _metrics(spec.eval_metric_ops)
    )


def _metrics(given: Mapping[str, Any]) -> dict[str, Any]:
    found = {
        name: given[each] for each, names in _METRICS.items() if each in given for name in names
    }
    if "auc" in found:
        found["accuracy/threshold_0.500000_mean"] = found["accuracy"]
    return found


def _head(n_classes: int, weight_column: Any, label_keys: Any) -> Head:
    if n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    return classifier_head(n_classes, weight_column, label_keys, Reduction.SUM_BY_NONZERO_WEIGHTS)


def _numbers(label_dimension: int, weight_column: Any) -> Head:
    return RegressionHead(label_dimension, weight_column, Reduction.SUM_BY_NONZERO_WEIGHTS)


def _linear(columns: Sequence[Any], units: int) -> Callable[..., Any]:
    """Return a function of features to the logits of a linear model."""
    columns = tuple(columns)

    def logits(features: Mapping[str, Any], mode: str) -> Any:
        with variable_scope("linear") as scope:
            return weighted_sum_from_feature_columns(features, columns, units, scope=scope)[0]

    return logits


def _deep(
    columns: Sequence[Any], hidden_units: Sequence[int], units: int, activation: Any,
    dropout: float | None,
) -> Callable[..., Any]:  # fmt: skip
    """Return a function of features to the logits of a network."""
    columns = tuple(columns)

    def logits(features: Mapping[str, Any], mode: str) -> Any:
        is_training = mode == ModeKeys.TRAIN
        with variable_scope("dnn"):
            net = input_from_feature_columns(features, columns)
            for index, width in enumerate(hidden_units):
                name = f"hiddenlayer_{index}"
                net = fully_connected(net, width, activation_fn=activation, scope=name)
                if dropout is not None and is_training:
                    net = dropped(net, keep_prob=1.0 - dropout)
            return fully_connected(net, units, activation_fn=None, scope="logits")

    return logits


def _optimizer(given: Any, usual: Callable[[], Any]) -> Callable[[], Any]:
    """Return a function that makes an optimizer: what was given is one, or makes one."""
    if given is None:
        return usual
    return given if callable(given) else lambda: given


class _Classifier(_Canned):
    """What classifiers answer."""

    _answer = "classes"

    def predict_classes(
        self, x: Any = None, input_fn: Any = None, batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:  # fmt: skip
        """Return the class of each example; see `predict`."""
        return self._only("classes", x, input_fn, batch_size, as_iterable)

    def predict_proba(
        self, x: Any = None, input_fn: Any = None, batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:  # fmt: skip
        """Return the probabilities of all classes for each example; see `predict`."""
        return self._only("probabilities", x, input_fn, batch_size, as_iterable)


class _Regressor(_Canned):
    """What regressors answer."""

    _answer = "scores"

    def predict_scores(
        self, x: Any = None, input_fn: Any = None, batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:  # fmt: skip
        """Return the number of each example; see `predict`."""
        return self._only("scores", x, input_fn, batch_size, as_iterable)


class LinearClassifier(_Classifier):
    """A linear model of classes; see `tf.estimator.LinearClassifier`.

    Args:
      feature_columns: columns of `tf.contrib.layers`.
      model_dir: folder.
      n_classes: how many classes there are.
      weight_column_name: feature of the weights of examples.
      optimizer: Optimizer, or a function that makes one; Ftrl by default.
      gradient_clip_norm: the greatest norm of all gradients together.
      config: `RunConfig`.
      feature_engineering_fn: function of (features, labels) to both, called first.
      label_keys: the labels, if they are words.

    Raises:
      ValueError: there are fewer than two classes.

    Example:
      >>> import tempfile
      >>> import numpy as np
      >>> x, y = np.array([[-1.0], [5.0]], np.float32), np.array([0, 1])
      >>> columns = contrib.learn.infer_real_valued_columns_from_input(x)
      >>> made = contrib.learn.LinearClassifier(columns, tempfile.mkdtemp()).fit(x, y, steps=9)
      >>> [int(each) for each in made.predict(x)]
      [0, 1]
      >>> summary.FileWriterCache.clear()
    """

    def __init__(
        self, feature_columns: Sequence[Any], model_dir: str | None = None, n_classes: int = 2,
        weight_column_name: str | None = None, optimizer: Any = None,
        gradient_clip_norm: float | None = None, *, config: Any = None,
        feature_engineering_fn: Any = None, label_keys: Any = None,
    ) -> None:  # fmt: skip
        head = _head(n_classes, weight_column_name, label_keys)
        usual = _optimizer(optimizer, lambda: FtrlOptimizer(linear_rate(feature_columns)))
        logits = _linear(feature_columns, head.logits_dimension)
        self._make(
            head, logits, usual, gradient_clip_norm, model_dir, config, feature_engineering_fn
        )


class LinearRegressor(_Regressor):
    """A linear model of numbers; see `tf.estimator.LinearRegressor`.

    Args:
      feature_columns: as the rest: see `LinearClassifier`.
      label_dimension: how many numbers a label has.

    Example:
      >>> import tempfile
      >>> import numpy as np
      >>> x = np.array([[1.0], [2.0]], np.float32)
      >>> columns = contrib.learn.infer_real_valued_columns_from_input(x)
      >>> made = contrib.learn.LinearRegressor(columns, tempfile.mkdtemp())
      >>> len(list(made.fit(x, x[:, 0], steps=2).predict(x)))
      2
      >>> summary.FileWriterCache.clear()
    """

    def __init__(
        self, feature_columns: Sequence[Any], model_dir: str | None = None,
        weight_column_name: str | None = None, optimizer: Any = None,
        gradient_clip_norm: float | None = None, *, label_dimension: int = 1, config: Any = None,
        feature_engineering_fn: Any = None,
    ) -> None:  # fmt: skip
        head = _numbers(label_dimension, weight_column_name)
        usual = _optimizer(optimizer, lambda: FtrlOptimizer(linear_rate(feature_columns)))
        logits = _linear(feature_columns, label_dimension)
        self._make(
            head, logits, usual, gradient_clip_norm, model_dir, config, feature_engineering_fn
        )


class DNNClassifier(_Classifier):
    """A network of classes; see `tf.estimator.DNNClassifier`.

    Args:
      hidden_units: widths of the hidden layers.
      feature_columns: as the rest: see `LinearClassifier`.
      activation_fn: of the hidden layers.
      dropout: which part of a hidden layer is dropped in training.

    Example:
      >>> import tempfile
      >>> import numpy as np
      >>> x, y = np.array([[-1.0], [5.0]], np.float32), np.array([0, 1])
      >>> columns = contrib.learn.infer_real_valued_columns_from_input(x)
      >>> made = contrib.learn.DNNClassifier([3], columns, tempfile.mkdtemp()).fit(x, y, steps=1)
      >>> made.get_variable_value("dnn/hiddenlayer_0/weights").shape
      (1, 3)
      >>> summary.FileWriterCache.clear()
    """

    def __init__(
        self, hidden_units: Sequence[int], feature_columns: Sequence[Any],
        model_dir: str | None = None, n_classes: int = 2, weight_column_name: str | None = None,
        optimizer: Any = None, activation_fn: Any = relu, dropout: float | None = None,
        gradient_clip_norm: float | None = None, *, config: Any = None,
        feature_engineering_fn: Any = None, label_keys: Any = None,
    ) -> None:  # fmt: skip
        head = _head(n_classes, weight_column_name, label_keys)
        usual = _optimizer(optimizer, lambda: AdagradOptimizer(_DNN_RATE))
        units = head.logits_dimension
        logits = _deep(feature_columns, hidden_units, units, activation_fn, dropout)
        self._make(
            head, logits, usual, gradient_clip_norm, model_dir, config, feature_engineering_fn
        )


class DNNRegressor(_Regressor):
    """A network of numbers; see `tf.estimator.DNNRegressor`.

    Args:
      hidden_units: as the rest: see `DNNClassifier`.
      label_dimension: how many numbers a label has.

    Example:
      >>> import tempfile
      >>> import numpy as np
      >>> x = np.array([[1.0], [2.0]], np.float32)
      >>> columns = contrib.learn.infer_real_valued_columns_from_input(x)
      >>> made = contrib.learn.DNNRegressor([3], columns, tempfile.mkdtemp())
      >>> made.fit(x, x[:, 0], steps=1).predict(x, as_iterable=False).shape
      (2,)
      >>> summary.FileWriterCache.clear()
    """

    def __init__(
        self, hidden_units: Sequence[int], feature_columns: Sequence[Any],
        model_dir: str | None = None, weight_column_name: str | None = None,
        optimizer: Any = None, activation_fn: Any = relu, dropout: float | None = None,
        gradient_clip_norm: float | None = None, *, label_dimension: int = 1, config: Any = None,
        feature_engineering_fn: Any = None,
    ) -> None:  # fmt: skip
        head = _numbers(label_dimension, weight_column_name)
        usual = _optimizer(optimizer, lambda: AdagradOptimizer(_DNN_RATE))
        logits = _deep(feature_columns, hidden_units, label_dimension, activation_fn, dropout)
        self._make(
            head, logits, usual, gradient_clip_norm, model_dir, config, feature_engineering_fn
        )
