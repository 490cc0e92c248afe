"""Heads: what stands above the logits of a model, its loss, predictions and metrics.

Source: TF 1.15 API documentation, tf.estimator.LinearClassifier and its relatives; names of
metrics, predictions and summaries, and messages, by experiment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tfdist.base import dtypes
from tfdist.estimators.columns.feature_column import Features
from tfdist.estimators.columns.numeric import NumericColumn
from tfdist.estimators.estimator_spec import DEFAULT_SIGNATURE, EstimatorSpec, ModeKeys
from tfdist.estimators.export_outputs import ExportOutput, PredictOutput, RegressionOutput
from tfdist.estimators.model_calls import arguments_of
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.models.losses.loss_collections import get_regularization_losses
from tfdist.models.losses.weighted_loss import Reduction, compute_weighted_loss
from tfdist.models.metrics import means
from tfdist.ops.array.cast import cast
from tfdist.ops.array.reshape import expand_dims
from tfdist.ops.control_flow.identity_group import group
from tfdist.ops.math.add_n import add_n
from tfdist.ops.summary import summaries
from tfdist.ops.variables.collections import GraphKeys
from tfdist.training.global_step import get_global_step

__all__: list[str] = []

TrainOp = Callable[[Any], Any]


class Losses(NamedTuple):
    """What becomes of logits and labels.

    Attributes:
      labels: [batch, ...], as the loss takes them.
      each: losses of each example.
      weights: of each example.
      total: scalar.
    """

    labels: Any
    each: Any
    weights: Any
    total: Any


class LossSpec(NamedTuple):
    """What `Head.create_loss` returns: scalar, losses and weights of examples, and labels."""

    training_loss: Any
    unreduced_loss: Any
    weights: Any
    processed_labels: Any


class Head:
    """Loss, predictions and metrics; a subclass for each kind of label.

    Args:
      logits_dimension: how many logits an example has.
      weight_column: feature, or column, of the weights of examples.
      loss_reduction: of `tf.losses.Reduction`, but for NONE.
      name: behind those of metrics.
      loss_fn: function of labels and logits, and of features and loss_reduction if it takes them,
        to the loss of each example; by default that of the kind of label.

    Raises:
      ValueError: there is no such reduction.
    """

    def __init__(
        self, logits_dimension: int, weight_column: Any, loss_reduction: str, *,
        name: str | None = None, loss_fn: Callable[..., Any] | None = None,
    ) -> None:  # fmt: skip
        if loss_reduction not in Reduction.all() or loss_reduction == Reduction.NONE:
            raise ValueError(f"Invalid loss_reduction: {loss_reduction}")
        self.logits_dimension = logits_dimension
        self._weight_column, self._reduction = weight_column, loss_reduction
        self.name, self._loss_fn = name, loss_fn

    def predictions(self, logits: Any) -> dict[str, Any]:
        """Return predictions by name."""
        raise NotImplementedError

    def outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
        """Return what a SavedModel gives, besides all predictions."""
        raise NotImplementedError

    def metrics(self, losses: Losses, predictions: Mapping[str, Any]) -> dict[str, Any]:
        """Return metrics by name."""
        raise NotImplementedError

    def _labels(self, labels: Any) -> Any:
        """Return labels as the loss takes them."""
        raise NotImplementedError

    def _losses(self, labels: Any, logits: Any) -> Any:
        """Return the loss of each example."""
        raise NotImplementedError

    def spec(
        self, features: Mapping[str, Any], mode: str, logits: Any, labels: Any, train: TrainOp,
        scope: str = "head",
    ) -> EstimatorSpec:  # fmt: skip
        """Return what a model function returns.

        Args:
          features: by name.
          mode: one of `ModeKeys`.
          logits: float [batch, logits_dimension].
          labels: None to predict.
          train: function of a loss, to an operation that trains one step.
          scope: of the nodes.
        """
        with scopes.name_scope(scope):
            logits = _checked_logits(logits, self.logits_dimension)
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                outputs = self.outputs(predictions)
                outputs["predict"] = PredictOutput(predictions)
                return EstimatorSpec(mode, predictions, export_outputs=outputs)
            losses = self.losses(features, labels, logits)
            total = _with_regularization(losses.total)
            if mode == ModeKeys.EVAL:
                with scopes.name_scope("metrics"):
                    metrics = self._named(self.metrics(losses, predictions))
                return EstimatorSpec(mode, predictions, total, eval_metric_ops=metrics)
            train_op = _with_updates(train(total))
        with scopes.name_scope(""):
            self._summarize(losses)
        return EstimatorSpec(mode, predictions, total, train_op)

    def losses(self, features: Mapping[str, Any], labels: Any, logits: Any) -> Losses:
        """Return what becomes of logits and labels.

        Raises:
          ValueError: there are no labels, or they are of another shape.
        """
        if labels is None:
            raise ValueError(
                "You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: "
                "Check that your data contains your label feature. Check that your input_fn "
                "properly parses and returns labels."
            )
        found = self._labels(convert_to_tensor(labels))
        each, weights = self._loss_of_each(features, found, logits), self._weights(features)
        total = compute_weighted_loss(each, weights, reduction=self._reduction)
        return Losses(found, each, weights, total)

    def create_loss(
        self, features: Mapping[str, Any], mode: str, logits: Any, labels: Any
    ) -> LossSpec:
        """Return what becomes of logits and labels, as programs with heads take it."""
        found = self.losses(features, labels, _checked_logits(logits, self.logits_dimension))
        return LossSpec(found.total, found.each, found.weights, found.labels)

    def create_estimator_spec(
        self, features: Mapping[str, Any], mode: str, logits: Any, labels: Any = None,
        optimizer: Any = None, train_op_fn: TrainOp | None = None,
    ) -> EstimatorSpec:  # fmt: skip
        """Return what a model function returns.

        Args:
          features: by name.
          mode: one of `ModeKeys`.
          logits: [batch, logits_dimension].
          labels: None to predict.
          optimizer: that trains.
          train_op_fn: function of a loss, to an operation that trains one step; instead.

        Raises:
          ValueError: training, there are both of these, or neither.
        """
        if mode == ModeKeys.TRAIN and optimizer is not None and train_op_fn is not None:
            raise ValueError("train_op_fn and optimizer cannot both be set.")
        if mode == ModeKeys.TRAIN and optimizer is None and train_op_fn is None:
            raise ValueError("train_op_fn and optimizer cannot both be None.")

        def train(loss: Any) -> Any:
            return optimizer.minimize(loss, global_step=get_global_step())

        return self.spec(features, mode, logits, labels, train_op_fn or train)

    def _named(self, metrics: dict[str, Any]) -> dict[str, Any]:
        return {f"{key}/{self.name}" if self.name else key: e for key, e in metrics.items()}

    def _loss_of_each(self, features: Mapping[str, Any], labels: Any, logits: Any) -> Any:
        if self._loss_fn is None:
            return self._losses(labels, logits)
        known = {"features": features, "loss_reduction": self._reduction}
        more = {key: known[key] for key in arguments_of(self._loss_fn) if key in known}
        each = self._loss_fn(labels=labels, logits=logits, **more)
        return expand_dims(each, -1) if each.shape.ndims == 1 else each

    def _weights(self, features: Mapping[str, Any]) -> Any:
        """Return the weights of examples, [batch, 1]; 1.0 without a column."""
        if self._weight_column is None:
            return 1.0
        with scopes.name_scope(None, "weights"):
            column = self._weight_column
            if isinstance(column, str):
                column = NumericColumn(column, (1,), None, dtypes.float32, None)
            if not isinstance(column, NumericColumn):
                raise TypeError(
                    "Weight column must be either a string or _NumericColumn. Given type: "
                    f"{type(column)}."
                )
            return Features(features).get(column)

    def _summarize(self, losses: Losses) -> None:
        """Summarise the loss of an example, where the loss is a sum over them."""
        if self._reduction == Reduction.SUM:
            mean = compute_weighted_loss(
                losses.each, losses.weights, loss_collection=None, reduction=Reduction.MEAN
            )
            summaries.scalar("average_loss", mean)

    def _mean_loss(self, losses: Losses) -> Any:
        return means.mean(losses.each, losses.weights, name="average_loss")


def _checked_logits(logits: Any, dimension: int) -> Any:
    found = cast(convert_to_tensor(logits), dtypes.float32)
    found.shape.assert_is_compatible_with([None, dimension])
    return found


def _with_regularization(loss: Any) -> Any:
    """Return a loss with those that keep weights small, if there are any."""
    others = get_regularization_losses()
    return add_n([loss, *others]) if others else loss


def _with_updates(train_op: Any) -> Any:
    """Return a training operation that runs UPDATE_OPS too, as batch normalisation needs."""
    updates = scopes.get_collection(GraphKeys.UPDATE_OPS)
    return group(train_op, *updates) if updates else train_op


def in_columns(labels: Any, dimension: int) -> Any:
    """Return labels as [batch, dimension], [batch] as [batch, 1].

    Raises:
      ValueError: they have another dimension.
    """
    shape = labels.shape
    if shape.ndims == 1:
        labels = expand_dims(labels, -1)
    last = labels.shape[-1].value if labels.shape.ndims else None
    if last not in (None, dimension):
        raise ValueError(
            f"Mismatched label shape. Expected labels dimension={dimension}.  Received {last}. "
            "Suggested Fix:If your classifier expects one-hot encoding label,check your n_classes "
            "argument to the estimator and/or the shape of your label. Otherwise, check the shape "
            "of your label."
        )
    return labels


class RegressionHead(Head):
    """Numbers: mean squared error.

    Args:
      label_dimension: how many numbers an example has.
      weight_column: as the rest: see `Head`.
      inverse_link_fn: from logits to the numbers; they are the same by default.
    """

    def __init__(
        self, label_dimension: int, weight_column: Any, loss_reduction: str, *,
        inverse_link_fn: Callable[[Any], Any] | None = None, **options: Any,
    ) -> None:  # fmt: skip
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        super().__init__(label_dimension, weight_column, loss_reduction, **options)
        self._inverse_link_fn = inverse_link_fn

    def predictions(self, logits: Any) -> dict[str, Any]:
        """Return the numbers."""
        if self._inverse_link_fn is None:
            return {"predictions": logits}
        return {"predictions": self._inverse_link_fn(logits), "logits": logits}

    def outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
        """Return the numbers."""
        found = RegressionOutput(predictions["predictions"])
        return {DEFAULT_SIGNATURE: found, "regression": found}

    def metrics(self, losses: Losses, predictions: Mapping[str, Any]) -> dict[str, Any]:
        """Return the mean loss, and means of both."""
        weights, found = losses.weights, predictions["predictions"]
        weights = weights if isinstance(weights, float) else weights + raw.ZerosLike(found)
        return {
            "average_loss": self._mean_loss(losses),
            "prediction/mean": means.mean(found, weights, name="prediction/mean"),
            "label/mean": means.mean(losses.labels, weights, name="label/mean"),
        }

    def _labels(self, labels: Any) -> Any:
        return cast(in_columns(labels, self.logits_dimension), dtypes.float32)

    def _losses(self, labels: Any, logits: Any) -> Any:
        labels.shape.assert_is_compatible_with(logits.shape)
        return raw.SquaredDifference(labels, logits)
