"""tf.keras.metrics as objects: means of what a function of y_true and y_pred gives.

Source: TF 1.15 API documentation, tf.keras.metrics.
"""

from __future__ import annotations

from typing import Any

from tfdist.keras_impl.losses import losses
from tfdist.keras_impl.metrics import functions as metrics_functions
from tfdist.keras_impl.metrics.metric import MeanMetricWrapper

__all__ = [
    "Accuracy", "BinaryAccuracy", "BinaryCrossentropy", "CategoricalAccuracy",
    "CategoricalCrossentropy", "CategoricalHinge", "CosineSimilarity", "Hinge", "KLDivergence",
    "LogCoshError", "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredError",
    "MeanSquaredLogarithmicError", "Poisson", "SparseCategoricalAccuracy",
    "SparseCategoricalCrossentropy", "SparseTopKCategoricalAccuracy", "SquaredHinge",
    "TopKCategoricalAccuracy",
]  # fmt: skip


class Accuracy(MeanMetricWrapper):
    """The part of elements that are equal.

    Args:
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.Accuracy().name
      'accuracy'
    """

    def __init__(self, name: str | None = "accuracy", dtype: Any = None) -> None:
        super().__init__(metrics_functions.accuracy, name, dtype)


class BinaryAccuracy(MeanMetricWrapper):
    """The part of answers yes or no that are right.

    Args:
      name: of the metric.
      dtype: of its variables.
      threshold: above it, the answer is yes.

    Example:
      >>> keras.metrics.BinaryAccuracy().name
      'binary_accuracy'
    """

    def __init__(
        self, name: str | None = "binary_accuracy", dtype: Any = None, threshold: float = 0.5
    ) -> None:
        super().__init__(metrics_functions.binary_accuracy, name, dtype, threshold=threshold)


class CategoricalAccuracy(MeanMetricWrapper):
    """How often the class is the most probable one; y_true has 1 for it, 0 for others.

    Args:
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.CategoricalAccuracy().name
      'categorical_accuracy'
    """

    def __init__(self, name: str | None = "categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(metrics_functions.categorical_accuracy, name, dtype)


class SparseCategoricalAccuracy(MeanMetricWrapper):
    """How often the class is the most probable one; y_true has its number.

    Args:
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.SparseCategoricalAccuracy().name
      'sparse_categorical_accuracy'
    """

    def __init__(self, name: str | None = "sparse_categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(metrics_functions.sparse_categorical_accuracy, name, dtype)


class TopKCategoricalAccuracy(MeanMetricWrapper):
    """How often the class is among the k most probable ones.

    Args:
      k: how many.
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.TopKCategoricalAccuracy().name
      'top_k_categorical_accuracy'
    """

    def __init__(
        self, k: int = 5, name: str | None = "top_k_categorical_accuracy", dtype: Any = None
    ) -> None:
        super().__init__(metrics_functions.top_k_categorical_accuracy, name, dtype, k=k)


class SparseTopKCategoricalAccuracy(MeanMetricWrapper):
    """How often the class, as a number, is among the k most probable ones.

    Args:
      k: how many.
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.SparseTopKCategoricalAccuracy().name
      'sparse_top_k_categorical_accuracy'
    """

    def __init__(
        self, k: int = 5, name: str | None = "sparse_top_k_categorical_accuracy", dtype: Any = None
    ) -> None:
        super().__init__(metrics_functions.sparse_top_k_categorical_accuracy, name, dtype, k=k)


class MeanSquaredError(MeanMetricWrapper):
    """The mean of the squares of differences.

    Args:
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.MeanSquaredError().name
      'mean_squared_error'
    """

    def __init__(self, name: str | None = "mean_squared_error", dtype: Any = None) -> None:
        super().__init__(losses.mean_squared_error, name, dtype)


class MeanAbsoluteError(MeanMetricWrapper):
    """The mean of the sizes of differences.

    Args:
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.MeanAbsoluteError().name
      'mean_absolute_error'
    """

    def __init__(self, name: str | None = "mean_absolute_error", dtype: Any = None) -> None:
        super().__init__(losses.mean_absolute_error, name, dtype)


class MeanAbsolutePercentageError(MeanMetricWrapper):
    """The mean difference in percent of what is wanted.

    Args:
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.MeanAbsolutePercentageError().name
      'mean_absolute_percentage_error'
    """

    def __init__(
        self, name: str | None = "mean_absolute_percentage_error", dtype: Any = None
    ) -> None:
        super().__init__(losses.mean_absolute_percentage_error, name, dtype)


class MeanSquaredLogarithmicError(MeanMetricWrapper):
    """The mean of the squares of differences of log(1 + x).

    Args:
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.MeanSquaredLogarithmicError().name
      'mean_squared_logarithmic_error'
    """

    def __init__(
        self, name: str | None = "mean_squared_logarithmic_error", dtype: Any = None
    ) -> None:
        super().__init__(losses.mean_squared_logarithmic_error, name, dtype)


class Hinge(MeanMetricWrapper):
    """The mean of max(1 - y_true * y_pred, 0).

    Args:
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.Hinge().name
      'hinge'
    """

    def __init__(self, name: str | None = "hinge", dtype: Any = None) -> None:
        super().__init__(losses.hinge, name, dtype)


class SquaredHinge(MeanMetricWrapper):
    """The mean of the squares of max(1 - y_true * y_pred, 0).

    Args:
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.SquaredHinge().name
      'squared_hinge'
    """

    def __init__(self, name: str | None = "squared_hinge", dtype: Any = None) -> None:
        super().__init__(losses.squared_hinge, name, dtype)


class CategoricalHinge(MeanMetricWrapper):
    """By how much the wanted class is not 1 above the best other one.

    Args:
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.CategoricalHinge().name
      'categorical_hinge'
    """

    def __init__(self, name: str | None = "categorical_hinge", dtype: Any = None) -> None:
        super().__init__(losses.categorical_hinge, name, dtype)


class LogCoshError(MeanMetricWrapper):
    """The mean of log(cosh(difference)).

    Args:
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.LogCoshError().name
      'logcosh'
    """

    def __init__(self, name: str | None = "logcosh", dtype: Any = None) -> None:
        super().__init__(losses.logcosh, name, dtype)


class Poisson(MeanMetricWrapper):
    """The mean of y_pred - y_true * log(y_pred).

    Args:
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.Poisson().name
      'poisson'
    """

    def __init__(self, name: str | None = "poisson", dtype: Any = None) -> None:
        super().__init__(losses.poisson, name, dtype)


class KLDivergence(MeanMetricWrapper):
    """The mean of sums of y_true * log(y_true / y_pred).

    Args:
      name: of the metric.
      dtype: of its variables.

    Example:
      >>> keras.metrics.KLDivergence().name
      'kullback_leibler_divergence'
    """

    def __init__(self, name: str | None = "kullback_leibler_divergence", dtype: Any = None) -> None:
        super().__init__(losses.kullback_leibler_divergence, name, dtype)


class CosineSimilarity(MeanMetricWrapper):
    """The mean cosine of the angles between vectors.

    Args:
      name: of the metric.
      dtype: of its variables.
      axis: that of the vectors' components.

    Example:
      >>> keras.metrics.CosineSimilarity().name
      'cosine_similarity'
    """

    def __init__(
        self, name: str | None = "cosine_similarity", dtype: Any = None, axis: int = -1
    ) -> None:
        super().__init__(losses.cosine_similarity, name, dtype, axis=axis)


class BinaryCrossentropy(MeanMetricWrapper):
    """The mean cross entropy of answers yes or no.

    Args:
      name: of the metric.
      dtype: of its variables.
      from_logits: whether y_pred has logits.
      label_smoothing: the part of y_true that is spread.

    Example:
      >>> keras.metrics.BinaryCrossentropy().name
      'binary_crossentropy'
    """

    def __init__(
        self,
        name: str | None = "binary_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        label_smoothing: Any = 0,
    ) -> None:
        super().__init__(
            losses.binary_crossentropy,
            name,
            dtype,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
        )


class CategoricalCrossentropy(MeanMetricWrapper):
    """The mean cross entropy of classes, y_true has their probabilities.

    Args:
      name: of the metric.
      dtype: of its variables.
      from_logits: whether y_pred has logits.
      label_smoothing: the part of y_true that is spread.

    Example:
      >>> keras.metrics.CategoricalCrossentropy().name
      'categorical_crossentropy'
    """

    def __init__(
        self,
        name: str | None = "categorical_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        label_smoothing: Any = 0,
    ) -> None:
        super().__init__(
            losses.categorical_crossentropy,
            name,
            dtype,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
        )


class SparseCategoricalCrossentropy(MeanMetricWrapper):
    """The mean cross entropy of classes, y_true has their numbers.

    Args:
      name: of the metric.
      dtype: of its variables.
      from_logits: whether y_pred has logits.
      axis: that of classes.

    Example:
      >>> keras.metrics.SparseCategoricalCrossentropy().name
      'sparse_categorical_crossentropy'
    """

    def __init__(
        self,
        name: str | None = "sparse_categorical_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        axis: int = -1,
    ) -> None:
        super().__init__(
            losses.sparse_categorical_crossentropy, name, dtype, from_logits=from_logits, axis=axis
        )
