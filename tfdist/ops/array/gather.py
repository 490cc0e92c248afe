"""Elements by their indices: gather, gather_nd, invert_permutation, boolean_mask."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import convert, scopes
from tfdist.graph.constant_values import constant_value
from tfdist.graph.op_def import Known, OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape, size
from tfdist.ops.autodiff.gradients import IndexedSlices
from tfdist.ops.framework.shared_values import as_elements

__all__ = [
    "batch_gather",
    "boolean_mask",
    "gather",
    "gather_nd",
    "invert_permutation",
]

GATHER_V2 = OpDef(
    "GatherV2(params: Tparams, indices: Tindices, axis: Taxis) -> output: Tparams "
    "[batch_dims: int = 0; Tparams: type; Tindices: type {index}; Taxis: type {index}]"
)


_ANY = 1 << 30


@GATHER_V2.shape
def gather_v2_shape(
    params: Shape, indices: Shape, axis: Shape, *, axis_value: Any, batch_dims: int
) -> Shape:
    if params is None or indices is None:
        return None
    if axis_value is None:
        return (None,) * (len(params) + len(indices) - 1 - batch_dims)
    at = int(axis_value.item())
    shapes.require_rank(params, f"axis {at}", at + 1 if at >= 0 else -at, _ANY)
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
    rest = [
        each
        for each in range(rank - 1 + depth - shared + shared)
        if each >= shared and each not in own
    ]
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


GATHER_ND = OpDef(
    "GatherNd(params: Tparams, indices: Tindices) -> output: Tparams "
    "[Tparams: type; Tindices: type {index}]"
)


@GATHER_ND.shape
def gather_nd_shape(params: Shape, indices: Shape) -> Shape:
    shapes.require_rank(indices, "indices", 1, _ANY)
    if params is None or not indices or indices[-1] is None:
        return None
    depth = indices[-1]
    if depth > len(params):
        raise InvalidArgumentError(
            f"indices.shape[-1] must be <= params.rank, but saw indices shape: "
            f"{shapes.brackets(indices)} and params shape: {shapes.brackets(params)}"
        )
    return (*indices[:-1], *params[depth:])


@GATHER_ND.kernel
def gather_nd_kernel(params: Any, indices: Any) -> Any:
    gather_nd_shape(params.shape, indices.shape)
    check_places(indices, params.shape)
    if not indices.shape[-1]:  # NumPy would forget how many there are
        return np.broadcast_to(params, (*indices.shape[:-1], *params.shape)).copy()
    return as_elements(params[tuple(np.moveaxis(indices, -1, 0))])


def check_places(indices: Any, dims: tuple[int, ...]) -> None:
    """Raise InvalidArgumentError unless each row of `indices` [..., k] is a place in `dims`."""
    outside = (indices < 0) | (indices >= np.array(dims[: indices.shape[-1]]))
    if outside.any():
        where = np.argwhere(outside)[0][:-1]
        place = f"[{','.join(map(str, where))}]" if len(where) else ""
        value = indices[tuple(where)].tolist()
        raise InvalidArgumentError(f"indices{place} = {value} does not index into {list(dims)}")


@GATHER_ND.gradient
def gather_nd_gradient(op: Any, d_output: Any) -> Any:
    params, indices = op.inputs
    return raw.ScatterNd(indices, d_output, shape(params, None, indices.dtype)), None


def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: int = 0) -> Tensor:
    """Return the elements or slices of `params` at the places that rows of `indices` spell.

    Args:
      params: [d0, ..., dn].
      indices: integers [..., k] with k <= n + 1: each row names the first k indices.
      name: of the node.
      batch_dims: how many leading axes `params` and `indices` share.

    Returns:
      indices.shape[:-1] + params.shape[batch_dims + k:].

    Raises:
      InvalidArgumentError: a place is outside of `params` (when it runs).

    Example:
      >>> Session().run(gather_nd([[1, 2], [3, 4]], [[1, 0], [0, 1]]))
      array([3, 2], dtype=int32)
    """
    if batch_dims:
        return _gather_nd_in_batches(params, indices, batch_dims, name)
    if hasattr(params, "sparse_read"):
        return params.gather_nd(indices, name=name)  # type: ignore[no-any-return]
    result: Tensor = raw.GatherNd(params, indices, name=name)
    return result


def _gather_nd_in_batches(params: Any, indices: Any, shared: int, name: str | None) -> Tensor:
    """Return `gather_nd` of places that are completed by those in the batch."""
    params, indices = (convert.convert_to_tensor(each) for each in (params, indices))
    rank = indices.shape.ndims
    if rank is None or params.shape.ndims is None:
        raise ValueError("batch_dims need known ranks of params and indices")
    if not 0 <= shared < rank:
        raise ValueError(f"batch_dims = {shared} must be less than rank(indices) = {rank}")
    dims: Any = shape(indices, None, indices.dtype)
    ones = np.ones(rank, np.int64).astype(indices.dtype.as_numpy_dtype)
    full = raw.ConcatV2([dims[:-1], ones[:1]], 0)
    axes = []
    for axis in range(shared):
        along = ones.copy()
        along[axis] = -1
        steps = raw.Range(
            convert.constant(0, indices.dtype), dims[axis], convert.constant(1, indices.dtype)
        )
        axes.append(raw.BroadcastTo(reshape(steps, along), full))
    return raw.GatherNd(params, raw.ConcatV2([*axes, indices], -1), name=name)  # type: ignore[no-any-return]


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


def boolean_mask(
    tensor: Any, mask: Any, name: str = "boolean_mask", axis: int | None = None
) -> Tensor:
    """Return the slices of `tensor` where `mask` is true.

    Args:
      tensor: [d0, ..., dn].
      mask: bools, of the shape of some axes of `tensor`; its rank must be known.
      name: prefix for the nodes.
      axis: the first of those axes, by default 0.

    Returns:
      `tensor` with those axes replaced by one, as long as `mask` has true elements.

    Raises:
      ValueError: the shapes do not fit, or `mask` is a scalar.

    Example:
      >>> Session().run(boolean_mask([[1, 2], [3, 4], [5, 6]], [True, False, True]))
      array([[1, 2],
             [5, 6]], dtype=int32)
    """
    at = axis or 0
    with scopes.name_scope(name, None, [tensor, mask]):
        tensor = convert.convert_to_tensor(tensor, name="tensor")
        mask = convert.convert_to_tensor(mask, "bool", name="mask")
        depth = _checked_depth(tensor.plain_shape, mask.plain_shape, at)
        rows = _joined_axes(tensor, at, depth)
        found = raw.Squeeze(raw.Where(reshape(mask, [-1])), squeeze_dims=[1])
        return gather(rows, found, axis=at)


def _checked_depth(dims: Shape, mask: Shape, axis: int) -> int:
    """Return the rank of `mask`; ValueError unless it fits the axes of `dims` from `axis` on."""
    if mask is None:
        raise ValueError(
            "Number of mask dimensions must be specified, even if some dimensions are None.  E.g. "
            "shape=[None] is ok, but shape=None is not."
        )
    if not mask:
        raise ValueError("mask cannot be scalar.")
    part = None if dims is None else dims[axis : axis + len(mask)]
    if not shapes.compatible(part, mask):
        raise ValueError(
            f"Shapes {shapes.show(part)} and {shapes.show(mask)} are incompatible: the mask's and "
            f"that from axis {axis} on of a tensor of shape {shapes.show(dims)}"
        )
    return len(mask)


def _joined_axes(tensor: Tensor, axis: int, depth: int) -> Tensor:
    """Return `tensor` with `depth` axes from `axis` on made into one."""
    joined = raw.Prod(_dims(tensor)[axis : axis + depth], [0])
    before, after = _dims(tensor)[:axis], _dims(tensor)[axis + depth :]
    middle = raw.Pack([joined], name="concat/values_1")
    rows: Tensor = reshape(tensor, raw.ConcatV2([before, middle, after], 0, name="concat"))
    known = tensor.plain_shape
    if known is not None:
        part = known[axis : axis + depth]
        size = None if None in part else prod(part)  # type: ignore[arg-type]
        rows.set_shape([*known[:axis], size, *known[axis + depth :]])
    return rows


def _dims(tensor: Tensor) -> Any:
    return shape(tensor)  # a node of its own each time, as in TensorFlow
