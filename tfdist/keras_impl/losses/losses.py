"""tf.keras.losses as functions: what each example has lost, from what is wanted and what was found.

A function takes y_true, y_pred and returns a loss per example: the mean over the last axis.

Source: TF 1.15 API documentation, tf.keras.losses.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.keras_impl.losses import crossentropy
from tfdist.keras_impl.settings import epsilon
from tfdist.ops.array.cast import cast
from tfdist.ops.array.constants import constant
from tfdist.ops.array.shape import shape
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.math.reductions import reduce_all, reduce_max, reduce_mean, reduce_sum
from tfdist.ops.nn.normalization import l2_normalize

__all__ = [
    "KLD", "MAE", "MAPE", "MSE", "MSLE", "binary_crossentropy", "categorical_crossentropy",
    "categorical_hinge", "cosine", "cosine_proximity", "cosine_similarity", "hinge", "kld",
    "kullback_leibler_divergence", "logcosh", "mae", "mape", "mean_absolute_error",
    "mean_absolute_percentage_error", "mean_squared_error", "mean_squared_logarithmic_error",
    "mse", "msle", "poisson", "sparse_categorical_crossentropy", "squared_hinge",
]  # fmt: skip


def _pair(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    y_pred = convert_to_tensor(y_pred)
    return cast(convert_to_tensor(y_true), y_pred.dtype.base_dtype), y_pred


def _mean(losses: Tensor) -> Tensor:
    return reduce_mean(losses, -1)


def mean_squared_error(y_true: Any, y_pred: Any) -> Tensor:
    """Return the mean of the squares of differences, per example.

    Args:
      y_true: what is wanted [..., n].
      y_pred: what was found [..., n].

    Example:
      >>> Session().run(keras.losses.mean_squared_error([[0.0, 1.0]], [[2.0, 1.0]]))
      array([2.], dtype=float32)
    """
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(raw.SquaredDifference(y_pred, y_true))


def mean_absolute_error(y_true: Any, y_pred: Any) -> Tensor:
    """Return the mean of the sizes of differences, per example.

    Args:
      y_true: what is wanted [..., n].
      y_pred: what was found [..., n].

    Example:
      >>> Session().run(keras.losses.mean_absolute_error([[0.0, 1.0]], [[3.0, 1.0]]))
      array([1.5], dtype=float32)
    """
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(raw.Abs(y_pred - y_true))


def mean_absolute_percentage_error(y_true: Any, y_pred: Any) -> Tensor:
    """Return the mean difference in percent of what is wanted, per example.

    Args:
      y_true: what is wanted [..., n].
      y_pred: what was found [..., n].

    Example:
      >>> Session().run(keras.losses.mean_absolute_percentage_error([[4.0]], [[3.0]]))
      array([25.], dtype=float32)
    """
    y_true, y_pred = _pair(y_true, y_pred)
    part = raw.Abs((y_true - y_pred) / crossentropy.clipped(raw.Abs(y_true), epsilon(), np.inf))
    mean: Any = _mean(part)
    percent: Tensor = 100.0 * mean
    return percent


def mean_squared_logarithmic_error(y_true: Any, y_pred: Any) -> Tensor:
    """Return the mean of the squares of differences of log(1 + x), per example.

    Args:
      y_true: what is wanted [..., n]; below 0 counts as 0.
      y_pred: what was found [..., n]; below 0 counts as 0.

    Example:
      >>> Session().run(keras.losses.mean_squared_logarithmic_error([[1.0]], [[1.0]]))
      array([0.], dtype=float32)
    """
    y_true, y_pred = _pair(y_true, y_pred)
    found, wanted = (
        raw.Log(crossentropy.clipped(each, epsilon(), np.inf) + 1.0) for each in (y_pred, y_true)
    )
    return _mean(raw.SquaredDifference(found, wanted))


def _signed(y_true: Any) -> Any:
    """Return labels of -1 and 1; those of 0 and 1 are changed to them."""
    is_binary = reduce_all(raw.LogicalOr(raw.Equal(y_true, 0.0), raw.Equal(y_true, 1.0)))
    return cond(is_binary, lambda: 2.0 * y_true - 1.0, lambda: raw.Identity(y_true))


def hinge(y_true: Any, y_pred: Any) -> Tensor:
    """Return the mean of max(1 - y_true * y_pred, 0), per example.

    Args:
      y_true: labels of -1 and 1, or of 0 and 1, [..., n].
      y_pred: what was found [..., n].

    Example:
      >>> Session().run(keras.losses.hinge([[1.0, 0.0]], [[0.5, -3.0]]))
      array([0.25], dtype=float32)
    """
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(raw.Maximum(1.0 - _signed(y_true) * y_pred, 0.0))


def squared_hinge(y_true: Any, y_pred: Any) -> Tensor:
    """Return the mean of the squares of max(1 - y_true * y_pred, 0), per example.

    Args:
      y_true: labels of -1 and 1, or of 0 and 1, [..., n].
      y_pred: what was found [..., n].

    Example:
      >>> Session().run(keras.losses.squared_hinge([[1.0, 0.0]], [[0.5, -3.0]]))
      array([0.125], dtype=float32)
    """
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(raw.Square(raw.Maximum(1.0 - _signed(y_true) * y_pred, 0.0)))


def categorical_hinge(y_true: Any, y_pred: Any) -> Tensor:
    """Return by how much the wanted class is not 1 above the best other one, per example.

    Args:
      y_true: 1 for the class, 0 for others [..., classes].
      y_pred: what was found [..., classes].

    Example:
      >>> Session().run(keras.losses.categorical_hinge([[1.0, 0.0]], [[0.5, 0.25]]))
      array([0.75], dtype=float32)
    """
    y_true, y_pred = _pair(y_true, y_pred)
    wanted = reduce_sum(y_true * y_pred, -1)
    best_other: Any = reduce_max((1.0 - y_true) * y_pred, -1)
    return raw.Maximum(0.0, best_other - wanted + 1.0)  # type: ignore[no-any-return]


def huber_loss(y_true: Any, y_pred: Any, delta: float = 1.0) -> Tensor:
    """Return half the squares of differences, as float32; beyond `delta` they grow linearly."""
    y_pred, y_true = cast(y_pred, dtypes.float32), cast(y_true, dtypes.float32)
    size = raw.Abs(raw.Sub(y_pred, y_true))
    near = raw.Minimum(size, delta)
    far = raw.Sub(size, near)
    half = constant(0.5, near.dtype)
    return raw.Add(raw.Mul(half, raw.Mul(near, near)), raw.Mul(delta, far))  # type: ignore[no-any-return]


def logcosh(y_true: Any, y_pred: Any) -> Tensor:
    """Return the mean of log(cosh(difference)), per example: like squares, then like sizes.

    Args:
      y_true: what is wanted [..., n].
      y_pred: what was found [..., n].

    Example:
      >>> Session().run(keras.losses.logcosh([[1.0]], [[1.0]]))
      array([0.], dtype=float32)
    """
    y_true, y_pred = _pair(y_true, y_pred)
    difference = y_pred - y_true
    return _mean(difference + raw.Softplus(-2.0 * difference) - raw.Log(2.0))


def categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: Any = 0
) -> Tensor:
    """Return the cross entropy, per example.

    Args:
      y_true: probabilities of classes [..., classes].
      y_pred: those found, or their logits.
      from_logits: whether they are logits.
      label_smoothing: the part of y_true that is spread over all classes.

    Example:
      >>> loss = keras.losses.categorical_crossentropy([[0.0, 1.0]], [[0.5, 0.5]])
      >>> Session().run(loss).round(3)
      array([0.693], dtype=float32)
    """
    y_true, y_pred = _pair(y_true, y_pred)
    smoothing: Any = convert_to_tensor(label_smoothing, dtypes.float32)
    if label_smoothing:
        sizes: Any = shape(y_true)
        classes = cast(sizes[1], y_pred.dtype)
        y_true = y_true * (1.0 - smoothing) + smoothing / classes
    return crossentropy.categorical_crossentropy(y_true, y_pred, from_logits)


def sparse_categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """Return the cross entropy, per example, when y_true has the numbers of classes.

    Args:
      y_true: numbers of classes [...] or [..., 1].
      y_pred: probabilities of classes [..., classes], or their logits.
      from_logits: whether they are logits.
      axis: that of classes.

    Example:
      >>> loss = keras.losses.sparse_categorical_crossentropy([1], [[0.5, 0.5]])
      >>> Session().run(loss).round(3)
      array([0.693], dtype=float32)
    """
    return crossentropy.sparse_categorical_crossentropy(y_true, y_pred, from_logits, axis)


def binary_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: Any = 0
) -> Tensor:
    """Return the mean cross entropy of answers yes or no, per example.

    Args:
      y_true: probabilities of yes [..., n].
      y_pred: those found, or their logits.
      from_logits: whether they are logits.
      label_smoothing: how far y_true is moved towards one half.

    Example:
      >>> Session().run(keras.losses.binary_crossentropy([[0.0, 1.0]], [[0.5, 0.5]])).round(3)
      array([0.693], dtype=float32)
    """
    y_true, y_pred = _pair(y_true, y_pred)
    smoothing: Any = convert_to_tensor(label_smoothing, dtypes.float32)
    if label_smoothing:
        y_true = y_true * (1.0 - smoothing) + 0.5 * smoothing
    return _mean(crossentropy.binary_crossentropy(y_true, y_pred, from_logits))


def kullback_leibler_divergence(y_true: Any, y_pred: Any) -> Tensor:
    """Return the sum of y_true * log(y_true / y_pred), per example.

    Args:
      y_true: probabilities [..., n].
      y_pred: probabilities [..., n].

    Example:
      >>> Session().run(keras.losses.kullback_leibler_divergence([[0.5, 0.5]], [[0.5, 0.5]]))
      array([0.], dtype=float32)
    """
    y_true, y_pred = (crossentropy.clipped(each, epsilon(), 1) for each in _pair(y_true, y_pred))
    return reduce_sum(y_true * raw.Log(y_true / y_pred), -1)


def poisson(y_true: Any, y_pred: Any) -> Tensor:
    """Return the mean of y_pred - y_true * log(y_pred), per example.

    Args:
      y_true: counts [..., n].
      y_pred: expected counts [..., n].

    Example:
      >>> Session().run(keras.losses.poisson([[2.0]], [[1.0]])).round(3)
      array([1.], dtype=float32)
    """
    y_true, y_pred = _pair(y_true, y_pred)
    return _mean(y_pred - y_true * raw.Log(y_pred + epsilon()))


def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> Tensor:
    """Return the cosine of the angle between two vectors, per example.

    Args:
      y_true: vectors.
      y_pred: vectors.
      axis: that of their components.

    Example:
      >>> Session().run(keras.losses.cosine_similarity([[0.0, 2.0]], [[0.0, 3.0]]))
      array([1.], dtype=float32)
    """
    wanted, found = l2_normalize(y_true, axis), l2_normalize(y_pred, axis)
    return reduce_sum(raw.Mul(wanted, found, name="mul"), axis)


mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kullback_leibler_divergence
cosine = cosine_proximity = cosine_similarity
