"""Between ragged, dense and sparse tensors; `cls` is RaggedTensor, whose methods these are."""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import control_dependencies, name_scope
from tfdist.ops.array.boolean_mask import boolean_mask
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat
from tfdist.ops.array.fill import zeros
from tfdist.ops.array.gather import gather
from tfdist.ops.array.range import range as range_
from tfdist.ops.array.range import sequence_mask
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.checks.assertions import assert_equal
from tfdist.ops.math.comparison import where_v2
from tfdist.ops.math.reductions import reduce_max
from tfdist.ops.ragged.row_splits import length_of, lengths_before
from tfdist.ops.sparse.sparse_tensor import as_sparse


def from_tensor(
    cls: Any, tensor: Any, lengths: Any, padding: Any, ragged_rank: int, name: str | None,
    row_splits_dtype: Any,
) -> Any:  # fmt: skip
    """Return the rows of a dense tensor; see `RaggedTensor.from_tensor`."""
    if lengths is not None and padding is not None:
        raise ValueError("Specify lengths or padding, but not both")
    if ragged_rank < 1:
        raise ValueError(f"ragged_rank must be greater than 0; got {ragged_rank}")
    with name_scope(name, "RaggedFromTensor", [tensor, lengths, padding]):
        dense = convert_to_tensor(tensor, name="tensor")
        dense.shape.with_rank_at_least(ragged_rank + 1)
        dtype = dtypes.as_dtype(row_splits_dtype)
        if isinstance(lengths, list | tuple) and lengths and not isinstance(lengths[0], int):
            found = cls.from_tensor(dense, lengths[0], row_splits_dtype=dtype)
            if len(lengths) == 1:
                return found
            inner = cls.from_tensor(found.values, lengths[1:], row_splits_dtype=dtype)
            return cls(inner, found.row_splits)
        sizes: Any = shape(dense, out_type=dtype)
        width = sizes[1]
        if ragged_rank > 1:
            rows = reshape(dense, concat([sizes[:1] * width, sizes[2:]], 0))
            inner = cls.from_tensor(rows, lengths, padding, ragged_rank - 1, None, dtype)
            return cls.from_row_lengths(inner, raw.Fill(sizes[:1], width), validate=False)
        if padding is not None:
            lengths = lengths_before(dense, padding, width)
        elif lengths is None:
            lengths = raw.Fill(sizes[:1], width)
        lengths = raw.Maximum(raw.Minimum(cast(lengths, dtype), width), cast(0, dtype))
        kept = sequence_mask(lengths, width)
        return cls.from_row_lengths(boolean_mask(dense, kept), lengths, validate=False)


def from_sparse(cls: Any, st_input: Any, name: str | None, row_splits_dtype: Any) -> Any:
    """Return the rows of a SparseTensor; see `RaggedTensor.from_sparse`."""
    sparse = as_sparse(st_input)
    with name_scope(name, "RaggedFromSparse", [sparse.values]):
        sparse.shape.with_rank(2)
        indices: Any = cast(sparse.indices, row_splits_dtype)
        dims: Any = cast(sparse.dense_shape, row_splits_dtype)
        ids, columns, rows = indices[:, 0], indices[:, 1], dims[0]
        found = cls.from_value_rowids(sparse.values, ids, rows, validate=False)
        numbers: Any = range_(length_of(sparse.values, ids.dtype))
        places = numbers - gather(found.row_starts(), ids)
        message = "SparseTensor is not right-ragged"
        with control_dependencies([assert_equal(places, columns, message=message)]):
            return cls(raw.Identity(sparse.values), found.row_splits)


def to_tensor(rows: Any, default_value: Any, name: str | None) -> Tensor:
    """Return a dense tensor, filled up at the ends of rows; see `RaggedTensor.to_tensor`."""
    with name_scope(name, "RaggedToTensor", [rows.row_splits]):
        if default_value is None:
            default_value = zeros([], rows.dtype.base_dtype)
        fill = convert_to_tensor(default_value, rows.dtype.base_dtype, "default_value")
        values = rows.values
        if rows.ragged_rank > 1:
            values = values.to_tensor(fill)
        lengths: Any = rows.row_lengths()
        width = raw.Maximum(reduce_max(lengths), cast(0, lengths.dtype))
        columns = raw.ExpandDims(range_(width), 0)
        places = raw.ExpandDims(rows.row_starts(), 1) + columns
        inside = raw.Less(columns, raw.ExpandDims(lengths, 1))
        count = length_of(values, lengths.dtype)
        row = raw.Fill(concat([[1], shape(values)[1:]], 0), fill)  # type: ignore[index]
        return gather(concat([values, row], 0), where_v2(inside, places, count))
