"""What libraries with estimators of their own import from `tensorflow.python.estimator.canned`.

Source: TF 1.15, the names and values of these modules.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from tfdist.estimators.canned import contrib_heads
from tfdist.estimators.canned.models import optimizer_of
from tfdist.models.losses.weighted_loss import Reduction

__all__ = ["MetricKeys", "PredictionKeys", "get_optimizer_instance"]


def get_optimizer_instance(opt: Any, learning_rate: float | None = None) -> Any:
    """Return an optimizer from its name, a function that makes it, or itself.

    Raises:
      ValueError: it is none of these, or a name without a learning rate.
    """
    if isinstance(opt, str) and not learning_rate:
        raise ValueError("learning_rate must be specified when opt is string.")
    return optimizer_of(opt, learning_rate or 0.0)


# The heads of canned estimators: those of tf.contrib.estimator, but that losses are added up.
_binary_logistic_head_with_sigmoid_cross_entropy_loss = partial(
    contrib_heads.binary_classification_head, loss_reduction=Reduction.SUM
)
_multi_class_head_with_softmax_cross_entropy_loss = partial(
    contrib_heads.multi_class_head, loss_reduction=Reduction.SUM
)
_regression_head = partial(contrib_heads.regression_head, loss_reduction=Reduction.SUM)


class PredictionKeys:
    """Names of what estimators predict."""

    CLASSES = "classes"
    CLASS_IDS = "class_ids"
    ALL_CLASSES = "all_classes"
    ALL_CLASS_IDS = "all_class_ids"
    LOGISTIC = "logistic"
    LOGITS = "logits"
    PREDICTIONS = "predictions"
    PROBABILITIES = "probabilities"
    TOP_K = "top_k"


class MetricKeys:
    """Names of what estimators measure."""

    LOSS = "loss"
    LOSS_MEAN = "average_loss"
    LOSS_REGULARIZATION = "regularization_loss"
    ACCURACY = "accuracy"
    PRECISION = "precision"
    RECALL = "recall"
    ACCURACY_BASELINE = "accuracy_baseline"
    AUC = "auc"
    AUC_PR = "auc_precision_recall"
    LABEL_MEAN = "label/mean"
    PREDICTION_MEAN = "prediction/mean"
    ACCURACY_AT_THRESHOLD = "accuracy/positive_threshold_%g"
    PRECISION_AT_THRESHOLD = "precision/positive_threshold_%g"
    RECALL_AT_THRESHOLD = "recall/positive_threshold_%g"


class _Head:
    """What a library's own head derives from: loss, metrics and training, given logits."""

    @property
    def name(self) -> str:
        """Return the head's name."""
        raise NotImplementedError(f"{type(self).__name__}.name is for the class to tell")

    @property
    def logits_dimension(self) -> int:
        """Return the size of the last axis of logits."""
        raise NotImplementedError(f"{type(self).__name__}.logits_dimension is not told")

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> Any:
        """Return the loss."""
        raise NotImplementedError(f"{type(self).__name__} makes no loss")

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: Any = None,
        regularization_losses: Any = None,
    ) -> Any:
        """Return the EstimatorSpec of a mode."""
        raise NotImplementedError(f"{type(self).__name__} makes no EstimatorSpec")
