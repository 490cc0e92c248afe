"""What is known of sparse and ragged tensors, slices, arrays of tensors and optionals.

Source: TF 1.15 API documentation, tf.SparseTensorSpec and its neighbours.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.base.tensor_shape import TensorShape
from tfdist.ops.framework.indexed_slices import IndexedSlices
from tfdist.ops.framework.type_spec import TypeSpec
from tfdist.ops.functions.calls import Optional
from tfdist.ops.ragged.ragged_tensor import RaggedTensor
from tfdist.ops.sparse.sparse_tensor import SparseTensor
from tfdist.ops.tensor_array.tensor_array import TensorArray

__all__ = [
    "IndexedSlicesSpec", "OptionalSpec", "RaggedTensorSpec", "SparseTensorSpec", "TensorArraySpec",
]  # fmt: skip


class SparseTensorSpec(TypeSpec):
    """What is known of a SparseTensor.

    Args:
      shape: of the whole.
      dtype: of the elements.

    Example:
      >>> SparseTensorSpec([2, None], int32)
      SparseTensorSpec(TensorShape([Dimension(2), Dimension(None)]), tf.int32)
    """

    value_type = SparseTensor

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32) -> None:
        self.shape, self.dtype = TensorShape(shape), dtypes.as_dtype(dtype)

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """Return what is known of a SparseTensor."""
        return cls(value.shape, value.dtype)

    def _serialize(self) -> tuple[Any, ...]:
        return self.shape, self.dtype


class RaggedTensorSpec(TypeSpec):
    """What is known of a RaggedTensor.

    Args:
      shape: of the whole.
      dtype: of the elements.
      ragged_rank: how many axes are ragged; all but the first one by default.
      row_splits_dtype: int32 or int64.

    Raises:
      ValueError: neither `ragged_rank` nor the rank of `shape` is known.

    Example:
      >>> RaggedTensorSpec([2, None], int32)
      RaggedTensorSpec(TensorShape([Dimension(2), Dimension(None)]), tf.int32, 1, tf.int64)
    """

    value_type = RaggedTensor

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = dtypes.int64,
    ) -> None:
        self._shape, self._dtype = TensorShape(shape), dtypes.as_dtype(dtype)
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        if ragged_rank is None:
            if self._shape.ndims is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = self._shape.ndims - 1
        self._ragged_rank = ragged_rank

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """Return what is known of a RaggedTensor."""
        return cls(value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype


class IndexedSlicesSpec(TypeSpec):
    """What is known of IndexedSlices.

    Args:
      shape: of the whole.
      dtype: of the values.
      indices_dtype: of the indices.
      dense_shape_dtype: of the shape; None if they do not have it.
      indices_shape: of the indices.

    Example:
      >>> IndexedSlicesSpec([2, 3]).is_compatible_with(IndexedSlicesSpec([2, None]))
      True
    """

    value_type = IndexedSlices

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        indices_dtype: Any = dtypes.int64,
        dense_shape_dtype: Any = None,
        indices_shape: Any = None,
    ) -> None:
        self._shape, self._values_dtype = TensorShape(shape), dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = dense_shape_dtype and dtypes.as_dtype(dense_shape_dtype)
        self._indices_shape = TensorShape(indices_shape).with_rank(1)

    @classmethod
    def from_value(cls, value: Any) -> IndexedSlicesSpec:
        """Return what is known of IndexedSlices."""
        shape = value.dense_shape
        rest = [None] if value.values.shape.ndims is None else value.values.shape.as_list()
        whole = TensorShape([None, *rest[1:]])
        return cls(whole, value.dtype, value.indices.dtype, None if shape is None else shape.dtype,
                   value.indices.shape)  # fmt: skip

    def _serialize(self) -> tuple[Any, ...]:
        return (self._shape, self._values_dtype, self._indices_dtype, self._dense_shape_dtype,
                self._indices_shape)  # fmt: skip


class TensorArraySpec(TypeSpec):
    """What is known of a TensorArray.

    Args:
      element_shape: of its elements.
      dtype: of its elements.
      dynamic_size: whether it grows.
      infer_shape: whether all elements have one shape.

    Example:
      >>> TensorArraySpec([2], int32)
      TensorArraySpec(TensorShape([Dimension(2)]), tf.int32, False, True)
    """

    value_type = TensorArray

    def __init__(
        self,
        element_shape: Any = None,
        dtype: Any = dtypes.float32,
        dynamic_size: bool = False,
        infer_shape: bool = True,
    ) -> None:
        self._element_shape, self._dtype = TensorShape(element_shape), dtypes.as_dtype(dtype)
        self._dynamic_size, self._infer_shape = dynamic_size, infer_shape

    @classmethod
    def from_value(cls, value: Any) -> TensorArraySpec:
        """Return what is known of a TensorArray."""
        return cls(getattr(value, "element_shape", None), value.dtype)

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape


class OptionalSpec(TypeSpec):
    """What is known of an optional of tf.data.

    Args:
      value_structure: what is known of its value: a TypeSpec, or a structure of them.

    Example:
      >>> OptionalSpec(TensorSpec([], int32))
      OptionalSpec(TensorSpec(shape=(), dtype=tf.int32, name=None),)
    """

    value_type = Optional

    def __init__(self, value_structure: Any) -> None:
        self._value_structure = value_structure

    def _serialize(self) -> tuple[Any, ...]:
        return (self._value_structure,)

    def __repr__(self) -> str:
        return f"OptionalSpec({self._value_structure!r},)"
