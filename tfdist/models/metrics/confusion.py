"""The confusion matrix: how often each class was taken for each.

Source: TF 1.15 API documentation, tf.math.confusion_matrix.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.models.losses.weights import remove_squeezable_dimensions
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import stack
from tfdist.ops.array.fill import ones_like
from tfdist.ops.array.scatter_nd import scatter_nd
from tfdist.ops.checks.assertions import assert_less, assert_non_negative
from tfdist.ops.control_flow.identity_group import with_dependencies
from tfdist.ops.math.reductions import reduce_max

__all__ = ["confusion_matrix"]


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
    weights: Any = None,
) -> Tensor:
    """Return how often class i (row) was predicted as class j (column).

    Args:
      labels: integers [n], numbers of classes.
      predictions: integers [n], numbers of classes.
      num_classes: how many classes there are; by default one more than the greatest number.
      dtype: of the result.
      name: of the nodes' scope.
      weights: [n], what each prediction counts; None for 1.

    Returns:
      [classes, classes] of `dtype`.

    Raises:
      InvalidArgumentError: a number is below 0, or not below `num_classes`, when it runs.

    Example:
      >>> Session().run(confusion_matrix([1, 0, 1], [1, 0, 0]))
      array([[1, 0],
             [1, 1]], dtype=int32)
    """
    with name_scope(name, "confusion_matrix", [predictions, labels, num_classes, weights]):
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
        labels = _not_negative("labels", cast(labels, dtypes.int64))
        predictions = _not_negative("predictions", cast(predictions, dtypes.int64))
        if num_classes is None:
            num_classes = raw.Maximum(reduce_max(predictions), reduce_max(labels)) + 1
        else:
            bound = cast(num_classes, dtypes.int64)
            labels = _below("labels", labels, bound)
            predictions = _below("predictions", predictions, bound)
        return _counted(labels, predictions, num_classes, dtypes.as_dtype(dtype), weights)


def _not_negative(name: str, classes: Any) -> Any:
    message = f"`{name}` contains negative values"
    return with_dependencies([assert_non_negative(classes, message=message)], classes)


def _below(name: str, classes: Any, bound: Any) -> Any:
    return with_dependencies(
        [assert_less(classes, bound, message=f"`{name}` out of bound")], classes
    )


def _counted(labels: Any, predictions: Any, num_classes: Any, dtype: Any, weights: Any) -> Tensor:
    if weights is not None:
        weights = cast(weights, dtype)
        predictions.get_shape().assert_is_compatible_with(weights.get_shape())
    shape = stack([num_classes, num_classes])
    indices = stack([labels, predictions], axis=1)
    values = ones_like(predictions, dtype) if weights is None else weights
    sizes = cast(shape, dtypes.int64)
    # the name that the result has where a sparse tensor is added to zeros
    return scatter_nd(indices, values, sizes, name="SparseTensorDenseAdd")
