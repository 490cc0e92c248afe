"""IndexedSlices: a few rows of a large tensor, as the gradients of gathers are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.graph.composites import COMPOSITES, Composite
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.graph import Graph
from tfdist.graph.handles import value_behind
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor

__all__ = ["IndexedSlices"]


class IndexedSlicesValue(NamedTuple):
    """The value of IndexedSlices, as they are fetched and fed.

    Attributes:
      values: [n, ...], the rows.
      indices: [n], where they stand; rows of equal index add up.
      dense_shape: of the whole tensor, or None if the IndexedSlices have none.
    """

    values: Any
    indices: Any
    dense_shape: Any


class IndexedSlices:
    """Rows of a tensor that is 0 elsewhere: what the gradient of a gather is.

    Attributes:
      values: [n, ...], the rows.
      indices: [n], where they stand; rows of equal index add up.
      dense_shape: of the whole tensor, or None.
    """

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self.values: Tensor = convert_to_tensor(values)
        self.indices: Tensor = convert_to_tensor(indices)
        self.dense_shape: Tensor | None = (
            None if dense_shape is None else convert_to_tensor(dense_shape)
        )

    @property
    def dtype(self) -> DType:
        """Return the type of the values."""
        return self.values.dtype

    @property
    def name(self) -> str:
        """Return the name of the values."""
        return self.values.name

    @property
    def op(self) -> Operation:
        """Return the operation that makes the values."""
        return self.values.op

    @property
    def graph(self) -> Graph:
        """Return the graph that holds the values."""
        return self.values.graph

    @property
    def device(self) -> str:
        """Return the device that was asked for; "" if none was."""
        return self.values.device

    def consumers(self) -> list[Operation]:
        """Return the operations that take one of the parts."""
        parts = [self.values, self.indices, self.dense_shape]
        return [op for part in parts if part is not None for op in part.consumers()]

    def _as_tensor(self, as_ref: bool) -> Tensor:
        """Return the whole tensor; ValueError if its shape is not known."""
        if self.dense_shape is None:
            raise ValueError(f"{self!r} has no dense_shape and cannot become a whole tensor")
        rows = raw.Squeeze(raw.Slice(self.dense_shape, [0], [1]), squeeze_dims=[0])
        dense: Tensor = raw.UnsortedSegmentSum(self.values, self.indices, rows)
        return dense

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(raw.Neg(self.values), self.indices, self.dense_shape)

    def __repr__(self) -> str:
        shape = "" if self.dense_shape is None else f", dense_shape={self.dense_shape!s}"
        return f"IndexedSlices(indices={self.indices!s}, values={self.values!s}{shape})"


COMPOSITES[IndexedSlices] = Composite(IndexedSlicesValue, IndexedSlicesValue._fields)


def joined(parts: Sequence[IndexedSlices]) -> IndexedSlices:
    """Return slices one after the other; equal indices add up when they are used."""
    index_type = common_index_type(parts)
    indices = [with_indices(part, index_type).indices for part in parts]
    shape = next((part.dense_shape for part in parts if part.dense_shape is not None), None)
    values = raw.ConcatV2([part.values for part in parts], 0, name="concat")
    return IndexedSlices(values, raw.ConcatV2(indices, 0, name="concat"), shape)


def common_index_type(parts: Sequence[IndexedSlices]) -> DType:
    """Return the type that the indices of all `parts` fit in."""
    wide = any(part.indices.dtype.base_dtype is dtypes.int64 for part in parts)
    return dtypes.int64 if wide else dtypes.int32


def with_indices(part: IndexedSlices, dtype: DType) -> IndexedSlices:
    """Return `part` with indices of type `dtype`."""
    if part.indices.dtype.base_dtype is dtype:
        return part
    return IndexedSlices(part.values, raw.Cast(part.indices, DstT=dtype), part.dense_shape)


def no_rows(tensor: Tensor, index_type: DType) -> IndexedSlices:
    """Return slices that stand for zeros of the shape of `tensor`."""
    dtype, shape = value_behind(tensor)
    values: Any
    if shape is not None and None not in shape[1:]:
        values = np.zeros((0, *[dim or 0 for dim in shape[1:]]), dtype.as_numpy_dtype)
    else:
        dims = (raw.VariableShape if tensor.dtype is dtypes.resource else raw.Shape)(tensor)
        rest = raw.Slice(dims, [1], [-1])
        zero = raw.Const(value=dtype.as_numpy_dtype(0), dtype=dtype, name="zeros/Const")
        values = raw.Fill(raw.ConcatV2([[0], rest], 0), zero, name="zeros")
    return IndexedSlices(values, np.zeros(0, index_type.as_numpy_dtype))
