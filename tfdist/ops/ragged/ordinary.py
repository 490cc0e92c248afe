"""Ordinary functions of ragged tensors: `tf.concat`, `tf.gather`, `tf.where` and others.

`base.dispatch` calls them instead of those of the same name for tensors, where an argument is a
RaggedTensor.

Source: TF 1.15 API documentation, tf.ragged: "Additional ops that support RaggedTensor".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.graph.constant_values import constant_value
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import control_dependencies, name_scope
from tfdist.ops.array import concat as dense_concat
from tfdist.ops.array import gather as dense_gather
from tfdist.ops.array import gather_nd as dense_gather_nd
from tfdist.ops.array import shape as array_shape
from tfdist.ops.array.boolean_mask import boolean_mask as dense_mask
from tfdist.ops.array.cast import cast
from tfdist.ops.checks.assertions import assert_equal
from tfdist.ops.math import comparison
from tfdist.ops.ragged.operators import map_flat_values
from tfdist.ops.ragged.ragged_tensor import RaggedTensor
from tfdist.ops.ragged.reductions import along, axes_of, axis_of
from tfdist.ops.ragged.stack import in_order, joined, ragged_alike, stack_dynamic_partitions
from tfdist.ops.ragged.stack import stack as ragged_stack

__all__: list[str] = []  # their public names are those of the functions for tensors


def elementwise(plain: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return what a function that takes one element after the other makes of ragged arguments.

    Tensors among them are broadcast to the rows; a list of values is one argument.
    """
    if args and isinstance(args[0], (list, tuple)):
        first, *rest = args
        return elementwise(lambda *values, **named: plain(list(values), *rest, **named),
                           *first, **kwargs)  # fmt: skip
    given = [each for each in (*args, *kwargs.values()) if isinstance(each, RaggedTensor)]
    fitted = [_fitting(each, given[0]) for each in args]
    return map_flat_values(plain, *fitted, **kwargs)


def _fitting(value: Any, like: RaggedTensor) -> Any:
    """Return an operand with an element for each of those of a ragged one."""
    if isinstance(value, RaggedTensor) or value is None or isinstance(value, (str, bytes)):
        return value
    if not hasattr(value, "plain_shape") and np.ndim(value) == 0:
        return value
    dense = value if hasattr(value, "plain_shape") else convert_to_tensor(value)
    shape = dense.plain_shape
    if shape is None or like.ragged_rank != 1 or not 0 < len(shape) <= 2:
        return dense
    if len(shape) == 1:
        dense, shape = raw.ExpandDims(dense, 0), (1, *shape)
    if shape[1] != 1:
        number = like.nrows(out_type=dtypes.int32) if shape[0] == 1 else 1
        return RaggedTensor.from_tensor(raw.Tile(dense, raw.Pack([number, 1])))
    column: Any = raw.Squeeze(dense, squeeze_dims=[1])
    return column if shape[0] == 1 else dense_gather.gather(column, like.value_rowids())


# shapes


def concat(values: Any, axis: Any, name: str | None = None) -> Any:
    """Return ragged tensors, all of one rank, one after the other along an axis."""
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    with name_scope(name, "RaggedConcat"):
        found = [v if isinstance(v, RaggedTensor) else convert_to_tensor(v) for v in values]
        first = next(each for each in found if isinstance(each, RaggedTensor))
        return _concatenated(ragged_alike(found), axis_of(int(axis), first))


def _concatenated(values: list[Any], axis: int) -> Any:
    if not isinstance(values[0], RaggedTensor):
        return dense_concat.concat(values, axis)
    if not axis:
        return joined(values)
    if axis > 1:
        return values[0].with_values(_concatenated([each.values for each in values], axis - 1))
    rows = ragged_stack(values, 1)  # each row beside those of the others
    splits = dense_gather.gather(rows.values.row_splits, rows.row_splits)
    return RaggedTensor(rows.values.values, splits)


def stack(values: Any, axis: int = 0, name: str | None = None) -> Any:
    """Return ragged tensors, all of one rank, as one with one more axis."""
    return ragged_stack(values, axis, name)


def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """Return a ragged tensor repeated along each of its axes."""
    with name_scope(name, "RaggedTile", [input.flat_values]):
        counts: Any = convert_to_tensor(multiples, name="multiples")
        counts.shape.assert_has_rank(1)
        counts = cast(counts, input.row_splits.dtype)
        known = constant_value(counts)
        _check_counts(counts.shape[0].value, input)
        axes = input.ragged_rank + 1
        for axis in range(axes):
            if known is None or known[axis] != 1:
                input = _repeated(input, axis, counts[axis])
        if counts.shape[0].value == axes:
            return input
        inner = dense_concat.concat([cast([1], counts.dtype), counts[axes:]], 0)
        return input.with_flat_values(raw.Tile(input.flat_values, inner))


def _check_counts(number: int | None, ragged: RaggedTensor) -> None:
    """Raise an error unless there are as many multiples as axes, if both are known."""
    rank = ragged.shape.ndims
    message = f"tile takes {rank} multiples, one for each axis of {ragged!r}; got {number}"
    if number is not None and number <= ragged.ragged_rank:
        raise IndexError(message)
    if None not in (number, rank) and number != rank:
        raise ValueError(message)


def _repeated(value: Any, axis: int, count: Any) -> Any:
    """Return a value `count` times along an axis."""
    if not isinstance(value, RaggedTensor):
        rank = value.shape.ndims or 1
        return raw.Tile(
            value, raw.Pack([count if i == axis else count * 0 + 1 for i in range(rank)])
        )
    if axis > 1:
        return value.with_values(_repeated(value.values, axis - 1, count))
    number: Any = value.nrows()
    rows = raw.Range(number * 0, number, number * 0 + 1)
    if not axis:
        return in_order(value, raw.Tile(rows, raw.Reshape(count, [1])))
    each = raw.Reshape(raw.Tile(raw.ExpandDims(rows, 1), raw.Pack([count * 0 + 1, count])), [-1])
    copies = in_order(value, each)  # of each row as many as it is to hold
    ends: Any = raw.Range(number * 0, number + 1, number * 0 + 1)
    return RaggedTensor(copies.values, dense_gather.gather(copies.row_splits, ends * count))


def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """Return a ragged tensor with one more axis, of size 1."""
    axis = dim if axis is None else axis
    with name_scope(name, "RaggedExpandDims", [input.flat_values]):
        return _expanded(input, axis_of(int(axis), input, more=1))


def _expanded(value: Any, axis: int) -> Any:
    if not isinstance(value, RaggedTensor):
        return raw.ExpandDims(value, axis)
    count = value.nrows()
    if axis == 0:
        return RaggedTensor(value, raw.Pack([cast(0, count.dtype), count]))
    if axis == 1:
        one = cast(1, count.dtype)
        return RaggedTensor(value, raw.Range(cast(0, count.dtype), count + one, one))  # type: ignore[operator]
    return value.with_values(_expanded(value.values, axis - 1))


def size(input: Any, name: str | None = None, out_type: Any = dtypes.int32) -> Any:
    """Return how many elements a ragged tensor has."""
    return array_shape.size(input.flat_values, name, out_type=out_type)


def rank(input: Any, name: str | None = None) -> Any:
    """Return how many axes a ragged tensor has."""
    with name_scope(name, "RaggedRank", [input.flat_values]):
        if input.shape.ndims is not None:
            return convert_to_tensor(input.shape.ndims, "int32")
        return raw.AddV2(array_shape.rank(input.flat_values), input.ragged_rank)


# choices


def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Any]:
    """Return the rows of `data` dealt out to several ragged tensors."""
    found = stack_dynamic_partitions(data, partitions, num_partitions, name)
    return [found[i] for i in range(num_partitions)]


def gather(
    params: Any, indices: Any, validate_indices: Any = None, name: str | None = None,
    axis: Any = None, batch_dims: int = 0,
) -> Any:  # fmt: skip
    """Return rows of `params` by their numbers; either, or both, may be ragged."""
    if axis not in (None, 0) or batch_dims not in (0, None):
        if batch_dims == 1 and axis in (None, 1):
            return batch_gather(params, indices, name)
        raise ValueError("Non-zero axis is not supported for ragged gather yet.")
    with name_scope(name, "RaggedGather"):
        return _gathered(params, indices)


def _gathered(params: Any, indices: Any) -> Any:
    if isinstance(indices, RaggedTensor):
        return indices.with_values(_gathered(params, indices.values))
    places: Any = convert_to_tensor(indices, name="indices")
    if not isinstance(params, RaggedTensor):
        return dense_gather.gather(params, places)
    if places.shape.ndims is None:
        raise ValueError("indices.shape.ndims must be known statically.")
    if places.shape.ndims == 0:
        return params[places]  # type: ignore[index]
    if places.shape.ndims > 1:
        return _gathered(params, RaggedTensor.from_tensor(places))
    return in_order(params, places)


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Any:
    """Return elements of each row by their places in it."""
    with name_scope(name, "RaggedBatchGather"):
        rows, places = ragged_alike([
            each if isinstance(each, RaggedTensor) else convert_to_tensor(each)
            for each in (params, indices)
        ])  # fmt: skip
        starts = dense_gather.gather(rows.row_starts(), places.value_rowids())
        spots = raw.AddV2(cast(places.values, starts.dtype), starts)
        return places.with_values(_gathered(rows.values, spots))


def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: int = 0) -> Any:
    """Return what of `params` each row of a matrix of places spells."""
    with name_scope(name, "RaggedGatherNd"):
        if isinstance(indices, RaggedTensor):
            return indices.with_values(gather_nd(params, indices.values))
        places: Any = convert_to_tensor(indices, name="indices")
        if places.shape.ndims != 2 or places.shape[1].value is None:
            raise ValueError("indices of ragged params must be a matrix of known width here.")
        return _spelled(params, places)


def _spelled(params: Any, places: Any) -> Any:
    if not isinstance(params, RaggedTensor):
        return dense_gather_nd.gather_nd(params, places)
    if places.shape[1].value == 1:
        return in_order(params, places[:, 0])
    starts = dense_gather.gather(params.row_starts(), places[:, 0])
    places = cast(places, starts.dtype)
    inside = raw.ExpandDims(raw.AddV2(starts, places[:, 1]), 1)
    return _spelled(params.values, dense_concat.concat([inside, places[:, 2:]], 1))


def boolean_mask(data: Any, mask: Any) -> Any:
    """Return the rows, or the elements of rows, of `data` for which `mask` is true."""
    if not isinstance(mask, RaggedTensor):
        if mask.shape.ndims == 1 or not isinstance(data, RaggedTensor):
            return _masked(data, mask)
        mask = RaggedTensor.from_tensor(mask)
    return _masked(data, mask)


def _masked(data: Any, mask: Any) -> Any:
    if not isinstance(mask, RaggedTensor):
        places = raw.Squeeze(raw.Where(mask), squeeze_dims=[1])
        return _gathered(data, places)
    kept = _masked(_values_of(data, mask), mask.values)
    if isinstance(mask.values, RaggedTensor):
        return mask.with_values(kept)
    flags = mask.with_values(cast(mask.values, mask.row_splits.dtype))
    return RaggedTensor.from_row_lengths(kept, along("sum", flags, 1))


def _values_of(data: Any, like: RaggedTensor) -> Any:
    """Return the values of the rows of `data`, which may be a tensor, as those of a ragged one."""
    return data.values if isinstance(data, RaggedTensor) else RaggedTensor.from_tensor(data).values


def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Any:
    """Return a ragged tensor without axes of size 1, none of which may be ragged."""
    given = squeeze_dims if axis is None else axis
    if given is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    with name_scope(name, "RaggedSqueeze", [input.flat_values]):
        for each in axes_of(given, input):
            input = _squeezed(input, each)
        return input


def _squeezed(value: Any, axis: int) -> Any:
    if not isinstance(value, RaggedTensor):
        return raw.Squeeze(value, squeeze_dims=[axis])
    if axis > 1:
        return value.with_values(_squeezed(value.values, axis - 1))
    sizes = [value.nrows()] if axis == 0 else value.row_lengths()
    message = f"the axis {axis} of a ragged tensor to squeeze is not 1 long"
    with control_dependencies(
        [assert_equal(sizes, cast(1, value.row_splits.dtype), message=message)]
    ):
        return map_flat_values(raw.Identity, value.values)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Return where a ragged condition holds, or the elements of x where it does, of y elsewhere."""
    with name_scope(name, "RaggedWhere"):
        if x is None and y is None:
            spots = condition.to_sparse()
            return dense_mask(spots.indices, spots.values)
        if isinstance(condition, RaggedTensor):
            return elementwise(comparison.where, condition, x, y)
        flags: Any = convert_to_tensor(condition, dtypes.bool_, "condition")
        both = _concatenated(ragged_alike([x, y]), 0)
        count = cast(array_shape.shape(flags)[0], both.row_splits.dtype)  # type: ignore[index]
        numbers = raw.Range(count * 0, count, count * 0 + 1)
        return in_order(both, comparison.where(flags, numbers, numbers + count))
