"""tf.ragged: functions that make ragged tensors, or go between splits and ids."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.cast import cast
from tfdist.ops.ragged import ordinary, ragged_values
from tfdist.ops.ragged.ragged_tensor import RaggedTensor
from tfdist.ops.ragged.ragged_values import RaggedTensorValue
from tfdist.ops.ragged.row_splits import ids_of, splits_of

__all__ = [
    "boolean_mask", "constant", "placeholder", "range", "row_splits_to_segment_ids",
    "segment_ids_to_row_splits",
]  # fmt: skip


def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Sequence[int] | None = None,
    name: str | None = None,
    row_splits_dtype: Any = dtypes.int64,
) -> Any:
    """Return nested lists as a RaggedTensor, or as a tensor if nothing is ragged.

    Args:
      pylist: nested lists, whose elements stand at one depth.
      dtype: of the elements; what suits them by default.
      ragged_rank: how many axes are ragged; all but the first by default.
      inner_shape: of the elements, if they are arrays themselves.
      name: of the scope.
      row_splits_dtype: int32 or int64.

    Raises:
      ValueError: elements stand at different depths, or not as deep as is asked for.

    Example:
      >>> Session().run(ragged.constant([[5, 6], [], [7]]).row_lengths())
      array([2, 0, 1])
    """
    kind = dtypes.as_dtype(row_splits_dtype)
    value = ragged_values.constant_value(pylist, dtype, ragged_rank, inner_shape, kind)
    with name_scope(name, "RaggedConstant"):
        if not isinstance(value, RaggedTensorValue):
            return convert_to_tensor(value, dtype)
        found: Any = convert_to_tensor(value.flat_values, dtype, name="values")
        for splits in reversed(value.nested_row_splits):
            found = RaggedTensor(found, convert_to_tensor(splits))
        return found


def placeholder(
    dtype: Any, ragged_rank: int, value_shape: Any = None, name: str | None = None
) -> Any:
    """Return a RaggedTensor whose value must be fed to `session.run`: a RaggedTensorValue.

    Args:
      dtype: of the elements.
      ragged_rank: how many axes are ragged; 0 gives a plain placeholder.
      value_shape: of the elements of the innermost rows.
      name: of the scope.

    Example:
      >>> x = ragged.placeholder("int32", 1)
      >>> value = ragged.constant_value([[5], [6, 7]])
      >>> Session().run(x.row_lengths(), {x: value})
      array([1, 2])
    """
    inner = None if value_shape is None else [None, *value_shape]
    with name_scope(name, "RaggedPlaceholder"):
        found: Any = raw.Placeholder(dtype=dtype, shape=inner, name="flat_values")
        for depth in reversed(builtins.range(ragged_rank)):
            splits = raw.Placeholder(dtype="int64", shape=[None], name=f"row_splits_{depth}")
            found = RaggedTensor(found, splits)
        return found


def range(
    starts: Any,
    limits: Any = None,
    deltas: Any = 1,
    dtype: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = dtypes.int64,
) -> RaggedTensor:
    """Return rows of numbers that rise, or fall, by equal steps.

    Args:
      starts: the first number of each row; if it stands alone, the limits, and rows start from 0.
      limits: where each row ends, which is left out.
      deltas: the steps.
      dtype: of the numbers.
      name: of the node.
      row_splits_dtype: int32 or int64.

    Example:
      >>> Session().run(ragged.range([1, 3], [3, 4])).to_list()
      [[1, 2], [3]]
    """
    if limits is None:
        starts, limits = 0, starts
    with name_scope(name, "RaggedRange", [starts, limits, deltas]) as scope:
        first = convert_to_tensor(starts, dtype, "starts")
        last = convert_to_tensor(limits, dtype or first.dtype.base_dtype, "limits")
        step = convert_to_tensor(deltas, first.dtype.base_dtype, "deltas")
        splits, values = raw.RaggedRange(
            first, last, step, Tsplits=dtypes.as_dtype(row_splits_dtype), name=scope
        )
        return RaggedTensor(values, splits)


def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Tensor:
    """Return for each value the row that it stands in.

    Args:
      splits: integers [rows + 1], where each row begins, and the end.
      name: of the scope.
      out_type: int32 or int64.

    Example:
      >>> Session().run(ragged.row_splits_to_segment_ids([0, 2, 2, 3]))
      array([0, 0, 2])
    """
    with name_scope(name, "RaggedSplitsToSegmentIds", [splits]):
        dtype = out_type or getattr(splits, "dtype", dtypes.int64)
        ids: Tensor = ids_of(cast(convert_to_tensor(splits, name="splits"), dtype))
        return ids


def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None
) -> Tensor:
    """Return where each row begins, and the end, from the row of each value.

    Args:
      segment_ids: integers in order.
      num_segments: how many rows; one more than the last id by default.
      out_type: int32 or int64.
      name: of the scope.

    Example:
      >>> Session().run(ragged.segment_ids_to_row_splits([0, 0, 2]))
      array([0, 2, 2, 3])
    """
    with name_scope(name, "SegmentIdsToRaggedSplits", [segment_ids]):
        dtype = out_type or getattr(segment_ids, "dtype", dtypes.int64)
        return splits_of(cast(convert_to_tensor(segment_ids), dtype), num_segments)


def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """Return the elements of each row for which a flag is true.

    Args:
      data: a tensor or RaggedTensor.
      mask: bools, of the shape of its first axes: a vector keeps rows.
      name: of the scope.

    Example:
      >>> kept = ragged.boolean_mask([[5, 6], [7, 8]], [[True, False], [True, True]])
      >>> Session().run(kept).to_list()
      [[5], [7, 8]]
    """
    with name_scope(name, "RaggedMask", [data, mask]):
        if not isinstance(data, RaggedTensor):
            data = convert_to_tensor(data, name="data")
        if not isinstance(mask, RaggedTensor):
            mask = convert_to_tensor(mask, dtypes.bool_, "mask")
            if mask.shape.ndims != 1:
                mask = RaggedTensor.from_tensor(mask)
        return ordinary.boolean_mask(data, mask)
