"""tf.keras.losses as objects: a loss function with its settings, and how one is found by name.

Source: TF 1.15 API documentation, tf.keras.losses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfdist.keras_impl.losses import losses as functions
from tfdist.keras_impl.losses.loss import Loss, LossFunctionWrapper
from tfdist.keras_impl.serialization import deserialize_keras_object, serialize_keras_object

__all__ = [
    "BinaryCrossentropy", "CategoricalCrossentropy", "CategoricalHinge", "CosineSimilarity",
    "Hinge", "Huber", "KLDivergence", "LogCosh", "Loss", "MeanAbsoluteError",
    "MeanAbsolutePercentageError", "MeanSquaredError", "MeanSquaredLogarithmicError", "Poisson",
    "SparseCategoricalCrossentropy", "SquaredHinge", "deserialize", "get", "serialize",
]  # fmt: skip


class MeanSquaredError(LossFunctionWrapper):
    """Means of the squares of differences.

    Args:
      reduction: "none", "sum", "sum_over_batch_size", or "auto", which is the last.
      name: of its nodes.

    Example:
      >>> Session().run(keras.losses.MeanSquaredError()([[0.0, 1.0]], [[2.0, 1.0]]))
      np.float32(2.0)
    """

    def __init__(self, reduction: str = "auto", name: str | None = "mean_squared_error") -> None:
        super().__init__(functions.mean_squared_error, reduction, name)


class MeanAbsoluteError(LossFunctionWrapper):
    """Means of the sizes of differences.

    Args:
      reduction: "none", "sum", "sum_over_batch_size", or "auto", which is the last.
      name: of its nodes.

    Example:
      >>> Session().run(keras.losses.MeanAbsoluteError()([[0.0, 1.0]], [[3.0, 1.0]]))
      np.float32(1.5)
    """

    def __init__(self, reduction: str = "auto", name: str | None = "mean_absolute_error") -> None:
        super().__init__(functions.mean_absolute_error, reduction, name)


class MeanAbsolutePercentageError(LossFunctionWrapper):
    """Mean differences in percent of what is wanted.

    Args:
      reduction: "none", "sum", "sum_over_batch_size", or "auto", which is the last.
      name: of its nodes.

    Example:
      >>> Session().run(keras.losses.MeanAbsolutePercentageError()([[4.0]], [[3.0]]))
      np.float32(25.0)
    """

    def __init__(
        self, reduction: str = "auto", name: str | None = "mean_absolute_percentage_error"
    ) -> None:
        super().__init__(functions.mean_absolute_percentage_error, reduction, name)


class MeanSquaredLogarithmicError(LossFunctionWrapper):
    """Means of the squares of differences of log(1 + x).

    Args:
      reduction: "none", "sum", "sum_over_batch_size", or "auto", which is the last.
      name: of its nodes.

    Example:
      >>> Session().run(keras.losses.MeanSquaredLogarithmicError()([[1.0]], [[1.0]]))
      np.float32(0.0)
    """

    def __init__(
        self, reduction: str = "auto", name: str | None = "mean_squared_logarithmic_error"
    ) -> None:
        super().__init__(functions.mean_squared_logarithmic_error, reduction, name)


class BinaryCrossentropy(LossFunctionWrapper):
    """Cross entropies of answers yes or no.

    Args:
      from_logits: whether y_pred has logits.
      label_smoothing: how far y_true is moved towards one half.
      reduction: "none", "sum", "sum_over_batch_size", or "auto", which is the last.
      name: of its nodes.

    Example:
      >>> Session().run(keras.losses.BinaryCrossentropy()([[0.0, 0.0]], [[0.5, 0.5]], 0.0))
      np.float32(0.0)
    """

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: Any = 0,
        reduction: str = "auto",
        name: str | None = "binary_crossentropy",
    ) -> None:
        super().__init__(
            functions.binary_crossentropy,
            reduction,
            name,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
        )


class CategoricalCrossentropy(LossFunctionWrapper):
    """Cross entropies of classes, y_true has their probabilities.

    Args:
      from_logits: whether y_pred has logits.
      label_smoothing: the part of y_true that is spread over all classes.
      reduction: "none", "sum", "sum_over_batch_size", or "auto", which is the last.
      name: of its nodes.

    Example:
      >>> Session().run(keras.losses.CategoricalCrossentropy()([[0.0, 1.0]], [[0.5, 0.5]], 0.0))
      np.float32(0.0)
    """

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: Any = 0,
        reduction: str = "auto",
        name: str | None = "categorical_crossentropy",
    ) -> None:
        super().__init__(
            functions.categorical_crossentropy,
            reduction,
            name,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
        )


class SparseCategoricalCrossentropy(LossFunctionWrapper):
    """Cross entropies of classes, y_true has their numbers.

    Args:
      from_logits: whether y_pred has logits.
      reduction: "none", "sum", "sum_over_batch_size", or "auto", which is the last.
      name: of its nodes.

    Example:
      >>> Session().run(keras.losses.SparseCategoricalCrossentropy()([1], [[0.5, 0.5]], 0.0))
      np.float32(0.0)
    """

    def __init__(
        self,
        from_logits: bool = False,
        reduction: str = "auto",
        name: str | None = "sparse_categorical_crossentropy",
    ) -> None:
        super().__init__(
            functions.sparse_categorical_crossentropy, reduction, name, from_logits=from_logits
        )


class Hinge(LossFunctionWrapper):
    """Means of max(1 - y_true * y_pred, 0).

    Args:
      reduction: "none", "sum", "sum_over_batch_size", or "auto", which is the last.
      name: of its nodes.

    Example:
      >>> Session().run(keras.losses.Hinge()([[1.0, 0.0]], [[0.5, -3.0]]))
      np.float32(0.25)
    """

    def __init__(self, reduction: str = "auto", name: str | None = "hinge") -> None:
        super().__init__(functions.hinge, reduction, name)


class SquaredHinge(LossFunctionWrapper):
    """Means of the squares of max(1 - y_true * y_pred, 0).

    Args:
      reduction: "none", "sum", "sum_over_batch_size", or "auto", which is the last.
      name: of its nodes.

    Example:
      >>> Session().run(keras.losses.SquaredHinge()([[1.0, 0.0]], [[0.5, -3.0]]))
      np.float32(0.125)
    """

    def __init__(self, reduction: str = "auto", name: str | None = "squared_hinge") -> None:
        super().__init__(functions.squared_hinge, reduction, name)


class CategoricalHinge(LossFunctionWrapper):
    """By how much the wanted class is not 1 above the best other one.

    Args:
      reduction: "none", "sum", "sum_over_batch_size", or "auto", which is the last.
      name: of its nodes.

    Example:
      >>> Session().run(keras.losses.CategoricalHinge()([[1.0, 0.0]], [[0.5, 0.25]]))
      np.float32(0.75)
    """

    def __init__(self, reduction: str = "auto", name: str | None = "categorical_hinge") -> None:
        super().__init__(functions.categorical_hinge, reduction, name)


class Poisson(LossFunctionWrapper):
    """Means of y_pred - y_true * log(y_pred).

    Args:
      reduction: "none", "sum", "sum_over_batch_size", or "auto", which is the last.
      name: of its nodes.

    Example:
      >>> Session().run(keras.losses.Poisson()([[0.0]], [[1.5]]))
      np.float32(1.5)
    """

    def __init__(self, reduction: str = "auto", name: str | None = "poisson") -> None:
        super().__init__(functions.poisson, reduction, name)


class LogCosh(LossFunctionWrapper):
    """Means of log(cosh(difference)).

    Args:
      reduction: "none", "sum", "sum_over_batch_size", or "auto", which is the last.
      name: of its nodes.

    Example:
      >>> Session().run(keras.losses.LogCosh()([[1.0]], [[1.0]]))
      np.float32(0.0)
    """

    def __init__(self, reduction: str = "auto", name: str | None = "logcosh") -> None:
        super().__init__(functions.logcosh, reduction, name)


class KLDivergence(LossFunctionWrapper):
    """Sums of y_true * log(y_true / y_pred).

    Args:
      reduction: "none", "sum", "sum_over_batch_size", or "auto", which is the last.
      name: of its nodes.

    Example:
      >>> Session().run(keras.losses.KLDivergence()([[0.5, 0.5]], [[0.5, 0.5]]))
      np.float32(0.0)
    """

    def __init__(
        self, reduction: str = "auto", name: str | None = "kullback_leibler_divergence"
    ) -> None:
        super().__init__(functions.kullback_leibler_divergence, reduction, name)


class Huber(LossFunctionWrapper):
    """Half the squares of differences; beyond `delta` they grow linearly.

    Args:
      delta: where the square ends.
      reduction: "none", "sum", "sum_over_batch_size", or "auto", which is the last.
      name: of its nodes.

    Example:
      >>> Session().run(keras.losses.Huber()([[0.0]], [[3.0]]))
      np.float32(2.5)
    """

    def __init__(
        self, delta: float = 1.0, reduction: str = "auto", name: str | None = "huber_loss"
    ) -> None:
        super().__init__(functions.huber_loss, reduction, name, delta=delta)


class CosineSimilarity(LossFunctionWrapper):
    """Minus the cosines of the angles between y_true and y_pred.

    Args:
      axis: that of the vectors' components.
      reduction: "none", "sum", "sum_over_batch_size", or "auto", which is the last.
      name: of its nodes.

    Example:
      >>> Session().run(keras.losses.CosineSimilarity()([[0.0, 1.0]], [[0.0, 1.0]], 0.0))
      np.float32(0.0)
    """

    def __init__(
        self, axis: int = -1, reduction: str = "auto", name: str | None = "cosine_similarity"
    ) -> None:
        super().__init__(functions.cosine_similarity, reduction, name, axis=axis)


def serialize(loss: Any) -> Any:
    """Return what tells of a loss: its name, or a dictionary of class and settings.

    Args:
      loss: function or Loss.

    Example:
      >>> keras.losses.serialize(keras.losses.MeanSquaredError())["class_name"]
      'MeanSquaredError'
    """
    return serialize_keras_object(loss)


def deserialize(name: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Return the loss that `serialize` told of.

    Args:
      name: its name, or a dictionary of class and settings.
      custom_objects: a program's own losses, by name.

    Raises:
      ValueError: there is no such loss.

    Example:
      >>> keras.losses.deserialize("mae").__name__
      'mean_absolute_error'
    """
    return deserialize_keras_object(name, _known(), custom_objects, "loss function")


def get(identifier: Any) -> Any:
    """Return a loss: a function or Loss itself, or the one of this name.

    Args:
      identifier: name, dictionary of class and settings, function, or None.

    Raises:
      ValueError: it is none of these, or there is no such loss.

    Example:
      >>> keras.losses.get("hinge").__name__
      'hinge'
    """
    if identifier is None:
        return None
    if isinstance(identifier, str | Mapping):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise ValueError("Could not interpret loss function identifier:", identifier)


def _known() -> dict[str, Any]:
    named = {name: getattr(functions, name) for name in functions.__all__}
    return {**named, "huber_loss": functions.huber_loss, **globals()}
