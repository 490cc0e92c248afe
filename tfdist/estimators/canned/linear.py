"""Linear models, and biases alone, as estimators.

Source: TF 1.15 API documentation, tf.estimator.LinearClassifier, LinearRegressor,
BaselineClassifier and BaselineRegressor; learning rates by experiment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfdist.estimators.canned.class_heads import classifier_head
from tfdist.estimators.canned.heads import Head, RegressionHead
from tfdist.estimators.canned.models import (
    baseline_logits,
    linear_logits,
    linear_rate,
    optimizer_of,
    partitioner_for,
)
from tfdist.estimators.estimator import Estimator
from tfdist.models.losses.weighted_loss import Reduction
from tfdist.ops.variables.variable_scope import variable_scope
from tfdist.training.global_step import get_global_step

__all__ = [
    "BaselineClassifier", "BaselineEstimator", "BaselineRegressor", "LinearClassifier",
    "LinearEstimator", "LinearRegressor",
]  # fmt: skip

_BASELINE_RATE = 0.3


def _linear(
    head: Head, columns: Sequence[Any], optimizer: Any, given: Any, combiner: str
) -> Callable[..., Any]:
    """Return the model function of a linear model."""
    columns = tuple(columns or ())

    def model(features: Any, labels: Any, mode: str, config: Any) -> Any:
        parts = given or partitioner_for(config)
        logits = linear_logits(features, columns, head.logits_dimension, combiner, parts)
        made = optimizer_of(optimizer, linear_rate(columns))

        def train(loss: Any) -> Any:
            with variable_scope("linear", auxiliary_name_scope=False):
                return made.minimize(loss, get_global_step())

        return head.spec(features, mode, logits, labels, train, "linear/head/")

    return model


class LinearClassifier(Estimator):
    """A linear model of classes.

    Args:
      feature_columns: columns; see `tf.feature_column`.
      model_dir: folder.
      n_classes: how many classes there are.
      weight_column: feature, or column, of the weights of examples.
      label_vocabulary: the labels, if they are words.
      optimizer: a name, an Optimizer, or a function that makes one.
      config: `RunConfig`.
      partitioner: spreads tables over parameter servers.
      warm_start_from: checkpoint, or `WarmStartSettings`.
      loss_reduction: of `tf.losses.Reduction`.
      sparse_combiner: what becomes of several categories of an example.

    Raises:
      ValueError: an argument makes no sense.

    Example:
      >>> import tempfile
      >>> def rows():
      ...     return data.Dataset.from_tensors(({"x": [[-1.0], [5.0]]}, [0, 1])).repeat(5)
      >>> x = feature_column.numeric_column("x")
      >>> classifier = estimator.LinearClassifier([x], tempfile.mkdtemp()).train(rows)
      >>> [int(found["class_ids"][0]) for found in classifier.predict(rows)][:2]
      [0, 1]
      >>> summary.FileWriterCache.clear()
    """

    def __init__(
        self,
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[Any] | None = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        model = _linear(head, feature_columns, optimizer, partitioner, sparse_combiner)
        super().__init__(model, model_dir, config, warm_start_from=warm_start_from)


class LinearEstimator(Estimator):
    """A linear model below a head.

    Args:
      head: one of `tf.contrib.estimator`.
      feature_columns: as the rest: see `LinearClassifier`.

    Example:
      >>> import tempfile
      >>> x, head = feature_column.numeric_column("x"), contrib.estimator.regression_head()
      >>> estimator.LinearEstimator(head, [x], tempfile.mkdtemp()).params
      {}
    """

    def __init__(
        self,
        head: Head,
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        sparse_combiner: str = "sum",
    ) -> None:
        model = _linear(head, feature_columns, optimizer, partitioner, sparse_combiner)
        super().__init__(model, model_dir, config)


class LinearRegressor(Estimator):
    """A linear model of numbers.

    Args:
      feature_columns: columns; see `tf.feature_column`.
      model_dir: folder.
      label_dimension: how many numbers a label has.
      weight_column: as the rest: see `LinearClassifier`.

    Raises:
      ValueError: an argument makes no sense.

    Example:
      >>> import tempfile
      >>> def rows():
      ...     return data.Dataset.from_tensors(({"x": [[1.0], [5.0]]}, [1.0, 5.0])).repeat(5)
      >>> x = feature_column.numeric_column("x")
      >>> regressor = estimator.LinearRegressor([x], tempfile.mkdtemp()).train(rows)
      >>> regressor.get_variable_value("linear/linear_model/x/weights").shape
      (1, 1)
      >>> summary.FileWriterCache.clear()
    """

    def __init__(
        self,
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        model = _linear(head, feature_columns, optimizer, partitioner, sparse_combiner)
        super().__init__(model, model_dir, config, warm_start_from=warm_start_from)


def _baseline(head: Head, optimizer: Any) -> Callable[..., Any]:
    """Return the model function of a bias alone."""

    def model(features: Any, labels: Any, mode: str) -> Any:
        logits = baseline_logits(features, head.logits_dimension)
        made = optimizer_of(optimizer, _BASELINE_RATE)
        return head.spec(
            features, mode, logits, labels, lambda loss: made.minimize(loss, get_global_step())
        )

    return model


class BaselineClassifier(Estimator):
    """A model that gives all examples the same probabilities: what others are compared with.

    Args:
      model_dir: folder.
      n_classes: how many classes there are.
      weight_column: feature, or column, of the weights of examples.
      label_vocabulary: the labels, if they are words.
      optimizer: a name, an Optimizer, or a function that makes one.
      config: `RunConfig`.
      loss_reduction: of `tf.losses.Reduction`.

    Raises:
      ValueError: an argument makes no sense.

    Example:
      >>> import tempfile
      >>> estimator.BaselineClassifier(tempfile.mkdtemp(), n_classes=3).params
      {}
    """

    def __init__(
        self,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[Any] | None = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: str = Reduction.SUM,
    ) -> None:
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(_baseline(head, optimizer), model_dir, config)


class BaselineEstimator(Estimator):
    """The same for all examples, below a head.

    Args:
      head: one of `tf.contrib.estimator`.
      model_dir: folder.
      optimizer: a name, an Optimizer, or a function that makes one.
      config: `RunConfig`.

    Example:
      >>> import tempfile
      >>> head = contrib.estimator.regression_head()
      >>> estimator.BaselineEstimator(head, tempfile.mkdtemp()).params
      {}
    """

    def __init__(
        self,
        head: Head,
        model_dir: str | None = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
    ) -> None:
        super().__init__(_baseline(head, optimizer), model_dir, config)


class BaselineRegressor(Estimator):
    """A model that gives all examples the same numbers: what others are compared with.

    Args:
      model_dir: folder.
      label_dimension: how many numbers a label has.
      weight_column: as the rest: see `BaselineClassifier`.

    Raises:
      ValueError: an argument makes no sense.

    Example:
      >>> import tempfile
      >>> estimator.BaselineRegressor(tempfile.mkdtemp()).params
      {}
    """

    def __init__(
        self,
        model_dir: str | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: str = Reduction.SUM,
    ) -> None:
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        super().__init__(_baseline(head, optimizer), model_dir, config)
