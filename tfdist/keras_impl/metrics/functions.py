"""tf.keras.metrics as functions: for each example, 1 where the answer is right and 0 where not.

Source: TF 1.15 API documentation, tf.keras.metrics.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.keras_impl.settings import floatx
from tfdist.ops.array.cast import cast
from tfdist.ops.array.reshape import reshape, squeeze
from tfdist.ops.math.reductions import reduce_mean
from tfdist.ops.math.top_k import in_top_k

__all__ = [
    "binary_accuracy", "categorical_accuracy", "sparse_categorical_accuracy",
    "sparse_top_k_categorical_accuracy", "top_k_categorical_accuracy",
]  # fmt: skip


def _number(is_right: Any) -> Tensor:
    return cast(is_right, floatx())


def accuracy(y_true: Any, y_pred: Any) -> Tensor:
    """Return 1 for each element that is equal, 0 for others."""
    y_pred = convert_to_tensor(y_pred)
    return _number(raw.Equal(cast(y_true, y_pred.dtype.base_dtype), y_pred))


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Tensor:
    """Return the part of answers that are right, per example.

    Args:
      y_true: 1 for yes, 0 for no [..., n].
      y_pred: probabilities of yes [..., n].
      threshold: above it, the answer is yes.

    Example:
      >>> Session().run(keras.metrics.binary_accuracy([[1.0, 0.0]], [[0.75, 0.75]]))
      array([0.5], dtype=float32)
    """
    y_pred = convert_to_tensor(y_pred)
    dtype = y_pred.dtype.base_dtype
    answers = cast(raw.Greater(y_pred, convert_to_tensor(threshold, dtype)), dtype)
    return reduce_mean(_number(raw.Equal(cast(y_true, dtype), answers)), -1)


def categorical_accuracy(y_true: Any, y_pred: Any) -> Tensor:
    """Return 1 for each example whose class is the most probable one, 0 for others.

    Args:
      y_true: 1 for the class, 0 for others [..., classes].
      y_pred: probabilities of classes [..., classes].

    Example:
      >>> Session().run(keras.metrics.categorical_accuracy([[0.0, 1.0]], [[0.25, 0.75]]))
      array([1.], dtype=float32)
    """
    return _number(raw.Equal(_largest(y_true), _largest(y_pred)))


def _largest(values: Any) -> Tensor:
    return raw.ArgMax(convert_to_tensor(values), -1)  # type: ignore[no-any-return]


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Tensor:
    """Return 1 for each example whose class is the most probable one, 0 for others.

    Args:
      y_true: numbers of classes [...] or [..., 1].
      y_pred: probabilities of classes [..., classes].

    Example:
      >>> Session().run(keras.metrics.sparse_categorical_accuracy([1.0], [[0.25, 0.75]]))
      array([1.], dtype=float32)
    """
    y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    rank = y_true.shape.ndims
    if rank is not None and rank == y_pred.shape.ndims:
        y_true = squeeze(y_true, [-1])
    return _number(raw.Equal(cast(y_true, dtypes.int64), _largest(y_pred)))


def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Tensor:
    """Return 1 for each example whose class is among the k most probable ones, 0 for others.

    Args:
      y_true: 1 for the class, 0 for others [batch, classes].
      y_pred: probabilities of classes [batch, classes].
      k: how many.

    Example:
      >>> Session().run(keras.metrics.top_k_categorical_accuracy([[1.0, 0.0]], [[0.25, 0.75]], k=2))
      array([1.], dtype=float32)
    """
    return _number(in_top_k(convert_to_tensor(y_pred), _largest(y_true), k))


def sparse_top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Tensor:
    """Return 1 for each example whose class is among the k most probable ones, 0 for others.

    Args:
      y_true: numbers of classes [batch] or [batch, 1].
      y_pred: probabilities of classes [batch, classes].
      k: how many.

    Example:
      >>> Session().run(keras.metrics.sparse_top_k_categorical_accuracy([0.0], [[0.25, 0.75]], k=2))
      array([1.], dtype=float32)
    """
    classes = cast(reshape(convert_to_tensor(y_true), [-1]), dtypes.int32)
    return _number(in_top_k(convert_to_tensor(y_pred), classes, k))
