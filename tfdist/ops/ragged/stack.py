"""tf.ragged.stack and stack_dynamic_partitions: ragged tensors of several tensors or of parts."""

from __future__ import annotations

from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import control_dependencies, name_scope
from tfdist.ops.array.concat import concat
from tfdist.ops.array.concat import stack as dense_stack
from tfdist.ops.array.gather import gather
from tfdist.ops.array.sort import argsort
from tfdist.ops.checks.assertions import assert_equal, assert_less, assert_non_negative
from tfdist.ops.ragged.operators import rows_at
from tfdist.ops.ragged.ragged_tensor import RaggedTensor

__all__ = ["stack", "stack_dynamic_partitions"]


def stack(values: Any, axis: int = 0, name: str | None = None) -> Any:
    """Return ragged tensors, all of one rank, as one with one more axis.

    Args:
      values: list of RaggedTensors and tensors; tensors alone give a tensor.
      axis: where the new axis is.
      name: prefix for the nodes.

    Raises:
      ValueError: there are no values, their ranks differ, or there is no such axis.

    Example:
      >>> x = RaggedTensor.from_row_lengths([5, 6, 7], [2, 1])
      >>> Session().run(ragged.stack([x, x])).to_list()
      [[[5, 6], [7]], [[5, 6], [7]]]
    """
    if not isinstance(values, list | tuple):
        values = [values]
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    with name_scope(name, "RaggedConcat"):
        found = [v if isinstance(v, RaggedTensor) else convert_to_tensor(v) for v in values]
        ranks = {each.shape.ndims for each in found if each.shape.ndims is not None}
        if len(ranks) > 1:
            raise ValueError(f"the values to stack have different ranks: {sorted(ranks)}")
        rank = ranks.pop() if ranks else None
        if axis < 0 and rank is not None:
            axis += rank + 1
        if axis < 0 or (rank is not None and axis > rank):
            raise ValueError(f"axis must be from 0 to {rank}, the rank; got {axis}")
        if not any(isinstance(each, RaggedTensor) for each in found):
            return dense_stack(found, axis)
        return _stacked(ragged_alike(found), axis)


def ragged_alike(values: list[Any]) -> list[Any]:
    """Return all of them as RaggedTensors with the same number of ragged axes."""
    depth = max(each.ragged_rank for each in values if isinstance(each, RaggedTensor))
    return [_as_deep(each, depth) for each in values]


def _as_deep(value: Any, depth: int) -> Any:
    if not depth:
        return value
    if not isinstance(value, RaggedTensor):
        return RaggedTensor.from_tensor(value, ragged_rank=depth)
    return value.with_values(_as_deep(value.values, depth - 1))


def _stacked(values: list[Any], axis: int) -> Any:
    if axis > 1:
        inner = [each.values for each in values]
        is_ragged = isinstance(inner[0], RaggedTensor)
        made = _stacked(inner, axis - 1) if is_ragged else dense_stack(inner, axis - 1)
        return values[0].with_values(made)
    whole = joined(values)
    counts = [each.nrows() for each in values]
    if not axis:
        return RaggedTensor.from_row_lengths(whole, dense_stack(counts))
    number = len(values)
    places = raw.Reshape(
        raw.Transpose(raw.Reshape(raw.Range(0, whole.nrows(), 1), [number, -1]), [1, 0]), [-1]
    )
    splits: Any = whole.row_splits
    rows = rows_at(whole, gather(splits[:-1], places), gather(splits[1:], places))
    return RaggedTensor.from_row_lengths(rows, raw.Fill([counts[0]], counts[0] * 0 + number))


def joined(values: list[Any]) -> Any:
    """Return the rows of all of them, one after the other."""
    if not isinstance(values[0], RaggedTensor):
        return concat(values, 0)
    lengths = concat([each.row_lengths() for each in values], 0)
    return RaggedTensor.from_row_lengths(joined([each.values for each in values]), lengths)


def stack_dynamic_partitions(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> Any:
    """Return the rows of `data` by the partition that each belongs to, as a RaggedTensor.

    Args:
      data: a tensor or RaggedTensor, [partitions' shape, ...].
      partitions: int32 or int64: to which partition each row belongs; ragged as `data` is where
        the elements of rows are dealt out.
      num_partitions: how many there are.
      name: prefix for the nodes.

    Raises:
      InvalidArgumentError: a partition is not from 0 to `num_partitions` - 1.

    Example:
      >>> x = ragged.stack_dynamic_partitions([5, 6, 7], [1, 0, 1], 3)
      >>> Session().run(x).to_list()
      [[6], [5, 7], []]
    """
    if isinstance(partitions, RaggedTensor):
        return _dealt_out_inside(data, partitions, num_partitions, name)
    with name_scope(name, "SegmentStack", [data, partitions, num_partitions]):
        places: Any = convert_to_tensor(partitions, name="partitions")
        number = convert_to_tensor(num_partitions, places.dtype, name="num_partitions")
        rows = data if isinstance(data, RaggedTensor) else convert_to_tensor(data, name="data")
        rank = places.shape.ndims
        if rank is None:
            raise ValueError("partitions must have known rank")
        if rank != 1 and not isinstance(rows, RaggedTensor):
            inner = raw.Shape(rows)[rank:]
            rows = raw.Reshape(rows, concat([[-1], inner], 0))
            places = raw.Reshape(places, [-1])
        checks = [
            assert_less(places, number, message="partitions must be less than num_partitions"),
            assert_non_negative(places, message="partitions must be non-negative"),
        ]
        with control_dependencies(checks):
            order = argsort(raw.Identity(places), stable=True)
        ones = raw.Cast(raw.OnesLike(places), DstT="int64")
        counts = raw.UnsortedSegmentSum(ones, places, number)
        return RaggedTensor.from_row_lengths(in_order(rows, order), counts)


def _dealt_out_inside(data: Any, partitions: RaggedTensor, number: Any, name: str | None) -> Any:
    """Return the elements of rows by the partition that each belongs to."""
    if not isinstance(data, RaggedTensor):
        raise ValueError(f"data must be ragged if partitions are, got {data!r}")
    message = "data and partitions have incompatible ragged shapes"
    same = assert_equal(data.row_splits, partitions.row_splits, message=message)
    with control_dependencies([same]):
        return stack_dynamic_partitions(data.values, partitions.values, number, name)


def in_order(rows: Any, order: Any) -> Any:
    """Return the rows by their numbers."""
    if not isinstance(rows, RaggedTensor):
        return gather(rows, order)
    splits: Any = rows.row_splits
    return rows_at(rows, gather(splits[:-1], order), gather(splits[1:], order))
