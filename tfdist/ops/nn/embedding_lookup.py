"""embedding_lookup and its relatives: rows of a table that may be in parts on several servers.

With the strategy "mod" row i of the table is row i // n of part i % n; with "div" the parts hold
consecutive rows, the first ones one more where needed, as partitioned variables do.

Source: TF 1.15 API documentation, tf.nn.embedding_lookup, tf.nn.embedding_lookup_sparse.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import stack
from tfdist.ops.array.dynamic_partition import dynamic_partition
from tfdist.ops.array.gather import gather
from tfdist.ops.array.range import range as number_range
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape, size
from tfdist.ops.math.clip import clip_by_norm
from tfdist.ops.variables.partitioned_variables import PartitionedVariable

__all__ = ["embedding_lookup"]


def embedding_lookup(
    params: Any,
    ids: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: Any = None,
) -> Tensor:
    """Return the rows of a table that `ids` name.

    Args:
      params: the table: a tensor or variable, a list of parts, or a PartitionedVariable.
      ids: integers of any shape.
      partition_strategy: "mod" or "div": how the rows are spread over the parts.
      name: of the scope.
      validate_indices: not used; ids are always checked.
      max_norm: rows are scaled down to this norm at most, if it is given.

    Returns:
      ids.shape + the shape of a row.

    Raises:
      ValueError: there are no parts, or no such strategy.
      InvalidArgumentError: an id is out of range (when it runs).

    Example:
      >>> Session().run(nn.embedding_lookup([[[0.0], [2.0]], [[1.0], [3.0]]], [3, 0, 1]))
      array([[3.],
             [0.],
             [1.]], dtype=float32)
    """
    parts = parts_of(params)
    with scopes.name_scope(name, "embedding_lookup", [*parts, ids]) as scope:
        ids = convert_to_tensor(ids, name="ids")
        if len(parts) == 1:
            with scopes.colocate_with(parts[0]):
                found = _clipped(gather(parts[0], ids, name=scope), ids, max_norm)
            tensor: Tensor = raw.Identity(found)
            return tensor
        return _clipped(_from_parts(parts, ids, partition_strategy, scope), ids, max_norm)


def parts_of(params: Any) -> list[Any]:
    """Return the parts of a table; ValueError if there are none."""
    if params is None:
        raise ValueError("params must be specified")
    if isinstance(params, PartitionedVariable):
        return list(params)
    parts = list(params) if isinstance(params, list | tuple) else [params]
    if not parts:
        raise ValueError("Need at least one param: the table is an empty list")
    return [each if hasattr(each, "op") else convert_to_tensor(each) for each in parts]


def _clipped(rows: Tensor, ids: Tensor, max_norm: Any) -> Tensor:
    """Return rows of a norm of `max_norm` at most; a row's axes are those after the ids'."""
    if max_norm is None:
        return rows
    first, rank = ids.shape.ndims, rows.shape.ndims
    axes: Any
    if first is None or rank is None:
        axes = number_range(raw.Rank(ids), raw.Rank(rows))
    else:
        axes = list(range(first, rank))
    return clip_by_norm(rows, max_norm, axes=axes)  # type: ignore[no-any-return]


def _from_parts(parts: list[Any], ids: Tensor, strategy: str, scope: str) -> Tensor:
    """Return rows from several parts: ids are dealt out, looked up, and put in order again."""
    flat: Any = reshape(ids, [-1])
    order = number_range(size(flat))
    if strategy == "mod":
        part, row = flat % len(parts), flat // len(parts)
    elif strategy == "div":
        part, row = _divided(parts, flat)
    else:
        raise ValueError(f"Unrecognized partition strategy: {strategy}; there are 'mod' and 'div'")
    part = cast(part, dtypes.int32)
    rows = dynamic_partition(row, part, len(parts))
    places = dynamic_partition(order, part, len(parts))
    found = []
    for each, wanted in zip(parts, rows, strict=True):
        with scopes.colocate_with(each):
            found.append(gather(each, wanted))
    merged = raw.ParallelDynamicStitch(places, found, name=scope)
    return _shaped(merged, ids, parts)


def _divided(parts: list[Any], flat: Tensor) -> tuple[Any, Any]:
    """Return part and row of each id; the first parts may have one row more than the others."""
    total = _total_rows(parts, flat.dtype)
    least, longer = total // len(parts), total % len(parts)
    part = raw.Maximum(flat // (least + 1), (flat - longer) // least)
    row = raw.Select(part < longer, flat % (least + 1), (flat - longer) % least)
    return part, row


def _total_rows(parts: list[Any], dtype: Any) -> Any:
    dims = [_row_count(each) for each in parts]
    if None not in dims:
        return convert_to_tensor(sum(dims), dtype)
    for number, each in enumerate(parts):
        if dims[number] is None:
            with scopes.colocate_with(each):
                dims[number] = shape(each)[0]  # type: ignore[index]
    return cast(raw.Sum(stack(dims), convert_to_tensor([0])), dtype)


def _row_count(part: Any) -> Any:
    dims = part.shape.as_tuple()
    return dims[0] if dims else None


def _shaped(merged: Tensor, ids: Tensor, parts: list[Any]) -> Tensor:
    """Return the rows in the shape of the ids."""
    row = parts[0].shape[1:]
    for each in parts[1:]:
        row = row.merge_with(each.shape[1:])
    if row.is_fully_defined():
        result = reshape(merged, raw.ConcatV2([shape(ids), row.as_list()], 0, name="concat"))
    else:
        with scopes.colocate_with(parts[0]):
            dims = shape(parts[0])
        rest = dims[1:]  # type: ignore[index]
        result = reshape(merged, raw.ConcatV2([shape(ids), rest], 0, name="concat"))
    result.set_shape(ids.shape.concatenate(TensorShape(row)))
    return result
