"""Networks, alone and beside linear models, as estimators.

Source: TF 1.15 API documentation, tf.estimator.DNNClassifier, DNNRegressor and
DNNLinearCombinedClassifier, DNNLinearCombinedRegressor; learning rates by experiment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfdist.estimators.canned.class_heads import classifier_head
from tfdist.estimators.canned.heads import Head, RegressionHead
from tfdist.estimators.canned.models import (
    dnn_logits,
    linear_logits,
    linear_rate,
    optimizer_of,
    partitioner_for,
)
from tfdist.estimators.estimator import Estimator
from tfdist.graph import scopes
from tfdist.models.losses.weighted_loss import Reduction
from tfdist.ops.control_flow.identity_group import group
from tfdist.ops.nn.activations import relu
from tfdist.ops.variables.collections import trainable_variables
from tfdist.ops.variables.state_ops import assign_add
from tfdist.ops.variables.variable_scope import variable_scope
from tfdist.training.global_step import get_global_step

__all__ = [
    "DNNClassifier", "DNNEstimator", "DNNLinearCombinedClassifier", "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor", "DNNRegressor",
]  # fmt: skip

_RATE = 0.05
_COMBINED_RATE = 0.001  # of a network beside a linear model
_LINEAR_RATE = 0.005  # of the linear model beside a network, at most


class _Deep(NamedTuple):
    """A network, as the arguments of an estimator describe it."""

    columns: Sequence[Any] | None
    hidden_units: Sequence[int] | None
    optimizer: Any
    activation_fn: Any
    dropout: float | None
    batch_norm: bool
    input_partitioner: Any

    def logits(self, features: Any, units: int, mode: str, parts: Any) -> Any:
        """Return its logits."""
        if not self.columns:
            raise ValueError("feature_columns must not be empty.")
        return dnn_logits(
            features, self.columns, units, mode, hidden_units=self.hidden_units or (),
            activation_fn=self.activation_fn, dropout_rate=self.dropout,
            batch_norm=self.batch_norm, partitioner=parts,
            input_partitioner=self.input_partitioner or parts,
        )  # fmt: skip


class _Wide(NamedTuple):
    """A linear model, as the arguments of an estimator describe it."""

    columns: Sequence[Any] | None
    optimizer: Any
    combiner: str


def _deep_model(head: Head, deep: _Deep) -> Callable[..., Any]:
    """Return the model function of a network."""

    def model(features: Any, labels: Any, mode: str, config: Any) -> Any:
        parts = partitioner_for(config)
        logits = deep.logits(features, head.logits_dimension, mode, parts)
        made = optimizer_of(deep.optimizer, _RATE)

        def train(loss: Any) -> Any:
            with variable_scope("dnn", auxiliary_name_scope=False):
                return made.minimize(loss, get_global_step())

        return head.spec(features, mode, logits, labels, train, "dnn/head/")

    return model


def _combined_model(head: Head, wide: _Wide, deep: _Deep) -> Callable[..., Any]:
    """Return the model function of a network and a linear model: the sum of their logits.

    Raises:
      ValueError: there is neither; or a network without columns, or columns without a network.
    """
    if not wide.columns and not deep.columns:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    if deep.columns and not deep.hidden_units:
        raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")

    def model(features: Any, labels: Any, mode: str, config: Any) -> Any:
        parts = partitioner_for(config)
        units, found, trained = head.logits_dimension, [], []
        if deep.columns:
            found.append(deep.logits(features, units, mode, parts))
            trained.append(("dnn", optimizer_of(deep.optimizer, _COMBINED_RATE)))
        if wide.columns:
            found.append(linear_logits(features, wide.columns, units, wide.combiner, parts, True))
            rate = linear_rate(wide.columns, _LINEAR_RATE)
            trained.append(("linear", optimizer_of(wide.optimizer, rate)))
        logits = found[0] if len(found) == 1 else found[0] + found[1]
        return head.spec(features, mode, logits, labels, lambda loss: _trained(loss, trained))

    return model


def _trained(loss: Any, optimizers: Sequence[tuple[str, Any]]) -> Any:
    """Return an operation that trains one step: each optimizer the variables of its scope."""
    steps = [
        optimizer.minimize(loss, var_list=trainable_variables(scope))
        for scope, optimizer in optimizers
    ]
    with scopes.control_dependencies([group(*steps)]):
        return assign_add(get_global_step(), 1).op


class DNNClassifier(Estimator):
    """A network of classes.

    Args:
      hidden_units: how many units each hidden layer has.
      feature_columns: columns that give numbers; see `tf.feature_column`.
      model_dir: folder.
      n_classes: how many classes there are.
      weight_column: feature, or column, of the weights of examples.
      label_vocabulary: the labels, if they are words.
      optimizer: a name, an Optimizer, or a function that makes one.
      activation_fn: of the hidden layers.
      dropout: which part of the units is left out in training.
      input_layer_partitioner: spreads tables of embeddings over parameter servers.
      config: `RunConfig`.
      warm_start_from: checkpoint, or `WarmStartSettings`.
      loss_reduction: of `tf.losses.Reduction`.
      batch_norm: whether batches are normalised after each hidden layer.

    Raises:
      ValueError: an argument makes no sense.

    Example:
      >>> import tempfile
      >>> def rows():
      ...     return data.Dataset.from_tensors(({"x": [[-1.0], [1.0]]}, [0, 1])).repeat(2)
      >>> x = feature_column.numeric_column("x")
      >>> classifier = estimator.DNNClassifier([8], [x], tempfile.mkdtemp())
      >>> classifier.train(rows).get_variable_value("dnn/hiddenlayer_0/kernel").shape
      (1, 8)
      >>> summary.FileWriterCache.clear()
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[Any] | None = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
    ) -> None:
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        deep = _Deep(
            feature_columns, hidden_units, optimizer, activation_fn, dropout, batch_norm,
            input_layer_partitioner,
        )  # fmt: skip
        model = _deep_model(head, deep)
        super().__init__(model, model_dir, config, warm_start_from=warm_start_from)


class DNNEstimator(Estimator):
    """A network below a head.

    Args:
      head: one of `tf.contrib.estimator`.
      hidden_units: as the rest: see `DNNClassifier`.

    Example:
      >>> import tempfile
      >>> x, head = feature_column.numeric_column("x"), contrib.estimator.multi_label_head(3)
      >>> estimator.DNNEstimator(head, [4], [x], tempfile.mkdtemp()).params
      {}
    """

    def __init__(
        self,
        head: Head,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        batch_norm: bool = False,
    ) -> None:
        deep = _Deep(
            feature_columns, hidden_units, optimizer, activation_fn, dropout, batch_norm,
            input_layer_partitioner,
        )  # fmt: skip
        super().__init__(_deep_model(head, deep), model_dir, config, None, warm_start_from)


class DNNRegressor(Estimator):
    """A network of numbers.

    Args:
      hidden_units: how many units each hidden layer has.
      feature_columns: columns that give numbers; see `tf.feature_column`.
      model_dir: folder.
      label_dimension: how many numbers a label has.
      weight_column: as the rest: see `DNNClassifier`.

    Raises:
      ValueError: an argument makes no sense.

    Example:
      >>> import tempfile
      >>> x = feature_column.numeric_column("x")
      >>> estimator.DNNRegressor([8, 4], [x], tempfile.mkdtemp()).params
      {}
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
    ) -> None:
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        deep = _Deep(
            feature_columns, hidden_units, optimizer, activation_fn, dropout, batch_norm,
            input_layer_partitioner,
        )  # fmt: skip
        model = _deep_model(head, deep)
        super().__init__(model, model_dir, config, warm_start_from=warm_start_from)


class DNNLinearCombinedClassifier(Estimator):
    """A network and a linear model of classes, side by side: wide and deep.

    Args:
      model_dir: folder.
      linear_feature_columns: columns of the linear model.
      linear_optimizer: of that: a name, an Optimizer, or a function that makes one.
      dnn_feature_columns: columns of the network.
      dnn_optimizer: of that.
      dnn_hidden_units: how many units each hidden layer has.
      dnn_activation_fn: of the hidden layers.
      dnn_dropout: which part of the units is left out in training.
      n_classes: as the rest: see `DNNClassifier` and `LinearClassifier`.

    Raises:
      ValueError: there are no columns, or another argument makes no sense.

    Example:
      >>> import tempfile
      >>> x = feature_column.numeric_column("x")
      >>> both = estimator.DNNLinearCombinedClassifier(
      ...     tempfile.mkdtemp(), [x], dnn_feature_columns=[x], dnn_hidden_units=[4]
      ... )
    """

    def __init__(
        self,
        model_dir: str | None = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Any = relu,
        dnn_dropout: float | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[Any] | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        wide = _Wide(linear_feature_columns, linear_optimizer, linear_sparse_combiner)
        deep = _Deep(
            dnn_feature_columns, dnn_hidden_units, dnn_optimizer, dnn_activation_fn, dnn_dropout,
            batch_norm, input_layer_partitioner,
        )  # fmt: skip
        model = _combined_model(head, wide, deep)
        super().__init__(model, model_dir, config, warm_start_from=warm_start_from)


class DNNLinearCombinedRegressor(Estimator):
    """A network and a linear model of numbers, side by side: wide and deep.

    Args:
      model_dir: folder.
      linear_feature_columns: as the rest: see `DNNLinearCombinedClassifier`.
      label_dimension: how many numbers a label has.

    Raises:
      ValueError: there are no columns, or another argument makes no sense.

    Example:
      >>> import tempfile
      >>> x = feature_column.numeric_column("x")
      >>> both = estimator.DNNLinearCombinedRegressor(tempfile.mkdtemp(), [x])
    """

    def __init__(
        self,
        model_dir: str | None = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Any = relu,
        dnn_dropout: float | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        wide = _Wide(linear_feature_columns, linear_optimizer, linear_sparse_combiner)
        deep = _Deep(
            dnn_feature_columns, dnn_hidden_units, dnn_optimizer, dnn_activation_fn, dnn_dropout,
            batch_norm, input_layer_partitioner,
        )  # fmt: skip
        model = _combined_model(head, wide, deep)
        super().__init__(model, model_dir, config, warm_start_from=warm_start_from)


class DNNLinearCombinedEstimator(Estimator):
    """A network and a linear model, side by side, below a head.

    Args:
      head: one of `tf.contrib.estimator`.
      model_dir: as the rest: see `DNNLinearCombinedClassifier`.

    Example:
      >>> import tempfile
      >>> x, head = feature_column.numeric_column("x"), contrib.estimator.regression_head()
      >>> estimator.DNNLinearCombinedEstimator(head, tempfile.mkdtemp(), [x]).params
      {}
    """

    def __init__(
        self,
        head: Head,
        model_dir: str | None = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Any = relu,
        dnn_dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        wide = _Wide(linear_feature_columns, linear_optimizer, linear_sparse_combiner)
        deep = _Deep(
            dnn_feature_columns, dnn_hidden_units, dnn_optimizer, dnn_activation_fn, dnn_dropout,
            False, input_layer_partitioner,
        )  # fmt: skip
        super().__init__(_combined_model(head, wide, deep), model_dir, config)
