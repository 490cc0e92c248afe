"""embedding_lookup_sparse: one row for each bag of ids, made of the rows that they name.

Source: TF 1.15 API documentation, tf.nn.embedding_lookup_sparse and its safe relative.
"""

from __future__ import annotations

import logging
from typing import Any

from tfdist.base import dtypes
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import stack
from tfdist.ops.array.dynamic_partition import unique
from tfdist.ops.array.fill import ones_like, zeros_like
from tfdist.ops.array.gather import gather
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import rank, shape
from tfdist.ops.math.arithmetic import pow as power
from tfdist.ops.math.segments import segment_sum
from tfdist.ops.nn.embedding_lookup import embedding_lookup, parts_of
from tfdist.ops.sparse.rows import sparse_fill_empty_rows, sparse_reshape, sparse_retain
from tfdist.ops.sparse.segments import (
    sparse_segment_mean,
    sparse_segment_sqrt_n,
    sparse_segment_sum,
)
from tfdist.ops.sparse.sparse_tensor import SparseTensor
from tfdist.ops.variables.partitioned_variables import PartitionedVariable

__all__ = ["embedding_lookup_sparse", "safe_embedding_lookup_sparse"]

_LOG = logging.getLogger("tensorflow")
_REDUCED = {
    "sum": sparse_segment_sum, "mean": sparse_segment_mean, "sqrtn": sparse_segment_sqrt_n,
}  # fmt: skip


def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: Any = None,
) -> Tensor:
    """Return, for each row of ids, the sum or mean of the rows of a table that they name.

    Args:
      params: the table; see `embedding_lookup`.
      sp_ids: SparseTensor of integers [rows, most ids in a row].
      sp_weights: SparseTensor of floats that stand where the ids do, or None for ones.
      partition_strategy: "mod" or "div"; see `embedding_lookup`.
      name: of the result.
      combiner: "sum", "mean" (by weight; the default), or "sqrtn" (over the root of the sum of the
        squares of the weights).
      max_norm: rows of the table are scaled down to this norm at most, if it is given.

    Returns:
      [last row that has an id + 1] + the shape of a row of the table.

    Raises:
      TypeError: `sp_ids` or `sp_weights` is no SparseTensor.
      ValueError: there is no such combiner, or no table.

    Example:
      >>> bags = SparseTensor([[0, 0], [0, 1], [1, 0]], [2, 0, 1], [2, 2])
      >>> Session().run(
      ...     nn.embedding_lookup_sparse(
      ...         constant([[1.0], [2.0], [5.0]]), bags, None, combiner="sum"
      ...     )
      ... )
      array([[6.],
             [2.]], dtype=float32)
    """
    combiner = _checked_combiner(combiner)
    parts = parts_of(params)
    _check_sparse(sp_ids, sp_weights)
    with scopes.name_scope(name, "embedding_lookup_sparse", [*parts, sp_ids.values]) as scope:
        rows = cast(_column(sp_ids.indices), dtypes.int32)
        ids, places = unique(sp_ids.values)
        found = embedding_lookup(parts, ids, partition_strategy, max_norm=max_norm)
        if sp_weights is None:
            return _REDUCED[combiner](found, places, rows, name=scope)  # type: ignore[no-any-return]
        return _weighed(gather(found, places), sp_weights.values, rows, combiner, scope)


def _checked_combiner(combiner: str | None) -> str:
    if combiner is None:
        _LOG.warning('The default value of combiner is "mean".')
        return "mean"
    if combiner not in _REDUCED:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', but is {combiner!r}")
    return combiner


def _check_sparse(sp_ids: Any, sp_weights: Any) -> None:
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError(f"sp_ids must be SparseTensor, got {type(sp_ids).__name__}")
    if sp_weights is None:
        return
    if not isinstance(sp_weights, SparseTensor):
        raise TypeError(
            f"sp_weights must be either None or SparseTensor, got {type(sp_weights).__name__}"
        )
    for part in ("values", "indices", "dense_shape"):
        getattr(sp_ids, part).shape.assert_is_compatible_with(getattr(sp_weights, part).shape)


def _column(indices: Tensor) -> Tensor:
    """Return the first column: the row of each element."""
    return indices[:, 0]  # type: ignore[index, no-any-return]


def _weighed(found: Tensor, weights: Tensor, rows: Tensor, combiner: str, scope: str) -> Tensor:
    """Return the weighed rows of each bag, combined."""
    if weights.dtype is not found.dtype:
        weights = cast(weights, found.dtype)
    ones = raw.Fill(raw.ExpandDims(raw.Sub(rank(found), 1, name="sub"), 0), 1)
    column = reshape(weights, raw.ConcatV2([shape(weights), ones], 0, name="concat"))
    if found.shape.ndims is not None:
        column.set_shape(weights.shape.concatenate([1] * (found.shape.ndims - 1)))
    weighed = raw.Mul(found, column, name="mul")
    tensor: Tensor
    if combiner == "sum":
        tensor = segment_sum(weighed, rows, name=scope)
        return tensor
    sums = segment_sum(weighed, rows)
    if combiner == "mean":
        tensor = raw.RealDiv(sums, segment_sum(column, rows), name=scope)
        return tensor
    squares = segment_sum(power(column, 2), rows)
    tensor = raw.RealDiv(sums, raw.Sqrt(squares), name=scope)
    return tensor


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: SparseTensor,
    sparse_weights: Any = None,
    combiner: str = "mean",
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: Any = None,
) -> Tensor:
    """Do as `embedding_lookup_sparse`, also where rows have no ids, or ids that are below 0.

    Args:
      embedding_weights: the table; see `embedding_lookup`.
      sparse_ids: SparseTensor of integers [..., most ids in a row]; those below 0 do not count.
      sparse_weights: SparseTensor of floats, or None; unless the combiner is "sum", ids whose
        weights are not above 0 do not count.
      combiner: "sum", "mean" or "sqrtn".
      default_id: of rows without ids; zeros by default.
      name: of the scope.
      partition_strategy: "mod" or "div".
      max_norm: rows of the table are scaled down to this norm at most, if it is given.

    Returns:
      sparse_ids.shape[:-1] + the shape of a row of the table.

    Raises:
      ValueError: there is no table, or no such combiner.

    Example:
      >>> bags = SparseTensor([[0, 0], [2, 1]], [1, 0], [3, 2])
      >>> Session().run(nn.safe_embedding_lookup_sparse(constant([[1.0], [2.0]]), bags))
      array([[2.],
             [0.],
             [1.]], dtype=float32)
    """
    if embedding_weights is None or (
        isinstance(embedding_weights, list | tuple | PartitionedVariable)
        and not len(embedding_weights)
    ):
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    parts = parts_of(embedding_weights)
    with scopes.name_scope(name, "embedding_lookup", [*parts, sparse_ids.values]) as scope:
        flat = _in_two_axes(sparse_ids)
        flat, weights = _pruned(flat, sparse_weights, combiner)
        flat, is_empty = sparse_fill_empty_rows(flat, default_id or 0)
        if weights is not None:
            weights, _ = sparse_fill_empty_rows(weights, 1.0)
        found = embedding_lookup_sparse(
            parts, flat, weights, partition_strategy, None if default_id is None else scope,
            combiner, max_norm,
        )  # fmt: skip
        if default_id is None:
            found = _without(found, is_empty, scope)
        return _in_shape_of(sparse_ids, found)


def _in_two_axes(sparse: SparseTensor) -> SparseTensor:
    """Return sparse ids [..., n] as [rows, n]."""
    dims, last = sparse.dense_shape, _rank_of(sparse) - 1
    rows = raw.Prod(raw.Slice(dims, [0], [last]), convert_to_tensor([0]))
    return sparse_reshape(sparse, cast([rows, gather(dims, last)], dtypes.int64))


def _rank_of(sparse: SparseTensor) -> int:
    known = sparse.dense_shape.shape[0].value
    if known is None:
        raise ValueError(f"the rank of {sparse!r} must be known")
    return int(known)


def _pruned(
    ids: SparseTensor, weights: SparseTensor | None, combiner: str
) -> tuple[SparseTensor, SparseTensor | None]:
    """Return the ids that count, and their weights."""
    valid = raw.GreaterEqual(ids.values, 0)
    if weights is None:
        return sparse_retain(ids, valid), None
    valid = raw.LogicalAnd(valid, ones_like(weights.values, dtypes.bool_))
    weights = SparseTensor(ids.indices, weights.values, ids.dense_shape)
    ids, weights = sparse_retain(ids, valid), sparse_retain(weights, valid)
    if combiner == "sum":
        return ids, weights
    valid = raw.Greater(weights.values, 0)
    return sparse_retain(ids, valid), sparse_retain(weights, valid)


def _without(found: Tensor, is_empty: Tensor, scope: str) -> Tensor:
    """Return the rows with zeros where a bag is empty."""
    column = reshape(is_empty, [-1, 1])
    flags = raw.Tile(column, stack([1, shape(found)[1]]))  # type: ignore[index]
    flags.set_shape([is_empty.shape[0], found.shape[1]])
    tensor: Tensor = raw.Select(flags, zeros_like(found), found, name=scope)
    tensor.set_shape(flags.shape)
    return tensor


def _in_shape_of(sparse: SparseTensor, found: Tensor) -> Tensor:
    """Return the rows in the shape of the ids, but for their last axis."""
    last = _rank_of(sparse) - 1
    outer = raw.Slice(cast(sparse.dense_shape, dtypes.int32), [0], [last])
    inner = raw.Slice(shape(found), [1], [-1])
    result = reshape(found, raw.ConcatV2([outer, inner], 0, name="concat"))
    result.set_shape(TensorShape([None] * last).concatenate(found.shape[1:]))
    return result
