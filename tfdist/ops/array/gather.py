"""Slices by their indices along one axis: gather, batch_gather, invert_permutation."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import convert
from tfdist.graph.constant_values import constant_value
from tfdist.graph.op_def import Known, OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape, size
from tfdist.ops.autodiff.gradients import IndexedSlices
from tfdist.ops.framework.shared_values import as_elements

__all__ = ["batch_gather", "gather", "invert_permutation"]

GATHER_V2 = OpDef(
    "GatherV2(params: Tparams, indices: Tindices, axis: Taxis) -> output: Tparams "
    "[batch_dims: int = 0; Tparams: type; Tindices: type {index}; Taxis: type {index}]"
)


@GATHER_V2.shape
def gather_v2_shape(
    params: Shape, indices: Shape, axis: Shape, *, axis_value: Any, batch_dims: int
) -> Shape:
    if params is None or indices is None:
        return None
    if axis_value is None:
        return (None,) * (len(params) + len(indices) - 1 - batch_dims)
    at = int(axis_value.item())
    shapes.require_rank(params, f"axis {at}", at + 1 if at >= 0 else -at, shapes.ANY_RANK)
    at %= len(params)
    batch_dims = batch_dims + len(indices) if batch_dims < 0 else batch_dims
    shapes.merge(params[:batch_dims], indices[:batch_dims], "batch dimensions")
    return (*params[:at], *indices[batch_dims:], *params[at + 1 :])


@GATHER_V2.kernel
def gather_v2_kernel(params: Any, indices: Any, axis: Any, *, batch_dims: int) -> Any:
    at, rank = int(axis), params.ndim
    if not rank:
        raise InvalidArgumentError("params must be at least 1 dimensional")
    if not -rank <= at < rank:
        raise InvalidArgumentError(f"Expected axis in the range [{-rank}, {rank}), but got {at}")
    at %= rank
    check_indices(indices, params.shape[at])
    if not batch_dims:
        taken = params.take(indices, at)
        return as_elements(taken) if type(taken) is bytes else taken  # a handle stays as it is
    return _batched(params, indices, at, batch_dims % (np.ndim(indices) + 1))


@GATHER_V2.specialize
def gather_v2_kernel_for(known: Known) -> Any:
    """Return the kernel that takes one element along the first axis."""
    params, index, _ = known.shapes
    axis = known.values[2]
    if index != () or axis is None or int(axis) or not params or known.attrs["batch_dims"]:
        return None
    return _element if len(params) == 1 else _row


def _element(params: Any, index: Any, axis: Any) -> Any:
    if not 0 <= index < len(params):
        check_indices(index, len(params))
    return as_elements(params[index]) if params.dtype == object else params[index]


def _row(params: Any, index: Any, axis: Any) -> Any:
    if not 0 <= index < len(params):
        check_indices(index, len(params))
    return params[index].copy()


def check_indices(indices: Any, length: int) -> None:
    """Raise InvalidArgumentError unless all are in [0, length); NumPy would count from the end."""
    if np.size(indices) and not (0 <= indices.min() and indices.max() < length):
        where = np.argwhere((indices < 0) | (indices >= length))[0]
        place = f"[{','.join(map(str, where))}]" if len(where) else ""
        value = np.asarray(indices)[tuple(where)]
        raise InvalidArgumentError(f"indices{place} = {value} is not in [0, {length})")


def _batched(params: Any, indices: Any, axis: int, batch_dims: int) -> Any:
    """Return `params` gathered at `indices`, whose first `batch_dims` axes run together."""
    flat = [each.reshape(-1, *each.shape[batch_dims:]) for each in (params, indices)]
    rows = [one.take(at, axis - batch_dims) for one, at in zip(*flat, strict=True)]
    inner = (*params.shape[batch_dims:axis], *indices.shape[batch_dims:], *params.shape[axis + 1 :])
    return np.array(rows, params.dtype).reshape(*params.shape[:batch_dims], *inner)


@GATHER_V2.gradient
def gather_v2_gradient(op: Any, d_output: Any) -> Any:
    params, indices, axis = op.inputs
    place, dims = constant_value(axis), params.plain_shape
    batch = op.get_attr("batch_dims")
    if place is None or ((batch or int(place) < 0) and None in (dims, indices.plain_shape)):
        raise LookupError(
            f"the gradient of {op.name!r} needs a known axis; one that is counted from the last, "
            "or a batch, needs known ranks too"
        )
    at = int(place) if place >= 0 else int(place) + len(dims)
    if batch:
        shared = batch % (len(indices.plain_shape) + 1)
        return _added_up_in_batches(params, indices, d_output, at, shared), None, None
    if at == 0:
        return rows_of(shape(params), indices, d_output), None, None
    return _added_up(params, indices, d_output, at), None, None


def rows_of(dims: Tensor, indices: Tensor, d_output: Any) -> IndexedSlices:
    """Return the gradient of what is gathered from rows of shape `dims`: few of many, perhaps."""
    count = raw.ExpandDims(size(indices), 0)
    row = raw.StridedSlice(dims, [1], [0], [1], end_mask=1, name="strided_slice")
    values = reshape(d_output, raw.ConcatV2([count, row], 0, name="concat"))
    return IndexedSlices(values, reshape(indices, count), dims)


def _added_up(params: Tensor, indices: Tensor, d_output: Tensor, axis: int) -> Tensor:
    """Return the sum of `d_output` over the places that `indices` name along `axis` of `params`.

    The axes of the indices go to the front, where segments are added up, and the result's own
    axis goes back to its place.
    """
    count = raw.StridedSlice(shape(params), [axis], [axis + 1], [1], shrink_axis_mask=1)
    end = raw.AddV2(raw.Rank(indices), axis)
    before, after = np.arange(axis, dtype=np.int32), raw.Range(end, raw.Rank(d_output), 1)
    order = raw.ConcatV2([raw.Range(axis, end, 1), before, after], 0)
    sums = raw.UnsortedSegmentSum(raw.Transpose(d_output, order), indices, count)
    after = raw.Range(axis + 1, raw.Rank(params), 1)
    back = raw.ConcatV2([before + 1, np.zeros(1, np.int32), after], 0)
    d_params: Tensor = raw.Transpose(sums, back)
    d_params.set_shape(params.plain_shape)
    return d_params


def _added_up_in_batches(
    params: Tensor, indices: Tensor, d_output: Tensor, axis: int, shared: int
) -> Tensor:
    """Return the same where the first `shared` axes run together.

    The batch's axes become one with the axis that is gathered from: index i of batch b is segment
    b * length + i.
    """
    rank, depth = len(params.shape), len(indices.shape) - shared
    batch = list(range(shared))
    own = list(range(axis, axis + depth))
    rest = [each for each in range(shared, rank - 1 + depth) if each not in own]
    front = raw.Transpose(d_output, np.array(batch + own + rest, np.int32))
    dims: Any = shape(params)
    length = dims[axis]
    count = raw.Prod(dims[:shared], [0])
    inner = raw.GatherV2(
        dims, np.array([each for each in range(shared, rank) if each != axis], np.int32), 0
    )
    starts = raw.Reshape(raw.Range(0, count, 1) * length, [-1, 1])
    flat: Any = reshape(indices, raw.Pack([count, -1]))
    segments = flat + raw.Cast(starts, DstT=indices.dtype)
    rows = reshape(front, raw.ConcatV2([[-1], inner], 0))
    sums = raw.UnsortedSegmentSum(rows, reshape(segments, [-1]), count * length)
    joined = reshape(sums, raw.ConcatV2([dims[:shared], raw.Pack([length]), inner], 0))
    back = [*batch, *range(shared + 1, axis + 1), shared, *range(axis + 1, rank)]
    d_params: Tensor = raw.Transpose(joined, np.array(back, np.int32))
    d_params.set_shape(params.plain_shape)
    return d_params


GATHER = OpDef(
    "Gather(params: Tparams, indices: Tindices) -> output: Tparams "
    "[validate_indices: bool = True; Tparams: type; Tindices: type {index}]"
)


@GATHER.shape
def gather_shape(params: Shape, indices: Shape) -> Shape:
    return gather_v2_shape(params, indices, (), axis_value=np.array(0), batch_dims=0)


@GATHER.kernel
def gather_kernel(params: Any, indices: Any) -> Any:
    return gather_v2_kernel(params, indices, 0, batch_dims=0)


@GATHER.gradient
def gather_gradient(op: Any, d_output: Any) -> Any:
    params, indices = op.inputs
    return rows_of(shape(params), indices, d_output), None


def gather(
    params: Any, indices: Any, validate_indices: bool | None = None, name: str | None = None,
    axis: Any = None, batch_dims: int = 0,
) -> Tensor:  # fmt: skip
    """Return the slices of `params` along `axis` that `indices` name.

    Args:
      params: [d0, ..., dn].
      indices: integers of any shape, each in [0, length of that axis).
      validate_indices: not used; indices are always checked.
      name: of the node.
      axis: along which to gather; by default `batch_dims`.
      batch_dims: how many leading axes `params` and `indices` share.

    Returns:
      params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:].

    Raises:
      InvalidArgumentError: an index is out of range (when it runs).

    Example:
      >>> Session().run(gather([[1, 2], [3, 4], [5, 6]], [2, 0]))
      array([[5, 6],
             [1, 2]], dtype=int32)
    """
    axis = batch_dims if axis is None else axis
    if hasattr(params, "sparse_read") and isinstance(axis, int) and not axis:
        return params.sparse_read(indices, name=name)  # type: ignore[no-any-return]
    result: Tensor = raw.GatherV2(params, indices, axis, batch_dims=batch_dims, name=name)
    return result


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Tensor:
    """Return `gather` along the last axis of `indices`, with the axes before it shared.

    Args:
      params: [b0, ..., bn, length, ...].
      indices: integers [b0, ..., bn, k].
      name: of the node.

    Example:
      >>> Session().run(batch_gather([[1, 2], [3, 4]], [[1], [0]]))
      array([[2],
             [3]], dtype=int32)
    """
    indices = convert.convert_to_tensor(indices, name="indices")
    shared = len(indices.shape) - 1
    return gather(params, indices, name=name, axis=shared, batch_dims=shared)


INVERT_PERMUTATION = OpDef(
    "InvertPermutation(x: T) -> y: T [T: type = int32 {index}]"
).not_differentiable()


@INVERT_PERMUTATION.shape
def invert_permutation_shape(x: Shape) -> Shape:
    shapes.require_rank(x, "x", 1)
    return (None,) if x is None else x


@INVERT_PERMUTATION.kernel
def invert_permutation_kernel(x: Any) -> Any:
    if x.ndim != 1:
        raise InvalidArgumentError("invert_permutation expects a 1D vector.")
    places = np.arange(len(x), dtype=x.dtype)
    if not (np.sort(x) == places).all():
        raise InvalidArgumentError(_no_permutation(x.tolist()))
    inverse = np.empty_like(x)
    inverse[x] = places
    return inverse


def _no_permutation(places: list[int]) -> str:
    """Return why these are not 0 to n - 1 in some order."""
    for place, value in enumerate(places):
        if not 0 <= value < len(places):
            return f"{value} is not between 0 and {len(places)}"
        if value in places[:place]:
            return f"{value} is duplicated in the input."
    return "the input is no permutation"


def invert_permutation(x: Any, name: str | None = None) -> Tensor:
    """Return the permutation that undoes `x`: y[x[i]] is i.

    Args:
      x: a permutation of 0, ..., n - 1.
      name: of the node.

    Example:
      >>> Session().run(invert_permutation([2, 0, 1]))
      array([1, 2, 0], dtype=int32)
    """
    result: Tensor = raw.InvertPermutation(x, name=name)
    return result
