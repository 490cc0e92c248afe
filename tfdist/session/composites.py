"""Composites: symbols that are several tensors each, and are fetched and fed part by part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfdist.ops.framework.composites import FIELDS
from tfdist.ops.framework.indexed_slices import IndexedSlices
from tfdist.ops.ragged.ragged_tensor import RaggedTensor
from tfdist.ops.ragged.ragged_values import RaggedTensorValue
from tfdist.ops.sparse.sparse_tensor import SparseTensor, SparseTensorValue


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


class Composite(NamedTuple):
    """How one kind of symbol is fetched and fed.

    Attributes:
      value: makes what is fetched of the values of its parts.
      fields: names of its parts, in the order in which they are fetched and fed.
    """

    value: Callable[..., Any]
    fields: Sequence[str]

    def parts(self, symbol: Any) -> list[Any]:
        """Return the tensors of `symbol`, None for one that it does not have."""
        return [getattr(symbol, field) for field in self.fields]


COMPOSITES = {
    RaggedTensor: Composite(RaggedTensorValue, ("values", "row_splits")),
    IndexedSlices: Composite(IndexedSlicesValue, FIELDS[IndexedSlices]),
    SparseTensor: Composite(SparseTensorValue, FIELDS[SparseTensor]),
}
