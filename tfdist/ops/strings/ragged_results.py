"""What strings become where each becomes a row of its own: as many tensors as needed are ragged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.ops.ragged.ragged_tensor import RaggedTensor

ToRows = Callable[[Any], Sequence[RaggedTensor]]


def as_strings(input: Any) -> Any:
    """Return strings as a tensor; ragged ones as they are."""
    if isinstance(input, RaggedTensor):
        return input
    return convert_to_tensor(input, dtypes.string, "input")


def in_rows(texts: Any, to_rows: ToRows) -> list[Any]:
    """Return what strings of any rank become.

    Args:
      texts: a tensor, or a RaggedTensor.
      to_rows: of a vector of strings; returns RaggedTensors with a row for each.

    Returns:
      For each result of `to_rows`, a tensor if `texts` is a scalar, else a RaggedTensor.

    Raises:
      ValueError: the rank is not known.
    """
    if isinstance(texts, RaggedTensor):
        return [texts.with_flat_values(rows) for rows in to_rows(texts.flat_values)]
    rank = texts.shape.ndims
    if rank is None:
        raise ValueError(f"the rank of the strings must be known, got {texts}")
    if rank == 0:
        return [rows.values for rows in to_rows(raw.Reshape(texts, [1]))]
    if rank == 1:
        made = to_rows(texts)
        count = texts.shape[0].value
        for rows in made:
            rows.row_splits.set_shape([None if count is None else count + 1])
        return list(made)
    return in_rows(RaggedTensor.from_tensor(texts, ragged_rank=rank - 1), to_rows)


def split_rows(parts: Sequence[Any]) -> list[RaggedTensor]:
    """Return the parts of strings, three tensors of a sparse one, as rows."""
    indices, values, shape = parts
    places = raw.StridedSlice(
        indices, [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2
    )
    count = raw.StridedSlice(shape, [0], [1], [1], shrink_axis_mask=1)
    return [RaggedTensor.from_value_rowids(values, places, count)]
