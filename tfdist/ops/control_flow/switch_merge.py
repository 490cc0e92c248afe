"""`switch` and `merge` by themselves, for tensors, IndexedSlices and SparseTensors.

Programs have them from tensorflow.python.ops.control_flow_ops; `cond` makes its nodes without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.framework.composites import FIELDS, parts_of
from tfdist.ops.framework.indexed_slices import IndexedSlices, common_index_type, with_indices

__all__: list[str] = []


class Merged(NamedTuple):
    """What `merge` gives: the value that was there, and which of the inputs it was."""

    output: Any
    value_index: Tensor


def switch(data: Any, pred: Any, dtype: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """Return `data` twice: alive where `pred` is false, and where it is true.

    Args:
      data: a tensor, IndexedSlices or a SparseTensor.
      pred: scalar bool.
      dtype: of `data`, if it is no tensor yet.
      name: of the node, or of the scope of several.
    """
    with scopes.name_scope(name, "Switch", [data, pred]) as scope:
        if type(data) not in FIELDS:
            tensor = data if isinstance(data, Tensor) else convert_to_tensor(data, dtype, "data")
            return _switched(tensor, pred, scope)
        sides = [_switched(part, pred, None) for part in parts_of(data)]
        return _whole(data, [side[0] for side in sides]), _whole(data, [side[1] for side in sides])


def _switched(tensor: Tensor, pred: Any, name: str | None) -> tuple[Tensor, Tensor]:
    op = raw.RefSwitch if tensor.dtype.is_ref else raw.Switch
    with scopes.colocate_with(tensor, ignore_existing=True):
        output_false, output_true = op(tensor, pred, name=name)
    return output_false, output_true


def _whole(model: Any, parts: Sequence[Any]) -> Any:
    return type(model)(*parts)


def merge(inputs: Sequence[Any], name: str | None = None) -> Merged:
    """Return the one input that is alive, and its position.

    Args:
      inputs: tensors of one type, SparseTensors, or IndexedSlices: tensors among these become
        such, and indices of several types int64.
      name: of the node, or of the scope of several.

    Raises:
      ValueError: an input is None.
    """
    if any(each is None for each in inputs):
        raise ValueError(f"At least one of the merge inputs is None: {inputs!r}")
    with scopes.name_scope(name, "Merge", inputs) as scope:
        given = [_symbol(each) for each in inputs]
        if all(isinstance(each, Tensor) for each in given):
            return _merged(given, scope)
        if any(isinstance(each, IndexedSlices) for each in given):
            given = _slices(given)
        joined = [_merged(column, None) for column in zip(*map(parts_of, given), strict=True)]
        return Merged(_whole(given[0], [each.output for each in joined]), joined[0].value_index)


def _symbol(value: Any) -> Any:
    return value if type(value) in FIELDS else convert_to_tensor(value)


def _merged(tensors: Sequence[Tensor], name: str | None) -> Merged:
    op = raw.RefMerge if all(tensor.dtype.is_ref for tensor in tensors) else raw.Merge
    return Merged(*op(list(tensors), name=name))


def _slices(values: Sequence[Any]) -> list[IndexedSlices]:
    """Return values as IndexedSlices of one kind, with `dense_shape` if all have it."""
    made = [each if isinstance(each, IndexedSlices) else _rows(each) for each in values]
    index_type = common_index_type(made)
    made = [with_indices(each, index_type) for each in made]
    if all(each.dense_shape is not None for each in made):
        return made
    return [IndexedSlices(each.values, each.indices) for each in made]


def _rows(tensor: Tensor) -> IndexedSlices:
    """Return all rows of a tensor."""
    shape = raw.Shape(tensor)
    count = raw.StridedSlice(shape, [0], [1], [1], shrink_axis_mask=1)
    return IndexedSlices(tensor, raw.Range(0, count, 1), shape)
