"""What is known of values before anything runs: whether they are tensors, what constants hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base.dtypes import as_dtype
from tfdist.base.tensor_shape import Dimension, TensorShape
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.operation import Tensor
from tfdist.graph.static_value import static_value
from tfdist.ops.framework.indexed_slices import IndexedSlices
from tfdist.ops.sparse.sparse_tensor import SparseTensor

__all__ = [
    "convert_to_tensor_or_indexed_slices", "dimension_at_index", "dimension_value",
    "get_static_value", "is_tensor",
]  # fmt: skip


def is_tensor(x: Any) -> bool:
    """Return whether `x` is a tensor, dense or sparse, or a variable.

    Args:
      x: anything.

    Example:
      >>> is_tensor(constant(1.0)), is_tensor([1.0])
      (True, False)
    """
    return hasattr(x, "_as_tensor") or isinstance(x, SparseTensor | IndexedSlices)


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """Return the value of a tensor if it is known without running anything, else None.

    Args:
      tensor: a tensor; anything else comes back as it is.
      partial: whether of a `stack` that is known in parts, these are returned, with None for the
        others.

    Example:
      >>> get_static_value(shape(zeros([2, 3])))
      array([2, 3], dtype=int32)
    """
    if not isinstance(tensor, Tensor):
        return tensor
    value = static_value(tensor)
    if value is None and partial and tensor.op.type == "Pack" and not tensor.op.get_attr("axis"):
        parts = [get_static_value(each, True) for each in tensor.op.inputs]
        if any(part is not None for part in parts):
            return np.array(parts, object)
    return value


def dimension_value(dimension: Any) -> int | None:
    """Return a dimension as a number, None if it is not known.

    Args:
      dimension: a Dimension, a number or None.

    Example:
      >>> dimension_value(TensorShape([2, None])[0])
      2
    """
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """Return one dimension of a shape, an unknown one if the rank is unknown.

    Args:
      shape: a TensorShape.
      index: of the dimension.

    Raises:
      IndexError: there are not so many.

    Example:
      >>> dimension_at_index(TensorShape(None), 3)
      Dimension(None)
    """
    return Dimension(None) if shape.dims is None else shape.dims[index]


def convert_to_tensor_or_indexed_slices(
    value: Any, dtype: Any = None, name: str | None = None
) -> Any:
    """Return `value` as a tensor, IndexedSlices as they are.

    Args:
      value: IndexedSlices, or what `convert_to_tensor` takes.
      dtype: wanted type; by default the value's own.
      name: of the constant, if one is made.

    Raises:
      ValueError: it is a tensor, or slices, of another type.

    Example:
      >>> convert_to_tensor_or_indexed_slices([1.0, 2.0])
      <tf.Tensor 'Const:0' shape=(2,) dtype=float32>
    """
    if not isinstance(value, IndexedSlices):
        return convert_to_tensor(value, dtype, name)
    if dtype is not None and not as_dtype(dtype).is_compatible_with(value.dtype):
        raise ValueError(
            f"expected {as_dtype(dtype).name}, got IndexedSlices of {value.dtype.name}; tf.cast "
            "converts their values"
        )
    return value
