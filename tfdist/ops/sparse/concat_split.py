"""Sparse tensors joined along an axis, cut into equal parts, and boxes cut out of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation
from tfdist.ops.array.concat import concat
from tfdist.ops.array.reshape import reshape
from tfdist.ops.math.reductions import reduce_max
from tfdist.ops.sparse.add import values_at
from tfdist.ops.sparse.components import brackets, checked, places, rank_of, require_ranks
from tfdist.ops.sparse.sparse_tensor import SparseTensor, SparseTensorValue, as_sparse

__all__ = ["sparse_concat", "sparse_slice", "sparse_split"]

CONCAT = OpDef(
    "SparseConcat(indices: N*int64, values: N*T, shapes: N*int64) -> output_indices: int64, "
    "output_values: T, output_shape: int64 [concat_dim: int; N: int >=2; T: type]"
).not_differentiable()


@CONCAT.shape
def concat_shape(indices: list[Shape], values: list[Shape], shapes: list[Shape]) -> list[Shape]:
    rank: int | None = None
    counts: list[int | None] = []
    for one_indices, one_values, one_shape in zip(indices, values, shapes, strict=True):
        require_ranks(one_indices, one_values, one_shape)
        counts.append(_count(one_indices, one_values))
        rank = _merged(rank, rank_of(one_indices, one_shape))
    total = None if None in counts else sum(filter(None, counts))
    return [(total, rank), (total,), (rank,)]


def _count(indices: Shape, values: Shape) -> int | None:
    return _merged(None if indices is None else indices[0], None if values is None else values[0])


def _merged(one: int | None, other: int | None) -> int | None:
    return shapes.merge_dim(one, other, "sizes of sparse tensors")


@CONCAT.kernel
def concat_kernel(
    indices: list[Any], values: list[Any], shapes: list[Any], *, concat_dim: int
) -> tuple[Any, Any, Any]:
    parts = [checked(*each) for each in zip(indices, values, shapes, strict=True)]
    axis = _axis(concat_dim, len(shapes[0]))
    _check_others(shapes, axis)
    offsets = np.cumsum([0] + [int(shape[axis]) for shape in shapes])
    joined = np.concatenate(indices)
    joined[:, axis] += np.repeat(offsets[:-1], [len(part.values) for part in parts])
    whole = np.array(shapes[0], np.int64)
    whole[axis] = offsets[-1]
    order = np.argsort(places(joined, whole), kind="stable")
    return joined[order], np.concatenate(values)[order], whole


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise InvalidArgumentError(
            f"Concat dimension must be in range [{-rank}, {rank}), got {axis}"
        )
    return axis % rank


def _check_others(all_shapes: Sequence[Any], axis: int) -> None:
    """Raise InvalidArgumentError unless the shapes differ along `axis` only."""
    first = all_shapes[0]
    for position, shape in enumerate(all_shapes):
        if len(shape) != len(first):
            raise InvalidArgumentError(
                f"Ranks of all input tensors must match: expected {len(first)} but got "
                f"{len(shape)} at position {position}"
            )
        for other in np.flatnonzero(shape != first):
            if other != axis:
                raise InvalidArgumentError(
                    f"Input shapes must match: expected {first[other]} for dimension {other} but "
                    f"got {shape[other]} at position {position}"
                )


def sparse_concat(
    axis: Any,
    sp_inputs: Any,
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: Any = None,
    expand_nonconcat_dims: bool | None = None,
) -> SparseTensor:
    """Return sparse tensors joined along an axis: `tf.sparse.concat`.

    Args:
      axis: the axis, counted from the end if it is negative.
      sp_inputs: a list of SparseTensors of one rank and type.
      name: of the node.
      expand_nonconcat_dim: whether the other dimensions may differ; the longest counts.
      concat_dim: the name of `axis` in earlier versions.
      expand_nonconcat_dims: another name of `expand_nonconcat_dim`.

    Raises:
      TypeError: there is no list of sparse tensors.
      InvalidArgumentError: other dimensions differ (when it runs).

    Example:
      >>> x = SparseTensor([[0, 1]], [5], [1, 2])
      >>> Session().run(sparse.to_dense(sparse_concat(0, [x, x])))
      array([[0, 5],
             [0, 5]], dtype=int32)
    """
    inputs = _sparse_list(sp_inputs)
    axis = int(axis if concat_dim is None else concat_dim)
    if len(inputs) == 1:
        return inputs[0]
    expand = expand_nonconcat_dim if expand_nonconcat_dims is None else expand_nonconcat_dims
    dims = [each.dense_shape for each in inputs]
    known = _joined_shape(inputs, axis)
    indices, values, shape = raw.SparseConcat(
        [each.indices for each in inputs],
        [each.values for each in inputs],
        _expanded(dims, axis) if expand else dims,
        concat_dim=axis,
        name=name,
    )
    if expand or known is None:
        return SparseTensor(indices, values, shape)
    return SparseTensor(indices, values, convert_to_tensor(known, "int64"))


def _sparse_list(inputs: Any) -> list[SparseTensor]:
    if not isinstance(inputs, list | tuple):
        raise TypeError("Inputs must be a list or tuple.")
    if not all(isinstance(each, SparseTensor | SparseTensorValue) for each in inputs):
        raise TypeError("All inputs must be SparseTensors.")
    return [as_sparse(each) for each in inputs]


def _joined_shape(inputs: Sequence[SparseTensor], axis: int) -> list[int] | None:
    """Return the shape of what is joined, None if not all of it is known."""
    found: list[list[Any]] = [each.shape.as_list() for each in inputs if each.shape.ndims]
    if len(found) < len(inputs) or any(None in dims for dims in found):
        return None
    whole = list(found[0])
    whole[axis] = sum(dims[axis] for dims in found)
    return whole


def _expanded(dims: Sequence[Any], axis: int) -> list[Any]:
    """Return shapes whose other dimensions are those of the longest."""
    longest: Any = reduce_max(concat([reshape(each, [1, -1]) for each in dims], 0), 0)
    if axis == -1:
        return [concat([longest[:-1], each[-1:]], 0) for each in dims]
    return [
        concat([longest[:axis], each[axis : axis + 1], longest[axis + 1 :]], 0) for each in dims
    ]


SPLIT = OpDef(
    "SparseSplit(split_dim: int64, indices: int64, values: T, shape: int64) -> "
    "output_indices: num_split*int64, output_values: num_split*T, output_shape: num_split*int64 "
    "[num_split: int >=1; T: type]"
)


@SPLIT.shape
def split_shape(
    split_dim: Shape, indices: Shape, values: Shape, shape: Shape, *, num_split: int,
    split_dim_value: Any, shape_value: Any,
) -> list[Shape]:  # fmt: skip
    require_ranks(indices, values, shape)
    rank = rank_of(indices, shape)
    return [(None, rank)] * num_split + [(None,)] * num_split + [shape] * num_split


@SPLIT.kernel
def split_kernel(
    split_dim: Any, indices: Any, values: Any, shape: Any, *, num_split: int
) -> list[Any]:
    checked(indices, values, shape)
    axis, rank = int(split_dim), len(shape)
    if not 0 <= axis < rank:
        raise InvalidArgumentError(
            f"Input split_dim should be between 0 and rank ({rank}), got {axis}"
        )
    size = int(shape[axis])
    if num_split > size:
        raise InvalidArgumentError(
            "Input num_split should be between 1 and the splitting dimension size "
            f"({size}), got {num_split}"
        )
    # the first ones are longer by one if the size cannot be divided
    lengths = np.full(num_split, size // num_split) + (np.arange(num_split) < size % num_split)
    starts = np.cumsum(lengths) - lengths
    part = np.searchsorted(starts, indices[:, axis], side="right") - 1
    moved = np.array(indices)
    moved[:, axis] -= starts[part]
    order = np.argsort(part, kind="stable")
    cuts = np.cumsum(np.bincount(part, minlength=num_split))[:-1]
    wholes = np.repeat(np.asarray(shape, np.int64)[None], num_split, 0)
    wholes[:, axis] = lengths
    return [*np.split(moved[order], cuts), *np.split(values[order], cuts), *wholes]


class _KeywordRequired:
    """The default of the first parameter: a value there means that no keywords were used."""


def sparse_split(
    keyword_required: Any = _KeywordRequired(),  # noqa: B008
    sp_input: Any = None,
    num_split: int | None = None,
    axis: Any = None,
    name: str | None = None,
    split_dim: Any = None,
) -> list[SparseTensor]:
    """Return the parts of a sparse tensor that is cut along an axis: `tf.sparse.split`.

    Args:
      keyword_required: nothing; all others are given by keyword.
      sp_input: a SparseTensor.
      num_split: how many parts; if they cannot be equal, the first ones are longer by one.
      axis: the axis, from 0.
      name: of the node.
      split_dim: the name of `axis` in earlier versions.

    Raises:
      ValueError: an argument was given without its name, or is missing.
      TypeError: `sp_input` is not sparse.
      InvalidArgumentError: there is no such axis, or it is too short (when it runs).

    Example:
      >>> x = SparseTensor([[0, 1], [1, 2]], [5, 6], [2, 3])
      >>> one, other = sparse_split(sp_input=x, num_split=2, axis=1)
      >>> Session().run([sparse.to_dense(one), sparse.to_dense(other)])[1].tolist()
      [[0], [6]]
    """
    if not isinstance(keyword_required, _KeywordRequired):
        raise ValueError("Keyword arguments are required for this function.")
    axis = split_dim if axis is None else axis
    for what, value in (("sp_input", sp_input), ("num_split", num_split), ("axis", axis)):
        if value is None:
            raise ValueError(f"{what} is required")
    sparse = as_sparse(sp_input)
    assert num_split is not None
    found = raw.SparseSplit(
        axis, sparse.indices, sparse.values, sparse.dense_shape, num_split=num_split, name=name
    )
    return [SparseTensor(*found[i::num_split]) for i in range(num_split)]


SLICE = OpDef(
    "SparseSlice(indices: int64, values: T, shape: int64, start: int64, size: int64) -> "
    "output_indices: int64, output_values: T, output_shape: int64 [T: type]"
)


@SLICE.shape
def slice_shape(
    indices: Shape, values: Shape, shape: Shape, start: Shape, size: Shape
) -> list[Shape]:
    require_ranks(indices, values, shape)
    rank = rank_of(indices, shape)
    return [(None, rank), (None,), shape]


@SLICE.kernel
def slice_kernel(indices: Any, values: Any, shape: Any, start: Any, size: Any) -> Any:
    checked(indices, values, shape)
    for what, vector in (("start", start), ("size", size)):
        if np.ndim(vector) != 1 or len(vector) != len(shape):
            raise InvalidArgumentError(
                f"Expected {what} to be a vector of length {len(shape)} but got length "
                f"{np.size(vector)}"
            )
    if (size < 0).any():
        raise InvalidArgumentError(f"expected size >= 0, got {brackets(size)}")
    inside = np.ones(len(indices), bool)
    for column, first, count in zip(indices.T, start, size, strict=True):  # an axis at a time
        inside &= (column >= first) & (column < first + count)
    # what reaches beyond the end is cut off
    whole = np.clip(shape - start, 0, size).astype(np.int64)
    return indices[inside] - start, values[inside], whole


@SLICE.gradient
def slice_gradient(op: Operation, _: Any, d_values: Any, __: Any) -> list[Any]:
    indices, _, _, start, _ = op.inputs
    return [None, raw.SparseSliceGrad(d_values, indices, start, op.outputs[0]), None, None, None]


SLICE_GRAD = OpDef(
    "SparseSliceGrad(backprop_val_grad: T, input_indices: int64, input_start: int64, "
    "output_indices: int64) -> val_grad: T [T: type {numeric}]"
).not_differentiable()


@SLICE_GRAD.shape
def slice_grad_shape(
    backprop_val_grad: Shape, input_indices: Shape, input_start: Shape, output_indices: Shape
) -> Shape:
    shapes.require_rank(input_indices, "input_indices", 2)
    return None if input_indices is None else input_indices[:1]


@SLICE_GRAD.kernel
def slice_grad_kernel(
    backprop_val_grad: Any, input_indices: Any, input_start: Any, output_indices: Any
) -> Any:
    ranks = {input_indices.shape[1], output_indices.shape[1], len(input_start)}
    if len(ranks) > 1:
        raise InvalidArgumentError(f"indices and start have different ranks: {sorted(ranks)}")
    return values_at(input_indices, output_indices + input_start, backprop_val_grad)


def sparse_slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """Return a box that is cut out of a sparse tensor: `tf.sparse.slice`.

    Args:
      sp_input: a SparseTensor.
      start: the first place of the box along each axis.
      size: how long it is along each axis; what reaches beyond the end is cut off.
      name: of the node.

    Raises:
      TypeError: `sp_input` is not sparse.
      InvalidArgumentError: `start` or `size` is of another length (when it runs).

    Example:
      >>> x = SparseTensor([[0, 1], [1, 2]], [5, 6], [2, 3])
      >>> Session().run(sparse.to_dense(sparse_slice(x, [1, 1], [1, 2])))
      array([[0, 6]], dtype=int32)
    """
    sparse = as_sparse(sp_input)
    start = convert_to_tensor(start, "int64")
    size = convert_to_tensor(size, "int64")
    indices, values, shape = raw.SparseSlice(
        sparse.indices, sparse.values, sparse.dense_shape, start, size, name=name
    )
    return SparseTensor(indices, values, shape)
